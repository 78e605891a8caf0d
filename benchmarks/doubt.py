"""How unsure each shipped model usually is, onto its card: `python -m benchmarks.doubt [--models en-fr ...]`.

The app holds a sentence's nats a token against this figure. Measured once, since it takes seconds for each model.
"""

import argparse

import model
from app.session.sentences import examples
from benchmarks import card
from model.analysis import doubt
from model.checkpoint import CARD, SHIPPED


def main(words: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="+", default=model.available())
    for name in parser.parse_args(words).models:
        sources = [example.source for example in examples(name, "en")]
        usual = round(doubt.usual(model.load(name), sources), 4)
        note = "median nats a token over its own greedy output for its examples: python -m benchmarks.doubt"
        card.update(SHIPPED / name / CARD, {"doubt": {"note": note, "usual": usual, "sentences": len(sources)}})
        print(f"{name:14} {usual:.4f} nats a token, {len(sources)} sentences")


if __name__ == "__main__":
    main()
