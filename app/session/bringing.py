"""A model of the operator's list on its way into memory, step by step, with all that can be known before known before."""

from collections.abc import Callable
from dataclasses import replace

import torch

from app.session import digest, listed, listed_file
from app.session.listed_file import Listed
from app.session.remark import Remark
from model.adapters import hugging_face
from model.adapters.hugging_face import AdapterError, Folder, HuggingFaceEncoder, hub, inspect
from model.adapters.hugging_face.models import AnyHuggingFace

STEPS = ("fetch", "folder", "weights", "tokenizers", "trial")
WEIGHTS = "model.safetensors"
TRIED = "Hello."  # the text of a model's first pass
Told = Callable[[str], None]
"""Told which of `STEPS` is begun."""


class RefusedError(Exception):
    """Why a model is not loaded, for the visitor."""

    def __init__(self, remark: Remark) -> None:
        super().__init__(listed.in_english(remark))
        self.remark = remark


def bring(entry: Listed, available: Callable[[], int | None], make_room: Callable[[Folder], None], told: Told) -> AnyHuggingFace:
    """The model of an entry, tried out. Raises RefusedError; `make_room` may as well, before anything large is read."""
    try:
        found = _looked_into(entry, available, told)
        make_room(found)
        atlas = hugging_face.load(
            found.path,
            source_language=entry.source_language,
            target_language=entry.target_language,
            prefix=entry.prefix,
            pickles=entry.pickles,
            available=available(),
            progress=lambda done, *_: told(STEPS[STEPS.index(done) + 1]) if done in STEPS else None,
        )
        _try_out(atlas)
        digest.of_file(found.path / WEIGHTS)  # every page names it
    except AdapterError as error:
        raise RefusedError(listed_file.unreadable(error)) from error
    return replace(atlas, name=entry.name)


def _looked_into(entry: Listed, available: Callable[[], int | None], told: Told) -> Folder:
    """What lies in the entry's folder now, which is fetched if it lies on a hub."""
    entry = listed_file.looked_into(entry)
    if entry.hub and entry.found is None:
        told("fetch")
        path = hub.fetch(entry.hub, entry.revision, pickles=entry.pickles, available=available())
        listed.forget()
        told("folder")
        return inspect(path, pickles=entry.pickles)
    told("folder")
    if entry.found is None:
        raise RefusedError(entry.trouble or Remark("own.trouble_no_folder", {"folder": entry.name}))
    return entry.found


def _try_out(atlas: AnyHuggingFace) -> None:
    """One pass over a short text: what comes out are numbers. Raises `AdapterError`."""
    try:
        trace = atlas.trace(TRIED) if isinstance(atlas, HuggingFaceEncoder) else atlas.trace(TRIED, TRIED)
    except (RuntimeError, ValueError, IndexError, KeyError) as error:
        raise AdapterError(f"{atlas.name} fails at its first text ({str(error)[:200]}); bring all files of one model") from error
    last = [path for path in trace if path == "logits" or path.endswith("output")][-1]
    if not torch.isfinite(trace[last].tensor).all():
        raise AdapterError(f"{atlas.name} computes what is no number ({last}); its weights are damaged, bring the folder again")
