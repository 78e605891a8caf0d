"""What a visitor has chosen, and everything that is kept between runs: the only state, the only cache, the only loader.

A selection (language, model, sentence, target written by hand, beam) follows the visitor to every page. It stands in the
session and in the URL: the URL wins when the visitor changed it (a link, the back button), the session wins otherwise and is
written back, since going to another page drops all parameters. Parameters that are not ours (layer, head ... belong to the
component in the browser) are left as they are.
"""

import os
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import streamlit as st
import torch

import model
from app import text as texts
from model import checkpoint
from model.alignment import words
from model.analysis import doubt, what_if
from model.checkpoint import CheckpointError
from model.decoding import length_limit
from model.trace import Edit, Trace, tracing
from model.translator import Atlas, LanguageModel, Translation

MAX_TOKENS = 200  # of the text box; more is refused with a message, never cut
MAX_CHARACTERS = 10_000  # what is longer is not even cut into tokens
MAX_LINK = 4_000  # characters of a sentence that still stands in the URL; what can be shown is far shorter
BEAMS = (1, 4)
ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "assets" / "examples"

ATTENTIONS = ("encoder.self_attention", "decoder.self_attention", "decoder.cross_attention")
OWN = ATTENTIONS[1:2]  # those of a language model

Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")
Chosen = tuple[str, str, str | None, int]  # model, source, target written by hand, beam

_SELECTION, _WRITTEN, _PLACE = "atlas_selection", "atlas_written", "atlas_place"
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
        if len(self.text) <= MAX_LINK:
            found["text"] = self.text
        if self.target is not None and len(self.target) <= MAX_LINK:
            found["target"] = self.target
        if self.beam != BEAMS[0]:
            found["beam"] = str(self.beam)
        return found


@dataclass(frozen=True)
class Remark:
    """Something to tell the visitor about their text: the key of a sentence and its values.

    `model`: one that suits the text better, to be offered; empty if there is none.
    """

    key: str
    values: Mapping[str, object]
    model: str = ""


@dataclass(frozen=True)
class Example:
    """A sentence of our own, and what to look for in it."""

    source: str
    look: str


# ----- the selection


def begin_run() -> Selection:
    """Set the language and return the selection; the first call of every page and every fragment."""
    url = {name: st.query_params[name] for name in _PARAMETERS if name in st.query_params}
    selection: Selection | None = st.session_state.get(_SELECTION)
    if selection is None:
        selection = _from_url(url, None)
    elif url and url != st.session_state.get(_WRITTEN):
        selection = _from_url(url, selection)
    texts.use(selection.language, writes_on=writes_on(selection.model))
    st.session_state[_SELECTION] = selection
    _write_url(selection)
    return selection


def current() -> Selection:
    """The selection of this run, once `begin_run` was called."""
    selection: Selection = st.session_state[_SELECTION]
    return selection


def select(**changes: Any) -> None:
    """Change the selection; for callbacks of widgets, which run before the page does."""
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
    if writes_on(before) != writes_on(name):
        made_for = {example.source for example in examples(before, texts.DEFAULT_LANGUAGE)}
        return written not in made_for and reads(name, written)
    return languages(before)[0] == languages(name)[0] or reads(name, written)


def _from_url(url: Mapping[str, str], before: Selection | None) -> Selection:
    lang = url.get("lang", before.language if before else _browser_language())
    lang = lang if lang in texts.LANGUAGES else texts.DEFAULT_LANGUAGE
    asked = url.get("model", before.model if before else "")
    name = asked if asked in models() else _default_model(lang, url.get("text", ""))
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
    for name in present.keys() - wanted.keys():
        del st.query_params[name]
    st.query_params.update(wanted)  # ours alone: a parameter that is bound to a widget may not be set, not even to what it is


def _browser_language() -> str:
    """The visitor's language if we speak it: "zh-CN" and "zh-Hant" are read as "zh"."""
    locale = st.context.locale or ""
    name = locale.replace("_", "-").split("-")[0].lower()
    return name if name in texts.LANGUAGES else texts.DEFAULT_LANGUAGE


# ----- the place in the model that a visitor looks at


