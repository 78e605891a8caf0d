"""The Training page: what it says is what numpy computes from the recorded logits, the model's own matrices and the formulas."""

import io
import math
from statistics import mean, median

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app import session, text
from app.charts import training as charts_of
from app.text import sentences
from model.analysis import forcing
from tests.app.conftest import OpenApp, charts, shown

SENTENCE = "The dog saw the dog ."
MINUS = "\N{MINUS SIGN}"


def open_page(open_app: OpenApp, **parameters: str) -> AppTest:
    """The page by a link: what a widget finds in the URL has to be there when the page is first run."""
    text.use(parameters.get("lang", "en"))
    app = open_app(**{"text": SENTENCE, "model": "en-fr", **parameters})
    for name, value in parameters.items():
        app.query_params[name] = value
    app.switch_page("views/training.py").run()
    assert not app.exception, app.exception
    return app


def series(app: AppTest, name: str) -> list[list[float]]:
    return [entry["values"] for entry in charts(app)[name]["series"]]  # type: ignore[attr-defined]


def row_of_logits(at: int, name: str = "en-fr") -> tuple[np.ndarray, int]:
    """log p of one row, by plain numpy, and the id that it is asked for."""
    trace = session.trace(name, SENTENCE)
    logits = trace["logits"].tensor[0, at].double().numpy()
    return logits - logits.max() - math.log(np.exp(logits - logits.max()).sum()), trace.produced[at].id


def test_the_chosen_row_against_its_smoothed_target(open_app: OpenApp) -> None:
    app = open_page(open_app, loss_row="2", smoothing="0.2", convention="others")
    logarithms, right = row_of_logits(2)
    size = len(logarithms)
    target = np.full(size, 0.2 / (size - 1))
    target[right] = 0.8
    loss, floor = -(target * logarithms).sum(), -(target * np.log(target)).sum()
    page = shown(app, " ")
    told = page[page.index("Row 2 reads") :]
    for value in (math.exp(logarithms[right]), -logarithms[right], 0.8, loss, floor, loss - floor):
        assert f"{value:.4f}" in told
    plain, smoothed, floors = series(app, "losses")
    assert (plain[2], smoothed[2], floors[2]) == pytest.approx((-logarithms[right], loss, floor), rel=1e-5)
    assert charts(app)["losses"]["marked"] == 2
    latex, (logarithms, right) = "".join(formula.value for formula in app.latex), row_of_logits(3)  # the row in the middle
    target = np.full(size, 0.1 / size)
    target[right] += 0.9
    assert f"= {-(target * logarithms).sum():.4f}" in latex
    assert f"H(q) = {-(target * np.log(target)).sum():.4f}" in latex
    assert r"= 6.987712 \cdot 10^{-4}" in latex
    trace = session.trace("en-fr", SENTENCE)
    perplexity = math.exp(-sum(trace.log_probabilities) / len(trace.produced))
    assert f"Perplexity is exp of the plain one: {perplexity:.3f}" in page


def test_smoothing_by_its_sections(open_app: OpenApp) -> None:
    app = open_page(open_app)
    page = shown(app, " ")
    assert "37,000 1.377" in page
    for published in ("0.951350", "0.550661", "0.196003", "0.057679", "0.004391", "0.000000", "0.014527", "0.054421"):
        assert published in page
    assert "0.920000 0.0200 0.0200 0.0200" in page  # five classes, uniform
    assert "0.900000 0.0333 0.0333 0" in page  # without padding
    certain = charts(app)["certain"]
    assert certain["marked"] == 26
    assert certain["places"] == [float(x) for x in range(1, 100)]


def test_schedules_are_those_of_the_formula(open_app: OpenApp) -> None:
    app = open_page(open_app, width="512", warmup="4000", factor="1.0", last="20000", updates="5000")
    page, drawn = shown(app, " "), charts(app)["rates"]
    steps = [int(place) for place in drawn["places"]]  # type: ignore[attr-defined]
    assert (steps[0], steps[-1]) == (1, 20_000)
    ours, paper, constant, cosine, by_epoch = series(app, "rates")
    expected = [512**-0.5 * min(step**-0.5, step * 4000**-1.5) for step in steps]
    assert ours == paper == pytest.approx(expected)
    assert steps[int(np.argmax(ours))] == 4000 == steps[int(str(drawn["marked"]))]
    assert constant == pytest.approx([min(step, 4000) / 4000 * max(ours) for step in steps])
    assert cosine[-1] == pytest.approx(0, abs=1e-18)
    assert max(by_epoch) == pytest.approx(512**-0.5 * 4 * 4000**-1.5)
    for value in ("6.987712 × 10⁻⁴", "4.941059 × 10⁻⁴", "9.882118 × 10⁻⁴", "1.746928 × 10⁻⁷", "3.125000 × 10⁻⁴"):
        assert value in page
    assert "noam counts steps from 1, but step=0 was given" in page
    assert "That is less than a tenth" in page
    app.number_input(key="updates").set_value(1).run()
    assert "step and epoch are the same" in shown(app, " ")
    assert "almost nothing is learned" not in shown(app, " ")
    app.number_input(key="warmup").set_value(1000).run()
    assert not app.exception
    assert app.query_params["warmup"] in ("1000", ["1000"])
    assert "at step w = 1,000: 1.397542 × 10⁻³" in shown(app, " ")


