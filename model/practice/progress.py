"""How far a training in a folder has come, read from what it has written so far; it may be under way."""

import json
from dataclasses import dataclass
from pathlib import Path

import torch
from jaxtyping import Float
from torch import Tensor

from model.practice.run import ABOUT
from model.training.moments import Moment, entries, of_check


@dataclass(frozen=True)
class Progress:
    """What a run has logged.

    `losses` are those of every update, from the first; `weights` cross-attention over the shown pair at each of the moments.
    `source`, `produced` and `read` label its tokens, special ones among them; `links` are (source token, target token).
    """

    step: int
    steps: int
    seconds: float
    losses: tuple[float, ...]
    moments: tuple[Moment, ...]
    weights: Float[Tensor, "moment layer head query key"]
    source_text: str
    target_text: str
    source: tuple[str, ...]
    produced: tuple[str, ...]
    read: tuple[str, ...]
    links: tuple[tuple[int, int], ...]

    @property
    def share(self) -> float:
        """How much of it is done, from 0 to 1."""
        return min(1.0, self.step / self.steps)


def read(folder: Path) -> Progress | None:
    """What can be seen of the run in a folder; None until its first measurement is there."""
    try:
        about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
    except (FileNotFoundError, json.JSONDecodeError):  # not yet there, or not yet whole
        return None
    log = entries(folder)
    checks = [entry for entry in log if "check" in entry]
    if not checks:
        return None
    updates = [entry for entry in log if "loss" in entry]
    last = updates[-1] if updates else {"step": 0, "seconds": 0.0}
    return Progress(
        step=int(last["step"]),
        steps=int(about["order"]["steps"]),
        seconds=last["seconds"],
        losses=tuple(entry["loss"] for entry in updates),
        moments=tuple(map(of_check, checks)),
        weights=torch.tensor([entry["check"]["map"] for entry in checks]),
        source_text=about["source_text"],
        target_text=about["target_text"],
        source=(*about["source"], "</s>"),
        produced=(*about["target"], "</s>"),
        read=("<s>", *about["target"]),
        links=tuple((source, target) for source, target in about["links"]),
    )
