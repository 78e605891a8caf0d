"""The whole model as formulas with one example's numbers in them, as LaTeX. Only numbers and symbols: no text of a user."""

from collections.abc import Sequence

from app.charts.formulas import aligned, probability

Terms = tuple[int, int, int, int, int, int, int]  # layers, attentions, one attention, feed-forward, norms, one norm, final norm
Size = Sequence[int]


def composed(*, pre_norm: bool, one_stack: bool = False) -> str:
    """What a residual does to the stream, and which of them follow one another: data flows from right to left.

    `one_stack`: the model has a decoder alone, without cross-attention.
    """
    residual = r"x + S(\mathrm{LN}(x))" if pre_norm else r"\mathrm{LN}(x + S(x))"
    stack = r"\mathrm{LN}\!\left((%s)^{N}(%s)\right)" if pre_norm else r"(%s)^{N}(%s)"
    encoder = r"R_{\mathrm{FFN}} \circ R_{\mathrm{Self}}"
    decoder = r"R_{\mathrm{FFN}} \circ R_{\mathrm{Cross}(\cdot,\, M)} \circ R_{\mathrm{Masked}}"
    if one_stack:
        alone = r"R_{\mathrm{FFN}} \circ R_{\mathrm{Masked}}"
        return aligned(f"R_S(x) = {residual}", f"H = {stack % (alone, 'Y')}", r"P = \mathrm{softmax}(H\, W)")
    return aligned(
        f"R_S(x) = {residual}",
        f"M = {stack % (encoder, 'X')}",
        f"H = {stack % (decoder, 'Y')}",
        r"P = \mathrm{softmax}(H\, W)",
    )


def flowing(encoder: int, memory: Size | None, decoder: int, states: Size, logits: Size, logarithm: float, id: int) -> str:
    """The same with sizes: the encoder's layers, X to M, if there is one; the decoder's, Y to H to P; and one entry of P."""
    output = rf"\xrightarrow{{W:\; {states[-1]} \times {logits[-1]}}}"
    before = rf"{sized('X', memory)} \xrightarrow{{N = {encoder}}} {sized('M', memory)}, \qquad " if memory else ""
    passing = rf"{sized('Y', states)} \xrightarrow{'[M]' if memory else ''}{{N = {decoder}}} {sized('H', states)}"
    return rf"{before}{passing} {output} {sized('P', logits)}, \qquad P_{{0,\,{id}}} = {probability(logarithm)}"


def sized(symbol: str, size: Size) -> str:
    """A matrix with its size under it."""
    times = r" \times ".join(str(each) for each in size)
    return rf"\underset{{{times}}}{{{symbol}}}"


def counted(stacks: Sequence[Terms], embeddings: int, output: int, total: int) -> tuple[str, str]:
    """Where the parameters are: the sum in symbols, and in numbers."""
    symbols = [
        _stack(terms, r"n_{\mathrm{Att}}", r"n_{\mathrm{FFN}}", r"n_{\mathrm{LN}}", "N", r"n_{\mathrm{LN}}") for terms in stacks
    ]
    numbers = [_stack(terms, *(whole(each) for each in (terms[2], terms[3], terms[5], terms[0], terms[6]))) for terms in stacks]
    rest = [(r"n_{\mathrm{Emb}}", embeddings), (r"n_{\mathrm{Out}}", output)]
    symbols += [symbol for symbol, count in rest if count]
    numbers += [whole(count) for _, count in rest if count]
    return f"n = {' + '.join(symbols)}", f"n = {' + '.join(numbers)} = {whole(total)}"


def _stack(terms: Terms, attention: str, feed_forward: str, norm: str, layers: str, final: str) -> str:
    _, attentions, _, _, norms, _, last = terms
    many = f"{attentions} \\cdot " if attentions > 1 else ""
    inside = rf"{layers}\,({many}{attention} + {feed_forward} + {norms} \cdot {norm})"
    return f"{inside} + {final}" if last else inside


def whole(count: int) -> str:
    """A count, its digits in groups of three."""
    return f"{count:,}".replace(",", "{,}")
