"""`python -m model.training`: train an encoder-decoder on sentence pairs, or a decoder-only language model on their source side.

Stopped at any moment, the same command goes on.
"""

import argparse
import json
import math
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from tqdm import tqdm

from model.alignment.words import split
from model.checkpoint import Tokenizers, load_tokenizers, save, weights
from model.config import ModelConfig
from model.tokenizer import train_bpe, train_characters
from model.training import evaluate
from model.training.data import Batches, Example, examples, read_pairs, sentences
from model.training.loop import Group, GuidedHead, Log, Run, Settings
from model.transformer import DecoderOnly, EncoderDecoder, build

PROGRAM = "python -m model.training"


def arguments(words: list[str] | None = None) -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        description="Train a Transformer: an encoder-decoder on sentence pairs, or a decoder-only language model on the "
        "sentences of their source side, each once. Run the same command again to go on after a stop; "
        "start it with torchrun to use several processes.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    data = parser.add_argument_group("data")
    data.add_argument(
        "--pairs",
        type=Path,
        nargs="+",
        required=True,
        help="TSV files: source, tab, target; further columns are ignored",
    )
    data.add_argument("--valid", type=Path, required=True, help="held-out pairs, all references of a sentence in it")
    data.add_argument("--languages", nargs="+", default=["en", "fr"], metavar="LANGUAGE",
                      help="source and target; of a language model its one")  # fmt: skip
    data.add_argument("--swap", action="store_true", help="read the files the other way round: target, tab, source")
    data.add_argument("--tokenizer", choices=("shared-bpe", "bpe-characters", "characters-bpe"), default="shared-bpe",
                      help="one BPE for both sides, or BPE on one and characters on the other, source first")  # fmt: skip
    data.add_argument("--vocab", type=int, default=8000, help="BPE vocabulary")
    data.add_argument("--join", type=float, default=0.0, help="share of examples made of two to four pairs")
    data.add_argument("--output", type=Path, required=True, help="folder of the run")
    model = parser.add_argument_group("model")
    model.add_argument("--family", choices=("encoder-decoder", "decoder-only"), default="encoder-decoder")
    for name, value in (("d-model", 256), ("num-heads", 4), ("d-ff", 1024), ("layers", 3)):
        model.add_argument(f"--{name}", type=int, default=value)
    model.add_argument("--dropout", type=float, default=0.1)
    model.add_argument("--norm", choices=("post", "pre"), default="post")
    model.add_argument("--activation", choices=("relu", "gelu"), default="relu")
    model.add_argument("--positions", choices=("sinusoidal", "rotary", "none"), default="sinusoidal")
    model.add_argument("--tie", choices=("all", "target", "none"), help="default: all with one vocabulary, target with two")
    training = parser.add_argument_group("training")
    training.add_argument("--steps", type=int, default=10_000)
    training.add_argument("--minutes", type=float, help="stop after so long, to be resumed")
    training.add_argument("--warmup", type=int, default=2000)
    training.add_argument("--factor", type=float, default=1.0, help="multiplies the Noam rate")
    training.add_argument("--cooldown", type=int, default=0, help="the rate falls to 0 over the last so many steps")
    training.add_argument("--batch-tokens", type=int, default=2048)
    training.add_argument("--smoothing", type=float, default=0.1)
    training.add_argument("--clip", type=float, default=1.0)
    training.add_argument("--guide", type=Path, help="Pharaoh file of word links, one line a pair (see model.training.guide)")
    training.add_argument("--guide-head", nargs=3, action="append", default=[], metavar=("LAYER", "HEAD", "ROW"),
                          help="a head of cross-attention to guide: layer and head from 0, row produced or read")  # fmt: skip
    training.add_argument("--guide-factor", type=float, default=0.1)
    training.add_argument("--guide-spread", action="store_true", help="every link of a word is to get an equal share of the "
                          "weight; without it one of them is enough")  # fmt: skip
    training.add_argument(
        "--autocast", choices=("auto", "on", "off"), default="auto", help="bfloat16; auto: where the processor has it"
    )
    training.add_argument("--seed", type=int, default=1)
    training.add_argument("--threads", type=int, help="of this process")
    training.add_argument("--check-every", type=int, default=500, help="steps between measurements on the held-out pairs")
    training.add_argument("--check-sentences", type=int, default=200, help="held-out sentences translated at each")
    training.add_argument("--snapshots", type=int, default=5, help="how many of the last checks are averaged at the end")
    return parser.parse_args(words)


