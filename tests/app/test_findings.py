"""The gallery: every number of its ten stories computed once more by hand, every claim's direction, every link's place."""

import math
import re
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
import numpy.typing as npt
import pytest
import torch
from streamlit.testing.v1 import AppTest

from app import session, text
from app.session import Finding
from app.views import html
from app.views.anatomy import ORDER
from model.analysis import ablation
from model.analysis.findings import Value
from model.page.attention import unpack
from model.trace import Trace
from model.training import tasks
from tests.app.conftest import OpenApp, payload, said, shown

Array = npt.NDArray[np.float64]
FINDINGS = session.stories()
BY_NAME = {finding.name: finding for finding in FINDINGS}


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def told(name: str) -> dict[str, Value]:
    found = session.told(name)
    assert found is not None, f"the story {name} is no longer true"
    return dict(found.values)


def recorded(finding: Finding) -> Trace:
    return session.trace(finding.model, finding.text)


def softmax(scores: Array) -> Array:
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    found: Array = powers / powers.sum(axis=-1, keepdims=True)
    return found


def by_hand(trace: Trace, finding: Finding, *, head: int | None = None, turned: bool = False, causal: bool = False) -> Array:
    """softmax(Q K^T / sqrt(d_k)) of a head from the recorded queries and keys, in numpy."""
    place, after = finding.place, "_rotated" if turned else ""
    at = place.head if head is None else head
    query, key = (trace[f"{place.path}.{name}{after}"].tensor[0, at].double().numpy() for name in ("query", "key"))
    scores = query @ key.T / math.sqrt(query.shape[-1])
    return softmax(np.where(np.tri(len(query), dtype=bool), scores, -np.inf) if causal else scores)


def test_ten_stories_from_all_seven_models_with_a_page_each() -> None:
    assert len(BY_NAME) == len(FINDINGS) == 10
    assert {finding.model for finding in FINDINGS} == set(session.models())
    assert {"heads", "masks", "rotary", "decoding"} == {finding.page for finding in FINDINGS}


def test_two_lines_cross() -> None:
    values, trace = told("crossing"), recorded(BY_NAME["crossing"])
    weights = by_hand(trace, BY_NAME["crossing"])
    produced, source = [token.label for token in trace.produced], [token.label for token in trace.source]
    chat, noir = produced.index("chat"), produced.index("noir")
    assert (values["first"], values["second"], noir - chat) == ("chat", "noir", 1)
    assert (values["first_reads"], values["second_reads"]) == ("cat", "black")
    assert source.index("cat") == source.index("black") + 1
    assert values["first_weight"] == pytest.approx(weights[chat, source.index("cat")], abs=1e-5)
    assert values["second_weight"] == pytest.approx(weights[noir, source.index("black")], abs=1e-5)
    assert min(weights[chat].max(), weights[noir].max()) > 0.9
    assert (np.diff(weights.argmax(axis=-1)) < 0).sum() == 1, "the map steps back once"
    assert {"layer": 1, "head": 0, "row": "produced"}.items() <= session.load("en-fr").card["guided"][0].items()


def test_the_same_numbers_under_other_names_are_wrong() -> None:
    values, finding = told("renamed"), BY_NAME["renamed"]
    trace = recorded(finding)
    best, right = (by_hand(trace, finding, head=head).argmax(axis=-1) for head in (0, 1))
    words = len(trace.produced) - 1
    assert values["words"] == words == sum(best[:-1] == right[1:]) == values["produced_right"]
    assert values["read_right"] == sum(best[1:] == right[1:]) == 0
    weights = by_hand(trace, finding)
    row = [token.label for token in trace.produced].index("cat")
    assert trace.target[row + 1].label == values["word"] == "cat"
    labels = [token.label for token in trace.source]
    assert [values["produced_reads"], values["read_reads"]] == [labels[best[row]], labels[best[row + 1]]] == ["chat", "."]
    assert values["produced_weight"] == pytest.approx(weights[row].max(), abs=1e-5)
    assert values["read_weight"] == pytest.approx(weights[row + 1].max(), abs=1e-5)


