"""Heads switched off: what the same translation loses, what the model writes then, and which head matters most."""

import streamlit as st

from app import session
from app.charts.spreadsheet import comma_separated
from app.text import text
from app.views import heads_place, html, later, token_cards
from model.analysis import ablation
from model.analysis.ablation import Effect, Head, How
from model.trace import Trace


def off(selection: session.Selection, trace: Trace) -> None:
    html.prose("heads_off.idea")
    chosen(selection, trace)


@st.fragment
def chosen(selection: session.Selection, trace: Trace) -> None:
    """Any heads of any attention, and how they are switched off."""
    session.begin_run()
    options = {written(head): head for head in ablation.every_head(trace)}
    names = {name: heads_place.short_name(head) for name, head in options.items()}
    with st.container(horizontal=True, vertical_alignment="bottom", key="off_row"):
        picked = heads_place.choices(text("heads_off.heads"), "off", names, text("heads_off.placeholder"))
        how = ways()
    html.prose(f"heads_off.how_{how}", kind="quiet")
    if picked:
        heads = tuple(sorted(options[name] for name in picked))
        result(selection, trace, heads, how)
    importance(selection, how)


def ways() -> How:
    """How a head is switched off."""
    names = {str(how): text(f"heads_off.way_{how}") for how in ablation.HOWS}
    chosen = heads_place.choice(text("heads_off.how"), "how", names)
    return next(how for how in ablation.HOWS if how == chosen)


def written(head: Head) -> str:
    """A head in a link, counted from 0."""
    return f"{head.attention}.{head.layer}.{head.head}"


def result(selection: session.Selection, trace: Trace, heads: tuple[Head, ...], how: How) -> None:
    effect = session.measured(ablation.switch_off, selection, heads, how)
    html.prose("heads_off.before", kind="quiet", loss=html.number(effect.before, 3))
    st.html(token_cards.probable(trace.produced, trace.log_probabilities, "heads_off.tokens_before"))
    html.prose("heads_off.after", kind="quiet", loss=html.number(effect.after, 3), change=html.signed(effect.change, 3))
    st.html(token_cards.probable(trace.produced, effect.log_probabilities, "heads_off.tokens_after"))
    found = session.measured(ablation.rewritten, selection, heads, how)
    html.prose("heads_off.writes", written=found or text("translate.nothing"))


def importance(selection: session.Selection, how: How) -> None:
    """Every head off, one at a time; a forced pass each, so only when the visitor asks."""
    opened = st.expander(text("heads_off.each"), key="importance", on_change="rerun", bind="query-params")
    if not opened.open:
        return
    with opened:
        later.drawn(lambda: ranked(selection, how), (ablation.importance, selection, how), saying="heads_off.measuring")


def ranked(selection: session.Selection, how: How) -> None:
    """The grid, and the heads that matter most and least."""
    effects = session.measured(ablation.importance, selection, how)
    grid(effects)
    st.download_button(
        text("attention_map.csv"),
        data=lambda: spreadsheet(effects),
        file_name=f"{selection.model}-heads-{how}.csv",
        mime="text/csv",
        on_click="ignore",
        key="importance_csv",
    )
    most, least = max(effects, key=lambda head: effects[head].change), min(effects, key=lambda head: effects[head].change)
    html.prose(
        "heads_off.each_read",
        most=html.Ours(heads_place.head_name(most)),
        rise=html.signed(effects[most].change, 3),
        least=html.Ours(heads_place.head_name(least)),
        least_change=html.signed(effects[least].change, 3),
    )


def grid(effects: dict[Head, Effect]) -> None:
    """Rows are layers of the three attentions, columns heads, cells the change in loss."""
    heads = sorted({head.head for head in effects})
    lines = dict.fromkeys((head.attention, head.layer) for head in effects)
    html.table(
        {
            text("heads_off.layer"): "rich",
            **{text("attention_map.head_number", head=head + 1): "number" for head in heads},
        },
        [
            [
                html.sentence("heads_off.row", attention=html.Ours(heads_place.attention_name(attention)), layer=layer + 1),
                *(html.Ours(change_of(effects.get(Head(attention, layer, head)))) for head in heads),
            ]
            for attention, layer in lines
        ],
        text("heads_off.each_caption"),
    )


def change_of(effect: Effect | None) -> str:
    """The change in loss; a dash where this attention has fewer heads than another one."""
    return "\N{EN DASH}" if effect is None else html.signed(effect.change, 3)


def spreadsheet(effects: dict[Head, Effect]) -> bytes:
    """Layers and heads count from 0, as in paths; losses in nats a token."""
    rows = [
        (head.attention, head.layer, head.head, effect.before, effect.after, effect.change) for head, effect in effects.items()
    ]
    return comma_separated(("attention", "layer", "head", "loss", "loss_without", "change"), rows)
