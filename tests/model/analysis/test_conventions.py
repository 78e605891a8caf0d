"""The code that the page offers runs, and finds the model's weights in all four conventions."""

import math
from typing import Any

import pytest
import torch
from torch import nn

from model import Translator
from model.analysis import masking
from model.analysis.conventions import Mask, of_cells, snippets
from model.attention import MultiHeadAttention
from model.attention_mask import causal
from model.trace import Trace

PATH = "decoder.layers.0.self_attention"


@pytest.fixture(scope="module")
def trace(atlas: Translator) -> Trace:
    return atlas.trace("I don't know her name.")


def masks(length: int) -> dict[str, tuple[Mask, torch.Tensor]]:
    real = torch.arange(length) < length - 2
    window = masking.preset("window", length)
    return {
        "causal": (Mask("causal", length, length), causal(length)),
        "padding": (Mask("padding", length, length - 2), real.expand(length, length)),
        "both": (Mask("both", length, length - 2), causal(length) & real),
        "painted": (of_cells(window), window),
    }


def stock(ours: MultiHeadAttention, d_model: int) -> nn.MultiheadAttention:
    """nn.MultiheadAttention with the model's own matrices."""
    made = nn.MultiheadAttention(d_model, ours.num_heads, bias=ours.to_query.bias is not None, batch_first=True).eval()
    parts = (ours.to_query, ours.to_key, ours.to_value)
    with torch.no_grad():
        made.in_proj_weight.copy_(torch.cat([part.weight for part in parts]))
        made.out_proj.weight.copy_(ours.to_output.weight)
        if ours.to_query.bias is not None:
            made.in_proj_bias.copy_(torch.cat([part.bias for part in parts]))
            made.out_proj.bias.copy_(ours.to_output.bias)
    return made


@pytest.mark.parametrize("kind", ["causal", "padding", "both", "painted"])
@pytest.mark.parametrize("convention", ["multi_head", "scaled_dot_product", "additive", "hugging_face"])
def test_each_snippet_runs_and_finds_the_same_weights(atlas: Translator, trace: Trace, kind: str, convention: str) -> None:
    config = atlas.config
    mask, may_attend = masks(len(trace.target))[kind]
    query, key, value = (trace[f"{PATH}.{name}"].tensor for name in ("query", "key", "value"))
    scores = torch.einsum("bhqd,bhkd->bhqk", query, key) / math.sqrt(config.head_dim)
    expected = scores.masked_fill(~may_attend, -math.inf).softmax(-1)
    names: dict[str, Any] = {"query": query, "key": key, "value": value}
    names["attention"] = stock(atlas.model.decoder.layers[0].self_attention, config.d_model)
    names["x"] = trace["target.embedding"].tensor + trace["target.position"].tensor
    with torch.inference_mode():
        exec(snippets(mask, config.d_model, config.num_heads)[convention], names)
    if convention == "scaled_dot_product":  # no weights come out of it; what it averages shows them
        torch.testing.assert_close(names["output"], expected @ value, rtol=1e-4, atol=1e-5)
    else:
        torch.testing.assert_close(names["weights"], expected, rtol=1e-4, atol=1e-6)


def test_lines_stay_short_enough_to_be_read(atlas: Translator) -> None:
    for mask, _ in masks(12).values():
        for code in snippets(mask, 256, 8).values():
            assert max(map(len, code.splitlines())) <= 100
