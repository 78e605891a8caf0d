"""Output that can be gone on with: beside it stands a small file that says how far it is right, and of what it is the output."""

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from model.alignment.command.options import UsageError
from model.alignment.command.tally import Tally
from model.alignment.corpus import Aligned

Lines = Callable[[Iterable[Aligned], int], Iterator[str]]
"""The lines of pairs from the pair of that number (from 1) on."""

Count = Callable[[Tally, Aligned], Tally]
"""The counts with one more pair."""


class Output:
    """A file of lines that grows pair by pair.

    It can be gone on with after each `block` of pairs: what was begun behind the last is done again, in the same batches, so
    that the file becomes what it would have been without a stop. `delayed`: the lines of a pair are written when the next one
    is known.
    """

    def __init__(self, path: Path, fingerprint: dict[str, Any], block: int, resume: bool, delayed: bool = False) -> None:
        self.path, self.fingerprint, self.block, self.delayed = path, fingerprint, block, delayed
        self.progress = path.with_name(f"{path.name}.progress.json")
        self.tally, self.offset = self._found() if resume else (Tally(), 0)
        self.right = self.tally, self.offset  # how far all lines stand in the file

    def write(self, rows: Iterator[Aligned], lines: Lines, count: Count) -> Tally:
        """Write the lines of the rows behind what stands there, and `count` them; returns the counts of all."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("r+b" if self.offset else "wb") as file:
            file.truncate(self.offset)
            file.seek(self.offset)
            self._note(file)
            try:
                for line in lines(self._counted(rows, file, count), self.tally.pairs + 1):
                    file.write(f"{line}\n".encode())
            except KeyboardInterrupt:
                self._note(file)
                raise
        return self.tally

    def finish(self) -> None:
        """The output is whole: nothing is left to be gone on with."""
        self.progress.unlink(missing_ok=True)

    def _counted(self, rows: Iterator[Aligned], file: BinaryIO, count: Count) -> Iterator[Aligned]:
        """The rows as they are taken, noting after each block how far the file is right."""
        for row in rows:
            before, self.tally = self.tally, count(self.tally, row)
            yield row
            whole = before if self.delayed else self.tally
            if whole.pairs and whole.pairs % self.block == 0:
                self.right = whole, file.tell()
                self._note(file)

    def _note(self, file: BinaryIO) -> None:
        """Say how far the file is right; put in place at once, so that a kill leaves the old note or the new one."""
        file.flush()
        tally, offset = self.right
        note = {"tally": tally.to_dict(), "bytes": offset, "of": self.fingerprint}
        new = self.progress.with_name(f"{self.progress.name}.new")
        new.write_text(json.dumps(note), encoding="utf-8")
        new.replace(self.progress)

    def _found(self) -> tuple[Tally, int]:
        """Where an output that was stopped is to be gone on with."""
        if not self.progress.exists():
            if self.path.exists():
                raise UsageError(
                    f"{self.path} is there without {self.progress.name}: it is complete, or not of this command; "
                    "remove it to begin again"
                )
            return Tally(), 0
        try:
            note = json.loads(self.progress.read_text(encoding="utf-8"))
            offset, tally, of = int(note["bytes"]), Tally.from_dict(note["tally"]), note["of"]
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise UsageError(f"{self.progress} cannot be read ({error}); remove it to begin again") from None
        if of != json.loads(json.dumps(self.fingerprint)):
            raise UsageError(f"{self.path} was begun {_difference(of, self.fingerprint)}; begin again without --resume")
        if not self.path.exists() or self.path.stat().st_size < offset:
            raise UsageError(f"{self.path} is shorter than {self.progress.name} says; begin again without --resume")
        return tally, offset


def _difference(before: Any, now: dict[str, Any]) -> str:
    """What has changed between two fingerprints."""
    if not isinstance(before, dict) or before.get("input") != now.get("input"):
        return "from other input"
    old, new = before.get("options", {}), now["options"]
    changed = [name for name in new if json.dumps(old.get(name)) != json.dumps(new[name])]
    told = [f"--{name.replace('_', '-')} {old.get(name)}, not {new[name]}" for name in changed]
    return f"with {'; '.join(told) or 'other settings'}"
