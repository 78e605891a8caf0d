"""How good a shipped model is: BLEU and chrF of its translations, alignment error rate of its cross-attention.

    python -m benchmarks.quality en-fr --data ../shared/data [--eflomal PATH] [--write-card]

Translations are scored with sacrebleu against all references of a sentence (lines of the test file with the same source).
Alignment: layer, head and row are chosen on the even pairs of the gold files (numbered from 0) and scored on the odd ones,
with a bootstrap 95 % interval; the diagonal and, where the program is installed, eflomal stand beside.
"""

import argparse
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sacrebleu
import torch

import model
from benchmarks import aligner, card, gold
from model.alignment import baseline, extract, norms, pharaoh
from model.alignment.extract import ROWS, Choice, WordWeights
from model.alignment.metrics import Counts, alignment_error_rate, interval
from model.alignment.words import indices
from model.trace import Trace
from model.training import evaluate
from model.training.guide import read_lines

LONGEST = 15  # words of an alibi pair that is used: longer ones are far from the sentences that the models learned
ABOVE = "  with weight above {}"
THRESHOLDS = (0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)


@dataclass(frozen=True)
class Languages:
    """The direction of a model, and the files that hold its pairs (those may be written the other way round)."""

    source: str
    target: str
    stem: str

    @property
    def flip(self) -> bool:
        return self.stem != f"{self.source}-{self.target}"

    @classmethod
    def of(cls, name: str, data: Path) -> "Languages":
        source, target = name.split("-")[:2]
        stems = (f"{source}-{target}", f"{target}-{source}")
        for stem in stems:
            if (data / f"{stem}.test.tsv").exists():
                return cls(source, target, stem)
        raise SystemExit(f"{data} holds neither {stems[0]}.test.tsv nor {stems[1]}.test.tsv; name the folder with --data")


def main() -> None:
    arguments = parse()
    torch.set_num_threads(arguments.threads)
    folder = Path(arguments.name) if "/" in arguments.name else model.checkpoint.SHIPPED / arguments.name
    atlas = model.load(folder)
    languages = Languages.of(atlas.name, arguments.data)
    figures: dict[str, Any] = {}
    if not arguments.no_translation:
        figures["quality"] = translation(atlas, languages, arguments.data, arguments.beam)
    if not arguments.no_alignment:
        figures["alignment"] = alignment(atlas, languages, arguments.data, arguments.eflomal)
    if arguments.write_card:
        card.update(folder / model.checkpoint.CARD, figures)
        print(f"\nwritten to {folder / model.checkpoint.CARD}")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("name", help="a shipped model, such as en-fr, or the folder of one, such as runs/en-fr")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of test, train and gold files")
    parser.add_argument("--eflomal", default=shutil.which("eflomal-align"), help="the program eflomal-align")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--beam", type=int, default=1, help="also translate with a beam of this size")
    parser.add_argument("--write-card", action="store_true", help="put the figures into the checkpoint's card.toml")
    parser.add_argument("--no-translation", action="store_true")
    parser.add_argument("--no-alignment", action="store_true")
    return parser.parse_args()


# Translation


def translation(atlas: Any, languages: Languages, data: Path, beam: int) -> dict[str, Any]:
    """BLEU and chrF, greedy (in batches) and, if asked for, with a beam (sentence by sentence, so ten times as slow)."""
    references: dict[str, list[str]] = {}
    for source, target in pairs_of(data / f"{languages.stem}.test.tsv", languages.flip):
        references.setdefault(source, []).append(target)
    most = max(map(len, references.values()))
    streams = [[side[k] if k < len(side) else None for side in references.values()] for k in range(most)]
    tokenize = "zh" if languages.target == "zh" else "13a"
    metrics = {
        "bleu": sacrebleu.BLEU(tokenize=tokenize),
        "chrf": sacrebleu.CHRF(),
        "bleu_lower_case": sacrebleu.BLEU(tokenize=tokenize, lowercase=True),
    }
    print(f"Translation of {len(references)} test sentences, up to {most} references each")
    print(f"{'':10} {'BLEU':>6} {'chrF':>6} {'BLEU, lower case':>17} {'seconds':>8}")
    scores: dict[str, dict[str, float]] = {}
    for size in dict.fromkeys((1, beam)):
        label = "greedy" if size == 1 else f"beam {size}"
        begun = time.perf_counter()
        if size == 1:
            outputs = evaluate.translate(atlas.model, atlas.tokenizers, list(references))
        else:
            outputs = [atlas.translate(source, beam=size).text for source in references]
        seconds = time.perf_counter() - begun
        scores[label] = {key: round(metric.corpus_score(outputs, streams).score, 1) for key, metric in metrics.items()}
        bleu, chrf, lower = scores[label].values()
        print(f"{label:10} {bleu:6.1f} {chrf:6.1f} {lower:17.1f} {seconds:8.0f}")
    print(f"sacrebleu: {metrics['bleu'].get_signature()}")
    with_beam = {f"{key}_beam_{beam}": scores[f"beam {beam}"][key] for key in ("bleu", "chrf") if beam > 1}
    return {
        **scores["greedy"],
        **with_beam,
        "bleu_tokenize": tokenize,
        "test_sentences": len(references),
    }


