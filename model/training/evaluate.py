"""How good a model is: loss on held-out pairs, BLEU and chrF against every reference of a sentence."""

from collections.abc import Sequence
from typing import Any

import torch
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from model.checkpoint import Tokenizers
from model.decoding import greedy
from model.tokenizer import END, PADDING
from model.training.data import Example, collate, pad
from model.training.loss import summed_cross_entropy
from model.transformer import EncoderDecoder


@torch.inference_mode()
def loss(model: EncoderDecoder, examples: Sequence[Example], batch: int = 64) -> float:
    """Unsmoothed cross-entropy per target token, in nats, dropout off."""
    model.eval()
    ordered = sorted(examples, key=lambda example: len(example.target))
    total, count = 0.0, 0
    for at in range(0, len(ordered), batch):
        part = collate(ordered[at : at + batch], device=device_of(model))
        logits = model(part.source, part.target, part.source != PADDING, part.target != PADDING)
        total += float(summed_cross_entropy(logits, part.produced, 0.0, PADDING))
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


def device_of(model: EncoderDecoder) -> torch.device:
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
