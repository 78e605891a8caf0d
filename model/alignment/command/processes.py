"""The processes that share a corpus: who does which pairs, and how they wait for each other."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import TypeVar

import torch.distributed as dist

Row = TypeVar("Row")


@dataclass(frozen=True)
class Processes:
    """This process among those that work together: number `rank` of `size`."""

    rank: int = 0
    size: int = 1

    @classmethod
    def join(cls) -> "Processes":
        """The processes that torchrun started, or this one alone."""
        if int(os.environ.get("WORLD_SIZE", 1)) == 1:
            return cls()
        # They talk only to say that they are ready, which may take as long as the corpus does.
        dist.init_process_group("gloo", timeout=timedelta(days=365))
        return cls(dist.get_rank(), dist.get_world_size())

    def mine(self, rows: Iterator[Row], block: int) -> Iterator[Row]:
        """Of all rows those of this process: every `size`-th block of so many."""
        turn = 0
        while taken := list(islice(rows, block)):
            if turn % self.size == self.rank:
                yield from taken
            turn += 1

    def shard(self, output: Path, rank: int | None = None) -> Path:
        """Where a process writes what it has aligned."""
        return output.with_name(f"{output.name}.{self.rank if rank is None else rank}-of-{self.size}.jsonl")

    def wait(self) -> None:
        """Go on when every process has come here."""
        if self.size > 1 and dist.is_initialized():
            dist.barrier()

    def leave(self) -> None:
        """The end of the work together."""
        if dist.is_initialized():
            dist.destroy_process_group()


def in_turns(shards: list[Iterator[Row]], block: int) -> Iterator[Row]:
    """The rows of all processes in the order of the corpus: a block of each in turn."""
    while True:
        for shard in shards:
            taken = list(islice(shard, block))
            yield from taken
            if len(taken) < block:  # the last block of all
                return
