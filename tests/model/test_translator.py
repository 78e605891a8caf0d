"""Text in; text, tokens and traces out: the contract of `Translation` and `Trace`, and what is refused."""

import math
from pathlib import Path

import pytest
import torch

import model
from model import CheckpointError, TextError, Translation, Translator
from model.tokenizer import END, START, UNKNOWN, Token
from model.translator import choose_device
from tests.model import tiny

TEXTS = [tiny.ENGLISH[2], "I"]


def assert_well_made(tokens: tuple[Token, ...], text: str) -> None:
    for token in tokens:
        begin, end = token.span
        assert 0 <= begin <= end <= len(text)
        assert token.special == (begin == end) or not token.text, token
        assert token.special or token.text == text[begin:end]
        assert token.label.strip()


class TestTranslate:
    @pytest.mark.parametrize("text", TEXTS)
    @pytest.mark.parametrize("beam", [1, 3])
    def test_the_parts_of_a_translation_agree(self, translator: Translator, text: str, beam: int) -> None:
        result = translator.translate(text, beam=beam, limit=6)
        assert isinstance(result, Translation)
        assert result.text == translator.tokenizers.target.decode(token.id for token in result.produced)
        assert len(result.log_probabilities) == len(result.produced) > 0
        assert all(value <= 0 for value in result.log_probabilities)
        assert result.score == pytest.approx(sum(result.log_probabilities))
        assert (result.stopped == "end") == (result.produced[-1].id == END)
        assert result.source[-1].id == END
        assert_well_made(result.source, text)
        assert [token.id for token in result.source[:-1]] == translator.tokenizers.source.ids([text])[0]

    def test_the_same_twice(self, translator: Translator) -> None:
        assert translator.translate(TEXTS[0], limit=5) == translator.translate(TEXTS[0], limit=5)

    def test_a_translation_that_does_not_end_says_so(self, translator: Translator) -> None:
        results = [translator.translate(text, limit=2) for text in tiny.ENGLISH]
        stopped = [result for result in results if result.stopped == "limit"]
        assert stopped, "a random model seldom ends after two tokens"
        for result in stopped:
            assert len(result.produced) == len(result.log_probabilities) == 2
            assert END not in [token.id for token in result.produced]

    @pytest.mark.parametrize("text", ["", " ", "\t\n", "\u00a0\u202f \u3000"])
    def test_an_empty_text_is_refused(self, translator: Translator, text: str) -> None:
        for call in (translator.translate, translator.trace):
            with pytest.raises(TextError, match="the source text is empty; type at least one word"):
                call(text)

    def test_a_text_longer_than_the_model_takes_is_refused_with_both_numbers(self, translator: Translator) -> None:
        text = "I " * 600
        for call in (translator.translate, translator.trace):
            with pytest.raises(TextError, match="the text has 601 tokens, the model takes 600; shorten it"):
                call(text)

    def test_200_tokens_are_fine(self, translator: Translator) -> None:
        text = "I " * 250
        assert len(translator.translate(text, limit=2).source) == 251
        trace = translator.trace(text, "a " * 220)
        assert trace["decoder.layers.0.cross_attention.weights"].tensor.shape[-1] == 251
        assert all(trace[path].tensor.isfinite().all() for path in trace if not path.endswith("masked"))

    @pytest.mark.parametrize(
        "text",
        [
            "zorglub Ж blurk ẞ",
            "👋🏽 👩‍👩‍👧",
            "مرحبا abc שלום 12",
            "<b>x</b> &lt; <script>alert(1)</script>",
            "$x_1$ **a** [b](c) `d`",
            "1E1 2024-05-06 NaN inf 0x10",
            "<s> </s> <pad> <unk>",
            "a \ue000 b",
            "x \u200b \x07 y",
            "\ud83d",
            "你好，世界",
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        ],
    )
    def test_odd_texts_are_translated_and_traced_like_any_other(self, translator: Translator, text: str) -> None:
        result, trace = translator.translate(text, limit=1), translator.trace(text, text)
        assert_well_made(result.source, text)
        assert_well_made(trace.source, text)
        assert_well_made(trace.target, text)
        assert all(token.special for token in (trace.source[-1], trace.target[0], trace.produced[-1]))
        assert not any(token.special for token in trace.source[:-1])
        assert all(math.isfinite(value) for value in trace.log_probabilities)


