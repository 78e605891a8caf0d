"""Links in Pharaoh notation, and the guide files made of them."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.alignment import pharaoh
from model.training import guide

LINKS = st.frozensets(st.tuples(st.integers(0, 300), st.integers(0, 300)))


def test_sure_and_possible() -> None:
    """Case 123 of the public record."""
    sure, possible = pharaoh.parse("0-0 1-2 2p1 2?2")
    assert sure == {(0, 0), (1, 2)}
    assert possible == {(0, 0), (1, 2), (2, 1), (2, 2)}
    assert pharaoh.render(sure, possible) == "0-0 1-2 2p1 2p2"


@settings(max_examples=50)
@given(LINKS, LINKS)
def test_what_is_written_is_read(sure: frozenset[tuple[int, int]], possible: frozenset[tuple[int, int]]) -> None:
    assert pharaoh.parse(pharaoh.render(sure, possible)) == (sure, sure | possible)


@pytest.mark.parametrize("item", ["1:2", "0-0-0", "-1-2", "a-b", "1-", "0-0,1-1"])
def test_the_unreadable_is_named(item: str) -> None:
    with pytest.raises(ValueError, match="is no link"):
        pharaoh.parse(f"0-0 {item}")


def test_export_keeps_lines_in_step(tmp_path: Path) -> None:
    pairs, output = tmp_path / "pairs.tsv", tmp_path / "words.txt"
    pairs.write_bytes("I don't.\tJe t'aime.\tcredit\r\n\nOnly source\n\t你好。\n a\u2028b \tc\u00a0d".encode())
    assert guide.export(pairs, output, lower=True) == 5
    assert output.read_text(encoding="utf-8").split("\n") == [
        "i do n't . ||| je t' aime .",
        " ||| ",
        "only source ||| ",
        " ||| 你 好 。",
        "a b ||| c_d",
        "",
    ]


def test_links_are_read_line_by_line(tmp_path: Path) -> None:
    path = tmp_path / "a.guide"
    path.write_text("0-0 1p1\n\n2-1\n", encoding="utf-8")
    assert list(guide.read_links(path)) == [{(0, 0), (1, 1)}, set(), {(2, 1)}]
    path.write_text("0-0\n1;1\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"a\.guide, line 2: '1;1' is no link"):
        list(guide.read_links(path))
