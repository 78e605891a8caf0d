"""Greedy decoding with a cache, beside Hugging Face's `generate` of the same size: the same number of tokens from both."""

from collections.abc import Iterator

import torch

from benchmarks import rivals
from benchmarks.timing import Figure, compare, run
from model.decoding import greedy

GOAL = 0.5  # at least twice as fast


@torch.inference_mode()
def figures() -> Iterator[Figure]:
    model, marian = rivals.ours().eval(), rivals.marian()
    model.to_logits.weight[model.config.end] = 0  # a logit of 0 is never the largest: the limit ends decoding
    for batch, tokens in ((1, 16), (1, 64), (32, 16)):
        source = torch.randint(4, rivals.SIZE["source_vocab_size"], (batch, tokens))

        def ours(source: torch.Tensor = source, tokens: int = tokens) -> int:
            return len(greedy(model, source, limit=tokens)[0].ids)

        def rival(source: torch.Tensor = source, tokens: int = tokens) -> int:
            written = marian.generate(
                source,
                attention_mask=torch.ones_like(source),
                min_new_tokens=tokens,
                max_new_tokens=tokens,
                num_beams=1,
                do_sample=False,
            )
            return written.shape[1] - 1  # without the start token

        assert ours() == rival() == tokens
        yield compare(f"greedy with cache, batch {batch}, {tokens} tokens", ours, rival, "Marian generate", GOAL)


if __name__ == "__main__":
    run(__doc__, figures)
