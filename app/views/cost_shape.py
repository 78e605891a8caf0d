"""The configuration whose cost is counted: a preset, and whatever of it the visitor changes. All of it stands in the URL."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from app import session
from app.text import text
from app.views import linked
from model.config import ConfigError, ModelConfig, paper_base, paper_big
from model.trace import Trace
from model.translator import Atlas, LanguageModel

THIS = "this"
UNSAID = 25  # tokens on each side where no sentence says how many: about those of a sentence in the paper's data
GPT_2_POSITIONS = 1024
SIZES = {"4": 4, "2": 2, "1": 1}  # bytes of a number
RANGES = {
    "d_model": range(1, 65_537),
    "num_heads": range(1, 1025),
    "d_ff": range(1, 1_000_001),
    "encoder_layers": range(1001),
    "decoder_layers": range(1001),
    "source_vocab": range(1, 10_000_001),
    "target_vocab": range(1, 10_000_001),
    "n": range(1, 10_000_001),
    "m": range(10_000_001),
    "batch": range(1, 65_537),
}
CHOICES = ("family", "tie", "norm", "bias", "bytes")


@dataclass(frozen=True)
class Counted:
    """What is counted: `config`, n source and m target tokens, sequences at once, bytes of a number; `preset` it came from."""

    config: ModelConfig
    source: int
    target: int
    batch: int
    size: int
    preset: str
    changed: bool

    @property
    def length(self) -> int:
        """Tokens in one layer: those of the source, or in a decoder-only model all."""
        return self.source + self.target if self.config.family == "decoder-only" else self.source

    @property
    def precision(self) -> str:
        return {4: "fp32", 2: "bf16", 1: "fp8"}[self.size]


def gpt_2_small() -> ModelConfig:
    """Radford et al. 2019, without its learned positions, which this code does not have."""
    return ModelConfig(
        source_vocab_size=50_257, target_vocab_size=50_257, family="decoder-only", encoder_layers=0, decoder_layers=12,
        d_model=768, num_heads=12, d_ff=3072, norm="pre", attention_bias=True, activation="gelu", positions="none",
    )  # fmt: skip


def presets() -> dict[str, Callable[[], ModelConfig]]:
    """By id: this model, every model that is here, the paper's two, GPT-2 small."""
    return {
        THIS: lambda: session.load(session.current().model).config,
        "base": paper_base,
        "big": paper_big,
        "gpt2": gpt_2_small,
        **{name: lambda name=name: session.load(name).config for name in session.models()},  # type: ignore[misc]
    }


def lengths(atlas: Atlas, trace: Trace | None) -> tuple[int, int]:
    """Tokens of this sentence that were given, and those that the decoder read of what is written."""
    if trace is None:
        return UNSAID, UNSAID
    given = len(atlas.given(trace))
    return given, len(trace.target) - (given if isinstance(atlas, LanguageModel) else 0)


def name_of(preset: str) -> str:
    if preset == THIS:
        return text("cost.preset_this", name=session.current().model)
    return text(f"cost.preset_{preset}") if preset in ("base", "big", "gpt2") else preset


def described(found: Counted) -> str:
    """The name of the preset, and that something of it was changed."""
    name = name_of(found.preset)
    return text("cost.changed", name=name) if found.changed else name


@dataclass(frozen=True)
class Fields:
    """What the widgets say, by name, and what each says before it is touched; `options` of those with a few."""

    preset: str
    values: Mapping[str, Any]
    defaults: Mapping[str, Any]
    options: Mapping[str, tuple[str, ...]]


def read(atlas: Atlas, trace: Trace | None) -> Fields:
    """From the session and the URL; call it once a run, before the widgets are drawn."""
    preset = linked.chosen("preset", tuple(presets()), THIS) or THIS
    start = presets()[preset]()
    source, target = lengths(atlas, trace)
    options = {
        "family": ("encoder-decoder", "decoder-only"),
        "norm": ("post", "pre"),
        "bias": ("off", "on"),
        "bytes": tuple(SIZES),
    }
    defaults: dict[str, Any] = {
        "family": start.family, "tie": start.tie, "norm": start.norm, "bias": "on" if start.attention_bias else "off",
        "bytes": "4", "d_model": start.d_model, "num_heads": start.num_heads, "d_ff": start.d_ff,
        "encoder_layers": start.encoder_layers, "decoder_layers": start.decoder_layers, "source_vocab": start.source_vocab_size,
        "target_vocab": start.target_vocab_size, "n": source, "m": target, "batch": 1,
    }  # fmt: skip
    values: dict[str, Any] = {name: _choice(name, options[name], defaults[name]) for name in ("family", "norm", "bias", "bytes")}
    options["tie"] = ("target", "none") if values["family"] == "decoder-only" else ("all", "target", "none")
    defaults["tie"] = start.tie if start.tie in options["tie"] else "target"
    values["tie"] = _choice("tie", options["tie"], defaults["tie"])
    values |= {name: linked.number(name, RANGES[name], defaults[name]) for name in RANGES}
    return Fields(preset, values, defaults, options)


