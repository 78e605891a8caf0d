"""The training loop: one seed gives one model, stopped and resumed as often as one likes, on one process or several."""

import json
import os
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from model.checkpoint import weights
from model.tokenizer import PADDING
from model.trace import tracing
from model.training.data import Batch, Batches, Example, collate
from model.training.loss import summed_cross_entropy, summed_guide
from model.training.schedule import cooldown, noam
from model.transformer import DecoderOnly, EncoderDecoder

Log = dict[str, Any]


@dataclass(frozen=True)
class GuidedHead:
    """A head of cross-attention (layer and head from 0) that is shown alignments on the row that produces or reads a word."""

    layer: int
    head: int
    row: str

    def __post_init__(self) -> None:
        if self.row not in ("produced", "read"):
            raise ValueError(f"row={self.row!r} is not known; choose produced or read")

    @property
    def path(self) -> str:
        return f"decoder.layers.{self.layer}.cross_attention.weights"


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How to train; what to train is a `ModelConfig`."""

    steps: int
    warmup: int = 2000
    factor: float = 1.0
    cooldown: int = 0
    smoothing: float = 0.1
    clip: float = 1.0
    guided: tuple[GuidedHead, ...] = ()
    guide_factor: float = 0.1
    guide_spread: bool = False  # whether every link of a row is to get a share of its weight
    autocast: bool = False
    seed: int = 1
    check_every: int = 500
    snapshots: int = 5
    save_seconds: float = 60.0


@dataclass(frozen=True)
class Group:
    """This process among those that train together."""

    rank: int = 0
    size: int = 1

    @classmethod
    def join(cls) -> "Group":
        """The group that torchrun started, or this process alone."""
        if "RANK" not in os.environ:
            return cls()
        if not dist.is_initialized():
            dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
        return cls(dist.get_rank(), dist.get_world_size())

    def wait(self) -> None:
        """Go on when every process has come here."""
        if self.size > 1:
            dist.barrier()

    def leave(self) -> None:
        """The end of the group."""
        if self.size > 1:
            dist.destroy_process_group()

    def total(self, *values: Tensor) -> list[float]:
        """The sum of each value over all processes."""
        stacked = torch.stack([value.detach().double() for value in values])
        if self.size > 1:
            dist.all_reduce(stacked)
        return list(stacked.tolist())

    def share(self, batch: Sequence[Example]) -> tuple[list[Example], bool]:
        """This process's part of a batch; where there are more processes than examples, one without weight."""
        mine = list(batch[self.rank :: self.size])
        return (mine, True) if mine else ([batch[0]], False)


def update(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    batch: Batch,
    settings: Settings,
    group: Group = Group(),
    counts: bool = True,
) -> Log:
    """One step of the optimizer on the joined batch of all processes; losses are per token of the whole batch.

    Gradients of several processes are averaged by DistributedDataParallel, so each loss is multiplied by their number
    and divided by the *global* count: the step is the one that a single process takes on the joined batch.
    """
    paths = frozenset(head.path for head in settings.guided)
    precision: AbstractContextManager[Any] = (
        torch.autocast(batch.target.device.type, torch.bfloat16) if settings.autocast else nullcontext()
    )
    with tracing(only=paths) if paths else nullcontext() as recording, precision:
        logits = batch.logits(model)
    entropy = summed_cross_entropy(logits, batch.produced, settings.smoothing, PADDING) * counts
    tokens = (batch.produced != PADDING).sum() * counts
    guides, rows = entropy.new_zeros(()), tokens.new_zeros(())
    for head in settings.guided:
        assert recording is not None
        weights = recording[head.path].tensor[:, head.head].float()
        loss, count = summed_guide(weights, batch.links_of(head.row), settings.guide_spread)
        guides, rows = guides + loss * counts, rows + count * counts
    all_tokens, all_rows, all_entropy, all_guides = group.total(tokens, rows, entropy, guides)
    total = entropy / all_tokens
    if all_rows:
        total = total + settings.guide_factor * len(settings.guided) * guides / all_rows
    optimizer.zero_grad(set_to_none=True)
    (total * group.size).backward()  # type: ignore[no-untyped-call]
    norm = nn.utils.clip_grad_norm_(model.parameters(), settings.clip)
    optimizer.step()
    return {
        "loss": all_entropy / all_tokens,
        "guide": all_guides / all_rows if all_rows else None,
        "tokens": int(all_tokens),
        "gradient": float(norm),
    }


@dataclass
class Progress:
    """Where a run stands; saved with the weights, so that a resumed run goes on exactly there."""

    step: int = 0
    epoch: int = 0  # where the next batch stands
    index: int = 0
    seconds: float = 0.0
    best: float | None = None
    best_step: int = 0


