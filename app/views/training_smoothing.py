"""Label smoothing: one real row of the output beside its target, the floor of the loss, and the price of over-confidence."""

from collections.abc import Callable

from app import session
from app.components import bars as bar_chart
from app.components.curves import Chart, Series, curves, pack
from app.text import section, text
from app.views import html, picture
from app.views.training_place import SMOOTHING, Asked, convention_name, scientific
from model.analysis import lens, smoothing
from model.trace import Trace
from model.training.loss import Convention
from model.translator import Atlas

SIZES = (5, 10, 32_000, 37_000)

# One part of the stage.
Part = Callable[[session.Selection, Atlas, Trace, Asked], None]


def rows(selection: session.Selection, atlas: Atlas, trace: Trace, asked: Asked) -> None:
    """The loss of every row of this one pass, and the means."""
    found = session.measured(smoothing.losses, selection, asked.smoothing, asked.convention)
    chart = Chart(
        text("training.losses_title"),
        text("training.losses_axis"),
        text("training.loss_nats"),
        (
            Series(text("training.loss_plain"), found.plain, "bar"),
            Series(text("training.loss_smoothed"), found.smoothed, "bar"),
            Series(text("training.loss_floor"), [found.floor] * len(found.plain)),
        ),
        [token.label for token in trace.produced],
        marked=asked.row,
        path="logits",
    )
    curves(pack(chart, text=section("curves"), caption=picture.caption(selection, trace), name="losses"), key="picture_losses")
    html.prose(
        "training.means",
        rows=len(found.plain),
        plain=html.Ours(html.number(found.mean_plain, 4)),
        smoothed=html.Ours(html.number(found.mean_smoothed, 4)),
        floor=html.Ours(html.number(found.floor, 4)),
        perplexity=html.Ours(html.number(found.perplexity, 3)),
    )
    if found.trained is not None:
        html.prose("training.means_trained", kind="quiet", trained=html.Ours(html.number(found.trained, 4)))


def tell(trace: Trace, asked: Asked, one: smoothing.Row) -> None:
    """The numbers of the chosen row."""
    html.prose(
        "training.row_told",
        row=asked.row,
        read=trace.target[asked.row].label,
        produced=trace.produced[asked.row].label,
        predicted=html.Ours(html.small(one.predicted[one.ids.index(one.right)], 4)),
        rank=one.rank,
        plain=html.Ours(html.number(one.plain, 4)),
        target=html.Ours(html.number(one.target[one.ids.index(one.right)], 4)),
        smoothed=html.Ours(html.number(one.smoothed, 4)),
        floor=html.Ours(html.number(one.floor, 4)),
        above=html.Ours(html.number(one.above, 4)),
    )


def classes(selection: session.Selection, atlas: Atlas, trace: Trace, asked: Asked) -> None:
    """The chosen row: the likeliest classes, the right one, and all others together; what is asked for and what is predicted."""
    one = session.measured(smoothing.row, selection, asked.row, asked.smoothing, asked.convention)
    tell(trace, asked, one)
    words = [lens.word(atlas, id_) for id_ in one.ids]
    title = text(
        "training.row_title", row=asked.row, convention=convention_name(asked.convention), smoothing=f"{asked.smoothing:g}"
    )
    message = bar_chart.pack(
        [*words, text("training.others", count=f"{one.others:,}")],
        (
            bar_chart.Series("target", text("training.target"), [*one.target, one.rest_target], "outlined"),
            bar_chart.Series("predicted", text("training.predicted"), [*one.predicted, one.rest_predicted]),
        ),
        title=title,
        name=text("training.class"),
        text=section("bars"),
        caption=picture.caption(selection, trace),
        digits=6,
        numbered=False,
    )
    bar_chart.bars(message, key="picture_row")


def about(selection: session.Selection, atlas: Atlas, trace: Trace) -> None:
    """The section: three conventions on this vocabulary, floors by size, the curve of over-confidence."""
    html.prose("training.smoothing_idea")
    conventions(selection, atlas)
    html.prose("training.conventions_read", kind="quiet", end=atlas.config.end, padding=atlas.config.padding)
    floors(atlas)
    overconfidence(selection, trace)


def conventions(selection: session.Selection, atlas: Atlas) -> None:
    """What each convention gives the right word, another, the end and padding; in this vocabulary, and in one of five."""
    size, losses = atlas.config.target_vocab_size, {}
    for convention in smoothing.CONVENTIONS:
        losses[convention] = session.measured(smoothing.losses, selection, SMOOTHING, convention).mean_smoothed
    columns = {
        text("training.convention"): "rich",
        **{text(f"training.share_{kind}"): "number" for kind in ("right", "word", "end", "padding")},
        text("training.loss_floor"): "number",
    }
    html.table(
        {**columns, text("training.loss_here"): "number"},
        [(*_shares(size, one, 4), html.number(loss, 4)) for one, loss in losses.items()],
        text("training.conventions_caption", size=f"{size:,}"),
    )
    few = smoothing.CLASSES
    html.table(columns, [_shares(few, one, 3) for one in smoothing.CONVENTIONS], text("training.small_caption"))


def _shares(size: int, convention: Convention, digits: int) -> tuple[str, ...]:
    """One row: the rule, what it gives each, and the floor."""
    given = smoothing.shares(size, SMOOTHING, convention)
    others = (given.word, given.end, given.padding)
    return (
        html.sentence(f"training.convention_{convention}_rule"),
        html.number(given.right, 6),
        *(html.number(share, 4) if share >= 1e-3 else scientific(share, digits) for share in others),
        html.number(smoothing.floor(size, SMOOTHING, convention), 4),
    )


def floors(atlas: Atlas) -> None:
    """The least possible loss by size of the vocabulary."""
    own = atlas.config.target_vocab_size
    html.prose("training.floors_idea")
    html.table(
        {
            text("training.floor_size"): "number",
            **{convention_name(convention): "number" for convention in smoothing.CONVENTIONS},
        },
        [
            (f"{size:,}", *(html.number(smoothing.floor(size, SMOOTHING, convention), 3) for convention in smoothing.CONVENTIONS))
            for size in sorted({*SIZES, own})
        ],
        text("training.floors_caption", own=f"{own:,}"),
    )


def overconfidence(selection: session.Selection, trace: Trace) -> None:
    """The published curve: more certain is better only up to the target."""
    points = range(1, smoothing.MOST_CERTAIN + 1)
    certain, penalties = smoothing.overconfidence(points)
    html.prose("training.certain_idea")
    chart = Chart(
        text("training.certain_title"),
        text("training.certain_axis"),
        text("training.divergence"),
        (Series(text("training.divergence"), penalties),),
        [text("training.certain_point", x=x, right=html.number(right, 4)) for x, right in zip(points, certain, strict=True)],
        places=[float(x) for x in points],
        marked=penalties.index(min(penalties)),
        path="model.analysis.smoothing.overconfidence",
    )
    curves(pack(chart, text=section("curves"), caption=picture.caption(selection, trace), name="certain"), key="picture_certain")
    html.table(
        {text("training.certain_x"): "number", text("training.certain_right"): "number", text("training.divergence"): "number"},
        [
            (x, html.number(right, 4), html.number(penalty, 6))
            for x, right, penalty in zip(smoothing.PUBLISHED, *smoothing.overconfidence(smoothing.PUBLISHED), strict=True)
        ],
        text("training.certain_caption"),
    )
