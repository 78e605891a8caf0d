"""Findings: ten short true stories about attention, each measured here and with a way to the place that shows it."""

from functools import partial

import streamlit as st

from app import session
from app.text import text
from app.views import html, little_table, pages
from app.views.anatomy import Anatomy, Section, show
from model.analysis import findings
from model.analysis.findings import Value


def page() -> None:
    """The page is about its own sentences and models, whatever the visitor has chosen."""
    session.begin_run()
    show(
        Anatomy(
            "findings",
            lambda: html.prose("findings.how", kind="quiet"),
            pictured=False,
            sections=[Section(f"findings.{finding.name}.title", partial(tell, finding)) for finding in session.stories()],
            code=(findings.crossing, findings.turning, findings.silenced),
        )
    )


def tell(finding: session.Finding) -> None:
    """The story with its numbers, its picture, what to look at, and the link."""
    told = session.told(finding.name)
    if told is None:
        html.prose("findings.untold", kind="quiet", name=html.Ours(finding.model))
        return
    values = {name: shown(value) for name, value in told.values.items()}
    names = {row: text(f"findings.{finding.name}.row_{row}") for row in told.picture.rows if told.picture.named}
    st.html(
        f'<div class="atlas-story"><p class="atlas-prose">{html.sentence(f"findings.{finding.name}.story", **values)}</p>'
        f"{little_table.table(told.picture, text(f'findings.{finding.name}.picture'), names)}"
        f'<p class="atlas-prose quiet">{html.sentence(f"findings.{finding.name}.look", **values)}</p></div>'
    )
    st.page_link(
        pages.page(finding.page),
        label=text("findings.open", page=text(f"{finding.page}.title"), model=finding.model),
        icon=":material/visibility:",
        query_params={**finding.parameters(session.current().language), **session.presented()},
    )


def shown(value: Value) -> object:
    """A value as it stands in a story: words as somebody typed them, numbers as everywhere."""
    return html.Ours(html.small(value, 2)) if isinstance(value, float) else value


page()
