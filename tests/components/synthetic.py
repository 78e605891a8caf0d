"""Traces made by hand: any tokens, layers and heads; weights are a softmax of seeded random scores."""

from collections.abc import Sequence

import numpy as np
import torch

from model.tokenizer import Token
from model.trace import Activation, Trace

IDENTIFIERS = ("encoder.self_attention", "decoder.self_attention", "decoder.cross_attention")
START, END = Token("<s>", 2, (0, 0), special=True), Token("</s>", 3, (0, 0), special=True)


def tokens(pieces: Sequence[str], text: str) -> tuple[Token, ...]:
    """Pieces found one after the other in their text; a piece in brackets, `[zorglub]`, is unknown to the vocabulary."""
    found, place = [], 0
    for number, piece in enumerate(pieces):
        plain = piece.removeprefix("[").removesuffix("]") if piece.startswith("[") and piece.endswith("]") else piece
        place = text.index(plain, place)
        found.append(Token(plain, 10 + number, (place, place + len(plain)), unknown=plain != piece))
        place += len(plain)
    return tuple(found)


def trace(
    source: Sequence[str],
    target: Sequence[str],
    *,
    source_text: str | None = None,
    target_text: str | None = None,
    layers: int = 2,
    heads: int = 3,
    dead_query: int | None = None,
    seed: int = 0,
) -> Trace:
    """An encoder-decoder pass over these pieces; `dead_query` is a row of every map that may read nothing."""
    read = [
        " ".join(piece.strip("[]") for piece in pieces) if text is None else text
        for pieces, text in ((source, source_text), (target, target_text))
    ]
    written = tokens(target, read[1])
    sentences = {"source": (*tokens(source, read[0]), END), "target": (START, *written)}
    chance = np.random.default_rng(seed)
    activations: dict[str, Activation] = {}
    for identifier in IDENTIFIERS:
        stack, name = identifier.split(".")
        spans = {
            "query": "source" if stack == "encoder" else "target",
            "key": "target" if identifier == IDENTIFIERS[1] else "source",
        }
        shape = (heads, len(sentences[spans["query"]]), len(sentences[spans["key"]]))
        for layer in range(layers):
            scores = 2 * chance.standard_normal(shape)
            if identifier == IDENTIFIERS[1]:
                scores = np.where(np.tril(np.ones(shape[1:], dtype=bool)), scores, -np.inf)
            if dead_query is not None:
                scores[:, dead_query] = -np.inf
            powers = np.exp(scores)
            sums = powers.sum(-1, keepdims=True)
            weights = np.divide(powers, sums, out=np.zeros_like(powers), where=sums > 0)
            for kind, values in (("masked", scores), ("weights", weights)):
                path = f"{stack}.layers.{layer}.{name}.{kind}"
                tensor = torch.tensor(values, dtype=torch.float32)[None]
                activations[path] = Activation(path, tensor, ("batch", "head", "query", "key"), spans)
    return Trace(
        activations=activations,
        source=sentences["source"],
        target=sentences["target"],
        produced=(*written, END),
        log_probabilities=tuple(float(np.log(value)) for value in chance.uniform(0.1, 1, len(written) + 1)),
        source_text=read[0],
        target_text=read[1],
    )


def long_trace(length: int, **options: int) -> Trace:
    """A trace with `length` tokens on each side, the special one included; every seventh word repeats."""
    words = [f"w{i}" if i % 7 else "the" for i in range(length - 1)]
    return trace(words, words, **options)
