"""A forward pass with everything recorded, beside Hugging Face's Marian returning all its attentions and hidden states."""

from collections.abc import Iterator

import torch

from benchmarks import rivals
from benchmarks.timing import Figure, compare, run
from model.trace import tracing


@torch.inference_mode()
def figures() -> Iterator[Figure]:
    model, marian = rivals.ours().eval(), rivals.marian()
    for length in (16, 64, 128, 256):
        source, target = torch.randint(4, rivals.SIZE["source_vocab_size"], (2, 1, length))

        def ours(source: torch.Tensor = source, target: torch.Tensor = target) -> None:
            with tracing():
                model(source, target)

        def rival(source: torch.Tensor = source, target: torch.Tensor = target) -> None:
            marian(
                input_ids=source,
                decoder_input_ids=target,
                output_attentions=True,
                output_hidden_states=True,
                use_cache=False,
            )

        yield compare(f"forward, everything recorded, L = {length}", ours, rival, "Marian (eager)", goal=1, strictly=True)


if __name__ == "__main__":
    run(__doc__, figures)