def counted(fields: Fields) -> Counted | None:
    """The configuration; None if there is no such model: of all that can be given, only heads that do not divide the width."""
    given, start = fields.values, presets()[fields.preset]()
    alone = given["family"] == "decoder-only"
    shape: dict[str, Any] = {
        "family": given["family"], "tie": given["tie"], "norm": given["norm"], "attention_bias": given["bias"] == "on",
        "d_model": given["d_model"], "num_heads": given["num_heads"], "d_ff": given["d_ff"],
        "encoder_layers": 0 if alone else given["encoder_layers"], "decoder_layers": given["decoder_layers"],
        "source_vocab_size": given["target_vocab" if alone or given["tie"] == "all" else "source_vocab"],
        "target_vocab_size": given["target_vocab"],
    }  # fmt: skip
    try:  # positions have no parameters and no products: they are not counted, and need no even width
        config = replace(start, **shape, positions="none")
    except ConfigError:
        return None
    changed = any(getattr(start, name) != value for name, value in shape.items())
    return Counted(config, given["n"], given["m"], given["batch"], SIZES[given["bytes"]], fields.preset, changed)


def draw(fields: Fields) -> None:
    """The widgets, in rows that wrap on a phone."""
    given = fields.values
    alone = given["family"] == "decoder-only"
    one_vocabulary = alone or given["tie"] == "all"
    with st.container(horizontal=True, vertical_alignment="bottom", key="cost_kind"):
        put, names = linked.remember("preset", THIS), {preset: name_of(preset) for preset in presets()}
        st.selectbox(
            text("cost.preset"),
            tuple(names),
            format_func=names.__getitem__,
            key="preset",
            on_change=_start_again,
            args=(put,),
            width=240,
        )
        for name in ("family", "tie", "norm", "bias"):
            _segments(fields, name)
    with st.container(horizontal=True, vertical_alignment="bottom", key="cost_sizes"):
        for name in ("d_model", "num_heads", "d_ff", "encoder_layers", "decoder_layers", "source_vocab", "target_vocab"):
            if not (name == "encoder_layers" and alone) and not (name == "source_vocab" and one_vocabulary):
                _box(fields, name)
    with st.container(horizontal=True, vertical_alignment="bottom", key="cost_lengths"):
        for name in ("n", "m", "batch"):
            _box(fields, name)
        _segments(fields, "bytes")


def _start_again(put: Callable[[], None]) -> None:
    """Another preset: what was changed of the last one is forgotten."""
    put()
    for name in (*RANGES, *CHOICES):
        st.session_state.pop(name, None)
        linked.write(name, None)


def _box(fields: Fields, name: str) -> None:
    default, allowed = fields.defaults[name], RANGES[name]
    one_sequence = name in ("n", "m") and fields.values["family"] == "decoder-only"
    label = text(f"cost.field_{name}_alone") if one_sequence else text(f"cost.field_{name}")

    def put() -> None:
        found = st.session_state.get(name)  # none where another preset was chosen in the same moment
        linked.write(name, None if found is None or found == default else str(found))

    st.number_input(label, min_value=allowed[0], max_value=allowed[-1], step=1, key=name, on_change=put, width=150)


def box(name: str, allowed: range, default: int) -> int:
    """A whole number that no preset changes, in a box; it stands in the URL."""
    found = linked.number(name, allowed, default)
    put = linked.remember(name, default)
    st.number_input(
        text(f"cost.field_{name}"), min_value=allowed[0], max_value=allowed[-1], step=1, key=name, on_change=put, width=200
    )
    return found


def _choice(name: str, allowed: tuple[str, ...], default: str) -> str:
    before = st.session_state.get(f"{name}_default", default)
    if before != default and st.session_state.get(name) == before:  # nothing was chosen: follow the preset
        st.session_state.pop(name)
    st.session_state[f"{name}_default"] = default
    return linked.chosen(name, allowed, default) or default


def _segments(fields: Fields, name: str) -> None:
    names = {option: text(f"cost.option_{name}_{option.replace('-', '_')}") for option in fields.options[name]}
    st.segmented_control(
        text(f"cost.field_{name}"), fields.options[name], format_func=names.__getitem__, key=name, required=True,
        on_change=linked.remember(name, fields.defaults[name]),
    )  # fmt: skip