def test_one_full_stop_looks_back_at_the_other() -> None:
    values, finding = told("full_stops"), BY_NAME["full_stops"]
    trace = recorded(finding)
    weights = by_hand(trace, finding, turned=True, causal=True)
    first, second = [at for at, token in enumerate(trace.target) if token.label == "."][:2]
    assert (values["first_at"], values["second_at"]) == (first, second) == (5, 10)
    assert values["weight"] == pytest.approx(weights[second, first], abs=1e-5)
    assert weights[second, first] > 0.9 > 5 * (1 / (second + 1))
    assert values["even"] == pytest.approx(1 / 11)
    assert values["first_reads"] == "<s>"
    assert values["first_weight"] == pytest.approx(weights[first, 0], abs=1e-5)
    assert not session.load("en-lm").card.get("guided")


def test_a_head_rests_where_next_to_nothing_stands() -> None:
    values, finding = told("resting"), BY_NAME["resting"]
    trace, atlas = recorded(finding), session.load(finding.model)
    first = by_hand(trace, finding, causal=True)[1:, 0]
    assert (values["rows"], values["translation"]) == (len(first), "我喜欢茶。")
    assert values["weight"] == pytest.approx(first.mean(), abs=1e-5)
    assert values["least"] == pytest.approx(first.min(), abs=1e-5)
    assert values["even"] == pytest.approx(np.mean([1 / seen for seen in range(2, len(first) + 2)]))
    assert first.min() > 0.8 > 2 * float(values["even"])
    entering = trace["decoder.layers.0.residual.0.input"].tensor[0].double().numpy()
    matrix = atlas.model.decoder.layers[0].self_attention.to_value.weight.detach().double().numpy()  # type: ignore[union-attr]
    width = atlas.config.head_dim
    lengths = np.linalg.norm((entering @ matrix.T)[:, 3 * width : 4 * width], axis=-1)
    assert values["length"] == pytest.approx(lengths[0], abs=1e-4)
    assert values["shortest"] == pytest.approx(lengths[1:].min(), abs=1e-4)
    assert 10 * lengths[0] < lengths[1:].min()


def test_a_multiplied_mask_leaks() -> None:
    values, finding = told("leaking"), BY_NAME["leaking"]
    trace = recorded(finding)
    query, key = (trace[f"{finding.place.path}.{name}"].tensor[0, 1].double().numpy() for name in ("query", "key"))
    allowed = np.tri(len(query), dtype=bool)
    wrong = softmax(query @ key.T / math.sqrt(query.shape[-1]) * allowed)
    leaked = np.where(allowed, 0, wrong).sum(axis=-1)
    assert values["leaked"] == pytest.approx(leaked[0], abs=1e-5)
    assert (values["ahead"], values["of"], values["rows"]) == (len(query) - 1, len(query), (leaked > 0.1).sum())
    assert leaked[0] > 0.8
    assert values["rows"] == len(query) - 1
    assert values["right"] == np.where(allowed, 0, by_hand(trace, finding, causal=True)).max() == 0


def test_only_the_distance_counts() -> None:
    values, finding = told("turning"), BY_NAME["turning"]
    trace = recorded(finding)
    weights = by_hand(trace, finding, turned=True)
    labels = [token.label for token in trace.source]
    row, column = labels.index(str(values["query_token"])), labels.index(str(values["key_token"]))
    assert values["weight"] == pytest.approx(weights[row, column], abs=1e-5)
    query, key = (
        trace[f"{finding.place.path}.{name}"].tensor[0, 1, at].double().numpy().reshape(-1, 2) @ [1, 1j]
        for name, at in (("query", row), ("key", column))
    )
    turns = 10000.0 ** (-np.arange(len(query)) / len(query))

    def score(at_query: float, at_key: float) -> float:
        product = (query * np.exp(1j * turns * at_query) * np.conj(key * np.exp(1j * turns * at_key))).real.sum()
        return float(product / math.sqrt(2 * len(query)))

    assert values["score"] == pytest.approx(score(row, column), abs=1e-6)
    assert values["moved"] == pytest.approx(score(row + 1, column), abs=1e-6)
    assert values["least"] == pytest.approx(min(score(row + step, column) for step in range(6)), abs=1e-6)
    assert values["far"] == 100
    assert float(values["difference"]) < 1e-9 > abs(score(row + 100, column + 100) - score(row, column))
    assert float(values["least"]) < 0 < float(values["moved"]) < float(values["score"]) - 1


