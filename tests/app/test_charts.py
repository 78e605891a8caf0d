"""Files and formulas say what the tensors say."""

import io
import math
import re

import numpy as np
import pytest

from app import session
from app.charts import formulas, pairs
from app.charts.archive import npz
from app.charts.spreadsheet import comma_separated
from model.trace import Trace

PATH = "decoder.layers.1.cross_attention"


@pytest.fixture(scope="module")
def trace() -> Trace:
    return session.load("en-fr").trace("The cat sees the dog.", "Le chat voit le chien.")


def test_archive_holds_every_weight_with_its_tokens_and_a_caption(trace: Trace) -> None:
    caption = {"model": "en-fr", "source": trace.source_text, "target": trace.target_text}
    with np.load(io.BytesIO(npz(trace, caption))) as file:
        weights = [path for path in trace if path.endswith(".weights")]
        assert weights
        for path in weights:
            np.testing.assert_array_equal(file[path], trace[path].tensor[0].numpy())
        assert list(file["tokens.source"]) == [token.label for token in trace.source]
        assert list(file["tokens.target"]) == [token.label for token in trace.target]
        assert list(file["tokens.produced"]) == [token.label for token in trace.produced]
        np.testing.assert_allclose(file["log_probabilities"], trace.log_probabilities)
        assert str(file["caption.model"]) == "en-fr"
        assert str(file["caption.source"]) == "The cat sees the dog."


def test_largest_weight_is_the_largest_of_the_inner_rows(trace: Trace) -> None:
    row, column = formulas.largest_weight(trace, f"{PATH}.weights", 0)
    weights = trace[f"{PATH}.weights"].tensor[0, 0]
    assert weights[row, column] == weights[1:-1].max()
    assert not trace.produced[row].special


def test_largest_weight_of_the_shortest_translations() -> None:
    for target, rows in (("", 1), ("a", 2)):
        short = session.load("en-fr").trace("A.", target)
        row, _ = formulas.largest_weight(short, f"{PATH}.weights", 0)
        assert len(short.produced) == rows
        assert row == 0


def test_one_weight_is_the_softmax_of_the_scores_that_are_printed(trace: Trace) -> None:
    row, column = 2, 1
    printed = formulas.softmax_cell(trace, PATH, 0, row, column)
    value = float(printed.rsplit("= ", 1)[1])
    assert value == pytest.approx(float(trace[f"{PATH}.weights"].tensor[0, 0, row, column]), abs=1e-4)
    scores = trace[f"{PATH}.masked"].tensor[0, 0, row]
    terms = re.findall(r"j=(\d+)\}\{e\^\{(-?[\d.]+)\}\}", printed)
    largest = scores.topk(formulas.LARGEST_TERMS).indices.tolist()
    assert [int(key) for key, _ in terms] == largest  # the largest terms, each under its own key's number
    assert [score for _, score in terms] == [f"{float(scores[key]):.2f}" for key in largest]
    assert printed.count(r"\cdots") == 1  # the rest, which is counted
    assert math.exp(float(scores[column])) / float(scores.double().exp().sum()) == pytest.approx(value, abs=1e-4)


def test_the_largest_terms_of_a_weighted_sum_come_first_under_their_keys(trace: Trace) -> None:
    weights, values = (trace[f"{PATH}.{name}"].tensor[0, 0].double() for name in ("weights", "value"))
    for row in range(len(trace.target)):
        printed = formulas.weighted_sum(trace, PATH, 0, row, 7)
        keys = [int(key) for key in re.findall(r"j=(\d+)\}", printed)]
        products = weights[row] * values[:, 7]
        largest = products.abs().topk(formulas.LARGEST_TERMS)
        assert keys == [
            key for key, size in zip(largest.indices.tolist(), largest.values.tolist(), strict=True) if size >= 0.0005
        ]
        assert rf"\cdot ({float(values[keys[0], 7]):.2f})" in printed
        total = float(printed.rsplit("&= ", 1)[1].split(" ")[0])
        assert total == pytest.approx(float(products.sum()), abs=0.0051)


def test_one_score_is_the_dot_product_that_is_printed(trace: Trace) -> None:
    printed = formulas.scaled_score(trace, PATH, 1, 0, 2)
    value = float(printed.rsplit("= ", 1)[1])
    assert value == pytest.approx(float(trace[f"{PATH}.scores"].tensor[0, 1, 0, 2]), abs=0.006)


def test_a_row_adds_up_to_one(trace: Trace) -> None:
    assert formulas.row_sum(trace, f"{PATH}.weights", 0, 0).endswith("= 1.000")


@pytest.mark.parametrize(
    ("terms", "printed"),
    [([0.5, -0.25], "0.50 - 0.25"), ([-1.0, -2.0], "-1.00 - 2.00"), ([0.001], "0.00"), ([-0.001], "0.00"), ([], "")],
)
def test_sums_are_printed_with_their_signs(terms: list[float], printed: str) -> None:
    assert formulas.summed(terms) == printed


def test_long_sums_end_in_dots() -> None:
    assert formulas.summed([1.0] * 9).count("1.00") == formulas.MOST_TERMS
    assert formulas.summed([1.0] * 9).endswith(r"\cdots")


@pytest.mark.parametrize(
    ("logarithm", "printed"),
    [
        (math.log(0.5), "0.500"),
        (math.log(0.001), "0.001"),
        (math.log(3.2e-7), r"3.2 \cdot 10^{-7}"),
        (math.log(9.99e-5), r"1.0 \cdot 10^{-4}"),
        (-1000.0, r"5.1 \cdot 10^{-435}"),  # far below the smallest float
    ],
)
def test_small_probabilities_are_printed_as_powers(logarithm: float, printed: str) -> None:
    assert formulas.probability(logarithm) == printed


def test_equations_are_aligned_at_their_first_equals_sign() -> None:
    assert formulas.aligned("a = b = c", "d = e") == r"\begin{aligned} a &= b = c \\ d &= e \end{aligned}"


def test_formulas_hold_no_words_of_the_user(trace: Trace) -> None:
    assert not re.search(
        "cat|chat", formulas.softmax_cell(trace, PATH, 0, 0, 0) + formulas.log_likelihood(trace.log_probabilities)
    )


def test_a_spreadsheet_takes_no_text_for_a_formula() -> None:
    """A file may hold what anybody has typed; numbers, negative ones too, stay numbers."""
    rows = [("=SUM(A1)", -0.5), ("-5", -math.inf), ("@x", 3), ("+a", "-1e-3"), ("a=b", "＝1")]
    written = comma_separated(("name", "value"), rows).decode("utf-8-sig").splitlines()
    assert written == ["name,value", "'=SUM(A1),-0.5", "-5,-inf", "'@x,3", "'+a,-1e-3", "a=b,'＝1"]


def test_formulas_of_rotary_attention_say_what_is_turned() -> None:
    assert "'" not in formulas.attention(turned=False)
    assert r"Q' {K'}^\top" in formulas.attention(turned=True)
    encoder, decoder, cross = pairs.three(turned=True, bias=True).split(r"\\")
    assert r"R(X W^Q + b^Q)\, R(X W^K + b^K)^\top" in encoder
    assert r"+ \text{mask}" in decoder
    assert "R(" not in cross
    assert "b^" not in pairs.three(turned=True, bias=False)
    assert r"q'_i \cdot k'_j" in pairs.directed(turned=True)
    assert r"q_j \cdot k_i" in pairs.directed(turned=False)