class TestTrace:
    def test_over_a_given_target(self, translator: Translator) -> None:
        source, target = tiny.ENGLISH[0], "Je la" if translator.name == "shared" else "我她。"
        trace = translator.trace(source, target)
        assert (trace.source_text, trace.target_text) == (source, target)
        assert trace.source == translator.source_tokens(source)
        pieces = translator.tokenizers.target.encode(target)
        assert trace.target[0].id == START
        assert trace.target[0].special
        assert trace.target[1:] == pieces == trace.produced[:-1]
        assert trace.produced[-1].id == END
        assert len(trace.target) == len(trace.produced) == len(trace.log_probabilities)

    def test_its_log_probabilities_are_those_of_its_logits(self, translator: Translator) -> None:
        trace = translator.trace(tiny.ENGLISH[1])
        rows = trace["logits"].tensor[0].double().log_softmax(dim=-1)
        assert trace.log_probabilities == pytest.approx([float(rows[r, token.id]) for r, token in enumerate(trace.produced)])

    @pytest.mark.usefixtures("quick")
    @pytest.mark.parametrize("text", TEXTS)
    def test_without_a_target_it_is_over_the_models_own_output(self, translator: Translator, text: str) -> None:
        result, trace = translator.translate(text), translator.trace(text)
        assert trace.target_text == result.text
        assert trace.source == result.source
        own = len(result.produced)
        if result.stopped == "end":
            assert trace.produced == result.produced
        else:
            assert trace.produced[:-1] == result.produced
        assert trace.log_probabilities[:own] == pytest.approx(result.log_probabilities, abs=1e-4)
        assert [token.id for token in trace.target[1:]] == [token.id for token in trace.produced[:-1]]
        greedy = trace["logits"].tensor[0].argmax(dim=-1).tolist()[:own]
        assert greedy == [token.id for token in result.produced]

    def test_spans_lie_in_the_target_text(self, translator: Translator) -> None:
        for trace in (translator.trace(TEXTS[0]), translator.trace(TEXTS[0], "Où est le café ?")):
            text = trace.target_text
            for token in trace.produced:
                begin, end = token.span
                assert 0 <= begin <= end <= len(text)
                assert token.special or token.text == text[begin:end]

    def test_an_empty_target_is_the_first_step_only(self, translator: Translator) -> None:
        trace = translator.trace(tiny.ENGLISH[0], "")
        assert [token.text for token in trace.target] == ["<s>"]
        assert [token.text for token in trace.produced] == ["</s>"]
        assert trace["decoder.layers.0.self_attention.weights"].tensor.flatten().tolist() == [1.0] * 4

    def test_one_word_each_way(self, translator: Translator) -> None:
        trace = translator.trace("I", "。" if translator.name == "characters" else ".")
        assert len(trace.source) == len(trace.target) == 2
        assert trace["encoder.layers.0.self_attention.weights"].tensor.shape == (1, 4, 2, 2)

    def test_a_target_that_is_too_long_is_refused(self, translator: Translator) -> None:
        with pytest.raises(TextError, match="the text has 601 tokens, the model takes 600"):
            translator.trace("I", "a " * 600)

    def test_typed_control_tokens_are_text(self, translator: Translator) -> None:
        trace = translator.trace("<s> I </s>", "</s> <pad>")
        assert sum(token.special for token in trace.source) == 1
        assert [token.special for token in trace.target] == [True] + [False] * (len(trace.target) - 1)
        assert not {START, END, 0} & {token.id for token in (*trace.source[:-1], *trace.target[1:])}

    def test_unknown_words_keep_their_own_labels(self, translator: Translator) -> None:
        trace = translator.trace("Ж I Ф I Ц", "")
        unknown = [token.label for token in trace.source if token.unknown]
        assert unknown == ["<unk> Ж", "<unk> Ф", "<unk> Ц"]
        assert all(token.id == UNKNOWN for token in trace.source if token.unknown)

    def test_nothing_needs_gradients(self, translator: Translator) -> None:
        assert not any(activation.tensor.requires_grad for activation in translator.trace("I", "La").values())


