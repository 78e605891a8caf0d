"""Altered models: the same weights with heads switched off, made even, or replaced by their mean."""

from app.session.computed import measured_pair
from app.session.loading import writer
from app.session.places import attentions
from model.analysis import changed_heads


def head_off(layer: int, head: int) -> str:
    """The name of the variant in which this head of the last of the model's `attentions` reads nothing."""
    return f"off:{layer}:{head}"


def altered(name: str, source: str, target: str | None, beam: int, variant: str) -> tuple[float, ...]:
    """The log-probabilities of the same target in an altered model.

    Variants: "even", the last of the model's `attentions` reads all that it may read alike; "off:<layer>:<head>", see `head_off`;
    "mean:<attention>", every head of that attention reads with the mean of all heads.
    """
    return measured_pair(changed_heads.scores, (name, source, target, beam), *_change(name, variant))


def altered_translation(name: str, source: str, variant: str) -> str:
    """What the altered model writes when it is left to itself, greedily."""
    return measured_pair(changed_heads.written, (name, source, None, 1), *_change(name, variant))


def _change(name: str, variant: str) -> tuple[str, str]:
    """The attention that is changed, and how."""
    kind, _, rest = variant.partition(":")
    return (rest, kind) if kind == "mean" else (attentions(writer(name))[-1], variant)
