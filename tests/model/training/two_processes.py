"""What each of two processes runs for `test_processes.py`; the environment says which it is, as torchrun does."""

import shlex
import sys
from pathlib import Path

import torch

from model.training.__main__ import main
from model.training.data import Example
from model.training.loop import Group, GuidedHead
from tests.model.training import task

BATCH_TOKENS, STEPS = 40, 12


def pairs() -> list[Example]:
    """Short ones, and one so long that it fills a batch alone."""
    return [task.example(list(range(7)) * 3), *task.examples(24)]


def joint_run(folder: Path, group: Group) -> None:
    """A few steps in float64 without dropout."""
    guided = (GuidedHead(0, 0, "produced"), GuidedHead(0, 1, "read"))
    made = task.model(torch.float64, dropout=0.0)
    task.run(folder, made, pairs(), BATCH_TOKENS, group, steps=STEPS, guided=guided, clip=1.0).train()


def command_line(folder: Path) -> list[str]:
    return shlex.split(
        f"--pairs {folder}/pairs.tsv --valid {folder}/pairs.tsv --d-model 16 --num-heads 2 --d-ff 32 --layers 1 --vocab 100 "
        "--dropout 0 --steps 5 --warmup 3 --autocast off --batch-tokens 80 --check-every 5 --check-sentences 2 --threads 1"
    )


if __name__ == "__main__":
    torch.set_num_threads(1)
    shared = Path(sys.argv[1])
    joint_run(shared / "two", Group.join())
    main([*command_line(shared), "--output", str(shared / "two-by-command")])