def make_tokenizers(folder: Path, texts: Sequence[list[str]], kind: str, vocab: int) -> None:
    """The tokenizers of this run, trained the first time on the texts of its sides: source and target, or one language."""
    if (folder / "tokenizer.json").exists() or (folder / "tokenizer.target.json").exists():
        return
    if kind == "shared-bpe" or len(texts) == 1:
        train_bpe([text for side in texts for text in side], vocab).save(folder / "tokenizer.json")
    else:
        for side, kind_of_side, of_side in zip(("source", "target"), kind.split("-"), texts, strict=True):
            made = train_bpe(of_side, vocab) if kind_of_side == "bpe" else train_characters(of_side, minimum=2)
            made.save(folder / f"tokenizer.{side}.json")


def has_bfloat16(device: torch.device) -> bool:
    """Whether bfloat16 is computed in hardware here; in software it is several times slower than float32."""
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported())
    return bool(torch.backends.mkldnn.is_available() and torch.ops.mkldnn._is_mkldnn_bf16_supported())  # type: ignore[no-untyped-call]


def translation_check(
    tokenizers: Tokenizers, valid: list[Example], held_out: list[tuple[str, str]], count: int, language: str
) -> Callable[[Any], Log]:
    """What is measured of an encoder-decoder in training: BLEU and chrF of `count` held-out sentences, loss of all pairs."""
    of_each = evaluate.references(held_out)
    asked = list(of_each)[:count]

    def check(model: Any) -> Log:
        outputs = evaluate.translate(model, tokenizers, asked)
        bleu, chrf = evaluate.score(outputs, [of_each[sentence] for sentence in asked], language)
        loss = evaluate.loss(model, valid)
        return {"score": bleu, "bleu": bleu, "chrf": chrf, "loss": loss, "sample": [asked[0], outputs[0]]}

    return check


def writing_check(tokenizers: Tokenizers, valid: list[Example], sentence: str) -> Callable[[Any], Log]:
    """What is measured of a language model in training: loss and perplexity of the held-out sentences."""
    prompt = " ".join(sentence.split()[:2])

    def check(model: Any) -> Log:
        loss = evaluate.loss(model, valid)
        return {
            "score": -loss,
            "loss": loss,
            "perplexity": math.exp(loss),
            "sample": [prompt, evaluate.write_on(model, tokenizers, prompt)],
        }

    return check


@dataclass(frozen=True)
class Prepared:
    """All that training needs, read and checked; `longest_words` of a source sentence."""

    tokenizers: Tokenizers
    config: ModelConfig
    settings: Settings
    train: list[Example]
    check: Callable[[Any], Log]
    model: EncoderDecoder | DecoderOnly
    longest_words: int


@contextmanager
def told() -> Iterator[None]:
    """What was asked for wrongly ends the command with one line and code 2; an error in training keeps its traceback."""
    try:
        yield
    except (OSError, ValueError) as error:
        reason = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) and error.filename else str(error)
        sys.stderr.write(f"{PROGRAM}: error: {reason}\n")
        raise SystemExit(2) from None


def main(words: list[str] | None = None) -> None:
    options = arguments(words)
    if options.threads:
        torch.set_num_threads(options.threads)
    group = Group.join()
    device = torch.device("cuda", group.rank % torch.cuda.device_count()) if torch.cuda.is_available() else torch.device("cpu")
    with told():
        ready = prepare(options, group, device)
        batches = Batches(ready.train, options.batch_tokens, options.seed, options.join)
    bar = tqdm(total=options.steps, disable=group.rank > 0, dynamic_ncols=True, mininterval=1.0)

    def report(log: Log) -> None:
        bar.n = log["step"]
        if "check" in log:
            source, output = log["check"]["sample"]
            names = {"bleu": "BLEU", "perplexity": "perplexity", "loss": "loss"}
            measured = ", ".join(f"{name} {log['check'][key]:.3f}" for key, name in names.items() if key in log["check"])
            bar.write(f"step {log['step']}: {measured} | {source} -> {output}")
            bar.set_description_str(output[:40])
        else:
            bar.set_postfix(loss=f"{log['loss']:.3f}", refresh=False)
            bar.update(0)

    run = Run(options.output, ready.model, batches, ready.settings, ready.check, group, report, device)
    note = {"command": shlex.join([*PROGRAM.split(), *(words or sys.argv[1:])]), "languages": options.languages,
            "longest_words": ready.longest_words}  # fmt: skip
    if group.rank == 0:
        (options.output / "run.json").write_text(json.dumps(note, ensure_ascii=False, indent=2), encoding="utf-8")
    deadline = time.monotonic() + 60 * options.minutes if options.minutes else None
    progress = run.train(stop=lambda: deadline is not None and time.monotonic() > deadline)
    bar.close()
    if group.rank == 0 and progress.best is not None:
        finish(run, ready.tokenizers, ready.config)
    group.leave()


