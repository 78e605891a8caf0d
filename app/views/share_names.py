"""What every parameter of the address is called, page by page: all that a link holds. docs/share.md is the same list, to read.

A name that begins with a dot is of all parameters that end so (`table.cell`: the picture `table`), one that ends with a star of
all that begin so.
"""

from typing import NamedTuple

from app.components.share import Kind


class Called(NamedTuple):
    """A parameter: the key of its name, how its value is read, and the keys of what its ids are called, * for the id."""

    key: str
    kind: Kind = "plain"
    values: str = ""


def _counted(key: str) -> Called:
    return Called(key, "counted")


def _word(key: str, values: str) -> Called:
    return Called(key, "word", values)


def _opened(key: str) -> Called:
    return Called(key, "opened")


ROW = _word("attention_map.row", "attention_map.row_*")
PLACE = {
    "attention": _word("attention_map.attention", "attention_map.*_attention"),
    "layer": _counted("attention_map.layer"),
    "head": _counted("attention_map.head"),
}
MAP = {
    **PLACE,
    "row": ROW,
    "unit": _word("attention_map.unit", "attention_map.unit_*"),
    "special": _word("sharing.special", "sharing.special_*"),
    "scale": _word("attention_map.scale", "attention_map.scale_*"),
}
DIFFERENCE = Called("matrices.show_difference", "opened")
CELLS = {".step": Called("sharing.step"), ".cell": Called("sharing.cell"), ".difference": DIFFERENCE}
POINTS = {".point": Called("sharing.point")}

EVERYWHERE = {
    "model": Called("sidebar.model"),
    "text": Called("sidebar.sentence"),
    "target": Called("translate.target"),
    "beam": Called("translate.decoding"),
}

