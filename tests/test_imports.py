"""Who may import whom. Read from the source, so a forbidden import inside a function counts as well.

The rules are those of docs/architecture.md. A rule that stands in the way is changed there and here, with its reason.
"""

import ast
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

# model/, from the ground up: a file imports only from lines above its own, or from its own folder.
LADDER = (
    "config",
    "cost",
    "tokenizer",
    "trace",
    "attention_mask",
    "position",
    "embedding",
    "attention",
    "layers",
    "transformer",
    "sampling",
    "decoding",
    "beam_search",
    "checkpoint",
    "translator",
    "plain",
    "alignment",
    "page",  # on alignment, whose words the pictures show; its payload is what the app's pictures are drawn from
    "training",  # above alignment: guided heads are taught by word links (docs/decisions/0008)
    "analysis",
    "practice",  # above analysis: it trains what that alters
    "apart",  # a process that measures for another
    "adapters",
)

# app/: each part, and what it may use besides its own folder. "model" means anything in model/.
APP = {
    "main": {"session", "text", "views"},
    # the views: errors
    "server": {"session", "ahead", "delivery", "guard", "headers", "listening", "opening", "pictures", "server_profile", "views"},
    "guard": {"bucket", "server_profile", "text"},
    "headers": set(),
    "ahead": {"guard"},
    "delivery": set(),
    "listening": set(),
    "pictures": {"model.page"},
    "opening": {"pictures"},  # whose scripts wait for the warm-up
    "server_profile": set(),
    "bucket": set(),
    "session": {"model", "text", "server_profile", "bucket"},  # text: begin_run() sets the language
    "text": set(),
    "views": {"session", "text", "charts", "components", "model"},
    "charts": {"model.trace"},
    "components": {"pictures", "model.trace", "model.page"},  # the bytes and the text of the pictures (docs/decisions/0020)
}

# Libraries that only some parts may know.
LIBRARIES = {
    "streamlit": {"main", "server", "ahead", "delivery", "guard", "headers", "session", "views", "components"},
    "plotly": {"charts"},
    "altair": {"charts"},
}

# Loading and caching go through app/session/, so a view may not name these.
ONLY_THROUGH_SESSION = ("model.load", "model.translator.load", "model.checkpoint.load")

# Names that Streamlit, or Python's search path, would take for something else.
FORBIDDEN_FILES = ("app/pages", "app/app.py", "app/model.py")


@dataclass(frozen=True)
class Import:
    """`what` (a dotted name, as far as it names a module or something in one) is imported at file:line."""

    file: Path
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.file.relative_to(ROOT)}:{self.line} imports {self.what}"


