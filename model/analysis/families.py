"""Encoder-decoder and decoder-only on one text: who may read whom, what both cost, and what a language model makes of a task.

A language model's trace has one sentence: the start token, the prompt, and what was written on.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean

import torch
from jaxtyping import Bool
from torch import Tensor

from model import attention_mask, cost
from model.analysis.what_if import masked_with
from model.config import ModelConfig
from model.trace import Trace, tracing
from model.translator import LanguageModel, Translator

PROMPTS = ("half", "open", "whole", "task")
MASKS = ("causal", "prefix", "off")
TASKS = ("Translate into {language}: {sentence}", "{sentence} In {language}:", "English: {sentence} {language}:")
LANGUAGES = {"fr": "French", "zh": "Chinese", "en": "English"}
MARKS = ".!?…。！？ "


# ----- who may read whom


def allowed(trace: Trace, attention: str) -> Bool[Tensor, "query key"]:
    """The mask that was on in this attention, read off its recorded masked scores: minus infinity is hidden."""
    return trace[f"{attention}.masked"].tensor[0, 0] > -torch.inf


def prefix_mask(prefix: int, length: int) -> Bool[Tensor, "query key"]:
    """The mask of a prefix language model: the first `prefix` positions see one another both ways, the rest is causal."""
    if not 0 <= prefix <= length:
        raise ValueError(f"prefix={prefix} does not lie in a sequence of length={length}; give 0 to {length}")
    return attention_mask.causal(length) | (torch.arange(length) < prefix)


# ----- what the language model is given


def prompt(text: str, kind: str, language: str = "French") -> str:
    """What a language model reads of a sentence.

    "half": its first half, in words; "open": all but the marks at its end, if more than marks is left; "whole"; "task": a
    request to translate it.
    """
    if kind not in PROMPTS:
        raise ValueError(f"prompt {kind!r} is not known; choose one of {', '.join(PROMPTS)}")
    words = text.split()
    if kind == "half":
        return " ".join(words[: (len(words) + 1) // 2])
    if kind == "task":
        return TASKS[0].format(language=language, sentence=text)
    return text.rstrip(MARKS) or text if kind == "open" else text


def language_to_ask(languages: Sequence[str], own: str) -> str:
    """The language of a translator that is not the language model's own: a translation out of it into itself is no request."""
    return LANGUAGES.get(next((name for name in reversed(languages) if name != own), ""), "French")


@dataclass(frozen=True)
class Continued:
    """A prompt, and what the model wrote after it."""

    prompt: str
    text: str
    ended: bool


def continued(atlas: LanguageModel, sentence: str, language: str) -> tuple[Continued, ...]:
    """What the language model writes after the sentence put as a request to translate, in each of the `TASKS`."""
    prompts = [task.format(language=language, sentence=sentence) for task in TASKS]
    found = [atlas.generate(given) for given in prompts]
    return tuple(
        Continued(given, generation.text, generation.stopped == "end") for given, generation in zip(prompts, found, strict=True)
    )


@dataclass(frozen=True)
class Asked:
    """How likely a translation is, in nats a character of it, the end token left out.

    `translator`: to the model that reads the source; `asked`: to the language model after the request with this sentence;
    `other`: after the same request with another sentence; `alone`: with nothing before it. `unknown` counts the pieces of the
    translations that the language model's vocabulary has no id for (a piece is then only foretold to be unknown), of `pieces`.
    """

    sentences: int
    translator: float
    asked: float
    other: float
    alone: float
    unknown: int
    pieces: int


def asked(atlas: LanguageModel, translator: Translator, sentences: Sequence[str], language: str) -> Asked:
    """Whether a request to translate makes the translation likelier to the language model: over all sentences together."""
    sums = dict.fromkeys(("translator", "asked", "other", "alone"), 0.0)
    characters = unknown = pieces = 0
    for at, sentence in enumerate(sentences):
        written = translator.trace(sentence)
        if not (target := written.target_text):
            continue
        other = sentences[(at + 1) % len(sentences)]
        sums["translator"] -= sum(written.log_probabilities[:-1])
        for name, given in (("asked", prompt(sentence, "task", language)), ("other", prompt(other, "task", language))):
            sums[name] -= _after(atlas.trace(given, target), len(given))
        alone = atlas.trace("", target)
        sums["alone"] -= _after(alone, 0)
        unknown += sum(token.unknown for token in alone.produced)
        pieces += len(alone.produced) - 1
        characters += len(target)
    means = {name: total / max(1, characters) for name, total in sums.items()}
    return Asked(len(sentences), **means, unknown=unknown, pieces=pieces)