@dataclass(frozen=True)
class Place:
    """One head, counted from 0, of one of the model's `attentions`."""

    attention: str
    layer: int
    head: int

    @property
    def path(self) -> str:
        """Its attention in the module tree: "decoder.layers.1.cross_attention"."""
        return self.attention.replace(".", f".layers.{self.layer}.")

    def parameters(self) -> dict[str, str]:
        """The place as URL parameters, the same that the attention map writes."""
        return {"attention": self.attention, "layer": str(self.layer), "head": str(self.head)}


def attentions(atlas: Atlas) -> tuple[str, ...]:
    """The attentions that this model has, in reading order: of `ATTENTIONS` a language model has one."""
    return OWN if isinstance(atlas, LanguageModel) else ATTENTIONS


def place(atlas: Atlas) -> Place:
    """Where the visitor looks: what the URL says, else where they looked last, else the head that aligns produced words."""
    before: Place | None = st.session_state.get(_PLACE)
    first = before or _first_place(atlas)
    url = {name: st.query_params.get(name, "") for name in ("attention", "layer", "head")}
    found = st.session_state[_PLACE] = checked_place(
        atlas, url["attention"] or first.attention, url["layer"] or first.layer, url["head"] or first.head
    )
    return found


def checked_place(atlas: Atlas, attention: object, layer: object, head: object) -> Place:
    """The place of these names and numbers, whatever a browser sent: what this model does not have becomes what it has."""
    there = attentions(atlas)
    known = attention if isinstance(attention, str) and attention in there else there[-1]
    layers = atlas.config.encoder_layers if known.startswith("encoder") else atlas.config.decoder_layers
    return Place(known, _index(layer, layers), _index(head, atlas.config.num_heads))


def look_at(where: Place) -> None:
    """Look at another place from now on; for callbacks of widgets and components."""
    st.session_state[_PLACE] = where
    for name, value in where.parameters().items():
        st.query_params[name] = value


def go(page: str, where: Place | None = None, **parameters: str) -> None:
    """Open another page (its file, relative to app/), at this place; parameters of its own go with it."""
    if where is not None:
        st.session_state[_PLACE] = where
    st.switch_page(page, query_params={**current().parameters(), **(where.parameters() if where else {}), **parameters})


def _first_place(atlas: Atlas) -> Place:
    for entry in atlas.card.get("guided", ()):
        if entry.get("row") == "produced":
            return Place(ATTENTIONS[-1], int(entry["layer"]), int(entry["head"]))
    return Place(attentions(atlas)[-1], atlas.config.decoder_layers - 1, 0)


def _index(value: object, count: int) -> int:
    written = str(value) if isinstance(value, int | str) else ""
    return min(int(written), count - 1) if written.isascii() and written.isdigit() and len(written) < 7 else 0


# ----- models


def models() -> tuple[str, ...]:
    """The names of the shipped models."""
    return model.available()


def _default_model(language: str, written: str) -> str:
    """The model that a visitor meets first: one that reads their sentence, or else their own language."""
    names = models()
    for name in (f"{language}-en", f"en-{language}", "en-fr", *names):
        if name in names and reads(name, written):
            return name
    return names[0] if names else "en-fr"


def reads(name: str, written: str) -> bool:
    """Whether a text may be in the source language of a model. Chinese is told from other writing, not English from French."""
    share = words.chinese_share(written[:1000])  # the rest of a long text is not asked
    return share is None or (share > 0 if languages(name)[0] == "zh" else share <= 0.5)


def reader(name: str, written: str) -> str:
    """Another model that reads this text, the reverse of `name` before all others; empty if there is none."""
    found = [other for other in loaded(models()) if reads(other, written)]
    return min(found, key=lambda other: languages(other) != languages(name)[::-1], default="")


def languages(name: str) -> tuple[str, ...]:
    """The languages of a model, from its name: source and target of "en-fr" and "en-fr-rotary", the one of "en-lm"."""
    source, _, rest = name.partition("-")
    return (source,) if writes_on(name) else (source, rest.partition("-")[0])


def writes_on(name: str) -> bool:
    """Whether this is a language model, which writes on after a text, from its name: "en-lm"."""
    return name.split("-")[1:2] == ["lm"]


@st.cache_resource(show_spinner=False)
def load(name: str) -> Atlas:
    """The model of this name, one object for all visitors; raises CheckpointError, and then tries again the next time."""
    return model.load(name)


