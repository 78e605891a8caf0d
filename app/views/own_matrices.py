"""Attention from a file: brought, read, told, and drawn with the picture of the page Heads."""

from collections.abc import Callable, Mapping

import streamlit as st

from app import session
from app.charts.archive import npz
from app.components.attention_map import attention_map, pack, pack_detail
from app.text import text
from app.views import html, linked, own_formats, own_told, pages, studio_input, take_away, told
from model.adapters.matrices import LONGEST
from model.page.attention import LARGEST
from model.page.labels import labels
from model.page.view import attentions_of, words_of
from model.trace import Trace

CROSS = "decoder.cross_attention"
PICTURE, SENTENCE = "attention_map_own", "sentence_of_file"
PASTE = "own_matrices_paste"
_BOXES = "own_matrices_boxes"  # how many boxes for files there were: one that was emptied by us is another
_SHOWN = 60  # characters of a sentence in the list


@st.fragment
def show() -> None:
    """The section: the ways in while nothing is there, else what there is and the ways in folded away."""
    selection = session.begin_run()
    found = session.brought_matrices()
    if session.presenting():
        if found is None:
            html.prose("own_matrices.presenting_empty")
        else:
            _picture(found, _chosen(found), selection.language)
        return
    html.prose("own_matrices.idea")
    _refusal()
    if found is None:
        _linked()
        _ways()
        own_formats.show(_take)
        return
    with st.expander(text("own_matrices.more"), key="own_more", on_change="rerun") as more:
        if more.open:
            _ways()
            own_formats.show(_take, folded=False)
    chosen = _chosen(found)
    own_told.show(found, chosen)
    st.button(text("own_matrices.away"), key="own_away", icon=":material/delete:", on_click=_forget)
    _picture(found, chosen, selection.language)
    _exports(found, found.matrices.traces[chosen])


def _ways() -> None:
    """A box for a file, and one for text."""
    if session.MAX_UPLOAD:
        studio_input.uploader_words()
        st.file_uploader(
            text("own_matrices.drop"), key=_box(), on_change=_take_file, args=(_box(),), help=text("own_matrices.drop_help")
        )
        html.prose(
            "own_matrices.limits",
            kind="quiet",
            megabytes=html.Ours(studio_input.megabytes()),
            tokens=LONGEST,
            sentences=html.Ours(f"{session.MAX_SENTENCES:,}"),
        )
    else:
        html.notice("info", "rates.no_uploads")
    st.text_area(text("own_matrices.paste"), key=PASTE, height=90)
    st.button(
        text("own_matrices.paste_read"),
        key="own_matrices_read",
        on_click=_take_text,
        args=(text("own_matrices.pasted"),),
        icon=":material/content_paste_go:",
    )


def _box() -> str:
    return f"own_matrices_file_{st.session_state.get(_BOXES, 0)}"


def _take_file(box: str) -> None:
    file = st.session_state[box]
    if file is None:  # the visitor took it out of the box
        _forget()
    else:
        _take(file.name, file.getvalue)


def _take_text(name: str) -> None:
    written = st.session_state.get(PASTE, "")
    if written.strip():
        _take(name, lambda: written.encode("utf-8", "replace"))


def _take(name: str, content: Callable[[], bytes]) -> None:
    """Read it; the box is then empty, and holds no second copy of the file."""
    linked.write(SENTENCE, st.query_params.get(SENTENCE) if session.brought_matrices() is None else None)
    session.bring_matrices(name, content())
    st.session_state[_BOXES] = st.session_state.get(_BOXES, 0) + 1
    st.session_state[PASTE] = ""


def _forget() -> None:
    linked.write(SENTENCE, None)
    session.forget_matrices()
    st.session_state[_BOXES] = st.session_state.get(_BOXES, 0) + 1


def _linked() -> None:
    """A link names a sentence of a file that it does not carry."""
    if SENTENCE in st.query_params:
        html.notice("info", "own_matrices.linked")


def _refusal() -> None:
    told.put_off("upload")
    if refused := session.refused_matrices():
        said = own_told.problem(refused.code, refused.values, refused.file, refused.place)
        st.html(f'<div class="atlas-notice error" role="alert">{html.sentence("own_matrices.refused")} {said}</div>')


def _chosen(found: session.BroughtMatrices) -> int:
    """The place of the sentence that is shown; of several the visitor chooses one."""
    traces = found.matrices.traces
    if len(traces) == 1:
        return 0
    options = [str(number) for number in range(len(traces))]
    names = {
        option: text("own_matrices.option", number=number + 1, source=(trace.source_text or trace.target_text)[:_SHOWN])
        for option, number, trace in zip(options, found.matrices.numbers, traces, strict=True)
    }
    linked.chosen(SENTENCE, options, options[0])
    chosen = st.selectbox(
        text("own_matrices.sentence"),
        options,
        key=SENTENCE,
        format_func=lambda option: names.get(option, option),
        on_change=linked.remember(SENTENCE, options[0]),
    )
    return int(chosen or 0)


@st.fragment
def _picture(found: session.BroughtMatrices, chosen: int, language: str) -> None:
    """Every layer and head; a fragment, since opening a head above 128 tokens asks for its exact weights."""
    session.begin_run()
    trace = found.matrices.traces[chosen]
    attentions = attentions_of(trace)

    def made() -> bytes:
        return pack(
            trace,
            view="heads",
            attentions=attentions,
            words=words_of(trace),
            text=labels("attention_map", language, writes_on=not trace.source),
            caption=_caption(found, trace),
            defaults={"attention": attentions[-1]},
            steps=False,
        )

    message = session.kept_picture((found.token, chosen, language), made)
    attention_map(message, key=PICTURE, detail=_detail(trace, attentions))


def _detail(trace: Trace, attentions: list[str]) -> bytes | None:
    """The head that the visitor opened, exactly, if the overview shows it pooled. What the browser asks for is checked."""
    asked = (st.session_state.get(PICTURE) or {}).get("open")
    if max(len(trace.source), len(trace.target)) <= LARGEST or not isinstance(asked, Mapping):
        return None
    attention, layer, head = asked.get("attention"), asked.get("layer"), asked.get("head")
    if attention not in attentions or not isinstance(layer, int) or not (isinstance(head, int) or head == "mean"):
        return None
    try:
        return pack_detail(trace, attention, layer, head)
    except (KeyError, ValueError):
        return None


def _exports(found: session.BroughtMatrices, trace: Trace) -> None:
    """Its numbers, the page's pack, and the way to the studio."""

    def content() -> bytes:
        return npz(trace, _caption(found, trace))

    with st.container(horizontal=True, vertical_alignment="center", key="own_export"):
        st.download_button(
            text("page.npz"),
            data=content,
            file_name="matrices.npz",
            mime="application/octet-stream",
            icon=":material/download:",
            on_click="ignore",
            key="npz_own",
        )
        html.prose("own_matrices.export_note", kind="quiet")
    take_away.bar("own", content, html.plain("own_matrices.export_note"))
    if CROSS in attentions_of(trace):
        st.page_link(
            pages.page("studio"),
            label=text("own_matrices.studio"),
            icon=":material/compare_arrows:",
            query_params=session.current().parameters(),
        )
        html.prose("own_matrices.studio_note", kind="quiet")


def _caption(found: session.BroughtMatrices, trace: Trace) -> dict[str, str]:
    return {"model": found.name, "source": trace.source_text, "target": trace.target_text}
