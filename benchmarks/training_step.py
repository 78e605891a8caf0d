"""One step of training, `model.training.loop.update`, beside the same step with `torch.nn.Transformer` as the model."""

from collections.abc import Iterator

import torch

from benchmarks import rivals
from benchmarks.timing import Figure, compare, run
from model.training.data import Example, collate
from model.training.loop import Settings, update

SETTINGS = Settings(steps=1)


def figures() -> Iterator[Figure]:
    for sentences, length in ((32, 12), (16, 60)):
        model = rivals.ours().train()
        rival = rivals.TorchTransformer(rivals.ours()).train()
        ids = torch.randint(4, rivals.SIZE["source_vocab_size"], (sentences, 2, length)).tolist()
        batch = collate([Example(tuple(source), tuple(target)) for source, target in ids])
        optimizers = [
            torch.optim.Adam(each.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9, fused=True) for each in (model, rival)
        ]
        yield compare(
            f"training step, {sentences} pairs of {length} tokens",
            lambda model=model, batch=batch, optimizer=optimizers[0]: update(model, optimizer, batch, SETTINGS),
            lambda model=rival, batch=batch, optimizer=optimizers[1]: update(model, optimizer, batch, SETTINGS),
            "torch.nn.Transformer",
            goal=1,
        )


if __name__ == "__main__":
    run(__doc__, figures)
