"""Files of links: each format read by its bytes, written and read back; what is wrong in them is told and the rest counts."""

import io
import json
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.alignment.formats.link_detection import LINK_FORMATS
from model.alignment.formats.link_tables import Written
from model.alignment.formats.link_writing import write_alignments
from model.alignment.formats.links import GoldLinks, read_alignments
from model.alignment.formats.problem import FormatError
from model.alignment.metrics import alignment_error_rate
from model.alignment.pharaoh import Link

CAR = [("the red car", "la voiture rouge")]
PAIRS = [*CAR, ("I do not know", "je ne sais pas")]
CROSSING = {(0, 0), (1, 2), (2, 1)}

Row = tuple[set[Link], set[Link]]


def read(content: bytes, **options: object) -> tuple[list[GoldLinks], list[str]]:
    """The rows, and the codes of what was told."""
    found = read_alignments(io.BytesIO(content), **options)  # type: ignore[arg-type]
    return list(found.rows), [problem.message.code for problem in found.problems]


def certain(*links: Link) -> GoldLinks:
    return GoldLinks(frozenset(links), frozenset(links))


def test_pharaoh_joins_words_across_and_many_to_many() -> None:
    rows, told = read(b"0-0 1-2 2-1\n0-0 1-1 2-1 1-3 2-3 3-2\n", pairs=PAIRS)
    assert rows == [certain(*CROSSING), certain((0, 0), (1, 1), (2, 1), (1, 3), (2, 3), (3, 2))]
    assert told == []
    source, target = (side.split() for side in PAIRS[0])
    assert {(source[i], target[j]) for i, j in rows[0].sure} == {("the", "la"), ("red", "rouge"), ("car", "voiture")}


def test_reading_the_target_first_is_asked_for_and_hinted_at() -> None:
    pairs = [("a b", "a b c d e")]
    rows, told = read(b"0-0 4-1 3-0\n", pairs=pairs)
    assert rows == [certain((0, 0))]
    assert told == ["links_outside", "links_perhaps_reversed"]
    rows, told = read(b"0-0 4-1 3-0\n", pairs=pairs, reverse=True)
    assert (rows, told) == ([certain((0, 0), (1, 4), (0, 3))], [])


@pytest.mark.parametrize("line", [b"0-0 1-2 2p1 2p2\n", b"0-0 1-2 2?1 2?2\r\n", b"\xef\xbb\xbf2p2 0-0 1-2 2p1"])
def test_possible_links_are_told_from_sure_ones(line: bytes) -> None:
    rows, _ = read(line, pairs=CAR)
    assert rows == [GoldLinks(frozenset({(0, 0), (1, 2)}), frozenset({(0, 0), (1, 2), (2, 1), (2, 2)}))]
    (hypothesis,), _ = read(b"0-0 1-2 2-1\n", pairs=CAR)
    assert alignment_error_rate(hypothesis.sure, *rows[0]) == 0


def test_naacl_sentences_null_links_and_missing_marks() -> None:
    found = read_alignments(io.BytesIO(b"0001 1 1 S\n0001 2 3 S\n0001 3 2 P\n0001 0 4 S\n0002 1 1\n0002 2 2 P\n"))
    rows = list(found.rows)
    assert (found.format, found.base) == ("naacl", 1)
    assert rows[0] == (frozenset({(0, 0), (1, 2)}), frozenset(CROSSING))
    assert rows[1] == (frozenset({(0, 0)}), frozenset({(0, 0), (1, 1)}))
    assert found.null_links == 1
    assert [(line, message.code, message.values["count"]) for line, message in found.problems] == [(None, "links_to_nothing", 1)]


def test_naacl_with_confidence_skipped_sentences_and_another_order() -> None:
    rows, told = read(b"3 1 1 S 0.5\n1 2 2 0.25\n\n3 2 2 p\n")
    assert rows == [certain((1, 1)), certain(), GoldLinks(frozenset({(0, 0)}), frozenset({(0, 0), (1, 1)}))]
    assert told == ["links_skipped"]
    weights = [row.links for row in read_alignments(io.BytesIO(b"1 1 1 S 0.5\n1 2 2 0.25\n1 3 3\n"), format="naacl").weighted]
    assert weights == [{(0, 0): 0.5, (1, 1): 0.25, (2, 2): None}]


def test_a_sentence_number_out_of_all_measure_makes_no_flood_of_rows() -> None:
    rows, told = read(b"1 1 1\n999999999 1 1\n2 1 1\n")
    assert rows == [certain((0, 0)), certain((0, 0))]
    assert told == ["links_far"]


