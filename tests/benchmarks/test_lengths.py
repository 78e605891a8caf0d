"""Texts of several sentences: each sentence once, its translations joined with those of its neighbours."""

import math

import model
from benchmarks import lengths

REFERENCES = {
    "I love you.": ["Je t'aime.", "Je vous aime."],
    "Go!": ["Va !"],
    "Thank you.": ["Merci."],
}


def test_every_sentence_is_in_one_text_and_translations_are_joined_in_step() -> None:
    first, second = lengths.texts_of(REFERENCES, 1)[0], lengths.texts_of(REFERENCES, 2)
    assert first == lengths.Text("I love you.", ("Je t'aime.", "Je vous aime."))
    assert second == [lengths.Text("I love you. Go!", ("Je t'aime. Va !", "Je vous aime. Va !"))]
    assert lengths.texts_of(REFERENCES, 3)[0].source == "I love you. Go! Thank you."


def test_the_loss_is_that_of_a_forced_pass_and_the_tokens_are_those_the_encoder_reads() -> None:
    atlas = model.load("en-fr")
    found = lengths.measure(atlas, REFERENCES, 2)
    trace = atlas.trace("I love you. Go!", "Je t'aime. Va !")
    assert (found.sentences, found.texts, found.tokens) == (2, 1, len(trace.source))
    assert math.isclose(found.loss, -sum(trace.log_probabilities) / len(trace.produced), rel_tol=1e-4)
    assert 0 <= found.bleu <= 100
