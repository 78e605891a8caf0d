"""What comes in: files dragged in, pasted text, or a sample of ours."""

import json
import re

import streamlit as st

from app import session
from app.text import has, text
from app.views import html, linked, told
from model.alignment.formats import Problem

FILES, PASTE, PASTE_TARGET = "studio_files", "studio_paste", "studio_paste_target"
REFUSALS = "atlas_studio_refusals"  # how many uploads could not be read
SAMPLE = "sample"  # in the URL: which sample was taken, since a link carries no file


def show() -> None:
    """Draw the ways in; folded away once something is there."""
    found = session.study()
    if found is None:
        _linked()
        _refusal()
        _samples()
        _ways()
    else:
        with st.expander(text("studio.bring_more"), expanded=session.refused_upload() is not None):
            _refusal()
            _ways()
            _samples()


def reopen() -> None:
    """Take the sample that a link names, where nothing was brought; let the link name the sample that was taken."""
    samples = {sample.id: sample.upload for sample in session.study_samples()}
    asked = st.query_params.get(SAMPLE, "")
    if session.study() is None and asked in samples:
        _take(samples[asked])
    found = session.study()
    session.put(SAMPLE, next((name for name, upload in samples.items() if found and found.upload is upload), None))


def _linked() -> None:
    """A link names a pair of a file that it does not carry."""
    asked = st.query_params.get("pair", "")
    if asked.isascii() and asked.isdigit() and len(asked) < 10:
        html.notice("info", "studio.linked", number=html.Ours(f"{int(asked) + 1:,}"))


def _ways() -> None:
    if session.MAX_UPLOAD:
        uploader_words()
        st.file_uploader(
            text("studio.drop"),
            accept_multiple_files=True,
            key=_box(),
            on_change=_take_files,
            args=(_box(),),
            help=text("studio.drop_help"),
        )
        html.prose("studio.limits", kind="quiet", megabytes=megabytes(), pairs=html.Ours(f"{session.MAX_PAIRS:,}"))
    else:
        html.notice("info", "rates.no_uploads")
    names = (text("studio.pasted"), text("studio.pasted_target"))
    left, right = st.columns(2)
    with left:
        st.text_area(text("studio.paste"), key=PASTE, height=110, placeholder=text("studio.paste_placeholder"))
    with right:
        st.text_area(
            text("studio.paste_target"), key=PASTE_TARGET, height=110, placeholder=text("studio.paste_target_placeholder")
        )
    st.button(text("studio.paste_read"), key="studio_read", on_click=_take_text, args=names, icon=":material/content_paste_go:")


def megabytes() -> str:
    """The largest file that may be brought."""
    return f"{session.MAX_UPLOAD / 1024**2:.3g}"


def uploader_words() -> None:
    """The words inside Streamlit's box for files, which knows English alone, in the language of the page."""
    button, limit = text("studio.upload"), text("studio.upload_limit", megabytes=megabytes())
    said = {'Dropzone"] button p': button, 'DropzoneInstructions"] span': limit}
    rules = [
        f'[data-testid="stFileUploader{part} {{ font-size: 0 }}'
        f'[data-testid="stFileUploader{part}::after {{ content: {json.dumps(words, ensure_ascii=False)}; font-size: 0.875rem }}'
        for part, words in said.items()
    ]
    st.html(f"<style>{''.join(rules)}</style>")


def _samples() -> None:
    samples = session.study_samples()
    if not samples:
        return
    html.prose("studio.samples", kind="quiet")
    with st.container(horizontal=True, key="studio_samples"):
        for sample in samples:
            st.button(
                sample.titles[session.current().language],
                key=f"studio_sample_{sample.id}",
                on_click=_take,
                args=(sample.upload,),
                help=sample.looks[session.current().language],
            )


def _refusal() -> None:
    """Why the last upload could not be read at all, and what would read it."""
    told.put_off("upload")
    if problem := session.refused_upload():
        st.html(f'<div class="atlas-notice error" role="alert">{html.sentence("studio.refused")} {problem_html(problem)}</div>')
        if problem.message.code in ("too_large", "too_many_pairs", "zip_too_large"):
            html.prose("studio.command", kind="quiet")
            st.code("python -m model.alignment PAIRS --model en-fr --format pharaoh --output out.align", language="bash")


def problem_html(problem: Problem) -> str:
    """A problem of a file in the language of the page: file, line, what is wrong; text from the file appears literally."""
    key = f"studio.problem_{problem.message.code}"
    values = {name: _value(name, value) for name, value in problem.message.values.items()}
    said = html.sentence(key, **values) if has(key) else html.literal(html.Ours(problem.message))
    place = [html.literal(problem.file)] if problem.file else []
    if problem.line is not None:
        place.append(html.sentence("studio.line", line=f"{problem.line:,}"))
    return f"{html.joined(place)}{html.sentence('studio.colon')}{said}" if place else said


def _value(name: str, value: object) -> object:
    """A value of a message as the page says it: a format by its name, what a file is and what to do in its language, numbers."""
    if name == "format" and has(f"studio.format_{value}"):
        return html.Ours(text(f"studio.format_{value}"))
    if name in ("kind", "advice"):  # two lists of our own words, see model/alignment/formats
        key = f"studio.said_{re.sub(r'[^a-z0-9]+', '_', str(value).casefold())}"
        return html.Ours(text(key)) if has(key) else value
    return f"{value:,}" if isinstance(value, int) else value


def _box() -> str:
    """The key of the box for files. A refused upload is followed by an empty box, or the next file would be laid beside it."""
    refusals = st.session_state.get(REFUSALS, 0)
    return f"{FILES}_{refusals}" if refusals else FILES


def _take_files(box: str) -> None:
    files = [session.File(file.name, file.getvalue()) for file in st.session_state[box]]
    found = session.study()
    if files:
        _take(session.upload_of(files, found.upload if found else None))
    elif found is not None and found.state == "ready":
        give_up()


def _take_text(*names: str) -> None:
    written = [st.session_state.get(box, "") for box in (PASTE, PASTE_TARGET)]
    files = [session.File(name, box.encode("utf-8", "replace")) for name, box in zip(names, written, strict=True) if box.strip()]
    if files:
        found = session.study()
        _take(session.upload_of(files, found.upload if found else None, pasted=True))


def give_up() -> None:
    """End the study; a link then names no sample either."""
    session.end_study()
    linked.write(SAMPLE, None)


def _take(upload: session.Upload) -> None:
    linked.write(SAMPLE, None)
    session.begin_study(upload, model=session.current().model)
    if session.refused_upload():
        st.session_state[REFUSALS] = st.session_state.get(REFUSALS, 0) + 1
