"""How long the toy takes to learn: seconds and updates to 99 % exact match, with the defaults of `python -m model.practice`.

`python -m benchmarks.toy_training`; compare on an idle machine.
"""

import tempfile
from pathlib import Path

import torch

from model.practice.order import Order
from model.practice.run import begin
from model.training.loop import Log
from model.training.moments import read_log

GOAL = 0.99


def main() -> None:
    torch.set_num_threads(1)
    reached: list[Log] = []

    def note(log: Log) -> None:
        if "check" in log and log["check"]["exact"] >= GOAL:
            reached.append(log)

    with tempfile.TemporaryDirectory() as folder:
        run = begin(Order(), Path(folder), note)
        run.train()
        last = list(read_log(Path(folder)))[-1]
    if reached:
        print(f"{GOAL:.0%} exact after {reached[0]['step']} updates, {reached[0]['seconds']:.1f} s on one thread")
    else:
        print(f"{GOAL:.0%} exact was not reached")
    seconds, updates = run.progress.seconds, run.progress.step
    print(f"{updates} updates, {seconds:.1f} s, {1000 * seconds / updates:.0f} ms each; {last.exact:.1%} exact in the end")


if __name__ == "__main__":
    main()
