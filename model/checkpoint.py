"""Models on disk: weights in safetensors, the configuration, the tokenizers and the card, one folder each."""

import json
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import torch
from safetensors.torch import load_file, save_file
from torch.overrides import TorchFunctionMode

from model.config import ModelConfig
from model.tokenizer import Tokenizer
from model.transformer import DecoderOnly, EncoderDecoder, Transformer, build

Content = TypeVar("Content")
ROOT = Path(__file__).resolve().parents[1]
SHIPPED = ROOT / "assets" / "checkpoints"
WEIGHTS, CONFIG, CARD, SHARED = "model.safetensors", "config.json", "card.toml", "tokenizer.json"
SOURCE, TARGET = "tokenizer.source.json", "tokenizer.target.json"


class CheckpointError(Exception):
    """A checkpoint that is missing or damaged: the message names the file and says what to do."""


@dataclass(frozen=True)
class Tokenizers:
    """One for each side; the same object twice where the vocabulary is shared."""

    source: Tokenizer
    target: Tokenizer


def available() -> tuple[str, ...]:
    """The names of the shipped checkpoints."""
    return tuple(sorted(path.parent.name for path in SHIPPED.glob(f"*/{CARD}")))


def weights(model: Transformer) -> dict[str, torch.Tensor]:
    """Every parameter once, however many places share it."""
    return {name: parameter.detach() for name, parameter in model.named_parameters()}


def save(
    folder: Path,
    state: Mapping[str, torch.Tensor],
    config: ModelConfig,
    tokenizers: Tokenizers,
    dtype: torch.dtype = torch.float16,
) -> None:
    """Write weights, configuration and tokenizers; the card is written by hand, its figures by a benchmark."""
    folder.mkdir(parents=True, exist_ok=True)
    save_file({name: tensor.to(dtype).contiguous() for name, tensor in state.items()}, folder / WEIGHTS)
    (folder / CONFIG).write_text(json.dumps(config.to_dict(), indent=2) + "\n", encoding="utf-8")
    if tokenizers.source is tokenizers.target:
        tokenizers.source.save(folder / SHARED)
    else:
        tokenizers.source.save(folder / SOURCE)
        tokenizers.target.save(folder / TARGET)


def load(folder: Path, device: torch.device | str = "cpu") -> tuple[EncoderDecoder | DecoderOnly, Tokenizers]:
    """The model in eval mode, in float32, and its tokenizers."""
    config = load_config(folder)
    state = _read(folder / WEIGHTS, load_file)
    with torch.device(device), NothingDrawn():
        model = build(config)
    put_weights(model, state, folder / WEIGHTS)
    model.requires_grad_(False).eval()
    tokenizers = load_tokenizers(folder)
    shared = tokenizers.source is tokenizers.target
    for file, tokenizer, size in (
        (SHARED if shared else SOURCE, tokenizers.source, config.source_vocab_size),
        (SHARED if shared else TARGET, tokenizers.target, config.target_vocab_size),
    ):
        if len(tokenizer) != size:
            raise CheckpointError(f"{shown(folder / file)} has {len(tokenizer)} entries, {CONFIG} needs {size}. {_ADVICE}")
    return model, tokenizers


class NothingDrawn(TorchFunctionMode):
    """A model that is built here keeps whatever lies in memory where its random weights would stand: those of a file follow."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return args[0] if func in (torch.Tensor.uniform_, torch.Tensor.normal_) else func(*args, **(kwargs or {}))


def load_tokenizers(folder: Path) -> Tokenizers:
    """The tokenizers of a checkpoint."""
    if (folder / SHARED).exists():
        shared = _read(folder / SHARED, Tokenizer.load)
        return Tokenizers(shared, shared)
    return Tokenizers(_read(folder / SOURCE, Tokenizer.load), _read(folder / TARGET, Tokenizer.load))


def load_config(folder: Path) -> ModelConfig:
    """What the model is made of, without its weights."""
    return _read(folder / CONFIG, lambda path: ModelConfig.from_dict(json.loads(path.read_text(encoding="utf-8"))))


def load_card(folder: Path) -> dict[str, Any]:
    """What the card says: data, licence, training command, measured quality."""
    return _read(folder / CARD, lambda path: tomllib.loads(path.read_text(encoding="utf-8")))


@torch.no_grad()
def put_weights(model: Transformer, state: Mapping[str, torch.Tensor], path: Path) -> None:
    """Copy a saved state into the model; every parameter must be there, in its shape."""
    needed = weights(model)
    if set(needed) != set(state):
        odd = sorted(set(needed) ^ set(state))[0]
        raise CheckpointError(f"{shown(path)} does not fit {CONFIG}: {odd} is only in one of them. {_ADVICE}")
    for name, parameter in needed.items():
        if parameter.shape != state[name].shape:
            raise CheckpointError(
                f"{shown(path)}: {name} is {tuple(state[name].shape)}, {CONFIG} needs {tuple(parameter.shape)}. {_ADVICE}"
            )
        parameter.copy_(state[name])


_ADVICE = "Restore the file (`git checkout -- assets/checkpoints`), or train the model again (its card names the command)."


def shown(path: Path) -> str:
    """The path from the project's folder, which is all that a visitor should see of the machine."""
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else str(path)


def _read(path: Path, reader: Callable[[Path], Content]) -> Content:
    try:
        return reader(path)
    except FileNotFoundError:
        raise CheckpointError(f"{shown(path)} is missing. {_ADVICE}") from None
    except Exception as error:  # safetensors, tokenizers and json each raise their own, the second plain Exception
        raise CheckpointError(f"{shown(path)} cannot be read: {error}. {_ADVICE}") from error
