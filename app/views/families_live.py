"""What a language model makes of requests that it never learned, which tasks suit which family, and other masks on it."""

import streamlit as st

from app import session
from app.text import numbered, text
from app.views import html
from app.views.families_pair import Pair, sentences
from model.analysis import families
from model.translator import Atlas, LanguageModel, Translator

TASKS = ("translation", "summary", "classes", "writing", "chat", "code")


def asked(selection: session.Selection, found: Pair) -> None:
    """Translation asked for in three ways: what it writes, at once; and whether the request changes anything, when asked for."""
    sentence = selection.text if session.languages(selection.model)[0] == "en" else found.traces[0].target_text
    written = session.measured_model(families.continued, found.writer.name, sentence, found.language)
    html.prose("families.live_idea", model=html.Ours(found.writer.name), language=html.Ours(found.language))
    html.table(
        {text("families.live_prompt"): "word", text("families.live_writes"): "word"},
        [(one.prompt, one.text.strip() or html.Ours(text("families.live_nothing"))) for one in written],
        text("families.live_title"),
        titled=True,
    )
    html.prose("families.live_beside", model=html.Ours(found.translator.name), target=found.traces[0].target_text)
    request(found)


@st.fragment
def request(found: Pair) -> None:
    session.begin_run()
    with st.expander(text("families.asked_open"), on_change="rerun", key="asked", bind="query-params") as opened:
        if not opened.open:
            return
        measured = likelihoods(found)
        html.prose("families.asked_idea", count=measured.sentences, language=html.Ours(found.language))
        html.table(
            {text("families.asked_given"): "word", text("families.asked_nats"): "number"},
            [
                (text(f"families.asked_{name}"), html.number(getattr(measured, name), 3))
                for name in ("translator", "asked", "other", "alone")
            ],
            text("families.asked_open"),
            titled=True,
        )
        html.prose("families.asked_unknown", kind="quiet", unknown=measured.unknown, pieces=measured.pieces)


def likelihoods(found: Pair) -> families.Asked:
    """Measured on whole example sentences, in the direction of the translator that is shown."""
    own = tuple(example.source for example in session.examples(found.translator.name, "en")) or (found.translated.text,)
    return session.measured_model(_asked, found.writer.name, found.translator.name, own, found.language)


def _asked(writer: Atlas, translator: str, own: tuple[str, ...], language: str) -> families.Asked:
    other = session.load(translator)
    if not isinstance(writer, LanguageModel) or not isinstance(other, Translator):
        raise TypeError(f"{writer.name!r} and {translator!r} are not a language model and a translator; give one of each")
    return families.asked(writer, other, own, language)


# ----- other masks


def what_if(found: Pair) -> None:
    html.prose("families.what_if")
    masks(found)


@st.fragment
def masks(found: Pair) -> None:
    session.begin_run()
    with st.expander(text("families.masked_open"), on_change="rerun", key="masked", bind="query-params") as opened:
        if not opened.open:
            return
        measured = session.measured_model(families.masked, found.writer.name, sentences(found))
        html.prose("families.masked_idea", count=measured.sentences, tokens=measured.tokens)
        html.table(
            {text("families.masked_mask"): "word", text("families.masked_loss"): "number", text("families.masked_hit"): "number"},
            [
                (text(f"families.mask_{kind}"), html.number(measured.loss[kind], 3), f"{measured.likeliest[kind]:.1%}")
                for kind in families.MASKS
            ],
            text("families.masked_open"),
            titled=True,
        )
        for kind in ("off", "prefix"):
            worse = measured.loss[kind] > measured.loss["causal"]
            change = html.difference(measured.loss[kind], measured.loss["causal"], 3).lstrip("\N{MINUS SIGN}")
            html.prose(f"families.masked_{kind}_{'worse' if worse else 'better'}", change=html.Ours(change))
        html.prose("families.masked_why")


# ----- which tasks suit which


def tasks() -> None:
    html.prose("families.tasks_idea")
    html.table(
        {text("families.task"): "word", text("families.task_family"): "rich", text("families.task_why"): "rich"},
        [
            (text(f"families.task_{task}"), html.sentence(f"families.{task}_family"), html.sentence(f"families.{task}_why"))
            for task in TASKS
        ],
        text("families.tasks_title"),
        titled=True,
    )
    html.prose("families.dominant")
    html.bullets([html.sentence(key) for key in numbered("families.reason")])
    html.prose("families.dominant_limits")
