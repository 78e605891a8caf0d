"""What is taken away from the Alignment studio is what the page shows, and is read back as the same."""

import io
import json
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from app import session
from app.session import studio_export, studio_reading
from app.session.studio_study import File, Reading, Study
from app.text import use
from model.alignment import words
from model.alignment.corpus import align
from model.alignment.formats import GoldLinks, read_alignments, read_pairs
from model.translator import Translator
from tests.app.conftest import OpenApp, said

NAME = "../<b>my pairs</b>.tsv"
TABLE = "I love you.\tJe t'aime.\n\t\nThe cat <b>sleeps</b>.\tLe chat dort.\n"
EDITED = GoldLinks(frozenset({(0, 0)}), frozenset({(0, 0), (1, 1)}))


@pytest.fixture(scope="module")
def study() -> Study:
    """Three pairs that were aligned, the second of them empty; the third has links made by hand."""
    use("en")
    upload = session.upload_of([File(NAME, TABLE.encode())])
    found = studio_reading.read(upload, Reading(), "en-fr")
    atlas = session.load("en-fr")
    assert isinstance(atlas, Translator)
    found.computed, found.computed_by, found.state = found.settings, found.model, "done"
    found.take(list(align(atlas, [(entry.source, entry.target) for entry in found.entries], found.settings)), [])
    found.edits[2] = EDITED
    return found


def entries(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def named(name: str, content: bytes) -> io.BytesIO:
    file = io.BytesIO(content)
    file.name = name
    return file


@pytest.mark.parametrize("format", list(studio_export.LINK_FILES))
def test_links_are_read_back_with_the_text_whose_words_they_count(study: Study, format: str) -> None:
    assert study.split_punctuation
    content = session.links_file(study, format)
    pairs = [(" ".join(one.source_words), " ".join(one.target_words)) for one in study.results]
    if format not in studio_export.WITH_WORDS:
        assert session.links_ending(study, format) == "links.zip"
        files = entries(content)
        text = [named(name, files[name]) for name in ("text.en-fr.en", "text.en-fr.fr")]
        pairs = list(read_pairs(text).rows)
        content = next(files[name] for name in files if name.startswith("links."))
    found = read_alignments(io.BytesIO(content), pairs, base=0 if format == "pharaoh" else None)
    links = [frozenset((link.source, link.target) for link in one.links) for one in study.results]
    assert [row.sure for row in found.rows] == links
    assert len(links) == 3
    assert links[0]
    for (source, _), one in zip(pairs, study.results, strict=True):
        assert words.words(source, split_punctuation=False) == one.source_words


def test_links_that_count_the_words_of_the_file_are_a_file_of_their_own(study: Study) -> None:
    settings = replace(study.settings, split_punctuation=False)
    whole = replace(study, settings=settings, computed=settings)
    assert session.links_ending(whole, "pharaoh") == "align"
    assert session.links_file(whole, "pharaoh").count(b"\n") == 3


def test_gold_and_links_made_by_hand_are_read_back(study: Study) -> None:
    rows = list(read_alignments(io.BytesIO(session.links_file(study, "json", gold=True))).rows)
    assert rows == [GoldLinks(frozenset(), frozenset())] * 2 + [EDITED]


@pytest.mark.parametrize("format", list(studio_export.PAIR_FILES))
def test_pairs_are_read_back(study: Study, format: str) -> None:
    content = session.pairs_file(study, format)
    if format == "lines":
        files: object = [named(name, text) for name, text in entries(content).items()]
    else:
        files = named(f"pairs.{studio_export.PAIR_FILES[format]}", content)
    found = [tuple(row) for row in read_pairs(files, languages=("en", "fr")).rows]  # type: ignore[arg-type]
    assert [row for row in found if any(row)] == [(entry.source, entry.target) for entry in study.entries if entry.source]


def test_scores_and_report_carry_the_same_numbers(study: Study) -> None:
    table = session.results_file(study, table=True).decode().splitlines()
    assert len(table) == 4
    lines = [json.loads(line) for line in session.results_file(study, table=False).splitlines()]
    assert lines[0]["scores"]["confidence"] == round(study.results[0].scores.confidence, 6)
    page = session.report_file(study, "en", str).decode()
    assert f"{study.results[0].scores.confidence:.3f}".replace("-", "−") in page
    assert "<b>sleeps" not in page
    assert "&lt;b&gt;my pairs" in page  # the file's name, as text


def test_matrices_of_all_layers_heads_and_rows(study: Study) -> None:
    atlas = session.load("en-fr")
    assert isinstance(atlas, Translator)
    made = session.matrices_file(study, atlas, session.first_matrices(study))
    found = np.load(io.BytesIO(made), allow_pickle=False)
    weights, config = found["pair_1_weights"], atlas.config
    assert weights.shape[:4] == (config.decoder_layers, config.num_heads + 1, 2, len(study.results[0].target_words))
    best = weights[..., : len(study.results[0].source_words)].argmax(axis=-1)
    inside = study.results[0].best >= 0
    assert (best[inside] == study.results[0].best[inside]).all()
    assert "pair_2_weights" not in found  # it could not be aligned


def test_names_of_files_are_safe(study: Study) -> None:
    assert session.export_name(study, "align").endswith(".en-fr.align")
    for name in ("../../etc/passwd", "a\\b\\.hidden", '"><img>.tsv', "对.tsv", "...", "x" * 300):
        safe = session.export_name(replace(study, upload=session.upload_of([File(name, b"a\tb\n")])), "npz")
        assert not set(safe) & set('/\\"<> \n')
        assert not safe.startswith(".")
        assert len(safe) < 90


@pytest.mark.parametrize(("lang", "word"), [("en", "Punctuation was split off"), ("zh", "标点已分出")])
def test_the_page_offers_every_format_and_says_what_is_what(open_app: OpenApp, study: Study, lang: str, word: str) -> None:
    app = open_app("studio", lang=lang, model="en-fr")
    app.session_state["atlas_study"] = study
    app.run()
    assert not app.exception, app.exception
    assert word in said(app)
    offered = [element.proto.id for element in app.get("download_button") if "studio_out_" in element.proto.id]
    assert len(offered) == 2 * len(studio_export.LINK_FILES) + len(studio_export.PAIR_FILES) + 1 + 2 + 2 + 1
