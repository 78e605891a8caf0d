"""Which page works with which family of models of others, and where it does not, why."""

from collections.abc import Mapping

import streamlit as st

from app import session
from app.text import text
from app.views import anatomy, html, pages

KINDS = ("encoder-decoder", "decoder-only", "encoder-only")
NOWHERE: Mapping[str, str] = {
    "findings": "stories",
    "architecture": "modules",
    "positions": "positions",
    "rotary": "rotation",
    "attention": "modules",
    "three_attentions": "modules",
    "layers": "modules",
    "training": "training",
    "cost": "counts",
    "families": "pair",
}
"""Pages that ask for what only models of this app have (app/views/needs.py), and what that is."""
SOMEWHERE: Mapping[str, tuple[Mapping[str, str], str]] = {
    "tokens": (dict.fromkeys(KINDS, "partly"), "modules"),
    "translate": ({"encoder-only": "partly"}, "writing"),
    "heads": ({"encoder-only": "partly"}, "writing"),
    "masks": ({"encoder-only": "partly"}, "writing"),
    "decoding": ({"encoder-only": "no"}, "writing"),
    "studio": ({"decoder-only": "no", "encoder-only": "no"}, "translating"),
}
"""Pages that work with models of others: with which families not, or in part, and why."""


def pages_for(kind: str) -> tuple[str, ...]:
    """The pages that show a model of this family, in their order."""
    return tuple(page for page in anatomy.ORDER if page in SOMEWHERE and SOMEWHERE[page][0].get(kind) != "no")


def links(entry: session.Listed) -> None:
    """Ways to the pages that show this model."""
    st.html(f'<p class="atlas-prose quiet">{html.sentence("own.look")}</p>', width="content")
    query = {**session.current().parameters(), "model": entry.name, **session.presented()}
    query.pop("target", None)  # it was written for another model
    for page in pages_for(entry.kind):
        st.page_link(pages.page(page), label=text(f"{page}.title"), query_params=query)


def table() -> None:
    """All pages but this one."""
    for key in ("own.fits_idea", "own.fits_families"):
        html.prose(key)
    columns = {text("own.fits_page"): "name"}
    columns |= {text(f"own.fits_{kind.replace('-', '_')}"): "name" for kind in KINDS}
    pages = [page for page in anatomy.ORDER if page in SOMEWHERE] + [page for page in anatomy.ORDER if page in NOWHERE]
    html.table({**columns, text("own.fits_why"): "rich"}, [_row(page) for page in pages], text("own.fits_title"), titled=True)


def _row(page: str) -> list[str]:
    limits, why = SOMEWHERE.get(page, (dict.fromkeys(KINDS, "no"), NOWHERE.get(page, "")))
    works = [text(f"own.fits_{limits.get(kind, 'yes')}") for kind in KINDS]
    return [*(html.Ours(cell) for cell in (text(f"{page}.title"), *works)), html.sentence(f"own.why_{why}")]
