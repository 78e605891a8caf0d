"""Scores, norms, rollout and agreement, each against numbers computed another way."""

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from model import LanguageModel, Trace, Translator, load
from model.alignment.extract import Choice
from model.analysis import ablation, agreement, head_scores, norms, roles, rollout, several, what_if
from model.analysis.ablation import Head
from model.attention import MultiHeadAttention
from model.checkpoint import SHIPPED

SOURCE, TARGET = "She didn't know 12 things.", "Elle ne savait pas 12 choses."


@pytest.fixture
def trace(translator: Translator) -> Trace:
    target = TARGET if translator.name == "shared" else "她不知道12件事。"
    return translator.trace(SOURCE, target)


def evened(translator: Translator, trace: Trace) -> Trace:
    """The same pair through a model all of whose heads read evenly."""
    edits: dict[str, what_if.Edit] = {}
    for head in ablation.every_head(trace):
        path = f"{head.path}.weights"
        edits |= what_if.even_head(path, *range(translator.config.num_heads))
    return translator.trace(trace.source_text, trace.target_text, edits)


def test_even_weights_score_exactly_chance(translator: Translator, trace: Trace) -> None:
    measured = head_scores.measure([evened(translator, trace)] * 2, Choice(1, 0, "produced"))
    names = {name for scores in measured.values() for name in scores}
    assert names >= {"previous", "same", "next", "special", "punctuation", "entropy", "relative_entropy", "distance"}
    assert {"aligned_produced", "aligned_read"} <= set(measured["decoder.cross_attention"])
    for scores in measured.values():
        for score in scores.values():
            np.testing.assert_allclose(score.heads, score.chance, atol=1e-6)


def test_scores_are_those_of_a_plain_loop(translator: Translator, trace: Trace) -> None:
    measured = head_scores.measure([trace])
    weights = trace["encoder.layers.0.self_attention.weights"].tensor[0, 1].numpy().astype(float)
    length = len(trace.source)
    shares = {
        "previous": np.mean([weights[row, row - 1] for row in range(1, length)]),
        "next": np.mean([weights[row, row + 1] for row in range(length - 1)]),
        "same": np.mean(np.diag(weights)),
        "special": weights[:, -1].mean(),
        "punctuation": sum(weights[:, key].mean() for key, token in enumerate(trace.source) if token.text in {".", "'"}),
        "distance": np.mean([sum(weights[row, key] * abs(row - key) for key in range(length)) for row in range(length)]),
    }
    for name, right in shares.items():
        assert measured["encoder.self_attention"][name].heads[0][1] == pytest.approx(right), name
    assert measured["encoder.self_attention"]["previous"].chance == pytest.approx(1 / length)

    own = trace["decoder.layers.1.self_attention.weights"].tensor[0, 0].numpy().astype(float)
    rows = range(1, len(trace.target))  # row 0 may read nothing but <s>
    score = measured["decoder.self_attention"]["special"]
    assert score.heads[1][0] == pytest.approx(own[1:, 0].mean())
    assert (score.rows, score.chance) == (len(rows), pytest.approx(np.mean([1 / (row + 1) for row in rows])))
    assert "next" not in measured["decoder.self_attention"]
    entropies = [-sum(weight * math.log2(weight) for weight in own[row] if weight) for row in rows]
    assert measured["decoder.self_attention"]["entropy"].heads[1][0] == pytest.approx(np.mean(entropies))


def test_alignment_is_scored_against_the_links_of_the_reference_head() -> None:
    atlas = load("en-fr")
    guided = next(entry for entry in atlas.card["guided"] if entry["row"] == "produced")
    reference = Choice(guided["layer"], guided["head"], "produced")
    trace = atlas.trace("The red car is here.", "La voiture rouge est ici.")
    scores = head_scores.measure([trace], reference)["decoder.cross_attention"]
    heads = scores["aligned_produced"].heads
    assert heads[reference.layer][reference.head or 0] == max(max(layer) for layer in heads)  # it agrees with itself most
    assert 0 < scores["aligned_produced"].chance < 0.5