def pairs_of(path: Path, flip: bool) -> list[tuple[str, str]]:
    """The pairs of a tab-separated file, source of the model first."""
    pairs = [tuple(line.split("\t")[:2]) for line in read_lines(path)]
    return [(right, left) if flip else (left, right) for left, right in pairs]


# Alignment


@dataclass(frozen=True)
class Measured:
    """A gold pair with the weights between its words, and with norms in their place."""

    pair: gold.GoldPair
    weights: WordWeights
    norms: WordWeights


def alignment(atlas: Any, languages: Languages, data: Path, eflomal: str | None) -> dict[str, Any]:
    """Choose on the even pairs, score on the odd ones, beside the baselines."""
    training = [path for kind in ("train", "hsk") if (path := data / f"{languages.stem}.{kind}.tsv").exists()]
    pairs = gold_pairs(data / "gold", languages)
    measured = measure(atlas, languages, training, pairs)
    chosen, tables = choose(measured)
    print("\nAlignment error rate on the even gold pairs (natural text built from the gold words, case restored)")
    for table in tables:
        print(table)
    threshold = best_threshold(measured, chosen)
    methods: dict[str, Callable[[Measured], set[pharaoh.Link]]] = {
        f"chosen: {describe(chosen)}": lambda one: extract.links(one.weights, chosen)
    }
    if threshold is not None:
        methods[ABOVE.format(threshold)] = lambda one: extract.links_above(one.weights, chosen, threshold=threshold)
    guided = [Choice(head["layer"], head["head"], head["row"]) for head in atlas.card.get("guided", [])]
    for choice in guided:
        methods[f"guided: {describe(choice)}"] = lambda one, choice=choice: extract.links(one.weights, choice)
    methods["diagonal"] = lambda one: baseline.diagonal(len(one.pair.source), len(one.pair.target))
    for name, links in rival(eflomal, training, languages, pairs).items():
        found = {id(pair): set(of_pair) for pair, of_pair in zip(pairs, links, strict=True)}
        methods[f"eflomal {name}"] = lambda one, found=found: found[id(one.pair)]
    return report(measured, methods, chosen, guided, threshold)


def gold_pairs(folder: Path, languages: Languages) -> list[gold.GoldPair]:
    """The hand set, and the literary pairs that are short enough."""
    pairs = []
    for path in sorted(folder.glob(f"*.{languages.stem}.tsv")):
        pairs += gold.read(path, longest=LONGEST if path.name.startswith("alibi") else None)
    return [pair.flipped() for pair in pairs] if languages.flip else pairs


def measure(atlas: Any, languages: Languages, training: Sequence[Path], pairs: Sequence[gold.GoldPair]) -> list[Measured]:
    """One forced pass over each gold pair."""
    known = [pair for path in training for pair in pairs_of(path, languages.flip)]
    source_case, target_case = (
        {} if language == "zh" else gold.usual_case(pair[side] for pair in known)
        for side, language in enumerate((languages.source, languages.target))
    )
    measured = []
    for pair in pairs:
        source, source_spans = gold.natural(pair.source, languages.source, source_case)
        target, target_spans = gold.natural(pair.target, languages.target, target_case)
        trace = atlas.trace(source, target)
        labels = extract.Labels(
            indices(trace.source, source_spans),
            indices(trace.produced, target_spans),
            indices(trace.target, target_spans),
            len(source_spans),
            len(target_spans),
        )
        measured.append(
            Measured(pair, extract.of_weights(extract.cross_attention(trace), labels), norms_of(atlas, trace, labels))
        )
    return measured


def norms_of(atlas: Any, trace: Trace, labels: extract.Labels) -> WordWeights:
    """Shares of the length of what each head brings from a token, between words; the mean is that of all heads together."""
    layers = []
    for layer, weights in enumerate(extract.cross_attention(trace)):
        path = f"decoder.layers.{layer}.cross_attention"
        attention = atlas.model.get_submodule(path)
        layers.append(norms.of_heads_and_together(attention, weights[None], trace[f"{path}.value"].tensor)[0])
    stacked = torch.stack(layers)
    columns = max((labels.sources, *(index + 1 for index in labels.source)))
    produced, read = (
        extract.join_pieces(stacked, rows, labels.source, labels.targets, columns) for rows in (labels.produced, labels.read)
    )
    return WordWeights(produced, read, labels.sources)


def rate(measured: Sequence[Measured], links: Callable[[Measured], set[pharaoh.Link]]) -> float:
    return alignment_error_rate(
        [links(one) for one in measured], [one.pair.sure for one in measured], [one.pair.possible for one in measured]
    )


