"""What the command line of the alignment asks for."""

import argparse
from collections.abc import Sequence

from model.alignment.corpus import WAYS
from model.alignment.extract import ROWS
from model.alignment.forced import MEASURES
from model.alignment.formats import PAIR_FORMATS

PROGRAM = "python -m model.alignment"
FORMATS = ("pharaoh", "naacl", "tsinghua", "tsv", "json", "npz", "html")
LONGEST_THREADS = 1024
ARGMAX = "argmax"

EXIT_CODES = """\
exit codes:
  0    every pair is aligned
  1    done, but some pairs could not be aligned (a side is empty, or too long for the model): a line without links each
  2    wrong use, or input that cannot be read, or output that cannot be written
  130  interrupted; --resume goes on
"""


class UsageError(ValueError):
    """Something asked for wrongly: one line says what, and the command ends with code 2."""


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> None:  # type: ignore[override]  # argparse says NoReturn; UsageError is raised instead
        raise UsageError(message)


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    """The options; raises UsageError where they make no sense."""
    parser = Parser(
        prog=PROGRAM,
        description="Align the words of sentence pairs by the cross-attention of a trained model. The output has the order of "
        "the input; a pair that cannot be aligned keeps its place. Start it with torchrun to use several processes or machines.",
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_input(parser)
    _add_model(parser)
    _add_output(parser)
    options = parser.parse_args(words)
    _check(options)
    return options


def _add_input(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("input")
    group.add_argument("pairs", nargs="+", metavar="PAIRS", help="a file of pairs, or two whose lines belong together, the "
                       "source first, or one of sources alone, which are then translated; - is standard input")  # fmt: skip
    group.add_argument("--input-format", choices=PAIR_FORMATS, help="default: found out")
    group.add_argument("--encoding", help="of the input; default: found out")
    group.add_argument("--columns", nargs=2, metavar=("SOURCE", "TARGET"), help="of a table, by number from 0 or by header")
    group.add_argument(
        "--header", choices=("yes", "no"), help="whether a table's first row names its columns; default: found out"
    )
    group.add_argument("--languages", nargs=2, metavar=("SOURCE", "TARGET"), help="the direction wanted; default: the model's")
    group.add_argument("--split-punctuation", action="store_true",
                       help="punctuation is a word of its own; default: words are what space or tab separates")  # fmt: skip
    group.add_argument("--write-pairs", metavar="FILE", help="write the pairs, with translations of sources alone, as TSV")


def _add_model(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("links")
    group.add_argument("--model", default="en-fr", help="a shipped model, or a folder of one (default: %(default)s)")
    group.add_argument(
        "--reverse", metavar="MODEL", help="a model of the other direction to symmetrise with; auto: a shipped one"
    )
    group.add_argument(
        "--symmetrize", choices=WAYS, help="default with --reverse: grow-diag-final-and; joint averages the weights of both first"
    )
    group.add_argument("--layer", type=int, help="of the decoder, from 0; default: with head and row the one on the model's card")
    group.add_argument("--head", help="from 0, or mean")
    group.add_argument("--row", choices=ROWS, help="the row that produces a word, or the one that reads it")
    group.add_argument("--measure", choices=MEASURES, default="weights", help="attention, or the length of what it carries")
    group.add_argument("--threshold", type=_threshold, metavar="SHARE", help="link every source word above this share of a row, "
                       "0 to 1; argmax: the one with the largest; default: of the card's own head in one direction the threshold "
                       "on the card, else argmax")  # fmt: skip
    group.add_argument("--gold", metavar="FILE", help="links to measure against: prints AER, precision, recall, diagonal")


def _threshold(written: str) -> float | str:
    if written == ARGMAX:
        return written
    try:
        return float(written)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{written!r}: needed is a number from 0, below 1, or {ARGMAX}") from None


def _add_output(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("output and work")
    group.add_argument("--format", choices=FORMATS, default="pharaoh", help="default: %(default)s")
    group.add_argument("--output", default="-", metavar="FILE", help="default: standard output")
    group.add_argument("--resume", action="store_true", help="go on after a stop where --output ends")
    group.add_argument("--device", default="auto", help="cpu, cuda or auto (default: %(default)s)")
    group.add_argument(
        "--threads", type=int, default=1, help="of each process (default: %(default)s; more processes are quicker)"
    )
    group.add_argument("--batch-tokens", type=int, help="tokens of both sides computed at once; default: 256, on CUDA 16384")
    group.add_argument("--quiet", action="store_true", help="no progress and no notes, only errors")


def _check(options: argparse.Namespace) -> None:
    if len(options.pairs) > 2:
        raise UsageError(f"{len(options.pairs)} files were given; give one of pairs, or two whose lines belong together")
    if options.pairs.count("-") > 1:
        raise UsageError("standard input can be read once; give a file for the other side")
    chosen = [options.layer, options.head, options.row]
    if any(one is not None for one in chosen) and None in chosen:
        raise UsageError("--layer, --head and --row choose a head together; give all three or none")
    if options.head is not None and options.head != "mean" and not options.head.isdecimal():
        raise UsageError(f"--head {options.head}: needed is a number from 0, or mean")
    for name, least in (("threads", 1), ("batch_tokens", 1)):
        value = getattr(options, name)
        if value is not None and value < least:
            raise UsageError(f"--{name.replace('_', '-')} {value}: needed is {least} or more")
    if options.threads > LONGEST_THREADS:
        raise UsageError(f"--threads {options.threads}: at most {LONGEST_THREADS}")
    to_file = options.output != "-"
    if options.resume and not to_file:
        raise UsageError("--resume goes on with a file; give --output FILE")
    if options.format == "npz" and not to_file:
        raise UsageError("--format npz is no text; give --output FILE")