@pytest.mark.parametrize("attention", head_scores.ATTENTIONS)
def test_norms_come_from_vectors_that_add_up_to_the_output(translator: Translator, trace: Trace, attention: str) -> None:
    for path in head_scores.paths_of(trace, attention):
        module = translator.model.get_submodule(path)
        assert isinstance(module, MultiHeadAttention)
        weights = trace[f"{path}.weights"].tensor[0].double()
        made = norms.transformed(translator, trace, path)
        summed = torch.einsum("hqk,hkd->qd", weights, made)
        bias = module.to_output.bias
        output = trace[f"{path}.output"].tensor[0].double()
        torch.testing.assert_close(summed + (bias.double() if bias is not None else 0), output, atol=1e-5, rtol=1e-5)
        row, head = 1, 2
        vectors = weights[head, row, :, None] * made[head]
        np.testing.assert_allclose(
            norms.added(translator, trace, path)[head, row], np.sqrt((vectors.numpy() ** 2).sum(-1)), atol=1e-9
        )
        assert bool((norms.of_layer(translator, trace, path) <= norms.added(translator, trace, path).sum(0) + 1e-9).all())
    torch.testing.assert_close(norms.shares(torch.tensor([[3.0, 1.0], [0.0, 0.0]])), torch.tensor([[0.75, 0.25], [0.0, 0.0]]))


def test_rollout_rows_sum_to_one_and_are_a_product_of_layers(trace: Trace) -> None:
    made = rollout.encoder(trace)
    product = np.eye(len(trace.source))
    for path in head_scores.paths_of(trace, "encoder.self_attention"):
        mean = trace[f"{path}.weights"].tensor[0].numpy().astype(float).mean(0)
        product = (0.5 * mean + 0.5 * np.eye(len(mean))) @ product
    np.testing.assert_allclose(made, product, atol=1e-6)
    np.testing.assert_allclose(made.sum(-1), 1, atol=1e-6)
    target, source = rollout.decoder(trace)
    assert (target.shape, source.shape) == ((len(trace.target),) * 2, (len(trace.target), len(trace.source)))
    np.testing.assert_allclose(target.sum(-1) + source.sum(-1), 1, atol=1e-6)
    assert not target.triu(1).any()  # nothing comes from the future
    kept = 0.5 ** len(head_scores.paths_of(trace, "decoder.cross_attention"))
    np.testing.assert_allclose(target.sum(-1), kept, atol=1e-6)  # each layer keeps half of what it had


def test_a_row_without_weights_keeps_to_itself() -> None:
    assert rollout.with_residual(torch.zeros(2, 2)).tolist() == [[1, 0], [0, 1]]


def test_a_source_token_is_missed_as_if_it_were_masked(translator: Translator, trace: Trace) -> None:
    measured = agreement.prediction_difference(translator, trace)
    key = 2
    source, target = ablation.inputs(translator, trace)
    mask = torch.arange(source.shape[1])[None] != key
    positions = torch.arange(source.shape[1])[None]
    with torch.inference_mode():
        embedded = translator.model.source(source, positions)
        memory = translator.model.encoder(embedded, mask[:, None, :], positions)
        logits = translator.model.decode(target, memory, source_mask=mask)
    without = logits[0].double().log_softmax(-1)[range(len(trace.produced)), [token.id for token in trace.produced]]
    right = torch.tensor(trace.log_probabilities, dtype=torch.float64) - without
    torch.testing.assert_close(measured[:, key], right, atol=1e-5, rtol=1e-4)


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=3, max_size=9))
def test_spearman_is_that_of_pandas(pairs: list[tuple[int, int]]) -> None:
    x, y = (torch.tensor(values, dtype=torch.float64) for values in zip(*pairs, strict=True))
    ours = float(agreement.spearman(x, y))
    if len(set(x.tolist())) == 1 or len(set(y.tolist())) == 1:
        assert math.isnan(ours)
    else:
        assert ours == pytest.approx(pd.DataFrame(pairs).corr(method="spearman").iloc[0, 1])


def test_a_map_agrees_with_itself_and_a_constant_one_has_no_order(shared: Translator) -> None:
    trace = shared.trace(SOURCE, TARGET)
    difference = agreement.prediction_difference(shared, trace)
    itself = agreement.compare(difference, difference)
    assert (itself.correlation, itself.first, itself.rows) == (pytest.approx(1), 1, len(trace.produced))
    assert agreement.compare(-difference, difference).correlation == pytest.approx(-1)
    assert agreement.compare(torch.ones_like(difference), difference).rows == 0
    found = agreement.over_sentences(shared, [trace, trace])
    assert set(found) == {"weights", "last", "norms", "rollout", "diagonal"}  # no head of this model was guided
    for name, value in agreement.of_trace(shared, trace).agreements.items():
        assert found[name].correlation == pytest.approx(value.correlation)
        assert found[name].first == pytest.approx(value.first)


