"""A sentence of ten words translated, text to text: what the server does between click and picture, the tracing too."""

from collections.abc import Iterator

import model
from benchmarks.timing import Figure, alone, in_turn, run

SENTENCE = "The old man often walks to the market with friends."


def figures() -> Iterator[Figure]:
    for name in model.available():
        atlas = model.load(name, device="cpu")
        (times,) = in_turn(lambda atlas=atlas: atlas.translate(SENTENCE))
        yield alone(f"{name}: translate 10 words, text to text", times)
        (times,) = in_turn(lambda atlas=atlas: atlas.trace(SENTENCE))
        yield alone(f"{name}: translate and trace 10 words", times)


if __name__ == "__main__":
    run(__doc__, figures)
