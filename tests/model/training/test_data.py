"""From files to batches: what is read, what is linked, what is padded, and the same order wherever a run was stopped."""

import itertools
from collections import Counter
from pathlib import Path

import pytest
import torch

from model.tokenizer import END, PADDING, START
from model.training.data import Batches, Example, collate, examples, read_pairs
from tests.model import tiny
from tests.model.training import task

ONE, TWO = Example((5, 6), (7, 8, 9), ((0, 1), (2, 0))), Example((4,), (6,), ((0, 0),))


class TestReadPairs:
    def test_two_columns_of_several_files(self, tmp_path: Path) -> None:
        (tmp_path / "a.tsv").write_bytes('\ufeffHello.\tBonjour.\tCC-BY\r\n"Yes"\t« Oui »\n'.encode())
        (tmp_path / "b.tsv").write_bytes("a\u2028b\u0085c\tx".encode())
        expected = [("Hello.", "Bonjour."), ('"Yes"', "« Oui »"), ("a\u2028b\u0085c", "x")]
        assert read_pairs([tmp_path / "a.tsv", tmp_path / "b.tsv"]) == expected

    @pytest.mark.parametrize("line", ["only one column", "\tno source", "no target\t ", ""])
    def test_an_incomplete_line_is_named(self, tmp_path: Path, line: str) -> None:
        (tmp_path / "a.tsv").write_text(f"a\tb\n{line}\nc\td\n", encoding="utf-8")
        with pytest.raises(ValueError, match=r"a\.tsv, line 2: needed is source, tab, target; found"):
            read_pairs([tmp_path / "a.tsv"])

    def test_an_empty_file_is_named(self, tmp_path: Path) -> None:
        (tmp_path / "a.tsv").write_text("", encoding="utf-8")
        with pytest.raises(ValueError, match=r"no sentence pairs in .*a\.tsv; needed are lines of source, tab, target"):
            read_pairs([tmp_path / "a.tsv"])


class TestExamples:
    def test_ids_are_those_of_the_tokenizers(self) -> None:
        both = tiny.shared_bpe()
        pairs = list(zip(tiny.ENGLISH, tiny.FRENCH, strict=True))
        made = examples(pairs, both, both)
        assert [both.decode(example.source) for example in made] == list(tiny.ENGLISH)
        assert [both.decode(example.target) for example in made] == list(tiny.FRENCH)

    def test_links_between_words_become_links_between_their_pieces(self, tmp_path: Path) -> None:
        both = tiny.shared_bpe()
        (tmp_path / "links").write_text("0-0 1p2 1-3\n", encoding="utf-8")
        (made,) = examples([("The cafe", "L' a zaza")], both, both, tmp_path / "links")
        source, target = both.encode("The cafe"), both.encode("L' a zaza")
        linked = {(target[t].text, source[s].text) for t, s in made.links}
        the = {token.text for token in source if token.span[1] <= 3}
        cafe = {token.text for token in source if token.span[0] >= 4}
        assert {s for t, s in linked if t == "L"} == the  # word 0 of the target is L'
        assert {s for t, s in linked if t == "a"} >= cafe  # its word 1, a, has no link, but pieces of zaza are named a, too
        assert all(target[t].span[0] != 3 for t, _ in made.links)
        assert len(made.links) == len([t for t in target if t.span[1] <= 2]) * len(the) + len(
            [t for t in target if t.span[0] >= 5]
        ) * len(cafe)

    def test_one_line_of_links_for_each_pair(self, tmp_path: Path) -> None:
        (tmp_path / "links").write_text("0-0\n0-0\n", encoding="utf-8")
        with pytest.raises(ValueError, match=r"links has 2 lines for 1 pairs; it needs one line a pair"):
            examples([("a", "b")], tiny.shared_bpe(), tiny.shared_bpe(), tmp_path / "links")


