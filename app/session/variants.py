"""Altered models: the same weights with heads switched off, made even, or replaced by their mean."""

from collections.abc import Mapping

from app.session.cached import cached
from app.session.computed import translation
from app.session.loading import writer
from app.session.places import Place, attentions
from app.session.rates import computing
from model.analysis import what_if
from model.trace import Edit, tracing
from model.translator import Atlas


def head_off(layer: int, head: int) -> str:
    """The name of the variant in which this head of the last of the model's `attentions` reads nothing."""
    return f"off:{layer}:{head}"


@cached(256)
def altered(name: str, source: str, target: str | None, beam: int, variant: str) -> tuple[float, ...]:
    """The log-probabilities of the same target in an altered model.

    Variants: "even", the last of the model's `attentions` reads all that it may read alike; "off:<layer>:<head>", see `head_off`;
    "mean:<attention>", every head of that attention reads with the mean of all heads.
    """
    computing("what_if")
    atlas = writer(name)
    forced = translation(name, source, beam) if target is None else target
    return atlas.trace(source, forced, _edits(atlas, variant)).log_probabilities


@cached(256)
def altered_translation(name: str, source: str, variant: str) -> str:
    """What the altered model writes when it is left to itself, greedily."""
    computing("what_if")
    atlas = writer(name)
    with tracing(edits=_edits(atlas, variant), only=frozenset()):
        return atlas.said(source, [token.id for token in atlas.write(source).produced])


def _edits(atlas: Atlas, variant: str) -> Mapping[str, Edit]:
    kind, _, rest = variant.partition(":")
    layers = {"encoder": atlas.config.encoder_layers, "decoder": atlas.config.decoder_layers}
    last = attentions(atlas)[-1]
    if kind == "even":
        paths = what_if.weight_paths(last, layers["decoder"])
        return {path: edit for one in paths for path, edit in what_if.even_head(one, *range(atlas.config.heads_of(last))).items()}
    if kind == "mean":
        return what_if.average_heads(what_if.weight_paths(rest, layers[rest.partition(".")[0]]))
    layer, head = rest.split(":")
    return what_if.without_head(f"{Place(last, int(layer), int(head)).path}.weights", int(head))
