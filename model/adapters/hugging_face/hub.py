"""A model by its name on a hub, brought to this disk: only what loading needs, and only where the operator asked for it."""

from importlib import import_module
from pathlib import Path
from typing import Any

from model.adapters.hugging_face.folder import FACTOR, AdapterError, configured

SMALL = ("*.json", "*.txt", "*.model", "*.spm")
"""Files of a configuration and of tokenizers; no code and no pickles are among them."""
WEIGHTS = ("model*.safetensors",)
PICKLES = ("pytorch_model*.bin",)


def cached(name: str, revision: str = "") -> Path | None:
    """The folder of a model that was fetched before; None if it was not, or if what fetches is not installed."""
    try:
        hub: Any = import_module("huggingface_hub")
        return Path(hub.snapshot_download(name, revision=revision or None, local_files_only=True))
    except (ImportError, OSError, ValueError):
        return None


def fetch(name: str, revision: str = "", *, pickles: bool = False, available: int | None = None) -> Path:
    """Fetch a model, of this revision if one is named, and return its folder. Asks the network.

    Its architecture, and what it takes of `available` bytes of memory, are checked before the weights are fetched. Raises
    `AdapterError`.
    """
    try:
        hub: Any = import_module("huggingface_hub")
    except ImportError:
        raise AdapterError("huggingface_hub is not installed; run `make run-hf`") from None
    hub.utils.disable_progress_bars()
    asked = {"revision": revision or None}
    try:
        small = Path(hub.snapshot_download(name, **asked, allow_patterns=[*SMALL]))
        configured(small)
        _check_memory(name, hub.HfApi().model_info(name, **asked, files_metadata=True), available)
        return Path(hub.snapshot_download(name, **asked, allow_patterns=[*SMALL, *WEIGHTS, *(PICKLES if pickles else ())]))
    except AdapterError:
        raise
    except Exception as error:  # what its library of the network raises has no name in common
        line = (str(error).strip().splitlines() or [type(error).__name__])[0][:300]
        raise AdapterError(f"{name} cannot be fetched: {line}; check its name and the network, or give a folder") from error


def _check_memory(name: str, info: Any, available: int | None) -> None:
    """`info` is what the hub says of the model: each number is taken for four bytes; stored in two it needs twice as much."""
    size = sum(file.size or 0 for file in info.siblings if Path(file.rfilename).match("model*.safetensors"))
    if available is not None and (needed := int(size * FACTOR)) > available:
        raise AdapterError(
            f"{name} needs at least {needed / 1e9:.2f} GB of memory, {available / 1e9:.2f} GB are free; choose a smaller model"
        )