class TestCollate:
    def test_shifted_right_padded_on_the_right_and_ended(self) -> None:
        batch = collate([ONE, TWO])
        assert batch.source.tolist() == [[5, 6, END], [4, END, PADDING]]
        assert batch.target.tolist() == [[START, 7, 8, 9], [START, 6, PADDING, PADDING]]
        assert batch.produced.tolist() == [[7, 8, 9, END], [6, END, PADDING, PADDING]]
        assert batch.links is None

    def test_links_stand_on_the_row_that_produces_and_one_later_on_the_row_that_reads(self) -> None:
        batch = collate([ONE, TWO], guided=True)
        produced = {tuple(place) for place in batch.links_of("produced").nonzero().tolist()}
        read = {tuple(place) for place in batch.links_of("read").nonzero().tolist()}
        assert produced == {(0, 0, 1), (0, 2, 0), (1, 0, 0)}
        assert read == {(sentence, row + 1, key) for sentence, row, key in produced}
        for sentence, row, _ in produced:  # the row that reads a word comes after the row that produces it
            assert batch.produced[sentence, row] == batch.target[sentence, row + 1]

    def test_without_links(self) -> None:
        batch = collate([Example((5,), (6,))], guided=True)
        assert not batch.links_of("read").any()
        with pytest.raises(ValueError, match="guided heads need links; give --guide"):
            collate([ONE]).links_of("produced")

    def test_joined_pairs_keep_their_links(self) -> None:
        joined = ONE + TWO
        assert joined.source == (5, 6, 4)
        assert joined.target == (7, 8, 9, 6)
        assert joined.links == ((0, 1), (2, 0), (3, 2))


class TestBatches:
    def batches(self, seed: int = 1, join: float = 0.0) -> Batches:
        return Batches(task.examples(60), 40, seed, join)

    def test_every_pair_once_in_every_pass(self) -> None:
        expected = Counter(task.examples(60))
        for epoch in range(3):
            assert Counter(itertools.chain(*self.batches().epoch(epoch))) == expected
        joined = list(itertools.chain(*self.batches(join=0.5).epoch(0)))
        assert len(joined) < 60
        assert sum(len(example.target) for example in joined) == sum(len(example.target) for example in task.examples(60))

    def test_no_batch_is_larger_than_allowed_unless_one_pair_is(self) -> None:
        sizes = [collate(batch).produced.numel() for batch in self.batches().epoch(0)]
        assert max(sizes) <= 40
        long = Example(tuple(range(4, 60)), tuple(range(4, 60)))
        assert [long] in Batches([*task.examples(9), long], 40, 1).epoch(0)

    def test_pairs_of_a_batch_are_of_similar_length(self) -> None:
        padding = sum(int((collate(batch).produced == PADDING).sum()) for batch in self.batches().epoch(0))
        total = sum(collate(batch).produced.numel() for batch in self.batches().epoch(0))
        assert padding / total < 0.1

    def test_one_seed_one_order(self) -> None:
        first, again, other = (list(itertools.islice(self.batches(seed).stream(), 40)) for seed in (1, 1, 2))
        assert first == again
        assert first != other
        assert self.batches().epoch(0) != self.batches().epoch(1)

    @pytest.mark.parametrize("join", [0.0, 0.3])
    def test_it_goes_on_from_any_place(self, join: float) -> None:
        whole = list(itertools.islice(self.batches(join=join).stream(), 40))
        assert whole[-1][0] >= 2, "two passes and more"
        for start in (0, 1, 13, 25, 38):
            epoch, index, _ = whole[start]
            assert list(itertools.islice(self.batches(join=join).stream(epoch, index), 40 - start)) == whole[start:]

    def test_after_the_last_batch_of_a_pass_comes_the_next(self) -> None:
        count = len(self.batches().epoch(0))
        assert next(self.batches().stream(0, count))[:2] == (1, 0)

    def test_random_numbers_of_others_are_left_alone(self) -> None:
        torch.manual_seed(1)
        before = torch.get_rng_state()
        next(self.batches().stream())
        assert torch.equal(torch.get_rng_state(), before)
