"""The attention view of a trace in one line of Python: a file that opens from disk, or a picture in a notebook."""

import html
import os
import re
import sys
import tempfile
import webbrowser
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from model.alignment import words
from model.page.attention import LARGEST, pack
from model.page.document import LIMIT, Picture, document
from model.page.labels import labels
from model.trace import Trace

LONGEST = 512
"""Tokens along an axis of what a page can show."""

HEIGHT = 860  # pixels of the picture in a notebook
_WEIGHTS = re.compile(r"(\w+)\.layers\.\d+\.(\w+)\.weights")


@dataclass(frozen=True)
class Page:
    """A whole HTML file; `left_out` says in the page's language what it does not hold, and is empty where it holds all."""

    html: str = field(repr=False)
    left_out: str = ""

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write it to a file; returns where."""
        file = Path(path)
        file.write_text(self.html, encoding="utf-8", newline="\n")
        return file

    def _repr_html_(self) -> str:
        """What a notebook shows: the page in a frame that reaches nothing outside itself."""
        frame = html.escape(self.html, quote=True)
        return (
            f'<iframe srcdoc="{frame}" sandbox="allow-scripts allow-downloads" '
            f'style="width: 100%; height: {HEIGHT}px; border: 0"></iframe>'
        )


def attentions_of(trace: Trace) -> list[str]:
    """Ids of the attentions whose weights a trace holds, in order of recording: "encoder.self_attention" ..."""
    found = (_WEIGHTS.fullmatch(path) for path in trace)
    return list(dict.fromkeys(f"{match[1]}.{match[2]}" for match in found if match))


def page(
    trace: Trace,
    *,
    attentions: Sequence[str] | None = None,
    layers: Sequence[int] | None = None,
    language: str = "en",
    title: str | None = None,
    model: str = "",
) -> Page:
    """Every layer and head of a trace as a page of its own, with pointer, keyboard, table and pictures to take away.

    `attentions`: ids such as "decoder.cross_attention", all that the trace holds if None; `layers`, counted from 0, all if None;
    `language` of the page: "en" or "zh"; `title` stands above it; `model` is named in captions. Above `attention.LARGEST` tokens
    every cell is still there as long as the file stays under `document.LIMIT` bytes; beyond it the maps are pooled to blocks of
    cells, and the page says so. More than `LONGEST` tokens are refused.
    """
    found = attentions_of(trace)
    for name in attentions or ():
        if name not in found:
            raise ValueError(f"attentions={name!r} is not in this trace; it holds {', '.join(found) or 'no attention weights'}")
    if not found:
        raise ValueError("this trace holds no attention weights; record paths such as decoder.layers.0.self_attention.weights")
    if (longest := max(len(trace.source), len(trace.target))) > LONGEST:
        raise ValueError(f"the trace has {longest} tokens; a page shows {LONGEST}: trace a shorter text, or a part of it")
    said = labels("saved_page", language)
    name = (
        title or " → ".join(f"\u2068{text}\u2069" for text in (trace.source_text, trace.target_text) if text) or said["untitled"]
    )

    def made(largest: int, *notes: str) -> str:
        payload = pack(
            trace,
            view="heads",
            attentions=list(attentions or found),
            layers=layers,
            largest=largest,
            words=words_of(trace),
            text=labels("attention_map", language, writes_on=not trace.source),
            caption={"model": model or "–", "source": trace.source_text, "target": trace.target_text},
            defaults={"overview": "all" if len(found) > 1 else "one"},
        )
        return document([Picture("attention_map", payload)], title=name, language=language, notes=[*notes, said["saved_note"]])

    whole = made(LONGEST)
    if longest <= LARGEST or (size := len(whole.encode())) <= LIMIT:
        return Page(whole)
    left_out = said["left_out"].format(size=f"{size / 1e6:.0f}", limit=f"{LIMIT / 1e6:.0f}", cells=LARGEST)
    return Page(made(LARGEST, left_out), left_out)


def save_html(
    trace: Trace,
    path: str | os.PathLike[str],
    *,
    attentions: Sequence[str] | None = None,
    layers: Sequence[int] | None = None,
    language: str = "en",
    title: str | None = None,
    model: str = "",
) -> Path:
    """Write the attention view of a trace to an HTML file that opens from disk; the options are those of `page`."""
    made = page(trace, attentions=attentions, layers=layers, language=language, title=title, model=model)
    return made.save(path)


def show(
    trace: Trace,
    *,
    attentions: Sequence[str] | None = None,
    layers: Sequence[int] | None = None,
    language: str = "en",
    title: str | None = None,
    model: str = "",
) -> Page:
    """The attention view of a trace: in a notebook the last line of a cell shows it; a script opens it in the browser.

    Where there is no screen, the path of the file is printed. The options are those of `page`.
    """
    made = page(trace, attentions=attentions, layers=layers, language=language, title=title, model=model)
    if not _in_notebook():
        handle, name = tempfile.mkstemp(prefix="attention-", suffix=".html")
        os.close(handle)
        file = made.save(name)
        if not (_has_screen() and webbrowser.open(file.as_uri())):
            sys.stdout.write(f"{file}\n")
    return made


def words_of(trace: Trace) -> dict[str, Sequence[int]]:
    """The word of each token, where the tokens know their place in the text; else pieces stand for words."""
    sides = {"source": (trace.source, trace.source_text), "target": (trace.target, trace.target_text)}
    sides["produced"] = (trace.produced or trace.target, trace.target_text)
    return {side: words.of_tokens(tokens, text) for side, (tokens, text) in sides.items() if text}


def _in_notebook() -> bool:
    python = sys.modules.get("IPython")
    return python is not None and hasattr(python.get_ipython(), "kernel")


def _has_screen() -> bool:
    return sys.platform in ("win32", "darwin") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