def sources(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


def module_name(file: Path) -> str:
    """model/alignment/__init__.py -> model.alignment"""
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def part(file: Path) -> str:
    """The name of the file or folder right below model/ or app/."""
    return file.relative_to(ROOT).with_suffix("").parts[1]


def imports(file: Path) -> Iterator[Import]:
    """Every import in a file, relative ones resolved; `from a import b` is a.b."""
    package = file.relative_to(ROOT).parent.parts
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(file, node.lineno, alias.name)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            base = ".".join((*above, *filter(None, [node.module])))
            for alias in node.names:
                yield Import(file, node.lineno, f"{base}.{alias.name}")


def module_of(what: str, modules: Mapping[str, Path]) -> str | None:
    """The longest beginning of a dotted name that is one of our modules."""
    parts = what.split(".")
    names = (".".join(parts[:end]) for end in range(len(parts), 0, -1))
    return next((name for name in names if name in modules), None)


def within(what: str, allowed: str) -> bool:
    return what == allowed or what.startswith(f"{allowed}.")


def all_imports(folder: str) -> list[Import]:
    return [found for file in sources(folder) for found in imports(file)]


def test_every_part_of_model_stands_on_the_ladder() -> None:
    parts = {part(file) for file in sources("model")} - {"__init__", "__main__"}
    assert parts <= set(LADDER), f"give {parts - set(LADDER)} a place on the ladder of model/"


def test_model_imports_only_from_lines_above_or_its_own_folder() -> None:
    wrong = []
    for found in all_imports("model"):
        here, names = part(found.file), found.what.split(".")
        if here == "__init__" or names[0] != "model":
            continue
        there = names[1] if len(names) > 1 else None
        above = there in LADDER and LADDER.index(there) < LADDER.index(here)
        if not above and there != here:
            wrong.append(str(found))
    assert wrong == []


def test_model_knows_nothing_of_the_app() -> None:
    wrong = [str(found) for found in all_imports("model") if within(found.what, "app")]
    assert wrong == []


@pytest.mark.parametrize("folder", ["model", "app"])
def test_no_circles(folder: str) -> None:
    modules = {module_name(file): file for file in sources(folder)}
    graph: dict[str, set[str]] = {name: set() for name in modules}
    for found in all_imports(folder):
        here, there = module_name(found.file), module_of(found.what, modules)
        # A package's __init__ gathers what lies in its folder; what matters is who imports whom beside that.
        if there is not None and there != here and modules[here].name != "__init__.py":
            graph[here].add(there)
    assert circle(graph) is None


def circle(graph: Mapping[str, set[str]]) -> list[str] | None:
    """A path that comes back to where it began, if there is one."""
    done: set[str] = set()

    def search(name: str, path: list[str]) -> list[str] | None:
        if name in path:
            return [*path[path.index(name) :], name]
        if name in done:
            return None
        for other in sorted(graph[name]):
            if found := search(other, [*path, name]):
                return found
        done.add(name)
        return None

    return next(filter(None, (search(name, []) for name in sorted(graph))), None)


def test_a_circle_would_be_found() -> None:
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": set()}) == ["b", "c", "b"]
    assert circle({"a": {"b", "c"}, "b": {"c"}, "c": set()}) is None


def test_every_part_of_the_app_has_a_rule() -> None:
    parts = {part(file) for file in sources("app")} - {"__init__"}
    assert parts <= set(APP), f"say in APP what {parts - set(APP)} may import"


def test_the_app_imports_only_what_its_parts_may() -> None:
    wrong = []
    for found in all_imports("app"):
        here, names = part(found.file), found.what.split(".")
        if here == "__init__" or names[0] not in ("app", "model"):
            continue
        if names[0] == "app":
            allowed = len(names) > 1 and names[1] in APP[here] | {here}
        else:
            allowed = any(within(found.what, rule) for rule in APP[here] if rule.split(".")[0] == "model")
        if not allowed:
            wrong.append(str(found))
    assert wrong == []


def test_libraries_stay_where_they_belong() -> None:
    wrong = []
    for found in [*all_imports("model"), *all_imports("app")]:
        library = found.what.split(".")[0]
        folder = found.file.relative_to(ROOT).parts[0]
        if library in LIBRARIES and (folder == "model" or part(found.file) not in LIBRARIES[library]):
            wrong.append(str(found))
    assert wrong == []


def test_views_load_nothing_themselves() -> None:
    wrong = []
    for file in sources("app/views") if (ROOT / "app/views").is_dir() else []:
        names = {found.what for found in imports(file)}
        names |= {
            ast.unparse(node) for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))) if isinstance(node, ast.Attribute)
        }
        wrong += [f"{file.relative_to(ROOT)} uses {name}" for name in ONLY_THROUGH_SESSION if name in names]
    assert wrong == []


@pytest.mark.parametrize("name", FORBIDDEN_FILES)
def test_names_that_would_shadow_or_be_discovered_are_not_used(name: str) -> None:
    assert not (ROOT / name).exists()


def test_no_file_beside_the_script_hides_one_of_python() -> None:
    """Streamlit puts app/ first on the path, so that app/profile.py would be what `import profile` finds inside PyTorch."""
    assert [name for file in (ROOT / "app").iterdir() if (name := file.stem) in sys.stdlib_module_names] == []


def test_no_file_is_called_utils() -> None:
    assert [str(file) for folder in ("model", "app") for file in sources(folder) if file.stem == "utils"] == []