def prepare(options: argparse.Namespace, group: Group, device: torch.device) -> Prepared:
    """Read the files, make the tokenizers, build the model; raises OSError or ValueError where something asked for cannot be."""
    writes_on = options.family == "decoder-only"
    if len(options.languages) != (1 if writes_on else 2):
        needed = "one language" if writes_on else "source and target"
        raise ValueError(f"--languages {' '.join(options.languages)}: --family {options.family} needs {needed}")
    settings = settings_of(options, device)
    if settings.guided and options.guide is None:
        raise ValueError("--guide-head needs the links to be shown: give --guide FILE")
    pairs, held_out = read_pairs(options.pairs, options.swap), read_pairs([options.valid], options.swap)
    options.output.mkdir(parents=True, exist_ok=True)
    if group.rank == 0:
        sides = [[pair[side] for pair in pairs] for side in ((0,) if writes_on else (0, 1))]
        make_tokenizers(options.output, sides, options.tokenizer, options.vocab)
    group.wait()  # the others read what the first has written
    tokenizers = load_tokenizers(options.output)
    config = config_of(options, tokenizers)
    if writes_on:
        train, valid = (sentences([source for source, _ in part], tokenizers.target) for part in (pairs, held_out))
        check = writing_check(tokenizers, valid, held_out[0][0])
    else:
        train = examples(pairs, tokenizers.source, tokenizers.target, options.guide if settings.guided else None)
        valid = examples(held_out, tokenizers.source, tokenizers.target)
        check = translation_check(tokenizers, valid, held_out, options.check_sentences, options.languages[1])
    torch.manual_seed(settings.seed)
    longest = max(len(split(source, split_punctuation=True)) for source, _ in pairs)
    return Prepared(tokenizers, config, settings, train, check, build(config).to(device), longest)


def config_of(options: argparse.Namespace, tokenizers: Tokenizers) -> ModelConfig:
    """The shape that the options describe, for these vocabularies."""
    writes_on = options.family == "decoder-only"
    shared = tokenizers.source is tokenizers.target and not writes_on
    return ModelConfig(
        source_vocab_size=len(tokenizers.source), target_vocab_size=len(tokenizers.target), family=options.family,
        d_model=options.d_model, num_heads=options.num_heads, d_ff=options.d_ff,
        encoder_layers=0 if writes_on else options.layers, decoder_layers=options.layers,
        dropout=options.dropout, norm=options.norm, activation=options.activation, positions=options.positions,
        tie=options.tie or ("all" if shared else "target"),
    )  # fmt: skip


def settings_of(options: argparse.Namespace, device: torch.device) -> Settings:
    """How to train, as the options say."""
    for layer, head, row in options.guide_head:
        if not (layer.isdecimal() and head.isdecimal() and row in ("produced", "read")):
            raise ValueError(f"--guide-head {layer} {head} {row}: needed are layer and head, from 0, and produced or read")
    return Settings(
        steps=options.steps, warmup=options.warmup, factor=options.factor, cooldown=options.cooldown,
        smoothing=options.smoothing, clip=options.clip, guide_factor=options.guide_factor, seed=options.seed,
        guide_spread=options.guide_spread,
        guided=tuple(GuidedHead(int(layer), int(head), row) for layer, head, row in options.guide_head),
        autocast=options.autocast == "on" or (options.autocast == "auto" and has_bfloat16(device)),
        check_every=options.check_every, snapshots=options.snapshots,
    )  # fmt: skip


def finish(run: Run, tokenizers: Tokenizers, config: ModelConfig) -> None:
    """Compare the average of the last snapshots with the best single one, and keep the winner as a checkpoint folder."""
    from safetensors.torch import load_file

    best, averaged = load_file(run.folder / "best.safetensors"), run.average()
    with torch.no_grad():
        for name, parameter in weights(run.model).items():
            parameter.copy_(averaged[name])
    score = run.check(run.model)["score"]
    assert run.progress.best is not None
    chosen = averaged if score >= run.progress.best else best
    save(run.folder / "checkpoint", chosen, config, tokenizers)
    kind = "average of the last snapshots" if chosen is averaged else f"step {run.progress.best_step}"
    print(f"average {score:.2f}, best single {run.progress.best:.2f}; {run.folder / 'checkpoint'} holds the {kind}")


if __name__ == "__main__":
    main()
