"""`python -m model.practice`: train a small model of a task whose alignment is known, in about a minute.

Stopped at any moment, the same command goes on.
"""

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path

import torch

from model.practice.order import Order, OrderError, add_arguments
from model.practice.run import begin, finish
from model.training.loop import Log

STOP = "stop"  # a file of this name in the folder of a run ends it, after the update that is under way


def arguments(words: list[str] | None = None) -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(
        prog="python -m model.practice",
        description="Train a small model of a task whose alignment is known. The same command goes on after a stop.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add_arguments(parser)
    parser.add_argument("--output", type=Path, required=True, help="folder of the run")
    parser.add_argument("--niceness", type=int, default=0, help="give way to other programs: 0 to 19")
    parser.add_argument("--parent", type=int, help="stop when the process of this number is no longer the parent")
    parser.add_argument("--quiet", action="store_true")
    return parser.parse_args(words)


def main(words: list[str] | None = None) -> None:
    options = arguments(words)
    if options.niceness and hasattr(os, "nice"):
        os.nice(options.niceness)
    torch.set_num_threads(1)
    try:
        order = Order.of(options)
    except OrderError as error:
        sys.exit(str(error))
    run = begin(order, options.output, lambda log: None if options.quiet else tell(log))
    if options.parent is None:  # whoever started this may already want it to stop
        (options.output / STOP).unlink(missing_ok=True)
    run.train(stopper(options.output, options.parent))
    finish(run)
    if not options.quiet:
        print(f"{options.output / 'checkpoint'} holds the model after {run.progress.step} updates")


def stopper(folder: Path, parent: int | None) -> Callable[[], bool]:
    """Whether somebody wants the run to stop, or whoever started it is gone."""
    return lambda: (folder / STOP).exists() or (parent is not None and os.getppid() != parent)


def tell(log: Log) -> None:
    if "check" in log:
        found = log["check"]
        best = max(value for layer in found["alignment"] for head in layer for value in head)
        measured = f"loss {found['loss']:.3f}  exact {found['exact']:.3f}  aligned {best:.3f}"
        print(f"step {log['step']:4}  {log['seconds']:5.1f} s  {measured}", flush=True)


if __name__ == "__main__":
    main()