def test_a_beam_finds_what_greedy_misses() -> None:
    values, finding = told("searching"), BY_NAME["searching"]
    atlas = session.load(finding.model)
    tokens = atlas.tokenizers.target

    def forced(written: str) -> tuple[list[int], Array]:
        ids = [token.id for token in tokens.encode(written)]
        source = torch.tensor([[token.id for token in atlas.source_tokens(finding.text)]])
        with torch.inference_mode():
            logits = atlas.model(source, torch.tensor([[atlas.config.start, *ids]]))[0]  # type: ignore[operator]
        return [*ids, atlas.config.end], logits.double().log_softmax(dim=-1).numpy()

    totals = {}
    for name in ("greedy", "beam"):
        ids, scores = forced(str(values[name]))
        totals[name] = sum(scores[row, id_] for row, id_ in enumerate(ids))
        assert values[f"{name}_score"] == pytest.approx(totals[name], abs=1e-3)
        share = math.exp(scores[1, ids[1]])
        assert values[f"{name}_share"] == pytest.approx(share, abs=1e-3)
        assert tokens.produced([ids[1]])[0].label == values[f"{name}_token"]
        if name == "greedy":
            assert scores.argmax(axis=-1).tolist() == ids, "greedy takes the likeliest at every step"
    assert values["times"] == pytest.approx(math.exp(totals["beam"] - totals["greedy"]), abs=1e-2)
    assert totals["beam"] > totals["greedy"]
    assert float(values["greedy_share"]) > float(values["beam_share"])


def test_no_single_head_is_needed_and_the_last_layer_is() -> None:
    """A head is taken out of W_O here, where the story sets its weights to 0."""
    values, finding = told("silenced"), BY_NAME["silenced"]
    trace, atlas = recorded(finding), session.load(finding.model)
    produced = torch.tensor([token.id for token in trace.produced])
    source, read = (torch.tensor([[token.id for token in tokens]]) for tokens in (trace.source, trace.target))
    width, config = atlas.config.head_dim, atlas.config
    cross = [layer.cross_attention for layer in atlas.model.decoder.layers]  # type: ignore[union-attr]
    every = [*cross, *(layer.self_attention for stack in ("encoder", "decoder") for layer in getattr(atlas.model, stack).layers)]

    def without(*taken: tuple[Any, int], source: torch.Tensor = source) -> torch.Tensor:
        kept = [(attention.to_output.weight, attention.to_output.weight.detach().clone()) for attention, _ in taken]
        try:
            with torch.inference_mode():
                for attention, head in taken:
                    attention.to_output.weight[:, head * width : (head + 1) * width] = 0
                found: torch.Tensor = atlas.model(source, read)[0].double().log_softmax(dim=-1)  # type: ignore[operator]
                return found
        finally:
            with torch.inference_mode():
                for weight, before in reversed(kept):
                    weight.copy_(before)

    alone = [(attention, head) for attention in every for head in range(config.num_heads)]
    assert values["heads"] == len(alone) == 36
    same = [torch.equal(without(one).argmax(dim=-1), produced) for one in alone]  # then greedy writes the same
    assert values["unchanged"] == sum(same) == 36
    assert ablation.rewritten(atlas, trace, (ablation.Head("decoder.cross_attention", 1, 0),), "zero") == trace.target_text
    last = [(cross[-1], head) for head in range(config.num_heads)]
    scores = without(*last)
    assert values["layer_heads"] == len(last) == 4
    assert values["all_heads"] == 4 * len(cross)
    rows = torch.arange(len(produced))
    assert values["layer_loss"] == pytest.approx(-float(scores[rows, produced].mean()), abs=1e-4)
    assert values["loss"] == pytest.approx(-np.mean(trace.log_probabilities), abs=1e-4)
    assert float(values["layer_loss"]) > 5 * float(values["loss"])
    assert not torch.equal(scores.argmax(dim=-1), produced)
    nothing = [(attention, head) for attention in cross for head in range(config.num_heads)]
    assert values["layer"] != values["translation"] == "J'ai un chat noir."
    enough = {
        left
        for count in (1, 2)
        for left in combinations(range(4), count)
        if torch.equal(without(*(last[head] for head in range(4) if head not in left)).argmax(dim=-1), produced)
    }
    assert enough == {(3,), *combinations(range(4), 2)}, "teachers.md: head 4 alone, or any two"
    another = without(*nothing, source=torch.tensor([[config.end]]))
    assert torch.allclose(without(*nothing), another, atol=1e-4), "it reads nothing of the source"


