"""A forward pass with nothing recorded, beside `torch.nn.Transformer` in eval mode with the same weights and masks."""

import warnings
from collections.abc import Iterator

import torch

from benchmarks import rivals
from benchmarks.timing import Figure, compare, run

GOAL = 1.05
LENGTHS, LONGER = (16, 64), (128, 256, 512)  # with a goal, and only printed


def figures() -> Iterator[Figure]:
    model = rivals.ours().eval()
    rival = rivals.TorchTransformer(model).eval()
    for batch in (1, 32):
        for length in (*LENGTHS, *LONGER):
            goal = GOAL if length in LENGTHS else None
            yield figure(model, rival, torch.full((batch,), length), f"forward, batch {batch}, L = {length}", goal)
    for length in LENGTHS:
        lengths = torch.linspace(length / 2, length, 32).long()
        yield figure(model, rival, lengths, f"forward, batch 32, padded from {length // 2} to L = {length}")


@torch.inference_mode()
def figure(model: torch.nn.Module, rival: torch.nn.Module, lengths: torch.Tensor, what: str, goal: float | None = None) -> Figure:
    """Sentences of these lengths, as one batch; masks only where something is padded."""
    longest = int(lengths.max())
    source, target = torch.randint(4, rivals.SIZE["source_vocab_size"], (2, len(lengths), longest))
    mask = torch.arange(longest) < lengths[:, None]
    masks = () if mask.all() else (mask, mask)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The PyTorch API of nested tensors")  # the rival's encoder packs padded batches
        theirs = rival(source, target, *masks)
        torch.testing.assert_close(model(source, target, *masks)[mask], theirs[mask], rtol=1e-3, atol=1e-4)
        return compare(
            what,
            lambda: model(source, target, *masks),
            lambda: rival(source, target, *masks),
            "torch.nn.Transformer",
            goal,
        )


if __name__ == "__main__":
    run(__doc__, figures)
