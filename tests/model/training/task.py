"""A toy language whose translation is known: every word has a twin, and the target says the twins in the same order."""

import random
from pathlib import Path
from typing import Any

import torch

from model.config import ModelConfig
from model.training.data import Batches, Example
from model.training.loop import Group, Log, Run, Settings
from model.transformer import EncoderDecoder

WORDS = 8
FIRST = 4  # ids of words begin after those of the special tokens


def example(words: list[int]) -> Example:
    source, target = tuple(FIRST + word for word in words), tuple(FIRST + WORDS - 1 - word for word in words)
    return Example(source, target, tuple((place, place) for place in range(len(words))))


def examples(count: int, seed: int = 1) -> list[Example]:
    chance = random.Random(seed)
    return [example([chance.randrange(WORDS) for _ in range(chance.randint(1, 6))]) for _ in range(count)]


def model(dtype: torch.dtype = torch.float32, seed: int = 5, **changes: Any) -> EncoderDecoder:
    torch.manual_seed(seed)
    settings: dict[str, Any] = {
        "source_vocab_size": FIRST + WORDS,
        "target_vocab_size": FIRST + WORDS,
        "d_model": 16,
        "num_heads": 2,
        "d_ff": 32,
        "encoder_layers": 1,
        "decoder_layers": 1,
        "dropout": 0.1,
        "max_length": 64,
        "tie": "all",
    }
    return EncoderDecoder(ModelConfig(**{**settings, **changes})).to(dtype)


def run(
    folder: Path,
    made: EncoderDecoder | None = None,
    pairs: list[Example] | None = None,
    batch_tokens: int = 60,
    group: Group | None = None,
    **settings: Any,
) -> Run:
    """A run that checks itself by the size of its first bias: any number that depends on the training will do."""
    made = made or model()
    quick: dict[str, Any] = {"steps": 12, "warmup": 10, "check_every": 4, "snapshots": 2}

    def check(model: EncoderDecoder) -> Log:
        return {"score": model.encoder.layers[0].feed_forward.expand.bias.detach().sum().item()}

    batches = Batches(pairs or examples(80), batch_tokens, seed=3)
    return Run(folder, made, batches, Settings(**{**quick, **settings}), check, group or Group())
