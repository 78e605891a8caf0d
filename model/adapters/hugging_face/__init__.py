"""Models of Hugging Face as translators and language models of ours: the same calls, the same traces, the same decoding.

`load(folder)` reads a folder from disk (never the network, never code that lies in it) and returns, by the architecture, a
`HuggingFaceTranslator`, a `HuggingFaceLanguageModel` or a `HuggingFaceEncoder`. `transformers` is imported only when a folder is
loaded: everything else works without it (requirements-hf.txt).
"""

from model.adapters.hugging_face.folder import AdapterError, Folder, inspect
from model.adapters.hugging_face.loading import load, prepare
from model.adapters.hugging_face.models import (
    HuggingFaceEncoder,
    HuggingFaceLanguageModel,
    HuggingFaceTranslator,
    NotInThisModelError,
)

__all__ = [
    "AdapterError",
    "Folder",
    "HuggingFaceEncoder",
    "HuggingFaceLanguageModel",
    "HuggingFaceTranslator",
    "NotInThisModelError",
    "inspect",
    "load",
    "prepare",
]
