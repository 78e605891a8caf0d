"""Parameters by part, counted on the drawn modules, are those of the formulas; the variants differ where they say."""

from dataclasses import replace
from typing import Any

import pytest

from model import Translator, cost
from model.analysis.architecture import of_translator
from model.analysis.sizes import SETTINGS, by_part, compared, operations, stack_terms, variant
from model.analysis.sketch import sketched
from model.config import paper_base
from tests.model import tiny


@pytest.mark.parametrize("changes", [{}, {"norm": "pre", "tie": "none", "attention_bias": True}, {"encoder_layers": 0}])
def test_parts_are_those_of_the_cost_formulas(changes: dict[str, Any]) -> None:
    config = tiny.config(**changes)
    drawn = sketched(config, 4, 3)
    assert by_part(drawn) == cost.parameters_by_part(config)
    for terms in stack_terms(drawn):
        per_layer = (
            terms.attentions * cost.of_attention(config) + cost.of_feed_forward(config) + terms.norms * cost.of_norm(config)
        )
        assert terms.total == terms.layers * per_layer + terms.final == by_part(drawn)[terms.path]
        assert (terms.attentions, terms.norms) == ((1, 2) if terms.path == "encoder" else (2, 3))


def test_the_papers_base_model_adds_up_as_published() -> None:
    """Case 73: 37,000 tokens, one matrix for both embeddings and the output, no biases in attention."""
    parts = by_part(sketched(paper_base(), 3, 3))
    assert parts == {"embeddings": 18_944_000, "encoder": 18_902_016, "decoder": 25_199_616, "output": 0, "total": 63_045_632}


def test_each_variant_changes_what_it_says(translator: Translator) -> None:
    trace = translator.trace("I love you.", "Je t'aime." if translator.name == "shared" else "我爱你。")
    kinds = {box.kind for box in of_translator(translator, trace).boxes}
    for name in ("norm", "positions", "tie"):  # those of the paper are drawn above
        config = SETTINGS[name](translator.config)
        found = variant(translator, trace, name)
        assert found.parameters == cost.parameters(config)
        assert found.box("decoder:tokens").output.sizes == (len(trace.target),)
        assert found.box("encoder:tokens").output.sizes == (len(trace.source),)
        lengths = len(trace.source), len(trace.target)
        assert operations(translator, trace, name) == (cost.flops(translator.config, *lengths), cost.flops(config, *lengths))
        beside = compared(translator, name)
        assert beside.here == cost.parameters_by_part(translator.config)
        assert beside.there == cost.parameters_by_part(config)
        assert beside.layers_there == {"encoder": config.encoder_layers, "decoder": config.decoder_layers}
        others = {box.kind for box in found.boxes}
        if name == "norm":
            assert ("add_norm" in kinds) != ("add_norm" in others)
            assert replace(config, norm=translator.config.norm) == translator.config
        if name == "positions":
            assert ("position" in kinds) != ("position" in others)
        if name == "tie":
            assert all(not box.shared_with for box in found.boxes)