def choose(measured: Sequence[Measured]) -> tuple[Choice, list[str]]:
    """The layer, head and row with the lowest error on the even pairs, and the tables of them all."""
    even = [one for one in measured if one.pair.chooses]
    rates = {
        choice: rate(even, lambda one, choice=choice: extract.links(one.weights, choice)) for choice in even[0].weights.choices()
    }
    heads = sorted({choice.head for choice in rates if choice.head is not None})
    tables = []
    for row in ROWS:
        lines = [f"\n{row + ' row':14}" + "".join(f"{f'head {head + 1}':>8}" for head in heads) + f"{'mean':>8}"]
        for layer in sorted({choice.layer for choice in rates}):
            cells = (rates[Choice(layer, head, row)] for head in (*heads, None))
            lines.append(f"{f'layer {layer + 1}':14}" + "".join(f"{cell:8.3f}" for cell in cells))
        tables.append("\n".join(lines))
    return min(rates, key=rates.__getitem__), tables


def best_threshold(measured: Sequence[Measured], choice: Choice) -> float | None:
    """The threshold that beats the largest weight on the even pairs, if one does."""
    even = [one for one in measured if one.pair.chooses]
    rates: dict[float | None, float] = {None: rate(even, lambda one: extract.links(one.weights, choice))}
    for threshold in THRESHOLDS:
        rates[threshold] = rate(
            even, lambda one, threshold=threshold: extract.links_above(one.weights, choice, threshold=threshold)
        )
    return min(rates, key=rates.__getitem__)


def rival(
    program: str | None, training: Sequence[Path], languages: Languages, pairs: Sequence[gold.GoldPair]
) -> Mapping[str, list[pharaoh.Links]]:
    if program is None:
        print("\n(eflomal-align is not on PATH: install it with pip, or name it with --eflomal)")
        return {}
    known = aligner.training_words(training, languages.flip)
    return aligner.eflomal(program, known, [(pair.source, pair.target) for pair in pairs])


def report(
    measured: Sequence[Measured],
    methods: Mapping[str, Callable[[Measured], set[pharaoh.Link]]],
    chosen: Choice,
    guided: Sequence[Choice],
    threshold: float | None,
) -> dict[str, Any]:
    """Print the scores on the odd pairs, set by set and pooled; return what belongs on the card."""
    odd = [one for one in measured if not one.pair.chooses]
    names = list(dict.fromkeys(one.pair.name for one in odd))
    groups = {name: [one for one in odd if one.pair.name == name] for name in names}
    if len(groups) > 1:
        groups["pooled"] = odd
    on_card: dict[str, dict[str, Any]] = {}
    for group, members in groups.items():
        sure, possible = [one.pair.sure for one in members], [one.pair.possible for one in members]
        print(f"\n{f'odd pairs of {group}: {len(members)}':44} {'AER':>6} {'95 % interval':>15} {'prec.':>6} {'recall':>6}")
        for name, method in methods.items():
            links = [method(one) for one in members]
            counts, (low, high) = Counts.of(links, sure, possible), interval(links, sure, possible)
            error = counts.alignment_error_rate
            print(f"{name:44} {error:6.3f} {f'{low:.3f} .. {high:.3f}':>15} {counts.precision:6.2f} {counts.recall:6.2f}")
            on_card.setdefault(name, {})[group] = {"aer": round(error, 3), "interval": [round(low, 3), round(high, 3)]}
    table = figures(on_card, list(groups), chosen, guided, len(odd))
    if threshold is not None:  # the default of the studio and the command line
        table["chosen"] |= {"threshold": threshold, "aer_threshold": on_card[ABOVE.format(threshold)][list(groups)[-1]]["aer"]}
    return table


def figures(
    scores: Mapping[str, Mapping[str, Any]], groups: Sequence[str], chosen: Choice, guided: Sequence[Choice], size: int
) -> dict[str, Any]:
    """The alignment tables of a card; `aer` is over all odd pairs together."""
    total = groups[-1]

    def entry(name: str) -> dict[str, Any]:
        by_set = {f"aer_{group.replace('-', '_')}": scores[name][group]["aer"] for group in groups if group != total}
        return {**scores[name][total], **by_set}

    table: dict[str, Any] = {
        "note": "alignment error rate; layer, head and row chosen on the even gold pairs, scored on the odd ones",
        "pairs": size,
        "chosen": {**place(chosen), **entry(f"chosen: {describe(chosen)}")},
        "guided": [{**place(choice), **entry(f"guided: {describe(choice)}")} for choice in guided],
        "diagonal": entry("diagonal"),
    }
    for name in scores:
        if name.startswith("eflomal"):
            table[name.replace(" ", "_").replace("-", "_")] = entry(name)
    return table


def place(choice: Choice) -> dict[str, Any]:
    return {"layer": choice.layer, "head": "mean" if choice.head is None else choice.head, "row": choice.row}


def describe(choice: Choice) -> str:
    head = "mean of heads" if choice.head is None else f"head {choice.head + 1}"
    return f"layer {choice.layer + 1}, {head}, {choice.row} row"


if __name__ == "__main__":
    main()
