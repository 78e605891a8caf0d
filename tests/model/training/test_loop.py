"""One seed gives one model, however often it was stopped; what is guided is learned; what is left behind can be read."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor

from model.checkpoint import weights
from model.trace import tracing
from model.training import evaluate
from model.training.data import collate
from model.training.loop import Group, GuidedHead, Run, Settings, update
from model.training.schedule import cooldown, noam
from tests.model.training import task

pytestmark = pytest.mark.usefixtures("quick")
GUIDED = (GuidedHead(0, 0, "produced"), GuidedHead(0, 1, "read"))


def state(run: Run) -> dict[str, Tensor]:
    return {name: parameter.clone() for name, parameter in weights(run.model).items()}


def log(folder: Path) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in (folder / "log.jsonl").read_text(encoding="utf-8").splitlines()]
    return [{name: value for name, value in line.items() if name != "seconds"} for line in lines]


def assert_equal_to_the_bit(one: dict[str, Tensor], other: dict[str, Tensor]) -> None:
    assert set(one) == set(other)
    assert [name for name in one if not torch.equal(one[name], other[name])] == []


class Killed(Exception):  # noqa: N818 - no error of the program
    """The power went."""


class TestOneSeedOneResult:
    def test_two_runs(self, tmp_path: Path) -> None:
        runs = [task.run(tmp_path / name, seed=seed) for name, seed in (("a", 1), ("b", 1), ("c", 2))]
        for run in runs:
            torch.rand(3)  # random numbers drawn in between change nothing
            run.train()
        assert_equal_to_the_bit(state(runs[0]), state(runs[1]))
        assert log(tmp_path / "a") == log(tmp_path / "b")
        assert any(not torch.equal(value, state(runs[2])[name]) for name, value in state(runs[0]).items())

    def test_stopped_and_resumed(self, tmp_path: Path) -> None:
        """Dropout on, heads guided, over more than one pass: the same model to the bit, and the same log."""
        stops = [1, 4, 11]  # after the first step, at a check, between checks
        whole = task.run(tmp_path / "whole", guided=GUIDED, batch_tokens=200)
        whole.train()
        assert whole.progress.epoch > 0
        for step in [*stops, 12]:
            made = task.model() if step == stops[0] else task.model(seed=77)  # weights come from the state, not from the seed
            part = task.run(tmp_path / "parts", made, guided=GUIDED, batch_tokens=200)
            part.train(stop=lambda part=part, step=step: part.progress.step >= step)
            assert part.progress.step == step
        assert_equal_to_the_bit(state(part), state(whole))
        assert log(tmp_path / "parts") == log(tmp_path / "whole")
        assert part.progress.best == whole.progress.best
        assert_equal_to_the_bit(part.average(), whole.average())

    @pytest.mark.parametrize("at", [2, 7])
    def test_killed_and_resumed(self, tmp_path: Path, at: int) -> None:
        """Killed between two saves: the steps since the last are taken again, and stand in the log once."""
        whole = task.run(tmp_path / "whole")
        whole.train()
        killed = task.run(tmp_path / "killed")

        def kill(line: dict[str, Any]) -> None:
            if line["step"] == at:
                raise Killed

        killed.report = kill
        with pytest.raises(Killed):
            killed.train()
        again = task.run(tmp_path / "killed", task.model(seed=77) if at > 4 else None)
        assert again.progress.step == at // 4 * 4
        again.train()
        assert_equal_to_the_bit(state(again), state(whole))
        assert log(tmp_path / "killed") == log(tmp_path / "whole")

    def test_a_line_of_the_log_cut_in_half_is_dropped(self, tmp_path: Path) -> None:
        run = task.run(tmp_path)
        run.train(stop=lambda: run.progress.step >= 5)
        complete = log(tmp_path)
        with (tmp_path / "log.jsonl").open("a", encoding="utf-8") as file:
            file.write('{"step": 6, "lo')
        task.run(tmp_path)
        assert log(tmp_path) == complete

    def test_a_finished_run_stays_as_it_is(self, tmp_path: Path) -> None:
        first = task.run(tmp_path)
        first.train()
        again = task.run(tmp_path, task.model(seed=77))
        again.train()
        assert_equal_to_the_bit(state(first), state(again))


class TestWhatIsLeftBehind:
    def test_log_best_and_snapshots(self, tmp_path: Path) -> None:
        run = task.run(tmp_path, cooldown=3)
        run.train()
        lines = log(tmp_path)
        updates, checks = [line for line in lines if "loss" in line], [line for line in lines if "check" in line]
        assert [line["step"] for line in updates] == list(range(1, 13))
        assert [line["step"] for line in checks] == [4, 8, 12]
        for line in updates:
            step = line["step"]
            assert line["rate"] == pytest.approx(noam(step, 16, 10) * cooldown(step, 12, 3))
            assert line["loss"] > 0
            assert line["gradient"] > 0
            assert 0 < line["tokens"] <= 60
        best = max(checks, key=lambda line: line["check"]["score"])
        assert (run.progress.best, run.progress.best_step) == (best["check"]["score"], best["step"])
        snapshots = sorted((tmp_path / "snapshots").iterdir())
        assert [path.stem for path in snapshots] == ["00000008", "00000012"]
        assert_equal_to_the_bit(load_file(snapshots[-1]), state(run))
        states = [load_file(path) for path in snapshots]
        for name, mean in run.average().items():
            torch.testing.assert_close(mean, (states[0][name] + states[1][name]) / 2)

    def test_saving_leaves_the_old_state_or_the_new_one(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        run = task.run(tmp_path)
        run.train(stop=lambda: run.progress.step >= 4)
        before = (tmp_path / "state.pt").read_bytes()

        def half(content: object, path: Path) -> None:
            path.write_bytes(b"half")
            raise Killed

        monkeypatch.setattr(torch, "save", half)
        with pytest.raises(Killed):
            run.save()
        assert (tmp_path / "state.pt").read_bytes() == before


class TestUpdate:
    def test_it_is_adam_on_the_loss_per_token(self, tmp_path: Path) -> None:
        ours, theirs = task.model(torch.float64, dropout=0.0), task.model(torch.float64, dropout=0.0)
        batch = collate(task.examples(6))
        settings = Settings(steps=1, clip=1e9)
        optimizers = [torch.optim.Adam(model.parameters(), lr=0.01, betas=(0.9, 0.98), eps=1e-9) for model in (ours, theirs)]
        for _ in range(3):
            line = update(ours, optimizers[0], batch, settings)
            logits = theirs(batch.source, batch.target, batch.source != 0, batch.target != 0)
            loss = torch.nn.functional.cross_entropy(
                logits.flatten(0, 1), batch.produced.flatten(), ignore_index=0, label_smoothing=0.1
            )
            optimizers[1].zero_grad()
            loss.backward()
            optimizers[1].step()
            assert line["loss"] == pytest.approx(loss.item(), rel=1e-6)
            assert line["tokens"] == int((batch.produced != 0).sum())
        for one, other in zip(ours.parameters(), theirs.parameters(), strict=True):
            torch.testing.assert_close(one, other)

    def test_gradients_are_clipped_as_a_whole(self) -> None:
        model = task.model(torch.float64, dropout=0.0)
        optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
        before = [parameter.detach().clone() for parameter in model.parameters()]
        line = update(model, optimizer, collate(task.examples(6)), Settings(steps=1, clip=0.01))
        moved = sum(float((new.detach() - old).square().sum()) for new, old in zip(model.parameters(), before, strict=True))
        assert line["gradient"] > 0.01
        assert moved**0.5 == pytest.approx(0.01, rel=1e-3)

    def test_autocast_changes_little(self) -> None:
        losses = []
        for autocast in (False, True):
            model = task.model(dropout=0.0)
            optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
            settings = Settings(steps=1, autocast=autocast, guided=GUIDED)
            for _ in range(3):
                line = update(model, optimizer, collate(task.examples(9), guided=True), settings)
            assert all(parameter.dtype == torch.float32 for parameter in model.parameters())
            losses.append(line["loss"])
        assert losses[0] != losses[1]
        assert losses[1] == pytest.approx(losses[0], rel=0.05)


class TestGuidedHeads:
    @pytest.mark.parametrize(("layer", "head"), [(1, 0), (0, 2), (-1, 0)])
    def test_a_head_that_is_not_there_is_refused(self, tmp_path: Path, layer: int, head: int) -> None:
        with pytest.raises(ValueError, match=f"cannot guide layer {layer}, head {head}: .* layers 0 to 0 with heads 0 to 1"):
            task.run(tmp_path, guided=(GuidedHead(layer, head, "read"),))

    def test_a_row_that_is_not_there_is_refused(self) -> None:
        with pytest.raises(ValueError, match="row='both' is not known; choose produced or read"):
            GuidedHead(0, 0, "both")

    def test_they_learn_their_links_and_the_model_its_task(self, tmp_path: Path) -> None:
        """On the row that reads a word the head finds its source; on the row that produces it, where it will come from."""
        settings = {"steps": 80, "warmup": 30, "check_every": 1000, "factor": 0.5, "clip": 5.0}
        run = task.run(tmp_path, task.model(d_model=32, d_ff=64, dropout=0.0), task.examples(400), 220, guided=GUIDED,
                       guide_factor=1.0, **settings)  # fmt: skip
        batch = collate(task.examples(40, seed=9), guided=True)
        before, loss_before = self.weight_on_links(run, batch), evaluate.loss(run.model, task.examples(40, seed=9))
        run.train()
        after, loss_after = self.weight_on_links(run, batch), evaluate.loss(run.model, task.examples(40, seed=9))
        lines = [line for line in log(tmp_path) if "guide" in line]
        assert lines[-1]["guide"] < 0.5 * lines[0]["guide"]
        assert after[0] > before[0] + 0.3
        assert after[1] > before[1] + 0.3
        assert loss_after < 0.6 * loss_before

    def weight_on_links(self, run: Run, batch: Any) -> list[float]:
        run.model.eval()
        with torch.no_grad(), tracing() as recording:
            run.model(batch.source, batch.target, batch.source != 0, batch.target != 0)
        found = []
        for guided in GUIDED:
            weights, links = recording[guided.path].tensor[:, guided.head], batch.links_of(guided.row)
            found.append(float((weights * links).sum() / links.any(dim=-1).sum()))
        return found


class TestGroup:
    def test_alone(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("RANK", raising=False)
        assert Group.join() == Group(0, 1)
        assert Group().share([1, 2]) == ([1, 2], True)  # type: ignore[list-item]
        assert Group().total(torch.tensor(2), torch.tensor(0.5)) == [2, 0.5]

    def test_every_example_goes_to_one_process(self) -> None:
        pairs = task.examples(7)
        shares = [Group(rank, 3).share(pairs) for rank in range(3)]
        assert sorted((pair.source, pair.target) for share, counts in shares for pair in share if counts) == sorted(
            (pair.source, pair.target) for pair in pairs
        )

    def test_a_process_without_an_example_takes_part_without_weight(self) -> None:
        pairs = task.examples(2)
        assert Group(2, 3).share(pairs) == (pairs[:1], False)
