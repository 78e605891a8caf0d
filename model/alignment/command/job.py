"""What the command line needs before the first pair: models, input, where links come from; all of it checked."""

import argparse
import hashlib
import io
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from model.alignment.choices import default_choice, default_with_reason, threshold_of
from model.alignment.command.options import ARGMAX, UsageError
from model.alignment.corpus import BATCH_TOKENS, JOINT, Settings, checked_choice
from model.alignment.extract import Choice
from model.alignment.formats import Pair, Pairs, read_alignments, read_pairs
from model.alignment.formats.links import Alignments
from model.checkpoint import SHIPPED, available, load_card
from model.translator import Translator, load

A_LINE_A_PAIR = ("lines", "tsv", "bars")
ON_CUDA = 16384  # tokens of a batch
WINDOW = 256  # pairs that are sorted by length together, that one process takes at a time, and after which it can be gone on

REASONS = {
    "chosen": "chosen on gold lines, model card",
    "exact": "aligned best, model card",
    "guided": "guided by links in training, model card",
    "middle": "the mean of the middle layer, as the model card names none",
}
AS_ASKED = "as asked"


@dataclass(frozen=True)
class Job:
    """All that is needed to align, and in words what links are made of."""

    atlas: Translator
    reverse: Translator | None
    settings: Settings
    pairs: Pairs
    gold: Alignments | None
    batch_tokens: int
    window: int
    about: str
    fingerprint: dict[str, Any]

    def rows(self) -> Iterator[Pair]:
        """The pairs from the beginning; a line that could not be read is an empty pair, where each line is one."""
        return self.pairs.in_step if self.pairs.format in A_LINE_A_PAIR else self.pairs.rows


@dataclass(frozen=True)
class InStep:
    """The pairs of a job for those who go through them more than once."""

    pairs: Pairs

    @property
    def rows(self) -> Iterator[Pair]:
        return self.pairs.in_step if self.pairs.format in A_LINE_A_PAIR else self.pairs.rows


class Spooled:
    """Standard input, kept in a temporary file so that it can be read again: to find its format, to count, to go on."""

    name = "standard input"

    def __init__(self, opened: ExitStack) -> None:
        self.file = opened.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 - the stack closes it
        while block := sys.stdin.buffer.read(1 << 20):
            self.file.write(block)

    def read(self, size: int = -1, /) -> bytes:
        return self.file.read(size)

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        return self.file.seek(offset, whence)

    def tell(self) -> int:
        return self.file.tell()


