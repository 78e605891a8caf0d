"""The diagram of a model that nobody has trained, of any size, in a few milliseconds and without its memory.

A narrow twin with the same module tree computes one forward pass, so that boxes, arrows and axes are those of a real one; sizes
are then written for the widths that were asked for. Parameters are counted on modules of those widths on PyTorch's `meta`
device, where a tensor has a shape and no numbers.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from model.analysis.architecture import drawn
from model.analysis.diagram import Architecture, Box, Flow
from model.config import ModelConfig
from model.trace import tracing
from model.transformer import DecoderOnly, EncoderDecoder, build


def sketched(config: ModelConfig, source: int, target: int) -> Architecture:
    """The diagram of an untrained model of these settings, for sentences of these lengths in tokens.

    A language model has no source, whatever its length.
    """
    d_model, vocabulary = 2 * config.num_heads, 2
    narrow = replace(
        config,
        d_model=d_model,
        d_ff=1,
        source_vocab_size=vocabulary,
        target_vocab_size=vocabulary,
        max_length=max(source, target),
    )
    twin = build(narrow).eval()
    ids = [torch.zeros(1, length, dtype=torch.long) for length in (source, target)]
    with torch.inference_mode(), tracing() as recording:
        twin(*ids[1:] if isinstance(twin, DecoderOnly) else ids)
    widths = {"d_model": config.d_model, "d_ff": config.d_ff, "h": config.num_heads, "V": config.target_vocab_size}
    return _resized(drawn(twin, recording.activations, counted=_unfilled(config)), widths)


def _unfilled(config: ModelConfig) -> EncoderDecoder | DecoderOnly:
    """Modules of these settings without numbers. (Without positions too: the sinusoidal table has no parameters.)"""
    with torch.device("meta"), _LeaveUnfilled():
        return build(replace(config, positions="none"))


class _LeaveUnfilled(TorchFunctionMode):
    """Skips the filling of new parameters, which on `meta` does nothing but load PyTorch's compiler, seconds long."""

    def __torch_function__(
        self,
        function: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        named = dict(kwargs or {})
        if getattr(function, "__module__", "") == "torch.nn.init":
            return args[0] if args else named["tensor"]
        return function(*args, **named)


def _resized(found: Architecture, widths: Mapping[str, int]) -> Architecture:
    def flow(before: Flow) -> Flow:
        sizes = (widths.get(symbol, size) for symbol, size in zip(before.symbols, before.sizes, strict=True))
        return replace(before, sizes=tuple(sizes))

    def box(before: Box) -> Box:
        inside = flow(before.inside) if before.inside else None
        return replace(before, inputs=tuple(map(flow, before.inputs)), output=flow(before.output), inside=inside)

    arrows = tuple(replace(arrow, flow=flow(arrow.flow)) for arrow in found.arrows)
    return replace(found, boxes=tuple(map(box, found.boxes)), arrows=arrows)
