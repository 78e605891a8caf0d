"""`python -m model.training` on a handful of sentences: from TSV files to a checkpoint, stopped and resumed."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
import torch

from model.checkpoint import load, weights
from model.training.__main__ import arguments, has_bfloat16, main
from model.translator import Translator
from tests.model import tiny

SMALL = shlex.split(
    "--d-model 16 --num-heads 2 --d-ff 32 --layers 1 --vocab 100 --steps 5 --warmup 4 --batch-tokens 80 --check-every 3 "
    "--check-sentences 1 --snapshots 2 --autocast off --threads 1"
)
pytestmark = pytest.mark.usefixtures("quick")


@pytest.fixture
def data(tmp_path: Path) -> list[str]:
    """Six sentences six times over, Chinese in a second file, and links of their first words."""
    for name, targets in (("fr", tiny.FRENCH), ("zh", tiny.CHINESE)):
        lines = [f"{source}\t{target}\tcredits\n" for source, target in zip(tiny.ENGLISH, targets, strict=True)]
        (tmp_path / f"{name}.tsv").write_text("".join(lines * 6), encoding="utf-8")
    (tmp_path / "valid.tsv").write_text(
        "I love you.\tJe t'aime.\nI love you.\tJe vous aime.\nThe car.\tLa voiture.\n", encoding="utf-8"
    )
    (tmp_path / "links").write_text("0-0 1-1\n" * 36, encoding="utf-8")
    return ["--pairs", str(tmp_path / "fr.tsv"), "--valid", str(tmp_path / "valid.tsv")]


def log(folder: Path) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in (folder / "log.jsonl").read_text(encoding="utf-8").splitlines()]
    return [{name: value for name, value in line.items() if name != "seconds"} for line in lines]


def test_from_pairs_to_a_checkpoint_stopped_and_resumed(
    data: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    guide = ["--guide", str(tmp_path / "links"), "--guide-head", "0", "0", "produced", "--guide-head", "0", "1", "read"]
    options = [*data, *SMALL, *guide, "--join", "0.2"]
    main([*options, "--output", str(tmp_path / "whole")])
    shown = capsys.readouterr()
    assert "BLEU" in shown.err + shown.out
    assert "I love you." in shown.err + shown.out  # the sample translation

    lines = log(tmp_path / "whole")
    checks = [line["check"] for line in lines if "check" in line]
    assert [line["step"] for line in lines if "loss" in line] == list(range(1, 6))
    assert [line["step"] for line in lines if "check" in line] == [3, 5]
    assert all({"bleu", "chrf", "loss", "sample", "score"} <= check.keys() for check in checks)
    assert all(line["guide"] > 0 for line in lines if "loss" in line)
    note = json.loads((tmp_path / "whole" / "run.json").read_text(encoding="utf-8"))
    assert note["command"].startswith("python -m model.training --pairs ")
    assert note["longest_words"] == 10  # punctuation counts, as where a page says that a sentence is longer

    made, tokenizers = load(tmp_path / "whole" / "checkpoint")
    result = Translator("mine", made, tokenizers, {}).translate("I love you.", limit=3)
    assert len(result.produced) <= 3

    main([*options, "--output", str(tmp_path / "parts"), "--minutes", "1e-9"])  # time is up before the first step
    assert not (tmp_path / "parts" / "checkpoint").exists()
    main([*options, "--output", str(tmp_path / "parts")])
    again, _ = load(tmp_path / "parts" / "checkpoint")
    assert all(torch.equal(weights(again)[name], value) for name, value in weights(made).items())
    assert log(tmp_path / "parts") == lines


def test_characters_and_every_other_choice(data: list[str], tmp_path: Path) -> None:
    options = shlex.split(
        "--languages en zh --tokenizer bpe-characters --norm pre --activation gelu --positions rotary --tie none"
    )
    zh = ["--pairs", str(tmp_path / "zh.tsv"), "--valid", str(tmp_path / "zh.tsv"), "--output", str(tmp_path / "zh")]
    main([*SMALL, *options, *zh, "--steps", "2"])
    made, tokenizers = load(tmp_path / "zh" / "checkpoint")
    assert (made.config.norm, made.config.activation, made.config.positions, made.config.tie) == ("pre", "gelu", "rotary", "none")
    assert "爱" in tokenizers.target.pieces
    assert tokenizers.source is not tokenizers.target


def test_what_cannot_be_ends_with_one_line_and_code_2(
    data: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad.tsv").write_text("I love you.\tJe t'aime.\nalone\n", encoding="utf-8")
    away = str(tmp_path / "away.tsv")
    asked = {
        "--guide-head needs the links to be shown: give --guide FILE": [*data, "--guide-head", "0", "0", "read"],
        "--guide-head 0 x read: needed are": [*data, "--guide-head", "0", "x", "read"],
        f"{away}: No such file": [*data, "--valid", away],
        "bad.tsv, line 2: needed is source, tab, target; found 'alone'": [*data, "--pairs", str(tmp_path / "bad.tsv")],
        "d_model=18 cannot be split evenly into num_heads=4": [*data, "--d-model", "18", "--num-heads", "4"],
        "--languages en: --family encoder-decoder needs source and target": [*data, "--languages", "en"],
    }
    for reason, options in asked.items():
        with pytest.raises(SystemExit) as ended:
            main([*SMALL, *options, "--output", str(tmp_path / "out")])
        said = capsys.readouterr().err
        assert ended.value.code == 2, said
        assert said.startswith("python -m model.training: error: ")
        assert reason in said
        assert said.count("\n") == 1


def test_its_help_names_every_option(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        arguments(["--help"])
    text = capsys.readouterr().out
    for option in ("--pairs", "--valid", "--guide-head", "--minutes", "--seed", "--autocast", "--join", "torchrun"):
        assert option in text


def test_what_is_missing_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        arguments(["--pairs", "a.tsv"])
    assert "--valid" in capsys.readouterr().err


def test_whether_the_processor_has_bfloat16_can_be_asked() -> None:
    assert has_bfloat16(torch.device("cpu")) in (True, False)
