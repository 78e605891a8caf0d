"""The logit lens over the layers: what each decoder layer would have written, and writing from each encoder layer's output."""

import streamlit as st

from app import session
from app.text import text
from app.views import html, later
from app.views.decoding_place import Asked
from app.views.decoding_stage import tell_other
from model.analysis import lens
from model.trace import Trace
from model.translator import Atlas, LanguageModel


def draw(selection: session.Selection, atlas: Atlas, trace: Trace, found: Asked) -> None:
    readings = session.measured(lens.after_layers, selection)
    html.prose("decoding.lens_idea")
    tell_other(selection, trace, found)
    html.prose(f"decoding.lens_norm_{atlas.config.norm}", kind="quiet")
    columns = {f"{row + 1} {token.label}": "rich" for row, token in enumerate(trace.produced)}
    html.table(
        {text("decoding.lens_layer"): "word name", text("decoding.lens_loss"): "number", **columns},
        [
            (
                html.Ours(after("lens", reading.layer)),
                html.Ours(html.number(reading.loss, 3)),
                *(said(word, share, right=right) for word, share, right in reading.words),
            )
            for reading in readings
        ],
        text("decoding.lens_caption"),
    )
    html.prose("decoding.lens_read", kind="quiet")
    if isinstance(atlas, LanguageModel):
        html.prose("decoding.lens_no_encoder", kind="quiet")
    else:
        encoder(selection)


def after(kind: str, layer: int) -> str:
    """Where a stack was read: after one of its layers, from 1, or before the first."""
    return text(f"decoding.{kind}_after", layer=layer) if layer else text(f"decoding.{kind}_before")


def said(word: str, share: float, *, right: bool) -> str:
    shown = html.literal(word)
    return f"{f'<b>{shown}</b>' if right else shown} <small>{html.number(share)}</small>"


@st.fragment
def encoder(selection: session.Selection) -> None:
    session.begin_run()
    with st.expander(text("decoding.encoder_open"), on_change="rerun", key="encoder_lens", bind="query-params") as opened:
        if not opened.open:
            return
        html.prose("decoding.encoder_idea", kind="quiet")
        later.drawn(lambda: heard_from(selection), (lens.from_encoder_layers, selection))


def heard_from(selection: session.Selection) -> None:
    """What is written from the output of each encoder layer."""
    html.table(
        {
            text("decoding.encoder_layer"): "word name",
            text("decoding.lens_loss"): "number",
            text("decoding.encoder_text"): "word",
        },
        [
            (
                html.Ours(after("encoder", heard.layer)),
                html.Ours(html.number(heard.loss, 3)),
                heard.text or html.Ours(text("translate.nothing")),
            )
            for heard in session.measured(lens.from_encoder_layers, selection)
        ],
        text("decoding.encoder_caption"),
    )