def test_heads_that_are_off(translator: Translator, trace: Trace) -> None:
    cross, own = Head("decoder.cross_attention", 1, 2), Head("decoder.self_attention", 0, 1)
    for how in ablation.HOWS:
        changes = ablation.edits(trace, (cross, own, Head("decoder.cross_attention", 1, 0)), how)
        altered = translator.trace(trace.source_text, trace.target_text, changes)
        effect = ablation.switch_off(translator, trace, (cross, own, Head("decoder.cross_attention", 1, 0)), how)
        assert effect.log_probabilities == pytest.approx(altered.log_probabilities, abs=1e-5)
        rise = (sum(trace.log_probabilities) - sum(altered.log_probabilities)) / len(trace.produced)
        assert effect.change == pytest.approx(rise, abs=1e-5)
        context, weights = (altered[f"{own.path}.{name}"].tensor[0, 1] for name in ("context", "weights"))
        if how == "zero":
            assert not context.any()
        elif how == "mean":
            torch.testing.assert_close(context, trace[f"{own.path}.context"].tensor[0, 1].mean(0).expand_as(context))
        else:
            for row, even in enumerate(weights):
                assert even[: row + 1].tolist() == pytest.approx([1 / (row + 1)] * (row + 1))
                assert not even[row + 1 :].any()
        torch.testing.assert_close(
            altered[f"{own.path}.weights"].tensor[0, 3], trace[f"{own.path}.weights"].tensor[0, 3]
        )  # its neighbours are left alone


def test_every_head_is_tried_once_and_a_changed_model_writes_for_itself(shared: Translator) -> None:
    trace = shared.trace(SOURCE, TARGET)
    heads = ablation.every_head(trace)
    config = shared.config
    assert len(heads) == len(set(heads)) == config.num_heads * (config.encoder_layers + 2 * config.decoder_layers)
    found = ablation.importance(shared, trace, "zero")
    assert tuple(found) == heads
    assert found[heads[3]] == ablation.switch_off(shared, trace, (heads[3],), "zero")


def test_a_changed_model_writes_for_itself() -> None:
    atlas = load("en-fr")
    trace = atlas.trace("I love you.")
    heads = ablation.every_head(trace)
    assert ablation.rewritten(atlas, trace, (), "zero") == atlas.translate("I love you.").text
    assert ablation.rewritten(atlas, trace, heads, "mean") != trace.target_text


