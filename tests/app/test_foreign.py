"""Models of others on the pages: shown where a page can, with the numbers of their own library, else said what is missing."""

import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from streamlit.testing.v1 import AppTest

from app import session, text
from app.components import beam_tree, decoding_steps
from app.components.matrices import unpack as matrices_of
from app.session import computed
from app.views import decoding_place
from model import decoding
from model.alignment import corpus, words
from model.analysis import ablation
from model.attention_mask import causal
from model.page.attention import unpack
from model.trace import Trace
from tests.app.conftest import OpenApp, payload, rows_of, shown
from tests.app.listing import make, served
from tests.app.test_studio import aligned, bring

TEXT = "The red car is here."
TRANSLATORS, WRITERS = ("marian", "t5"), ("gpt2", "llama")
KINDS = (*TRANSLATORS, *WRITERS, "bert")
MISSING = {
    "architecture": "modules",
    "positions": "positions_",
    "rotary": "rotation_",
    "attention": "modules",
    "three_attentions": "modules",
    "layers": "modules",
    "training": "training",
    "cost": "counts",
    "families": "pair",
}
Open = Callable[[str], Any]


@pytest.fixture(scope="module", autouse=True)
def folder(both_families: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A server with one tiny model of each kind on its list. What they write at random never ends, so it is stopped early."""
    made = tmp_path_factory.mktemp("foreign")
    file = make(made, *KINDS, "nllb")
    file.write_text("most = 9\n" + file.read_text("utf-8") + 'target_language = "fra_Latn"\n', encoding="utf-8")
    with served(file), pytest.MonkeyPatch.context() as patch:
        for module in (decoding, computed, decoding_place):
            patch.setattr(module, "length_limit", lambda _: 6)
        yield made


@pytest.fixture(scope="module")
def theirs(folder: Path) -> Open:
    """The same folder with their own attention, the one that returns its weights."""

    @cache
    def opened(kind: str) -> Any:
        classes = dict.fromkeys(TRANSLATORS, transformers.AutoModelForSeq2SeqLM)
        classes |= dict.fromkeys(WRITERS, transformers.AutoModelForCausalLM)
        made = classes.get(kind, transformers.AutoModel).from_pretrained(folder / kind, attn_implementation="eager")
        return made.eval().requires_grad_(False)

    return opened


def ids(tokens: Any) -> torch.Tensor:
    return torch.tensor([[token.id for token in tokens]])


def trace_of(kind: str) -> Trace:
    return session.trace(f"own-{kind}", TEXT)


def returned(theirs: Open, kind: str, trace: Trace) -> Any:
    """What their own forward pass returns over the same ids."""
    if kind in TRANSLATORS:
        return theirs(kind)(input_ids=ids(trace.source), decoder_input_ids=ids(trace.target), output_attentions=True)
    return theirs(kind)(input_ids=ids(trace.source or trace.target), output_attentions=True)


def attentions(kind: str, made: Any) -> dict[str, Any]:
    if kind in TRANSLATORS:
        return {
            "encoder.self_attention": made.encoder_attentions,
            "decoder.self_attention": made.decoder_attentions,
            "decoder.cross_attention": made.cross_attentions,
        }
    return {"encoder.self_attention" if kind == "bert" else "decoder.self_attention": made.attentions}


def open_page(open_app: OpenApp, page: str, kind: str, lang: str = "en", **parameters: str) -> AppTest:
    session.load(f"own-{kind}")  # a page would say for a moment that it comes
    return open_app("" if page == "translate" else page, model=f"own-{kind}", lang=lang, **{"text": TEXT, **parameters})


def said(key: str, lang: str) -> str:
    """The longest part of a sentence that has no value and no markup in it."""
    return max(re.split(r"\{\w+\}|\[\[.*?\]\]|\*\*|`", text.sentences(lang)[key]), key=len)


# ----- what a page has not


@pytest.mark.parametrize(("kind", "lang"), [("t5", "en"), ("llama", "zh"), ("bert", "en")])
def test_a_page_that_cannot_show_it_says_why_and_shows_the_way(open_app: OpenApp, kind: str, lang: str) -> None:
    positions = {"t5": "relative", "llama": "rotary", "bert": "learned"}[kind]
    for page, need in {**MISSING, **({"decoding": "writing"} if kind == "bert" else {})}.items():
        app = open_page(open_app, page, kind, lang)
        whole = need
        if need == "positions_":
            whole = f"positions_{positions}"
        elif need == "rotation_":
            whole = "rotation_turned" if kind == "llama" else "rotation_none"
        assert said(f"missing.need_{whole}", lang) in shown(app), page
        assert text.sentences(lang)["page.try"] not in shown(app), page
        links = {link.proto.label for link in app.get("page_link")}
        assert {text.sentences(lang)["heads.title"], text.sentences(lang)["masks.title"]} <= links
    app.button(key="stand_in").click().run()
    assert not app.exception
    assert app.session_state["atlas_selection"].model == ("en-lm" if kind == "llama" else "en-fr")


def test_parts_that_need_more_than_the_model_has_say_so(open_app: OpenApp) -> None:
    page = shown(open_page(open_app, "heads", "bert"))
    for need, times in (("modules", 2), ("measures", 1), ("writing", 2)):  # heads off and what if
        assert page.count(said(f"missing.need_{need}", "en")) == times, need
    assert "encoder alone" in page
    page = shown(open_page(open_app, "decoding", "marian"))
    assert page.count(said("missing.need_counts", "en")) == page.count(said("missing.need_modules", "en")) == 1


# ----- what it has


@pytest.mark.parametrize("kind", KINDS)
def test_heads_and_translate_draw_what_their_library_returns(open_app: OpenApp, theirs: Open, kind: str) -> None:
    trace = trace_of(kind)
    for page, view in (("heads", "heads"), ("translate", "linked")):
        header, block = unpack(payload(open_page(open_app, page, kind, "zh" if page == "heads" else "en"), f"_{view}"))
        expected = attentions(kind, returned(theirs, kind, trace))
        assert [entry["id"] for entry in header["attentions"]] == list(expected)[-len(header["attentions"]) :]
        for entry in header["attentions"]:
            weights = torch.stack([layer[0] for layer in expected[entry["id"]]]).numpy()
            count = int(np.prod(weights.shape))
            levels = np.frombuffer(block, "<u2", count, entry["offset"]).reshape(weights.shape)
            np.testing.assert_allclose(levels / 65535 * entry["unit"], weights, atol=7e-5)
            assert header["tokens"][entry["key"]]["labels"] == [token.label for token in trace.tokens(entry["key"])]
        np.testing.assert_allclose(header["probabilities"], np.exp(trace.log_probabilities), rtol=1e-6)


def test_an_encoder_alone_generates_nothing_and_says_so(open_app: OpenApp) -> None:
    app = open_page(open_app, "translate", "bert", target="Je t'aime.", beam="4")
    page = shown(app)
    assert "nothing is translated and nothing is generated" in page
    assert "before: [CLS], behind: [SEP]" in page
    assert not [box for box in app.text_area if str(box.key).startswith("target")]
    header, _ = unpack(payload(app, "_linked"))
    assert header["tokens"]["produced"]["labels"] == header["probabilities"] == []


def test_what_the_operator_puts_before_every_text_is_said_as_such(open_app: OpenApp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session.load("own-t5").tokenizers.source, "prefix", "She know: ")
    page = shown(open_page(open_app, "heads", "t5", text="I love 12 things."))
    assert "The model also reads “She know:”, as whoever runs this server wrote in the list." in page
    assert "before: –, behind: </s>" in page


@pytest.mark.parametrize("kind", KINDS)
def test_the_numbers_of_heads_and_their_widths_are_those_that_were_recorded(kind: str) -> None:
    config, trace = session.load(f"own-{kind}").config, trace_of(kind)
    for attention in session.attentions(session.load(f"own-{kind}")):
        query = trace[f"{attention.replace('.', '.layers.0.')}.query"]
        assert (config.heads_of(attention), config.head_dim_of(attention)) == (query.size("head"), query.size("head_dim"))


def test_what_differs_from_models_of_this_app_is_said(open_app: OpenApp) -> None:
    for kind in ("t5", "llama", "marian", "gpt2"):
        session.load(f"own-{kind}")  # a page would show the steps of loading first, on a busy machine
    t5, llama, marian = (open_page(open_app, "heads", kind) for kind in ("t5", "llama", "marian"))
    assert "scores are not divided by √d_k" in shown(t5)
    assert not any(r"\sqrt" in formula.value for formula in t5.latex)
    assert not any("B_i" in formula.value for formula in t5.latex)  # its cross-attention knows no distances
    assert "g(i), serves" not in shown(t5)
    assert "g(i), serves 3 heads of queries" in shown(llama)
    assert "6 heads of queries share 2 heads of keys and values" in shown(llama)
    assert "1–3 → 1, 4–6 → 2" in shown(llama)
    assert any(r"h \cdot d_k = 6 \cdot 4 = 24" in formula.value and "24 \\times 18" in formula.value for formula in llama.latex)
    assert "The encoder has 2 heads in a layer, the decoder 4." in shown(marian)
    assert any(r"h \cdot d_k = 4 \cdot 4 = 16" in formula.value for formula in marian.latex)
    assert "2+3 layers · 2 / 4 heads" in marian.selectbox(key="model").options[marian.selectbox(key="model").index]
    assert "The decoder reads <pad> first" in shown(marian)
    assert "its tokenizer puts none around your text" in shown(open_page(open_app, "heads", "gpt2")).lower()
    for app in (t5, llama, marian):
        assert "`<s>`" not in shown(app)
        assert "guided" not in shown(app).split("Things to try")[1].split("Terms on this page")[0]


def test_pieces_are_shown_as_text_joined_to_words_and_typed_specials_stay_text(open_app: OpenApp) -> None:
    header, _ = unpack(payload(open_page(open_app, "heads", "gpt2", text="Where is the café 你?"), "_heads"))
    tokens, attention = header["tokens"]["target"], header["attentions"][0]
    assert not any(sign in label for label in tokens["labels"] for sign in "ĠÃ")
    assert {"Where", "is", "the", "café", "你"} <= {word["label"] for word in tokens["words"]}
    assert len(tokens["labels"]) == attention["queries"] == attention["keys"]

    header, _ = unpack(payload(open_page(open_app, "heads", "bert", text="你 car"), "_heads"))
    assert header["tokens"]["source"]["labels"][:2] == ["[CLS]", "[UNK] 你"]

    header, _ = unpack(payload(open_page(open_app, "heads", "llama", text="<s> good </s>"), "_heads"))
    tokens = header["tokens"]["target"]
    assert tokens["special"][0] == 1  # the one start token is that of the tokenizer
    assert tokens["labels"][0] == "<s>"
    typed = len(session.load("own-llama").source_tokens("<s> good </s>"))
    assert not any(tokens["special"][1:typed])


@pytest.mark.parametrize("kind", ["marian", "t5", "gpt2"])
def test_the_score_is_by_the_probabilities_under_the_tokens(open_app: OpenApp, theirs: Open, kind: str) -> None:
    trace, own = trace_of(kind), session.translation(f"own-{kind}", TEXT)
    logits = returned(theirs, kind, trace).logits[0].double().log_softmax(dim=-1)
    rows = logits.gather(1, ids(trace.produced).T)[:, 0]
    first = 0 if kind in TRANSLATORS else len(session.writer(f"own-{kind}").source_tokens(TEXT)) - 1
    score = float(rows[first:][: len(own.produced)].sum())
    assert f"score of the whole: \N{MINUS SIGN}{-score:.2f}" in shown(open_page(open_app, "translate", kind)).replace(
        "score of the continuation", "score of the whole"
    )


@pytest.mark.parametrize("kind", ["marian", "llama"])
def test_decoding_shows_each_step_as_their_model_takes_it(open_app: OpenApp, theirs: Open, kind: str) -> None:
    head = {"layer": "1", "head": "1", "attention": "decoder.cross_attention" if kind == "marian" else "decoder.self_attention"}
    app = open_page(open_app, "decoding", kind, **head)
    header = decoding_steps.unpack(payload(app, "decoding_steps"))
    source = ids(session.load(f"own-{kind}").source_tokens(TEXT))
    rules = {"max_new_tokens": 6, "do_sample": False, "num_beams": 1, "forced_eos_token_id": None}
    written = theirs(kind).generate(source, **rules)[0].tolist()[1 if kind == "marian" else source.shape[1] :]
    moments = header["moments"]
    assert [moment["id"] for moment in moments] == written
    start = [session.load(f"own-{kind}").config.start] if kind == "marian" else source[0].tolist()
    read = torch.tensor([[*start, *written[:-1]]])
    if kind == "marian":
        made = theirs(kind)(input_ids=source, decoder_input_ids=read, output_attentions=True).cross_attentions
    else:
        made = theirs(kind)(input_ids=read, output_attentions=True).attentions
    for step, moment in enumerate(moments):
        row = made[1][0, 1, len(start) - 1 + step, : source.shape[1]]
        np.testing.assert_allclose(moment["weights"], row, atol=1e-4)


def test_a_beam_and_a_draw_of_a_model_of_others(open_app: OpenApp) -> None:
    for kind, strategy in (("marian", "beam"), ("gpt2", "sampling")):
        app = open_page(open_app, "decoding", kind, strategy=strategy, cache="true", penalty="true")
        assert "was made by others" in shown(app)


def test_a_language_that_is_asked_for_is_the_only_way_to_begin(open_app: OpenApp) -> None:
    app = open_page(open_app, "decoding", "nllb")
    first = decoding_steps.unpack(payload(app, "decoding_steps"))["moments"][0]
    assert [candidate["label"] for candidate in first["candidates"]] == ["fra_Latn"]
    tree = beam_tree.unpack(payload(open_page(open_app, "decoding", "nllb", strategy="beam"), "beam_tree"))
    assert [node["label"] for node in tree["nodes"] if node["depth"] == 1] == ["fra_Latn"]
    refused = open_page(open_app, "decoding", "nllb", prefix="7-8")
    assert "cannot begin an output of this model" in shown(refused)


# ----- what is changed in it


def test_a_head_switched_off_is_one_that_their_output_matrix_does_not_read(theirs: Open) -> None:
    trace, layer, head = trace_of("marian"), 1, 2
    off = (ablation.Head("decoder.cross_attention", layer, head),)
    effect = ablation.switch_off(session.writer("own-marian"), trace, off, "zero")
    matrix = theirs("marian").model.decoder.layers[layer].encoder_attn.out_proj.weight
    before = matrix.clone()
    matrix[:, 4 * head : 4 * head + 4] = 0
    logits = returned(theirs, "marian", trace).logits[0].double().log_softmax(dim=-1)
    matrix.copy_(before)
    np.testing.assert_allclose(effect.log_probabilities, logits.gather(1, ids(trace.produced).T)[:, 0], atol=1e-4)
    unchanged = ablation.log_probabilities(session.writer("own-marian"), trace, {})
    np.testing.assert_allclose(unchanged, trace.log_probabilities, atol=1e-5)


def test_encoder_and_decoder_may_have_unequal_numbers_of_heads(open_app: OpenApp) -> None:
    app = open_page(open_app, "heads", "marian", importance="true", off="decoder.cross_attention.2.3", how="mean")
    rows = rows_of(app, text.sentences("en")["heads_off.each_caption"][:30])
    assert [row[1:].count("\N{EN DASH}") for row in rows] == [2, 2, 0, 0, 0, 0, 0, 0]


def test_a_painted_mask_in_an_encoder_alone(open_app: OpenApp, theirs: Open) -> None:
    app = open_page(open_app, "masks", "bert", layer="1", head="2", mask="causal")
    _, values = matrices_of(payload(app, "masks_effect"))
    trace = trace_of("bert")
    length = len(trace.source)
    mask = torch.where(causal(length), 0.0, torch.finfo(torch.float32).min)[None, None]
    made = theirs("bert")(inputs_embeds=None, input_ids=ids(trace.source), attention_mask=mask, output_attentions=True)
    np.testing.assert_allclose(values["before"], returned(theirs, "bert", trace).attentions[1][0, 2], atol=1e-5)
    np.testing.assert_allclose(values["after"], made.attentions[1][0, 2], atol=1e-5)
    moved = (made.last_hidden_state - trace["encoder.output"].tensor)[0].norm(dim=-1) / trace["encoder.output"].tensor[0].norm(
        dim=-1
    )
    assert f"move by {float(moved.mean()):.1%} of their length" in shown(app)


@pytest.mark.parametrize(("kind", "sides"), [("t5", 2), ("gpt2", 2), ("bert", 1)])
def test_padding_is_called_by_its_name_and_stands_where_the_model_takes_it(open_app: OpenApp, kind: str, sides: int) -> None:
    app = open_page(open_app, "masks", kind, batch="true", side="left", attention="encoder.self_attention")
    (side,) = [control for control in app.get("button_group") if control.key == "side"]
    assert len(side.options) == sides
    assert ("is padded on the right only" in shown(app)) == (sides == 1)
    name = {"t5": "<pad>", "gpt2": "<|endoftext|>", "bert": "[PAD]"}[kind]
    assert name in shown(app)
    found = re.search(
        r"differs from the sentence alone by more than ([\d.]+(?: × 10⁻?[⁰¹²³⁴-⁹]+)?)", shown(app).replace("\u00a0", " ")
    )
    assert found
    assert float(found[1].split(" ×")[0]) < 0.001 or "10⁻" in found[1]


def test_a_text_that_is_longer_than_its_positions_is_told(open_app: OpenApp) -> None:
    for kind in ("gpt2", "bert", "marian"):
        app = open_page(open_app, "heads", kind, text="car " * 63)
        assert "has positions for 64 tokens" in shown(app)


# ----- the studio


def test_the_studio_aligns_by_their_cross_attention(open_app: OpenApp, theirs: Open) -> None:
    pair = ("The red car is here.", "La voiture rouge est là.")
    app = open_app("studio", model="own-marian", lang="en")
    study = aligned(bring(app, ("pairs.tsv", "\t".join(pair).encode())))
    assert study.made_by[0] == "own-marian"
    atlas = session.writer("own-marian")
    trace = atlas.trace(*pair)
    made = returned(theirs, "marian", trace).cross_attentions[1][0].mean(dim=0)  # the middle layer, all heads
    of_source, of_target = words.of_tokens(trace.source, pair[0]), words.of_tokens(trace.produced, pair[1])
    sources, targets = len(words.words(pair[0], True)), len(words.words(pair[1], True))
    table = torch.zeros(targets, max(of_source) + 1)
    for target in range(targets):
        rows = [row for row, word in enumerate(of_target) if word == target]
        for key, word in enumerate(of_source):
            table[target, word] += float(made[rows, key].mean())
    expected = {(int(row.argmax()), target) for target, row in enumerate(table) if int(row.argmax()) < sources}
    assert {(link.source, link.target) for link in study.results[0].links} == expected
    with pytest.raises(ValueError, match="W_O is not read"):
        list(corpus.align(atlas, [pair], corpus.Settings(measure="norms")))  # type: ignore[arg-type]
