"""All figures of speed, each beside its rival in the same run: one table. `python -m benchmarks.forward` prints one part."""

from benchmarks import (
    alignment,
    decoding,
    decoding_page,
    forward,
    heads,
    page,
    pages,
    recorded,
    start,
    studio,
    training_step,
    translate,
)
from benchmarks.timing import run

run(
    __doc__,
    forward.figures,
    recorded.figures,
    decoding.figures,
    training_step.figures,
    translate.figures,
    alignment.figures,
    pages.figures,
    decoding_page.figures,
    studio.figures,
    heads.figures,
    page.figures,
    start.figures,
)
