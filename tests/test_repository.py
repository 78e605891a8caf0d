"""What holds for the repository as a whole: sizes, paths, pins, links, and that make's targets are what README says."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
NOT_OURS = {".venv", ".git", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", "screenshots", "runs"}
LARGEST = 20 * 2**20
# A path that is right on one machine only: the folders in which people keep their work.
HOMES = "|".join(("work", "home", "root", "Users", "workspace", "mnt", "tmp" + "/plan"))
ABSOLUTE = re.compile(rf"(?<![\w.:~/<-])/(?:{HOMES})/[\w.]")


def repository() -> list[Path]:
    """Every file of the project: what git tracks, or, where there is no git (a downloaded archive), what lies here."""
    if (ROOT / ".git").exists() and shutil.which("git"):
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
        if listed.returncode == 0:
            return [path for name in listed.stdout.split("\0") if name and (path := ROOT / name).is_file()]
    return [path for path in ROOT.rglob("*") if path.is_file() and not NOT_OURS & set(path.relative_to(ROOT).parts)]


def text_of(path: Path) -> str | None:
    data = path.read_bytes()
    return None if b"\0" in data[:4096] else data.decode("utf-8")


def test_no_file_is_over_twenty_megabytes() -> None:
    assert [str(path) for path in repository() if path.stat().st_size > LARGEST] == []


def test_no_text_names_a_folder_of_one_machine() -> None:
    wrong = []
    for path in repository():
        for number, line in enumerate((text_of(path) or "").splitlines(), start=1):
            if ABSOLUTE.search(line):
                wrong.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}")
    assert wrong == []


@pytest.mark.parametrize(("before", "folder"), [("see ", "home"), ('"', "work"), ("open(", "Users")])
def test_such_a_folder_would_be_found(before: str, folder: str) -> None:
    assert ABSOLUTE.search(f"{before}/{folder}/ada/notes")
    assert not ABSOLUTE.search(f"{before}assets/{folder}/ada/notes")


def test_every_requirement_is_pinned_exactly_and_torch_in_every_installation() -> None:
    for file in sorted(ROOT.glob("requirements*.txt")):
        lines = [line.split("#")[0].strip() for line in file.read_text().splitlines()]
        for line in filter(None, lines):
            assert re.fullmatch(r"[\w-]+==[\w.]+|-[rc] [\w.-]+\.txt", line), f"{file.name}: {line} is not an exact pin"
        assert "torch==2.13.0" in lines or any(line.startswith("-r ") for line in lines)


def test_links_in_the_documents_lead_somewhere() -> None:
    wrong = []
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)|src=\"([^\"]+)\"", path.read_text(encoding="utf-8")):
            link = "".join(target)
            if "://" not in link and not (path.parent / link).exists():
                wrong.append(f"{path.relative_to(ROOT)}: {link}")
    assert wrong == []


def test_targets_named_in_the_documents_exist() -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z-]+):", makefile, flags=re.MULTILINE))
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        named = set(re.findall(r"`make ([a-z-]+)", path.read_text(encoding="utf-8")))
        assert named <= targets, f"{path.relative_to(ROOT)} names make {named - targets}"
