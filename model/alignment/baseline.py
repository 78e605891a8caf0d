"""What a link costs that knows nothing: the diagonal, to be printed beside every alignment error rate."""

from model.alignment.pharaoh import Link


def diagonal(sources: int, targets: int) -> set[Link]:
    """Each of `targets` words linked to the one of `sources` words that stands at the same share of its sentence.

    Target word j goes to source word round(j (n - 1) / (m - 1)); a lone target word goes to the first.
    """
    if sources == 0:
        return set()
    stretch = (sources - 1) / max(targets - 1, 1)
    return {(round(j * stretch), j) for j in range(targets)}