def test_giza_three_lines_a_pair() -> None:
    pair = (
        b"# Sentence pair (1) source length 3 target length 4 alignment score : 0.00147\n"
        b"la voiture rouge !\nNULL ({ 4 }) the ({ 1 }) red ({ 3 }) car ({ 2 })\n"
    )
    damaged = b"# Sentence pair (2) source length 1 target length 1\nNULL ({ }) a ({ 1 })\n"
    found = read_alignments(io.BytesIO(pair + damaged + pair.replace(b"(1)", b"(3)").replace(b"({ 1 })", b"({ 1 2 })", 1)))
    rows = list(found.rows)
    assert rows == [certain(*CROSSING), certain(), certain(*CROSSING, (0, 1))]
    assert found.format == "giza"
    assert [(line, message.code) for line, message in found.problems] == [(4, "giza_block"), (None, "links_to_nothing")]
    assert found.null_links == 2


def test_tsinghua_counts_from_1_with_0_for_no_word() -> None:
    found = read_alignments(io.BytesIO(b"1:1/1 2:3/1 3:2/0 0:4/1\n\n2:2/0.75 x\n"))
    rows = list(found.weighted)
    assert found.format == "tsinghua"
    assert (rows[0].sure, set(rows[0].links)) == ({(0, 0), (1, 2)}, CROSSING)
    assert rows[1].links == {}
    assert rows[2].links == {(1, 1): 0.75}
    assert [(line, message.code) for line, message in found.problems] == [(3, "unreadable_links"), (None, "links_to_nothing")]


def test_positions_from_1_are_noticed_and_told() -> None:
    found = read_alignments(io.BytesIO(b"1-1 2-3 3-2\n"), CAR)
    assert found.base == 1
    assert [message.code for _, message in found.problems] == ["links_from_one"]  # at once, before anything is read
    assert list(found.rows) == [certain(*CROSSING)]
    assert len(found.problems) == 1


def test_base_overrules_what_was_noticed() -> None:
    rows, told = read(b"1-1 2-3 3-2\n", pairs=CAR, base=0)
    assert (rows, told) == ([certain((1, 1))], ["links_outside"])
    rows, told = read(b"1-1 0-2 2-2\n", pairs=CAR, base=1)
    assert (rows, told) == ([certain((0, 0), (1, 1))], ["links_to_nothing"])


def test_without_a_0_and_without_lengths_it_stays_a_question() -> None:
    rows, told = read(b"1-1 2-3\n")
    assert (rows, told) == ([certain((1, 1), (2, 3))], ["links_perhaps_from_one"])
    assert read(b"0-0 2-3\n")[1] == []


def test_unreadable_items_and_links_outside_are_told_by_line_and_the_rest_counts() -> None:
    found = read_alignments(io.BytesIO(b"0-0 one-two 1-2 -1-0\n7-7 0-0\n"), PAIRS)
    assert list(found.rows) == [certain((0, 0), (1, 2)), certain((0, 0))]
    first, second = found.problems
    assert (first.line, first.message.values["count"]) == (1, 2)
    assert "'one-two', '-1-0'" in first.message
    assert (second.line, second.message.values["sources"]) == (2, 4)
    assert "'7-7'" in second.message


def test_fewer_and_more_lines_than_pairs_are_told_with_their_numbers() -> None:
    rows, told = read(b"0-0\n", pairs=PAIRS)
    assert (len(rows), told) == (1, ["links_fewer"])
    rows, told = read(b"0-0\n\n0-0\n\n", pairs=PAIRS)
    assert (rows, told) == ([certain((0, 0)), certain()], ["links_more"])
    found = read_alignments(io.BytesIO(b"0-0\n\n0-0\n\n"), PAIRS)
    assert list(found.rows)
    assert found.problems[-1].message.values == {"left": 2, "pairs": 2, "file": "file"}


def test_blank_lines_stay_in_step_and_lines_end_at_line_ends_only() -> None:
    assert read(b"\n0-0\r\n\r1-1", pairs=[("a b", "a b")] * 4)[0] == [certain(), certain((0, 0)), certain(), certain((1, 1))]
    assert read("0-0\u2028one\x0c1-1\n1-0".encode()) == ([certain((0, 0), (1, 1)), certain((1, 0))], ["unreadable_links"])
    assert read("0-0 1-1\n".encode("utf-16"))[0] == [certain((0, 0), (1, 1))]


def test_words_are_those_of_the_one_rule() -> None:
    rows, told = read(b"0-0 1-1 2-1 1-5\n", pairs=[("He said:\u00a0no twice", "他 说 不。")])
    assert rows == [certain((0, 0), (1, 1), (2, 1))]
    assert told == ["links_outside"]


def test_what_holds_no_link_is_refused_by_name() -> None:
    with pytest.raises(FormatError, match=r"line 1: 'the red car' is no link .* pharaoh, naacl"):
        read(b"the red car\nla voiture rouge\n")
    with pytest.raises(ValueError, match=r"'moses'.*pharaoh"):
        read(b"0-0", format="moses")
    with pytest.raises(ValueError, match="base=2"):
        read(b"0-0", base=2)
    with pytest.raises(ValueError, match="'giza' cannot be written; choose one of pharaoh"):
        write_alignments([], io.BytesIO(), "giza")


