"""What others' models compute arrives unchanged: our trace against theirs, on random models of every family."""

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

import model
from model.adapters.generated import stitched
from model.adapters.hugging_face import HuggingFaceTranslator, load
from model.decoding import finished, greedy_steps
from model.position import rotate
from tests.model.adapters.tiny_hugging_face import FAMILIES, RELATIVES

Open = Callable[[str], Any]
TEXT, TARGET = "The red café is  here.", "La voiture est ici."
TRANSLATORS, WRITERS, READERS = ("marian", "t5", "bart", "mbart", "nllb", "mt5"), ("gpt2", "llama"), ("bert", "roberta")
LANGUAGE = {"mbart": "fra_Latn", "nllb": "fra_Latn"}


@pytest.fixture(scope="module")
def ours(made: Callable[[str], Path]) -> Open:
    return cache(lambda family: load(made(family), target_language=LANGUAGE.get(family), dtype=torch.float64))


@pytest.fixture(scope="module")
def theirs(made: Callable[[str], Path]) -> Open:
    """The same folder with their own attention, the one that returns its weights."""

    @cache
    def opened(family: str) -> Any:
        kinds = dict.fromkeys(TRANSLATORS, transformers.AutoModelForSeq2SeqLM) | dict.fromkeys(READERS, transformers.AutoModel)
        kind = kinds.get(family, transformers.AutoModelForCausalLM)
        return kind.from_pretrained(made(family), attn_implementation="eager").double().eval()

    return opened


@pytest.fixture(autouse=True)
def no_gradients() -> Iterator[None]:
    with torch.inference_mode():
        yield


def ids(tokens: Any) -> torch.Tensor:
    return torch.tensor([[token.id for token in tokens]])


def trace_of(loaded: Any, family: str) -> model.Trace:
    if family in TRANSLATORS:
        return loaded.trace(TEXT, TARGET)
    return loaded.trace(TEXT) if family in READERS else loaded.trace(TEXT, "I love")


def returned(theirs: Any, family: str, trace: model.Trace) -> Any:
    """Their own forward pass over the same ids, everything returned."""
    everything = {"output_attentions": True, "output_hidden_states": True}
    if family in TRANSLATORS:
        return theirs(input_ids=ids(trace.source), decoder_input_ids=ids(trace.target), **everything)
    return theirs(input_ids=ids(trace.source or trace.target), **everything)


def stacks(family: str, made: Any) -> dict[str, Any]:
    if family in TRANSLATORS:
        return {
            "encoder.layers.{}.self_attention": made.encoder_attentions,
            "decoder.layers.{}.self_attention": made.decoder_attentions,
            "decoder.layers.{}.cross_attention": made.cross_attentions,
        }
    return {f"{'encoder' if family in READERS else 'decoder'}.layers.{{}}.self_attention": made.attentions}


