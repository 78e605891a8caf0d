"""`python -m model.alignment`, called as from a shell, on a tiny model with random weights."""

import io
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from model import Translator, load
from model.alignment import pharaoh
from model.alignment.choices import default_choice, default_threshold
from model.alignment.command import job, run
from model.alignment.command.options import arguments
from model.alignment.command.processes import Processes
from model.alignment.corpus import Aligned, Settings, align
from model.alignment.extract import Choice
from model.alignment.formats import read_alignments, read_pairs
from model.alignment.metrics import Counts
from tests.model import tiny

pytestmark = pytest.mark.usefixtures("quick")

PAIRS = [*zip(tiny.ENGLISH, tiny.FRENCH, strict=True)] * 4
GOLD = ["0-0 1p1", "1-0", "", "0-1 1-0", "2-2", "0p0"] * 4


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("models") / "tiny"
    tiny.save_checkpoint(made)
    return made


@pytest.fixture(scope="module")
def expected(folder: Path) -> list[str]:
    """The lines of Pharaoh of all pairs, from the library."""
    atlas = load(folder)
    assert isinstance(atlas, Translator)
    return [pharaoh.render({link[:2] for link in one.links}) for one in align(atlas, PAIRS)]


@pytest.fixture
def here(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with pairs and gold, where the command runs; it notes every five pairs how far it is, and processes take turns."""
    (tmp_path / "pairs.tsv").write_text("".join(f"{source}\t{target}\n" for source, target in PAIRS), encoding="utf-8")
    (tmp_path / "gold.align").write_text("".join(f"{line}\n" for line in GOLD), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(job, "WINDOW", 5)
    monkeypatch.setattr(job, "BATCH_TOKENS", 40)
    return tmp_path


@pytest.fixture
def command(here: Path, folder: Path) -> Callable[..., int]:
    """The command with the tiny model; returns its exit code."""
    return lambda *words: run.main([*words, "--model", str(folder)])


def test_a_line_a_pair_in_order_and_the_head_is_told(
    command: Callable[..., int], here: Path, expected: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("pairs.tsv", "--output", "out.align") == 0
    assert (here / "out.align").read_text().splitlines() == expected
    told = capsys.readouterr()
    assert told.out == ""
    assert "layer 2 mean of heads of tiny (counted from 0: 1 mean), produced row (the mean of the middle layer" in told.err
    assert sorted(path.name for path in here.iterdir()) == ["gold.align", "out.align", "pairs.tsv"]


def test_what_cannot_be_aligned_has_an_empty_line(
    command: Callable[..., int], here: Path, expected: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Two files with CRLF; a blank line, and a line too long for the model; standard output."""
    sources, targets = (list(side) for side in zip(*PAIRS[:4], strict=True))
    sources[1], targets[2] = "", "a " * 700
    (here / "x.en").write_bytes("".join(f"{line}\r\n" for line in sources).encode())
    (here / "x.fr").write_bytes("\n".join(targets).encode())
    assert command("x.en", "x.fr") == 1
    told = capsys.readouterr()
    assert told.out.split("\n") == [expected[0], "", "", expected[3], ""]
    assert "pair 3: The target has 701 tokens; tiny takes 600." in told.err
    assert "2 of 4 pairs could not be aligned" in told.err


def test_what_cannot_be_read_is_told_with_its_line(
    command: Callable[..., int], here: Path, expected: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    rows = ["\t".join(pair) for pair in PAIRS[:3]]
    rows[1] = "no tab"
    (here / "x.tsv").write_text("\n".join(rows), encoding="utf-8")
    assert command("x.tsv") == 1
    told = capsys.readouterr()
    assert told.out.split("\n") == [expected[0], "", expected[2], ""]
    assert "x.tsv, line 2: The row has 1 cells; column 2 was needed. It is left out." in told.err


@pytest.mark.parametrize("format", ["naacl", "tsinghua", "tsv", "json"])
def test_every_format_of_links_is_read_back(command: Callable[..., int], here: Path, expected: list[str], format: str) -> None:
    assert command("pairs.tsv", "--format", format, "--output", "out", "--quiet") == 0
    rows = list(read_alignments(here / "out", PAIRS, format=format).rows)
    rows += [row for _ in range(len(PAIRS) - len(rows)) for row in [None]]  # NAACL does not tell of pairs without links
    assert [pharaoh.render(row.sure) if row else "" for row in rows] == expected


def test_standard_input(
    command: Callable[..., int], expected: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "".join(f"{source} ||| {target}\n" for source, target in PAIRS)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode("utf-16"))))
    assert command("-", "--quiet") == 0
    told = capsys.readouterr()
    assert told.out.splitlines() == expected
    assert told.err == ""


