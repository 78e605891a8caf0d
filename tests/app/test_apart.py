"""What is computed beside the pages, or was written down, is what the functions find themselves."""

import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from app import session
from app.session import apart, computed, premeasured
from app.session.belonging import Belonging, belonging
from app.session.loading import writer
from model import plain
from model.analysis import ablation, sizes
from model.apart import FUNCTIONS, Answer, Request, answer, serve
from model.translator import Translation
from tests.app.conftest import OpenApp, shown

SENTENCE = "The cat sleeps."
QUICK = ("model.analysis.sizes.compared", "model.analysis.tying.misplaced", "model.analysis.findings")  # some 2 s together


@pytest.fixture(scope="module")
def beside() -> Iterator[apart.Apart]:
    """A process that has answered."""
    made = apart.Apart((sys.executable, "-m", "model.apart", "0"))
    first = made.ask(Request("model.apart.written", "en-fr", None, None, (SENTENCE, 1, None)))
    assert first is not None
    found: Translation = first.result().found
    assert found == session.translation("en-fr", SENTENCE)
    yield made
    made._end()


@pytest.fixture
def served(beside: apart.Apart, monkeypatch: pytest.MonkeyPatch) -> apart.Apart:
    """The pages of this test ask the process."""
    monkeypatch.setattr(apart, "_apart", lambda pace: beside)
    apart._allowed.set()
    computed._of_short_trace.clear()
    return beside


def test_values_come_back_the_same_to_the_last_bit() -> None:
    trace = session.trace("en-fr", SENTENCE)
    value = {
        ("a", 1): (0.1 + 0.2, float("-inf"), None, True, "„é\u2028"),
        "list": [frozenset({2, 1}), ()],
        "tensors": (trace["encoder.output"].tensor, torch.tensor([[True]]), torch.zeros(0, 3, dtype=torch.int64)),
        "tokens": trace.produced,
        "translation": session.translation("en-fr", SENTENCE),
    }
    line = plain.write(value)
    back = plain.read(line)
    assert "\n" not in line
    assert plain.write(back) == line
    assert back["tokens"] == trace.produced
    assert back["translation"] == session.translation("en-fr", SENTENCE)
    assert torch.equal(back["tensors"][0], trace["encoder.output"].tensor)


@pytest.mark.parametrize("found", [{"of": "os:system", "with": {}}, {"of": "model.plain:write", "with": {}}, {"what": 1}])
def test_reading_makes_nothing_but_values_of_model(found: object) -> None:
    with pytest.raises(ValueError, match=r"no dataclass of model|no value is written"):
        plain.read(json.dumps(found))


def test_only_named_functions_are_computed_and_errors_are_answers() -> None:
    asked = Request("os.system", "en-fr", None, None, ("true",))
    found = plain.read(answer(plain.write(asked)))
    assert found == Answer(error="ValueError: 'os.system' is not computed here; it has to stand in model.apart.FUNCTIONS")
    answers = io.StringIO()
    serve(io.StringIO(f"\nnonsense\n{plain.write(asked)}\n"), answers)
    assert [bool(plain.read(line).error) for line in answers.getvalue().splitlines()] == [False, True, True]


def test_every_function_of_the_list_is_there() -> None:
    for name in FUNCTIONS:
        module, _, function = name.rpartition(".")
        assert callable(getattr(__import__(module, fromlist=[function]), function)), name


def test_a_page_shows_what_the_process_found_once_it_is_there(
    open_app: OpenApp, served: apart.Apart, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = session.Selection("en", "en-fr", SENTENCE)
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(session, "awaited", lambda *_: True)
        page = open_app("heads", model="en-fr", text=SENTENCE, lang="en", importance="true")
    assert "One forced pass for each head" in shown(page)
    assert "The head that matters most" not in shown(page)
    found = session.measured(ablation.importance, chosen, "zero")
    direct = ablation.importance(writer("en-fr"), session.trace("en-fr", SENTENCE), "zero")
    assert found == direct
    assert found is not direct
    assert not session.awaited(ablation.importance, chosen, "zero")
    assert any("importance" in question for question in served.kept)


def test_a_process_that_fails_is_told_and_the_page_computes(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    broken = apart.Apart((sys.executable, "-c", "print('no JSON')"))
    future = broken.ask(Request("model.apart.written", "en-fr", None, None, ("A dog.", 1, None)))
    assert future is not None
    assert apart.answer_of(future, "model.apart.written") is None
    assert "computed by the page itself" in caplog.text
    assert broken.process is None
    assert broken.ask(Request("model.apart.written", "en-fr", None, None, ("A dog.", 1, None))) is future  # not again and again


def test_who_cannot_wait_for_a_beginning_gets_nothing_from_it() -> None:
    made = apart.Apart((sys.executable, "-c", 'input(); print(\'{"of":"model.apart:Answer","with":{}}\')'), patient=False)
    assert made.ask(Request("model.apart.written", "en-fr", None, None, ("A dog.", 1, None))) is None
    made._end()


# ----- what is written down


def test_what_was_written_down_is_of_these_models_and_this_code() -> None:
    assert not premeasured.stale(), "python -m benchmarks.measured measures and writes it again, in some two minutes"


def few() -> list[Belonging]:
    """One of each function that takes no second."""
    found: dict[str, Belonging] = {}
    for one in belonging():
        if one.function.startswith(QUICK):
            found.setdefault(one.function, one)
    return list(found.values())


@pytest.mark.parametrize("one", few(), ids=lambda one: one.function)
def test_what_was_written_down_is_what_the_function_finds(one: Belonging, monkeypatch: pytest.MonkeyPatch) -> None:
    written = premeasured.found(one.function, one.names[0], one.arguments)
    assert written is not premeasured.NOTHING
    monkeypatch.setattr(premeasured, "found", lambda *_: premeasured.NOTHING)
    session.told.clear()
    assert close(written, one.compute())


def close(one: object, other: object) -> bool:
    """The same but for the last digits, which another processor may round otherwise."""
    return plain.write(rounded(one)) == plain.write(rounded(other))


def rounded(value: object) -> object:
    read = json.loads(plain.write(value), parse_float=lambda digits: f"{float(digits):.4g}")
    return json.dumps(read)


def test_another_model_is_computed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert premeasured.found("model.analysis.sizes.compared", "en-fr", ("base",)) is not premeasured.NOTHING
    monkeypatch.setattr(premeasured, "weights_digest", lambda name: "of another training")
    assert premeasured.found("model.analysis.sizes.compared", "en-fr", ("base",)) is premeasured.NOTHING
    monkeypatch.undo()
    monkeypatch.setattr(premeasured, "code_digest", lambda module: "of another formula")
    assert premeasured.found("model.analysis.sizes.compared", "en-fr", ("base",)) is premeasured.NOTHING
    assert session.measured_model(sizes.compared, "toy", "base").here