def test_the_matrix_is_one_and_read_by_cosine(open_app: OpenApp) -> None:
    app = open_page(open_app, tied_side="source", tied_token="1")
    atlas, trace = session.load("en-fr"), session.trace("en-fr", SENTENCE)
    weight = atlas.model.to_logits.weight
    page = shown(app, " ")
    assert page.count(f"A {weight.data_ptr():#x}") == 3
    assert f"{sum(parameter.numel() for parameter in atlas.model.parameters()):,}" in page
    assert f"{2 * weight.numel():,}" in page
    assert "37,888,000" in page
    unit = weight.double().numpy() / np.linalg.norm(weight.double().numpy(), axis=1, keepdims=True)
    cosines = unit @ unit[trace.source[1].id]
    second = int(np.argsort(-cosines)[1])
    label = atlas.tokenizers.target.produced([second])[0].label
    assert f"{label} {second} {cosines[second]:.4f}" in page


def test_of_two_vocabularies_two_places_are_one(open_app: OpenApp) -> None:
    app = open_page(open_app, model="en-zh", lang="zh", tied_side="source")
    weight = session.load("en-zh").model.to_logits.weight
    page = shown(app, " ")
    assert page.count(f"B {weight.data_ptr():#x}") == 2
    assert page.count("A 0x") == 1
    assert "各有词表" in page
    assert "没有对应的输出行" in page


def test_one_pass_and_the_steps_have_the_same_losses_when_measured(open_app: OpenApp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forcing, "ROUNDS", 2)
    app = open_page(open_app)
    trace = session.trace("en-fr", SENTENCE)
    rows = shown(app, " ")[shown(app, " ").index("Every row of this pass") :]
    for at, (read, produced) in enumerate(zip(trace.target, trace.produced, strict=True)):
        sees = f"rows 0–{at}" if at else "row 0"
        assert f"{at} {read.label} {produced.label} {sees} {-trace.log_probabilities[at]:.4f}" in rows
    assert "Measured here just now" not in rows
    app.button(key="forcing_measure").click().run()
    assert not app.exception
    page = shown(app, " ")
    count = len(trace.target)
    assert f"one forced pass 1 {count} " in page
    assert f"step by step, nothing kept {count} {count * (count + 1) // 2} " in page
    assert f"step by step, keys and values kept {count} {count} " in page
    assert "The losses are the same" in page
    assert page.count(f"{-trace.log_probabilities[0]:.6f}") >= 1


@pytest.mark.parametrize("mistake", ["padding", "perplexity", "factor"])
def test_mistakes_are_measured_when_asked_for(open_app: OpenApp, mistake: str) -> None:
    page = shown(open_page(open_app, mistake=mistake), " ")
    trace = session.trace("en-fr", SENTENCE)
    plain = -sum(trace.log_probabilities) / len(trace.produced)
    if mistake == "padding":
        rows = len(trace.produced)
        assert f"{plain:.4f} padding counted" in page
        assert f"{plain * rows / (rows + 8):.4f}" in page
    elif mistake == "perplexity":
        assert f"0 {plain:.4f} {math.exp(plain):.3f} {plain:.4f} {math.exp(plain):.3f}" in page
    else:
        pairs = session.example_pairs("en-fr")
        traces = [session.load("en-fr").trace(*pair) for pair in pairs]
        losses = [-mean(one.log_probabilities) for one in traces]
        assert f"on {len(traces)} example sentences with {sum(len(one.produced) for one in traces)} tokens" in page
        assert f"(as trained) {median(losses):.3f}" in page


def test_labels_are_tokens_in_order_with_duplicates_and_numbers(open_app: OpenApp) -> None:
    target = "le le 1E1 NaN 2024-05-06 le"
    app = open_page(open_app, target=target)
    trace = session.trace("en-fr", SENTENCE, target)
    assert charts(app)["losses"]["labels"] == [token.label for token in trace.produced]
    assert series(app, "losses")[0] == pytest.approx([-value for value in trace.log_probabilities])


def test_of_a_language_model_the_page_has_one_table_and_no_source(open_app: OpenApp) -> None:
    app = open_page(open_app, model="en-lm", smoothing="0")
    page = shown(app, " ")
    assert "decoder-only" in page
    assert "source embedding source.table.weight" not in page
    assert not [control for control in app.segmented_control if control.key == "tied_side"]
    plain, smoothed, floors = series(app, "losses")
    assert smoothed == pytest.approx(plain)
    assert set(floors) == {0.0}


def test_a_link_that_says_nothing_opens_the_page_and_an_empty_sentence_is_told(open_app: OpenApp) -> None:
    wrong = dict.fromkeys(("loss_row", "smoothing", "convention", "width", "warmup", "factor", "last", "updates"), "9" * 500)
    app = open_page(open_app, **wrong, tied_side="x", tied_token="-1", mistake="none")
    assert charts(app)["losses"]["series"]
    assert sentences("en")["limits.empty"] in shown(open_app("training", text=" "), " ")


def test_formulas_and_the_file_hold_the_numbers() -> None:
    assert charts_of.power(6.987712e-4) == r"6.988 \cdot 10^{-4}"
    assert charts_of.rate(800, 192, 800, 0.5, 1.275776e-3).startswith(r"\eta_{800} = 0.5 \cdot 192^{-0.5}")
    assert charts_of.perplexity([0.5, 1.5], 1.0, math.e) == r"\exp\left(\tfrac{1}{2} (0.500 + 1.500)\right) = e^{1.0000} = 2.718"
    trace = session.trace("en-fr", SENTENCE)
    logarithms = trace["logits"].tensor[0].log_softmax(dim=-1)
    made = charts_of.archive(trace, logarithms, {"noam": [0.1, 0.2]}, [1, 2], {"plain": [0.5]}, {"model": "en-fr"})
    with np.load(io.BytesIO(made)) as file:
        np.testing.assert_allclose(file["log_probabilities"], logarithms.numpy())
        assert list(file["tokens.produced"]) == [token.label for token in trace.produced]
        assert file["rate.noam"].tolist() == [0.1, 0.2]
        assert str(file["caption.model"]) == "en-fr"