def _after(trace: Trace, place: int) -> float:
    """The log-probability of the tokens that begin at or after this character, the end token left out."""
    pairs = zip(trace.produced[:-1], trace.log_probabilities[:-1], strict=True)
    return sum(value for token, value in pairs if token.span[0] >= place)


# ----- another mask on the language model


@dataclass(frozen=True)
class Masked:
    """Losses of true next tokens, in nats a token, over the second halves of the sentences.

    Under the model's own causal mask, under one that lets the first half see itself both ways, and with no mask at all.
    `likeliest` is the share of these tokens that the model finds likeliest, by mask.
    """

    sentences: int
    tokens: int
    loss: dict[str, float]
    likeliest: dict[str, float]


def masked(atlas: LanguageModel, sentences: Sequence[str]) -> Masked:
    """Forced passes over whole sentences, token for token, under each of the `MASKS`, in every layer."""
    losses: dict[str, list[float]] = {kind: [] for kind in MASKS}
    hits: dict[str, list[bool]] = {kind: [] for kind in MASKS}
    for sentence in sentences:
        trace = atlas.trace(sentence, "")
        half = (len(trace.target) + 1) // 2
        for kind in MASKS:
            values, likeliest = under(atlas, trace, mask_of(kind, half, len(trace.target)))
            losses[kind] += [-value for value in values[half - 1 :]]
            hits[kind] += likeliest[half - 1 :]
    return Masked(
        sentences=len(sentences),
        tokens=len(losses["causal"]),
        loss={kind: fmean(values) if values else 0.0 for kind, values in losses.items()},
        likeliest={kind: fmean(values) if values else 0.0 for kind, values in hits.items()},
    )


def mask_of(kind: str, prefix: int, length: int) -> Bool[Tensor, "query key"]:
    """One of the `MASKS` over a sequence whose first `prefix` tokens were given."""
    if kind == "off":
        return torch.ones(length, length, dtype=torch.bool)
    return prefix_mask(prefix if kind == "prefix" else 0, length)


def under(atlas: LanguageModel, trace: Trace, mask: Bool[Tensor, "query key"]) -> tuple[list[float], list[bool]]:
    """The log-probability of each produced token of a trace under another mask, and whether it is the likeliest there."""
    paths = [f"decoder.layers.{layer}.self_attention" for layer in range(atlas.config.decoder_layers)]
    read, produced = (
        torch.tensor([[token.id for token in side]], device=atlas.device) for side in (trace.target, trace.produced)
    )
    with torch.inference_mode(), tracing(masked_with(paths, mask), frozenset()):
        scores = atlas.model(read)[0].double().log_softmax(dim=-1)
    return scores.gather(1, produced.mT)[:, 0].tolist(), (scores.argmax(dim=-1) == produced[0]).tolist()


# ----- what both cost


@dataclass(frozen=True)
class Costs:
    """What one model of a shape costs for a source and a target of these lengths; operations and float32 bytes.

    `once` is spent on the source before anything is written, `token` on the last written token with a cache, `whole` on one
    forced pass; `weights` are the bytes of all attention weights of that pass, `cache` those of all keys and values kept.
    """

    parameters: int
    once: int
    token: int
    whole: int
    weights: int
    cache: int


def costs(config: ModelConfig, source: int, target: int) -> Costs:
    """The formulas of `model.cost`; the target's tokens are those that are read, the start token among them."""
    if config.family == "decoder-only":
        weights = config.decoder_layers * cost.attention_bytes(config, source + target, source + target)
    else:
        weights = config.encoder_layers * cost.attention_bytes(config, source, source)
        weights += config.decoder_layers * cost.attention_bytes(config, target, target + source)
    return Costs(
        parameters=cost.parameters(config),
        once=cost.flops_of_source(config, source),
        token=cost.flops_of_token(config, source, target),
        whole=cost.flops(config, source, target),
        weights=weights,
        cache=cost.cache_bytes(config, source, target),
    )


def of_equal_size(config: ModelConfig) -> ModelConfig:
    """The decoder-only model of the same width and vocabulary whose number of layers brings it nearest in parameters."""
    whole = cost.parameters(config)
    alone = replace(
        config,
        family="decoder-only",
        encoder_layers=0,
        decoder_layers=1,
        source_vocab_size=config.target_vocab_size,
        tie="target",
    )
    one, two = (cost.parameters(replace(alone, decoder_layers=layers)) for layers in (1, 2))
    return replace(alone, decoder_layers=max(1, 1 + round((whole - one) / (two - one))))