@pytest.mark.parametrize(
    "content",
    [
        b'[{"links": [[0, 0], [1, 2, 0.5]], "possible": [[2, 1]]}]',
        b'{"pair": 1, "links": "0-0 1-2 2p1"}\n',
        b'[\n  {"sure": [{"source": 0, "target": 0},\n   {"source": 1, "target": 2}],\n "possible": ["2-1"]}\n]',
        b'[[[0, 0], [1, 2], "2p1"]]',
    ],
)
def test_json_of_others(content: bytes) -> None:
    assert read(content, pairs=CAR) == ([GoldLinks(frozenset({(0, 0), (1, 2)}), frozenset(CROSSING))], [])


def test_damaged_json_keeps_its_place() -> None:
    found = read_alignments(
        io.BytesIO(b'{"links": [[0, 0]]}\n{"links": [[0, \n{"links": [[1, 1], [1], [true, 0], [1e999, 0]]}\n')
    )
    assert list(found.rows) == [certain((0, 0)), certain(), certain((1, 1))]
    assert [(line, message.values["count"]) for line, message in found.problems] == [(2, 1), (3, 3)]
    assert read(b"[" * 100_000)[1] == ["unreadable_links"]


def test_a_table_of_others_needs_three_columns() -> None:
    rows, told = read(b"source\ttarget\tsentence\n0\t0\t1\n\t\t2\n1\tx\t3\n0\t1\t3\n")
    assert rows == [certain((0, 0)), certain(), certain((0, 1))]
    assert told == ["unreadable_links"]
    assert read(b"0\t0\n", format="tsv") == ([], ["links_header"])


LINK = st.tuples(st.integers(0, 30), st.integers(0, 30))
WEIGHT = st.none() | st.integers(0, 10**6).map(lambda millionths: millionths / 10**6)


@st.composite
def written_rows(draw: st.DrawFn) -> list[Written]:
    rows = []
    for links in draw(st.lists(st.dictionaries(LINK, WEIGHT, max_size=6), max_size=5)):
        sure = draw(st.sets(st.sampled_from(sorted(links)))) if links else set()
        rows.append(Written(links, frozenset(sure)))
    return rows


@settings(max_examples=30, deadline=None)
@given(rows=written_rows(), format=st.sampled_from([name for name in LINK_FORMATS if name != "giza"]))
def test_what_is_written_is_read_back(rows: Sequence[Written], format: str) -> None:
    file = io.BytesIO()
    write_alignments(rows, file, format)
    pairs = [(" ".join("a" * 31), " ".join("b" * 31))] * len(rows)
    base = {"pharaoh": 0}.get(format)
    found = read_alignments(file, pairs, base=base, format=None if any(row.links for row in rows) else format)
    assert list(found.rows) == [GoldLinks(row.sure, frozenset(row.links)) for row in rows]
    assert found.format == format
    assert [message.code for _, message in found.problems if message.code != "links_skipped"] == []
    if format in ("naacl", "tsv", "json"):
        assert [row.links for row in found.weighted] == [row.links for row in rows]


def test_words_and_weights_stand_beside_the_links() -> None:
    row = Written({(0, 1): 0.25, (1, 0): None}, frozenset({(0, 1)}), ("l'", '"ami"'), ("<b>", "的"))
    file = io.BytesIO()
    write_alignments([row], file, "tsv")
    assert file.getvalue().decode().splitlines() == [
        "pair\tsource\ttarget\tmark\tweight\tsource_word\ttarget_word",
        "1\t0\t1\tS\t0.25\tl'\t的",
        '1\t1\t0\tP\t\t"ami"\t<b>',
    ]
    file = io.BytesIO()
    write_alignments([row, row], file, "json")
    first, _ = json.loads(file.getvalue())
    assert first["target_words"] == ["<b>", "的"]
    assert first["links"] == [{"source": 0, "target": 1, "weight": 0.25}, {"source": 1, "target": 0, "mark": "P"}]


@settings(max_examples=100, deadline=None)
@given(
    content=st.binary(max_size=60)
    | st.text(alphabet='0123456789-p?:/ \t\n\r{}[]",#SPNULL()linkspairsourcetarget.eE', max_size=120).map(str.encode),
    format=st.sampled_from([None, *LINK_FORMATS]),
)
def test_damaged_files_give_messages_never_a_traceback(content: bytes, format: str | None) -> None:
    try:
        found = read_alignments(io.BytesIO(content), PAIRS, format=format)
    except FormatError:
        return
    for (sure, possible), (source, target) in zip(found.rows, PAIRS, strict=False):
        assert sure <= possible
        assert all(0 <= i < len(source.split()) and 0 <= j < len(target.split()) for i, j in possible)


def test_a_million_lines_are_a_stream() -> None:
    class Endless(io.RawIOBase):
        name = "endless"

        def read(self, size: int = -1, /) -> bytes:
            return b"0-0 1-1\n" * (size // 8)

        def seek(self, offset: int, whence: int = 0, /) -> int:
            return 0

    rows = read_alignments(Endless(), format="pharaoh").rows
    assert [next(rows) for _ in range(3)] == [certain((0, 0), (1, 1))] * 3
