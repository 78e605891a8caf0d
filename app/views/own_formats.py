"""What each format of a file of matrices looks like, and a sample of it: the numbers of a shipped model, read a moment ago."""

from collections.abc import Callable

import streamlit as st

from app import session
from app.charts.archive import npz
from app.text import text
from app.views import html, linked
from model.adapters.matrices.samples import SAMPLES
from model.trace import Trace

FORMAT, OURS = "matrix_format", "atlas"
SENTENCE = "I love you."
PREFERRED = "en-fr"
SKETCH = "decoder.layers.0.cross_attention.weights  (head, query, key)\n...\ntokens.source, tokens.target, tokens.produced"

Take = Callable[[str, Callable[[], bytes]], None]


def show(take: Take, *, folded: bool = True) -> None:
    """The formats, folded away or not; `take` opens a sample here."""
    names = session.translators()
    if not names:
        return
    model = PREFERRED if PREFERRED in names else names[0]
    if not folded:
        _one(take, model)
        return
    with st.expander(
        text("own_matrices.formats_open"), expanded=FORMAT in st.query_params, key="own_formats", on_change="rerun",
        bind="query-params",
    ) as opened:  # fmt: skip
        if opened.open:
            _one(take, model)


def _one(take: Take, model: str) -> None:
    """The format that is chosen."""
    ids = {name.replace("-", "_"): name for name in (OURS, *SAMPLES)}
    linked.chosen(FORMAT, list(ids), OURS)
    chosen = st.selectbox(
        text("own_matrices.format"),
        list(ids),
        key=FORMAT,
        format_func=lambda id_: text(f"own_matrices.format_{id_}"),
        on_change=linked.remember(FORMAT, OURS),
        width=360,
    )
    name = ids[chosen]
    html.prose(f"own_matrices.about_{chosen}")
    html.listing(SKETCH if name == OURS else SAMPLES[name].sketch)
    file = "atlas.npz" if name == OURS else SAMPLES[name].file

    trace = session.trace(model, SENTENCE)  # now: a file is made after the run that offered it

    def made() -> bytes:
        return sample(name, model, trace)

    with st.container(horizontal=True, key="own_sample"):
        st.download_button(
            text("own_matrices.sample"),
            data=made,
            file_name=file,
            mime="application/octet-stream",
            icon=":material/download:",
            on_click="ignore",
            key="own_sample_save",
        )
        st.button(
            text("own_matrices.sample_open"),
            key="own_sample_open",
            icon=":material/open_in_new:",
            on_click=take,
            args=(file, made),
        )
    html.prose("own_matrices.sample_made", kind="quiet", model=html.Ours(model), source=SENTENCE)


def sample(name: str, model: str, trace: Trace) -> bytes:
    """A file of this format with what the model computed for a short sentence."""
    if name == OURS:
        return npz(trace, {"model": model, "source": trace.source_text, "target": trace.target_text})
    return SAMPLES[name].make(trace)