@dataclass
class Run:
    """A training in a folder: `state.pt` to resume from, `log.jsonl`, `best.safetensors` and the last `snapshots/`."""

    folder: Path
    model: EncoderDecoder | DecoderOnly
    batches: Batches
    settings: Settings
    check: Callable[[Any], Log]  # measures the model; must contain "score", higher is better
    group: Group = field(default_factory=Group)
    report: Callable[[Log], None] = lambda log: None
    device: torch.device | str = "cpu"

    def __post_init__(self) -> None:
        layers, heads = self.model.config.decoder_layers, self.model.config.num_heads
        if self.settings.guided and isinstance(self.model, DecoderOnly):
            raise ValueError("a decoder-only model has no cross-attention whose heads could be guided; leave --guide-head out")
        for guided in self.settings.guided:
            if not (0 <= guided.layer < layers and 0 <= guided.head < heads):
                raise ValueError(
                    f"cannot guide layer {guided.layer}, head {guided.head}: counted from 0, the decoder has "
                    f"layers 0 to {layers - 1} with heads 0 to {heads - 1}"
                )
        self.progress = Progress()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=0.0, betas=(0.9, 0.98), eps=1e-9, fused=True)
        self.folder.mkdir(parents=True, exist_ok=True)
        if (self.folder / "state.pt").exists():
            self.resume()
        self.forget_later_lines()

    def train(self, stop: Callable[[], bool] = lambda: False) -> Progress:
        """Go on until `settings.steps` updates are done or `stop()` says so; safe to kill at any moment."""
        settings, progress = self.settings, self.progress
        model: nn.Module = DistributedDataParallel(self.model) if self.group.size > 1 else self.model
        saved = started = time.monotonic()
        before = progress.seconds
        for epoch, index, examples in self.batches.stream(progress.epoch, progress.index):
            if progress.step >= settings.steps or self.group.total(torch.tensor(stop(), device=self.device))[0]:
                break
            progress.step += 1
            rate = self.rate(progress.step)
            for parameters in self.optimizer.param_groups:
                parameters["lr"] = rate
            # Seeded by step, so that a resumed run drops the same units as one that was never stopped.
            torch.manual_seed((settings.seed * 1_000_003 + progress.step) * 1_009 + self.group.rank)
            self.model.train()
            share, counts = self.group.share(examples)
            batch = collate(share, bool(settings.guided), self.device)
            log = update(model, self.optimizer, batch, settings, self.group, counts)
            progress.epoch, progress.index = epoch, index + 1
            progress.seconds = before + time.monotonic() - started
            self.write({"step": progress.step, "epoch": epoch, "rate": rate, "seconds": progress.seconds, **log})
            if self.due(progress.step):
                self.measure()
            if progress.step % settings.check_every == 0 or time.monotonic() - saved > settings.save_seconds:
                self.save()
                saved = time.monotonic()
        self.save()
        return progress

    def rate(self, step: int) -> float:
        """The learning rate of an update, from 1."""
        settings = self.settings
        rate = noam(step, self.model.config.d_model, settings.warmup, settings.factor)
        return rate * cooldown(step, settings.steps, settings.cooldown)

    def due(self, step: int) -> bool:
        """Whether the model is checked after this update."""
        return step % self.settings.check_every == 0 or step == self.settings.steps

    def measure(self) -> None:
        """Check the model on held-out pairs; keep it if it is the best so far, and as a snapshot to average."""
        if self.group.rank:
            return
        log = self.check(self.model)
        progress = self.progress
        if progress.best is None or log["score"] > progress.best:
            progress.best, progress.best_step = log["score"], progress.step
            save_file(weights(self.model), self.folder / "best.safetensors")
        snapshots = self.folder / "snapshots"
        snapshots.mkdir(exist_ok=True)
        save_file(weights(self.model), snapshots / f"{progress.step:08d}.safetensors")
        for old in sorted(snapshots.iterdir())[: -self.settings.snapshots]:
            old.unlink()
        self.write({"step": progress.step, "seconds": progress.seconds, "check": log})

    def average(self) -> dict[str, Tensor]:
        """The mean of the weights of the last snapshots (Vaswani et al. 2017, 6.1)."""
        states = [load_file(path) for path in sorted((self.folder / "snapshots").iterdir())]
        return {name: torch.stack([state[name] for state in states]).mean(dim=0) for name in states[0]}

    def write(self, log: Log) -> None:
        """One line of the log, for people with a terminal and for programs."""
        if self.group.rank:
            return
        self.report(log)
        with (self.folder / "log.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(log, ensure_ascii=False) + "\n")

    def save(self) -> None:
        """Everything that going on needs, put in place at once, so that a kill leaves the old state or the new one."""
        if self.group.rank:
            return
        progress = asdict(self.progress)
        state = {"model": weights(self.model), "optimizer": self.optimizer.state_dict(), "progress": progress}
        torch.save(state, self.folder / "state.new")
        (self.folder / "state.new").replace(self.folder / "state.pt")

    def resume(self) -> None:
        """Go on where the saved state stands."""
        state = torch.load(self.folder / "state.pt", map_location=self.device, weights_only=True)
        with torch.no_grad():
            for name, parameter in weights(self.model).items():
                parameter.copy_(state["model"][name])
        self.optimizer.load_state_dict(state["optimizer"])
        self.progress = Progress(**state["progress"])

    def forget_later_lines(self) -> None:
        """Drop the log lines of steps after the saved state: they are taken again."""
        log = self.folder / "log.jsonl"
        if self.group.rank == 0 and log.exists():
            lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
            kept = [line for line in lines if line.endswith("\n") and json.loads(line)["step"] <= self.progress.step]
            (self.folder / "log.new").write_text("".join(kept), encoding="utf-8")
            (self.folder / "log.new").replace(log)
