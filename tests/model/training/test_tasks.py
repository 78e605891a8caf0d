"""The tasks are what they say: links are exact, held-out pairs stay out, one seed gives one set of pairs."""

import itertools
import random
import re
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.training import toy_language
from model.training.data import collate
from model.training.tasks import HELD_OUT, MONTHS, TASKS, Pair, Task, examples, is_held_out
from model.training.toy_language import ADJECTIVES, AND, ARTICLES, NOUNS, OBJECT, SUBJECT, VERBS

EVERY = pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
CONTENT = {**NOUNS, **VERBS, **ADJECTIVES, AND[0]: AND[1]}


def first(task: Task, count: int, seed: int = 1, **kind: object) -> list[Pair]:
    return list(itertools.islice(task.pairs(seed, **kind), count))  # type: ignore[arg-type]


@EVERY
def test_links_join_tokens_and_every_token_is_known(task: Task) -> None:
    for pair in first(task, 200):
        source, target = task.tokenizers.source.encode(pair.source), task.tokenizers.target.encode(pair.target)
        assert not any(token.unknown for token in (*source, *target)), pair
        assert pair.links
        assert all(0 <= s < len(source) and 0 <= t < len(target) for s, t in pair.links)
        assert task.tokenizers.target.decode(token.id for token in target) == pair.target
        if task.one_to_one:
            assert len({s for s, _ in pair.links}) == len({t for _, t in pair.links}) == len(pair.links)


@EVERY
def test_one_seed_gives_one_set_and_held_out_pairs_are_in_no_training(task: Task) -> None:
    assert first(task, 50, seed=3) == first(task, 50, seed=3) != first(task, 50, seed=4)
    seen = {pair.source for seed in (1, 2) for pair in first(task, 400, seed=seed)}
    held = {pair.source for pair in first(task, 100, part="held out")}
    assert not seen & held
    assert all(map(is_held_out, held))


def test_about_a_tenth_is_held_out() -> None:
    assert sum(is_held_out(str(number)) for number in range(2000)) == pytest.approx(2000 * HELD_OUT, rel=0.2)


@EVERY
def test_sources_are_as_long_as_asked(task: Task) -> None:
    for lengths in filter(None, (None, task.longer)):
        shortest, longest = lengths or task.lengths
        found = {len(task.tokenizers.source.encode(pair.source)) for pair in first(task, 100, lengths=lengths)}
        assert shortest <= min(found) <= max(found) <= longest
    if task.longer:
        assert task.longer[0] > task.lengths[1]


@EVERY
def test_distinct_pairs_are_distinct(task: Task) -> None:
    found = task.distinct(60, seed=5)
    assert len({pair.source for pair in found}) == len(found) == 60


def test_where_there_are_no_more_pairs_fewer_are_found() -> None:
    assert 10 < len(TASKS["copy"].distinct(100, seed=1, lengths=(1, 1))) < 17, "sixteen letters are all there is"


@EVERY
def test_examples_carry_the_links_of_the_rows_that_produce(task: Task) -> None:
    pairs = first(task, 5)
    batch = collate(examples(pairs, task.tokenizers), guided=True)
    assert batch.links is not None
    for row, pair in enumerate(pairs):
        assert {(int(s), int(t)) for t, s in batch.links[row].nonzero()} == pair.links


@settings(deadline=None, max_examples=100)
@given(seed=st.integers(0, 10**6), shortest=st.integers(5, 14), more=st.integers(0, 8))
def test_the_toy_language_by_its_grammar(seed: int, shortest: int, more: int) -> None:
    """An independent reading of the rules: twins are linked; the target has subject, object, verb; adjectives follow nouns."""
    made = toy_language.draw(random.Random(seed), shortest, shortest + more + 6)
    assert all(made.target[t] == CONTENT[made.source[s]] for s, t in made.links)
    assert {s for s, _ in made.links} == {s for s, word in enumerate(made.source) if word not in ARTICLES}
    assert {t for _, t in made.links} == {t for t, word in enumerate(made.target) if word not in (SUBJECT, OBJECT)}
    noun, adjective, verb = ("|".join(words.values()) for words in (NOUNS, ADJECTIVES, VERBS))
    phrase = rf"(?:{noun})(?: (?:{adjective}))*"
    clause = rf"{phrase} {SUBJECT} {phrase} {OBJECT} (?:{verb})"
    assert re.fullmatch(rf"{clause}(?: {AND[1]} {clause})*", " ".join(made.target))


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 10**6), wrong=st.integers(0, 40), word=st.sampled_from(["the", "cat", "red", "sees", "and", "fly"]))
def test_what_is_drawn_can_be_read_and_what_is_read_is_a_sentence(seed: int, wrong: int, word: str) -> None:
    made = toy_language.draw(random.Random(seed), 5, 14)
    assert toy_language.read(made.source) == made
    changed = list(made.source)
    changed[wrong % len(changed)] = word
    again = toy_language.read(changed)
    assert again is None or again.source == tuple(changed)
    assert toy_language.read(made.source[:-1]) is None
    assert toy_language.read([]) is None


def test_words_of_the_toy_language_are_told_apart() -> None:
    words = [*CONTENT.values(), SUBJECT, OBJECT]
    assert len(set(words)) == len(words) == len(CONTENT) + 2


def test_a_sentence_worked_out_by_hand() -> None:
    made = toy_language.clause(
        toy_language.NounPhrase("the", ("small", "red"), "cat"), "sees", toy_language.NounPhrase("a", (), "dog")
    )
    assert made.target == ("miru", "toba", "nima", "ka", "velo", "no", "dase")
    assert made.links == {(3, 0), (2, 1), (1, 2), (6, 4), (4, 6)}


def test_dates_are_dates_and_their_links_point_at_what_says_them() -> None:
    for pair in first(TASKS["dates"], 200):
        found, letters = date.fromisoformat(pair.target), pair.source.replace(" ", "")
        linked = {t: "".join(letters[s] for s, other in sorted(pair.links) if other == t) for t in range(10)}
        assert [linked[t] for t in range(4)] == list(pair.target[:4])
        assert linked[4] == linked[7] == ""
        assert linked[5] == linked[6]
        assert MONTHS[found.month - 1].startswith(linked[5]) or linked[5] == str(found.month)
        assert linked[8] == linked[9] == str(found.day)
