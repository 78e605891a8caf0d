"""Links that teach a guided head: words out to an outside aligner, its links back in.

`python -m model.training.guide export PAIRS.tsv -o words.txt [--lower]` writes `source words ||| target words`, line
for line.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

from model.alignment import pharaoh
from model.alignment.words import words

SEPARATOR = " ||| "


def read_lines(path: str | Path) -> Iterator[str]:
    """The lines of a UTF-8 file without their ends; only \\n, \\r\\n and a lone \\r end one."""
    with Path(path).open(encoding="utf-8-sig", newline=None) as file:
        for line in file:
            yield line.removesuffix("\n")


def export(pairs: str | Path, output: str | Path, lower: bool = False) -> int:
    """Write the words of each tab-separated pair to the same line of `output`; returns the number of lines."""
    count = 0
    with Path(output).open("w", encoding="utf-8", newline="\n") as file:
        for line in read_lines(pairs):
            source, target = (*line.split("\t"), "")[:2]
            file.write(SEPARATOR.join(_spaced(side, lower) for side in (source, target)) + "\n")
            count += 1
    return count


def read_links(path: str | Path) -> Iterator[pharaoh.Links]:
    """For each line of a Pharaoh file its links (source word, target word), possible ones too.

    Raises ValueError with file and line number for what is no link.
    """
    for number, line in enumerate(read_lines(path), start=1):
        try:
            yield pharaoh.parse(line)[1]
        except ValueError as error:
            raise ValueError(f"{path}, line {number}: {error}") from error


def _spaced(text: str, lower: bool) -> str:
    """The words with one space between them; white space inside a word (a no-break space) becomes `_`."""
    joined = " ".join("_".join(word.split()) for word in words(text, split_punctuation=True))
    return joined.lower() if lower else joined


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m model.training.guide", description="Prepare links for guided heads.")
    commands = parser.add_subparsers(required=True, metavar="export")
    command = commands.add_parser("export", help="write the words of each pair, for an outside aligner")
    command.add_argument("pairs", type=Path, help="source TAB target, one pair a line")
    command.add_argument("-o", "--output", type=Path, required=True)
    command.add_argument("--lower", action="store_true", help="lower-case, which aligners learn better from")
    arguments = parser.parse_args()
    count = export(arguments.pairs, arguments.output, arguments.lower)
    print(f"{count} lines in {arguments.output}")


if __name__ == "__main__":
    main()
