"""Two processes take the step that one takes on the joined batch."""

import itertools
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from model.checkpoint import load
from model.training.__main__ import main
from model.training.data import Batches
from model.training.loop import Group
from tests.model import tiny
from tests.model.training import two_processes

ROOT = Path(__file__).resolve().parents[3]
pytestmark = pytest.mark.usefixtures("quick")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What two processes have made, started as torchrun starts them."""
    made = tmp_path_factory.mktemp("runs")
    pairs = zip(tiny.ENGLISH, tiny.FRENCH, strict=True)
    (made / "pairs.tsv").write_text("".join(f"{source}\t{target}\n" for source, target in pairs) * 6, encoding="utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    common = {**os.environ, "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "tests.model.training.two_processes", str(made)]
    with (made / "output").open("wb") as output:
        started = [
            subprocess.Popen(command, cwd=ROOT, env={**common, "RANK": str(rank)}, stdout=output, stderr=output)
            for rank in range(2)
        ]
        try:
            results = [process.wait(timeout=600) for process in started]
        finally:
            for process in started:
                process.kill()
                process.wait()
    assert results == [0, 0], (made / "output").read_text(encoding="utf-8")
    return made


def log(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "log.jsonl").read_text(encoding="utf-8").splitlines()]


def test_the_same_parameters_and_log_as_one_process_on_the_joined_batch(folder: Path) -> None:
    """Losses, tokens and the clipped gradient are those of the whole batch, and written once."""
    two_processes.joint_run(folder / "one", Group())
    one, two = (torch.load(folder / name / "state.pt", weights_only=True) for name in ("one", "two"))
    assert one["progress"]["step"] == two["progress"]["step"] == two_processes.STEPS
    for name, parameter in one["model"].items():
        torch.testing.assert_close(two["model"][name], parameter, atol=1e-9, rtol=1e-9, msg=name)
    for line, twin in zip(log(folder / "one"), log(folder / "two"), strict=True):
        assert line.keys() == twin.keys()
        for name in {"step", "epoch", "tokens", "loss", "guide", "gradient"} & line.keys():
            assert twin[name] == pytest.approx(line[name], rel=1e-6), name


def test_one_of_those_batches_had_fewer_pairs_than_there_are_processes() -> None:
    batches = Batches(two_processes.pairs(), two_processes.BATCH_TOKENS, seed=3).stream()
    sizes = [len(batch) for _, _, batch in itertools.islice(batches, two_processes.STEPS)]
    assert min(sizes) == 1
    assert max(sizes) > 2


def test_the_command_line_under_torchrun(folder: Path) -> None:
    main([*two_processes.command_line(folder), "--output", str(folder / "one-by-command")])
    alone, together = (log(folder / f"{name}-by-command") for name in ("one", "two"))
    assert [line["step"] for line in together] == [line["step"] for line in alone] == [1, 2, 3, 4, 5, 5]
    assert [line["loss"] for line in together[:5]] == pytest.approx([line["loss"] for line in alone[:5]], rel=1e-3)
    assert load(folder / "two-by-command" / "checkpoint")[0].config == load(folder / "one-by-command" / "checkpoint")[0].config
