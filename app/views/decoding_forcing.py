"""Teacher forcing beside free running on one pair: where they part, and what each token of the forced pass costs."""

import streamlit as st

from app import session
from app.components.curves import Chart, Series, curves, pack
from app.text import section, text
from app.views import html, linked
from model.analysis import decoding_steps
from model.analysis.decoding_steps import Beside, Row
from model.translator import Atlas, LanguageModel

FORCED, _OWNER = "forced", "decoding_forced_owner"


@st.fragment
def draw(selection: session.Selection, atlas: Atlas) -> None:
    session.begin_run()
    html.prose("decoding.forcing_idea")
    if isinstance(atlas, LanguageModel):
        source, target, found = of_text(selection, atlas)
    else:
        source, target, found = of_pair(selection, atlas)
    if found is None:
        return
    mean, count = html.Ours(html.number(found.mean_loss, 3)), sum(row.loss is not None for row in found.rows)
    html.prose("decoding.forcing_loss", mean=mean, right=found.right, count=count)
    if found.divergence is None:
        html.prose("decoding.forcing_same")
    else:
        row = found.rows[found.divergence]
        html.prose(
            "decoding.forcing_parts",
            step=found.divergence + 1,
            wanted=row.wanted.label if row.wanted else text("decoding.nothing"),
            written=row.written.label if row.written else text("decoding.nothing"),
        )
    html.table(
        {
            text("decoding.forcing_step"): "number",
            text("decoding.forcing_read"): "word",
            text("decoding.forcing_wanted"): "word",
            text("decoding.forcing_likeliest"): "rich",
            text("decoding.forcing_nats"): "number",
            text("decoding.forcing_written"): "rich",
        },
        [line(step, row, found.divergence) for step, row in enumerate(found.rows)],
        text("decoding.forcing_title"),
        titled=True,
    )
    losses = [row for row in found.rows if row.loss is not None]
    chart = Chart(
        text("decoding.forcing_curve"),
        text("decoding.forcing_wanted"),
        text("decoding.forcing_nats"),
        [Series(text("decoding.forcing_nats"), [row.loss for row in losses], "bar")],
        [row.wanted.label if row.wanted else "" for row in losses],
        marked=None if found.divergence is None else min(found.divergence, len(losses) - 1),
        path="logits",
    )
    caption = {"model": selection.model, "source": source, "target": target}
    curves(pack(chart, text=section("curves"), caption=caption, name="losses"), key="decoding_losses")
    html.prose("decoding.forcing_read_note", kind="quiet")


def of_pair(selection: session.Selection, atlas: Atlas) -> tuple[str, str, Beside | None]:
    """The visitor's written target, else the one that we wrote for this sentence, else an example pair as a whole."""
    pairs = session.example_pairs(selection.model)
    source, own = selection.text, selection.target or dict(pairs).get(selection.text)
    if own is None and pairs:
        source, own = pairs[0]
        html.prose("decoding.forcing_example", kind="quiet", source=source)
    _forget(selection)
    linked.chosen(FORCED, None, own or "")
    target: str = st.text_input(
        text("decoding.forcing_target"), key=FORCED, max_chars=1_000, on_change=linked.remember(FORCED, own or "")
    )
    if not target.strip():
        html.prose("decoding.forcing_none", kind="quiet")
        return source, target, None
    if refusal := session.refused(atlas, source, target):
        html.notice("error", refusal.key, **refusal.values)
        return source, target, None
    return source, target, session.measured_model(decoding_steps.beside, selection.model, source, target)


def _forget(selection: session.Selection) -> None:
    """Another sentence has another target: what was written for the one before is taken away."""
    owner = (selection.model, selection.text, selection.target)
    if st.session_state.get(_OWNER, owner) != owner:
        linked.write(FORCED, None)
        st.session_state.pop(FORCED, None)
    st.session_state[_OWNER] = owner


def of_text(selection: session.Selection, atlas: Atlas) -> tuple[str, str, Beside | None]:
    """The text itself, the first tokens of which are given."""
    tokens = atlas.source_tokens(selection.text)
    written = selection.target is not None
    default = len(tokens) if written else max(1, len(tokens) // 2)
    longest = len(tokens)
    linked.number("given", range(1, longest + 1), default)
    given = int(
        st.number_input(
            text("decoding.forcing_given"), 1, longest, key="given", on_change=linked.remember("given", default), width=220
        )
    )
    target = selection.target or ""
    found = session.measured_model(decoding_steps.beside, selection.model, selection.text, target, given)
    return selection.text, target, found


def line(step: int, row: Row, divergence: int | None) -> tuple[object, ...]:
    """One row of both ways; the first difference is marked."""

    def said(label: str | None) -> object:
        return html.Ours("–") if label is None else label

    mark = f"<b>{html.sentence('decoding.forcing_mark')}</b> " if step == divergence else ""
    right = html.sentence("decoding.forcing_right") if row.right else ""
    return (
        html.Ours(str(step + 1)),
        said(row.read.label if row.read else None),
        said(row.wanted.label if row.wanted else None),
        f"{html.literal(said(row.likeliest or None))} {right}",
        html.Ours("–" if row.loss is None else html.number(row.loss, 3)),
        f"{mark}{html.literal(said(row.written.label if row.written else None))}",
    )
