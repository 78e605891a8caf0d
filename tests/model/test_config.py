"""A setting that cannot be is named, with what was given and what is possible."""

import dataclasses
import json
from typing import Any

import jaxtyping
import pytest

from model.config import ConfigError, ModelConfig, paper_base, paper_big
from tests.model import tiny


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"d_model": 66, "num_heads": 4}, "d_model=66 cannot be split evenly into num_heads=4; choose a multiple of 4"),
        ({"d_model": 10, "num_heads": 4}, "d_model=10 cannot be split evenly into num_heads=4"),
        ({"d_model": 5, "num_heads": 1}, "d_model=5 is odd, but each wavelength needs a sine and a cosine; choose an even one"),
        ({"d_model": 0}, "d_model=0 is too small"),
        ({"num_heads": 0}, "num_heads=0 is too small"),
        ({"d_ff": -1}, "d_ff=-1 is too small"),
        ({"source_vocab_size": 0}, "source_vocab_size=0 is too small"),
        ({"max_length": 0}, "max_length=0 is too small"),
        ({"encoder_layers": -1}, "encoder_layers=-1 is negative; give 0 or more"),
        ({"d_model": 12, "num_heads": 4, "positions": "rotary"}, r"head_dim=3 .* is odd, but rotary positions turn pairs"),
        ({"dropout": 1.0}, "dropout=1.0 is not a probability below 1"),
        ({"dropout": -0.1}, "dropout=-0.1 is not a probability"),
        ({"norm": "batch"}, "norm='batch' is not known; choose one of post, pre"),
        ({"activation": "silu"}, "activation='silu' is not known; choose one of relu, gelu"),
        ({"positions": "learned"}, "positions='learned' is not known; choose one of sinusoidal, rotary, none"),
        ({"tie": "some"}, "tie='some' is not known; choose one of none, target, all"),
        (
            {"tie": "all"},
            "tie='all' needs one vocabulary, but source_vocab_size=23 and target_vocab_size=19; share the tokenizer",
        ),
    ],
)
def test_an_impossible_setting_is_named_with_its_remedy(
    settings: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)  # which would name the type before we name the choices
    with pytest.raises(ConfigError, match=message):
        tiny.config(**settings)


def test_a_file_that_names_an_unknown_setting_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=r"unknown setting d_mdoel; known are activation, .*d_model"):
        ModelConfig.from_dict({"source_vocab_size": 5, "target_vocab_size": 5, "d_mdoel": 8})


def test_a_configuration_survives_json() -> None:
    config = tiny.config(norm="pre", positions="rotary", tie="none", attention_bias=True)
    assert ModelConfig.from_dict(json.loads(json.dumps(config.to_dict()))) == config


def test_a_configuration_does_not_change() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        tiny.config().d_model = 8  # type: ignore[misc]


def test_the_paper() -> None:
    base, big = paper_base(), paper_big()
    assert (base.d_model, base.num_heads, base.head_dim, base.d_ff, base.encoder_layers, base.dropout) == (
        512,
        8,
        64,
        2048,
        6,
        0.1,
    )
    assert (big.d_model, big.num_heads, big.head_dim, big.d_ff, big.encoder_layers, big.dropout) == (1024, 16, 64, 4096, 6, 0.3)
    assert base.norm == "post"
    assert base.activation == "relu"
    assert base.tie == "all"
    assert not base.attention_bias
