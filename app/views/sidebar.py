"""The sidebar, on every page: the sentence, the model, the pages, the glossary, the language."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Literal

import streamlit as st

from app import session
from app.text import LANGUAGES, glossary, language, text
from app.views import html, linked
from model.translator import Opened


def show(selection: session.Selection, pages: Mapping[str, Sequence[st.Page]], *, editable: bool, sentence: bool = True) -> None:
    """Draw it. `pages` are the groups, each under the key of its title ("" has none).

    `editable`: the sentence can be typed here; not on the page that has the text box itself. `sentence`: the page is about it.
    """
    with st.sidebar:
        st.html(f'<div class="atlas-brand"><i aria-hidden="true"></i>{html.sentence("app.name")}</div>')
        if sentence:
            _sentence(selection, editable=editable)
        _model(selection)
        for group, members in pages.items():
            if group:
                _label(group)
            for page in members:
                st.page_link(page, query_params=selection.parameters(), width="stretch")
        _glossary()
        _label("sidebar.language")
        _language(selection)


def _label(key: str) -> None:
    st.html(f'<div class="atlas-label">{html.sentence(key)}</div>')


def sentence_box(
    selection: session.Selection, *, height: int, label_visibility: Literal["visible", "collapsed"] = "visible"
) -> None:
    """The text box: whatever is typed becomes the sentence of all pages."""
    linked.show("sentence", selection.text)
    st.text_area(
        text("sidebar.sentence"),
        key="sentence",
        height=height,
        placeholder=text("sidebar.sentence_placeholder"),
        on_change=linked.fresh("sentence", lambda: session.select(text=st.session_state["sentence"])),
        label_visibility=label_visibility,
    )


def _sentence(selection: session.Selection, *, editable: bool) -> None:
    _label("sidebar.sentence")
    if editable:
        sentence_box(selection, height=96, label_visibility="collapsed")
        st.html(f'<div class="atlas-hint">{html.sentence("sidebar.sentence_hint")}</div>')
    else:  # the page itself has the text box
        shown = (
            html.literal(selection.text)
            if selection.text.strip()
            else f'<span class="empty">{html.sentence("sidebar.none")}</span>'
        )
        st.html(
            f'<div class="atlas-box" tabindex="0" role="group" aria-label="{html.sentence("sidebar.sentence")}">{shown}</div>'
        )


def _model(selection: session.Selection) -> None:
    _label("sidebar.model")
    names = session.models()
    if not names:
        return
    labels = {name: _option(name) for name in names}
    linked.show("model", selection.model)
    st.selectbox(
        text("sidebar.model"),
        names,
        key="model",
        format_func=labels.__getitem__,
        on_change=linked.fresh("model", lambda: session.select(model=st.session_state["model"])),
        label_visibility="collapsed",
    )
    if atlas := session.loaded([selection.model]).get(selection.model):
        _card(atlas)


def _option(name: str) -> str:
    """A model with its layers and heads, as far as they are known."""
    if (config := session.config_of(name)) is None:
        return text("sidebar.model_listed" if session.arriving(name) else "sidebar.model_damaged", name=name)
    encoder, decoder = config.encoder_layers, config.decoder_layers
    stacks = {"encoder": encoder, "decoder": decoder}
    numbers = dict.fromkeys(config.heads_of(f"{stack}.self_attention") for stack, layers in stacks.items() if layers)
    heads = " / ".join(map(str, numbers))  # of encoder and decoder, where they differ
    if not (encoder and decoder):
        return text("sidebar.model_option_one", name=name, decoder=encoder or decoder, heads=heads)
    return text("sidebar.model_option", name=name, encoder=encoder, decoder=decoder, heads=heads)


def _card(atlas: Opened) -> None:
    """The model's card: what it learned from and whose that is, how good it is; opened without asking the server."""
    html.dialog("model-card", "card.title", _facts(str(session.folder_of(atlas.name)), language(), atlas), name=atlas.name)


@st.cache_resource(show_spinner=False, max_entries=64)
def _facts(folder: str, spoken: str, _atlas: Opened) -> str:
    """The list of what a card says: written once for each model, whose folder tells it from others of its name."""
    words = {id: glossary()[id].name for id in ("produced", "read")}
    words |= {"sinusoidal": text("card.sinusoidal"), "rotary": text("card.rotary"), "none": text("card.none")}
    words |= {"pre": text("card.pre"), "post": text("card.post")}
    facts = [
        html.sentence(
            key, **{name: html.Ours(words[str(value)]) if str(value) in words else value for name, value in values.items()}
        )
        for key, values in session.card_facts(_atlas, spoken)
    ]
    return f'<ul class="atlas-list">{"".join(f"<li>{fact}</li>" for fact in facts)}</ul>'


def _language(selection: session.Selection) -> None:
    st.session_state["language"] = selection.language
    st.segmented_control(
        text("sidebar.language"),
        list(LANGUAGES),
        key="language",
        format_func=LANGUAGES.__getitem__,
        on_change=lambda: session.select(language=st.session_state["language"] or selection.language),
        label_visibility="collapsed",
    )


def _glossary() -> None:
    """All terms in one list, opened without asking the server; the buttons in sentences open single entries."""
    listed, entries = _terms(language())
    html.dialog("glossary", "sidebar.glossary", listed, beside=entries)


@cache
def _terms(spoken: str) -> tuple[str, str]:
    terms = glossary().values()
    return "".join(f'<div class="entry-row">{html.definition(term)}</div>' for term in terms), html.entries(terms)
