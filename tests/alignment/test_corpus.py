"""Many pairs at once give what each gives alone, in the order of the pairs."""

import math
from collections.abc import Iterator

import numpy as np
import pytest
import torch

import model
from model import LanguageModel, TextError, Translator
from model.alignment import extract, joint
from model.alignment.choices import default_choice, of_card
from model.alignment.corpus import Aligned, Settings, align, translate_missing, weights_of
from model.alignment.extract import ROWS, Choice
from model.alignment.forced import batches, prepare
from model.alignment.symmetrize import symmetrize
from model.analysis import norms
from tests.model import tiny

pytestmark = pytest.mark.usefixtures("quick")

LONG = "I love you, and she read 12 books there."
PAIRS = [
    ("I love you.", "Je t'aime."),
    (LONG, "Elle les a lus."),
    ("café", "Où est le café ?"),
    ("Do you like the summer?", "Est-ce que tu aimes l'été ?"),
    ("you", "tu"),
]
SPLIT = Settings(split_punctuation=True)


def links_of(aligned: Aligned) -> set[tuple[int, int]]:
    return {(link.source, link.target) for link in aligned.links}


def test_links_are_those_of_each_trace_alone(translator: Translator) -> None:
    found = list(align(translator, PAIRS, SPLIT))
    assert [(one.index, one.source, one.target) for one in found] == [(i, *pair) for i, pair in enumerate(PAIRS)]
    for one in found:
        trace = translator.trace(one.source, one.target)
        alone = extract.of_trace(trace)
        assert links_of(one) == extract.links(alone, default_choice(translator))
        assert one.log_probability == pytest.approx(np.mean(trace.log_probabilities), abs=1e-5)
        for link in one.links:
            map_ = alone.at(default_choice(translator))
            assert link.weight == pytest.approx(float(map_[link.target, link.source]), abs=1e-6)


def test_every_choice_has_its_best_source_word(shared: Translator) -> None:
    (one,) = align(shared, [(LONG, "Elle les a lus.")], SPLIT)
    weights = extract.of_trace(shared.trace(one.source, one.target))
    assert one.best.dtype == np.int16
    for choice in weights.choices():
        head = one.best.shape[1] - 1 if choice.head is None else choice.head
        best = one.best[choice.layer, head, ROWS.index(choice.row)].tolist()
        assert {(source, target) for target, source in enumerate(best) if source >= 0} == extract.links(weights, choice)


@pytest.mark.parametrize("measure", ["weights", "norms"])
def test_padding_and_company_change_nothing(translator: Translator, measure: str) -> None:
    settings = Settings(measure=measure, threshold=0.0, split_punctuation=True)  # type: ignore[arg-type]
    together = list(align(translator, PAIRS, settings, batch_tokens=10_000))
    for one, pair in zip(together, PAIRS, strict=True):
        (alone,) = align(translator, [pair], settings)
        assert [link[:2] for link in alone.links] == [link[:2] for link in one.links]
        np.testing.assert_allclose([link.weight for link in alone.links], [link.weight for link in one.links], atol=1e-6)
        np.testing.assert_array_equal(alone.best, one.best)
        assert alone.scores.confidence == pytest.approx(one.scores.confidence, abs=1e-5)
        assert alone.log_probability == pytest.approx(one.log_probability, abs=1e-5)


