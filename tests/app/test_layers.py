"""The Add & norm, feed-forward page: what it says is what plain torch computes from the model's own weights."""

import math
import re

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from app import session
from app.charts import layers as charts_of
from app.components.matrices import unpack as unpack_matrices
from app.text import sentences
from model.translator import Translator
from tests.app.conftest import OpenApp, charts, shown

SENTENCE = "The dog saw the dog ."
PATH = "decoder.layers.2.residual.1"
MINUS = "\N{MINUS SIGN}"


def open_page(open_app: OpenApp, **parameters: str) -> AppTest:
    """The page with the sentence of these tests, by a link."""
    return open_app("layers", text=SENTENCE, **parameters)


def number(value: float, digits: int = 4) -> str:
    return f"{value:.{digits}f}".replace("-", MINUS)


@pytest.fixture
def linked(open_app: OpenApp) -> AppTest:
    return open_page(
        open_app, model="en-fr", attention="decoder.cross_attention", layer="2", head="0", sublayer="cross_attention", token="3"
    )


def test_layer_norm_by_hand_and_the_stream_are_those_of_the_recorded_tensors(linked: AppTest) -> None:
    trace, atlas = session.trace("en-fr", SENTENCE), session.load("en-fr")
    x = trace[f"{PATH}.sum"].tensor[0, 3].double().numpy()
    variance = ((x - x.mean()) ** 2).mean()
    page = shown(linked, " ")
    for value in (x.mean(), variance, math.sqrt(variance + 1e-5)):
        assert number(value) in page
    norm = atlas.model.get_submodule(PATH).norm
    output = (x - x.mean()) / np.sqrt(variance + 1e-5) * norm.weight.numpy() + norm.bias.numpy()
    row = [number(float(value)) for value in (x[2], norm.weight[2], norm.bias[2], output[2])]
    assert re.search(".*".join(map(re.escape, row)), page)
    assert f"= {output[0]:.3f}" in "".join(element.value for element in linked.latex)

    stream = np.stack([trace[f"decoder.layers.{i // 3}.residual.{i % 3}.input"].tensor[0, 3].numpy() for i in range(9)])
    lengths = charts(linked)["lengths"]
    came_in, added, summed, goes_on = (series["values"] for series in lengths["series"])  # type: ignore[attr-defined]
    assert goes_on[:9] == pytest.approx(np.linalg.norm(stream, axis=1).tolist(), rel=1e-5)
    assert came_in[1:] == goes_on[:-1]  # one point is one residual connection
    assert lengths["marked"] == 8
    sublayer, sum_ = (trace[f"{PATH}.{name}"].tensor[0, 3].double().norm().item() for name in ("sublayer", "sum"))
    assert (added[8], summed[8]) == pytest.approx((sublayer, sum_), rel=1e-6)
    turned = charts(linked)["cosines"]["series"][1]["values"][8]  # type: ignore[index]
    assert math.sqrt(came_in[8] ** 2 + added[8] ** 2 + 2 * came_in[8] * added[8] * turned) == pytest.approx(summed[8], rel=1e-5)
    assert f"= {number(summed[8], 2)}, the length of the sum" in page
    cosine = charts(linked)["cosines"]["series"][0]["values"][5]  # type: ignore[index]
    assert cosine == pytest.approx(stream[5] @ stream[0] / np.linalg.norm(stream[5]) / np.linalg.norm(stream[0]), abs=1e-5)


def test_the_lens_ends_at_the_models_own_probability_and_begins_with_the_token_that_was_read(linked: AppTest) -> None:
    trace = session.trace("en-fr", SENTENCE)
    page = shown(linked, " ")
    assert number(math.exp(trace.log_probabilities[3])) in page
    first = page[page.index("its rank") :].split("input", 1)[1].split()[0]
    assert first == trace.target[3].label
    opened = open_page_all(linked)
    assert opened.count(f"{len(trace.target) - 1} {trace.target[-1].label}") >= 1


def open_page_all(app: AppTest) -> str:
    """The page with the table of all positions opened by its link."""
    app.query_params["lens_all"] = "true"
    app.run()
    assert not app.exception
    return shown(app, " ")