def test_one_head_of_the_whole_width_scores_with_the_sum_of_all_heads(translator: Translator, trace: Trace) -> None:
    path = "decoder.layers.0.cross_attention"
    altered = translator.trace(trace.source_text, trace.target_text, what_if.one_head([path]))
    query, key = (trace[f"{path}.{name}"].tensor[0].transpose(0, 1).flatten(1).double() for name in ("query", "key"))
    right = (query @ key.mT / math.sqrt(translator.config.d_model)).softmax(-1)
    for head in altered[f"{path}.weights"].tensor[0].double():
        torch.testing.assert_close(head, right, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(several.one_head(trace, path), right, atol=1e-5, rtol=1e-4)
    assert ablation.as_one_head(translator, trace, "decoder.cross_attention").log_probabilities != trace.log_probabilities


def test_the_number_of_heads_costs_nothing_but_weights(shared: Translator) -> None:
    trace = shared.trace(SOURCE, TARGET)
    found = several.widths(shared.config, len(trace.source), len(trace.target))
    assert [width.heads for width in found] == [1, 2, 4, 8]
    assert len({(width.attention, width.parameters, width.flops) for width in found}) == 1
    assert found[0].parameters == sum(parameter.numel() for parameter in shared.model.parameters())
    assert all(width.heads * width.head_dim == shared.config.d_model for width in found)
    assert [width.weights for width in found] == [heads * len(trace.target) * len(trace.source) for heads in (1, 2, 4, 8)]


def test_heads_side_by_side_make_the_output(translator: Translator, trace: Trace) -> None:
    path = "decoder.layers.1.self_attention"
    found = several.parts(translator, trace, path)
    np.testing.assert_array_equal(found.concat, np.concatenate(list(found.contexts.numpy()), axis=1))
    np.testing.assert_array_equal(found.query, np.concatenate(list(found.queries.numpy()), axis=1))
    made = found.concat @ found.to_output + (found.bias if found.bias is not None else 0)
    torch.testing.assert_close(made, found.output, atol=1e-5, rtol=1e-4)
    assert found.hidden.tolist() == np.triu(np.ones(found.hidden.shape), 1).astype(bool).tolist()


def test_one_number_of_the_input_moves_the_queries_of_all_heads(shared: Translator) -> None:
    path, dimension = "encoder.layers.0.self_attention", 23
    module = shared.model.get_submodule(path)
    assert isinstance(module, MultiHeadAttention)
    x = torch.randn(1, 1, 24)
    nudged = x + torch.nn.functional.one_hot(torch.tensor(dimension), 24)
    change = (module.split(module.to_query(nudged)) - module.split(module.to_query(x)))[0, :, 0]
    assert several.moved(shared, path, dimension) == pytest.approx(np.linalg.norm(change.numpy(), axis=-1), rel=1e-4)


def test_several_heads_look_at_several_places(translator: Translator, trace: Trace) -> None:
    seen = several.sight(translator, trace, "decoder.cross_attention")
    weights = head_scores.stacked(trace, "decoder.cross_attention")[0].numpy()
    places = [len(set(weights[layer, :, row].argmax(-1))) for layer in range(len(weights)) for row in range(weights.shape[2])]
    assert seen.places == pytest.approx(np.mean(places))
    assert 1 <= seen.places <= seen.heads == 4
    assert seen.change == ablation.as_one_head(translator, trace, "decoder.cross_attention").change


def test_roles_are_clearly_above_chance_and_survive_the_file(shared: Translator, tmp_path: Path) -> None:
    trace = shared.trace(SOURCE, TARGET)
    measured = roles.measure(shared, [(trace.source_text, trace.target_text)], "some.tsv")
    roles.write(measured, tmp_path / roles.FILE)
    again = roles.read(tmp_path / roles.FILE)
    text = (tmp_path / roles.FILE).read_text()
    assert trace.source_text not in text
    assert (again.sentences, again.pairs, again.reference) == (1, "some.tsv", None)
    assert set(json.loads(text)["scores"]) == set(head_scores.ATTENTIONS)
    for attention, scores in measured.scores.items():
        for name, score in scores.items():
            np.testing.assert_allclose(again.scores[attention][name].heads, score.heads, atol=5e-5)
        for layer in range(len(scores["entropy"].heads)):
            for head in range(shared.config.num_heads):
                for role in measured.roles(attention, layer, head):
                    if role.name != "diffuse":
                        assert role.score >= max(roles.LEAST, roles.FACTOR * role.chance)
    assert len(list(roles.summary(again))) >= len(ablation.every_head(trace))


def test_the_command_draws_each_source_once(tmp_path: Path) -> None:
    file = tmp_path / "pairs.tsv"
    file.write_text("a\tb\na\tc\nd\te\tsomeone\n\n", encoding="utf-8")
    assert sorted(roles.read_pairs(file, 300)) == [("a", "b"), ("d", "e")]
    assert roles.read_pairs(file, 1) == roles.read_pairs(file, 1)


@pytest.mark.parametrize("name", sorted(path.parent.name for path in SHIPPED.glob("*/card.toml")))
def test_shipped_measures_are_of_the_shipped_weights(name: str) -> None:
    atlas = load(name)
    measured = roles.shipped(atlas)
    again = f"python -m model.analysis.roles {name} --pairs FILE"
    assert measured is not None, again
    assert roles.is_current(atlas), again
    assert measured.sentences >= 200
    if isinstance(atlas, LanguageModel):
        assert measured.reference is None  # nothing is aligned
        return
    layer, head, row = measured.reference or pytest.fail("the card names no head")
    assert head is not None
    own = {role.name for role in measured.roles("decoder.cross_attention", layer, head)}
    assert f"aligned_{row}" not in own, "a head agrees with itself"
