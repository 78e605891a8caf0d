"""Table 1 of Vaswani et al. 2017: kinds of layers compared, as orders without their constants."""

from dataclasses import dataclass


@dataclass(frozen=True)
class LayerKind:
    """One kind of layer: the paper's three orders as numbers for given n, d, k and r, with their symbols."""

    name: str
    symbols: tuple[str, str, str]
    operations: int  # complexity of one layer
    sequential: int  # operations that must wait for one another
    path: int  # the longest way between two positions, in layers or steps


def complexity(length: int, width: int, kernel: int, neighbourhood: int) -> tuple[LayerKind, ...]:
    """Self-attention, recurrent, convolutional (contiguous and dilated kernels), restricted self-attention.

    `length` is n, `width` d, `kernel` k, `neighbourhood` r. Paths are rounded up. Left out are, as in the paper's table, all
    constants, and the d x d projections of attention.
    """
    for name, given, least in (("n", length, 1), ("d", width, 1), ("k", kernel, 2), ("r", neighbourhood, 1)):
        if given < least:
            raise ValueError(f"{name}={given} is too small; give a whole number from {least} up")
    n, d, k, r = length, width, kernel, min(neighbourhood, length)
    return (
        LayerKind("attention", ("n² · d", "1", "1"), n * n * d, 1, 1),
        LayerKind("recurrent", ("n · d²", "n", "n"), n * d * d, n, n),
        LayerKind("convolution", ("k · n · d²", "1", "n / k"), k * n * d * d, 1, -(-n // k)),
        LayerKind("dilated", ("k · n · d²", "1", "log_k n"), k * n * d * d, 1, dilated_layers(n, k)),
        LayerKind("restricted", ("r · n · d", "1", "n / r"), r * n * d, 1, -(-n // r)),
    )


def dilated_layers(length: int, kernel: int) -> int:
    """How many dilated convolutions it takes until one output sees `length` positions: log_k(n), rounded up, at least 1."""
    layers, seen = 1, kernel
    while seen < length:
        layers, seen = layers + 1, seen * kernel
    return layers
