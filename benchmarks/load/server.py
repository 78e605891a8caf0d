"""The server that is measured: started on a free port, and what its process and its counters say."""

import contextlib
import os
import re
import subprocess
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from tests.browser import application


@dataclass(frozen=True)
class Usage:
    """What a server holds at a moment. Of a process that is not known, `memory`, `cpu` and `threads` are 0."""

    memory: float  # MB in RAM
    cpu: float  # seconds of processor time since its start
    threads: int
    sessions: int  # that are connected
    entries: int  # of the project's caches, all together


@dataclass(frozen=True)
class Server:
    """A running one. `pid` is None if it was not started here."""

    address: str
    pid: int | None = None

    @classmethod
    def at(cls, address: str) -> "Server":
        """One that runs already; its process is found by the port that it was given, if it runs here."""
        port = str(urlsplit(address).port)
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                words = (folder / "cmdline").read_bytes().decode("utf-8", "replace").split("\0")
                if "app/server.py" in words and (port in words or f"--server.port={port}" in words):
                    return cls(address.rstrip("/"), int(folder.name))
        return cls(address.rstrip("/"))

    def usage(self) -> Usage:
        counts = counters(self.address)
        memory, cpu, threads = process(self.pid) if self.pid else (0.0, 0.0, 0)
        return Usage(memory, cpu, threads, int(counts.get("active_sessions", 0)), sum(entries(counts).values()))


@contextlib.contextmanager
def serve(log: Path) -> Iterator[Server]:
    """Start one as `make run` does; stop it at the end."""
    with application.run(log) as (address, pid):
        yield Server(address, pid)


def counters(address: str) -> dict[str, float]:
    """What the server counts by itself, by the name and labels of each counter."""
    with urllib.request.urlopen(f"{address}/_stcore/metrics", timeout=120) as answer:
        lines = answer.read().decode().splitlines()
    split = (line.rpartition(" ") for line in lines if line and not line.startswith("#"))
    return {name: float(value) for name, _, value in split}


def entries(counts: dict[str, float]) -> dict[str, int]:
    """How many entries each cache of the project holds."""
    found = {}
    for name, value in counts.items():
        if match := re.match(r'cache_memory_bytes\{.*cache="(app\.[\w.]+)"', name):
            found[match[1]] = int(value)
    return found


def process(pid: int) -> tuple[float, float, int]:
    """Megabytes in RAM, seconds of processor time, threads."""
    folder = Path("/proc") / str(pid)
    if folder.exists():
        memory = int((folder / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
        fields = (folder / "stat").read_text().rpartition(")")[2].split()
        cpu = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        return memory, cpu, int(fields[17])
    told = subprocess.run(["ps", "-o", "rss=,time=", "-p", str(pid)], capture_output=True, text=True, check=True).stdout.split()
    seconds = 0.0
    for part in told[1].split(":"):
        seconds = 60 * seconds + float(part)
    return int(told[0]) / 1000, seconds, 0