def loaded(names: Sequence[str]) -> dict[str, Atlas]:
    """Those of the models that can be loaded: a damaged one is told on its page and does not hide the others."""
    return {name: load(name) for name in names if _loads(name, _state(name))}


@st.cache_resource(show_spinner=False, max_entries=64)
def _loads(name: str, state: tuple[tuple[str, int, int], ...]) -> bool:
    """Whether a model can be loaded whose files are in this state: a damaged one is not read again until they change."""
    try:
        load(name)
    except CheckpointError:
        return False
    return True


def _state(name: str) -> tuple[tuple[str, int, int], ...]:
    """What tells the files of a model from others that may take their place: names, sizes, times."""
    found = []
    for path in sorted((checkpoint.SHIPPED / name).glob("*")):
        with suppress(OSError):  # gone in between
            known = path.stat()
            found.append((path.name, known.st_size, known.st_mtime_ns))
    return tuple(found)


def without_folder(message: str) -> str:
    """The message without the path of this installation, which is nobody's business in a browser."""
    return message.replace(f"{ROOT}{os.sep}", "")


def warm_up() -> None:
    """What a server does before its first visitor: load every model and translate once with each.

    A damaged model does not stop the server; its page says what is wrong with it.
    """
    torch.set_num_threads(1)  # many visitors share the processors: one thread each is the fastest for all
    for name in loaded(models()):
        trace(name, first_example(name) or "?")
        doubts(Selection(texts.DEFAULT_LANGUAGE, name, first_example(name) or "?"))


# ----- what the models computed: cached by text, shared by all visitors, never changed


@st.cache_resource(show_spinner=False, max_entries=512)
def translation(name: str, source: str, beam: int = 1) -> Translation:
    """The model's own translation; of a language model, its continuation."""
    atlas = load(name)
    if isinstance(atlas, LanguageModel):  # prompt and continuation stand in one picture
        return atlas.generate(source, beam, min(MAX_TOKENS, length_limit(len(atlas.source_tokens(source)))))
    return atlas.translate(source, beam)


def wrote(name: str, source: str, beam: int = 1) -> str:
    """What the model says by itself: its translation, or the prompt with its continuation."""
    return load(name).said(source, [token.id for token in translation(name, source, beam).produced])


def trace(name: str, source: str, target: str | None = None, beam: int = 1) -> Trace:
    """One forced pass over the given target, or over the model's own translation. Never change what it returns."""
    recorded = _long_trace if _are_long(name, source, target, beam) else _short_trace
    return recorded(name, source, target, beam)


def _are_long(name: str, source: str, target: str | None, beam: int) -> bool:
    """Whether what is computed from these sentences is so large that little of it is kept."""
    tokenizers = load(name).tokenizers
    written = len(translation(name, source, beam).produced if target is None else tokenizers.target.encode(target))
    return len(tokenizers.source.encode(source)) + written > 120


@st.cache_resource(show_spinner=False, max_entries=96)
def _short_trace(name: str, source: str, target: str | None, beam: int) -> Trace:
    return _traced(name, source, target, beam)


@st.cache_resource(show_spinner=False, max_entries=8)
def _long_trace(name: str, source: str, target: str | None, beam: int) -> Trace:
    return _traced(name, source, target, beam)


def _traced(name: str, source: str, target: str | None, beam: int) -> Trace:
    return load(name).trace(source, translation(name, source, beam) if target is None else target)


def measured(
    function: Callable[Concatenate[Any, Trace, Arguments], Result],
    selection: Selection,
    *arguments: Arguments.args,
    **named: Arguments.kwargs,
) -> Result:
    """What a pure function finds in the trace of a selection: computed once, shared by all, never changed.

    `function(atlas, trace, *arguments)` stands at the top level of a module; its arguments are hashable. It may take models of
    one family only: the page knows.
    """
    chosen = (selection.model, selection.text, selection.target, selection.beam)
    kept = _of_long_trace if _are_long(*chosen) else _of_short_trace
    found: Result = kept(f"{function.__module__}.{function.__qualname__}", chosen, arguments, named, _function=function)
    return found


def measured_model(
    function: Callable[Concatenate[Any, Arguments], Result],
    name: str,
    *arguments: Arguments.args,
    **named: Arguments.kwargs,
) -> Result:
    """What a pure function finds in a model, whatever the sentence; see `measured`."""
    found: Result = _of_model(f"{function.__module__}.{function.__qualname__}", name, arguments, named, _function=function)
    return found


