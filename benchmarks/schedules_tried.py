"""Train a tiny decoder at five schedules, for the page Training: `python -m benchmarks.schedules_tried` writes what it found."""

import json
from dataclasses import asdict

import torch

from model.analysis.schedules_tried import SHIPPED, all_trained

DIGITS = 6


def main() -> None:
    torch.set_num_threads(1)
    found = {name: asdict(trial) for name, trial in all_trained().items()}
    for trial in found.values():
        trial["losses"] = [round(loss, DIGITS) for loss in trial["losses"]]
    SHIPPED.parent.mkdir(exist_ok=True)
    SHIPPED.write_text(json.dumps(found) + "\n", encoding="utf-8")
    for name, trial in found.items():
        print(f"{name:16} loss {trial['loss']:.3f}  right {trial['right']:.1%}")


if __name__ == "__main__":
    main()