def test_sources_alone_are_translated(command: Callable[..., int], here: Path, folder: Path) -> None:
    (here / "alone.txt").write_text("".join(f"{source}\n" for source in tiny.ENGLISH), encoding="utf-8")
    assert command("alone.txt", "--output", "out", "--write-pairs", "pairs.written.tsv", "--quiet") in (0, 1)
    atlas = load(folder)
    assert isinstance(atlas, Translator)
    written = [(row.source, row.target) for row in read_pairs(here / "pairs.written.tsv", "tsv").rows]
    assert written == [(source, atlas.translate(source).text) for source in tiny.ENGLISH]
    assert len((here / "out").read_text().splitlines()) == len(tiny.ENGLISH)


def test_gold_is_measured(
    command: Callable[..., int], here: Path, expected: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("pairs.tsv", "--gold", "gold.align", "--output", "out") == 0
    links = [pharaoh.parse(line)[0] for line in expected]
    sure, possible = zip(*(pharaoh.parse(line) for line in GOLD), strict=True)
    counts = Counts.of(links, sure, possible)
    told = capsys.readouterr().out
    assert told.startswith(
        f"AER {counts.alignment_error_rate:.3f}, precision {counts.precision:.3f}, recall {counts.recall:.3f} over 24 pairs"
    )
    assert re.search(r"the diagonal: AER 0\.\d{3}\n$", told)


CHOSEN = '[alignment.chosen]\nlayer = 1\nhead = 0\nrow = "read"\nthreshold = 0.3\n'


def test_the_cards_own_head_goes_with_the_cards_threshold(
    here: Path, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known = shutil.copytree(folder, tmp_path / "known")
    (known / "card.toml").write_text(CHOSEN, encoding="utf-8")
    atlas = load(known)
    assert isinstance(atlas, Translator)
    assert (default_choice(atlas), default_threshold(atlas)) == (Choice(1, 0, "read"), 0.3)

    def links(threshold: float | None) -> list[str]:
        return [pharaoh.render({link[:2] for link in one.links}) for one in align(atlas, PAIRS, Settings(threshold=threshold))]

    above, largest = links(0.3), links(None)
    assert above != largest
    cases: list[tuple[list[str], str, list[str]]] = [
        ([], "read row, weight above 0.3 (chosen on gold lines, model card)", above),
        (["--threshold", "argmax"], "read row (chosen on gold lines, model card), largest weight of the row", largest),
        (["--layer", "1", "--head", "0", "--row", "read"], "read row (as asked), largest weight of the row", largest),
        (["--threshold", "0.3"], "read row (chosen on gold lines, model card), weight above 0.3", above),
    ]
    for options, told, expected in cases:
        assert run.main(["pairs.tsv", "--model", str(known), *options]) == 0
        written = capsys.readouterr()
        assert f"links: layer 2 head 1 of known (counted from 0: 1 0), {told}" in written.err
        assert written.out.splitlines() == expected
    for options in (["--measure", "norms"], ["--reverse", str(folder)], ["--reverse", str(folder), "--symmetrize", "joint"]):
        assert run.main(["pairs.tsv", "--model", str(known), *options]) == 0
        assert "above 0.3" not in capsys.readouterr().err
    assert run.main(["pairs.tsv", "--model", str(known), "--threshold", "most"]) == 2
    assert "needed is a number from 0, below 1, or argmax" in capsys.readouterr().err


def killed_after(pairs: int, error: type[BaseException]) -> Callable[..., Iterator[Aligned]]:
    def aligned(*arguments: Any, **more: Any) -> Iterator[Aligned]:
        yield from islice(align(*arguments, **more), pairs)
        raise error

    return aligned


@pytest.mark.parametrize("format", ["pharaoh", "naacl", "tsv", "json"])
def test_a_kill_loses_little_and_the_rest_is_the_same(
    command: Callable[..., int], here: Path, format: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("pairs.tsv", "--format", format, "--gold", "gold.align", "--write-pairs", "written.tsv")
    assert command(*words, "--output", "whole") == 0
    whole, pairs = (here / "whole").read_bytes(), (here / "written.tsv").read_bytes()
    measured = capsys.readouterr().out
    for pairs_before, error in ((8, MemoryError), (7, KeyboardInterrupt), (1, MemoryError)):
        with monkeypatch.context() as patch:
            patch.setattr(run, "align", killed_after(pairs_before, error))
            if error is KeyboardInterrupt:
                assert command(*words, "--output", "out", "--resume") == 130
                assert "--resume goes on" in capsys.readouterr().err
            else:
                with pytest.raises(MemoryError):
                    command(*words, "--output", "out", "--resume")
        with (here / "out").open("ab") as file:
            file.write(b"3 1\t")  # half a line
    capsys.readouterr()
    assert command(*words, "--output", "out", "--resume") == 0
    told = capsys.readouterr()
    assert re.search(r"going on after 10 of 24 pairs", told.err)
    assert told.out == measured
    assert (here / "out").read_bytes() == whole
    assert (here / "written.tsv").read_bytes() == pairs


def test_going_on_needs_the_same_input_and_settings(
    command: Callable[..., int], here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(run, "align", killed_after(5, KeyboardInterrupt))
        assert command("pairs.tsv", "--output", "out") == 130
    assert command("pairs.tsv", "--output", "out", "--threshold", "0.2", "--resume") == 2
    assert "begun with --threshold None, not 0.2; begin again without --resume" in capsys.readouterr().err
    with (here / "pairs.tsv").open("a") as file:
        file.write("you\ttu\n")
    assert command("pairs.tsv", "--output", "out", "--resume") == 2
    assert "begun from other input" in capsys.readouterr().err
    assert command("pairs.tsv", "--output", "out") == 0  # without --resume it begins again
    assert command("pairs.tsv", "--output", "out", "--resume") == 2
    assert "it is complete, or not of this command" in capsys.readouterr().err


@pytest.mark.parametrize(("size", "format"), [(2, "pharaoh"), (3, "json"), (2, "html")])
def test_several_processes_write_what_one_writes(
    command: Callable[..., int], here: Path, folder: Path, size: int, format: str
) -> None:
    """As torchrun starts them, one after the other here; the second is stopped on its way and goes on."""
    words = ["pairs.tsv", "--format", format, "--quiet"]
    assert command(*words, "--output", "alone") == 0
    words += ["--output", "out", "--write-pairs", "written.tsv", "--model", str(folder), "--resume"]
    for rank in reversed(range(size)):
        options = arguments(words)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(run, "align", killed_after(4, KeyboardInterrupt))
            if rank == 1:
                with pytest.raises(KeyboardInterrupt):
                    run.Run(options, job.prepare(options, ExitStack()), Processes(rank, size)).run()
        assert run.Run(options, job.prepare(options, ExitStack()), Processes(rank, size)).run() == 0
    assert (here / "out").read_bytes() == (here / "alone").read_bytes()
    assert (here / "written.tsv").read_bytes() == (here / "pairs.tsv").read_bytes()
    assert sorted(path.name for path in here.iterdir()) == ["alone", "gold.align", "out", "pairs.tsv", "written.tsv"]


def test_a_report_and_matrices(command: Callable[..., int], here: Path) -> None:
    assert command("pairs.tsv", "--gold", "gold.align", "--format", "html", "--output", "out.html", "--quiet") == 0
    page = (here / "out.html").read_text(encoding="utf-8")
    assert "La voiture rouge" in re.sub("<[^>]*>", "", page) or "voiture" in page
    choice = ("--layer", "1", "--head", "2", "--row", "read")
    assert command("pairs.tsv", *choice, "--format", "npz", "--output", "out.npz", "--quiet") == 0
    with np.load(here / "out.npz") as made:
        assert made["pair_2_weights"].shape[0] == len(PAIRS[1][1].split())
        np.testing.assert_allclose(made["pair_2_weights"].sum(axis=-1), 1.0, atol=1e-5)


def test_a_reverse_model_joins_both_directions(command: Callable[..., int], here: Path, folder: Path) -> None:
    assert command("pairs.tsv", "--output", "out", "--reverse", str(folder), "--symmetrize", "intersection", "--quiet") == 0
    atlas = load(folder)
    assert isinstance(atlas, Translator)
    lines = [
        pharaoh.render({link[:2] for link in one.links})
        for one in align(atlas, PAIRS, Settings(symmetrize="intersection"), atlas)
    ]
    assert (here / "out").read_text().splitlines() == lines


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["nowhere.tsv"], "nowhere.tsv"),
        (["a", "b", "c"], "3 files were given"),
        (["-", "-"], "standard input can be read once"),
        (["pairs.tsv", "--format", "word"], "invalid choice: 'word'"),
        (["pairs.tsv", "--resume"], "give --output FILE"),
        (["pairs.tsv", "--layer", "1"], "--layer, --head and --row choose a head together"),
        (["pairs.tsv", "--layer", "9", "--head", "0", "--row", "read"], "it has layers 0 to 1"),
        (["pairs.tsv", "--head", "first", "--layer", "0", "--row", "read"], "a number from 0, or mean"),
        (["pairs.tsv", "--threshold", "2"], "below 1"),
        (["pairs.tsv", "--device", "toaster"], "choose 'cpu', 'cuda' or 'auto'"),
        (["pairs.tsv", "--reverse", "fr-tlh"], "there is no model fr-tlh"),
        (["pairs.tsv", "--output", "pairs.tsv/out"], "pairs.tsv"),
        (["pairs.tsv", "--gold", "none.align"], "none.align"),
        (["empty.tsv"], "empty"),
        (["pairs.tsv", "--format", "npz"], "give --output FILE"),
    ],
)
def test_what_is_wrong_is_one_line_and_code_2(
    command: Callable[..., int], here: Path, capsys: pytest.CaptureFixture[str], words: list[str], told: str
) -> None:
    (here / "empty.tsv").write_bytes(b"")
    assert command(*words, "--quiet") == 2
    error = capsys.readouterr().err
    assert told in error
    assert re.fullmatch(r"python -m model\.alignment: error: [^\n]+\n", error)


def test_a_language_model_is_refused(here: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tiny.save_language_model(tmp_path / "writer")
    assert run.main(["pairs.tsv", "--model", str(tmp_path / "writer"), "--quiet"]) == 2
    assert "it has no cross-attention to take links from" in capsys.readouterr().err


def test_several_processes_need_a_file(here: Path, folder: Path) -> None:
    for words, told in ((["pairs.tsv"], "--output FILE"), (["-", "--output", "out"], "one process only")):
        options = arguments([*words, "--model", str(folder), "--quiet"])
        ready = job.prepare(arguments(["pairs.tsv", "--model", str(folder)]), ExitStack())
        with pytest.raises(ValueError, match=told):
            run.Run(options, ready, Processes(0, 2))
