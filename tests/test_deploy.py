"""The files of deploy/ where they cannot be run: what they name is there, and they take no more rights than they need.

What can be run is run by `make test-cluster`; docs/deployment.md lists what to try where there is a container engine.
"""

import configparser
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
DEPLOY = ROOT / "deploy"
REPLICAS = {"1": "8501", "2": "8502"}
NGINX = (DEPLOY / "nginx.conf").read_text("utf-8")


def stages() -> list[list[tuple[str, str]]]:
    """The instructions of the container file, stage by stage: name and what follows."""
    text = re.sub(r"\\\n\s*", " ", (DEPLOY / "Containerfile").read_text("utf-8"))
    lines = [line.split(maxsplit=1) for line in text.splitlines() if line and not line.startswith("#")]
    found: list[list[tuple[str, str]]] = []
    for name, rest in lines:
        if name == "FROM":
            found.append([])
        if found:
            found[-1].append((name, rest))
    return found


def copied() -> list[str]:
    return [source for name, rest in stages()[0] if name == "COPY" for source in rest.split()[:-1]]


def test_the_image_holds_what_the_app_needs_and_nothing_else_is_sent() -> None:
    assert set(copied()) >= {"app", "model", "assets", "profiles", ".streamlit", "requirements.txt", "requirements.lock"}
    ignored = (ROOT / ".containerignore").read_text().splitlines()
    assert ignored[1] == "*"
    for source in copied():
        assert (ROOT / source).exists(), source
        assert f"!{source}" in ignored, source
    assert (ROOT / ".dockerignore").read_text() == (ROOT / ".containerignore").read_text()
    shipped = [path.name for path in (ROOT / "assets" / "checkpoints").iterdir() if (path / "card.toml").exists()]
    assert shipped, "the models are part of assets"


def test_the_image_takes_the_pinned_pytorch_without_graphics_cards() -> None:
    (install,) = [rest for name, rest in stages()[0] if name == "RUN" and "torch" in rest]
    assert "grep '^torch==' requirements.txt" in install
    assert "pip install --require-hashes -r requirements.lock" in install
    assert "TORCH_INDEX=https://download.pytorch.org/whl/cpu" in dict(stages()[0])["ARG"]
    assert re.search(r"^torch==[\d.]+$", (ROOT / "requirements.txt").read_text(), re.MULTILINE)


def test_the_container_is_nobody_and_says_whether_it_is_well() -> None:
    last = dict(stages()[-1])
    user, group = last["USER"].split(":")
    assert int(user) >= 1000
    assert int(group) >= 1000
    assert "/_stcore/health" in last["HEALTHCHECK"]
    probe = re.search(r'CMD \[".venv/bin/python", "-c", "(.*)"\]$', last["HEALTHCHECK"])
    assert probe is not None
    compile(probe[1].replace('\\"', '"'), "healthcheck", "exec")
    assert "exec .venv/bin/python -m streamlit run app/server.py" in last["CMD"]
    assert [name for name, rest in stages()[-1] if name in ("ADD", "RUN")] == []


def test_the_containers_may_write_nowhere_but_tmp_and_share_the_network_of_nginx() -> None:
    services: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))["services"]
    front = services.pop("nginx")
    for service in [front, *services.values()]:
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
    (mounted,) = front["volumes"]
    assert (DEPLOY / mounted.split(":")[0]).read_text("utf-8") == NGINX
    assert [service["environment"]["ATLAS_PORT"] for service in services.values()] == list(REPLICAS.values())
    for service in services.values():
        assert service["network_mode"] == "service:nginx"
        assert (DEPLOY / service["build"]["context"] / service["build"]["dockerfile"]).exists()
        assert service["environment"]["ATLAS_ADDRESS"] == "127.0.0.1"
        assert ":?" in service["environment"]["STREAMLIT_SERVER_COOKIE_SECRET"], "one secret for all, and an error without"


def test_the_unit_runs_the_app_with_few_rights() -> None:
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read(DEPLOY / "systemd" / "attention-atlas@.service")
    service = unit["Service"]
    command = shlex.split(service["ExecStart"])
    assert command[1:5] == ["-m", "streamlit", "run", "app/server.py"]
    assert "--server.port=%i" in command
    for name in ("DynamicUser", "PrivateTmp", "ProtectHome", "NoNewPrivileges", "PrivateDevices", "RestrictSUIDSGID"):
        assert service[name] == "yes", name
    assert service["ProtectSystem"] == "strict"
    assert service["CapabilityBoundingSet"] == ""
    assert service["Restart"] == "always"


def test_nginx_takes_files_as_large_as_the_profiles_do() -> None:
    allowed = re.search(r"client_max_body_size (\d+)m;", NGINX)
    assert allowed is not None
    for path in (ROOT / "profiles").glob("*.toml"):
        assert tomllib.loads(path.read_text("utf-8"))["max_upload"] <= (int(allowed[1]) - 1) * 2**20, path.name


def test_every_process_of_nginx_stands_at_each_place_where_it_must() -> None:
    for number, port in REPLICAS.items():
        own = re.search(rf"upstream atlas_{number} \{{(.*?)\n\}}", NGINX, re.DOTALL)
        assert own is not None
        primary = [line.split()[1] for line in own[1].splitlines() if line.startswith("    server") and "backup" not in line]
        assert primary == [f"127.0.0.1:{port}"]
        assert f"    {number} atlas_{number};" in NGINX
        assert rf'127\.0\.0\.1:{port}$" {number};' in NGINX
