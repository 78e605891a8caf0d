"""Weight tying: where one matrix stands, what it saves, what it reads in an embedding, and where the factor sqrt(d_model) is."""

from dataclasses import dataclass, replace
from statistics import median

import torch
from torch import Tensor
from torch.nn import functional

from model.analysis import what_if
from model.analysis.embeddings import NEAREST, embedding_of
from model.analysis.forced import repeated
from model.analysis.vocabulary import Side
from model.config import ModelConfig
from model.cost import parameters
from model.trace import Trace
from model.translator import Atlas

OUTPUT = "to_logits.weight"
MATRICES = ("source.table.weight", "target.table.weight", OUTPUT)


@dataclass(frozen=True)
class Matrix:
    """One of the three matrices between words and vectors: its path, its shape, and where its numbers lie in memory.

    `storage` numbers the memories, from 0 in the order of `MATRICES`: matrices with the same number are one.
    """

    path: str
    shape: tuple[int, int]
    address: int
    storage: int


def matrices(atlas: Atlas) -> tuple[Matrix, ...]:
    """Those of the three that this model has, read off its parameters; the address is that of the first number."""
    found = {path: weight for path in MATRICES if (weight := _weight(atlas, path)) is not None}
    places = list(dict.fromkeys(weight.data_ptr() for weight in found.values()))
    return tuple(
        Matrix(path, (weight.shape[0], weight.shape[1]), weight.data_ptr(), places.index(weight.data_ptr()))
        for path, weight in found.items()
    )


def _weight(atlas: Atlas, path: str) -> Tensor | None:
    module, _, name = path.partition(".")
    if not hasattr(atlas.model, module):
        return None  # a language model has no source
    weight: Tensor = atlas.model.get_submodule(module).get_parameter(name)
    return weight


@dataclass(frozen=True)
class Saved:
    """Parameters as the model has them, as it would have them with each matrix its own, and the difference."""

    tied: int
    untied: int

    @property
    def saved(self) -> int:
        """How many numbers sharing saves."""
        return self.untied - self.tied


def saved(config: ModelConfig) -> Saved:
    """By the formulas of `model.cost`."""
    return Saved(parameters(config), parameters(replace(config, tie="none")))


def counted(atlas: Atlas) -> int:
    """The numbers that the model really holds, each memory once."""
    return sum({weight.data_ptr(): weight.numel() for weight in atlas.model.parameters()}.values())


@dataclass(frozen=True)
class Nearest:
    """The output words whose rows point most nearly where the embedding of `id` points.

    `words` are ids of the target's vocabulary with their cosines, the closest first, the token itself among them; `own` is the
    place of the token itself, from 1, where it is in that vocabulary under the same id; `mean` is the cosine with all rows, and
    `tied` says whether the embedding is one of them.
    """

    id: int
    words: tuple[tuple[int, float], ...]
    own: int | None
    mean: float
    tied: bool


def nearest(atlas: Atlas, side: Side, id: int, count: int = NEAREST) -> Nearest:
    """An embedding read by the output matrix, by cosine."""
    table, output = embedding_of(atlas, side).table.weight.detach(), atlas.model.to_logits.weight.detach()
    rows = functional.normalize(output.double(), dim=-1)
    cosines = rows @ functional.normalize(table[id].double(), dim=0)
    values, ids = cosines.topk(min(count, len(rows)))
    shared = side == "target" or atlas.tokenizers.source is atlas.tokenizers.target
    own = 1 + int((cosines > cosines[id]).sum()) if shared else None
    words = tuple(zip(ids.tolist(), values.tolist(), strict=True))
    return Nearest(id, words, own, float(cosines.mean()), table.data_ptr() == output.data_ptr())


@dataclass(frozen=True)
class Factor:
    """What sqrt(d_model) has to do with the matrix, for one row of the decoder and the token that it reads.

    `row`, `scaled`: the length of the token's row in the table, and of what enters the model, the row times `factor`.
    `embedding_error`: the largest difference between that product and the recorded embedding of all rows. `logits_error`: the
    same between the last layer's output times the matrix, without any factor, and the recorded logits.
    """

    factor: float
    row: float
    scaled: float
    embedding_error: float
    logits_error: float


@torch.inference_mode()
def factor(atlas: Atlas, trace: Trace, at: int) -> Factor:
    """Where the factor is, measured on a trace."""
    module = embedding_of(atlas, "target")
    recorded, logits = trace["target.embedding"].tensor[0], trace["logits"].tensor[0]
    rows = module.table.weight[torch.tensor([token.id for token in trace.target], device=recorded.device)]
    output = trace["decoder.output"].tensor[0]
    return Factor(
        factor=module.scale,
        row=float(rows[at].double().norm()),
        scaled=float(recorded[at].double().norm()),
        embedding_error=float((rows * module.scale - recorded).abs().max()),
        logits_error=float((output @ atlas.model.to_logits.weight.T - logits).abs().max()),
    )


@dataclass(frozen=True)
class Misplaced:
    """The loss of a sentence that other people wrote, in nats a token, and of `sentences` with `tokens` in all the median: as the
    model is; with the factor on the output matrix too; with no factor at all.
    """

    as_is: float
    on_output: float
    nowhere: float
    tokens: int
    sentences: int


def misplaced(atlas: Atlas, pairs: tuple[tuple[str, str], ...]) -> Misplaced:
    """The same weights with sqrt(d_model) in a wrong place, on pairs of sentences (or beginning and continuation)."""
    scale, without = embedding_of(atlas, "target").scale, what_if.without_embedding_scale(atlas)
    means, tokens = [], 0
    for source, target in pairs:
        trace = atlas.trace(source, target)
        ids = torch.tensor([[token.id] for token in trace.produced], device=atlas.device)
        sharper = (trace["logits"].tensor[0].double() * scale).log_softmax(dim=-1).gather(1, ids)
        unscaled = repeated(without, trace, only=frozenset()).log_probabilities
        means.append([-total / len(ids) for total in (sum(trace.log_probabilities), float(sharper.sum()), sum(unscaled))])
        tokens += len(ids)
    as_is, on_output, nowhere = (median(losses) for losses in zip(*means, strict=True))  # one long sentence does not decide
    return Misplaced(as_is, on_output, nowhere, tokens, len(means))
