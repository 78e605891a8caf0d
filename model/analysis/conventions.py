"""One mask in the four conventions of the libraries, as code to copy.

Every snippet stands for itself but for the inputs that it names in its first line; `weights` (or, where a library gives none,
`output`) is what it leaves.
"""

from dataclasses import dataclass

from jaxtyping import Bool
from torch import Tensor


@dataclass(frozen=True)
class Mask:
    """A mask over one sentence of `length` positions: `kind` "causal", "padding", "both" or "painted".

    `real` counts the tokens that are not padding, which stands on the right; `cells` are those of a painted mask.
    """

    kind: str
    length: int
    real: int
    cells: tuple[tuple[bool, ...], ...] = ()


def of_cells(mask: Bool[Tensor, "query key"]) -> Mask:
    """A painted mask."""
    return Mask("painted", mask.shape[0], mask.shape[0], tuple(tuple(row) for row in mask.tolist()))


def snippets(mask: Mask, d_model: int, num_heads: int) -> dict[str, str]:
    """The code by convention: "multi_head", "scaled_dot_product", "additive", "hugging_face"."""
    return {
        "multi_head": _multi_head(mask, d_model, num_heads),
        "scaled_dot_product": _scaled_dot_product(mask, d_model // num_heads, num_heads),
        "additive": _additive(mask, d_model // num_heads, num_heads),
        "hugging_face": _hugging_face(mask, d_model // num_heads, num_heads),
    }


def _may_attend(mask: Mask) -> str:
    """Lines that define `may_attend`, True = may attend."""
    length = f"L = {mask.length}"
    triangle = "torch.ones(L, L, dtype=torch.bool).tril()"
    keys = f"torch.arange(L) < {mask.real}"
    if mask.kind == "causal":
        return f"{length}\nmay_attend = {triangle}"
    if mask.kind == "padding":
        return f"{length}\nmay_attend = ({keys}).expand(L, L)"
    if mask.kind == "both":
        return f"{length}\nmay_attend = {triangle} & ({keys})"
    rows = ",\n".join(f"    [{', '.join(str(int(cell)) for cell in row)}]" for row in mask.cells)
    return f"{length}\nmay_attend = torch.tensor([\n{rows},\n]).bool()"


def _inputs(head_dim: int, num_heads: int, length: int) -> str:
    return f"# query, key, value: (1, {num_heads}, {length}, {head_dim})"


def _multi_head(mask: Mask, d_model: int, num_heads: int) -> str:
    head = (
        f"# attention = nn.MultiheadAttention({d_model}, {num_heads}, batch_first=True); x: (1, {mask.length}, {d_model})\n"
        f"import torch\n\n"
    )
    if mask.kind == "causal":
        define = f"L = {mask.length}\nhidden = torch.ones(L, L, dtype=torch.bool).triu(1)  # True = hidden"
        given = "attn_mask=hidden"
    elif mask.kind == "padding":
        define = f"L = {mask.length}\nhidden_keys = (torch.arange(L) >= {mask.real})[None]  # True = hidden"
        given = "key_padding_mask=hidden_keys"
    elif mask.kind == "both":
        define = (
            f"L = {mask.length}\nhidden = torch.ones(L, L, dtype=torch.bool).triu(1)  # True = hidden\n"
            f"hidden_keys = (torch.arange(L) >= {mask.real})[None]  # True = hidden"
        )
        given = "attn_mask=hidden, key_padding_mask=hidden_keys"
    else:
        define, given = f"{_may_attend(mask)}\nhidden = ~may_attend  # True = hidden", "attn_mask=hidden"
    return f"{head}{define}\nmasks = dict({given})\noutput, weights = attention(x, x, x, **masks, average_attn_weights=False)"


def _scaled_dot_product(mask: Mask, head_dim: int, num_heads: int) -> str:
    return (
        f"{_inputs(head_dim, num_heads, mask.length)}\nimport torch\nfrom torch.nn import functional as F\n\n"
        f"{_may_attend(mask)}  # True = may attend\n"
        "output = F.scaled_dot_product_attention(query, key, value, attn_mask=may_attend)"
    )


def _additive(mask: Mask, head_dim: int, num_heads: int) -> str:
    return (
        f"{_inputs(head_dim, num_heads, mask.length)}\nimport math\nimport torch\n\n"
        f"{_may_attend(mask)}\n"
        "bias = torch.zeros(L, L).masked_fill(~may_attend, -math.inf)  # 0 = may attend, -inf = hidden\n"
        f"scores = query @ key.mT / math.sqrt({head_dim}) + bias\n"
        "weights = scores.softmax(dim=-1)\n"
        "output = weights @ value"
    )


def _hugging_face(mask: Mask, head_dim: int, num_heads: int) -> str:
    if mask.kind == "painted":
        meaning = "# (batch, 1, query, key): 1 = may attend"
        define = f"{_may_attend(mask)}\n{meaning}\nattention_mask = may_attend[None, None].long()"
        allowed = "attention_mask.bool()"
    else:
        real = mask.length if mask.kind == "causal" else mask.real
        row = f"[1] * {real}" + (f" + [0] * {mask.length - real}" if real < mask.length else "")
        define = f"# (batch, key): 1 = a token, 0 = padding\nattention_mask = torch.tensor([{row}])"
        allowed = "attention_mask.bool()[:, None, None, :]"
        if mask.kind != "padding":
            allowed += f" & torch.ones({mask.length}, {mask.length}, dtype=torch.bool).tril()"
    return (
        f"{_inputs(head_dim, num_heads, mask.length)}\nimport math\nimport torch\n\n{define}\n\n"
        f"# what the model makes of it\nallowed = {allowed}\n"
        "bias = torch.zeros(allowed.shape).masked_fill(~allowed, torch.finfo(torch.float32).min)\n"
        f"weights = (query @ key.mT / math.sqrt({head_dim}) + bias).softmax(dim=-1)\n"
        "output = weights @ value"
    )