def prepare(options: argparse.Namespace, opened: ExitStack) -> Job:
    """Models loaded and input understood; `opened` closes what must be closed.

    Raises UsageError, FormatError, CheckpointError, OSError or ValueError.
    """
    torch.set_num_threads(options.threads)
    device = of_process(options.device)
    atlas = translator(options.model, device)
    reverse, method = _other_direction(options, atlas, device)
    choice = _choice(options)
    threshold = _threshold(options, atlas, choice, method)
    settings = Settings(choice, options.measure, threshold, method, options.split_punctuation)
    about = _about(atlas, reverse, settings, rule_asked=options.threshold is not None)
    given = [Spooled(opened) if name == "-" else Path(name) for name in options.pairs]
    header = None if options.header is None else options.header == "yes"
    columns = None if options.columns is None else (_column(options.columns[0]), _column(options.columns[1]))
    pairs = read_pairs(
        given[0] if len(given) == 1 else given,
        options.input_format,
        options.encoding,
        columns,
        header,
        languages=tuple(options.languages) if options.languages else languages(atlas.card),
    )
    gold = None
    if options.gold:
        # A split of punctuation that is not the file's own cannot be checked against it.
        gold = read_alignments(Path(options.gold), None if options.split_punctuation else InStep(pairs))
    batch_tokens = options.batch_tokens or (ON_CUDA if atlas.device.type == "cuda" else BATCH_TOKENS)
    window = max(WINDOW, batch_tokens // 8)
    fingerprint = {
        "window": window,  # processes take turns by it
        "input": [_digest(one) for one in given],
        "options": {name: value for name, value in vars(options).items() if name not in _FREE},
    }
    return Job(atlas, reverse, settings, pairs, gold, batch_tokens, window, about, fingerprint)


# Options that may differ between a run and the one that goes on with it.
_FREE = ("resume", "quiet", "threads", "device", "batch_tokens", "output", "pairs")


def of_process(device: str) -> str:
    """The device of this process: where several GPUs are, the processes of a machine share them out."""
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cuda" and (count := torch.cuda.device_count()) > 1:
        return f"cuda:{int(os.environ.get('LOCAL_RANK', 0)) % count}"
    return device


def translator(name: str, device: str) -> Translator:
    """A shipped model by its name, or one in a folder."""
    if name not in available() and not Path(name).is_dir():
        raise UsageError(f"there is no model {name}; shipped are: {', '.join(available())}; or give a folder that holds one")
    atlas = load(name if name in available() else Path(name), device)
    checked_choice(atlas, None)
    assert isinstance(atlas, Translator)
    return atlas


def languages(card: Any) -> tuple[str, str] | None:
    """Source and target of a model, as its card says."""
    named = card.get("languages", card)
    found = named.get("source"), named.get("target")
    return (str(found[0]), str(found[1])) if all(found) else None


def _other_direction(options: argparse.Namespace, atlas: Translator, device: str) -> tuple[Translator | None, str | None]:
    """The reverse model and the method, if links are to be symmetrised."""
    if options.reverse is None and options.symmetrize is None:
        return None, None
    name = options.reverse or "auto"
    if name == "auto":
        wanted = languages(atlas.card)
        fitting = [one for one in available() if wanted and languages(load_card(SHIPPED / one)) == wanted[::-1]]
        if not fitting:
            direction = f"from {wanted[1]} to {wanted[0]}" if wanted else f"as reverse of {atlas.name}, whose card names none"
            raise UsageError(f"no shipped model translates {direction}; name one with --reverse")
        name = min(fitting, key=len)  # en-fr rather than a variant of it
    return translator(name, device), options.symmetrize or "grow-diag-final-and"


def _choice(options: argparse.Namespace) -> Choice | None:
    if options.layer is None:
        return None
    return Choice(options.layer, None if options.head == "mean" else int(options.head), options.row)


def _threshold(options: argparse.Namespace, atlas: Translator, choice: Choice | None, method: str | None) -> float | None:
    """As asked; else the one on the model's card, if links come from the head there."""
    if options.threshold is None:
        return threshold_of(atlas.card, default_choice(atlas), options.measure, method) if choice is None else None
    return None if options.threshold == ARGMAX else float(options.threshold)


def _about(atlas: Translator, reverse: Translator | None, settings: Settings, *, rule_asked: bool) -> str:
    """Where links come from, for the one who waits for them: counted from 1 as on screen, and from 0 as the options count."""
    choice, reason = (settings.choice, AS_ASKED) if settings.choice else _default(atlas)
    checked_choice(atlas, choice)
    share = "norm" if settings.measure == "norms" else "weight"
    if settings.symmetrize == JOINT:
        rule, belongs = f"{share}s averaged with the reverse model's", False
    elif settings.threshold is None:
        rule, belongs = f"largest {share} of the row", False
    else:
        rule, belongs = f"{share} above {settings.threshold:g}", not rule_asked
    said = f"{_named(choice, atlas)}, {rule} ({reason})" if belongs else f"{_named(choice, atlas)} ({reason}), {rule}"
    if reverse is None:
        return said
    other, why = _default(reverse)
    return f"{said}; {settings.symmetrize} with {_named(other, reverse)} ({why})"


def _default(atlas: Translator) -> tuple[Choice, str]:
    choice, reason = default_with_reason(atlas)
    return choice, REASONS[reason]


def _named(choice: Choice, atlas: Translator) -> str:
    head, from_0 = ("mean of heads", "mean") if choice.head is None else (f"head {choice.head + 1}", choice.head)
    return f"layer {choice.layer + 1} {head} of {atlas.name} (counted from 0: {choice.layer} {from_0}), {choice.row} row"


def _column(name: str) -> int | str:
    return int(name) if name.isdecimal() else name


def _digest(given: Path | Spooled) -> str:
    """Name and content of an input; of a long one its length and beginning."""
    if isinstance(given, Path):
        with given.open("rb") as file:
            start, size = file.read(1 << 20), file.seek(0, io.SEEK_END)
    else:
        given.seek(0)
        start, size = given.read(1 << 20), given.seek(0, io.SEEK_END)
    return f"{given.name} {size} {hashlib.sha256(start).hexdigest()}"
