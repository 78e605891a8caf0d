"""Real processors and the roofline (Williams, Waterman and Patterson 2009): what arithmetic and memory allow at the most.

The figures are the vendors': dense, without the doubling by sparsity; tensor cores with float32 sums where the vendor tells
them apart. No program reaches them; they are a roof.
"""

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

TABLE = Path(__file__).resolve().parents[2] / "assets" / "cost" / "machines.toml"

PRECISIONS = {"fp32": 4, "bf16": 2, "fp8": 1}
"""How numbers are kept, and the bytes of each."""

LARGEST = 1e6  # TFLOP/s, GB/s: far above anything that can be bought


class RefusedMachineError(ValueError):
    """A figure that no machine can have: which, and the range."""

    def __init__(self, name: str, value: float) -> None:
        super().__init__(f"{name}={value} is not above 0 and at most {LARGEST:.0f}")
        self.name, self.value, self.largest = name, value, LARGEST


@dataclass(frozen=True)
class Machine:
    """A processor: peak tera-operations a second by precision (None: not in its hardware), memory in GB/s.

    `half`: the 16-bit figure is that of float16, as the hardware has no bfloat16. `source` names where the figures stand.
    """

    name: str
    kind: str  # "laptop", "desktop", "centre"
    fp32: float
    bf16: float | None
    fp8: float | None
    bandwidth: float
    source: str
    half: bool = False

    def peak(self, precision: str) -> float | None:
        """Operations a second."""
        tera: float | None = {"fp32": self.fp32, "bf16": self.bf16, "fp8": self.fp8}[precision]
        return None if tera is None else tera * 1e12

    @property
    def bytes_per_second(self) -> float:
        return self.bandwidth * 1e9


@dataclass(frozen=True)
class Roof:
    """What one piece of work can reach on a machine, at the most."""

    reached: float  # operations a second
    seconds: float
    bound: str  # "memory" or "compute": which of the two sets the limit
    ridge: float  # operations a byte from which on the arithmetic is the limit


@cache
def machines() -> tuple[Machine, ...]:
    """The table that is shipped, in its order: from the laptop to the data centre."""
    return tuple(_machine(entry) for entry in tomllib.loads(TABLE.read_text("utf-8"))["machine"])


def _machine(entry: Mapping[str, object]) -> Machine:
    number = {name: entry.get(name) for name in ("fp32", "bf16", "fp8", "bandwidth")}
    made = checked_machine(str(entry["name"]), number)
    return Machine(
        made.name, str(entry["kind"]), made.fp32, made.bf16, made.fp8, made.bandwidth, str(entry["source"]), "half" in entry
    )


def checked_machine(name: str, figures: Mapping[str, object]) -> Machine:
    """A machine of these figures, whoever gave them; 0 or None for a precision that it does not have.

    fp32 and bandwidth must be there. Raises `RefusedMachineError` for what is not a number, below 0 or beyond `LARGEST`.
    """
    found: dict[str, float | None] = {}
    for figure in ("fp32", "bf16", "fp8", "bandwidth"):
        given = figures.get(figure) or 0.0
        value = float(given) if isinstance(given, int | float) else math.nan
        if not 0 <= value <= LARGEST or (figure in ("fp32", "bandwidth") and not value):
            raise RefusedMachineError(figure, value)
        found[figure] = value or None
    return Machine(name, "own", found["fp32"] or 0.0, found["bf16"], found["fp8"], found["bandwidth"] or 0.0, "")


def number_of(written: object) -> float:
    """A number that somebody typed, with a comma or a point; not a number (NaN) if it is none."""
    try:
        return float(str(written).strip().replace(",", ".") or "0")
    except ValueError:
        return math.nan


def roof(machine: Machine, precision: str, flops: float, bytes_moved: float) -> Roof:
    """min(peak, intensity x bandwidth), and the time: whatever takes longer, the arithmetic or the memory."""
    peak = machine.peak(precision)
    if peak is None:
        raise ValueError(f"{machine.name} has no {precision}; choose another precision")
    seconds = max(flops / peak, bytes_moved / machine.bytes_per_second)
    ridge = peak / machine.bytes_per_second
    return Roof(flops / seconds, seconds, "compute" if flops / bytes_moved >= ridge else "memory", ridge)
