"""Moments of a training: the weights at several steps in one file, with what was measured there."""

import copy
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor

from model.alignment.extract import cross_attention
from model.checkpoint import CheckpointError, put_weights, shown
from model.translator import Translator

FILE = "moments.safetensors"


@dataclass(frozen=True)
class Moment:
    """What was measured after so many updates: see `model.training.exact.Measures`; `loss` in nats a token."""

    step: int
    loss: float
    exact: float
    alignment: tuple[tuple[tuple[float, ...], ...], ...]  # layer, head, row (produced, read)


def write(run: Path, path: Path, dtype: torch.dtype = torch.float16) -> None:
    """Gather the kept snapshots of a run, and the checks in its log, into one file."""
    measured = {moment.step: moment for moment in read_log(run)}
    tensors: dict[str, Tensor] = {}
    steps = []
    for file in sorted((run / "snapshots").glob("*.safetensors")):
        if (step := int(file.stem)) in measured:
            steps.append(step)
            tensors |= {f"{step}/{name}": tensor.to(dtype) for name, tensor in load_file(file).items()}
    said = [vars(measured[step]) for step in steps]
    save_file(tensors, path, metadata={"moments": json.dumps(said), "losses": json.dumps(losses(run))})


def read_log(run: Path) -> Iterator[Moment]:
    """The checks in the log of a run, in their order; half a line at its end, still being written, is left out."""
    return (of_check(entry) for entry in entries(run) if "check" in entry)


def of_check(entry: Mapping[str, Any]) -> Moment:
    """The moment that a line of the log tells of."""
    check = entry["check"]
    return Moment(entry["step"], check["loss"], check["exact"], _tuples(check["alignment"]))


def losses(run: Path) -> list[float]:
    """The loss of every update of a run, from the first, in nats a token of its batch: four decimals."""
    return [round(entry["loss"], 4) for entry in entries(run) if "loss" in entry]


def entries(run: Path) -> list[dict[str, Any]]:
    """All whole lines of a run's log; none if it has not begun."""
    try:
        text = (run / "log.jsonl").read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]


def read(path: Path) -> tuple[Moment, ...]:
    """The moments of a file, without their weights."""
    said: Sequence[Mapping[str, Any]] = _metadata(path, "moments")
    return tuple(Moment(one["step"], one["loss"], one["exact"], _tuples(one["alignment"])) for one in said)


def read_losses(path: Path) -> tuple[float, ...]:
    """The loss of every update that led to the moments of a file."""
    return tuple(_metadata(path, "losses"))


def _metadata(path: Path, name: str) -> Any:
    try:
        with safe_open(path, "pt") as file:
            return json.loads((file.metadata() or {})[name])
    except Exception as error:  # safetensors and json each raise their own
        raise CheckpointError(f"{shown(path)} cannot be read: {error}") from error


def states(path: Path) -> Iterator[tuple[int, dict[str, Tensor]]]:
    """The weights of each moment, in float32, in the order of `read`."""
    with safe_open(path, "pt") as file:
        names = list(file.keys())
        for moment in read(path):
            start = f"{moment.step}/"
            yield (
                moment.step,
                {name.removeprefix(start): file.get_tensor(name).float() for name in names if name.startswith(start)},
            )


@dataclass(frozen=True)
class Maps:
    """The moments of a model, and its cross-attention over one pair at each of them."""

    moments: tuple[Moment, ...]
    losses: tuple[float, ...]
    weights: Float[Tensor, "moment layer head query key"]


def maps(atlas: Translator, path: Path, source: str, target: str) -> Maps:
    """What was measured at the moments in a file of this model, and cross-attention over a pair, in forced passes."""
    model = copy.deepcopy(atlas.model)
    found = []
    for _, state in states(path):
        put_weights(model, state, path)
        found.append(cross_attention(replace(atlas, model=model).trace(source, target)))
    return Maps(read(path), read_losses(path), torch.stack(found))


def _tuples(values: Any) -> Any:
    return tuple(map(_tuples, values)) if isinstance(values, list | tuple) else values
