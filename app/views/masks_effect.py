"""What a painted mask does: weights of a head, loss of the same translation, each row's first choice, a new translation."""

from app import session
from app.components.matrices import Axis, Matrix, Scene, matrices, pack
from app.text import section, text
from app.views import html, linked, picture, rows
from app.views.rows import Named
from model.analysis import painted
from model.trace import Trace


def axes(trace: Trace, place: session.Place, row: Named) -> tuple[Axis, Axis]:
    """Rows and columns of a self-attention: keys are tokens read, rows of the decoder named by what they produce or read."""
    sentence = "source" if place.attention.startswith("encoder") else "target"
    name = text("masks.axis_produced" if sentence == "target" and row == "produced" else "masks.axis_read")
    keys = rows.axis(text("masks.axis_read"), sentence, trace.tokens(sentence))
    return rows.axis(name, sentence, rows.asking(trace, sentence, row)), keys


def effect(selection: session.Selection, trace: Trace, place: session.Place, mask: str, scope: str, row: Named) -> None:
    """New weights of the chosen head, the loss of the same translation, each row's new first choice, and a new translation."""
    at = (place.attention, place.layer, place.head, mask, scope)
    found = session.measured(painted.painted, selection, *at)
    both_maps(selection, trace, place, found, row)
    html.prose("masks.effect_loss", before=html.number(found.loss_before, 3), after=html.number(found.loss, 3),
               changed=found.changed, rows=len(trace.produced))  # fmt: skip
    if found.ahead is None:
        html.prose("masks.effect_past", future=html.number(found.future, 3))
    else:
        token = trace.target[found.ahead].label
        html.prose("masks.effect_future", future=html.number(found.future, 3), position=found.ahead, token=token)
    by_token(trace, found)
    if linked.asked(text("masks.write"), "masks_write", selection, *at):
        written = session.measured(painted.written, selection, *at)
        own_text = session.wrote(selection.model, selection.text)
        nothing = text("translate.nothing")
        html.bullets(
            [
                html.sentence("masks.written", written=written.text or nothing),
                html.sentence("masks.written_own", own=own_text or nothing),
            ]
        )
        if not written.ended:
            html.prose("masks.unended", kind="quiet")


def effect_on_reader(selection: session.Selection, trace: Trace, place: session.Place, mask: str, scope: str, row: Named) -> None:
    """New weights of the chosen head, and how far the vectors move that leave the encoder: nothing is written."""
    found = session.measured(painted.read, selection, place.attention, place.layer, place.head, mask, scope)
    both_maps(selection, trace, place, found, row)
    most = found.farthest
    html.prose(
        "masks.effect_reader",
        mean=f"{found.mean:.1%}",
        most=f"{found.moved[most]:.1%}",
        token=trace.source[most].label,
        position=most,
    )


def both_maps(selection: session.Selection, trace: Trace, place: session.Place, found: painted.Maps, row: Named) -> None:
    """The head under the model's own mask, and under the painted one."""
    rows, axis = axes(trace, place, row)
    tokens = trace.tokens("source" if place.attention.startswith("encoder") else "target")
    own = painted.own_mask(place.attention, len(tokens))
    path = f"{place.path}.weights"
    shown = [
        Matrix("before", found.before, rows, axis, text("masks.before"), role="weights", scale="unit", masked=~own, path=path),
        Matrix(
            "after", found.after, rows, axis, text("masks.after"), role="weights", scale="unit", masked=~found.mask,
            before=found.before,
        ),
    ]  # fmt: skip
    scene = Scene("effect", text("masks.after"), ("before", "→", "after"), note=text("masks.effect_note"))
    message = pack([scene], shown, text=section("matrices"), caption=picture.caption(selection, trace), name="effect")
    matrices(message, key="masks_effect")


def by_token(trace: Trace, found: painted.Painted) -> None:
    """Each token of the translation: its log-probability before and after, and what the row would rather write."""
    rows = [
        (row, token.label, html.number(before), html.number(after), was.label, now.label)
        for row, (token, before, after, was, now) in enumerate(
            zip(
                trace.produced,
                trace.log_probabilities,
                found.log_probabilities,
                found.likeliest_before,
                found.likeliest,
                strict=True,
            )
        )
    ]
    html.table(
        {
            text("masks.row"): "number",
            text("masks.produced"): "word strong",
            text("masks.log_before"): "number",
            text("masks.log_after"): "number",
            text("masks.first_before"): "word",
            text("masks.first_after"): "word",
        },
        rows,
        text("masks.by_token"),
    )
