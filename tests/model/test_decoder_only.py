"""The decoder-only family: PyTorch's layers under a causal mask, blind to the future, the same cached, padded and traced."""

import shlex
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from model import Generation, LanguageModel, cost, load
from model.attention import KeyValueCache
from model.beam_search import beam
from model.config import ConfigError
from model.decoding import greedy, greedy_steps
from model.trace import tracing
from model.training.__main__ import main
from model.training.data import Batches, sentences
from model.training.loop import GuidedHead, Run, Settings
from tests.model import tiny
from tests.model.agreement import copy_layer, their_layer

KINDS: list[dict[str, Any]] = [
    {},
    {"positions": "sinusoidal", "norm": "post", "activation": "relu", "tie": "none", "attention_bias": True},
]
START = 1


@pytest.fixture(scope="module")
def atlas(tmp_path_factory: pytest.TempPathFactory) -> LanguageModel:
    folder = tmp_path_factory.mktemp("models") / "writer"
    tiny.save_language_model(folder)
    made = load(folder)
    assert isinstance(made, LanguageModel)
    return made


def close(actual: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(actual, expected, atol=1e-10, rtol=1e-10)


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_it_is_an_encoder_of_pytorch_under_a_causal_mask(norm: Any) -> None:
    ours = tiny.language_model(norm=norm, attention_bias=True, positions="none")
    config, ids = ours.config, tiny.ids(6, 19, batch=2)
    theirs = nn.TransformerEncoder(
        their_layer(config, nn.TransformerEncoderLayer), config.decoder_layers, enable_nested_tensor=False
    )
    for layer, twin in zip(ours.decoder.layers, theirs.layers, strict=True):
        copy_layer(layer, twin)
    hidden = theirs(ours.target.table.weight[ids] * config.d_model**0.5, mask=torch.ones(6, 6, dtype=torch.bool).triu(1))
    close(ours(ids), nn.functional.linear(ours.decoder.norm(hidden), ours.to_logits.weight))


@pytest.mark.parametrize("changes", KINDS)
class TestEveryKind:
    def test_traced_equals_untraced_to_the_bit(self, changes: dict[str, Any]) -> None:
        model, ids = tiny.language_model(torch.float32, **changes), tiny.ids(5, 19)
        with tracing() as recording:
            traced = model(ids)
        assert torch.equal(traced, model(ids))
        assert torch.equal(recording["logits"].tensor, traced)
        weights = recording["decoder.layers.1.self_attention.weights"]
        assert weights.spans == {"query": "target", "key": "target"}
        assert not any(path.startswith(("encoder", "source")) or "cross" in path for path in recording.activations)

    def test_future_tokens_cannot_change_past_logits(self, changes: dict[str, Any]) -> None:
        model, ids = tiny.language_model(**changes), tiny.ids(6, 19)
        logits, changed = model(ids), ids.clone()
        changed[0, 3:] = (changed[0, 3:] + 3) % 19
        others = model(changed)
        close(others[0, :3], logits[0, :3])
        assert (others[0, 3:] - logits[0, 3:]).abs().amax(dim=-1).min() > 1e-6

    @pytest.mark.parametrize("side", ["left", "right"])
    def test_a_sentence_alone_and_padded_in_a_batch(self, changes: dict[str, Any], side: str) -> None:
        model, short, long = tiny.language_model(**changes), tiny.ids(3, 19), tiny.ids(5, 19)
        padding, real = torch.zeros(1, 2, dtype=torch.long), slice(2, None) if side == "left" else slice(0, 3)
        padded = torch.cat((padding, short) if side == "left" else (short, padding), dim=1)
        mask = torch.ones(2, 5, dtype=torch.bool)
        mask[0] = padded[0] != 0
        together = model(torch.cat((padded, long)), mask)
        close(together[0, real], model(short)[0])
        close(together[1], model(long)[0])
        assert together.isfinite().all()

    def test_the_cache_changes_nothing(self, changes: dict[str, Any]) -> None:
        model, ids, cache = tiny.language_model(**changes), tiny.ids(6, 19, batch=2), KeyValueCache()
        rows = [model(ids[:, :3], cache=cache), model(ids[:, 3:4], cache=cache), model(ids[:, 4:], cache=cache)]
        close(torch.cat(rows, dim=1), model(ids))
        assert cache.length == 6
        assert (
            cache.bytes() == 2 * 2 * 6 * 24 * 8 * model.config.decoder_layers
        )  # K and V, 2 sentences, 6 tokens, d_model, float64

    def test_step_by_step_equals_one_forced_pass(self, changes: dict[str, Any]) -> None:
        model = tiny.language_model(**{**changes, "tie": "none"})
        prompt = torch.cat((torch.tensor([[START]]), tiny.ids(3, 19)), dim=1)
        steps = list(greedy_steps(model, prompt, limit=6))
        again = list(greedy_steps(model, prompt, limit=6, cached=False))
        ids = [int(step.chosen) for step in steps]
        rows = model(torch.cat((prompt, torch.tensor([ids[:-1]])), dim=1))[0, 3:].log_softmax(dim=-1)
        for step, other, row in zip(steps, again, rows, strict=True):
            assert torch.equal(step.chosen, other.chosen)
            torch.testing.assert_close(step.log_probabilities[0].double(), row, atol=1e-5, rtol=0)
        assert list(beam(model, prompt, 1, limit=6)[0].ids) == list(greedy(model, prompt, limit=6)[0].ids) == ids

    def test_parameters_and_operations_are_those_that_torch_counts(self, changes: dict[str, Any]) -> None:
        model = tiny.language_model(**changes)
        parts = cost.parameters_by_part(model.config)
        assert parts["total"] == sum(parameter.numel() for parameter in model.parameters())
        assert parts["decoder"] == sum(parameter.numel() for parameter in model.decoder.parameters())
        with FlopCounterMode(display=False) as counter:
            model(tiny.ids(9, 19))
        assert cost.flops(model.config, 5, 4) == cost.flops(model.config, 0, 9) == counter.get_total_flops()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"encoder_layers": 1}, "has no encoder"),
        ({"tie": "all"}, "one vocabulary"),
        ({"source_vocab_size": 23}, "one vocabulary"),
    ],
)
def test_what_a_decoder_only_model_cannot_have(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        tiny.language_model(**changes)


def test_prompts_are_read_without_padding() -> None:
    with pytest.raises(ValueError, match="prompts of one length"):
        greedy(tiny.language_model(), tiny.ids(3, 19), torch.ones(1, 3, dtype=torch.bool))


class TestLanguageModel:
    @pytest.mark.parametrize("prompt", ["", "I love", "The red", "She didn't ", "Z\u00fcrich <s>"])
    @pytest.mark.parametrize("size", [1, 3])
    def test_a_generation_and_its_trace_agree(self, atlas: LanguageModel, prompt: str, size: int) -> None:
        result = atlas.generate(prompt, beam=size, limit=8)
        assert isinstance(result, Generation)
        assert [token.text for token in result.source] == [
            "<s>",
            *(token.text for token in atlas.tokenizers.target.encode(prompt)),
        ]
        whole = prompt + result.text
        for token in result.produced:
            assert token.special or whole[slice(*token.span)] == token.text
        trace = atlas.trace(prompt, result)
        assert (trace.source, trace.source_text, trace.target_text) == ((), prompt, whole)
        assert trace.target[: len(result.source)] == result.source
        first = len(result.source) - 1  # the row that produces the first new token
        written = len([token for token in result.produced if not token.special])
        assert trace.log_probabilities[first : first + written] == pytest.approx(result.log_probabilities[:written], abs=1e-4)
        assert [token.id for token in trace.produced[first:]][:written] == [token.id for token in result.produced][:written]
        assert all(token.special or trace.target_text[slice(*token.span)] == token.text for token in trace.produced)

    def test_a_continuation_typed_by_hand_stands_behind_the_prompt(self, atlas: LanguageModel) -> None:
        trace = atlas.trace("I love", "you.")
        assert trace.target_text == "I love you."
        assert [token.id for token in trace.target[1:]] == [token.id for token in atlas.tokenizers.target.encode("I love you.")]
        assert len(trace.produced) == len(trace.target)
        assert trace.produced[-1].text == "</s>"
        assert atlas.trace("I love", "").target_text == "I love"


def test_trained_from_the_command_line_stopped_and_resumed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pairs = [f"{english}\t{french}\n" for english, french in zip(tiny.ENGLISH, tiny.FRENCH, strict=True)]
    (tmp_path / "train.tsv").write_text("".join(pairs * 6), encoding="utf-8")
    (tmp_path / "valid.tsv").write_text("".join(pairs[:2]), encoding="utf-8")
    options = shlex.split(
        "--family decoder-only --languages en --d-model 16 --num-heads 2 --d-ff 32 --layers 1 --vocab 100 --steps 4 --warmup 4 "
        "--batch-tokens 60 --check-every 2 --snapshots 2 --autocast off --threads 1 --positions rotary --norm pre --join 0.3"
    )
    files = ["--pairs", str(tmp_path / "train.tsv"), "--valid", str(tmp_path / "valid.tsv")]
    main([*options, *files, "--output", str(tmp_path / "whole")])
    assert "perplexity" in capsys.readouterr().out
    made = load_folder(tmp_path / "whole")
    assert (made.config.family, made.config.positions) == ("decoder-only", "rotary")
    main([*options, *files, "--output", str(tmp_path / "parts"), "--minutes", "1e-9"])
    main([*options, *files, "--output", str(tmp_path / "parts")])
    resumed = load_folder(tmp_path / "parts").model.state_dict()
    assert all(torch.equal(resumed[name], value) for name, value in made.model.state_dict().items())
    with pytest.raises(SystemExit) as refused:
        main([*options, *files, "--languages", "en", "fr", "--output", str(tmp_path / "no")])
    assert refused.value.code == 2
    assert "needs one language" in capsys.readouterr().err


def load_folder(run: Path) -> LanguageModel:
    folder = run / "checkpoint"
    (folder / "card.toml").write_text("", encoding="utf-8")
    made = load(folder)
    assert isinstance(made, LanguageModel)
    return made


def test_every_sentence_is_learned_from_once() -> None:
    tokenizer = tiny.english_bpe()
    assert len(sentences([*tiny.ENGLISH, *tiny.ENGLISH], tokenizer)) == len(tiny.ENGLISH)


def test_there_is_no_cross_attention_to_guide(tmp_path: Path) -> None:
    settings = Settings(steps=1, guided=(GuidedHead(0, 0, "read"),))
    with pytest.raises(ValueError, match="no cross-attention"):
        Run(tmp_path, tiny.language_model(), Batches((), 10, 1), settings, lambda model: {})
