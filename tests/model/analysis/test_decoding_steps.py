"""Step by step: every number of a step against a forced pass, the cache against none and against torch's count of operations."""

import math
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from model import cost, load
from model.analysis import beam_tree, decoding_steps, lens, unshifted
from model.analysis.decoding_steps import Eye, Plan
from model.beam_search import beam
from model.decoding import greedy, greedy_steps, steps_of
from model.sampling import Sampling, distribution
from model.trace import tracing
from model.translator import Atlas, Translator
from tests.model import tiny

pytestmark = pytest.mark.usefixtures("quick")
TEXT, EYE = "the red car", Eye(1, 2)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> list[Atlas]:
    folder = tmp_path_factory.mktemp("models")
    tiny.save_checkpoint(folder / "translator", norm="pre", tie="none")
    tiny.save_language_model(folder / "writer")
    return [load(folder / name) for name in ("translator", "writer")]


def forced(atlas: Atlas, ids: tuple[int, ...]) -> Any:
    """One traced pass over an output, its rows from the one that produced the first token."""
    source = atlas.source_tokens(TEXT)
    given = [] if isinstance(atlas, Translator) else [token.id for token in source[1:]]
    read = torch.tensor([[atlas.config.start, *given, *ids[:-1]]])
    with torch.inference_mode(), tracing() as recording:
        atlas.forced(decoding_steps.ids_of(atlas, source), read)
    return recording, len(given), len(source)


@pytest.mark.parametrize(
    "plan",
    [
        Plan(limit=8),
        Plan("sampling", Sampling(1.4, 9, 0.8), seed=5, limit=8),
        Plan("sampling", Sampling(0.0, 5), seed=2, prefix=(7, 9), limit=8),
    ],
)
def test_every_step_is_what_a_forced_pass_over_the_output_gives(both: list[Atlas], plan: Plan) -> None:
    for atlas in both:
        writing = decoding_steps.write(atlas, TEXT, plan, EYE)
        recording, first, keys = forced(atlas, writing.ids)
        logits = recording["logits"].tensor[0, first:].double()
        name = "cross" if isinstance(atlas, Translator) else "self"
        weights = recording[f"decoder.layers.1.{name}_attention.weights"].tensor[0, 2, first:, :keys]
        assert len(writing.moments) == len(logits)
        assert writing.ids[: len(plan.prefix)] == plan.prefix
        torch.testing.assert_close(decoding_steps.logits(atlas, TEXT, writing.ids).double(), logits, atol=1e-5, rtol=0)
        assert [m.read.id for m in writing.moments[1:]] == list(writing.ids[:-1])
        for moment, row, looked in zip(writing.moments, logits, weights, strict=True):
            probabilities, final = row.softmax(-1), distribution(row, plan.sampling)
            shown = [candidate.id for candidate in moment.candidates]
            assert moment.taken.id in shown
            best = probabilities.topk(decoding_steps.BEST).values.tolist()
            assert [c.probability for c in moment.candidates[: decoding_steps.BEST]] == pytest.approx(best, abs=1e-5)
            for candidate in moment.candidates:
                assert candidate.logit == pytest.approx(float(row[candidate.id]), abs=1e-5)
                assert candidate.final == pytest.approx(float(final[candidate.id]), abs=1e-4)
                assert candidate.rank == 1 + int((row > row[candidate.id] + 1e-6).sum())
                assert candidate.in_top_k == (plan.sampling.top_k is None or candidate.rank <= plan.sampling.top_k)
                assert (candidate.final > 0) == (candidate.in_top_k and candidate.in_top_p) or plan.sampling.temperature == 0
            assert sum(c.probability for c in moment.candidates) + moment.others_probability == pytest.approx(1)
            assert sum(c.final for c in moment.candidates) + moment.others_final == pytest.approx(1)
            assert len(shown) + moment.others == len(row)
            assert moment.log_probability == pytest.approx(math.log(probabilities[moment.taken.id]), abs=1e-4)
            assert moment.weights == pytest.approx(looked.tolist(), abs=1e-6)
            if moment.drawn is not None:
                assert moment.low - 1e-9 <= moment.drawn <= moment.high + 1e-9
            assert moment.given == (moment.drawn is None) or plan.kind == "greedy"


