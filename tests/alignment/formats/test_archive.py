"""Zip archives: the pair is found by its names; bombs, tricks and nested archives are refused."""

import io
import struct
import zipfile

import pytest

from model.alignment.formats import FormatError, Limits
from tests.alignment.formats.brought import OPUS, packed, read

PAIR = [("a.en", b"one\n"), ("a.fr", b"un\n")]


def refused(content: bytes, limits: Limits | None = None) -> str:
    with pytest.raises(FormatError) as error:
        list(read(("a.zip", content), limits=limits)[0].rows)
    return error.value.problem.message.code


def test_a_bomb_is_refused_before_it_is_unpacked() -> None:
    assert refused(packed([("a.en", bytes(20_000_000)), ("a.fr", b"x\n")])) == "zip_bomb"
    assert refused(packed([("a.en", b"word " * 10_000), ("a.fr", b"x\n")]), Limits(bytes=20_000)) == "zip_too_large"


def test_an_archive_that_lies_about_its_size_gives_no_more_than_it_says() -> None:
    content = bytearray(packed([("a.en", b"one\n" * 50_000), ("a.fr", b"un\n")]))
    place = content.index(b"PK\x01\x02") + 24  # the size that the directory announces
    content[place : place + 4] = struct.pack("<L", 8)
    with pytest.raises(FormatError):
        read(("a.zip", bytes(content)))


def test_many_entries_are_refused_before_they_are_listed() -> None:
    assert refused(packed([*PAIR, *((f"{number}.txt", b"") for number in range(1500))])) == "zip_entries"
    assert refused(packed([*PAIR, *((f"{number}" * 60, b"") for number in range(1100))])) == "zip_entries"


def test_an_archive_in_an_archive_is_not_opened() -> None:
    assert refused(packed([("inner.zip", OPUS)])) == "no_pair_in_zip"
    assert refused(packed([("a.en.zip", OPUS), ("a.fr.zip", OPUS)])) == "no_pair_in_zip"


def test_names_are_never_paths() -> None:
    pairs, rows = read(("a.zip", packed([("../../../etc/x.en", b"one\n"), ("../../../etc/x.fr", b"un\n")])))
    assert (rows, pairs.files) == ([("one", "un")], ("a.zip",))


def test_what_is_no_release_says_what_it_holds() -> None:
    assert refused(packed([("[Content_Types].xml", b"<x/>"), ("xl/workbook.xml", b"<x/>")])) == "workbook"
    assert refused(packed([("README.md", b"x"), ("data.bin", b"y")])) == "no_pair_in_zip"
    assert refused(packed([])) == "no_pair_in_zip"
    assert refused(OPUS[:-30]) == "bad_zip"
    broken = bytearray(OPUS)
    place = broken.index(b"Tiny.en-fr.en") + 14
    broken[place : place + 8] = b"\xff" * 8
    assert refused(bytes(broken)) == "bad_zip"


def test_an_encrypted_archive_is_refused() -> None:
    stream = io.BytesIO(packed(PAIR, zipfile.ZIP_STORED))
    content = bytearray(stream.getvalue())
    for signature, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = content.index(signature)
        content[at + place] |= 1
    assert refused(bytes(content)) == "bad_zip"


def test_unequal_files_in_an_archive_are_refused_too() -> None:
    assert refused(packed([("a.en", b"one\ntwo\n"), ("a.fr", b"un\n")])) == "unequal_counts"
