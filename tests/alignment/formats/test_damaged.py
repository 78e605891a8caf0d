"""Ten thousand damaged files: each is read or refused with a message, and nothing else ever happens."""

import io
import random
from collections import Counter

from model.alignment.formats import FormatError, read_alignments, read_pairs
from tests.alignment.formats.brought import GOOD, Case, Named

INSERTED = (
    b'"',
    b"\t",
    b"\0",
    b"\xff",
    b"\n",
    b"\r",
    b"{",
    b"<",
    b" ||| ",
    b"&",
    b"\\u",
    b"]",
    b",",
    b";",
    b"-->",
    b"\xe9",
    b"PK",
)
LINKS = (
    b"0-0 1-2 2-1\n0-0 1p1 2?1 1-3\n",
    b"1 1 1 S\n1 2 3 P\n2 0 4\n2 1 1\n",
    b"# Sentence pair (1) source length 2 target length 2 alignment score : 0.1\nla voiture\n"
    b"NULL ({ }) the ({ 1 }) car ({ 2 })\n",
    b"1:1/1 2:3/0\n1:2/1\n",
)


def damaged(content: bytes, dice: random.Random) -> bytes:
    """One to four bytes changed, cut out, put in, repeated or moved, or the end lost."""
    data = bytearray(content)
    for _ in range(dice.randint(1, 4)):
        if not data:
            break
        place = dice.randrange(len(data))
        match dice.randrange(6):
            case 0:
                data[place] = dice.randrange(256)
            case 1:
                del data[place : place + dice.randint(1, 12)]
            case 2:
                data[place:place] = dice.choice(INSERTED)
            case 3:
                del data[place:]
            case 4:
                data[place:place] = data[dice.randrange(len(data)) :][:20]
            case _:
                data[place:place] = data[place : place + 1] * dice.randint(1, 40)
    return bytes(data)


def outcome(case: Case, dice: random.Random) -> str:
    """Damage one file of a case and read it."""
    broken = dice.randrange(len(case.files))
    files = [
        Named(name, damaged(content, dice) if index == broken else content) for index, (name, content) in enumerate(case.files)
    ]
    try:
        pairs = read_pairs(files)
        for entry in pairs.entries:
            assert "\n" not in entry.source + entry.target
        assert all(problem.sentence for problem in pairs.problems)
    except FormatError:
        return "refused"
    return "read"


def test_ten_thousand_damaged_files_are_read_or_refused() -> None:
    dice = random.Random(6)
    cases = list(GOOD.values())
    outcomes = Counter(outcome(cases[number % len(cases)], dice) for number in range(10_000))
    assert min(outcomes["read"], outcomes["refused"]) > 500


def test_damaged_links_are_read_or_refused() -> None:
    dice = random.Random(7)
    for number in range(1_000):
        content = damaged(LINKS[number % len(LINKS)], dice)
        try:
            read = read_alignments(io.BytesIO(content), pairs=[("the car", "la voiture")] * 2)
            list(read.rows)
            assert all(problem.sentence for problem in read.problems)
        except FormatError:
            continue