@pytest.mark.parametrize("family", [*FAMILIES, *RELATIVES])
def test_the_trace_holds_what_their_model_returns(family: str, ours: Open, theirs: Open) -> None:
    trace = trace_of(ours(family), family)
    made = returned(theirs(family), family, trace)
    for path, layers in stacks(family, made).items():
        for layer, weights in enumerate(layers):
            found = trace[path.format(layer) + ".weights"]
            torch.testing.assert_close(found.tensor, weights, atol=1e-6, rtol=0)
            torch.testing.assert_close(found.tensor.sum(-1), torch.ones(weights.shape[:-1]).double(), atol=1e-9, rtol=0)
            lengths = [len(trace.tokens(found.spans[axis])) for axis in ("query", "key")]
            assert list(found.tensor.shape) == [1, weights.shape[1], *lengths]
        assert path.format(len(layers)) + ".weights" not in trace
    sides = {"encoder": "encoder_hidden_states", "decoder": "decoder_hidden_states"}
    for stack in {path.split(".")[0] for path in stacks(family, made)}:
        hidden = made[sides[stack]] if family in TRANSLATORS else made.hidden_states
        for layer, states in enumerate(hidden[:-1]):
            torch.testing.assert_close(trace[f"{stack}.layers.{layer}.residual.0.input"].tensor, states, atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(trace[f"{stack}.output"].tensor, hidden[-1], atol=1e-5, rtol=1e-5)
    if family not in READERS:
        torch.testing.assert_close(trace["logits"].tensor, made.logits, atol=1e-5, rtol=1e-5)
        chosen = made.logits.log_softmax(-1)[0].gather(1, ids(trace.produced).T)[:, 0]
        torch.testing.assert_close(torch.tensor(trace.log_probabilities).double(), chosen, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("family", [family for family in FAMILIES if family != "bert"])
def test_attention_is_scores_mask_softmax_and_sum(family: str, ours: Open) -> None:
    """Every head of queries with its own keys, shared or not; what is published fits together."""
    trace = trace_of(ours(family), family)
    rotary = family == "llama"
    for path in (found.removesuffix(".weights") for found in trace if found.endswith(".weights")):
        query, key = (trace[f"{path}.{name}{'_rotated' if rotary else ''}"].tensor for name in ("query", "key"))
        scores = query @ key.mT * (1 if family == "t5" else query.shape[-1] ** -0.5)
        if family == "t5":
            scores = scores + trace[f"{path}.position_bias"].tensor
        torch.testing.assert_close(trace[f"{path}.scores"].tensor, scores)
        allowed = torch.ones(scores.shape[-2:], dtype=torch.bool)
        if path.startswith("decoder") and "self" in path:
            allowed = allowed.tril()
        masked = torch.where(allowed, scores, -torch.inf)
        torch.testing.assert_close(trace[f"{path}.masked"].tensor, masked)
        weights = trace[f"{path}.weights"].tensor
        torch.testing.assert_close(weights, masked.softmax(-1))
        torch.testing.assert_close(trace[f"{path}.context"].tensor, weights @ trace[f"{path}.value"].tensor)
        assert len({scores.shape[1], key.shape[1], trace[f"{path}.value"].size("head")}) == 1


def test_their_llama_turns_halves_and_shares_keys(ours: Open) -> None:
    trace = ours("llama").trace(TEXT, "I love")
    positions = torch.arange(len(trace.target))
    for name in ("query", "key"):
        plain = trace[f"decoder.layers.1.self_attention.{name}"].tensor
        turned = rotate(plain, positions, pairing="half")
        found = trace[f"decoder.layers.1.self_attention.{name}_rotated"].tensor
        torch.testing.assert_close(found, turned, atol=1e-5, rtol=1e-5)  # their angles are float32
        groups = plain.unflatten(1, (2, 3))
        assert torch.equal(groups[:, :, 0], groups[:, :, 2]) == (name == "key")


@pytest.mark.parametrize("family", [family for family in FAMILIES if family != "bert"])
def test_writing_step_by_step_with_and_without_cache_is_the_forced_pass(family: str, ours: Open, theirs: Open) -> None:
    loaded = ours(family)
    source = ids(loaded.source_tokens(TEXT))
    steps = list(greedy_steps(loaded.model, source, limit=7))
    plain = finished(greedy_steps(loaded.model, source, limit=7, cached=False), loaded.config.end)[0]
    written = loaded.write(TEXT, limit=7)
    taken = [int(step.chosen) for step in steps]
    assert taken == list(plain.ids) == [token.id for token in written.produced]
    trace = loaded.trace(TEXT, written)
    rows = trace["logits"].tensor[0, loaded.first_written(trace) :]
    for step, row in list(zip(steps, rows, strict=False))[1:]:
        possible = step.logits[0] > -torch.inf
        torch.testing.assert_close(step.logits[0][possible], row.float()[possible], atol=1e-4, rtol=1e-4)
    assert [token.id for token in trace.produced[loaded.first_written(trace) :]][: len(taken)] == taken

    asked = {"forced_bos_token_id": loaded.config.first, "decoder_start_token_id": loaded.config.start}
    limits = {"max_new_tokens": 7, "do_sample": False, "num_beams": 1, "forced_eos_token_id": None}
    generated = theirs(family).generate(source, **limits, **(asked if family in TRANSLATORS else {}))[0].tolist()
    assert generated[1 if family in TRANSLATORS else source.shape[1] :] == taken


@pytest.mark.parametrize("family", ["marian", "t5", "gpt2", "llama"])
def test_attentions_of_their_beams_are_untangled(family: str, ours: Open, theirs: Open) -> None:
    """What generate() returns step by step, beam by beam, is one forced pass over the output that won."""
    loaded, beams = ours(family), 3
    source = ids(loaded.source_tokens(TEXT))
    made = theirs(family).generate(
        source, max_new_tokens=6, min_new_tokens=6, num_beams=beams, do_sample=False, output_attentions=True,
        return_dict_in_generate=True, output_scores=True, forced_eos_token_id=None,
    )  # fmt: skip
    read = made.sequences[:, :-1]
    trace_of_output = returned_over(theirs(family), family, source, read)
    names = ("decoder_attentions", "cross_attentions") if family in TRANSLATORS else ("attentions",)
    for name in names:
        found = stitched(made[name], made.beam_indices[0].tolist())
        for layer, weights in enumerate(found):
            torch.testing.assert_close(weights, trace_of_output[name][layer], atol=1e-6, rtol=0)


def returned_over(theirs: Any, family: str, source: torch.Tensor, read: torch.Tensor) -> Any:
    if family in TRANSLATORS:
        return theirs(input_ids=source, decoder_input_ids=read, output_attentions=True)
    return theirs(input_ids=read, output_attentions=True)


def test_steps_of_generate_are_stitched_to_one_square() -> None:
    """Four tokens of a prompt, two written: 4 x 4, then one row over five keys."""
    first, second = torch.rand(1, 12, 4, 4).tril(), torch.rand(1, 12, 1, 5)
    (whole,) = stitched([[first], [second]])
    assert whole.shape == (1, 12, 5, 5)
    assert torch.equal(whole[:, :, :4, :4], first)
    assert torch.equal(whole[:, :, 4:], second)
    assert torch.equal(whole, whole.tril())
    with pytest.raises(ValueError, match="attn_implementation"):
        stitched([[None]])
    with pytest.raises(ValueError, match=r"shape \(4, 4\).*row, head, query, key"):
        stitched([[first[0, 0]]])
    with pytest.raises(ValueError, match="1 rows, beams names row 3"):
        stitched([[first]], [3])


@pytest.mark.parametrize("family", [*FAMILIES, "roberta"])
def test_a_short_text_is_the_same_alone_and_padded(family: str, ours: Open) -> None:
    loaded = ours(family)
    text = ids(loaded.source_tokens("I love you."))
    filled = torch.full((1, 2), loaded.config.padding)
    kept, gone = torch.ones_like(text, dtype=torch.bool), torch.zeros_like(filled, dtype=torch.bool)
    right = torch.cat((text, filled), 1), torch.cat((kept, gone), 1)
    left = torch.cat((filled, text), 1), torch.cat((gone, kept), 1)
    read = loaded.model.encode if family in TRANSLATORS else loaded.model
    alone = read(text)
    torch.testing.assert_close(read(*right)[:, : text.shape[1]], alone, atol=1e-6, rtol=1e-6)
    if family in ("t5", "nllb", "roberta", *WRITERS):
        torch.testing.assert_close(read(*left)[:, 2:], alone, atol=1e-5, rtol=1e-5)
    else:
        with pytest.raises(ValueError, match="pad on the right"):
            read(*left)


@pytest.mark.parametrize("family", ["marian", "llama"])
def test_edits_reach_everything_downstream(family: str, ours: Open) -> None:
    loaded, path = ours(family), "decoder.layers.0.self_attention.query"
    before = trace_of(loaded, family)
    target = TARGET if family == "marian" else "I love"
    same = loaded.trace(TEXT, target, edits={path: lambda query: query})
    other = loaded.trace(
        TEXT, target, edits={path: torch.zeros_like, "decoder.layers.1.self_attention.context": torch.zeros_like}
    )
    assert torch.equal(same["logits"].tensor, before["logits"].tensor)
    assert not torch.allclose(other["logits"].tensor, before["logits"].tensor)
    even = other["decoder.layers.0.self_attention.weights"].tensor[0, 0, 3, :4]
    torch.testing.assert_close(even, torch.full((4,), 0.25).double())
    with pytest.raises(model.UnknownPathError, match="no value to edit"):
        loaded.trace(TEXT, target, edits={"decoder.layers.9.self_attention.weights": torch.zeros_like})


def test_cross_attention_has_rows_of_the_target(ours: Open, tmp_path: Path) -> None:
    """Target ids, never source ids, are what the decoder reads; and the picture of it can be saved."""
    loaded: HuggingFaceTranslator = ours("marian")
    trace = loaded.trace(TEXT, "Je t'aime.")
    cross = trace["decoder.layers.2.cross_attention.weights"]
    assert (cross.size("query"), cross.size("key")) == (len(trace.target), len(trace.source))
    assert len(trace.target) == len(trace.produced) != len(trace.source)
    assert [token.text for token in trace.target[1:]] == [token.text for token in trace.produced[:-1]]
    for family in ("marian", "bert"):
        page = model.save_html(trace_of(ours(family), family), tmp_path / f"{family}.html")
        assert "attention_map" in page.read_text("utf-8")
