"""Small models with every parameter at random, so that no bias of 0 and no gain of 1 hides a mistake."""

from pathlib import Path
from typing import Any

import torch

from model.checkpoint import Tokenizers, save, weights
from model.config import ModelConfig
from model.tokenizer import Tokenizer, train_bpe, train_characters
from model.transformer import DecoderOnly, EncoderDecoder

ENGLISH = (
    "I love you.",
    "The red car is here.",
    "Where is the café?",
    "She didn't know 12 things.",
    "He bought 3 books, and she read them.",
    "Do you like the summer?",
)
FRENCH = (
    "Je t'aime.",
    "La voiture rouge est là.",
    "Où est le café ?",
    "Elle ne savait pas 12 choses.",
    "Il a acheté 3 livres, et elle les a lus.",
    "Est-ce que tu aimes l'été ?",
)
CHINESE = ("我爱你。", "红色的汽车在这里。", "咖啡馆在哪里？", "她不知道12件事。", "他买了3本书，她读了。", "你喜欢夏天吗？")


def config(**changes: Any) -> ModelConfig:
    """A model of a few thousand parameters; encoder and decoder differ in depth, source and target in vocabulary."""
    settings = {
        "source_vocab_size": 23,
        "target_vocab_size": 19,
        "d_model": 24,
        "num_heads": 4,
        "d_ff": 40,
        "encoder_layers": 2,
        "decoder_layers": 3,
        "max_length": 64,
    }
    return ModelConfig(**{**settings, **changes})


def model(dtype: torch.dtype = torch.float64, seed: int = 1, **changes: Any) -> EncoderDecoder:
    """A random model in eval mode, its parameters frozen."""
    torch.manual_seed(seed)
    made = EncoderDecoder(config(**changes))
    shake(made)
    return made.to(dtype).eval().requires_grad_(False)


def language_model(dtype: torch.dtype = torch.float64, seed: int = 1, **changes: Any) -> DecoderOnly:
    """A random decoder-only model, by default rotary, pre-norm and GELU as today's are."""
    torch.manual_seed(seed)
    kind = {"family": "decoder-only", "encoder_layers": 0, "positions": "rotary", "norm": "pre", "activation": "gelu"}
    made = DecoderOnly(config(**{**kind, "source_vocab_size": 19, **changes}))
    shake(made)
    return made.to(dtype).eval().requires_grad_(False)


@torch.no_grad()
def shake(module: torch.nn.Module) -> None:
    for parameter in module.parameters():
        if parameter.ndim == 1:
            parameter.add_(torch.randn_like(parameter) * 0.3)


def ids(length: int, vocab_size: int, batch: int = 1) -> torch.Tensor:
    """Ordinary tokens, no special ones."""
    return torch.randint(4, vocab_size, (batch, length))


def shared_bpe() -> Tokenizer:
    return train_bpe([*ENGLISH, *FRENCH] * 6, 150)


def english_bpe() -> Tokenizer:
    return train_bpe([*ENGLISH] * 6, 90)


def chinese_characters() -> Tokenizer:
    return train_characters(CHINESE)


def save_checkpoint(folder: Path, shared: bool = True, **changes: Any) -> EncoderDecoder:
    """A checkpoint folder as the shipped ones are, with random weights; returns the model that was saved."""
    if shared:
        both = shared_bpe()
        tokenizers, tie = Tokenizers(both, both), "all"
    else:
        tokenizers, tie = Tokenizers(english_bpe(), chinese_characters()), "target"
    sizes = {"source_vocab_size": len(tokenizers.source), "target_vocab_size": len(tokenizers.target)}
    shape = {"encoder_layers": 1, "decoder_layers": 2, "max_length": 600}
    made = model(torch.float32, **{**sizes, "tie": tie, **shape, **changes})
    last = made.decoder.norm if made.config.norm == "pre" else made.decoder.layers[-1].residual[2].norm
    last.bias += 2.2 * made.to_logits.weight[made.config.end]  # so that sentences end before long
    save(folder, weights(made), made.config, tokenizers)
    (folder / "card.toml").write_text('source = "en"\ntarget = "fr"\n[data]\nname = "sentences of the tests"\n', encoding="utf-8")
    return made


def save_language_model(folder: Path, **changes: Any) -> DecoderOnly:
    """A checkpoint folder of a decoder-only model with random weights; returns the model that was saved."""
    tokenizer = english_bpe()
    size = len(tokenizer)
    shape = {"source_vocab_size": size, "target_vocab_size": size, "decoder_layers": 2, "max_length": 600}
    made = language_model(torch.float32, **{**shape, **changes})
    made.decoder.norm.bias += 1.6 * made.to_logits.weight[made.config.end]  # so that sentences end before long
    save(folder, weights(made), made.config, Tokenizers(tokenizer, tokenizer))
    (folder / "card.toml").write_text('language = "en"\n[data]\nname = "sentences of the tests"\n', encoding="utf-8")
    return made
