"""Which folders are opened and which are refused, and what becomes of what is typed."""

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file, save_file

import model
from model.adapters.hugging_face import (
    AdapterError,
    HuggingFaceEncoder,
    HuggingFaceLanguageModel,
    HuggingFaceTranslator,
    NotInThisModelError,
    folder,
    inspect,
    load,
)
from model.adapters.hugging_face.tokens import placed
from model.alignment import words
from tests.model.adapters.tiny_hugging_face import FAMILIES

Made = Callable[[str], Path]


@pytest.fixture
def copy(made: Made, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made("gpt2"), tmp_path / "copy"))


@pytest.mark.parametrize(
    ("family", "kind"),
    [("marian", HuggingFaceTranslator), ("gpt2", HuggingFaceLanguageModel), ("bert", HuggingFaceEncoder)],
)
def test_a_folder_says_what_it_is_and_how_far_loading_is(family: str, kind: type, made: Made) -> None:
    steps: list[tuple[str, int, int]] = []
    found = inspect(made(family))
    loaded = load(made(family), progress=lambda *step: steps.append(step))
    assert isinstance(loaded, kind)
    assert [step[1:] for step in steps] == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert found.architecture == loaded.config.architecture == family
    stored = load_file(made(family) / "model.safetensors").values()
    assert found.parameters == sum(tensor.numel() for tensor in stored)
    assert found.needed >= 4 * found.parameters
    assert loaded.name == family
    assert not any(module.training for module in loaded.model.modules())
    assert loaded.card["kind"] == found.kind


def test_an_encoder_says_that_it_writes_nothing(made: Made) -> None:
    loaded = load(made("bert"))
    trace = loaded.trace("The red car.")
    assert (trace.target, trace.produced, trace.target_text) == ((), (), "")
    for call in (loaded.translate, loaded.generate, loaded.write):
        with pytest.raises(NotInThisModelError, match=r"bert is an encoder alone.*writes nothing"):
            call("The red car.")
    with pytest.raises(NotInThisModelError, match="a target"):
        loaded.trace("The red car.", "La voiture.")
    with pytest.raises(model.TextError, match="empty"):
        loaded.trace("  ")
    with pytest.raises(model.TextError, match="tokens, the model takes 64; shorten"):
        loaded.trace("car " * 100)


def test_memory_is_checked_before_anything_is_loaded(made: Made) -> None:
    with pytest.raises(AdapterError, match=r"gpt2 needs about .* GB of memory \(\S+ parameters .* are free; unload"):
        load(made("gpt2"), available=1000)
    assert (folder.available_memory() or 1) > 0


def test_free_memory_is_that_of_the_tightest_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder, "PROCESSES", tmp_path / "proc")
    monkeypatch.setattr(folder, "GROUPS", tmp_path / "groups")
    assert folder.available_memory() is None  # nobody knows
    unit = tmp_path / "groups" / "system.slice" / "atlas.service"
    unit.mkdir(parents=True)
    (tmp_path / "proc" / "self").mkdir(parents=True)
    (tmp_path / "proc" / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable:    8000 kB\n")
    (tmp_path / "proc" / "self" / "cgroup").write_text("0::/system.slice/atlas.service\n")
    (unit / "memory.max").write_text("max\n")
    assert folder.available_memory() == 8000 * 1024
    for group, limit, used in ((unit.parent, 7_000_000, 1_000_000), (unit, 3_000_000, 2_500_000)):
        (group / "memory.max").write_text(f"{limit}\n")
        (group / "memory.current").write_text(f"{used}\n")
    assert folder.available_memory() == 500_000
    (unit / "memory.stat").write_text("anon 2000000\ninactive_file 400000\n")
    assert folder.available_memory() == 900_000


def without(name: str) -> Callable[[Path], None]:
    return lambda path: (path / name).unlink()


def written(name: str, content: bytes) -> Callable[[Path], object]:
    return lambda path: (path / name).write_bytes(content)


def other_type(path: Path) -> None:
    (path / "config.json").write_text(json.dumps({"model_type": "mamba"}), encoding="utf-8")


def pickled(path: Path) -> None:
    (path / "model.safetensors").rename(path / "pytorch_model.bin")


def index_outside(path: Path) -> None:
    (path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"a": "../a.safetensors"}}), encoding="utf-8")


