"""Recording: every path, axis and span; edits; threads apart."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from model import Trace, Translation, Translator, UnknownPathError, tracing
from model.trace import Activation, Recording, Traced
from model.transformer import EncoderDecoder
from tests.model import tiny

TEXT, TARGET = "I love the red car.", "La vie"
TAPS = ("query", "key", "value", "scores", "weights", "context")


def expected_paths(translator: Translator) -> list[str]:
    """In order: embeddings, then layer by layer, sublayer by sublayer, as the values are computed."""
    config = translator.config
    rotary, sinusoidal = config.positions == "rotary", config.positions == "sinusoidal"

    def attention(path: str, turned: bool) -> list[str]:
        before = ["query", "query_rotated", "key", "value", "key_rotated"] if turned else ["query", "key", "value"]
        return [f"{path}.{name}" for name in (*before, "scores", "weights", "context", "masked", "output")]

    def residual(path: str, number: int) -> list[str]:
        return [f"{path}.residual.{number}.{name}" for name in ("input", "sublayer", "sum", "normed")]

    def embedding(side: str) -> list[str]:
        return [f"{side}.embedding", f"{side}.position"] if sinusoidal else [f"{side}.embedding"]

    paths = embedding("source")
    for layer in (f"encoder.layers.{index}" for index in range(config.encoder_layers)):
        paths += [*attention(f"{layer}.self_attention", rotary), *residual(layer, 0)]
        paths += [f"{layer}.feed_forward.hidden", *residual(layer, 1)]
    paths += ["encoder.output", *embedding("target")]
    for layer in (f"decoder.layers.{index}" for index in range(config.decoder_layers)):
        paths += [*attention(f"{layer}.self_attention", rotary), *residual(layer, 0)]
        paths += [*attention(f"{layer}.cross_attention", False), *residual(layer, 1)]
        paths += [f"{layer}.feed_forward.hidden", *residual(layer, 2)]
    return [*paths, "decoder.output", "logits"]


class TestEveryRecordedTensor:
    def test_paths_in_order_of_recording(self, translator: Translator) -> None:
        trace = translator.trace(TEXT, TARGET)
        assert list(trace) == expected_paths(translator)
        assert len(trace) == len(expected_paths(translator))
        assert all(trace[path].path == path for path in trace)

    def test_axes_match_shapes_and_spans_match_tokens(self, translator: Translator) -> None:
        trace, config = translator.trace(TEXT, TARGET), translator.config
        sizes = {
            "batch": 1,
            "head": config.num_heads,
            "head_dim": config.head_dim,
            "d_model": config.d_model,
            "d_ff": config.d_ff,
            "vocab": config.target_vocab_size,
        }
        assert len(trace.source) != len(trace.target)
        for path, activation in trace.items():
            assert activation.tensor.ndim == len(activation.axes) == len(set(activation.axes)), path
            assert set(activation.spans) == {"query", "key", "token"} & set(activation.axes), path
            for axis, size in zip(activation.axes, activation.tensor.shape, strict=True):
                tokens = activation.spans.get(axis)
                assert size == activation.size(axis) == (len(trace.tokens(tokens)) if tokens else sizes[axis]), (path, axis)

    def test_spans_by_kind(self, translator: Translator) -> None:
        trace = translator.trace(TEXT, TARGET)
        weights = {
            "encoder.layers.0.self_attention": {"query": "source", "key": "source"},
            "decoder.layers.0.self_attention": {"query": "target", "key": "target"},
            "decoder.layers.0.cross_attention": {"query": "target", "key": "source"},
        }
        for path, spans in weights.items():
            assert trace[f"{path}.weights"].axes == ("batch", "head", "query", "key")
            assert trace[f"{path}.weights"].spans == spans
            assert trace[f"{path}.key"].spans == {"key": spans["key"]}
            assert trace[f"{path}.query"].spans == trace[f"{path}.context"].spans == {"query": spans["query"]}
        assert trace["logits"].axes == ("batch", "token", "vocab")
        assert trace["logits"].spans == trace["target.embedding"].spans == {"token": "target"}
        assert trace["source.embedding"].spans == trace["encoder.output"].spans == {"token": "source"}

    def test_what_leaves_a_residual_enters_the_next(self, translator: Translator) -> None:
        trace, post = translator.trace(TEXT, TARGET), translator.config.norm == "post"
        leaves = "normed" if post else "sum"
        for stack, layers, residuals, side in (
            ("encoder", translator.config.encoder_layers, 2, "source"),
            ("decoder", translator.config.decoder_layers, 3, "target"),
        ):
            stream = trace[f"{side}.embedding"].tensor
            if f"{side}.position" in trace:
                stream = stream + trace[f"{side}.position"].tensor
            for path in (f"{stack}.layers.{layer}.residual.{number}" for layer in range(layers) for number in range(residuals)):
                assert torch.equal(trace[f"{path}.input"].tensor, stream), path
                total = trace[f"{path}.input"].tensor + trace[f"{path}.sublayer"].tensor
                assert torch.equal(trace[f"{path}.sum"].tensor, total), path
                stream = trace[f"{path}.{leaves}"].tensor
            if post:
                assert torch.equal(trace[f"{stack}.output"].tensor, stream)

    def test_sublayers_are_the_outputs_of_attention(self, translator: Translator) -> None:
        trace = translator.trace(TEXT, TARGET)
        for residual, attention in (("residual.0", "self_attention"), ("residual.1", "cross_attention")):
            sublayer = trace[f"decoder.layers.0.{residual}.sublayer"].tensor
            assert torch.equal(sublayer, trace[f"decoder.layers.0.{attention}.output"].tensor)  # dropout is off

    def test_rows_sum_to_1_and_masked_cells_are_exactly_the_future(self, translator: Translator) -> None:
        trace = translator.trace(TEXT, TARGET)
        for path in (path for path in trace if path.endswith("weights")):
            weights, masked = trace[path].tensor, trace[path.replace("weights", "masked")].tensor
            torch.testing.assert_close(weights.sum(dim=-1), torch.ones(weights.shape[:-1]), atol=1e-5, rtol=0)
            future = torch.zeros(weights.shape[-2:], dtype=torch.bool)
            if path.startswith("decoder") and "self" in path:
                future = torch.ones(weights.shape[-2:], dtype=torch.bool).triu(1)
            assert torch.equal(masked.isneginf(), future.expand_as(masked)), path
            assert not weights[future.expand_as(weights)].any()

    def test_a_path_that_is_not_there(self, translator: Translator) -> None:
        trace = translator.trace(TEXT, TARGET)
        path = "decoder.layers.9.cross_attention.weights"
        assert path not in trace
        assert trace.get(path) is None
        with pytest.raises(UnknownPathError, match=rf"nothing was recorded at '{path}'"):
            trace[path]


class TestEdits:
    def test_an_edit_that_changes_nothing_changes_nothing(self, translator: Translator) -> None:
        plain = translator.trace(TEXT, TARGET)
        taps = [path for path in plain if path.rpartition(".")[2] in TAPS]
        edited = translator.trace(TEXT, TARGET, edits=dict.fromkeys(taps, torch.clone))
        assert list(plain) == list(edited)
        assert all(torch.equal(plain[path].tensor, edited[path].tensor) for path in plain)

    @pytest.mark.parametrize("name", TAPS)
    def test_an_edit_changes_what_lies_downstream_and_nothing_else(self, translator: Translator, name: str) -> None:
        plain = translator.trace(TEXT, TARGET)
        place = f"decoder.layers.1.cross_attention.{name}"
        edited = translator.trace(TEXT, TARGET, edits={place: lambda value: value * 0.5})
        assert torch.equal(edited[place].tensor, plain[place].tensor * 0.5)
        inner = "decoder.layers.1.cross_attention."
        independent = {"query": ("key", "value"), "key": ("query", "value")}.get(name, ("query", "key", "value"))
        if name in ("weights", "value", "context"):
            independent = (*independent, "scores", "masked")
        if name in ("value", "context"):
            independent = (*independent, "weights")
        before = [f"decoder.layers.1.residual.1.{value}" for value in ("input", "normed")]  # recorded after the sublayer
        if translator.config.norm == "post":
            before.remove("decoder.layers.1.residual.1.normed")
        after = False
        for path in plain:
            same = torch.equal(plain[path].tensor, edited[path].tensor)
            if path.startswith(inner):
                after = True
                if path != place:
                    assert same == (path.removeprefix(inner) in independent), path
            elif after and path not in before and path.endswith((".normed", ".sum", "decoder.output", "logits")):
                assert not same, path
            elif not after or path in before:
                assert same, path

    def test_no_weight_given_to_a_word_is_as_if_it_were_not_there(self, translator: Translator) -> None:
        """Silencing one head is the same as zeroing its columns of W_O."""
        path = "encoder.layers.0.self_attention"

        def without_head_1(weights: Tensor) -> Tensor:
            return weights * torch.tensor([1.0, 0.0, 1.0, 1.0])[None, :, None, None]

        edited = translator.trace(TEXT, TARGET, edits={f"{path}.weights": without_head_1})
        other = EncoderDecoder(translator.config).eval().requires_grad_(False)
        other.load_state_dict(translator.model.state_dict())
        attention = other.get_submodule(path)
        width = translator.config.head_dim
        attention.to_output.weight[:, width : 2 * width] = 0
        ids = [torch.tensor([[token.id for token in tokens]]) for tokens in (edited.source, edited.target)]
        torch.testing.assert_close(edited["logits"].tensor, other(*ids))

    @pytest.mark.parametrize(
        "path",
        [
            "decoder.layers.9.cross_attention.weights",
            "decoder.layers.0.cross_attention.wieghts",
            "decoder.layers.0.cross_attention.output",  # recorded, but not edited: what comes after is the residual's sublayer
            "logits",
            "",
        ],
    )
    def test_an_unknown_path_is_an_error_that_names_it(self, shared: Translator, path: str) -> None:
        with pytest.raises(UnknownPathError, match=rf"no value to edit at {path}; a path looks like decoder\.layers\.1"):
            shared.trace(TEXT, TARGET, edits={path: torch.clone})

    @pytest.mark.parametrize("edit", [lambda value: value[..., :1], lambda value: value[0], lambda value: value.sum()])
    def test_another_shape_is_an_error_that_names_path_and_shapes(
        self, shared: Translator, edit: Callable[[Tensor], Tensor]
    ) -> None:
        path = "encoder.layers.0.self_attention.weights"
        with pytest.raises(ValueError, match=rf"the edit of {path} returned shape \(.*\); needed is \(1, 4, .*batch head query"):
            shared.trace(TEXT, TARGET, edits={path: edit})

    def test_after_an_error_recording_is_off_again(self, shared: Translator) -> None:
        with pytest.raises(ZeroDivisionError):
            shared.trace(TEXT, TARGET, edits={"encoder.layers.0.self_attention.weights": lambda value: value / (1 // 0)})
        module = Traced()
        module.path = "somewhere"
        module.record("token", value=torch.ones(3))  # outside of any tracing: nothing happens
        with tracing() as recording:
            module.record("token", value=torch.ones(3))
        assert list(recording.activations) == ["somewhere.value"]


class TestRecording:
    def test_inner_and_outer_tracing_do_not_mix(self) -> None:
        module = Traced()
        module.path = "m"
        with tracing() as outer:
            module.record("token", first=torch.ones(1))
            with tracing() as inner:
                module.record("token", second=torch.ones(1))
            module.record("token", third=torch.ones(1))
        assert list(outer.activations) == ["m.first", "m.third"]
        assert list(inner.activations) == ["m.second"]

    def test_only_the_paths_asked_for(self) -> None:
        module = Traced()
        module.path = "m"
        with tracing(only=frozenset({"m.b"})) as recording:
            module.record("token", a=torch.ones(1), b=torch.ones(1))
            assert module.tap("token", c=torch.ones(1)) == 1
        assert list(recording.activations) == ["m.b"]

    @settings(max_examples=30)
    @given(
        st.lists(st.sampled_from(["batch", "head", "query", "key", "token", "d_model"]), unique=True, max_size=5),
        st.integers(0, 5),
    )
    def test_axes_must_fit_the_tensor(self, axes: list[str], dimensions: int) -> None:
        module = Traced()
        module.path, module.spans = "m", {"query": "target", "key": "source", "token": "target"}
        tensor = torch.zeros([2] * dimensions)
        with tracing() as recording:
            if len(axes) != dimensions:
                with pytest.raises(ValueError, match=r"m\.x has shape .* but its axes are named"):
                    module.record(" ".join(axes), x=tensor)
            else:
                module.record(" ".join(axes), x=tensor)
                assert recording["m.x"].axes == tuple(axes)
                assert set(recording["m.x"].spans) == set(axes) & {"query", "key", "token"}

    def test_a_recording_is_found_by_path(self) -> None:
        activation = Activation("a", torch.ones(2), ("token",), {"token": "source"})
        assert Recording({}, None, {"a": activation})["a"] is activation


@pytest.mark.usefixtures("quick")
def test_threads_that_share_a_model_stay_apart(translator: Translator) -> None:
    """Sentences of many lengths, translated, traced and edited at once, give what they give one after the other."""

    def work(number: int) -> tuple[Trace, Translation]:
        text = tiny.ENGLISH[number % len(tiny.ENGLISH)]
        edit = {"encoder.layers.0.self_attention.weights": lambda weights: weights * (number / 10)}
        return translator.trace(text, "La vie", edits=edit if number % 2 else None), translator.translate(text, limit=2)

    numbers = range(8)
    serial = [work(number) for number in numbers]
    with ThreadPoolExecutor(8) as pool:
        parallel = list(pool.map(work, numbers, timeout=120))
    for (trace, translation), (twin, other) in zip(serial, parallel, strict=True):
        assert translation == other
        assert trace.source == twin.source
        assert list(trace) == list(twin)
        assert trace.log_probabilities == twin.log_probabilities
        assert all(torch.equal(trace[path].tensor, twin[path].tensor) for path in trace)
