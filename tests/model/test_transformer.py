"""The whole model: equal to `torch.nn.Transformer`, to itself traced, padded and in a batch, and blind to the future."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from model.attention import KeyValueCache
from model.config import paper_base
from model.trace import tracing
from model.transformer import EncoderDecoder, sentences_along
from tests.model import tiny
from tests.model.agreement import by_nn_transformer, their_transformer

KINDS: list[dict[str, Any]] = [
    {},
    {"norm": "pre", "tie": "none", "attention_bias": True},
    {"positions": "rotary", "norm": "pre", "activation": "gelu"},
    {"positions": "none", "tie": "all", "source_vocab_size": 19},
]
SHORT, LONG = 2, 4


def close(actual: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(actual, expected, atol=1e-10, rtol=1e-10)


@pytest.mark.parametrize("norm", ["post", "pre"])
class TestEqualsNnTransformer:
    @pytest.mark.parametrize("tie", ["none", "target", "all"])
    def test_one_pair(self, norm: str, tie: str) -> None:
        ours = tiny.model(norm=norm, tie=tie, attention_bias=True, source_vocab_size=19 if tie == "all" else 23)
        source, target = tiny.ids(7, 19), tiny.ids(5, 19)
        close(ours(source, target), by_nn_transformer(ours, source, target))

    @pytest.mark.parametrize("side", ["left", "right"])
    def test_a_padded_batch(self, norm: str, side: str) -> None:
        ours = tiny.model(norm=norm, activation="gelu", attention_bias=True)
        source, target = tiny.ids(6, 23, batch=3), tiny.ids(4, 19, batch=3)
        source_mask, target_mask = lengths_to_mask([6, 2, 4], 6, side), lengths_to_mask([3, 4, 1], 4, "right")
        expected = by_nn_transformer(ours, source, target, source_mask, target_mask)
        close(ours(source, target, source_mask, target_mask)[target_mask], expected[target_mask])

    def test_it_is_really_their_whole_model(self, norm: str) -> None:
        theirs = their_transformer(tiny.model(norm=norm, attention_bias=True))
        assert isinstance(theirs.encoder, nn.TransformerEncoder)
        assert (theirs.encoder.norm is None) == (norm == "post")
        assert (theirs.decoder.norm is None) == (norm == "post")


def lengths_to_mask(lengths: list[int], longest: int, side: str) -> Tensor:
    rows = [[place < length for place in range(longest)] for length in lengths]
    return torch.tensor([row if side == "right" else row[::-1] for row in rows])


@pytest.mark.parametrize("changes", KINDS)
class TestEveryKind:
    @pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
    def test_traced_equals_untraced_to_the_bit(self, changes: dict[str, Any], dtype: torch.dtype) -> None:
        model = tiny.model(dtype, **changes)
        inputs = tiny.ids(6, 19, batch=3), tiny.ids(5, 19, batch=3)
        masks = lengths_to_mask([6, 2, 4], 6, "left"), lengths_to_mask([3, 5, 1], 5, "right")
        for given in (inputs, (*inputs, *masks)):
            with torch.inference_mode():
                plain = model(*given)
                with tracing() as recording:
                    traced = model(*given)
                with tracing(only=frozenset({"logits"})) as only:
                    model(*given)
            assert torch.equal(plain, traced)
            assert torch.equal(recording["logits"].tensor, plain)
            assert list(only.activations) == ["logits"]
            assert torch.equal(model(*given), plain)

    @pytest.mark.parametrize("side", ["left", "right"])
    def test_a_sentence_alone_and_padded_in_a_batch(self, changes: dict[str, Any], side: str) -> None:
        model = tiny.model(**changes)
        short = tiny.ids(SHORT, 19), tiny.ids(SHORT, 19)
        long = tiny.ids(LONG, 19), tiny.ids(LONG, 19)
        batch = []
        for one, other in zip(short, long, strict=True):
            padding = torch.zeros(1, LONG - SHORT, dtype=torch.long)
            padded = torch.cat((padding, one) if side == "left" else (one, padding), dim=1)
            batch.append(torch.cat((padded, other)))
        mask = lengths_to_mask([SHORT, LONG], LONG, side)
        real = slice(LONG - SHORT, None) if side == "left" else slice(0, SHORT)
        with tracing() as alone:
            logits = model(*short)
        with tracing() as together:
            close(model(*batch, mask, mask)[:1, real], logits)
        for path in (path for path in alone.activations if path.endswith("weights")):
            weights = together[path].tensor[:1, :, real]
            close(weights[..., real], alone[path].tensor)
            assert weights.sum() == pytest.approx(float(weights[..., real].sum()), abs=1e-12)  # padding keys get exactly 0
            assert not together[path].tensor.isnan().any()

    def test_future_tokens_cannot_change_past_logits(self, changes: dict[str, Any]) -> None:
        model, length = tiny.model(**changes), 6
        source, target = tiny.ids(6, 19), tiny.ids(length, 19)
        logits = model(source, target)
        changed = target.repeat(length, 1)  # in sentence r everything after row r is another word
        for row in range(length):
            changed[row, row + 1 :] = (changed[row, row + 1 :] + 3) % 19
        others = model(source.expand(length, -1), changed)
        for row in range(length):
            close(others[row, : row + 1], logits[0, : row + 1])
        close(model(source, target[:, :3]), logits[:, :3])
        assert (others[0, 1:] - logits[0, 1:]).abs().amax(dim=-1).min() > 1e-6  # whereas the past does change the future

    def test_a_batch_is_its_sentences(self, changes: dict[str, Any]) -> None:
        model = tiny.model(**changes)
        source, target = tiny.ids(6, 19, batch=4), tiny.ids(5, 19, batch=4)
        logits = model(source, target)
        for row in range(4):
            close(logits[row : row + 1], model(source[row : row + 1], target[row : row + 1]))

    def test_one_token_and_no_token(self, changes: dict[str, Any]) -> None:
        model = tiny.model(**changes)
        with tracing() as recording:
            assert model(tiny.ids(1, 19), tiny.ids(1, 19)).shape == (1, 1, 19)
        for path in ("encoder.layers.0.self_attention", "decoder.layers.0.self_attention", "decoder.layers.0.cross_attention"):
            assert recording[f"{path}.weights"].tensor.tolist() == [[[[1.0]]] * 4]
        assert model(tiny.ids(0, 19), tiny.ids(2, 19)).isfinite().all()  # an empty source: cross-attention reads nothing


def test_dropout_is_off_in_eval_and_on_in_training() -> None:
    model, given = tiny.model(dropout=0.3), (tiny.ids(6, 19), tiny.ids(5, 19))
    assert torch.equal(model(*given), model(*given))
    model.train()
    assert not torch.equal(model(*given), model(*given))


def test_without_positions_the_encoder_cannot_tell_order() -> None:
    source, target, order = tiny.ids(6, 19), tiny.ids(5, 19), [3, 0, 5, 1, 4, 2]
    blind, sighted = tiny.model(positions="none"), tiny.model()
    close(blind(source[:, order], target), blind(source, target))
    close(blind.encode(source[:, order]), blind.encode(source)[:, order])
    assert (sighted(source[:, order], target) - sighted(source, target)).abs().max() > 1e-3


def test_rotary_models_know_distance_only() -> None:
    """Where a sentence begins does not matter: padding of any length on the left changes nothing (positions restart)."""
    model, source = tiny.model(positions="rotary"), tiny.ids(5, 19)
    at_0 = model.encoder(model.source(source, torch.arange(5)[None]), None, torch.arange(5)[None])
    at_20 = model.encoder(model.source(source, torch.arange(5)[None]), None, torch.arange(20, 25)[None])
    close(at_0, at_20)


@pytest.mark.parametrize(
    ("tie", "shared"), [("none", []), ("target", [("target", "output")]), ("all", [("source", "target"), ("target", "output")])]
)
def test_tying_shares_one_matrix(tie: str, shared: list[tuple[str, str]]) -> None:
    model = tiny.model(tie=tie, source_vocab_size=19)
    matrix = {"source": model.source.table.weight, "target": model.target.table.weight, "output": model.to_logits.weight}
    for one, other in (("source", "target"), ("target", "output"), ("source", "output")):
        if tie != "all":
            assert (matrix[one] is matrix[other]) == ((one, other) in shared)
        else:
            assert matrix[one] is matrix[other]


def test_the_output_matrix_takes_no_factor() -> None:
    model = tiny.model()
    with tracing() as recording:
        logits = model(tiny.ids(4, 23), tiny.ids(3, 19))
    torch.testing.assert_close(logits, recording["decoder.output"].tensor @ model.target.table.weight.T)


def test_post_norm_has_no_final_norm_and_pre_norm_has() -> None:
    assert isinstance(tiny.model(norm="post").encoder.norm, nn.Identity)
    assert isinstance(tiny.model(norm="pre").decoder.norm, nn.LayerNorm)


def test_more_tokens_than_the_model_takes_are_refused() -> None:
    model = tiny.model(max_length=8)
    assert model(tiny.ids(8, 19), tiny.ids(8, 19)).shape == (1, 8, 19)
    with pytest.raises(ValueError, match="a sequence of 9 tokens is longer than max_length=8; shorten the text"):
        model(tiny.ids(9, 19), tiny.ids(2, 19))
    with pytest.raises(ValueError, match="a sequence of 9 tokens is longer than max_length=8"):
        model(tiny.ids(2, 19), tiny.ids(9, 19))


def test_a_cache_and_padding_of_the_target_exclude_each_other() -> None:
    model, target = tiny.model(), tiny.ids(2, 19)
    with pytest.raises(ValueError, match="decode with cache or with target_mask, not with both"):
        model.decode(target, model.encode(tiny.ids(3, 19)), None, torch.ones(1, 2, dtype=torch.bool), KeyValueCache())


@pytest.mark.parametrize(
    ("path", "query", "key"),
    [
        ("encoder.layers.1.self_attention", "source", "source"),
        ("decoder.layers.0.self_attention", "target", "target"),
        ("decoder.layers.0.cross_attention", "target", "source"),
    ],
)
def test_axes_know_their_sentence(path: str, query: str, key: str) -> None:
    assert sentences_along(path)["query"] == query
    assert sentences_along(path)["key"] == key
    assert tiny.model().get_submodule(path).path == path


def test_the_papers_model_starts_with_sensible_logits() -> None:
    config = paper_base(50)
    with torch.device("cpu"):
        model = EncoderDecoder(type(config)(**{**config.to_dict(), "encoder_layers": 1, "decoder_layers": 1})).eval()
    logits = model(tiny.ids(5, 50), tiny.ids(5, 50))
    assert logits.isfinite().all()
    assert logits.std() < 3