def a_weight_less(path: Path) -> None:
    state = load_file(path / "model.safetensors")
    state.pop("transformer.h.1.attn.c_attn.weight")
    save_file(state, path / "model.safetensors", metadata={"format": "pt"})


def no_tokenizer(path: Path) -> None:
    for file in path.glob("tokenizer*"):
        file.unlink()


def fewer_embeddings(path: Path) -> None:
    """As if the tokenizer were that of a larger model."""
    state = load_file(path / "model.safetensors")
    config = json.loads((path / "config.json").read_text("utf-8"))
    state["transformer.wte.weight"] = state["transformer.wte.weight"][:50].contiguous()
    save_file(state, path / "model.safetensors", metadata={"format": "pt"})
    (path / "config.json").write_text(json.dumps({**config, "vocab_size": 50}), "utf-8")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (without("config.json"), "copy holds no config.json"),
        (written("config.json", b"{"), r"copy/config.json cannot be read"),
        (written("config.json", b"[]"), "holds list, needed is an object"),
        (other_type, "model_type is 'mamba'; can be opened are marian, t5"),
        (without("model.safetensors"), "holds no weights"),
        (pickled, "only as pytorch_model.bin, a format that can run code"),
        (written("model.safetensors", b"\xff" * 64), "no whole safetensors"),
        (written("model.safetensors", b""), "no whole safetensors"),
        (index_outside, "names '../a.safetensors', which is no file of this folder"),
        (a_weight_less, "lacks 1 of the weights .* transformer.h.1.attn.c_attn.weight; they would be random"),
        (without("tokenizer.json"), "tokenizer of copy cannot be loaded"),
        (written("tokenizer.json", b"{}"), r"tokenizer of copy cannot be loaded \(.*\); bring all its files"),
        (no_tokenizer, "copy holds no vocabulary of its tokenizer; bring"),
        (fewer_embeddings, r"knows \d+ tokens, the model has embeddings of 50: they belong to two models"),
    ],
)
def test_what_cannot_be_opened_says_why(copy: Path, damage: Callable[[Path], Any], message: str) -> None:
    damage(copy)
    with pytest.raises(AdapterError, match=message):
        load(copy)


