"""The pictures of the app as text: the small ES modules of a component joined into one, and its style.

They are read from `app/components/` as data: a component is a folder there, and its modules import by name from that folder,
from those that it borrows from, and from `shared/`, which serves every one.
"""

import re
from functools import cache
from pathlib import Path

COMPONENTS = Path(__file__).resolve().parents[2] / "app" / "components"
SHARED = "shared"
BORROWED = {
    "alignment": ("attention_map",),
    "attention_graph": ("attention_map",),
    "beam_tree": ("decoding_steps",),
    "clocks": ("curves",),
    "moments": ("curves", "attention_map"),
}
"""Components that draw with modules of another one: where to look for what their own folder lacks."""

_IMPORT = re.compile(r'^import (\{[^}]*\}) from "\./(\w+)\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?:async )?(?:const|function|class) (\w+)", re.MULTILINE)


@cache
def drawn() -> frozenset[str]:
    """Components that draw a picture which can be taken away."""
    mains = {file.parent.name: file.read_text("utf-8") for file in COMPONENTS.glob("*/main.js")}
    return frozenset(name for name, source in mains.items() if re.search(r"^  (?:async )?files?\(", source, re.MULTILINE))


def modules(component: str) -> tuple[str, ...]:
    """What the component is made of: every module after those that it imports from, the entry `main` last."""
    found: dict[str, None] = {}

    def visit(name: str, above: tuple[str, ...]) -> None:
        if name in above:
            raise ValueError(f"modules of {component} import in a circle: {' -> '.join((*above, name))}; break it")
        for _, other in _IMPORT.findall(_source(component, name)) if name not in found else ():
            visit(other, (*above, name))
        found[name] = None

    visit("main", ())
    return tuple(found)


@cache
def joined(component: str) -> str:
    """One ES module: each part in a scope of its own, the entry with its default export at the end."""
    *parts, entry = modules(component)
    return "\n".join([*(_scoped(name, _source(component, name)) for name in parts), _linked(_source(component, entry))])


@cache
def shared() -> str:
    """One ES module of those modules of `shared/` that any component uses: it exports each under its name behind a `$`."""
    found = dict.fromkeys(name for component in components() for name in modules(component) if _is_shared(component, name))
    parts = [_scoped(name, _source(SHARED, name)) for name in found]
    return "\n".join([*parts, f"export {{ {', '.join(f'${name}' for name in found)} }};", ""])


@cache
def linked(component: str, address: str) -> str:
    """`joined`, but with what is `shared` imported from its address."""
    *parts, entry = modules(component)
    own = [_scoped(name, _source(component, name)) for name in parts if not _is_shared(component, name)]
    taken = ", ".join(f"${name}" for name in parts if _is_shared(component, name))
    return "\n".join([f'import {{ {taken} }} from "{address}";', *own, _linked(_source(component, entry))])


@cache
def components() -> tuple[str, ...]:
    """All that there are."""
    return tuple(sorted(file.parent.name for file in COMPONENTS.glob("*/main.js")))


@cache
def style(component: str) -> str:
    """The look that all components share, and the component's own."""
    folders = (COMPONENTS / SHARED, COMPONENTS / component)
    return "".join((folder / "style.css").read_text(encoding="utf-8") for folder in folders)


def _source(component: str, name: str) -> str:
    return _file(component, name).read_text(encoding="utf-8")


def _file(component: str, name: str) -> Path:
    for folder in (component, *BORROWED.get(component, ()), SHARED):
        if (file := COMPONENTS / folder / f"{name}.js").exists():
            return file
    raise FileNotFoundError(f"{name}.js is in none of the folders of {component}; name its folder in BORROWED")


def _is_shared(component: str, name: str) -> bool:
    return _file(component, name).parent.name == SHARED


def _linked(source: str) -> str:
    """Imports become names taken from the scopes above."""
    return _IMPORT.sub(r"const \1 = $\2;", source)


def _scoped(name: str, source: str) -> str:
    body = re.sub(r"^export ", "", _linked(source), flags=re.MULTILINE)
    return f"const ${name} = (() => {{\n{body}\nreturn {{ {', '.join(_EXPORT.findall(source))} }};\n}})();"
