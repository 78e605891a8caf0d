"""Loss by hand, translations in order, BLEU and chrF against several references."""

import pytest
import torch

from model import Translator
from model.training import evaluate
from tests.model import tiny
from tests.model.training import task


def test_loss_is_the_unsmoothed_cross_entropy_per_token() -> None:
    model, pairs = task.model(torch.float64).eval().requires_grad_(False), task.examples(7)
    total, count = 0.0, 0
    for pair in pairs:
        source, target = torch.tensor([[*pair.source, 2]]), torch.tensor([[1, *pair.target]])
        rows = model(source, target)[0].log_softmax(dim=-1)
        for row, produced in zip(rows, (*pair.target, 2), strict=True):
            total, count = total - float(row[produced]), count + 1
    assert evaluate.loss(model, pairs, batch=3) == pytest.approx(total / count, rel=1e-9)


def test_evaluating_switches_dropout_off() -> None:
    model, pairs = task.model(dropout=0.5).train(), task.examples(7)
    assert evaluate.loss(model, pairs) == evaluate.loss(model.train(), pairs)


@pytest.mark.usefixtures("quick")
def test_translations_come_in_the_order_asked_for(shared: Translator) -> None:
    sentences = [*tiny.ENGLISH, "I"]
    together = evaluate.translate(shared.model, shared.tokenizers, sentences, batch=3)
    alone = [evaluate.translate(shared.model, shared.tokenizers, [sentence])[0] for sentence in sentences]
    assert len(together) == len(sentences)
    assert len(set(alone)) > 3
    for one, other in zip(together, alone, strict=True):
        assert one.startswith(other)  # where no end comes, the limit is that of the longest sentence of a batch


def test_references_of_a_sentence_are_gathered() -> None:
    pairs = [("Hi.", "Salut !"), ("Bye.", "Au revoir."), ("Hi.", "Salut.")]
    assert evaluate.references(pairs) == {"Hi.": ["Salut !", "Salut."], "Bye.": ["Au revoir."]}


class TestScore:
    def test_the_best_reference_counts(self) -> None:
        outputs = ["the cat sat on the mat today", "a dog ran home very fast"]
        references = [["nobody knows what this is", "the cat sat on the mat today"], ["a dog ran home very fast"]]
        bleu, chrf = evaluate.score(outputs, references, "en")
        assert bleu == pytest.approx(100)
        assert chrf == pytest.approx(100)
        worse, _ = evaluate.score(outputs, [references[0][:1], references[1]], "en")
        assert worse < 60

    def test_another_reference_never_hurts(self) -> None:
        outputs, one = ["the cat sat on a mat"], [["the cat is on the mat"]]
        both = [["the cat is on the mat", "a cat sat on a mat there"]]
        assert evaluate.score(outputs, both, "en")[0] > evaluate.score(outputs, one, "en")[0]

    def test_chinese_is_scored_by_character(self) -> None:
        outputs, references = ["他今天买了三本新书。"], [["他今天买了四本新书。"]]
        assert evaluate.score(outputs, references, "zh")[0] > 40
        assert evaluate.score(outputs, references, "en")[0] < 20
