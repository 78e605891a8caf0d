"""How the costs of one layer grow with the length, and where layers stand under the roof of a machine."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from model import cost
from model.analysis.machine import Timed
from model.config import ModelConfig

LONG = 131_072  # "128 k"
MILLION = 1_000_000
PROMPT = 4096
TOGETHER = 64  # sequences that are written at the same time
GRID = tuple(2**power for power in range(21))


@dataclass(frozen=True)
class Growth:
    """One layer at every length: operations of the matrices and of the square, bytes of the weights stored and fused."""

    lengths: tuple[int, ...]
    linear: tuple[int, ...]
    square: tuple[int, ...]
    stored: tuple[int, ...]
    fused: tuple[int, ...]


def growth(config: ModelConfig, length: int, bytes_per_number: int) -> Growth:
    """From one token to a million, with this length and the crossing among them."""
    lengths = tuple(sorted({*GRID, length, cost.crossing(config), LONG, MILLION}))
    linear, square = zip(*(cost.layer_flops(config, n) for n in lengths), strict=True)
    return Growth(
        lengths,
        linear,
        square,
        tuple(cost.attention_bytes(config, n, n, bytes_per_number=bytes_per_number) for n in lengths),
        tuple(cost.fused_bytes(config, n) for n in lengths),
    )


def shares(parts: Mapping[str, int]) -> dict[str, float]:
    """What each part makes of the whole, in percent."""
    total = sum(parts.values()) or 1
    return {name: 100 * value / total for name, value in parts.items()}


def together(parts: Mapping[str, int], batch: int) -> dict[str, int]:
    """The same counts for so many sequences at once."""
    return {name: batch * value for name, value in parts.items()}


def square_percent(config: ModelConfig, length: int) -> float:
    """What the square makes of the operations of one layer, in percent; see `cost.square_share`."""
    return 100 * cost.square_share(config, length)


def mebi(value: int) -> float:
    """Bytes as MiB."""
    return value / 2**20


def reading(timed: Timed | None, name: str) -> float | None:
    """The milliseconds or the MiB ("mebi") of a measurement, None while there is none."""
    if timed is None:
        return None
    return mebi(timed.bytes) if name == "mebi" else timed.milliseconds


def at_best_rate(measured: Sequence[Timed]) -> list[float]:
    """Milliseconds that the formula gives for these runs if each ran as fast as the fastest of them."""
    best = max((timed.rate for timed in measured), default=1.0)
    return [timed.flops / best / 1e6 for timed in measured]


def less_base(rows: Sequence[cost.Printed]) -> list[tuple[float, int]]:
    """Millions by which each row of Table 3 differs from its first: counted, and as printed."""
    base = rows[0]
    return [((row.counted - base.counted) / 1e6, row.millions - base.millions) for row in rows]


def gibi(value: int) -> float:
    """Bytes as GiB."""
    return value / 2**30


def named_lengths(config: ModelConfig, length: int) -> tuple[int, ...]:
    """This length, the crossing, 128 k, a million: in this order."""
    return length, cost.crossing(config), LONG, MILLION


@dataclass(frozen=True)
class UnderRoof:
    """A piece of work on a machine: `name` says what it is, `length` and `batch` of which size."""

    name: str  # "prefill", "stored" or "step"
    length: int
    batch: int
    work: cost.Work
    roof: cost.Roof


def under_roof(config: ModelConfig, machine: cost.Machine, precision: str, length: int) -> tuple[UnderRoof, ...]:
    """One layer reading this sentence, reading a long prompt with and without stored weights, and writing one token."""
    size = cost.PRECISIONS[precision]
    works = (
        ("prefill", length, 1, cost.prefill(config, length, 1, size)),
        ("prefill", PROMPT, 1, cost.prefill(config, PROMPT, 1, size)),
        ("stored", PROMPT, 1, cost.prefill(config, PROMPT, 1, size, stored=True)),
        ("step", length, 1, cost.step(config, length, 1, size)),
        ("step", PROMPT, 1, cost.step(config, PROMPT, 1, size)),
        ("step", PROMPT, TOGETHER, cost.step(config, PROMPT, TOGETHER, size)),
    )
    return tuple(UnderRoof(*found, cost.roof(machine, precision, found[-1].flops, found[-1].bytes)) for found in works)


def roofs(machine: cost.Machine, intensities: tuple[float, ...]) -> dict[str, tuple[float, ...]]:
    """What each precision of the machine allows at these intensities, operations a second."""
    return {
        precision: tuple(cost.roof(machine, precision, intensity, 1.0).reached for intensity in intensities)
        for precision in cost.PRECISIONS
        if machine.peak(precision) is not None
    }


def intensities(machine: cost.Machine, points: tuple[UnderRoof, ...]) -> tuple[float, ...]:
    """Where the roofs are drawn: over the decades of interest, at their edges, and where the points are."""
    edges = (cost.roof(machine, precision, 1.0, 1.0).ridge for precision in cost.PRECISIONS if machine.peak(precision))
    return tuple(sorted({*(2.0**power for power in range(-2, 14)), *edges, *(point.work.intensity for point in points)}))


def paths(kernel: int, neighbourhood: int, width: int, length: int) -> tuple[tuple[int, ...], dict[str, tuple[int, ...]]]:
    """The longest way between two positions for every kind of layer, at lengths from 2 to a million; see `cost.complexity`."""
    lengths = tuple(sorted({*GRID[1:], length}))
    table = [cost.complexity(n, width, kernel, neighbourhood) for n in lengths]
    return lengths, {row[0].name: tuple(kind.path for kind in row) for row in zip(*table, strict=True)}
