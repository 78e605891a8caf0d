"""Stories of what a model writes: by greed and by a beam, with heads off, layer by layer."""

import math

import torch

from model.analysis import ablation, lens
from model.analysis.ablation import Head
from model.analysis.findings.told import Cell, Picture, Told, weighed
from model.trace import Trace, tracing
from model.translator import Atlas, Translation


def searching(atlas: Atlas, trace: Trace, head: Head, size: int = 4) -> Told | None:
    """Greedy beside a beam: where they part, what each token is worth there, and the whole outputs.

    `greedy_token` is the likelier at the parting; `times` says how many times likelier the beam's whole output is.
    """
    greedy, best = (atlas.write(trace.source_text, beam) for beam in (1, size))
    pairs = enumerate(zip(greedy.produced, best.produced, strict=False))
    at = next((at for at, (one, other) in pairs if one.id != other.id), None)
    if at is None or best.score <= greedy.score:
        return None
    return Told(
        {
            "greedy": greedy.text,
            "greedy_score": greedy.score,
            "greedy_token": greedy.produced[at].label,
            "greedy_share": math.exp(greedy.log_probabilities[at]),
            "beam": best.text,
            "size": size,
            "beam_score": best.score,
            "beam_token": best.produced[at].label,
            "beam_share": math.exp(best.log_probabilities[at]),
            "times": math.exp(best.score - greedy.score),
        },
        _outputs(greedy, best),
    )


def silenced(atlas: Atlas, trace: Trace, head: Head) -> Told | None:
    """Every head off, one at a time; then all of the layer of `head`; then all of the same attention: what is written then."""
    heads = ablation.every_head(trace)
    groups = {
        "layer": tuple(one for one in heads if (one.attention, one.layer) == (head.attention, head.layer)),
        "all": tuple(one for one in heads if one.attention == head.attention),
    }
    written = {name: ablation.rewritten(atlas, trace, group, "zero") for name, group in groups.items()}
    effects = {name: ablation.switch_off(atlas, trace, group, "zero") for name, group in groups.items()}
    unchanged = sum(_still_written(atlas, trace, one) for one in heads)
    if unchanged < len(heads) or written["layer"] == trace.target_text:
        return None
    shares = (trace.log_probabilities, *(effect.log_probabilities for effect in effects.values()))
    return Told(
        {
            "translation": trace.target_text,
            "heads": len(heads),
            "unchanged": unchanged,
            "layer_heads": len(groups["layer"]),
            "all_heads": len(groups["all"]),
            **written,
            "loss": effects["layer"].before,
            "layer_loss": effects["layer"].after,
        },
        Picture(
            ("none", "layer", "all"),
            tuple(token.label for token in trace.produced),
            tuple(tuple(weighed(math.exp(value)) for value in row) for row in shares),
            named=True,
        ),
    )


def deciding(atlas: Atlas, trace: Trace, head: Head, word: int) -> Told | None:
    """The logit lens at one row, after every decoder layer; `word` is the row.

    Before the first layer the row would repeat the token that it reads, `reads`; `echoes` counts the rows that would.
    """
    readings = lens.after_layers(atlas, trace)
    if word >= len(trace.produced):
        return None
    first, before, last = readings[0].words, readings[-2].words[word], readings[-1].words[word]
    if before[2] or not last[2] or first[word][0] != trace.target[word].label:
        return None
    echoes = sum(said == token.label for (said, _, _), token in zip(first, trace.target, strict=True))
    return Told(
        {
            "translation": trace.target_text,
            "reads": trace.target[word].label,
            "echo": first[word][0],
            "echo_share": first[word][1],
            "echoes": echoes,
            "rows": len(first),
            "before": before[0],
            "before_share": before[1],
            "word": last[0],
            "share": last[1],
            "layers": len(readings) - 1,
        },
        Picture(
            tuple(str(reading.layer) for reading in readings),
            tuple(token.label for token in trace.produced),
            tuple(tuple(Cell(said, share) for said, share, _ in reading.words) for reading in readings),
        ),
    )


def _outputs(*outputs: Translation) -> Picture:
    """A row for each output: its tokens, coloured by their probability."""
    longest = max(len(output.produced) for output in outputs)
    return Picture(
        tuple(output.text for output in outputs),
        tuple(str(step + 1) for step in range(longest)),
        tuple(
            tuple(
                Cell(token.label, math.exp(value)) for token, value in zip(output.produced, output.log_probabilities, strict=True)
            )
            + (Cell("", 0.0),) * (longest - len(output.produced))
            for output in outputs
        ),
    )


def _still_written(atlas: Atlas, trace: Trace, head: Head) -> bool:
    """Whether greed writes the same with this head off: whether each row's likeliest token, given those before, is the same."""
    edits = ablation.edits(trace, (head,), "zero")
    with torch.inference_mode(), tracing(edits=edits, only=frozenset()):
        likeliest = atlas.forced(*ablation.inputs(atlas, trace))[0].argmax(dim=-1)
    return likeliest.tolist() == [token.id for token in trace.produced]