def test_labels_are_tokens_in_order_with_duplicates_and_numbers(open_app: OpenApp) -> None:
    sentence = "The dog saw the dog 1E1 2024-05-06 NaN ."
    app = open_app("layers", model="en-fr", text=sentence, attention="encoder.self_attention", layer="0", head="0")
    trace = session.trace("en-fr", sentence)
    labels = [token.label for token in trace.source]
    assert charts(app)["shares"]["labels"] == labels
    (component,) = (part for part in app.get("bidi_component") if part.proto.component_name.endswith("matrices"))
    header, values = unpack_matrices(component.proto.bytes)
    by_id = {matrix["id"]: matrix for matrix in header["matrices"]}
    assert by_id["sum"]["rows"]["labels"] == labels
    np.testing.assert_array_equal(values["sum"], trace["encoder.layers.0.residual.0.sum"].tensor[0].numpy())
    np.testing.assert_allclose(values["input"] + values["sublayer"], values["sum"], atol=1e-6)
    hidden = trace["encoder.layers.0.feed_forward.hidden"].tensor[0]
    assert charts(app)["shares"]["series"][0]["values"] == pytest.approx((hidden > 0).double().mean(1).tolist())  # type: ignore[index]
    assert "choose the decoder" in shown(app, " ").lower()


def test_what_is_measured_once_it_is_asked_for(open_app: OpenApp) -> None:
    asked = {"curves": "true", "memory": "true", "batch_norm": "true", "unit": "7", "altered": "activation"}
    app = open_page(open_app, model="en-fr", attention="decoder.cross_attention", layer="1", head="0", **asked)
    page, atlas = shown(app, " "), session.load("en-fr")
    network = atlas.model.get_submodule("decoder.layers.1.feed_forward")
    raised = atlas.model.to_logits.weight @ network.contract.weight[:, 7]
    best = atlas.tokenizers.target.produced([int(raised.argmax())])[0].label
    assert re.search(rf"Raises most.*?{re.escape(best)} {number(float(raised.max()), 2)}", page)
    assert "Unit 7, the one chosen" in page
    row = re.search(rf"6 places of padding{4 * r' ([0-9.]+(?: × 10[⁻⁰-⁹¹²³]+)?)'}", page)
    assert row, page
    digits = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
    given, layer_norm, training, evaluation = (float(value.replace(" × 10", "e").translate(digits)) for value in row.groups())
    assert max(given, layer_norm, evaluation) < 1e-5
    assert training > 0.01
    curve = charts(app)["curves"]
    assert curve["places"] == sorted(curve["places"])  # type: ignore[type-var]
    before, relu, gelu = (torch.tensor(values) for values in (curve["places"], *(row["values"] for row in curve["series"])))  # type: ignore[misc]
    torch.testing.assert_close(relu, before.clamp(min=0))
    torch.testing.assert_close(gelu, torch.nn.functional.gelu(before), atol=1e-6, rtol=1e-5)
    own = session.trace("en-fr", SENTENCE)
    assert number(sum(own.log_probabilities), 2) in page
    assert sentences("en")["layers.what_if_whole"] in page
    assert app.query_params["altered"] in ("activation", ["activation"])


def test_fresh_stacks_are_measured_when_opened_and_called_untrained(open_app: OpenApp) -> None:
    app = open_page(open_app, model="en-zh", lang="zh", stacks="true", depth="2")
    drawn = charts(app)["gradients"]
    assert drawn["logarithmic"]
    assert drawn["labels"] == ["1", "2"]
    assert len(drawn["series"]) == 4  # type: ignore[arg-type]
    assert "未经训练" in str(drawn["title"])
    assert "未经训练" in shown(app, " ")


