"""What the diagram in the browser is given: the boxes and arrows of a model, and all words around them."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

# Everything that the diagram says, by the key of its sentence in the text files.
LABELS = (
    "add", "add_norm", "and", "box", "caption", "caption_sentence", "copied", "copy_failed", "copy_link", "cross_attention",
    "csv", "embedding", "feed_forward", "final_norm", "gap", "gelu", "gives", "has", "heads", "hint", "inside",
    "keys_values", "layer", "layer_holds", "layer_of", "layer_open", "linear", "mask", "masked_self_attention", "norm",
    "opens", "parameters", "parameters_shared", "path", "picture", "place", "plus", "png", "position", "produced", "relu",
    "rotary", "rotary_note", "scaled_note", "self_attention", "shapes", "shapes_sizes", "shapes_symbols", "shared",
    "softmax", "stack_only", "stack_source", "stack_target", "stack_title", "svg", "table", "table_box", "table_caption",
    "table_input", "table_output", "table_parameters", "table_path", "table_place", "table_shared", "takes",
    "tokens_shifted", "tokens_source",
)  # fmt: skip


def pack(
    drawn: Mapping[str, Any],
    *,
    tokens: Mapping[str, Sequence[str]],
    opens: Mapping[str, str],
    layer: int,
    text: Mapping[str, str],
    caption: Mapping[str, str],
    writes: bool = True,
) -> bytes:
    """The message to the browser.

    `drawn` is an `Architecture` as a dictionary. `tokens` are labels to print in a box, by its id; `opens` names the page that a
    box opens; `layer` is the open one unless the URL names another; `caption` has model, source and target; with `writes`
    the diagram keeps its state in the URL.
    """
    missing = sorted(set(LABELS) - set(text))
    if missing:
        raise ValueError(f"the diagram needs a sentence for {', '.join(missing)}")
    message = {**drawn, "tokens": tokens, "opens": opens, "layer": layer, "text": text, "caption": caption, "writes": writes}
    return json.dumps(message).encode("utf-8")