def test_norms_are_those_of_the_heads_page(shared: Translator) -> None:
    """||alpha f(x)|| as shares of a row, the last head being all heads together (Kobayashi et al. 2020)."""
    source, target = PAIRS[0]
    trace = shared.trace(source, target)
    paths = [f"decoder.layers.{layer}.cross_attention" for layer in range(2)]
    each = torch.stack([norms.added(shared, trace, path) for path in paths])
    together = norms.of_attention(shared, trace, "decoder.cross_attention")[:, None]
    shares = norms.shares(torch.cat([each, together], dim=1))
    labels = extract.label(trace)
    expected = extract.join_pieces(shares, labels.read, labels.source, labels.targets, labels.sources + 1)
    found = weights_of(shared, source, target, Settings(measure="norms", split_punctuation=True))
    torch.testing.assert_close(found.read.double(), expected, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(found.produced.sum(-1), torch.ones_like(found.produced[..., 0]), atol=1e-5, rtol=0)


def test_the_opened_pair_is_the_one_of_the_list(translator: Translator) -> None:
    alone = extract.of_trace(translator.trace(*PAIRS[3]))
    opened = weights_of(translator, *PAIRS[3], SPLIT)
    torch.testing.assert_close(opened.produced, alone.produced, atol=1e-6, rtol=0)
    torch.testing.assert_close(opened.read, alone.read, atol=1e-6, rtol=0)


def test_a_threshold_links_every_word_above_it(shared: Translator) -> None:
    choice = Choice(1, None, "produced")
    (one,) = align(shared, PAIRS[3:4], Settings(choice, threshold=0.1, split_punctuation=True))
    expected = extract.links_above(extract.of_trace(shared.trace(*PAIRS[3])), choice, threshold=0.1)
    assert links_of(one) == expected
    assert len({link.target for link in one.links}) < len(one.links)  # more than one for some word


def test_symmetrised_links_are_of_both_directions(shared: Translator) -> None:
    choice = default_choice(shared)
    for method in ("intersection", "grow-diag-final-and", "union"):
        settings = Settings(symmetrize=method, split_punctuation=True)
        for one in align(shared, PAIRS, settings, reverse=shared):
            forward = extract.of_trace(shared.trace(one.source, one.target)).at(choice)
            reverse = extract.of_trace(shared.trace(one.target, one.source))
            backward = {(i, j) for j, i in extract.links(reverse, choice)}
            there = extract.links(extract.of_trace(shared.trace(one.source, one.target)), choice)
            assert links_of(one) == symmetrize(there, backward, method)
            for i, j, weight in one.links:
                assert weight == pytest.approx((float(forward[j, i]) + float(reverse.at(choice)[i, j])) / 2, abs=1e-6)


def test_joint_links_are_those_of_the_mean_weights_of_all_guided_heads(shared: Translator) -> None:
    taught = [{"layer": 1, "head": 0, "row": "produced"}, {"layer": 1, "head": 2, "row": "read"}]
    guided = Translator(shared.name, shared.model, shared.tokenizers, {"guided": taught})
    choices = joint.guided(guided.card, default_choice(guided))
    assert len(choices) == 2
    for one in align(guided, PAIRS, Settings(symmetrize="joint", split_punctuation=True), reverse=guided):
        maps = []
        for texts in ((one.source, one.target), (one.target, one.source)):
            weights = extract.of_trace(guided.trace(*texts))
            maps.append(sum(weights.at(choice)[:, : weights.sources] for choice in choices).numpy() / 2)
        mean = joint.mean(*maps)
        assert links_of(one) == joint.links(mean)
        assert all(link.weight == pytest.approx(mean[link.target, link.source], abs=1e-6) for link in one.links)
    with pytest.raises(ValueError, match="has a threshold of its own"):
        Settings(symmetrize="joint", threshold=0.3)


def test_what_cannot_be_aligned_keeps_its_place_and_says_why(shared: Translator) -> None:
    too_long = "a " * 700
    pairs = [("", "Je t'aime."), PAIRS[0], (" \u00a0", ""), (too_long, "tu"), ("you", too_long)]
    found = list(align(shared, pairs))
    codes = [one.problem and one.problem.code for one in found]
    assert codes == ["empty_source", None, "empty_source", "source_too_long", "target_too_long"]
    assert found[3].problem is not None
    assert "701 tokens" in found[3].problem
    assert "takes 600" in found[3].problem
    assert all(one.links == () and math.isnan(one.scores.confidence) for one in found if one.problem)
    assert found[0].best.shape == (2, 5, 2, 2)
    assert (found[0].best == -1).all()
    assert len(found[3].source_words) == 700
    with pytest.raises(TextError, match="takes 600"):
        weights_of(shared, too_long, "tu")


def test_of_two_directions_the_message_names_the_side_of_the_pair(shared: Translator, characters: Translator) -> None:
    """Chinese characters are one token each in one model and many in the other."""
    text = "我" * 597 + " a b c d"
    (one,) = align(shared, [("you", text)], Settings(symmetrize="union"), reverse=characters)
    assert one.problem is not None
    assert one.problem.code == "target_too_long"


def test_pairs_stream(shared: Translator) -> None:
    """Nothing is read ahead of the window, and an endless stream is no trouble."""
    taken = 0

    def endless() -> Iterator[tuple[str, str]]:
        nonlocal taken
        while True:
            taken += 1
            yield PAIRS[taken % len(PAIRS)]

    rows = align(shared, endless(), window=16)
    found = [next(rows) for _ in range(30)]
    assert [one.index for one in found] == list(range(30))
    assert taken <= 30 + 16


def test_work_can_be_stopped_between_batches(shared: Translator) -> None:
    class StoppedError(Exception):
        pass

    calls: list[int] = []

    def between() -> None:
        calls.append(1)
        if len(calls) == 2:
            raise StoppedError

    rows = align(shared, PAIRS * 3, batch_tokens=30, window=50, between=between)
    with pytest.raises(StoppedError):
        list(rows)


def test_batches_hold_all_pairs_once_and_no_more_tokens_than_allowed(shared: Translator) -> None:
    ready = [prepare(shared, source, target, True) for source, target in PAIRS * 4]
    fine = [pair for pair in ready if not isinstance(pair, str)]
    made = list(batches(fine, 60))
    assert sorted(index for batch in made for index in batch) == list(range(len(fine)))
    for batch in made:
        widest = max(len(fine[i].source) for i in batch) + max(len(fine[i].target) for i in batch)
        assert len(batch) == 1 or len(batch) * widest <= 60


def test_sources_alone_are_translated_as_each_alone(translator: Translator) -> None:
    sources = [source for source, _ in PAIRS] + ["", "a " * 700]
    written = list(translate_missing(translator, sources))
    assert [pair.source for pair in written] == sources
    for pair in written[:-2]:
        assert pair.target == translator.translate(pair.source).text
    assert [pair.target for pair in written[-2:]] == ["", ""]


def test_the_head_of_the_card_is_the_default(shared: Translator) -> None:
    assert default_choice(shared) == Choice(1, None, "produced")  # its card names none: the mean of the middle layer
    chosen = {"alignment": {"chosen": {"layer": 1, "head": 2, "row": "read"}}, "guided": [{"layer": 0, "head": 0, "row": "read"}]}
    assert of_card(chosen) == (Choice(1, 2, "read"), "chosen")
    assert of_card({"guided": chosen["guided"]}) == (Choice(0, 0, "read"), "guided")
    assert of_card({"exact": {"layer": 1, "head": "mean", "row": "produced"}}) == (Choice(1, None, "produced"), "exact")
    assert default_choice(model.load("en-fr", "cpu")) == Choice(1, 1, "read")  # type: ignore[arg-type]


def test_the_shipped_model_aligns_what_everybody_can_check() -> None:
    atlas = model.load("en-fr", "cpu")
    assert isinstance(atlas, Translator)
    (one,) = align(atlas, [("The red car is here.", "La voiture rouge est ici.")], SPLIT)
    assert {(0, 0), (1, 2), (2, 1), (3, 3), (4, 4)} <= links_of(one)
    assert one.scores.confidence_percent > 80


def test_wrong_settings_say_what_to_choose(shared: Translator, tmp_path_factory: pytest.TempPathFactory) -> None:
    for wrong, needed in (
        ({"measure": "gradient"}, "weights, norms"),
        ({"threshold": 1.5}, "below 1"),
        ({"symmetrize": "both"}, "intersection, union"),
    ):
        with pytest.raises(ValueError, match=needed):
            Settings(**wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="layers 0 to 1, heads 0 to 3"):
        list(align(shared, PAIRS, Settings(Choice(2, 0, "read"))))
    with pytest.raises(ValueError, match="reverse model"):
        list(align(shared, PAIRS, Settings(symmetrize="union")))
    folder = tmp_path_factory.mktemp("models") / "writer"
    tiny.save_language_model(folder)
    writer = model.load(folder)
    assert isinstance(writer, LanguageModel)
    with pytest.raises(ValueError, match="writer is a language model: it has no cross-attention"):
        list(align(writer, PAIRS))  # type: ignore[arg-type]
