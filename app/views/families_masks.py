"""The masks of both families, read off their traces, and where the source sits."""

from collections.abc import Mapping

from torch import Tensor

from app.components.matrices import Axis, Matrix, Scene, matrices, pack
from app.text import section, text
from app.views import html
from app.views.families_pair import Pair
from model import cost
from model.analysis import families
from model.tokenizer import Token

ENCODER, DECODER, CROSS = "encoder.layers.0.self_attention", "decoder.layers.0.self_attention", "decoder.layers.0.cross_attention"


def masks(found: Pair, caption: Mapping[str, str]) -> None:
    """Three masks against one, and the prefix mask as the third way."""
    one, two = found.traces
    prefix = found.first + 1
    html.prose("families.masks_idea", source=len(one.source), target=len(one.target), length=len(two.target))
    source, target, sequence = one.source, one.target, two.target
    drawn = [
        _mask("encoder", families.allowed(one, ENCODER), source, source, ENCODER),
        _mask("decoder", families.allowed(one, DECODER), target, target, DECODER),
        _mask("cross", families.allowed(one, CROSS), target, source, CROSS),
        _mask("alone", families.allowed(two, DECODER), sequence, sequence, DECODER),
        _mask("prefix", families.prefix_mask(prefix, len(sequence)), sequence, sequence, ""),
    ]
    scene = Scene("masks", text("families.masks_title"), [matrix.id for matrix in drawn])
    matrices(pack([scene], drawn, text=section("matrices"), caption=caption, name="mask"), key="families_masks")
    html.table(
        {
            text("families.mask_family"): "word",
            text("families.mask_shape"): "code",
            text("families.mask_open"): "number",
            text("families.mask_cells"): "number",
        },
        [
            (text(f"families.scene_{matrix.id}"), f"[{matrix.values.shape[0]}, {matrix.values.shape[1]}]",
             int(matrix.values.sum()), matrix.values.numel())
            for matrix in drawn
        ],
        text("families.masks_title"),
        titled=True,
    )  # fmt: skip
    html.prose("families.masks_note", kind="quiet", prefix=prefix)


def _mask(name: str, cells: Tensor, rows: tuple[Token, ...], columns: tuple[Token, ...], path: str) -> Matrix:
    row_side = "source" if name == "encoder" else "target"
    column_side = "source" if name in ("encoder", "cross") else "target"
    return Matrix(
        name, cells.float(), Axis(text("families.axis_query"), [token.label for token in rows], row_side),  # type: ignore[arg-type]
        Axis(text("families.axis_key"), [token.label for token in columns], column_side),  # type: ignore[arg-type]
        text(f"families.scene_{name}"), role="weights", scale="switch", path=f"{path}.masked" if path else "",
    )  # fmt: skip


def where(found: Pair) -> None:
    """Separate memory, prefix of the same sequence, prefix that sees itself both ways: question by question."""
    one, two = found.traces
    both, alone = found.translator.config, found.writer.config
    given, written = found.first + 1, len(two.target) - found.first - 1
    values: dict[str, object] = {
        "layers": both.encoder_layers,
        "decoder_layers": both.decoder_layers,
        "alone_layers": alone.decoder_layers,
        "source": len(one.source),
        "given": given,
        "kept": html.Ours(f"{cost.cache_bytes(both, len(one.source), len(one.target)):,}"),
        "kept_alone": html.Ours(f"{cost.cache_bytes(alone, given, written):,}"),
    }
    html.prose("families.where_idea")
    html.table(
        {
            text("families.where_question"): "word",
            text("families.where_both"): "rich",
            text("families.where_alone"): "rich",
            text("families.where_prefix"): "rich",
        },
        [
            (
                text(f"families.question_{question}"),
                *(html.sentence(f"families.answer_{question}_{way}", **values) for way in ("both", "alone", "prefix")),
            )
            for question in ("place", "sees", "when", "kept", "later")
        ],
        text("families.where_title"),
        titled=True,
    )
