"""What lies in a folder of Hugging Face, read without transformers: its architecture, its size, whether it may be loaded."""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

Kind = Literal["encoder-decoder", "decoder-only", "encoder-only"]

KINDS: Mapping[str, Kind] = {
    "marian": "encoder-decoder",
    "t5": "encoder-decoder",
    "mt5": "encoder-decoder",
    "bart": "encoder-decoder",
    "mbart": "encoder-decoder",
    "m2m_100": "encoder-decoder",  # NLLB as well
    "gpt2": "decoder-only",
    "llama": "decoder-only",
    "mistral": "decoder-only",
    "qwen2": "decoder-only",
    "bert": "encoder-only",
    "roberta": "encoder-only",
    "xlm-roberta": "encoder-only",
}
"""Architectures that can be opened, by the `model_type` of their configuration."""

FACTOR = 1.3
"""Memory that a model takes while it is loaded, for each byte of its parameters in float32."""

PROCESSES, GROUPS = Path("/proc"), Path("/sys/fs/cgroup")
"""Where Linux tells of memory."""

_BYTES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "I16": 2, "I8": 1, "U8": 1, "BOOL": 1}
_LARGEST_HEADER = 100_000_000


class AdapterError(Exception):
    """What was brought cannot be opened: the message says what was given, what is needed and what to do."""


@dataclass(frozen=True)
class Folder:
    """A folder that can be loaded: its architecture, and how much memory that takes. `config` is the file's own."""

    path: Path
    architecture: str
    kind: Kind
    parameters: int
    config: Mapping[str, Any]

    @property
    def needed(self) -> int:
        """Bytes of memory: every parameter in float32, and what loading takes beside it."""
        return int(self.parameters * 4 * FACTOR)


def inspect(path: str | os.PathLike[str], *, pickles: bool = False) -> Folder:
    """Look into a folder before anything of it is loaded.

    `pickles` allows weights in PyTorch's own format as well, whose size is taken for float32. Raises `AdapterError`.
    """
    folder = Path(path)
    if not folder.is_dir():
        raise AdapterError(f"{folder.name!r} is not a folder here; give one with config.json, model.safetensors and a tokenizer")
    architecture, config = configured(folder)
    return Folder(folder, architecture, KINDS[architecture], _parameters(folder, pickles), config)


def configured(folder: Path) -> tuple[str, Mapping[str, Any]]:
    """The architecture that the configuration of a folder names, and all it says. Raises `AdapterError`."""
    config = _config(folder)
    architecture = config.get("model_type")
    if not isinstance(architecture, str) or architecture not in KINDS:
        raise AdapterError(f"{folder.name}: model_type is {architecture!r}; can be opened are {', '.join(KINDS)}")
    return architecture, config


def check_memory(folder: Folder, available: int | None) -> None:
    """Refuse what does not fit; `available` bytes, None where nobody knows."""
    if available is not None and folder.needed > available:
        raise AdapterError(
            f"{folder.path.name} needs about {folder.needed / 1e9:.2f} GB of memory ({folder.parameters:,} parameters in "
            f"float32), {available / 1e9:.2f} GB are free; unload another model, choose a smaller one, or give more memory"
        )


def available_memory() -> int | None:
    """Bytes that may still be taken: of the machine, or less where a container or a unit allows the process less."""
    of_machine = _number(PROCESSES / "meminfo", r"MemAvailable:\s+(\d+) kB")
    found = [of_machine and of_machine * 1024, *map(_free_in, _groups())]
    return min((size for size in found if size is not None), default=None)


def _groups() -> list[Path]:
    """The control groups (version 2) of this process, its own first; each may have a limit."""
    own = GROUPS / _text(PROCESSES / "self" / "cgroup", r"(?m)^0::/(.*)$")
    return [own, *(group for group in own.parents if group == GROUPS or GROUPS in group.parents)]


def _free_in(group: Path) -> int | None:
    """What a group may still take; files that are kept in memory without need give way."""
    limit, used = (_number(group / f"memory.{name}", r"^(\d+)") for name in ("max", "current"))
    if limit is None or used is None:
        return None
    return max(0, limit - used + (_number(group / "memory.stat", r"(?m)^inactive_file (\d+)") or 0))


def _number(file: Path, pattern: str) -> int | None:
    return int(found) if (found := _text(file, pattern)) else None


def _text(file: Path, pattern: str) -> str:
    """What a pattern finds in a file of the system; empty where either is not there."""
    try:
        match = re.search(pattern, file.read_text("utf-8"))
    except OSError:
        return ""
    return match[1] if match else ""


def _config(folder: Path) -> Mapping[str, Any]:
    file = folder / "config.json"
    try:
        config = json.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        raise AdapterError(f"{folder.name} holds no config.json; give the folder that `save_pretrained` wrote") from None
    except (OSError, ValueError) as error:
        raise AdapterError(f"{folder.name}/config.json cannot be read ({error}); bring the file again") from None
    if not isinstance(config, dict):
        raise AdapterError(f"{folder.name}/config.json holds {type(config).__name__}, needed is an object; bring the file again")
    return config


def _parameters(folder: Path, pickles: bool) -> int:
    """How many numbers the weights are."""
    files = _safetensors(folder)
    if files:
        return sum(_count(file) for file in files)
    pickled = [*folder.glob("pytorch_model*.bin")]
    if pickled and pickles:
        return sum(file.stat().st_size for file in pickled) // 4
    if pickled:
        raise AdapterError(
            f"{folder.name} holds its weights only as {pickled[0].name}, a format that can run code when it is read; needed is "
            "model.safetensors: save it again with transformers (`save_pretrained`)"
        )
    raise AdapterError(f"{folder.name} holds no weights; needed is model.safetensors, or its parts with their index")


def _safetensors(folder: Path) -> list[Path]:
    index = folder / "model.safetensors.index.json"
    if not index.exists():
        return [file] if (file := folder / "model.safetensors").exists() else []
    try:
        names = sorted(set(json.loads(index.read_text("utf-8"))["weight_map"].values()))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise AdapterError(f"{folder.name}/{index.name} is damaged; bring the file again") from None
    for name in names:
        if not isinstance(name, str) or Path(name).name != name or not (folder / name).is_file():
            raise AdapterError(f"{folder.name}/{index.name} names {name!r}, which is no file of this folder; bring all its parts")
    return [folder / name for name in names]


def _count(file: Path) -> int:
    """Numbers in a safetensors file, from its header: eight bytes for its length, then JSON."""
    try:
        with file.open("rb") as stream:
            length = int.from_bytes(stream.read(8), "little")
            if not 2 <= length <= min(_LARGEST_HEADER, file.stat().st_size):
                raise ValueError(f"its header would have {length} bytes")
            header = json.loads(stream.read(length))
        return sum(
            (entry["data_offsets"][1] - entry["data_offsets"][0]) // _BYTES.get(entry["dtype"], 1)
            for name, entry in header.items()
            if name != "__metadata__"
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise AdapterError(f"{file.name} is no whole safetensors file ({error}); bring it again") from None
