"""Greedy decoding with a cache, beside Hugging Face's `generate` of the same size: the same number of tokens from both."""

from collections.abc import Iterator
from typing import Any

import torch

from benchmarks import rivals
from benchmarks.timing import Figure, compare, run
from model.decoding import greedy
from model.transformer import EncoderDecoder

GOAL = 0.5  # at least twice as fast


@torch.inference_mode()
def figures() -> Iterator[Figure]:
    model, marian = rivals.ours().eval(), rivals.marian()
    yield figure("greedy with cache, 16 tokens", model, marian, tokens=16, goal=GOAL)
    yield figure("greedy with cache, 64 tokens", model, marian, tokens=64, goal=GOAL)
    yield figure("greedy with cache, 16 tokens, batch 32", model, marian, tokens=16, batch=32)
    # Each step reads all weights: where they do not fit into the cache, both wait for memory. These do.
    small = {"d_model": 64, "d_ff": 256}
    yield figure("greedy with cache, 64 tokens, d_model 64", rivals.ours(**small).eval(), rivals.marian(**small), tokens=64)


def figure(what: str, model: EncoderDecoder, marian: Any, tokens: int, batch: int = 1, goal: float | None = None) -> Figure:
    """As many source tokens as tokens written."""
    model.to_logits.weight[model.config.end] = 0  # a logit of 0 is never the largest: the limit ends decoding
    source = torch.randint(4, rivals.SIZE["source_vocab_size"], (batch, tokens))

    def ours() -> int:
        return len(greedy(model, source, limit=tokens)[0].ids)

    def rival() -> int:
        written = marian.generate(
            source,
            attention_mask=torch.ones_like(source),
            min_new_tokens=tokens,
            max_new_tokens=tokens,
            num_beams=1,
            do_sample=False,
        )
        return int(written.shape[1]) - 1  # without the start token

    assert ours() == rival() == tokens
    return compare(what, ours, rival, "Marian generate", goal)


if __name__ == "__main__":
    run(__doc__, figures)
