"""Several processes of the app behind the nginx that is shipped, on free ports of this machine."""

import contextlib
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from tests.browser.application import ROOT, wait_until_healthy

SHIPPED = ROOT / "deploy" / "nginx.conf"
ADVICE = (
    "nginx is not installed, and `make test-cluster` runs the one that visitors would come through.\n"
    "Debian, Ubuntu: apt-get install nginx    Fedora: dnf install nginx    macOS: brew install nginx\n"
    "It need not run as a service: the tests start one of their own, on free ports."
)
PING, SILENCE = 2, 10  # seconds: of the app's pings, and after which nginx gives up a websocket; shipped are 30 and 120
SECRET = "one secret for all processes"


def nginx() -> str:
    """The program; RuntimeError says what to install."""
    found = shutil.which("nginx", path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"]))
    if found is None:
        raise RuntimeError(ADVICE)
    return found


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Replica:
    """One process of the app, always at the same port."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.log = folder / f"replica-{self.port}.log"
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def start(self) -> None:
        options = {"port": self.port, "address": "127.0.0.1", "headless": "true", "websocketPingInterval": PING}
        command = [sys.executable, "-m", "streamlit", "run", "app/server.py"]
        command += [f"--server.{name}={value}" for name, value in options.items()]
        environment = os.environ | {"STREAMLIT_SERVER_COOKIE_SECRET": SECRET, "PYTHONUNBUFFERED": "1", "NO_COLOR": "1"}
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, env=environment
            )

    def wait(self) -> None:
        assert self.process is not None
        wait_until_healthy(f"http://127.0.0.1:{self.port}", self.process, self.log)

    def kill(self) -> None:
        """As a machine does that runs out of memory: at once, nothing is said to anyone."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def sessions(self) -> int:
        """How many pages are open here, by its own count."""
        address = f"http://127.0.0.1:{self.port}/_stcore/metrics?families=active_sessions"
        with urllib.request.urlopen(address, timeout=10) as answer:
            found = re.search(r"^active_sessions (\d+)", answer.read().decode(), re.MULTILINE)
        assert found is not None
        return int(found[1])


class Nginx:
    """The shipped configuration, with ports, folders and the time of silence of this test in it."""

    def __init__(self, folder: Path, ports: tuple[int, int], *, shipped: str | None = None) -> None:
        self.folder, self.port = folder, free_port()
        self.log = folder / "error.log"
        self.site = folder / "attention-atlas.conf"
        self.process: subprocess.Popen[bytes] | None = None
        self.replaced = {
            "127.0.0.1:8501": f"127.0.0.1:{ports[0]}",
            "127.0.0.1:8502": f"127.0.0.1:{ports[1]}",
            r"127\.0\.0\.1:8501": rf"127\.0\.0\.1:{ports[0]}",
            r"127\.0\.0\.1:8502": rf"127\.0\.0\.1:{ports[1]}",
            "listen 80;": f"listen 127.0.0.1:{self.port};",
            "listen [::]:80;": "",
            "/var/cache/attention-atlas": str(folder / "cache"),
            "120s": f"{SILENCE}s",
        }
        self.write(SHIPPED.read_text("utf-8") if shipped is None else shipped)
        temporary = "".join(
            f"    {name}_temp_path {folder}/{name};\n" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        user = "user root;\n" if os.geteuid() == 0 else ""  # who may write into the folders of this test
        self.main = folder / "nginx.conf"
        self.main.write_text(
            f"{user}worker_processes 2;\npid {folder}/nginx.pid;\nevents {{ worker_connections 512; }}\n"
            f"http {{\n    access_log off;\n{temporary}    include {self.site};\n}}\n"
        )

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def write(self, shipped: str) -> None:
        for before, after in self.replaced.items():
            assert before in shipped, f"deploy/nginx.conf no longer holds {before!r}, which the tests put something else for"
            shipped = shipped.replace(before, after)
        self.site.write_text(shipped, "utf-8")

    def command(self, *options: str) -> list[str]:
        return [nginx(), "-p", str(self.folder), "-e", str(self.log), "-c", str(self.main), *options]

    def check(self) -> str:
        """What `nginx -t` says of it."""
        done = subprocess.run(self.command("-t"), capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stderr

    def start(self) -> None:
        self.process = subprocess.Popen(self.command("-g", "daemon off;"), stdin=subprocess.DEVNULL)
        end = time.monotonic() + 10
        while time.monotonic() < end and self.process.poll() is None:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return
            time.sleep(0.02)
        raise RuntimeError(f"nginx did not start; it said:\n{self.log.read_text()}")

    def reload(self) -> None:
        """As `systemctl reload nginx`: a new configuration for who comes, open connections stay."""
        subprocess.run(self.command("-s", "reload"), check=True, capture_output=True)

    def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            self.process.wait(15)


class Cluster:
    """Two processes and the nginx before them. A replica's number is that of the visitors' cookie."""

    def __init__(self, folder: Path) -> None:
        first, second = Replica(folder), Replica(folder)
        self.replicas = {"1": first, "2": second}
        self.nginx = Nginx(folder, (first.port, second.port))

    @property
    def address(self) -> str:
        return self.nginx.address

    def whole(self) -> "Cluster":
        """Start whatever is not alive."""
        started = [replica for replica in self.replicas.values() if not replica.alive]
        for replica in started:
            replica.start()
        for replica in started:
            replica.wait()
        return self


@contextlib.contextmanager
def running(folder: Path) -> Iterator[Cluster]:
    cluster = Cluster(folder)
    try:
        cluster.nginx.check()
        cluster.whole().nginx.start()
        yield cluster
    finally:
        cluster.nginx.stop()
        for replica in cluster.replicas.values():
            replica.kill()


if __name__ == "__main__":
    try:
        nginx()
    except RuntimeError as missing:
        sys.exit(str(missing))
