"""The training of an order in a folder: measured and kept at some steps, stopped and resumed as one likes, and its result."""

import json
from collections.abc import Callable
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

import torch

from model.analysis.what_if import alter
from model.checkpoint import CARD, save, weights
from model.practice.order import BATCH_TOKENS, LEFT_OUT, Order, checks
from model.trace import tracing
from model.training import exact, moments
from model.training.data import Batches, Example, collate
from model.training.loop import Log, Run
from model.training.schedule import cooldown, noam
from model.training.tasks import Pair, examples
from model.transformer import EncoderDecoder

TRAIN, HELD_OUT = 12_000, 60  # pairs; a short training draws fewer, about as many as it will see
SEEN = 80  # pairs of one update, about
RESULT, ABOUT = "checkpoint", "about.json"
SHOWN_SEED = 7  # of the held-out pair whose attention is shown


class Practice(Run):
    """A run that is checked, and keeps its weights, at the steps of `checks`; a rate without warm-up is highest at once."""

    order: Order

    def rate(self, step: int) -> float:
        """Noam's; without warm-up the highest rate stands from the first update to where warm-up would have ended."""
        settings = self.settings
        at = max(step, settings.warmup) if "warmup" in self.order.without else step
        highest = noam(at, self.model.config.d_model, settings.warmup, settings.factor)
        return highest * cooldown(step, settings.steps, settings.cooldown)

    def due(self, step: int) -> bool:
        return step in checks(self.order.steps)

    def train(self, stop: Callable[[], bool] = lambda: False) -> Any:
        """As any run; what it is before the first update is measured too."""
        if self.progress.step == 0 and not moments.entries(self.folder):
            self.measure()
        return super().train(stop)


def begin(order: Order, folder: Path, report: Callable[[Log], None] = lambda log: None) -> Practice:
    """The training of an order, new or as far as the folder has it."""
    task, tokenizers = order.kind, order.kind.tokenizers
    train = examples(list(islice(task.pairs(order.seed), min(TRAIN, SEEN * order.steps))), tokenizers)
    held_out = examples(task.distinct(HELD_OUT, 1, "held out"), tokenizers)
    pair = shown_pair(order)
    torch.manual_seed(order.seed)
    model = EncoderDecoder(order.config(tokenizers))
    alter(model, order.altered)

    def check(made: EncoderDecoder) -> Log:
        found = exact.measure(made, held_out)
        maps = attention(made, examples([pair], tokenizers)[0])
        return {
            "score": found.exact, "loss": found.loss, "exact": found.exact, "alignment": found.alignment.tolist(),
            "map": [[[[round(weight, 4) for weight in row] for row in head] for head in layer] for layer in maps.tolist()],
        }  # fmt: skip

    folder.mkdir(parents=True, exist_ok=True)
    source, target = (getattr(tokenizers, side).encode(getattr(pair, side)) for side in ("source", "target"))
    about = {
        "order": asdict(order), "source_text": pair.source, "target_text": pair.target, "links": sorted(pair.links),
        "source": [token.label for token in source], "target": [token.label for token in target],
    }  # fmt: skip
    (folder / ABOUT).write_text(json.dumps(about, ensure_ascii=False), encoding="utf-8")
    made = Practice(folder, model, Batches(train, BATCH_TOKENS, order.seed), order.settings(), check, report=report)
    made.order = order
    return made


def shown_pair(order: Order) -> Pair:
    """A held-out pair of middling length, the same in every training of a task."""
    task = order.kind
    shortest, longest = task.lengths if task.characters else (min(8, task.lengths[1]), min(9, task.lengths[1]))
    return next(task.pairs(SHOWN_SEED, "held out", (shortest, longest)))


@torch.inference_mode()
def attention(model: EncoderDecoder, shown: Example) -> torch.Tensor:
    """Cross-attention over one pair, in a forced pass: (layer, head, query, key), the end token last among rows and columns."""
    model.eval()
    paths = tuple(f"decoder.layers.{layer}.cross_attention.weights" for layer in range(model.config.decoder_layers))
    with tracing(only=frozenset(paths)) as recording:
        collate([shown]).logits(model)
    return torch.stack([recording[path].tensor[0] for path in paths])


def finish(run: Practice) -> Path:
    """Keep what the run has come to as a checkpoint folder with a card, and its moments beside it."""
    order, folder = run.order, run.folder / RESULT
    save(folder, weights(run.model), run.model.config, order.kind.tokenizers)
    (folder / CARD).write_text(card(run), encoding="utf-8")
    moments.write(run.folder, folder / moments.FILE)
    return folder


def card(run: Practice) -> str:
    """The card of a result, as TOML."""
    order, config = run.order, run.model.config
    last = list(moments.read_log(run.folder))[-1]
    best = exact.Measures(last.loss, last.exact, torch.tensor(last.alignment))
    place = best.best
    source, target = order.kind.languages
    lines = [
        f'name = "{order.task}"',
        f'summary = "{SUMMARIES[order.task]}"',
        "closed_vocabulary = true",
        "",
        "[languages]",
        f'source = "{source}"',
        f'target = "{target}"',
        "",
        "[architecture]",
        'kind = "encoder-decoder"',
        f'layers = "{config.encoder_layers} + {config.decoder_layers}"',
        *(f"{name} = {getattr(config, name)}" for name in ("d_model", "num_heads", "d_ff")),
        *(f'{name} = "{getattr(config, name)}"' for name in ("positions", "norm", "activation")),
        f"without = {json.dumps([name for name in LEFT_OUT if name in order.without])}",
        'stored_as = "float16"',
        "",
        "[data]",
        'name = "pairs made by model/training/tasks.py from a seed; a tenth of all sources is held out"',
        'licence = "MIT"',
        'attribution = "this project"',
        "",
        "[model]",
        'licence = "MIT, like its data and the code"',
        "",
        "[training]",
        f'command = "{order.command}"',
        f"steps = {run.progress.step}",
        *(f"{name} = {getattr(run.settings, name):.10g}" for name in ("warmup", "factor", "cooldown")),
        f"seconds = {run.progress.seconds:.0f}",
        f"longest_words = {order.kind.lengths[1] if not order.kind.characters else 0}",
        "",
        "[exact]",
        f'note = "held-out pairs at the last check, after {last.step} updates; loss in nats a token; counted from 0"',
        f"pairs = {HELD_OUT}",
        f"loss = {last.loss:.4f}",
        f"match = {last.exact:.4f}",
        f"alignment = {best.aligned(place):.4f}",
        f"layer = {place.layer}",
        f"head = {place.head}",
        f'row = "{place.row}"',
    ]
    return "\n".join(lines) + "\n"


SUMMARIES = {
    "toy": "A toy language: small English sentences to an invented language with subject, object, verb; its alignment is known.",
    "copy": "Letters, copied.",
    "reverse": "Letters, from the last to the first.",
    "dates": "Dates as people write them, to ISO 8601.",
}
