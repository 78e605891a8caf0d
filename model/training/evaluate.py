"""How good a model is: loss on held-out pairs or sentences, BLEU and chrF against every reference of a sentence."""

from collections.abc import Sequence
from typing import Any

import torch
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from model.checkpoint import Tokenizers
from model.decoding import greedy
from model.tokenizer import END, PADDING, START
from model.training.data import Example, collate, pad
from model.training.loss import summed_cross_entropy
from model.transformer import DecoderOnly, EncoderDecoder


@torch.inference_mode()
def loss(model: EncoderDecoder | DecoderOnly, examples: Sequence[Example], batch: int = 64) -> float:
    """Unsmoothed cross-entropy per target token, in nats, dropout off."""
    model.eval()
    ordered = sorted(examples, key=lambda example: len(example.target))
    total, count = 0.0, 0
    for at in range(0, len(ordered), batch):
        part = collate(ordered[at : at + batch], device=device_of(model))
        total += float(summed_cross_entropy(part.logits(model), part.produced, 0.0, PADDING))
        count += int((part.produced != PADDING).sum())
    return total / count


def translate(model: EncoderDecoder, tokenizers: Tokenizers, sentences: Sequence[str], batch: int = 64) -> list[str]:
    """Greedy translations, in the order given, computed in batches of similar length."""
    model.eval()
    ids = tokenizers.source.ids(sentences)
    order = sorted(range(len(sentences)), key=lambda index: len(ids[index]))
    result = [""] * len(sentences)
    for at in range(0, len(order), batch):
        chosen = order[at : at + batch]
        source = pad([(*ids[index], END) for index in chosen]).to(device_of(model))
        for index, hypothesis in zip(chosen, greedy(model, source, source != PADDING), strict=True):
            result[index] = tokenizers.target.decode(hypothesis.ids)
    return result


def write_on(model: DecoderOnly, tokenizers: Tokenizers, prompt: str, limit: int = 30) -> str:
    """The prompt with its greedy continuation."""
    model.eval()
    ids = torch.tensor([[START, *tokenizers.target.ids([prompt])[0]]], device=device_of(model))
    return tokenizers.target.decode(greedy(model, ids, limit=limit)[0].ids, after=prompt)


def device_of(model: EncoderDecoder | DecoderOnly) -> torch.device:
    return next(model.parameters()).device


def references(pairs: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
    """All translations of each source sentence."""
    grouped: dict[str, list[str]] = {}
    for source, target in pairs:
        grouped.setdefault(source, []).append(target)
    return grouped


def score(outputs: Sequence[str], of_each: Sequence[Sequence[str]], language: str) -> tuple[float, float]:
    """Corpus BLEU and chrF (sacrebleu), each output against all of its references; Chinese by character."""
    most = max(map(len, of_each))
    # sacrebleu takes None where a sentence has fewer references, though its types do not say so.
    streams: list[list[Any]] = [[refs[k] if k < len(refs) else None for refs in of_each] for k in range(most)]
    bleu = BLEU(tokenize="zh" if language == "zh" else "13a")
    return bleu.corpus_score(list(outputs), streams).score, CHRF().corpus_score(list(outputs), streams).score
