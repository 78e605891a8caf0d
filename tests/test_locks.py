"""The files of hashes hold what the pins say, all of it, and nothing else."""

import re
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
LOCKS = ("requirements.lock", "requirements-torch.lock")


def pins(*files: str) -> dict[str, str]:
    """Names and versions that some files pin."""
    found = re.findall(r"(?m)^([A-Za-z0-9._-]+)==([^\s;\\]+)", "\n".join((ROOT / file).read_text("utf-8") for file in files))
    return {canonicalize_name(name): version for name, version in found}


def test_every_pin_agrees_with_the_locks() -> None:
    locked, asked = pins(*LOCKS), pins("requirements.txt")
    assert asked.items() <= locked.items()
    known = asked | pins("constraints.txt")
    assert {name: version for name, version in locked.items() if known.get(name, version) != version} == {}


@pytest.mark.parametrize("file", LOCKS)
def test_every_package_has_its_hashes_and_comes_from_nowhere_else(file: str) -> None:
    lines = [line.strip(" \\") for line in (ROOT / file).read_text("utf-8").splitlines() if line and not line.startswith("#")]
    blocks = re.split(r"(?m)^(?=[a-z])", "\n".join(lines))[1:]
    for block in blocks:
        name, *hashes = block.strip().split("\n")
        assert re.fullmatch(r'[a-z0-9-]+==[0-9][^\s;]*( ; sys_platform == "win32")?', name)
        assert hashes, name
        assert all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", found) for found in hashes), name


def test_the_locks_hold_whatever_the_app_brings_along() -> None:
    """From what the installed packages ask for, torch's own needs included."""
    locked = pins(*LOCKS)
    missing, seen, wanted = set(), set[str](), list(pins("requirements.txt"))
    while wanted:
        name = wanted.pop()
        if name in seen:
            continue
        seen.add(name)
        missing |= {name} - set(locked)
        for line in metadata.requires(name) or ():
            requirement = Requirement(line)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                wanted.append(canonicalize_name(requirement.name))
    assert missing <= {"setuptools"}  # which torch names for its compiler; the app does not compile
