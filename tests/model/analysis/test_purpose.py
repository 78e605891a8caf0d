"""Silencing an attention: nothing is read where its name says, and the measures are what plain counting gives."""

import pytest
import torch
from torch.nn.functional import log_softmax

from model import Translator, load
from model.analysis import purpose, what_if
from model.analysis.purpose import CROSS, DECODER, ENCODER, Outcome
from model.trace import tracing

SOURCE = "He bought 3 books, and she read them."
SIMPLE = "I don't know his name."


@pytest.fixture(scope="module")
def english_french() -> Translator:
    return load("en-fr")


@pytest.fixture(scope="module")
def measured(english_french: Translator) -> dict[str, Outcome]:
    return {each.variant: each for each in purpose.outcomes_of(english_french, SIMPLE)}


@pytest.mark.parametrize("attention", [ENCODER, DECODER, CROSS])
def test_what_is_silenced_reads_nothing_and_the_rest_still_reads(translator: Translator, attention: str) -> None:
    layers = {"encoder": translator.config.encoder_layers, "decoder": translator.config.decoder_layers}
    edits = purpose.silenced(translator, [attention])
    assert set(edits) == set(what_if.weight_paths(attention, layers[attention.split(".")[0]]))
    trace = translator.trace(SOURCE, "x y", edits)
    for path, activation in trace.items():
        if path.endswith(".weights"):
            assert bool(activation.tensor.any()) == (path not in edits)
            context = trace[path.replace("weights", "context")].tensor
            assert bool(context.any()) == (path not in edits)
            output = trace[path.replace("weights", "output")].tensor
            bias = translator.model.get_submodule(path.removesuffix(".weights")).to_output.bias
            if path in edits:
                torch.testing.assert_close(output, torch.zeros_like(output) if bias is None else bias.expand_as(output))


def test_without_cross_attention_the_source_does_not_matter(translator: Translator) -> None:
    edits = purpose.silenced(translator, [CROSS])
    one, other = (translator.trace(source, "x y z", edits) for source in (SOURCE, "Where is the café?"))
    assert torch.equal(one["logits"].tensor, other["logits"].tensor)


def test_without_decoder_self_attention_a_row_knows_only_the_token_it_reads(translator: Translator) -> None:
    edits = purpose.silenced(translator, [DECODER])
    targets = ("我爱", "你爱") if translator.name == "characters" else ("x y", "y y")
    one, other = (translator.trace(SOURCE, target, edits) for target in targets)
    assert one.target[2] == other.target[2]
    assert one.target[1].id != other.target[1].id
    torch.testing.assert_close(one["logits"].tensor[:, 2], other["logits"].tensor[:, 2])
    assert not torch.equal(one["logits"].tensor[:, 1], other["logits"].tensor[:, 1])


def test_without_encoder_self_attention_a_source_token_does_not_know_its_neighbours(translator: Translator) -> None:
    edits = purpose.silenced(translator, [ENCODER])
    one, other = (translator.trace(source, "x", edits)["encoder.output"].tensor for source in ("I love you.", "I love me."))
    torch.testing.assert_close(one[:, 0], other[:, 0])


def test_outcomes_are_what_separate_passes_give(english_french: Translator, measured: dict[str, Outcome]) -> None:
    own = english_french.translate(SIMPLE)
    assert list(measured) == list(purpose.VARIANTS)
    assert measured["whole"].text == own.text
    assert measured["whole"].loss == pytest.approx(-own.score / len(own.produced), abs=1e-5)
    assert measured["whole"].faithfulness == pytest.approx(-measured["whole"].loss)
    assert measured["whole"].overlap == 1
    without = {f"decoder.layers.{layer}.cross_attention.weights": torch.zeros_like for layer in range(3)}
    trace = english_french.trace(SIMPLE, own, without)
    rows = log_softmax(trace["logits"].tensor[0].double(), dim=-1)
    loss = -sum(float(rows[at, token.id]) for at, token in enumerate(own.produced)) / len(own.produced)
    assert measured["cross"].loss == pytest.approx(loss) == pytest.approx(-measured["whole"].fluency)
    with tracing(without):
        assert measured["cross"].text == english_french.translate(SIMPLE).text


def test_the_trained_model_without_cross_attention_is_fluent_and_unfaithful(
    measured: dict[str, Outcome], english_french: Translator
) -> None:
    whole = measured["whole"]
    assert purpose.fluent(whole, whole)
    assert purpose.fluent(measured["cross"], whole)
    assert [each.faithful for each in measured.values()] == [True, False, True, True, False]
    with tracing(purpose.silenced(english_french, purpose.VARIANTS["all"])):
        assert measured["all"].text == english_french.translate("Where is he?").text
    assert measured["cross"].loss > measured["decoder"].loss > whole.loss


def test_the_reference_of_a_trace_is_its_own_target(shared: Translator, quick: None) -> None:
    trace = shared.trace("I love you.", "Je t'aime.")
    whole = purpose.outcomes(shared, trace)[0]
    assert whole.loss == pytest.approx(-sum(trace.log_probabilities) / len(trace.produced))
    assert whole.text == shared.translate("I love you.").text


def test_an_average_is_the_mean_over_sentences() -> None:
    def outcome(text: str, loss: float) -> Outcome:
        return Outcome("cross", text, "end", loss, -1.0, -2 * loss, 0.5, 0.25)

    (mean,) = purpose.average([[outcome("a", 1)], [outcome("a", 2)], [outcome("b", 6)]])
    assert (mean.text, mean.loss, mean.faithfulness, mean.sentences, mean.distinct) == ("a", 3, -6, 3, 2)
    assert mean.gain == -5
    with pytest.raises(ValueError, match="no sentence"):
        purpose.average([])


def test_the_sentence_that_suffers_most_is_measured_against_its_own_whole_text() -> None:
    def measured(whole: float, silent: float) -> list[Outcome]:
        marks = {"whole": whole, "decoder": silent}
        return [Outcome(variant, "", "end", 0, 0, marks.get(variant, whole), 0, 1) for variant in purpose.VARIANTS]

    sentences = [measured(-0.5, -0.6), measured(-0.2, -3.0), measured(-3.0, -3.5)]
    assert purpose.worst(sentences, "decoder") == 1
    assert purpose.worst(sentences, "encoder") == 0


def test_repetition_and_overlap() -> None:
    assert purpose.repeated([]) == purpose.repeated([1]) == purpose.repeated([1, 2, 3, 2]) == 0
    assert purpose.repeated([1, 2, 1, 2, 1]) == 0.5
    assert purpose.shared([1, 1, 2], [1, 2, 3]) == pytest.approx(4 / 6)
    assert purpose.shared([], []) == 1
