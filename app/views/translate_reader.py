"""Translate with a model that only reads: nothing is generated, and what is shown is where each token of the text looked."""

from collections.abc import Callable

from app import session
from app.charts import formulas
from app.charts.archive import npz
from app.views import html, picture
from app.views.anatomy import Anatomy, Export, Formula, Shape, tell
from model.attention import MultiHeadAttention
from model.config import paper_base
from model.trace import Trace
from model.translator import Reader


def described(selection: session.Selection, atlas: Reader, trace: Trace, ask: Callable[[], None]) -> Anatomy:
    """The page for a text that can be read; `ask` draws the box that it is typed into."""

    def stage() -> None:
        ask()
        for remark in session.remarks(atlas, selection.text):
            tell(remark)
        html.prose("translate.reads_only", name=html.Ours(atlas.name), architecture=html.Ours(picture.architecture(atlas)))
        attention = session.attentions(atlas)[-1]
        defaults = {"attention": attention, "layer": session.layers_of(atlas, attention) - 1, "head": "mean"}
        picture.draw(selection, atlas, trace, view="linked", defaults=defaults)
        picture.tell_foreign(atlas)

    return Anatomy(
        "translate",
        stage,
        export=Export(f"{selection.model}-translate.npz", lambda: npz(trace, picture.caption(selection, trace))),
        formulas=equations(atlas, trace),
        shapes=sizes(atlas, trace),
        code=(MultiHeadAttention.forward,),
    )


def equations(atlas: Reader, trace: Trace) -> list[Formula]:
    """The largest weight of the mean that the picture opens with."""
    head = picture.aligning_head(atlas, "read")
    row, column = formulas.largest_weight(trace, f"{head.path}.weights", None)
    law = formulas.law_of_scores(trace, head.path, "^{(i)}")
    return [
        Formula(
            r"\bar{\alpha}_{r,j} = \frac{1}{h} \sum_{i=1}^{h} \alpha^{(i)}_{r,j}, \qquad "
            rf"\alpha^{{(i)}}_{{r,j}} = \mathrm{{softmax}}_j\!\left({law}\right)",
            formulas.mean_cell(trace, head.path, row, column),
            "translate.formula_mean",
            {
                "head": html.Ours(head.name),
                "row": row,
                "column": column,
                "produced": trace.source[row].label,
                "source": trace.source[column].label,
            },
        )
    ]


def sizes(atlas: Reader, trace: Trace) -> list[Shape]:
    ours, base, length = atlas.config, paper_base(), len(trace.source)
    heads = ours.heads_of(session.attentions(atlas)[-1])
    return [
        Shape("translate.shape_source", "[L_s]", (length,), (length,)),
        Shape("translate.shape_weights", "[h, L_s, L_s]", (heads, length, length), (base.num_heads, length, length)),
        Shape("translate.shape_memory", "[L_s, d_model]", (length, ours.d_model), (length, base.d_model)),
    ]
