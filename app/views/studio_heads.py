"""Which head aligns? Every layer, head and row scored on the visitor's pairs, and beside it other aligners and other models."""

import streamlit as st
import torch

from app import session
from app.components.matrices import Axis, Matrix, Scene, matrices, pack
from app.text import section, text
from app.views import html, studio_beside, studio_settings
from model.alignment.extract import Choice
from model.alignment.heads import Scoreboard

TOP = 1.0  # of the scale: error rate and agreement both end there


def show(study: session.Study) -> None:
    """Draw it for a study that has results."""
    html.prose("studio_heads.idea")
    _scores(study)
    studio_beside.show(study)


def _scores(study: session.Study) -> None:
    with st.spinner(text("studio_heads.scoring")):
        found = session.head_scores(study)
    if found is None or found.best is None:
        _nothing_to_compare(study, found)
        return
    html.prose(
        f"studio_heads.{found.measure}_read",
        pairs=f"{found.pairs:,}",
        diagonal=html.Ours(html.number(found.baseline, 3)),
    )
    if study.settings.threshold is not None or study.settings.symmetrize is not None:
        html.prose("studio_heads.by_argmax", kind="quiet", rule=html.Ours(studio_settings.rule_name(study)))
    _heatmap(study, found, found.best)
    _best(study, found, found.best)
    _marked(study, found)


def _nothing_to_compare(study: session.Study, found: Scoreboard | None) -> None:
    """Neither gold nor the other direction: say what is needed, and offer what there is."""
    if found is not None and found.measure == "aer":
        html.notice("info", "studio_heads.gold_elsewhere")
    elif study.reverse is None:
        html.notice("info", "studio_heads.no_reverse", model=html.Ours(study.model))
    else:
        html.notice("info", "studio_heads.needs_reverse", reverse=html.Ours(study.reverse))
        if f"reverse:{study.reverse}" not in session.rivals(study):
            st.button(
                text("studio_heads.align_reverse", reverse=study.reverse),
                key="studio_heads_reverse",
                on_click=session.add_model,
                args=(study, study.reverse),
                kwargs={"reverse": True},
                disabled=study.under_way,
                icon=":material/compare_arrows:",
            )


def _heatmap(study: session.Study, found: Scoreboard, best: Choice) -> None:
    """One line for each layer and row, one column for each head; the best cell is chosen."""
    lines, rates = found.table()
    heads = [text("attention_map.head_number", head=head) for head in range(1, rates.shape[1])]
    named = [text("studio_heads.line", layer=layer + 1, row=text(f"studio_heads.row_{row}")) for layer, row in lines]
    cell = lines.index((best.layer, best.row)), rates.shape[1] - 1 if best.head is None else best.head
    title = text("studio_heads.aer" if found.measure == "aer" else "studio_heads.agreement")
    drawn = Matrix(
        "scores",
        torch.from_numpy(rates),
        Axis("", named),
        Axis("", [*heads, text("studio_heads.mean")]),
        title,
        "plain",
        "unit",
        top=TOP,
        numbers=True,
    )
    message = pack(
        [Scene("scores", title, ("scores",), cell=cell)],
        [drawn],
        text={**section("matrices"), "hint": text("studio_heads.hint")},
        caption={"model": study.model, "source": study.name, "target": ""},
        name="alignment_heads",
    )
    matrices(message, key="studio_heads_matrix")


def _best(study: session.Study, found: Scoreboard, best: Choice) -> None:
    current = study.settings.choice
    values = {
        "best": html.Ours(name(best)),
        "rate": html.Ours(html.number(found.rate(best), 3)),
        "precision": html.Ours(html.number(found.of(best).precision, 2)),
        "recall": html.Ours(html.number(found.of(best).recall, 2)),
    }
    html.prose(f"studio_heads.best_{found.measure}", **values)
    if current == best:
        html.prose("studio_heads.in_use", kind="quiet", best=html.Ours(name(best)))
        return
    if current is not None:
        html.prose(
            "studio_heads.now", kind="quiet", choice=html.Ours(name(current)), rate=html.Ours(html.number(found.rate(current), 3))
        )
    st.button(
        text("studio_heads.use", best=name(best)),
        key="studio_heads_use",
        on_click=session.use_head,
        args=(study, best),
        icon=":material/check:",
    )


def _marked(study: session.Study, found: Scoreboard) -> None:
    """The heads that the card says were guided, each with its score."""
    guided = session.guided_heads(study.model)
    if guided:
        html.bullets(
            [
                html.sentence(
                    "studio_heads.guided", choice=html.Ours(name(choice)), rate=html.Ours(html.number(found.rate(choice), 3))
                )
                for choice in guided
            ]
        )


def name(choice: Choice) -> str:
    """A choice as a reader says it, counted from 1."""
    row = text(f"studio_heads.row_{choice.row}")
    if choice.head is None:
        return text("studio_heads.choice_mean", layer=choice.layer + 1, row=row)
    return text("studio_heads.choice", layer=choice.layer + 1, head=choice.head + 1, row=row)
