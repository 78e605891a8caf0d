"""Statistical aligners, learned on the spot by the library that the development requirements install."""

import ast
import itertools
import stat
import sys
from pathlib import Path

import pytest

from model.alignment import statistical

NOUNS = {"dog": "chien", "cat": "chat", "bird": "oiseau", "horse": "cheval", "fish": "poisson"}
VERBS = {"sleeps": "dort", "eats": "mange"}
ADJECTIVES = {"red": "rouge", "blue": "bleu", "black": "noir", "green": "vert"}
# Adjectives stand behind the noun: no diagonal finds this.
PAIRS = [
    (("The", adjective, noun, verb), ("Le", NOUNS[noun], ADJECTIVES[adjective], VERBS[verb]))
    for adjective, noun, verb in itertools.product(ADJECTIVES, NOUNS, VERBS)
]
SWAPPED = frozenset({(0, 0), (1, 2), (2, 1), (3, 3)})


@pytest.mark.parametrize("model", ["hmm", "fast_align"])
def test_it_learns_word_order_from_the_pairs_themselves(model: str) -> None:
    told: list[float] = []
    learned = statistical.align(PAIRS, model, progress=told.append)
    for found in (learned.forward, learned.reverse, learned.symmetrized("intersection")):
        assert len(found) == len(PAIRS)
        assert sum(links >= SWAPPED for links in found) >= 0.8 * len(PAIRS)
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert learned.little, "forty pairs are little to learn from"


def test_training_pairs_help_a_single_pair_and_letter_case_is_left_out() -> None:
    asked = (("THE", "red", "DOG", "sleeps"), ("LE", "chien", "rouge", "dort"))
    learned = statistical.align([asked, ((), ("x",)), (("a\u00a0b",), ())], "hmm", training=PAIRS * 3)
    assert learned.forward == [SWAPPED, frozenset(), frozenset()]
    assert learned.pairs == 3 * len(PAIRS) + 3
    turned = learned.flipped()
    assert turned.forward == [frozenset((j, i) for i, j in links) for links in learned.reverse]
    assert turned.flipped() == learned


def test_nothing_to_align_is_nothing() -> None:
    assert statistical.align([], "hmm").forward == []


def test_it_stops_when_asked() -> None:
    with pytest.raises(statistical.StoppedError):
        statistical.align(PAIRS, "eflomal", stop=lambda: True)


def test_what_is_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert set(statistical.LIBRARY_MODELS) <= set(statistical.available())
    monkeypatch.setattr(statistical.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(statistical.shutil, "which", lambda name: None)
    assert statistical.available() == ()
    with pytest.raises(statistical.StatisticalError, match=r"hmm is not installed; .*pip install -r requirements-align\.txt"):
        statistical.align(PAIRS, "hmm")
    with pytest.raises(statistical.StatisticalError, match="put the program eflomal-align on PATH"):
        statistical.align(PAIRS, statistical.PROGRAM)
    monkeypatch.setattr(statistical.shutil, "which", lambda name: f"/somewhere/{name}")
    assert statistical.available() == (statistical.PROGRAM,)
    with pytest.raises(ValueError, match="'giza' is unknown; choose one of eflomal, hmm"):
        statistical.align(PAIRS, "giza")


def program(folder: Path, body: str) -> str:
    """A program that takes eflomal's options."""
    path = folder / "eflomal-align"
    path.write_text(f"#!{sys.executable}\nimport sys\ngiven = dict(zip(sys.argv[1::2], sys.argv[2::2]))\n{body}\n", "utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_the_program_is_given_lower_case_words_and_its_links_are_read(tmp_path: Path) -> None:
    body = (
        f"open({str(tmp_path / 'seen')!r}, 'w').write(open(given['-s'], encoding='utf-8').read())\n"
        "for name, links in (('-f', '0-0 1-2'), ('-r', '2-1')):\n"
        "    open(given[name], 'w').write('9-9\\n' + links + '\\n')"
    )
    asked = (("A\u00a0B", "c"), ("x",))
    learned = statistical.align([asked], statistical.PROGRAM, training=PAIRS[:1], program=program(tmp_path, body))
    assert learned.forward == [frozenset({(0, 0), (1, 2)})]
    assert learned.reverse == [frozenset({(2, 1)})]
    assert (tmp_path / "seen").read_text("utf-8") == "the red dog sleeps\na_b c\n"


def test_a_program_that_fails_says_why(tmp_path: Path) -> None:
    failing = program(tmp_path, "sys.exit('out of beans')")
    with pytest.raises(statistical.StatisticalError, match="exit code 1: out of beans"):
        statistical.align(PAIRS, statistical.PROGRAM, program=failing)


def test_the_optional_library_is_never_imported_with_us() -> None:
    """Only the worker names it, inside a function."""
    folder = Path(statistical.__file__).parent
    for path in folder.rglob("*.py"):
        for node in ast.parse(path.read_text("utf-8")).body:
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [getattr(node, "module", None)]
            assert not any((name or "").partition(".")[0] == "thot" for name in names), path