def test_the_word_is_decided_in_the_last_layer() -> None:
    values, finding = told("deciding"), BY_NAME["deciding"]
    trace, atlas = recorded(finding), session.load(finding.model)
    matrix = atlas.model.to_logits.weight.detach().double().numpy()
    layers = [f"decoder.layers.{layer}.residual.0.input" for layer in range(3)] + ["decoder.output"]
    shares = [softmax(trace[path].tensor[0].double().numpy() @ matrix.T) for path in layers]
    labels = [atlas.tokenizers.target.produced([int(id_)])[0].label for id_ in (share[3].argmax() for share in shares)]
    assert (values["echo"], values["before"], values["word"]) == (labels[0], labels[2], labels[3])
    assert values["reads"] == trace.target[3].label == labels[0] == labels[2] != labels[3] == "茶"
    for name, layer in (("echo_share", 0), ("before_share", 2), ("share", 3)):
        assert values[name] == pytest.approx(shares[layer][3].max(), abs=1e-4)
    echoes = shares[0].argmax(axis=-1) == [token.id for token in trace.target]
    assert (values["echoes"], values["rows"], values["layers"]) == (echoes.sum(), len(echoes), 3) == (5, 6, 3)
    assert float(values["share"]) > 0.9


def test_a_head_that_nobody_taught_aligns() -> None:
    values, finding = told("untaught"), BY_NAME["untaught"]
    trace, atlas = recorded(finding), session.load(finding.model)
    meaning = {"miru": "cat", "toba": "red", "velo": "dog", "dase": "sees"}
    best = by_hand(trace, finding).argmax(axis=-1)
    read = {token.label: trace.source[best[row]].label for row, token in enumerate(trace.produced)}
    assert {word: read[word] for word in meaning} == meaning
    assert (values["links"], values["right"]) == (4, 4)
    found = total = 0
    for pair in tasks.TASKS["toy"].distinct(int(values["pairs"]), 0, "held out"):
        best = by_hand(atlas.trace(pair.source, pair.target), finding).argmax(axis=-1)
        found += sum(best[target] == source for source, target in pair.links)
        total += len(pair.links)
    assert (values["found"], values["total"]) == (found, total)
    assert values["share"] == pytest.approx(found / total)
    assert found / total > 0.9 > 0.2 > float(values["even"])
    assert not atlas.card.get("guided")


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_page_tells_what_was_measured(open_app: OpenApp, lang: str) -> None:
    app = open_app("findings", lang=lang)
    text.use(lang)
    page = shown(app)
    for finding in FINDINGS:
        assert text.text(f"findings.{finding.name}.title") in page
        for name, value in told(finding.name).items():
            if f"{{{name}}}" in text.template(f"findings.{finding.name}.story"):
                assert (html.small(value, 2) if isinstance(value, float) else str(value)) in page, (finding.name, name)
    assert text.text("findings.untold", name="en-fr") not in page
    links = [link.proto for link in app.main.get("page_link")][:-1]
    assert [link.page for link in links] == [finding.page for finding in FINDINGS]
    assert len(re.findall(r"atlas-table little", said(app))) == 10


