"""Large numbers as they are printed, and the page Cost as a file."""

from collections.abc import Mapping, Sequence

import numpy as np

from app.charts.archive import saved

UNITS = ("", " k", " M", " G", " T", " P", " E", " Z")
BINARY = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def scaled(value: float) -> str:
    """Three digits and a unit of thousands: 63.0 M; whole numbers below 1000 stay as they are."""
    return _in_units(value, 1000, UNITS)


def in_bytes(value: float) -> str:
    """Three digits and a unit of 1024: 8.00 MiB."""
    return _in_units(value, 1024, tuple(f" {unit}" for unit in BINARY))


def _in_units(value: float, step: int, units: Sequence[str]) -> str:
    at = 0
    while at < len(units) - 1 and value >= step - 0.5:
        value, at = value / step, at + 1
    if not at and value == int(value):
        return f"{int(value)}{units[0]}"
    digits = 2 if value < 9.995 else 1 if value < 99.95 else 0
    return f"{value:.{digits}f}{units[at]}" if value < 10_000 else f"{value:.2e}{units[at]}"


def duration(seconds: float) -> str:
    """With the unit that suits it: 12.3 µs, 4.50 ms, 2.00 s, 11.1 h, 3.50 d."""
    for size, unit, shown in ((86_400 * 2, 86_400, "d"), (3600, 3600, "h"), (120, 60, "min"), (1, 1, "s"), (1e-3, 1e-3, "ms")):
        if seconds >= size:
            return _three(seconds / unit, shown)
    return _three(seconds * 1e6, "µs")


def _three(value: float, unit: str) -> str:
    digits = 2 if value < 9.995 else 1 if value < 99.95 else 0
    return f"{value:,.{digits}f} {unit}"


def power(value: float) -> str:
    """A number beyond reading as a power of ten: 3.28 × 10¹⁸."""
    leading, _, exponent = f"{value:.2e}".partition("e")
    return f"{leading} × 10{str(int(exponent)).translate(str.maketrans('-0123456789', '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'))}"


def npz_of(named: Mapping[str, Sequence[float] | float | str | bool]) -> bytes:
    """Numbers and settings by their names, each an array; nothing in it is pickled."""
    return saved({name: np.array(value) for name, value in named.items()})