@st.cache_resource(show_spinner=False, max_entries=512)
def _of_short_trace(
    function_name: str, chosen: Chosen, arguments: tuple[Any, ...], named: Mapping[str, Any], *, _function: Callable[..., Any]
) -> Any:
    return _function(load(chosen[0]), trace(*chosen), *arguments, **named)


@st.cache_resource(show_spinner=False, max_entries=64)  # up to 3 MB each at 200 tokens a side
def _of_long_trace(
    function_name: str, chosen: Chosen, arguments: tuple[Any, ...], named: Mapping[str, Any], *, _function: Callable[..., Any]
) -> Any:
    return _function(load(chosen[0]), trace(*chosen), *arguments, **named)


@st.cache_resource(show_spinner=False, max_entries=128)
def _of_model(
    function_name: str, name: str, arguments: tuple[Any, ...], named: Mapping[str, Any], *, _function: Callable[..., Any]
) -> Any:
    return _function(load(name), *arguments, **named)


# ----- altered models


def head_off(layer: int, head: int) -> str:
    """The name of the variant in which this head of the last of the model's `attentions` reads nothing."""
    return f"off:{layer}:{head}"


@st.cache_resource(show_spinner=False, max_entries=256)
def altered(name: str, source: str, target: str | None, beam: int, variant: str) -> tuple[float, ...]:
    """The log-probabilities of the same target in an altered model.

    Variants: "even", the last of the model's `attentions` reads all that it may read alike; "off:<layer>:<head>", see `head_off`;
    "mean:<attention>", every head of that attention reads with the mean of all heads.
    """
    atlas = load(name)
    forced = translation(name, source, beam) if target is None else target
    return atlas.trace(source, forced, _edits(atlas, variant)).log_probabilities


@st.cache_resource(show_spinner=False, max_entries=256)
def altered_translation(name: str, source: str, variant: str) -> str:
    """What the altered model writes when it is left to itself, greedily."""
    atlas = load(name)
    with tracing(edits=_edits(atlas, variant), only=frozenset()):
        return atlas.said(source, [token.id for token in atlas.write(source).produced])


def _edits(atlas: Atlas, variant: str) -> Mapping[str, Edit]:
    kind, _, rest = variant.partition(":")
    layers = {"encoder": atlas.config.encoder_layers, "decoder": atlas.config.decoder_layers}
    last = attentions(atlas)[-1]
    if kind == "even":
        paths = what_if.weight_paths(last, layers["decoder"])
        return {path: edit for one in paths for path, edit in what_if.even_head(one, *range(atlas.config.num_heads)).items()}
    if kind == "mean":
        return what_if.average_heads(what_if.weight_paths(rest, layers[rest.partition(".")[0]]))
    layer, head = rest.split(":")
    return what_if.without_head(f"{Place(last, int(layer), int(head)).path}.weights", int(head))


# ----- examples


@st.cache_resource(show_spinner=False, max_entries=32)
def examples(name: str, language: str) -> tuple[Example, ...]:
    """The sentences worth looking at for this model, with the hint in this language."""
    path = EXAMPLES / f"{'-'.join((*languages(name), 'lm')[:2])}.toml"
    if not path.exists():
        return ()
    entries = tomllib.loads(path.read_text("utf-8"))["example"]
    return tuple(Example(entry["source"], entry["look"][language]) for entry in entries)


@st.cache_resource(show_spinner=False, max_entries=32)
def example_pairs(name: str) -> tuple[tuple[str, str], ...]:
    """Those sentences, each with the translation that we wrote for it; empty where there is none."""
    path = EXAMPLES / f"{'-'.join(languages(name))}.toml"
    entries = tomllib.loads(path.read_text("utf-8"))["example"] if path.exists() else []
    return tuple((entry["source"], entry["reference"]) for entry in entries if "reference" in entry)


def first_example(name: str) -> str:
    """The sentence that the app opens with."""
    found = examples(name, texts.DEFAULT_LANGUAGE)
    return found[0].source if found else ""


# ----- limits, checked here whatever the browser allowed