def test_greedy_writes_what_the_model_writes_and_its_text(both: list[Atlas]) -> None:
    for atlas in both:
        own = atlas.write(TEXT)
        writing = decoding_steps.write(atlas, TEXT, Plan(), EYE)
        assert writing.ids == tuple(token.id for token in own.produced)
        assert [m.taken for m in writing.moments] == list(own.produced)
        assert writing.score == pytest.approx(own.score, abs=1e-5)
        assert writing.text == own.text
        assert writing.ended == (own.stopped == "end")


def test_the_cache_changes_nothing_and_costs_what_torch_counts(both: list[Atlas]) -> None:
    for atlas in both:
        ids = (7, 9, 8, 11, 12)
        source = decoding_steps.ids_of(atlas, atlas.source_tokens(TEXT))
        found = decoding_steps.cached(atlas, TEXT, ids)
        assert found.same
        assert found.difference < 1e-5 < found.largest
        ahead = 0 if isinstance(atlas, Translator) else -1
        for step, kept in enumerate(found.bytes):
            assert kept == cost.cache_bytes(atlas.config, source.shape[1], step + 1 + ahead)
        for cached, total in ((True, found.with_cache), (False, found.without)):
            for count in (1, len(ids)):
                written = iter(torch.tensor([[id_] for id_ in ids]))

                def following(_: Tensor, written: Iterator[Tensor] = written) -> Tensor:
                    return next(written)

                with FlopCounterMode(display=False) as counter:
                    list(steps_of(atlas.model, source, following, limit=count, cached=cached))
                assert total[count - 1] == counter.get_total_flops()


def test_led_and_alone(both: list[Atlas]) -> None:
    translator, writer = both
    own = translator.write(TEXT)
    same = decoding_steps.beside(translator, TEXT, own.text)
    assert [row.wanted.id for row in same.rows if row.wanted] == [token.id for token in translator.trace(TEXT, own.text).produced]
    other = decoding_steps.beside(translator, TEXT, "Je t'aime.")
    trace = translator.trace(TEXT, "Je t'aime.")
    assert [row.loss for row in other.rows if row.loss is not None] == pytest.approx([-v for v in trace.log_probabilities])
    assert other.mean_loss == pytest.approx(-sum(trace.log_probabilities) / len(trace.log_probabilities))
    alone = greedy(translator.model, decoding_steps.ids_of(translator, trace.source), limit=len(trace.produced) + 10)[0].ids
    assert [row.written.id for row in other.rows if row.written] == list(alone)
    wanted = [token.id for token in trace.produced]
    first = next((at for at, pair in enumerate(zip(wanted, alone, strict=False)) if pair[0] != pair[1]), None)
    assert other.divergence == first
    if first is not None:
        assert all(row.right == (row.written == row.wanted) for row in other.rows[:first])
    led = decoding_steps.beside(writer, TEXT, None, given=2)
    of_writer = writer.trace(TEXT)
    start = torch.tensor([[token.id for token in of_writer.target[:2]]])
    steps = list(greedy_steps(writer.model, start, limit=len(of_writer.produced) + 9))
    assert [row.written.id for row in led.rows if row.written] == [int(step.chosen) for step in steps]
    assert led.rows[0].read == of_writer.target[1]


def test_the_lens_of_the_last_layer_is_the_models_own(both: list[Atlas]) -> None:
    for atlas in both:
        trace = atlas.trace(TEXT)
        readings = lens.after_layers(atlas, trace)
        assert [reading.layer for reading in readings] == list(range(atlas.config.decoder_layers + 1))
        best = trace["logits"].tensor[0].double().softmax(-1).max(-1)
        assert [value for _, value, _ in readings[-1].words] == pytest.approx(best.values.tolist(), abs=1e-5)
        wanted = [i == token.id for i, token in zip(best.indices.tolist(), trace.produced, strict=True)]
        assert [right for _, _, right in readings[-1].words] == wanted
        assert readings[-1].loss == pytest.approx(-sum(trace.log_probabilities) / len(trace.produced), abs=1e-5)
    translator = both[0]
    assert isinstance(translator, Translator)
    trace = translator.trace(TEXT)
    heard = lens.from_encoder_layers(translator, trace)
    assert len(heard) == translator.config.encoder_layers + 1
    assert heard[-1].text == translator.write(TEXT).text
    assert heard[-1].loss == pytest.approx(-sum(trace.log_probabilities) / len(trace.produced), abs=1e-5)
    assert heard[0].loss != pytest.approx(heard[-1].loss)


