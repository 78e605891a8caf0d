"""The names that others build on: where they are, and what they are called with."""

import inspect
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import pytest

import model
from model.tokenizer import Token

PAGE = ["attentions=None", "layers=None", "language='en'", "title=None", "model=''"]


@pytest.mark.parametrize(
    ("function", "parameters"),
    [
        (model.load, ["name", "device='auto'"]),
        (model.available, []),
        (model.Translator.translate, ["self", "text", "beam=1", "limit=None"]),
        (model.Translator.trace, ["self", "source", "target=None", "edits=None"]),
        (
            model.position.sinusoidal,
            ["length", "d_model", "base=10000.0", "start=0", "layout='interleaved'", "dtype=torch.float32"],
        ),
        (model.position.shift_matrix, ["offset", "d_model", "base=10000.0", "dtype=torch.float32"]),
        (model.position.rotate, ["x", "positions", "base=10000.0", "pairing='adjacent'"]),
        (model.attention_mask.causal, ["queries", "keys=None", "device=None"]),
        (model.training.schedule.noam, ["step", "d_model", "warmup", "factor=1.0"]),
        (model.training.loss.smoothed_targets, ["target", "vocab_size", "smoothing", "convention='uniform'", "padding=None"]),
        (model.alignment.metrics.alignment_error_rate, ["links", "sure", "possible"]),
        (model.alignment.symmetrize, ["forward", "backward", "method"]),
        (model.save_html, ["trace", "path", *PAGE]),
        (model.show, ["trace", *PAGE]),
        (model.cost.parameters, ["config"]),
        (model.cost.flops, ["config", "source", "target"]),
        (model.cost.attention_bytes, ["config", "queries", "keys", "batch=1", "bytes_per_number=4"]),
    ],
)
def test_functions(function: Callable[..., Any], parameters: list[str]) -> None:
    found = []
    for name, parameter in inspect.signature(function).parameters.items():
        found.append(name if parameter.default is inspect.Parameter.empty else f"{name}={parameter.default!r}")
    assert found == parameters


def test_what_a_package_offers_is_there() -> None:
    assert all(hasattr(model, name) for name in model.__all__)


def test_a_translation_a_trace_and_their_tokens(shared: model.Translator) -> None:
    result = shared.translate("I love you.", limit=2)
    for name in ("text", "source", "produced", "log_probabilities", "score", "stopped"):
        assert hasattr(result, name)
    trace = shared.trace("I love you.", "Je")
    for name in ("source", "target", "produced", "log_probabilities", "source_text", "target_text"):
        assert hasattr(trace, name)
    activation = trace["decoder.layers.1.cross_attention.weights"]
    assert (activation.axes, activation.spans) == (("batch", "head", "query", "key"), {"query": "target", "key": "source"})
    assert [field.name for field in fields(Token)] == ["text", "id", "span", "special", "unknown"]
    for name in ("model", "config", "card", "tokenizers", "name"):
        assert hasattr(shared, name)


def test_the_lines_at_the_top_of_the_package_run(shared: model.Translator, monkeypatch: pytest.MonkeyPatch) -> None:
    assert model.__doc__ is not None
    code = "\n".join(line.strip().removeprefix(">>> ") for line in model.__doc__.splitlines() if ">>>" in line)
    assert "atlas.trace" in code
    monkeypatch.setattr(model, "load", lambda name: shared)
    monkeypatch.setattr("builtins.print", lambda *values: None)
    exec(code, {})
