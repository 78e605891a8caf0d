"""Saved and loaded again; a missing or damaged file is named, with what to do."""

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from model import checkpoint
from model.checkpoint import CheckpointError
from tests.model import tiny

REMEDY = r"Restore the file \(`git checkout -- assets/checkpoints`\), or train the model again"


def test_a_round_trip_is_exact_to_float16(tmp_path: Path) -> None:
    made = tiny.save_checkpoint(tmp_path)
    loaded, tokenizers = checkpoint.load(tmp_path)
    assert loaded.config == made.config
    for name, parameter in checkpoint.weights(made).items():
        again = checkpoint.weights(loaded)[name]
        assert again.dtype == torch.float32
        assert torch.equal(again, parameter.half().float()), name
    assert not loaded.training
    assert not any(parameter.requires_grad for parameter in loaded.parameters())
    assert loaded.source.table.weight is loaded.target.table.weight is loaded.to_logits.weight
    assert tokenizers.source is tokenizers.target
    assert [token.text for token in tokenizers.source.encode("I love you.")] == [
        token.text for token in tiny.shared_bpe().encode("I love you.")
    ]


def test_loaded_again_it_computes_the_same(tmp_path: Path) -> None:
    made = tiny.save_checkpoint(tmp_path / "one", shared=False)
    checkpoint.save(
        tmp_path / "two", checkpoint.weights(made), made.config, checkpoint.load_tokenizers(tmp_path / "one"), torch.float32
    )
    exact, _ = checkpoint.load(tmp_path / "two")
    rounded, _ = checkpoint.load(tmp_path / "one")
    source, target = tiny.ids(5, made.config.source_vocab_size), tiny.ids(4, made.config.target_vocab_size)
    assert torch.equal(exact(source, target), made(source, target))
    torch.testing.assert_close(rounded(source, target), made(source, target), atol=0.05, rtol=0.05)


def test_a_shared_matrix_is_stored_once_in_float16(tmp_path: Path) -> None:
    made = tiny.save_checkpoint(tmp_path)
    stored = load_file(tmp_path / "model.safetensors")
    assert {tensor.dtype for tensor in stored.values()} == {torch.float16}
    assert sum(tensor.numel() for tensor in stored.values()) == sum(parameter.numel() for parameter in made.parameters())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["card.toml", "config.json", "model.safetensors", "tokenizer.json"]


def test_two_vocabularies_are_two_files(tmp_path: Path) -> None:
    tiny.save_checkpoint(tmp_path, shared=False)
    assert (tmp_path / "tokenizer.source.json").exists()
    assert (tmp_path / "tokenizer.target.json").exists()
    tokenizers = checkpoint.load_tokenizers(tmp_path)
    assert len(tokenizers.source) != len(tokenizers.target)


@pytest.mark.parametrize(
    ("shared", "file"),
    [
        (True, "model.safetensors"),
        (True, "config.json"),
        (True, "card.toml"),
        (False, "tokenizer.source.json"),
        (False, "tokenizer.target.json"),
    ],
)
class TestDamage:
    def load(self, folder: Path) -> None:
        checkpoint.load(folder)
        checkpoint.load_card(folder)

    def test_a_missing_file(self, tmp_path: Path, shared: bool, file: str) -> None:
        tiny.save_checkpoint(tmp_path, shared)
        (tmp_path / file).unlink()
        with pytest.raises(CheckpointError, match=rf"{file} is missing\. {REMEDY}"):
            self.load(tmp_path)

    def test_a_file_cut_short(self, tmp_path: Path, shared: bool, file: str) -> None:
        tiny.save_checkpoint(tmp_path, shared)
        content = (tmp_path / file).read_bytes()
        (tmp_path / file).write_bytes(content[: len(content) // 2])
        with pytest.raises(CheckpointError, match=rf"{file} cannot be read: (?s:.*){REMEDY}"):
            self.load(tmp_path)

    def test_a_pointer_where_the_file_should_be(self, tmp_path: Path, shared: bool, file: str) -> None:
        """What git leaves where large files were not fetched."""
        tiny.save_checkpoint(tmp_path, shared)
        (tmp_path / file).write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", encoding="utf-8")
        with pytest.raises(CheckpointError, match=rf"{file} cannot be read: (?s:.*){REMEDY}"):
            self.load(tmp_path)


class TestFilesThatDoNotFit:
    def test_an_odd_setting(self, tmp_path: Path) -> None:
        tiny.save_checkpoint(tmp_path)
        settings = json.loads((tmp_path / "config.json").read_text(encoding="utf-8"))
        (tmp_path / "config.json").write_text(json.dumps({**settings, "num_heads": 5}), encoding="utf-8")
        with pytest.raises(
            CheckpointError, match=r"config\.json cannot be read: d_model=24 cannot be split evenly into num_heads=5"
        ):
            checkpoint.load(tmp_path)

    def test_another_shape(self, tmp_path: Path) -> None:
        tiny.save_checkpoint(tmp_path)
        settings = json.loads((tmp_path / "config.json").read_text(encoding="utf-8"))
        (tmp_path / "config.json").write_text(json.dumps({**settings, "d_ff": 44}), encoding="utf-8")
        with pytest.raises(
            CheckpointError, match=r"model\.safetensors: encoder\..* is \(.*40.*\), config\.json needs \(.*44.*\)"
        ):
            checkpoint.load(tmp_path)

    @pytest.mark.parametrize("change", ["one more", "one less"])
    def test_other_names(self, tmp_path: Path, change: str) -> None:
        tiny.save_checkpoint(tmp_path)
        state = load_file(tmp_path / "model.safetensors")
        if change == "one more":
            state["encoder.layers.7.extra"] = torch.zeros(2)
        else:
            del state["decoder.layers.0.feed_forward.expand.bias"]
        save_file(state, tmp_path / "model.safetensors")
        odd = "encoder.layers.7.extra" if change == "one more" else "decoder.layers.0.feed_forward.expand.bias"
        with pytest.raises(CheckpointError, match=rf"model\.safetensors does not fit config\.json: {odd} is only in one of them"):
            checkpoint.load(tmp_path)

    def test_a_vocabulary_of_another_size(self, tmp_path: Path) -> None:
        tiny.save_checkpoint(tmp_path)
        tiny.english_bpe().save(tmp_path / "tokenizer.json")
        with pytest.raises(CheckpointError, match=r"tokenizer\.json has \d+ entries, config\.json needs 150"):
            checkpoint.load(tmp_path)


def test_what_is_shipped_is_what_has_a_card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "SHIPPED", tmp_path)
    assert checkpoint.available() == ()
    for name in ("b", "a"):
        tiny.save_checkpoint(tmp_path / name)
    (tmp_path / "half-done").mkdir()
    assert checkpoint.available() == ("a", "b")
