"""What a language model makes of requests that it never learned, which tasks suit which family, and other masks on it."""

from collections.abc import Callable, Sequence

import streamlit as st

from app import session
from app.text import numbered, text
from app.views import html, later
from app.views.families_pair import Pair, sentences
from model.analysis import families

TASKS = ("translation", "summary", "classes", "writing", "chat", "code")


def asked(found: Pair) -> None:
    """Translation asked for in three ways: what it writes, at once; and whether the request changes anything, when asked for."""
    one = found.traces[0]
    names = {"model": html.Ours(found.writer.name), "other": html.Ours(found.translator.name)}
    html.prose(
        "families.live_idea" if found.reads else "families.live_idea_back", **names, language=html.Ours(found.language_name)
    )
    later.drawn(
        lambda: told(session.measured_model(families.continued, found.writer.name, found.sentence, found.language)),
        (families.continued, found.writer.name, found.sentence, found.language),
    )
    if found.reads:
        html.prose("families.live_beside", **names, text=one.target_text)
        opened("asked", lambda: request(found))
    else:
        html.prose("families.live_beside_back", **names, text=one.source_text)
        html.prose("families.asked_back", kind="quiet")


def told(written: Sequence[families.Continued]) -> None:
    """What the language model writes after each way of asking."""
    html.table(
        {text("families.live_prompt"): "word", text("families.live_writes"): "word"},
        [(one.prompt, one.text.strip() or html.Ours(text("families.live_nothing"))) for one in written],
        text("families.live_title"),
        titled=True,
    )


@st.fragment
def opened(name: str, content: Callable[[], None]) -> None:
    """What is measured only once it is opened."""
    session.begin_run()
    with st.expander(text(f"families.{name}_open"), on_change="rerun", key=name, bind="query-params") as part:
        if part.open:
            content()


def measured_table(caption: str, head: str, columns: Sequence[str], rows: Sequence[tuple[object, ...]]) -> None:
    """A row of numbers for each of several conditions; all names are keys of sentences."""
    numbers = {text(column): "number" for column in columns}
    html.table({text(head): "word", **numbers}, rows, text(caption), titled=True)


def request(found: Pair) -> None:
    measured = likelihoods(found)
    html.prose("families.asked_idea", count=measured.sentences, language=html.Ours(found.language_name))
    rows = [
        (text(f"families.asked_{name}"), html.number(getattr(measured, name), 3))
        for name in ("translator", "asked", "other", "alone")
    ]
    measured_table("families.asked_open", "families.asked_given", ["families.asked_nats"], rows)
    html.prose("families.asked_unknown", kind="quiet", unknown=measured.unknown, pieces=measured.pieces)


def likelihoods(found: Pair) -> families.Asked:
    """Measured on whole example sentences, in the direction of the translator that is shown."""
    own = tuple(example.source for example in session.examples(found.translator.name, "en")) or (found.translated.text,)
    return session.measured_model(session.asked, found.writer.name, found.translator.name, own, found.language)


# ----- other masks


def what_if(found: Pair) -> None:
    html.prose("families.what_if")
    opened("masked", lambda: later.drawn(lambda: masks(found), (families.masked, found.writer.name, sentences(found))))


def masks(found: Pair) -> None:
    measured = session.measured_model(families.masked, found.writer.name, sentences(found))
    html.prose("families.masked_idea", count=measured.sentences, tokens=measured.tokens)
    rows = [
        (text(f"families.mask_{kind}"), html.number(measured.loss[kind], 3), f"{measured.likeliest[kind]:.1%}")
        for kind in families.MASKS
    ]
    measured_table("families.masked_open", "families.masked_mask", ["families.masked_loss", "families.masked_hit"], rows)
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