SEEN: dict[str, Callable[[dict[str, Value]], list[str]]] = {
    "leaking": lambda values: [f"{values['leaked']:.3f}"],
    "searching": lambda values: [str(values["greedy"]), f"{-float(values['greedy_score']):.2f}", f"{values['greedy_share']:.2f}"],
    "silenced": lambda values: [str(values["layer"]), f"{values['layer_loss']:.3f}"],
    "deciding": lambda values: [str(values["word"]), f"{values['share']:.2f}", f"{values['echo_share']:.2f}"],
}


def test_every_link_opens_the_place_that_its_story_tells_of(open_app: OpenApp) -> None:
    for finding in FINDINGS:
        app = open_app(finding.page, **finding.parameters("en"))
        selection = app.session_state["atlas_selection"]
        assert (selection.model, selection.text) == (finding.model, finding.text)
        if finding.page != "heads":  # whose picture reads its place from the URL, in the browser
            assert app.session_state["atlas_place"] == finding.place
        for seen in SEEN.get(finding.name, lambda _: [])(told(finding.name)):
            assert seen in shown(app), (finding.name, seen)
        if finding.choices.get("norms"):
            assert payload(app, "norms_matrices"), "the weights beside their norms are open"
        if finding.page == "heads":
            assert _weights_shown(app, finding) == pytest.approx(
                recorded(finding)[f"{finding.place.path}.weights"].tensor[0, finding.place.head].numpy(), abs=1e-4
            )


def _weights_shown(app: AppTest, finding: Finding) -> Array:
    """What the attention map was given of the story's head."""
    header, block = unpack(payload(app, "attention_map"))
    (entry,) = [entry for entry in header["attentions"] if entry["id"] == finding.place.attention]
    shape = (entry["layers"], entry["heads"], entry["queries"], entry["keys"])
    levels = np.frombuffer(block, "<u2", math.prod(shape), entry["offset"]).reshape(shape)
    found: Array = levels[finding.place.layer, finding.place.head] * (entry["unit"] / 65535)
    return found


# ----- the lesson: students, teachers, worksheet, in both languages

DOCS = Path(__file__).resolve().parents[2] / "docs"
LESSONS = [DOCS / folder / f"{name}.md" for folder in ("", "zh") for name in ("students", "teachers", "worksheet")]
LINK = re.compile(r"\(http://localhost:8501/(?P<link>[^)\s]+)\)")
PATHS = {"", *ORDER[1:]}  # the first page stands at the root, where Streamlit knows no other address of it


def places() -> Iterator[tuple[str, dict[str, list[str]]]]:
    for finding in FINDINGS:
        choices = {name: value if isinstance(value, list) else [value] for name, value in finding.parameters("en").items()}
        yield finding.page, {name: value for name, value in choices.items() if name != "lang"}


@pytest.mark.parametrize("file", LESSONS, ids=lambda path: str(path.relative_to(DOCS)))
def test_numbers_and_links_of_the_lesson_are_those_of_the_stories(file: Path) -> None:
    """Behind every measured value stands which one it is, in a comment; no other number has decimals."""
    content = file.read_text("utf-8")
    for line in content.splitlines():
        for found in re.finditer(r"(?P<shown>.*?)<!-- (?P<story>\w+)\.(?P<name>\w+) -->", line):
            value = told(found["story"])[found["name"]]
            written = html.small(value, 2) if isinstance(value, float) else str(value)
            before = found["shown"].removesuffix("*")
            assert before.endswith(written), (line, written)
            assert not before.removesuffix(written)[-1:].isdigit(), line
    unmarked = re.sub(r"\d+\.\d+<!--|`[^`]*`|\(http[^)]*\)", "", content)
    assert not re.search(r"\d\.\d", unmarked)
    wanted = list(places())
    for link in LINK.finditer(content):
        address = urlsplit(link["link"])
        assert (address.path, parse_qs(address.query)) in [*wanted, ("families", {})], link["link"]


def test_the_readme_opens_pages_that_there_are() -> None:
    links = [
        urlsplit(link)
        for link in re.findall(r"\(http://localhost:8501(/[^)\s]*)\)", (DOCS.parent / "README.md").read_text("utf-8"))
    ]
    assert {link.path.strip("/") for link in links} <= PATHS
    assert all(parse_qs(link.query).get("model", ["en-fr"])[0] in session.models() for link in links)