def test_formulas_write_signs_and_powers() -> None:
    assert charts_of.residual_cell(3, 1.0, -0.25, 0.75, pre_norm=False).endswith("= 1.000 - 0.250 = 0.750")
    assert charts_of.power_of_ten(1e-5) == "10^{-5}"
    assert charts_of.power_of_ten(2.5e-3) == r"2.5 \cdot 10^{-3}"
    cell = charts_of.layer_norm_cell(
        0, name="s", x=2.0, mean=-0.5, variance=4.0, epsilon=1e-5, gain=-1.5, bias=0.25, output=-1.625
    )
    assert cell.endswith(r"= \frac{2.000 + 0.500}{\sqrt{4.000 + 10^{-5}}} \cdot (-1.500) + 0.250 = -1.625")
    symbols, numbers = charts_of.unit_product(name="x", terms=[(12, 0.5, -0.25)], rest=-0.5, others=3, bias=-1.0, total=-1.625)
    assert symbols == r"x \cdot w + b = x_{12} w_{12} + \cdots + b"
    assert numbers == r"= 0.500 \cdot (-0.250) + \underbrace{(-0.500)}_{3\,\cdots} - 1.000 = -1.625"
    assert charts_of.unit_cell(7, -0.5, 0.0, "relu") == r"h_{7} = \max(0,\, -0.500) = 0.000"
    assert charts_of.unit_cell(7, 1.0, 0.841, "gelu") == r"h_{7} = \mathrm{GELU}(1.000) = 0.841"


def test_a_hidden_unit_is_given_a_sum_that_stands_there(linked: AppTest) -> None:
    trace, atlas = session.trace("en-fr", SENTENCE), session.load("en-fr")
    read = trace["decoder.layers.2.residual.2.input"].tensor[0, 3].double().numpy()
    unit = int(trace["decoder.layers.2.feed_forward.hidden"].tensor[0, 3].argmax())
    expand = atlas.model.get_submodule("decoder.layers.2.feed_forward").expand
    terms, bias = read * expand.weight[unit].double().numpy(), float(expand.bias[unit])
    (shown_there,) = (formula.value for formula in linked.latex if f"h_{{{unit}}}" in formula.value)
    first, *_ = np.argsort(-np.abs(terms))
    assert f"x_{{{first}}} w_{{{first}}}" in shown_there
    assert f"= {terms.sum() + bias:.3f}" in shown_there
    rest = terms.sum() - terms[np.argsort(-np.abs(terms))[:4]].sum()
    assert f"{rest:.3f}" in shown_there


def test_a_pre_norm_model_is_drawn_in_its_own_order(open_app: OpenApp, pre_norm: Translator) -> None:
    app = open_page(open_app, attention="decoder.self_attention", layer="1", head="0", token="1", curves="true", altered="linear")
    (component,) = (part for part in app.get("bidi_component") if part.proto.component_name.endswith("matrices"))
    assert [scene["id"] for scene in unpack_matrices(component.proto.bytes)[0]["scenes"]] == ["norm", "sum"]
    page, path = shown(app, " "), "decoder.layers.1.residual.0"
    assert "Pre-norm: only what the sublayer reads is normalised." in page
    trace = session.trace("en-fr", SENTENCE)
    assert number(float(trace[f"{path}.input"].tensor[0, 1].double().mean())) in page
    last = charts(app)["lengths"]["series"][-1]["values"][-1]  # type: ignore[index]
    assert last == pytest.approx(float(trace["decoder.layers.1.residual.2.sum"].tensor[0, 1].norm()), rel=1e-5)
    assert "trained with GELU" in page
    assert any(r"\mathrm{Sub}(\mathrm{LN}(x))_{0}" in formula.value for formula in app.latex)


def test_a_click_that_was_sent_with_the_url_of_before_takes_nothing_back(linked: AppTest) -> None:
    before = dict(linked.query_params)
    linked.segmented_control(key="spot_layer").set_value(0).run()
    linked.query_params.clear()
    linked.query_params.update(before)
    linked.segmented_control(key="sublayer").set_value("feed_forward").run()
    assert (linked.query_params["layer"], linked.query_params["sublayer"]) == ("0", "feed_forward")
    assert "decoder.layers.0.residual.2" in shown(linked, " ")


def test_without_a_sentence_there_is_a_message(open_app: OpenApp) -> None:
    app = open_app("layers", text="  ")
    assert "There is no sentence yet." in shown(app, " ")
    assert not app.get("bidi_component")
