"""How well a language model predicts: perplexity of held-out sentences, beside counting models of the same tokens.

    python -m benchmarks.perplexity en-lm --data ../shared/data [--write-card]

Perplexity is exp of the unsmoothed cross-entropy per token, the end token counted and the start token not; it depends on how
fine the vocabulary cuts, so bits for each character of the text stand beside it. The rivals know the same training sentences:
how often each token occurs, and how often after the token before it (mixed with weights that suit the validation sentences).
"""

import argparse
import math
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch

import model
from benchmarks import card
from model.tokenizer import END, START
from model.training import evaluate
from model.training.data import Example, read_pairs, sentences

MIXTURES = tuple(share / 20 for share in range(1, 20))


class Counted:
    """Probabilities by counting: share x (after the token before) + (1 - share) x (anywhere, every token once more)."""

    def __init__(self, examples: Sequence[Example], vocab_size: int) -> None:
        self.vocab_size = vocab_size
        self.alone: Counter[int] = Counter()
        self.before: Counter[int] = Counter()
        self.together: Counter[tuple[int, int]] = Counter()
        for example in examples:
            steps = list(pairwise((START, *example.target, END)))
            self.alone.update(token for _, token in steps)
            self.before.update(token for token, _ in steps)
            self.together.update(steps)
        self.total = sum(self.alone.values())

    def loss(self, examples: Sequence[Example], share: float) -> float:
        """Mean negative log-probability per token, in nats."""
        found = [
            math.log(self.probability(before, token, share))
            for example in examples
            for before, token in pairwise((START, *example.target, END))
        ]
        return -sum(found) / len(found)

    def probability(self, before: int, token: int, share: float) -> float:
        anywhere = (self.alone[token] + 1) / (self.total + self.vocab_size)
        after = self.together[before, token] / self.before[before] if self.before[before] else anywhere
        return share * after + (1 - share) * anywhere


def measured(atlas: model.LanguageModel, data: Path, stem: str) -> dict[str, Any]:
    """The figures of the card, printed."""
    tokenizer = atlas.tokenizers.target
    texts = {kind: [pair[0] for pair in read_pairs([data / f"{stem}.{kind}.tsv"])] for kind in ("train", "valid", "test")}
    train, valid, test = (sentences(texts[kind], tokenizer) for kind in ("train", "valid", "test"))
    tokens = sum(len(example.target) + 1 for example in test)
    characters = sum(map(len, dict.fromkeys(texts["test"])))
    counted = Counted(train, len(tokenizer))
    share = min(MIXTURES, key=lambda share: counted.loss(valid, share))
    losses = {
        "each token alike": math.log(len(tokenizer)),
        "counted, one token": counted.loss(test, 0.0),
        f"counted, two tokens ({share:.2f})": counted.loss(test, share),
        atlas.name: evaluate.loss(atlas.model, test),
    }
    print(f"{len(test)} test sentences, {tokens} tokens with their ends, {characters} characters")
    print(f"{'':28} {'perplexity':>10} {'nats a token':>13} {'bits a character':>17}")
    for name, loss in losses.items():
        print(f"{name:28} {math.exp(loss):10.1f} {loss:13.3f} {loss * tokens / characters / math.log(2):17.3f}")
    found = losses[atlas.name]
    return {
        "perplexity": round(math.exp(found), 1),
        "bits_per_character": round(found * tokens / characters / math.log(2), 3),
        "perplexity_counting_two_tokens": round(math.exp(counted.loss(test, share)), 1),
        "test_sentences": len(test),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("name", help="a shipped language model, such as en-lm, or the folder of one, such as runs/en-lm")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of the sentence files")
    parser.add_argument("--stem", default="en-fr", help="the files whose first column is read: STEM.train.tsv, .valid, .test")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--write-card", action="store_true", help="put the figures into the checkpoint's card.toml")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    folder = Path(arguments.name) if "/" in arguments.name else model.checkpoint.SHIPPED / arguments.name
    atlas = model.load(folder)
    if not isinstance(atlas, model.LanguageModel):
        raise SystemExit(f"{atlas.name} is an encoder-decoder; `python -m benchmarks.quality {atlas.name}` measures it")
    figures = measured(atlas, arguments.data, arguments.stem)
    if arguments.write_card:
        card.update(folder / model.checkpoint.CARD, {"quality": figures})
        print(f"\nwritten to {folder / model.checkpoint.CARD}")


if __name__ == "__main__":
    main()
