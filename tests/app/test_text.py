"""Both languages say the same things; every sentence is used, and every sentence that is asked for is there."""

import ast
import importlib
import pkgutil
import re
import string
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from app import components, text
from model.page.labels import SAVED

MODULES = [importlib.import_module(f"app.components.{found.name}") for found in pkgutil.iter_modules(components.__path__)]
WITH_PAGE = "architecture"  # its labels are part of the page's section
COMPONENTS = tuple(module for module in MODULES if hasattr(module, "LABELS") and not module.__name__.endswith(WITH_PAGE))
ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted(path for path in (ROOT / "app").rglob("*.py") if path.name != "text.py")
TAKES_KEYS = {"text", "template", "sentence", "prose", "heading", "notice", "numbered", "Remark", "Shape", "Formula", "_label"}


def placeholders(sentence: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(sentence) if name is not None}


def strings(tree: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """Every literal string of a module that is not a docstring; {} in f-strings becomes *."""
    documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation | inside:
            yield node, node.value
        elif isinstance(node, ast.JoinedStr):
            yield node, "".join(str(part.value) if isinstance(part, ast.Constant) else "*" for part in node.values)


def used() -> set[str]:
    """All strings in the code that may be keys, as patterns: "translate.what_if_*". One that names nothing, "*.*", is none."""
    found = {value for source in SOURCES for _, value in strings(ast.parse(source.read_text("utf-8")))}
    return {
        value
        for value in found
        if re.fullmatch(r"[a-z_*]+(\.[a-z0-9_*]+)+", value) and re.search(r"[a-z]", value.split(".", 1)[1])
    }


def matching(patterns: Iterable[str]) -> re.Pattern[str]:
    """All patterns as one expression."""
    return re.compile("|".join(re.escape(pattern).replace(r"\*", "[a-z0-9_]+") for pattern in patterns))


def test_languages_have_the_same_keys_and_placeholders() -> None:
    english, chinese = text.sentences("en"), text.sentences("zh")
    assert set(english) == set(chinese)
    differ = [key for key in english if placeholders(english[key]) != placeholders(chinese[key])]
    assert not differ


def test_terms_of_a_sentence_are_in_the_glossary_and_the_same_in_both_languages() -> None:
    for key, english in text.sentences("en").items():
        chinese = text.sentences("zh")[key]
        terms = [set(re.findall(r"\[\[(\w+)", sentence)) for sentence in (english, chinese)]
        assert terms[0] == terms[1], key
        assert terms[0] <= set(text.glossary()), key


def test_every_sentence_is_used() -> None:
    patterns = used()
    components = {f"{module.__name__.rpartition('.')[2]}.{label}" for module in COMPONENTS for label in module.LABELS}
    asked = matching([*patterns, *(f"{pattern}.*" for pattern in patterns if pattern.endswith((".try", ".reason")))])
    components |= {f"saved_page.{name}" for name in SAVED}
    of_others = tuple(f"{section}." for section in text.REPLACING)
    said = {key.split(".", 1)[1] if key.startswith(of_others) else key for key in text.sentences("en")}
    unused = [key for key in said if key not in components and not asked.fullmatch(key)]
    assert not unused


def test_every_sentence_that_the_code_asks_for_is_there() -> None:
    keys = text.sentences("en")
    sections = {key.split(".")[0] for key in keys}
    missing = []
    for source in SOURCES:
        for node in ast.walk(ast.parse(source.read_text("utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            for argument in node.args[:3] if name in TAKES_KEYS else ():
                for _, value in strings(argument):
                    if value.split(".")[0] in sections and "." in value and "*" not in value and " " not in value:
                        is_there = value in keys or any(key.startswith(f"{value}.") for key in keys)
                        missing += [] if is_there else [f"{source.name}: {value}"]
    assert not missing


def test_components_are_given_a_label_for_everything_they_say() -> None:
    for language in text.LANGUAGES:
        text.use(language)
        for module in COMPONENTS:
            assert set(text.section(module.__name__.rpartition(".")[2])) == set(module.LABELS)


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: str(path.relative_to(ROOT / "app")))
def test_no_sentence_for_users_stands_in_the_code(source: Path) -> None:
    tree = ast.parse(source.read_text("utf-8"))
    raised = {
        id(part) for node in ast.walk(tree) if isinstance(node, ast.Raise | ast.Assert) or _logs(node) for part in ast.walk(node)
    }  # for developers, and for those who run a server
    for node, value in strings(tree):
        if id(node) in raised or "<" in value or "\\" in value or "=" in value:
            continue
        assert not re.search(r"[A-Za-z]{2,} [a-z]{2,} [a-z]{2,}", value), f"line {getattr(node, 'lineno', '?')}: {value}"
        assert not re.search("[\u3400-\u9fff]", value), f"line {getattr(node, 'lineno', '?')}: {value}"


def _logs(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func).startswith(("logger.", "sys.exit"))


def test_one_is_told_from_several(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "template", {"wrote": "{count} {count:token|tokens}, {name}"}.__getitem__)
    assert [text.text("wrote", count=count, name="a:b|c") for count in (0, 1, "1", 2, "1,001")] == [
        "0 tokens, a:b|c", "1 token, a:b|c", "1 token, a:b|c", "2 tokens, a:b|c", "1,001 tokens, a:b|c",
    ]  # fmt: skip


def test_a_missing_key_and_a_missing_value_are_errors() -> None:
    text.use("en")
    with pytest.raises(text.MissingTextError, match=r"nothing\.here"):
        text.text("nothing.here")
    with pytest.raises(text.MissingTextError, match="page"):
        text.text("page.next")


def test_an_unknown_language_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"'xx'.*en, zh"):
        text.use("xx")


def test_glossary_is_complete() -> None:
    terms = text.glossary().values()
    assert len(terms) >= 35
    for term in terms:
        for language in text.LANGUAGES:
            assert term.names[language].strip(), term.id
            assert term.sentences[language].strip().endswith((".", "”.", "。", "”", "）。")), term.id
        assert re.search("[\u3400-\u9fff]", term.sentences["zh"]), term.id


@pytest.mark.parametrize(
    "term", [term for term in text.glossary().values() if term.code.startswith("model.")], ids=lambda term: term.id
)
def test_names_in_the_glossary_are_names_in_the_code(term: text.Term) -> None:
    parts = term.code.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for name in parts[length:]:
            found = getattr(found, name)
        return
    pytest.fail(term.code)