def test_a_model_that_never_ends_can_still_be_traced_at_its_greatest_length(tmp_path: Path) -> None:
    """The output fills all positions; the forced pass over it must fit as well."""
    tiny.save_checkpoint(tmp_path, max_length=16, seed=4)
    translator = model.load(tmp_path)
    for text in ("I love you.", "I"):
        result = translator.translate(text)
        trace = translator.trace(text)
        assert len(result.produced) <= 16
        assert len(trace.target) <= 16


class TestLoad:
    def test_a_folder(self, tmp_path: Path) -> None:
        made = tiny.save_checkpoint(tmp_path / "mine")
        translator = model.load(tmp_path / "mine", device="cpu")
        assert translator.name == "mine"
        assert translator.config == made.config == translator.model.config
        assert translator.card["data"]["name"] == "sentences of the tests"
        assert translator.tokenizers.source is translator.tokenizers.target
        assert not translator.model.training
        assert translator.device == torch.device("cpu")

    def test_an_unknown_name_is_refused_with_the_known_ones(self) -> None:
        for name in ("en-xx", "", "../checkpoints"):
            with pytest.raises(CheckpointError, match=r"holds no model; shipped are: "):
                model.load(name)

    def test_devices(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
        assert choose_device() == choose_device("auto") == choose_device("cpu") == torch.device("cpu")
        with pytest.raises(ValueError, match="device='cuda', but there is no CUDA device here; choose 'cpu' or 'auto'"):
            choose_device("cuda")
        monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
        assert choose_device() == torch.device("cuda")

    def test_a_device_that_does_not_exist_is_refused(self) -> None:
        with pytest.raises(ValueError, match="device='gpu' is not known; choose 'cpu', 'cuda' or 'auto'"):
            choose_device("gpu")


@pytest.mark.parametrize("name", model.available())
class TestShipped:
    """The trained models, as far as behaviour goes; how well they translate stands on their cards."""

    def test_it_translates_and_traces(self, name: str) -> None:
        translator = model.load(name)
        if isinstance(translator, model.LanguageModel):
            self.check_language_model(translator)
            return
        sentence = "我爱你。" if name.startswith("zh") else "I love you."
        result = translator.translate(sentence)
        assert result.stopped == "end"
        assert result.text
        assert result.score > -10
        trace = translator.trace(sentence)
        assert trace.produced == result.produced
        assert trace.log_probabilities == pytest.approx(result.log_probabilities, abs=1e-3)
        best = translator.translate(sentence, beam=4)
        assert best.score >= result.score - 1

    @staticmethod
    def check_language_model(writer: model.LanguageModel) -> None:
        result = writer.generate("I don't want to")
        assert result.stopped == "end"
        assert result.text
        assert result.score > -20
        trace = writer.trace("I don't want to", result)
        written = trace.log_probabilities[len(result.source) - 1 :]
        assert written == pytest.approx(result.log_probabilities, abs=1e-3)
        assert writer.generate("I don't want to", beam=4).score >= result.score - 1

    def test_its_files_are_small_and_its_card_complete(self, name: str) -> None:
        folder = model.checkpoint.SHIPPED / name
        assert sum(path.stat().st_size for path in folder.iterdir()) < 20e6
        card = model.checkpoint.load_card(folder)
        measured = ("perplexity",) if card["architecture"]["kind"] == "decoder-only" else ("bleu", "chrf")
        quality = ("exact", ("match", "alignment")) if card.get("closed_vocabulary") else ("quality", measured)
        for part, keys in (("data", ("name", "licence")), ("training", ("command",)), quality):
            assert all(card[part].get(key) for key in keys), part
