"""What a visitor has chosen: in the session and in the URL.

A selection (language, model, sentence, target written by hand, beam) follows the visitor to every page. The URL wins when the
visitor changed it (a link, the back button), the session wins otherwise and is written back, since going to another page drops
all parameters. Parameters that are not ours (layer, head ... belong to the component in the browser) are left as they are.
"""

import weakref
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from app import text as texts
from app.session.address import put, settle
from app.session.limits import MAX_LINK
from app.session.loading import arriving, default_model, known_words, languages, models, reads, writes_on
from app.session.rates import in_fragment, waiting
from app.session.remark import Remark
from app.session.sentences import examples, first_example
from app.session.speaking import speak

MAX_IN_LINK = 4_000  # characters of a sentence that still stands in the URL; what can be shown is far shorter
BEAMS = (1, 4)
ESCAPED = 12  # characters that one may become in an address: four bytes of three

_SELECTION, _WRITTEN, _LONG, _RUN = "atlas_selection", "atlas_written", "atlas_long_link", "atlas_run"
_SHOWS_MODEL = "atlas_shows_model"
_PARAMETERS = ("lang", "model", "text", "target", "beam")


@dataclass(frozen=True)
class Selection:
    """What the visitor looks at. `target` is the translation or continuation written by hand, None for the model's own."""

    language: str
    model: str
    text: str
    target: str | None = None
    beam: int = 1
    asked: str = ""  # a model that the URL asked for and that is not here

    def parameters(self) -> dict[str, str]:
        """The selection as URL parameters: a link with them reopens it."""
        found = {"lang": self.language, "model": self.model}
        if len(self.text) <= MAX_IN_LINK:
            found["text"] = self.text
        if self.target is not None and len(self.target) <= MAX_IN_LINK:
            found["target"] = self.target
        if self.beam != BEAMS[0]:
            found["beam"] = str(self.beam)
        return found


def begin_run() -> Selection:
    """Set the language and return the selection; the first call of every page and every fragment.

    A run of a whole page calls it for each of its fragments too: what it found stands until the run is over.
    """
    if (run := _run()) is not None and st.session_state.get(_RUN) == run:
        return current()
    st.session_state[_RUN] = run
    settle()
    _drop_long_link()
    url = {name: st.query_params[name] for name in _PARAMETERS if name in st.query_params}
    selection: Selection | None = st.session_state.get(_SELECTION)
    if selection is None:
        selection = _from_url(url, None)
    elif url and url != st.session_state.get(_WRITTEN):
        selection = _from_url(url, selection)
    elif selection.model not in models():  # one of the visitor's own, whose folder went while they were away
        selection = _from_url(selection.parameters(), selection)
    speak(selection.language, selection.model)
    st.session_state[_SELECTION] = selection
    _write_url(selection)
    if in_fragment() and (waiting() or comes_later(st.session_state.get(_SHOWS_MODEL, False))):
        st.rerun()  # the whole page, which then says so
    return selection


def comes_later(shows_model: bool) -> bool:
    """Whether this page, which may show the chosen model, has to wait until that is loaded; later its fragments ask the same."""
    st.session_state[_SHOWS_MODEL] = shows_model
    return shows_model and arriving(current().model)


def _run() -> "weakref.ref[object] | None":
    """What is the same as long as a run lasts."""
    context = get_script_run_ctx(suppress_warning=True)
    return None if context is None else weakref.ref(context.parallel_coordinator)


def _drop_long_link() -> None:
    """Of an address that is longer than allowed nothing is read."""
    parts = [(name, value) for name in st.query_params for value in st.query_params.get_all(name)]
    if (
        ESCAPED * sum(len(name) + len(value) + 2 for name, value in parts) > MAX_LINK
        and (given := len(urlencode(parts))) > MAX_LINK
    ):
        st.session_state[_LONG] = Remark("rates.long_link", {"given": f"{given:,}", "limit": f"{MAX_LINK:,}"})
        st.query_params.clear()


def long_link() -> Remark | None:
    """That the address was too long, said once; None if it was not."""
    found: Remark | None = st.session_state.pop(_LONG, None)
    return found


def current() -> Selection:
    """The selection of this run, once `begin_run` was called."""
    selection: Selection = st.session_state[_SELECTION]
    return selection


def select(**changes: Any) -> None:
    """Change the selection; for callbacks of widgets, which run before the page does."""
    settle()
    selection: Selection = st.session_state[_SELECTION]
    changed = replace(selection, **{"asked": "", **changes})
    if (changed.model, changed.text, changed.beam) != (selection.model, selection.text, selection.beam):
        changed = replace(changed, target=changes.get("target"))
    if changed.model != selection.model and not _fits(selection, changed.model):
        changed = replace(changed, text=first_example(changed.model))
    st.session_state[_SELECTION] = changed


def _fits(selection: Selection, name: str) -> bool:
    """Whether the text can stay when this model is chosen: not in another language, not an example made for the other family."""
    before, written = selection.model, selection.text
    if known_words(name):
        return reads(name, written)
    if writes_on(before) == writes_on(name) and languages(before)[0] == languages(name)[0]:
        return True
    if not examples(name, texts.DEFAULT_LANGUAGE):  # a model of others, for whose language we have no sentence
        return True
    made_for = {example.source for example in examples(before, texts.DEFAULT_LANGUAGE)}
    return written not in made_for and reads(name, written)


def _from_url(url: Mapping[str, str], before: Selection | None) -> Selection:
    lang = url.get("lang", before.language if before else _browser_language())
    lang = lang if lang in texts.LANGUAGES else texts.DEFAULT_LANGUAGE
    asked = url.get("model", before.model if before else "")
    name = asked if asked in models() else default_model(lang, url.get("text", ""))
    beam = {str(size): size for size in BEAMS}.get(url.get("beam", ""), BEAMS[0])
    return Selection(
        lang,
        name,
        url["text"] if "text" in url else first_example(name),
        url.get("target"),
        beam,
        "" if asked == name else asked,
    )


def _write_url(selection: Selection) -> None:
    wanted = selection.parameters()
    st.session_state[_WRITTEN] = wanted
    present = {name: st.query_params[name] for name in _PARAMETERS if name in st.query_params}
    if present == wanted:
        return
    for name in {**present, **wanted}:  # ours alone: one that is bound to a widget may not be set, not even to what it is
        put(name, wanted.get(name))


def _browser_language() -> str:
    """The visitor's language if we speak it: "zh-CN" and "zh-Hant" are read as "zh"."""
    locale = st.context.locale or ""
    name = locale.replace("_", "-").split("-")[0].lower()
    return name if name in texts.LANGUAGES else texts.DEFAULT_LANGUAGE
