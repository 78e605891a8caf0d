"""Words out to an outside aligner, its links back in."""

from pathlib import Path

import pytest

from model.training.guide import export, read_lines, read_links


def test_words_go_out_one_line_a_pair(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("I don't know.\tJe ne sais pas.\n你好！\t10\u00a0000 fois\n", encoding="utf-8")
    assert export(tmp_path / "a.tsv", tmp_path / "out", lower=True) == 2
    lines = (tmp_path / "out").read_text(encoding="utf-8").splitlines()
    assert lines == ["i do n't know . ||| je ne sais pas .", "你 好 ！ ||| 10_000 fois"]


def test_links_come_back_possible_ones_too(tmp_path: Path) -> None:
    (tmp_path / "links").write_text("0-0 1p2\n\n2-1\n", encoding="utf-8")
    assert list(read_links(tmp_path / "links")) == [{(0, 0), (1, 2)}, set(), {(2, 1)}]


def test_what_is_no_link_is_named_with_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "links").write_text("0-0\n0:1\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"links, line 2: '0:1' is no link"):
        list(read_links(tmp_path / "links"))


def test_only_line_ends_end_a_line(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes("a\u2028b\r\nc\x85d\ne".encode())
    assert list(read_lines(tmp_path / "a")) == ["a\u2028b", "c\x85d", "e"]
