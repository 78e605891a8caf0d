"""Brought matrices as an aligner of a study: laid beside the pairs, scored against gold, told where they do not fit, saved."""

import io
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app import session
from app.session import studio_matrices
from app.text import use
from model.adapters.matrices import read
from model.alignment import formats
from tests.app.conftest import OpenApp, shipping, shown
from tests.app.test_studio_heads import GOLD, opened, study
from tests.model import tiny

GOLD_LINKS = [row.split() for row in GOLD.decode().splitlines()]


@pytest.fixture(scope="module", autouse=True)
def models(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("models")
    for name in ("en-fr", "fr-en"):
        tiny.save_checkpoint(folder / name)
        (folder / name / "card.toml").write_text(f'name = "{name}"\n', encoding="utf-8")
    with shipping(folder):
        yield folder


def entries(found: session.Study, *, pieces: bool = False) -> list[dict[str, object]]:
    """Matrices of two layers: the first looks at the first word alone, the second at the gold links."""
    made: list[dict[str, object]] = []
    for one, links in zip(found.results, GOLD_LINKS, strict=True):
        source, target = list(one.source_words), list(one.target_words)
        right = np.full((len(target), len(source)), 1e-6)
        for link in links:
            i, j = map(int, link.split("-"))
            right[j, i] = 1.0
        first = np.zeros_like(right)
        first[:, 0] = 1.0
        both = np.stack([first, right / right.sum(1, keepdims=True)])[:, None]
        if pieces:  # the first word in two pieces, each with half of its weight
            both = np.concatenate([both[..., :1] / 2, both[..., :1] / 2, both[..., 1:]], axis=-1)
            source = [f"\u2581{source[0][:1]}", source[0][1:] or "", *(f"\u2581{word}" for word in source[1:])]
            if not source[1]:
                both, source = np.delete(both, 1, axis=-1) * 1.0, [source[0], *source[2:]]
                both[..., 0] *= 2
        made.append({"cross_attention": both.tolist(), "source": source, "target": ["<s>", *target[:-1]], "produced": target})
    return made


def rival_of(app: AppTest) -> session.MatrixRival:
    _, there = app.session_state["atlas_rivals"]
    (found,) = [rival for rival in there.values() if isinstance(rival, session.MatrixRival)]
    return found


def upload(app: AppTest, name: str, content: object) -> AppTest:
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    app.file_uploader(key="studio_rival_file").upload(name, data, "text/plain").run()
    assert not app.exception, app.exception
    return app


@pytest.mark.parametrize("pieces", [False, True])
def test_brought_matrices_align_by_any_layer_and_head(open_app: OpenApp, pieces: bool) -> None:
    found = study(GOLD)
    app = upload(opened(open_app, found), "mine<b>.json", entries(found, pieces=pieces))
    app.run()
    assert "Matrices of mine<b>.json: 4 of 4 pairs" in shown(app)
    rival = rival_of(app)
    app.selectbox(key="studio_matrices_layer_0").select(0).run()
    assert rival.sides["matrices"][0] == {(0, j) for j in range(len(found.results[0].target_words))}
    assert "layer 2, head 1, row that produces the word has the lowest AER" in shown(app)
    app.button(key="studio_matrices_best_0").click().run()
    best = rival.sides["matrices"]
    gold = [found.gold_of(index) for index in range(4)]
    assert all(links is not None and right is not None and right.sure <= links for links, right in zip(best, gold, strict=True))
    assert "mine<b>.json (matrices)" in shown(app)
    app.toggle(key="studio_matrices_on_0").set_value(True).run()
    app.number_input(key="studio_matrices_above_0").set_value(0.4).run()
    assert rival.threshold == 0.4
    assert rival.sides["matrices"] == gold_links(gold)
    for format in ("pharaoh", "tsv", "json"):
        assert saved_links(app, found, format) == gold_links(gold)
    turned = [{**one, "cross_attention": one["cross_attention"][::-1]} for one in entries(found)]  # type: ignore[index]
    upload(app, "mine<b>.json", turned).run()
    assert "layer 1, head 1, row that produces the word has the lowest AER" in shown(app)


def gold_links(gold: list[object]) -> list[frozenset[tuple[int, int]]]:
    return [frozenset(one.sure) for one in gold]  # type: ignore[attr-defined]


def saved_links(app: AppTest, found: session.Study, format: str) -> list[frozenset[tuple[int, int]]]:
    file = io.BytesIO(session.matrix_links(found, rival_of(app), format))
    file.name = f"links.{format}"
    return [row.sure for row in formats.read_alignments(file).rows]


@pytest.mark.parametrize(
    ("lang", "words"), [("en", "pair 2: axis 'key' has 2 tokens, the pair has"), ("zh", "第 2 对：轴 'key' 有 2 个词元")]
)
def test_what_does_not_fit_is_told_by_pair_and_axis(open_app: OpenApp, lang: str, words: str) -> None:
    found = study(GOLD)
    use(lang)  # in which the test's own thread looks for the options of lists
    made = entries(found)[:3]
    made[1] = {"cross_attention": [[0.5, 0.5]], "source": ["no", "such"], "target": ["<s>"], "produced": ["x"]}
    app = upload(opened(open_app, found, lang=lang), "mine.json", made)
    page = shown(app.run())
    assert words.casefold() in page.casefold()
    rival = rival_of(app)
    assert [one is None for one in rival.weights] == [False, True, False, True]
    assert [one.pair for one in rival.misfits] == [1, 3]
    assert rival.misfits[1].message.code == "pair_left"


def first_of(links: object) -> list[list[int]]:
    return links["links"] if isinstance(links, dict) else links[0]  # type: ignore[index, no-any-return]


def test_what_was_brought_on_the_other_page_is_offered_and_damage_is_told(open_app: OpenApp) -> None:
    found = study(GOLD)
    app = opened(open_app, found)
    app.session_state["atlas_matrices"] = session.BroughtMatrices("other.json", 9, read(json.dumps(entries(found)).encode()))
    app.run()
    app.button(key="studio_matrices_take").click().run()
    assert "Matrices of other.json: 4 of 4 pairs" in shown(app.run())
    upload(app, "broken.npz", b"PK\x03\x04 broken")
    assert "broken.npz: This is a damaged NPZ" in shown(app.run())
    upload(app, "percent.json", {"attention": [[90, 10], [20, 80]], "query_tokens": "a b", "key_tokens": "x y"})
    assert "no percentages" in shown(app.run())
    for links in ({"links": [[0, 0, 0.9]]}, [[[0, 0], [1, 1]], [[0, 0], [0, 1]]]):  # though they have the shape of a matrix
        upload(app, "links.json", links).run()
        _, there = app.session_state["atlas_rivals"]
        assert there["file:links.json"].sides["file"][0] == {tuple(pair[:2]) for pair in first_of(links)}
    assert studio_matrices.SIDE == "matrices"