def refused(atlas: Atlas, source: str, target: str | None = None) -> Remark | None:
    """Why this text cannot be shown, with the limit, what was given, and what to do; None if it can."""
    if not source.strip():
        return Remark("limits.empty", {})
    for side, written in (("source", source), ("target", target or "")):
        if len(written) > MAX_CHARACTERS:
            return Remark(f"limits.{side}_characters", {"limit": MAX_CHARACTERS, "given": len(written)})
        tokens = len(getattr(atlas.tokenizers, side).encode(written))
        if tokens > MAX_TOKENS:
            return Remark(f"limits.{side}_tokens", {"limit": MAX_TOKENS, "given": tokens})
    if not atlas.tokenizers.source.encode(source):
        return Remark("limits.no_token", {})
    return None


def remarks(atlas: Atlas, source: str) -> list[Remark]:
    """What a visitor should know about a text that can be shown: in another language, longer than learned."""
    found = []
    language = languages(atlas.name)[0]
    if not reads(atlas.name, source):
        key = "limits.reads_characters" if language == "zh" else "limits.reads_letters"
        found.append(Remark(key, {"name": atlas.name}, reader(atlas.name, source)))
    longest, given = longest_words(atlas), len(words.split(source, True))
    if longest and given > longest:
        key = "limits.longer_than_learned" + ("_characters" if language == "zh" else "")
        found.append(Remark(key, {"longest": longest, "given": given}))
    return found


def doubts(selection: Selection) -> list[Remark]:
    """What the model's own numbers say against the translation that it wrote; nothing about one that was written by hand."""
    atlas = load(selection.model)
    if selection.target is not None or refused(atlas, selection.text):
        return []
    own = translation(selection.model, selection.text, selection.beam)
    found = []
    again = doubt.repeated(own.produced)
    if again and not doubt.repeated(own.source):
        found.append(Remark("doubt.repeats", {"piece": again[0], "count": again[1]}))
    if isinstance(atlas, LanguageModel):  # many continuations are right: to be unsure of the next word is no mistake
        return found
    sources = tuple(example.source for example in examples(selection.model, texts.DEFAULT_LANGUAGE))
    usual = measured_model(doubt.usual, selection.model, sources) if sources else 0.0
    limit, nats = doubt.FACTOR * usual, doubt.nats(own.log_probabilities)
    if usual and nats >= limit:
        numbers = {"nats": round(nats, 2), "usual": round(usual, 2), "limit": round(limit, 2), "factor": doubt.FACTOR}
        found.append(Remark("doubt.unsure", numbers))
    return found


def longest_words(atlas: Atlas) -> int:
    """The longest sentence that the model learned from, in words; 0 if its card does not say."""
    return int(atlas.card.get("training", {}).get("longest_words", 0))


def card_facts(atlas: Atlas) -> list[tuple[str, dict[str, object]]]:
    """What the card says, as keys of sentences with their values; what a card leaves out is left out."""
    card, config = atlas.card, atlas.config
    facts: list[tuple[str, dict[str, object]]] = [
        ("card.size", {"count": f"{sum(parameter.numel() for parameter in atlas.model.parameters()):,}"}),
        ("card.shape", {"d_model": config.d_model, "d_ff": config.d_ff, "positions": config.positions, "norm": config.norm}),
    ]
    if data := card.get("data"):
        facts += [
            ("card.data", {"name": data["name"]}),
            ("card.licence", {"licence": card["model"]["licence"], "attribution": data["attribution"]}),
        ]
    quality = card.get("quality")
    if quality and isinstance(atlas, LanguageModel):
        facts.append(("card.perplexity", {key: quality[key] for key in ("perplexity", "test_sentences")}))
    elif quality:
        facts.append(("card.quality", {key: quality[key] for key in ("bleu", "chrf", "test_sentences")}))
    if alignment := card.get("alignment"):
        found, diagonal = alignment["chosen"], alignment["diagonal"]
        head = found["head"] if found["head"] == "mean" else found["head"] + 1
        place = {"layer": found["layer"] + 1, "head": head, "row": found["row"]}
        facts.append(("card.alignment", {**place, "aer": found["aer"], "diagonal": diagonal["aer"], "pairs": alignment["pairs"]}))
    facts += [
        ("card.guided", {"layer": entry["layer"] + 1, "head": entry["head"] + 1, "row": entry["row"]})
        for entry in card.get("guided", ())
    ]
    return facts