@pytest.mark.parametrize("prefix", [(), (7, 9)])
def test_nodes_of_the_tree_carry_the_row_that_produced_them(both: list[Atlas], prefix: tuple[int, ...]) -> None:
    for atlas in both:
        grown = beam_tree.grow(atlas, TEXT, 3, EYE, prefix, limit=6)
        source = decoding_steps.ids_of(atlas, atlas.source_tokens(TEXT))
        assert [grown.tree.hypothesis(i) for i in grown.tree.best] == beam(atlas.model, source, 3, 6, prefix=prefix)
        name = "cross" if isinstance(atlas, Translator) else "self"
        for index, node in enumerate(grown.tree.nodes):
            ids = tuple(grown.tree.nodes[at].id for at in grown.tree.way(index))
            recording, first, keys = forced(atlas, ids)
            row = recording[f"decoder.layers.1.{name}_attention.weights"].tensor[0, 2, first + node.depth - 1, :keys]
            assert grown.rows[grown.row_of[index]] == pytest.approx(row.tolist(), abs=1e-6)
            assert grown.labels[index] == atlas.tokenizers.target.produced([node.id])[0].label


def test_another_length_penalty_orders_the_outputs_as_a_search_with_it_would(both: list[Atlas]) -> None:
    atlas = both[0]
    source = decoding_steps.ids_of(atlas, atlas.source_tokens(TEXT))
    grown = beam_tree.grow(atlas, TEXT, 4, EYE, limit=9)
    alphas = (0.0, 0.6, 1.5, 4.0)
    outputs, best = beam_tree.ranked(grown.tree, alphas)
    for at, alpha in enumerate(alphas):
        again = beam(atlas.model, source, 4, 9, length_penalty=alpha)[0]
        assert grown.tree.hypothesis(outputs[best[at]].node).ids == again.ids
        assert outputs[best[at]].worths[at] == pytest.approx(again.score / ((5 + len(again.ids)) / 6) ** alpha)


def test_unshifted_input(both: list[Atlas]) -> None:
    for atlas in both:
        trace = atlas.trace(TEXT)
        found = unshifted.fed(atlas, trace)
        assert found.shifted == pytest.approx(-sum(trace.log_probabilities) / len(trace.produced))
        assert found.unshifted > 0


def test_greedy_beside_the_best_of_a_search(both: list[Atlas]) -> None:
    for atlas in both:
        eye = Eye(0, None)
        alone = decoding_steps.write(atlas, "the red car", Plan(limit=6), eye)
        same = beam_tree.grow(atlas, "the red car", 1, eye, limit=6).tree
        assert beam_tree.beside_greedy(same, alone.ids, alone.score).parted is None
        tree = beam_tree.grow(atlas, "the red car", 4, eye, limit=6).tree
        found = beam_tree.beside_greedy(tree, alone.ids, alone.score)
        best = tree.hypothesis(tree.best[0])
        assert found.worth == pytest.approx(alone.score / ((5 + len(alone.ids)) / 6) ** 0.6)
        assert found.better == (found.parted is not None and found.worth > tree.nodes[tree.best[0]].worth)
        if found.parted is not None:
            assert alone.ids[: found.parted] == best.ids[: found.parted]
            assert alone.ids[found.parted : found.parted + 1] != best.ids[found.parted : found.parted + 1]


@pytest.mark.parametrize(("name", "text", "wrote", "searched"), [
    ("en-fr", "cat dog", "chatte chien chien.", "Chaque chien chien chien."),
    ("en-lm", "What", "'s the problem?", "'s your favorite sport?"),
])  # fmt: skip
def test_a_beam_may_cut_away_the_way_that_greedy_takes_and_miss_what_is_worth_more(
    name: str, text: str, wrote: str, searched: str
) -> None:
    atlas, eye = load(name), Eye(0, 0)
    alone = decoding_steps.write(atlas, text, Plan(limit=16), eye)
    grown = beam_tree.grow(atlas, text, 3, eye, limit=16)
    found = beam_tree.beside_greedy(grown.tree, alone.ids, alone.score)
    assert (alone.text.strip(), grown.texts[0].strip()) == (wrote, searched)
    assert found.better
    assert found.worth > grown.tree.nodes[grown.tree.best[0]].worth + 0.2
    assert found.parted is not None
    assert grown.tree.hypothesis(grown.tree.best[0]).ids[: found.parted + 1] != alone.ids[: found.parted + 1]
