"""Train the toy's variants alike and measure them: `python -m benchmarks.toy_variants [--folder runs] [--seeds 3]`.

One head or four at the same width, no, sinusoidal or rotary positions, LayerNorm after or before. The model of the first seed is
kept in `assets/checkpoints/toy/<variant>`, the figures of all seeds in `assets/checkpoints/toy/variants.json`.
"""

import argparse
import json
import shutil
from dataclasses import replace
from pathlib import Path
from statistics import mean
from typing import Any

import torch

import model
from model.checkpoint import CARD, SHIPPED
from model.practice.order import Order
from model.practice.run import begin, finish
from model.training import exact
from model.training.moments import FILE
from model.training.tasks import TASKS, examples
from model.translator import Translator

VARIANTS = {
    "toy": Order(),
    "heads-1": Order(num_heads=1),
    "positions-none": Order(positions="none"),
    "positions-rotary": Order(positions="rotary"),
    "norm-pre": Order(norm="pre"),
}
PAIRS = 300


def measure(atlas: Translator) -> dict[str, Any]:
    """Loss, exact match and alignment on held-out pairs as long as those of training, loss by length up to twice as long."""
    task = TASKS["toy"]
    assert task.longer is not None
    held, longer = (
        examples(task.distinct(PAIRS, seed=2, part="held out", lengths=lengths), atlas.tokenizers)
        for lengths in (task.lengths, task.longer)
    )
    choosing, scored = (exact.Measures(*exact.forced(atlas.model, part)[:1], 0.0, exact.forced(atlas.model, part)[1])
                        for part in (held[::2], held[1::2]))  # fmt: skip
    best = choosing.best
    return {
        "loss": exact.forced(atlas.model, held)[0],
        "exact": exact.exact_match(atlas.model, held),
        "loss_longer": exact.forced(atlas.model, longer)[0],
        "exact_longer": exact.exact_match(atlas.model, longer),
        "alignment": scored.aligned(best),
        "aligning": [best.layer, best.head, best.row],
        "loss_by_length": {str(length): loss for length, loss in exact.loss_by_length(atlas.model, [*held, *longer]).items()},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path("runs"))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--output", type=Path, default=SHIPPED / "toy")
    options = parser.parse_args()
    torch.set_num_threads(1)
    figures: dict[str, Any] = {}
    for seed in range(1, options.seeds + 1):
        for name, order in VARIANTS.items():
            run = begin(replace(order, seed=seed), options.folder / f"{name}-{seed}")
            run.train()
            made = finish(run)
            if seed == 1:
                keep(made, options.output if name == "toy" else options.output / name, with_moments=name == "toy")
            atlas = model.load(made, device="cpu")
            assert isinstance(atlas, Translator)
            figures.setdefault(name, []).append({"seed": seed, "seconds": round(run.progress.seconds), **measure(atlas)})
            found = figures[name][-1]
            print(
                name, seed, {key: found[key] for key in ("loss", "exact", "loss_longer", "exact_longer", "alignment")}, flush=True
            )
            write(options.output / "variants.json", figures)


def keep(made: Path, folder: Path, *, with_moments: bool) -> None:
    """Copy a result to where shipped models stand."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(made.iterdir()):
        if path.name != FILE or with_moments:
            shutil.copyfile(path, folder / path.name)
    card = folder / CARD
    card.write_text(card.read_text(encoding="utf-8").replace('name = "toy"', f'name = "{folder.name}"', 1), encoding="utf-8")


def write(path: Path, figures: dict[str, Any]) -> None:
    """The figures of every seed, and their means."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lengths = sorted({length for seeds in figures.values() for found in seeds for length in found["loss_by_length"]}, key=int)
    said = {
        "pairs": PAIRS,
        "trained_to": TASKS["toy"].lengths[1],
        "variants": {
            name: {
                "mean": {key: mean(found[key] for found in seeds) for key in
                         ("loss", "exact", "loss_longer", "exact_longer", "alignment")},
                "loss_by_length": [
                    [int(length), mean(found["loss_by_length"][length] for found in seeds)] for length in lengths
                ],
                "seeds": [{key: value for key, value in found.items() if key != "loss_by_length"} for found in seeds],
            }
            for name, seeds in figures.items()
        },
    }  # fmt: skip
    path.write_text(json.dumps(said, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
