"""What each head does: scores over a few hundred sentences, shipped beside the model, and the rule that makes a role of them.

    python -m model.analysis.roles en-fr --pairs data/en-fr.valid.tsv --sentences 300

writes `roles.json` into the checkpoint's folder: measures only, no sentence. It names the weights that it measured by
their digest, so that after a new training the page can say that they have to be measured again.
"""

import argparse
import hashlib
import json
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from model.alignment.choices import reference_of
from model.analysis import agreement, head_scores
from model.analysis.head_scores import SHARES, Score
from model.checkpoint import SHIPPED, WEIGHTS
from model.translator import Atlas, LanguageModel, load

FILE = "roles.json"
LEAST = 0.3  # of the weight: what a head must put on certain keys to have a role
FACTOR = 2.0  # and how many times what an even spread would put there
DIFFUSE = 0.8  # of the highest possible entropy: above it a head without another role is called diffuse


@dataclass(frozen=True)
class Role:
    """One thing that a head does: the score that shows it, its value and its chance level."""

    name: str
    score: float
    chance: float


@dataclass(frozen=True)
class Measured:
    """The measures of one model."""

    weights: str  # digest of the weights that were measured
    pairs: str  # name of the file of pairs
    sentences: int
    scores: Mapping[str, Mapping[str, Score]]  # [attention][score]
    reference: tuple[int, int | None, str] | None  # the aligning head: layer, head, row
    agreement: Mapping[str, agreement.Agreement]

    def roles(self, attention: str, layer: int, head: int) -> tuple[Role, ...]:
        """What this head does more than chance would, the clearest first.

        A share of the weight is a role if it is at least `LEAST` and at least `FACTOR` times its chance level. A head with
        none of them is `diffuse` if its entropy is at least `DIFFUSE` of the highest possible one. The reference head's
        agreement with its own links is no role: it agrees with itself.
        """
        scores = self.scores[attention]
        own = ""
        if attention == "decoder.cross_attention" and self.reference and self.reference[:2] == (layer, head):
            own = f"aligned_{self.reference[2]}"
        names = [name for name in SHARES if name in scores and name != own]
        shares = [Role(name, scores[name].heads[layer][head], scores[name].chance) for name in names]
        found = [role for role in shares if role.score >= max(LEAST, FACTOR * role.chance)]
        spread = scores["relative_entropy"]
        if not found and spread.heads[layer][head] >= DIFFUSE:
            found = [Role("diffuse", spread.heads[layer][head], spread.chance)]
        return tuple(sorted(found, key=lambda role: role.chance - role.score))


def measure(atlas: Atlas, pairs: Sequence[tuple[str, str]], name: str) -> Measured:
    """Force the model through every pair and measure its heads; a language model reads the sources alone, as a whole."""
    reference = reference_of(atlas)
    writes_on = isinstance(atlas, LanguageModel)
    traces = [atlas.trace("", source) if writes_on else atlas.trace(source, target) for source, target in pairs]
    return Measured(
        weights=digest(SHIPPED / atlas.name / WEIGHTS),
        pairs=name,
        sentences=len(pairs),
        scores=head_scores.measure(traces, reference),
        reference=(reference.layer, reference.head, reference.row) if reference else None,
        agreement={} if isinstance(atlas, LanguageModel) else agreement.over_sentences(atlas, traces),
    )


def digest(path: Path) -> str:
    """Tells one file of weights from another; empty if there is none."""
    return hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest() if path.exists() else ""


def shipped(atlas: Atlas) -> Measured | None:
    """The measures shipped with a model, None if nobody measured it."""
    path = SHIPPED / atlas.name / FILE
    return read(path) if path.exists() else None


def is_current(atlas: Atlas) -> bool:
    """Whether the shipped measures are of the shipped weights; False if there are none."""
    measured = shipped(atlas)
    return measured is not None and measured.weights == digest(SHIPPED / atlas.name / WEIGHTS)


def read(path: Path) -> Measured:
    """What `write` wrote."""
    kept = json.loads(path.read_text(encoding="utf-8"))
    scores = {
        attention: {
            name: Score(tuple(map(tuple, score["heads"])), score["chance"], score["rows"]) for name, score in members.items()
        }
        for attention, members in kept["scores"].items()
    }
    layer_head_row = kept["reference"]
    return Measured(
        kept["weights"],
        kept["pairs"],
        kept["sentences"],
        scores,
        (layer_head_row[0], layer_head_row[1], layer_head_row[2]) if layer_head_row else None,
        {name: agreement.Agreement(**values) for name, values in kept["agreement"].items()},
    )


def write(measured: Measured, path: Path) -> None:
    """One line for each score, four decimals: a file that can be read and compared."""
    kept = json.loads(json.dumps(asdict(measured)), parse_float=lambda number: round(float(number), 4))
    path.write_text(_lines(kept) + "\n", encoding="utf-8")


def _lines(value: object, indent: int = 0, depth: int = 3) -> str:
    if not isinstance(value, dict) or not depth:
        return json.dumps(value)
    inner = ",\n".join(
        f"{' ' * (indent + 2)}{json.dumps(key)}: {_lines(item, indent + 2, depth - 1)}" for key, item in value.items()
    )
    return f"{{\n{inner}\n{' ' * indent}}}"


def read_pairs(path: Path, sentences: int, seed: int = 0, *, swap: bool = False) -> list[tuple[str, str]]:
    """So many pairs drawn from a file `source<TAB>target[<TAB>...]`, each source once, the same ones for the same seed.

    With `swap` the second column is the source.
    """
    lines = path.read_text(encoding="utf-8").splitlines()
    pairs: dict[str, str] = {}
    for fields in (line.split("\t") for line in lines if "\t" in line):
        source, target = (fields[1], fields[0]) if swap else (fields[0], fields[1])
        pairs.setdefault(source, target)
    found = list(pairs.items())
    return random.Random(seed).sample(found, min(sentences, len(found)))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m model.analysis.roles", description=__doc__.split("\n")[0])
    parser.add_argument("name", help="a shipped model, for example en-fr")
    parser.add_argument("--pairs", type=Path, required=True, help="a file of pairs: source<TAB>target")
    parser.add_argument("--sentences", type=int, default=300, help="how many pairs are drawn from it (300)")
    parser.add_argument("--swap", action="store_true", help="the second column is the source: pairs of en-zh for zh-en")
    given = parser.parse_args(arguments)
    atlas = load(given.name, device="cpu")
    measured = measure(atlas, read_pairs(given.pairs, given.sentences, swap=given.swap), given.pairs.name)
    write(measured, SHIPPED / atlas.name / FILE)
    sys.stdout.writelines(f"{line}\n" for line in summary(measured))


def summary(measured: Measured) -> Iterator[str]:
    """One line for each head: its roles, with score and chance level. Layers and heads count from 0."""
    for attention, scores in measured.scores.items():
        for layer, heads in enumerate(scores["entropy"].heads):
            for head in range(len(heads)):
                roles = measured.roles(attention, layer, head)
                told = ", ".join(f"{role.name} {role.score:.2f} (chance {role.chance:.2f})" for role in roles)
                yield f"{attention} {layer} {head}: {told or '-'}"
    for name, value in measured.agreement.items():
        yield f"{name}: rank correlation {value.correlation:.2f}, same first {value.first:.2f}"


if __name__ == "__main__":
    main()