PAGES: dict[str, dict[str, Called]] = {
    "translate": {**MAP, "translate_what_if": _word("page.what_if", "translate.what_if_*")},
    "findings": {},
    "architecture": {
        **PLACE,
        "shapes": _word("page.shapes", "sharing.shapes_*"),
        "settings": _word("architecture.what_if_choice", "architecture.what_if_*"),
        "drawn": _opened("architecture.what_if_diagram"),
    },
    "tokens": {
        "side": _word("sharing.side", "tokens.side_*"),
        "pieces": _opened("tokens.table"),
        "word": Called("tokens.word"),
        "find": Called("tokens.search"),
        "near": Called("tokens.near"),
        "without": _word("page.what_if", "tokens.what_if_*"),
        "step": Called("sharing.step"),
        "cell": Called("sharing.cell"),
        "difference": DIFFERENCE,
        **CELLS,
        **POINTS,
    },
    "positions": {
        "table": _word("positions.table", "positions.table_*"),
        "pe_d": Called("positions.choose_pe_d"),
        "pe_length": Called("positions.choose_pe_length"),
        "pe_base": Called("positions.choose_pe_base"),
        "pe_layout": _word("positions.layout", "positions.layout_*"),
        "pe_k": Called("positions.choose_k"),
        "pe_pair": Called("positions.choose_pair"),
        "pe_p": Called("positions.choose_p"),
        "pe_head": _counted("positions.choose_head"),
        "order": _word("positions.order", "positions.order_*"),
        "toy_positions": _opened("toy_variants.open"),
        **CELLS,
        **POINTS,
    },
    "rotary": {
        **PLACE,
        "vectors": _word("clocks.vectors", "clocks.vectors_*"),
        "tokens": Called("sharing.tokens"),
        "hands": Called("sharing.hands"),
        "at": Called("sharing.at"),
        "pair": Called("clocks.pair_name"),
        "pairing": _word("clocks.pairing", "clocks.*"),
        "phases": Called("clocks.phases"),
        "reach": Called("clocks.reach"),
        "wavelengths_of": Called("rotary.choose_wavelengths_of"),
        "base": Called("rotary.choose_base"),
        "scaling": _word("rotary.choose_scaling", "rotary.scaling_*"),
        "factor": Called("rotary.choose_factor"),
        "maps": _opened("rotary.maps_open"),
        "lengths": _opened("rotary.lengths_open"),
        "damage": _opened("rotary.damage_open"),
        "step": Called("sharing.step"),
        "cell": Called("sharing.cell"),
        "difference": DIFFERENCE,
        **CELLS,
        **POINTS,
    },
    "attention": {
        **PLACE,
        "row": ROW,
        "step": Called("sharing.step"),
        "cell": Called("sharing.cell"),
        "difference": DIFFERENCE,
        "edits": Called("sharing.edits"),
        "edit_kind": _word("attention_edit.kind", "attention_edit.kind_*"),
        "edit_row_*": Called("attention_edit.number_row"),
        "edit_column_*": Called("attention_edit.number_column"),
        "edit_row": Called("attention_edit.of_row"),
        "renormalise": _opened("attention_edit.renormalise"),
        "edit_free": _opened("attention_edit.free"),
        "sizes": _word("attention.sizes", "attention.sizes_*"),
        "own_*": Called("attention.sizes_own"),
        "variant": _word("attention_what_if.variant", "attention_what_if.variant_*"),
        "attention_what_if_try": _opened("attention_what_if.try"),
        **CELLS,
        **POINTS,
    },
    "heads": {
        **MAP,
        "overview": _word("attention_map.overview", "sharing.overview_*"),
        "over": _counted("attention_map.overlay"),
        "look": Called("sharing.look"),
        "roles": _word("heads_roles.title", "attention_map.*_attention"),
        "norms": _opened("heads_norms.open"),
        "agreement": _opened("heads_norms.agree"),
        "several": _opened("heads_several.open"),
        "off": Called("heads_off.heads"),
        "how": _word("heads_off.how", "heads_off.way_*"),
        "importance": _opened("heads_off.each"),
        "heads_what_if": _opened("heads.what_if_try"),
        "toy_heads": _opened("toy_variants.open"),
        **CELLS,
        **POINTS,
    },
    "masks": {
        **PLACE,
        "mask": Called("mask_painter.preset", "mask", "mask_painter.*"),
        "notation": _word("mask_painter.notation", "mask_painter.*"),
        "scope": _word("masks.scope", "masks.scope_*"),
        "row": ROW,
        "masks_write": _opened("masks.write"),
        "batch": _opened("masks.batch_show"),
        "side": _word("masks.side", "masks.side_*"),
        "batch_sentence": _counted("sharing.batch_sentence"),
        "forget": _opened("masks.forget"),
        "third": Called("masks.third"),
        "formats": _opened("masks.formats_open"),
        "hidden": _word("masks.hidden", "masks.hidden_*"),
        "conventions": _opened("masks.conventions_open"),
        "kind": _word("sharing.kind", "masks.kind_*"),
        "masks_measure": _opened("masks.measure"),
        **CELLS,
        **POINTS,
    },
    "three_attentions": {
        **PLACE,
        "row": ROW,
        "encoder": _word("attention_map.encoder_self_attention", "sharing.encoder_*"),
        "purpose": _word("three_attentions.purpose_on", "three_attentions.purpose_*"),
    },
    "layers": {
        **PLACE,
        "sublayer": _word("layers.choose_sublayer", "layers.sublayer_*"),
        "token": Called("layers.choose_token"),
        "unit": Called("sharing.unit"),
        "curves": _opened("layers.curves_open"),
        "memory": _opened("layers.memory_open"),
        "batch_norm": _opened("layers.batch"),
        "depth": Called("layers.stacks_depth"),
        "gradient": _word("layers.linked_gradient", "layers.stacks_*"),
        "stacks": _opened("layers.stacks_open"),
        "lens_all": _opened("layers.lens_all"),
        "altered": _word("layers.linked_altered", "layers.what_if_*"),
        "toy_norm": _opened("toy_variants.open"),
        **CELLS,
        **POINTS,
    },
    "decoding": {
        **PLACE,
        "strategy": _word("decoding.strategy", "decoding.strategy_*"),
        "temperature": Called("decoding.control_temperature"),
        "top_k": Called("decoding.control_top_k"),
        "top_p": Called("decoding.control_top_p"),
        "seed": Called("decoding.control_seed"),
        "size": Called("decoding.control_size"),
        "prefix": Called("sharing.prefix"),
        "step": _counted("decoding_steps.step"),
        "node": Called("beam_tree.table_node"),
        "penalty": _opened("decoding.penalty_title"),
        "forced": Called("decoding.forcing_target"),
        "given": Called("decoding.forcing_given"),
        "cache": _opened("decoding.cache_open"),
        "encoder_lens": _opened("decoding.encoder_open"),
        "unshifted": _opened("decoding.what_if_open"),
        **POINTS,
    },
    "training": {
        ".moment": _counted("moments.moment"),
        ".layer": _counted("attention_map.layer"),
        ".head": _counted("attention_map.head"),
        ".row": ROW,
        "width": Called("sharing.width"),
        "warmup": Called("training.warmup"),
        "last": Called("training.last"),
        "updates": Called("training.updates"),
        "factor": Called("training.factor"),
        "loss_row": Called("training.choose_row"),
        "smoothing": Called("training.choose_smoothing"),
        "convention": _word("training.choose_convention", "training.convention_*"),
        "tied_token": Called("training.choose_token"),
        "tied_side": _word("training.choose_side", "training.side_*"),
        "mistake": _word("training.choose_mistake", "training.mistake_*"),
        "train_task": _word("training_live.choose_task", "training_live.option_task_*"),
        "train_d_model": Called("training_live.choose_d_model"),
        "train_num_heads": Called("training_live.choose_num_heads"),
        "train_layers": Called("training_live.choose_layers"),
        "train_steps": Called("training_live.choose_steps"),
        "train_norm": _word("training_live.choose_norm", "training_live.option_norm_*"),
        "train_positions": _word("training_live.choose_positions", "training_live.option_positions_*"),
        "train_smoothing": Called("training_live.choose_smoothing"),
        "train_without": _word("training_live.choose_without", "training_live.option_without_*"),
        **POINTS,
    },
    "cost": {
        "preset": Called("cost.preset"),
        **{
            name: _word(f"cost.field_{name}", f"cost.option_{name}_*") for name in ("family", "tie", "norm", "bias", "bytes")
        },
        **{
            name: Called(f"cost.field_{name}")
            for name in (
                "d_model", "num_heads", "d_ff", "encoder_layers", "decoder_layers", "source_vocab", "target_vocab",
                "n", "m", "batch", "cache_length", "cache_batch", "kernel", "neighbourhood",
            )
        },
        "machine": Called("cost.machine"),
        **{name: Called(f"cost.figure_{name}") for name in ("fp32", "bf16", "fp8", "bandwidth")},
        **POINTS,
    },
    "families": {
        "prompt": _word("families.prompt", "families.prompt_*"),
        "word": _counted("two_families.word"),
        "of_layer": _counted("attention_map.layer"),
        "of_head": _counted("attention_map.head"),
        "source_length": Called("families.cost_source_length"),
        "target_length": Called("families.cost_target_length"),
        "asked": _opened("families.asked_open"),
        "masked": _opened("families.masked_open"),
        **CELLS,
        **POINTS,
    },
    "own": {
        **MAP,
        "overview": _word("attention_map.overview", "sharing.overview_*"),
        "over": _counted("attention_map.overlay"),
        "sentence_of_file": _counted("own_matrices.sentence"),
        "own_formats": _opened("own_matrices.formats_open"),
        "matrix_format": _word("own_matrices.format", "own_matrices.format_*"),
    },
    "studio": {
        "sample": Called("sharing.sample"),
        "pair": _counted("sharing.pair"),
        "view": _word("alignment.view", "alignment.view_*"),
        "unit": _word("alignment.unit", "alignment.unit_*"),
        "layer": _counted("attention_map.layer"),
        "head": _counted("attention_map.head"),
        "row": ROW,
        "measure": _word("alignment.measure", "alignment.measure_*"),
        "threshold": Called("alignment.threshold"),
        "second": _word("alignment.second", "alignment.second_*"),
        "method": _word("alignment.method", "alignment.method_*"),
        **CELLS,
    },
}  # fmt: skip


def named(page: str) -> dict[str, Called]:
    """All parameters of a page, in the order in which they are told."""
    return {**EVERYWHERE, **PAGES[page]}
