"""Two families: masks, prompts, costs against counts, and what a language model is measured to do; small random models."""

import math
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.utils.flop_counter import FlopCounterMode

from model import attention_mask, cost
from model.analysis import families
from model.attention import KeyValueCache
from model.config import paper_base
from model.translator import LanguageModel, Translator, load
from tests.model import tiny


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("families")
    tiny.save_checkpoint(folder / "en-fr")
    tiny.save_language_model(folder / "en-lm")
    return folder


@pytest.fixture(scope="module")
def writer(folder: Path) -> LanguageModel:
    made = load(folder / "en-lm", device="cpu")
    assert isinstance(made, LanguageModel)
    return made


@pytest.fixture(scope="module")
def translator(folder: Path) -> Translator:
    made = load(folder / "en-fr", device="cpu")
    assert isinstance(made, Translator)
    return made


@given(st.integers(0, 12), st.integers(0, 12))
def test_a_prefix_sees_itself_both_ways_and_nothing_else_changes(prefix: int, rest: int) -> None:
    length = prefix + rest
    mask = families.prefix_mask(prefix, length)
    for query in range(length):
        assert mask[query].tolist() == [key <= query or key < prefix for key in range(length)]
    assert torch.equal(families.prefix_mask(0, length), attention_mask.causal(length))
    assert bool(families.prefix_mask(length, length).all())


def test_a_prefix_longer_than_its_sequence_is_refused() -> None:
    with pytest.raises(ValueError, match="prefix=4 does not lie in a sequence of length=3"):
        families.prefix_mask(4, 3)


def test_masks_are_read_off_the_traces(writer: LanguageModel, translator: Translator) -> None:
    one = translator.trace("I love you.", "Je t'aime.")
    assert bool(families.allowed(one, "encoder.layers.0.self_attention").all())
    assert bool(families.allowed(one, "decoder.layers.1.cross_attention").all())
    assert torch.equal(families.allowed(one, "decoder.layers.0.self_attention"), attention_mask.causal(len(one.target)))
    other = writer.trace("I love you.")
    assert torch.equal(families.allowed(other, "decoder.layers.1.self_attention"), attention_mask.causal(len(other.target)))


def test_prompts() -> None:
    text = "She bought a red car."
    assert [families.prompt(text, kind) for kind in families.PROMPTS] == [
        "She bought a",
        "She bought a red car",
        text,
        "Translate into French: She bought a red car.",
    ]
    assert families.prompt("Go!", "half") == "Go!"
    with pytest.raises(ValueError, match="prompt 'tail' is not known"):
        families.prompt(text, "tail")


def test_a_task_is_written_on_like_any_other_prompt(writer: LanguageModel) -> None:
    found = families.continued(writer, "I love you.", "French")
    assert [one.prompt for one in found] == [
        "Translate into French: I love you.",
        "I love you. In French:",
        "English: I love you. French:",
    ]
    assert all(one.text == writer.generate(one.prompt).text for one in found)


def test_the_models_own_mask_changes_nothing_and_no_mask_does(writer: LanguageModel) -> None:
    trace = writer.trace("The red car is here.", "")
    length = len(trace.target)
    values, _ = families.under(writer, trace, families.mask_of("causal", 3, length))
    assert values == pytest.approx(trace.log_probabilities, abs=1e-6)
    assert families.under(writer, trace, families.mask_of("off", 3, length))[0][0] != pytest.approx(values[0], abs=1e-4)


def test_losses_under_masks_are_means_over_the_second_halves(writer: LanguageModel) -> None:
    sentences = tiny.ENGLISH[:2]
    found = families.masked(writer, sentences)
    expected = []
    for sentence in sentences:
        trace = writer.trace(sentence, "")
        expected += [-value for value in trace.log_probabilities[(len(trace.target) + 1) // 2 - 1 :]]
    assert found.tokens == len(expected)
    assert found.loss["causal"] == pytest.approx(sum(expected) / len(expected), abs=1e-6)
    assert set(found.loss) == set(found.likeliest) == set(families.MASKS)
    assert all(0 <= share <= 1 for share in found.likeliest.values())


def test_what_a_request_changes_is_counted_in_nats_a_character(writer: LanguageModel, translator: Translator) -> None:
    sentences = tiny.ENGLISH[:2]
    found = families.asked(writer, translator, sentences, "French")
    traces = [translator.trace(sentence) for sentence in sentences]
    characters = sum(len(trace.target_text) for trace in traces)
    assert found.translator == pytest.approx(-sum(sum(trace.log_probabilities[:-1]) for trace in traces) / characters)
    alone = [writer.trace("", trace.target_text) for trace in traces if trace.target_text]
    assert found.alone == pytest.approx(-sum(sum(trace.log_probabilities[:-1]) for trace in alone) / characters)
    assert found.pieces == sum(len(trace.produced) - 1 for trace in alone)
    assert 0 <= found.unknown <= found.pieces
    assert math.isfinite(found.asked + found.other)


# ----- cost


@pytest.mark.parametrize(("source", "target"), [(7, 5), (1, 1), (3, 9)])
def test_a_step_with_cache_costs_what_torch_counts_and_keeps_what_the_cache_holds(source: int, target: int) -> None:
    both, alone = tiny.model(torch.float32), tiny.language_model(torch.float32)
    source_ids, target_ids = tiny.ids(source, 19), tiny.ids(target, 19)
    for model in (both, alone):
        cache = KeyValueCache()
        with torch.no_grad():
            if model is both:
                memory = both.encode(source_ids)
                both.decode(target_ids[:, :-1], memory, cache=cache) if target > 1 else None
            else:
                alone(torch.cat((source_ids, target_ids[:, :-1]), dim=1), cache=cache)
            with FlopCounterMode(display=False) as counter:
                if model is both:
                    both.decode(target_ids[:, -1:], memory, cache=cache)
                else:
                    alone(target_ids[:, -1:], cache=cache)
        assert cache.bytes() == cost.cache_bytes(model.config, source, target)
        first = model is both and target == 1  # the source's keys and values are made in the first step
        extra = 2 * source * 2 * both.config.d_model**2 * both.config.decoder_layers if first else 0
        assert counter.get_total_flops() == cost.flops_of_token(model.config, source, target) + extra


def test_a_source_costs_once_what_torch_counts() -> None:
    both, alone = tiny.model(), tiny.language_model()
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        alone(tiny.ids(6, 19))
    assert cost.flops_of_source(alone.config, 6) == counter.get_total_flops()
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        memory = both.encode(tiny.ids(6, 19))
        for layer in both.decoder.layers:
            layer.cross_attention.keys_and_values(memory, None)
    assert cost.flops_of_source(both.config, 6) == counter.get_total_flops()


def test_the_weights_of_a_pass_are_those_recorded(writer: LanguageModel, translator: Translator) -> None:
    for atlas in (writer, translator):
        trace = atlas.trace("I love you.")
        recorded = sum(trace[path].tensor.nbytes for path in trace if path.endswith(".weights"))
        assert families.costs(atlas.config, len(trace.source), len(trace.target)).weights == recorded


def test_the_papers_base_has_the_parameters_of_a_decoder_only_model_of_fourteen_layers() -> None:
    equal = families.of_equal_size(paper_base())
    assert (equal.decoder_layers, equal.d_model, equal.family) == (14, 512, "decoder-only")
    assert cost.parameters(equal) == pytest.approx(cost.parameters(paper_base()), rel=0.001)


def test_a_text_of_marks_alone_is_read_whole() -> None:
    assert families.prompt("?!", "open") == "?!"
    assert families.prompt("Why?!", "open") == "Why"