def test_without_transformers_it_says_what_to_install(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    assert inspect(made("gpt2")).architecture == "gpt2"
    with pytest.raises(AdapterError, match=r"transformers is not installed; run .*requirements-hf\.txt"):
        load(made("gpt2"))


@pytest.mark.parametrize("family", ["marian", "gpt2", "llama", "bert"])
def test_a_text_of_one_token(family: str, made: Made) -> None:
    loaded = load(made(family))
    trace = loaded.trace("T") if family == "bert" else loaded.trace("T", "")
    for path in (path for path in trace if path.endswith(".weights")):
        spans = trace[path].spans
        assert trace[path].tensor.shape[2:] == (len(trace.tokens(spans["query"])), len(trace.tokens(spans["key"])))
    if family == "gpt2":  # which puts nothing before a text
        assert trace["decoder.layers.0.self_attention.weights"].tensor.flatten().tolist() == [1.0, 1.0]
        assert loaded.source_tokens("")[0].special  # something has to be read


def test_no_folder_is_looked_for_elsewhere() -> None:
    with pytest.raises(AdapterError, match="'opus-mt-en-fr' is not a folder here"):
        load("Helsinki-NLP/opus-mt-en-fr")


@pytest.mark.parametrize("family", FAMILIES)
def test_every_token_knows_its_place_in_the_text_as_typed(family: str, made: Made) -> None:
    """Doubled spaces, decomposed accents, Chinese, emoji, and what spells a special token."""
    text = "The  red cafe\u0301 is <s> 你好 \U0001f600</s> here."
    loaded = load(made(family), target_language="fra_Latn" if family in ("mbart", "nllb") else None)
    tokens = loaded.source_tokens(text)
    pieces = [token for token in tokens if not token.special]
    assert [token for token in tokens if token.special and token.span[0] not in (0, len(text))] == []
    assert sum(token.text == "<s>" for token in tokens) <= 1  # the one that the tokenizer puts there
    assert [token.span[0] for token in pieces] == sorted(token.span[0] for token in pieces)
    assert {place for token in pieces for place in range(*token.span)} >= {i for i, sign in enumerate(text) if sign.isalnum()}
    for token in pieces:
        begin, end = token.span
        assert 0 <= begin <= end <= len(text)
        assert token.text == text[begin:end] or "<0x" in token.text or begin == end
        assert token.label
    grouped = words.of_tokens(tokens, text)
    last = [index for index, token in enumerate(tokens) if text.index("here") <= token.span[0] < token.span[1] < len(text)]
    assert len({grouped[index] for index in last}) == 1


def test_bytes_of_one_character_stand_at_that_character(made: Made) -> None:
    loaded = load(made("gpt2"))
    tokens = loaded.source_tokens("I 你 love")
    assert [(token.text, token.span) for token in tokens if "0x" in token.text] == [
        ("<0xE4>", (2, 3)),
        ("<0xBD>", (2, 3)),
        ("<0xA0>", (2, 3)),
    ]
    written = loaded.tokenizers.target.produced([token.id for token in tokens[1:]], after="I")
    assert [token.span for token in written] == [token.span for token in tokens[1:]]
    assert loaded.tokenizers.target.decode([token.id for token in tokens]) == "I 你 love"


def test_source_and_target_of_marian_have_their_own_pieces(made: Made) -> None:
    loaded = load(made("marian"))
    source, target = loaded.tokenizers.source, loaded.tokenizers.target
    assert source is not target
    assert source.vocabulary != target.vocabulary
    assert [token.unknown for token in target.encode("voiture")] == [False] * len(target.encode("voiture"))
    assert any(token.unknown for token in source.encode("q'à"))
    ids = [token.id for token in target.encode("La voiture")]
    assert target.decode(ids) == "La voiture"
    assert all(0 <= id_ < len(target.pieces) for id_ in ids)


def test_the_language_asked_for_is_written_first(made: Made) -> None:
    nllb, mbart = (load(made(family), target_language="fra_Latn") for family in ("nllb", "mbart"))
    assert [token.text for token in nllb.trace("The red car.", "La").target][:2] == ["</s>", "fra_Latn"]
    assert nllb.translate("The red car.", limit=3).produced[0].text == "fra_Latn"
    assert mbart.trace("The red car.", "La").target[0].text == "fra_Latn"
    with pytest.raises(AdapterError, match="knows no language 'tlh_Latn'"):
        load(made("nllb"), target_language="tlh_Latn")


def test_what_stands_before_a_task_is_special(made: Made) -> None:
    plain, loaded = load(made("t5")), load(made("t5"), prefix="I love: ")
    tokens = loaded.source_tokens("The car")
    typed = [token for token in tokens if not token.special]
    assert "".join(token.text for token in typed).strip() == "Thecar"
    assert len(tokens) > len(plain.source_tokens("The car"))
    assert typed[-1].span[1] == len("The car")


def test_pieces_that_do_not_say_where_they_stand_are_found() -> None:
    assert placed(["A", "b", "c"], "Ab  c") == [(0, 1), (1, 2), (4, 5)]
    assert placed(["fi", "x"], "ﬁx") == [(0, 1), (1, 2)]  # one character of the text is two of the pieces
    assert placed(["a", '"', "b"], "a „ b") == [(0, 1), (2, 3), (4, 5)]  # punctuation that was made plain
