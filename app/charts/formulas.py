"""The formulas of a page with this example's numbers in them, as LaTeX. Only numbers and symbols: no text of a user."""

import math
from collections.abc import Mapping, Sequence

from torch import Tensor

from model.trace import Trace

MOST_TERMS = 8  # of a sum that are printed; the rest becomes dots, but is counted
LARGEST_TERMS = 4  # of a sum over keys, the largest first; more make the line wider than a page


def number(value: float, digits: int = 2) -> str:
    """A number in LaTeX; what rounds to zero has no sign."""
    shown = f"{value:.{digits}f}"
    return shown.lstrip("-") if not float(shown) else shown


def summed(terms: Sequence[float], digits: int = 2) -> str:
    """a + b + c, with dots after the first `MOST_TERMS`; minus signs take the place of plus."""
    shown = [number(term, digits) for term in terms[:MOST_TERMS]]
    joined = "".join(
        term if not at else f" - {term[1:]}" if term.startswith("-") else f" + {term}" for at, term in enumerate(shown)
    )
    return joined + (r" + \cdots" if len(terms) > MOST_TERMS else "")


def log_likelihood(log_probabilities: Sequence[float]) -> str:
    """log P of a translation as the sum over its tokens."""
    total = sum(log_probabilities)
    whole = rf"P = e^{{{number(total, 4)}}} = {probability(total)}"
    return rf"\log P = {summed(log_probabilities)} = {number(total)}, \qquad {whole}"


def probability(logarithm: float) -> str:
    """The probability with this natural logarithm, in LaTeX: small ones as a power of ten, however small."""
    if logarithm >= math.log(0.001):
        return number(math.exp(logarithm), 3)
    exponent = math.floor(logarithm / math.log(10))
    leading = f"{10 ** (logarithm / math.log(10) - exponent):.1f}"
    return rf"1.0 \cdot 10^{{{exponent + 1}}}" if leading == "10.0" else rf"{leading} \cdot 10^{{{exponent}}}"


def largest_weight(trace: Trace, path: str, head: int | None) -> tuple[int, int]:
    """Row and column of the largest weight of a head, in a row between the first and the end if there is one.

    None: of the mean of all heads.
    """
    weights = trace[path].tensor[0].mean(dim=0) if head is None else trace[path].tensor[0, head]
    first = 1 if weights.shape[0] > 2 else 0
    inner = weights[first : max(first + 1, weights.shape[0] - 1)]
    row, column = divmod(int(inner.argmax()), weights.shape[1])
    return first + row, column


def mean_cell(trace: Trace, attention: str, row: int, column: int) -> str:
    """One weight of the mean of all heads, from theirs."""
    weights = trace[f"{attention}.weights"].tensor[0, :, row, column]
    terms = " + ".join(number(float(weight), 4) for weight in weights[:MOST_TERMS])
    terms += r" + \cdots" if len(weights) > MOST_TERMS else ""
    mean = number(float(weights.mean()), 4)
    return rf"\bar{{\alpha}}_{{{row},{column}}} = \tfrac{{1}}{{{len(weights)}}} \left( {terms} \right) = {mean}"


def softmax_cell(trace: Trace, attention: str, head: int, row: int, column: int) -> str:
    """One weight, from the scores of its row: the exponential of its own score over the sum of all."""
    scores = trace[f"{attention}.masked"].tensor[0, head, row].double()
    weight = float(trace[f"{attention}.weights"].tensor[0, head, row, column])
    allowed = {at: float(score) for at, score in enumerate(scores) if score > -math.inf}
    denominator = _largest({at: (score, f"e^{{{number(score)}}}") for at, score in allowed.items()})
    return rf"\alpha_{{{row},{column}}} = \frac{{e^{{{number(float(scores[column]))}}}}}{{{denominator}}} = {number(weight, 4)}"


def _largest(terms: Mapping[int, tuple[float, str]], least: float = -math.inf) -> str:
    """A sum over keys (key -> size and term): the `LARGEST_TERMS` largest first, each above its key's number.

    Terms smaller than `least` would be printed as nothing; they are left to the dots, unless no other is there.
    """
    order = sorted(terms, key=lambda key: -terms[key][0])[:LARGEST_TERMS]
    order = order[:1] + [key for key in order[1:] if terms[key][0] >= least]
    shown = " + ".join(rf"\underset{{\scriptscriptstyle j={key}}}{{{terms[key][1]}}}" for key in order)
    return shown + (r" + \cdots" if len(terms) > len(order) else "")


def attention(*, turned: bool) -> str:
    """Equation 1 of the paper; with rotary positions on queries and keys that each position p has turned by R_p."""
    query, key = ("Q'", "K'") if turned else ("Q", "K")
    written = (
        rf"\mathrm{{Attention}}(Q, K, V) = \mathrm{{softmax}}\!\left(\frac{{{query} {{{key}}}^\top}}{{\sqrt{{d_k}}}}\right) V"
    )
    return written + (r", \qquad q'_p = R_p\, q_p, \quad k'_p = R_p\, k_p" if turned else "")


def law_of_scores(trace: Trace, attention: str, head: str = "") -> str:
    """What a score s_{r,j} is in this attention: as recorded, with another factor than 1 / sqrt(d_k), or a bias of positions.

    `head` stands above queries and keys, where it has to be said whose they are.
    """
    prime = "" if head else "'" if f"{attention}.query_rotated" in trace else ""
    product = rf"q{prime}{head}_r \cdot k{prime}{head}_j"
    factor = _factor(trace, attention)
    scaled = rf"\frac{{{product}}}{{\sqrt{{d_k}}}}" if factor is None else product if factor == 1 else rf"c\, {product}"
    return scaled if _bias(trace, attention) is None else f"{scaled} + b{head}_{{r,j}}"


def _bias(trace: Trace, attention: str) -> Tensor | None:
    """What is added to the scores for the distance of two tokens, (head, query, key); None where nothing is."""
    path = f"{attention}.position_bias"
    return trace[path].tensor[0] if path in trace and bool(trace[path].tensor.any()) else None


def _factor(trace: Trace, attention: str) -> float | None:
    """By what scores are multiplied; None where it is 1 / sqrt(d_k)."""
    if f"{attention}.scale" not in trace:
        return None
    factor = float(trace[f"{attention}.scale"].tensor)
    return None if math.isclose(factor, trace[f"{attention}.query"].size("head_dim") ** -0.5, rel_tol=1e-6) else factor


def scaled_score(trace: Trace, attention: str, head: int, row: int, column: int) -> str:
    """One score: the dot product of a query and a key, divided by the root of the head's width, or as `law_of_scores` says.

    Where both were turned by their positions they have a prime.
    """
    turned, prime = ("_rotated", "'") if f"{attention}.query_rotated" in trace else ("", "")
    query = trace[f"{attention}.query{turned}"].tensor[0, head, row].double()
    key = trace[f"{attention}.key{turned}"].tensor[0, head, column].double()
    products = [float(product) for product in query * key]
    width = len(products)
    dot = sum(products)
    factor, bias = _factor(trace, attention), _bias(trace, attention)
    if factor is not None or bias is not None:
        added = 0.0 if bias is None else float(bias[head, row, column])
        by = width**-0.5 if factor is None else factor
        terms = number(dot, 4) + ("" if by == 1 else rf" \cdot {number(by, 4)}")
        plus = "" if bias is None else f" {'-' if added < 0 else '+'} {number(abs(added), 4)}"
        law = law_of_scores(trace, attention).replace("_r", f"_{{{row}}}").replace("_j", f"_{{{column}}}")
        law = law.replace("b_{r,j}", f"b_{{{row},{column}}}")
        return rf"s_{{{row},{column}}} = {law} = {terms}{plus} = {number(dot * by + added, 3)}"
    return (
        rf"s_{{{row},{column}}} = \frac{{q{prime}_{{{row}}} \cdot k{prime}_{{{column}}}}}{{\sqrt{{{width}}}}}"
        rf" = \frac{{{number(dot, 4)}}}{{{number(math.sqrt(width), 4)}}} = {number(dot / math.sqrt(width), 3)}"
    )


def weighted_sum(trace: Trace, attention: str, head: int, row: int, dimension: int) -> str:
    """One number of a context: the same number of every value, averaged by the weights of the row."""
    weights = trace[f"{attention}.weights"].tensor[0, head, row]
    values = trace[f"{attention}.value"].tensor[0, head, :, dimension]
    context = float(trace[f"{attention}.context"].tensor[0, head, row, dimension])
    shown = _largest(
        {
            at: (abs(weight * value), rf"{number(weight, 3)} \cdot ({number(value)})")
            for at, (weight, value) in enumerate(zip(weights.tolist(), values.tolist(), strict=True))
            if weight  # a masked key adds nothing
        },
        least=0.0005,
    )
    sum_ = rf"c_{{{row},{dimension}}} = \sum_j \alpha_{{{row},j}}\, v_{{j,{dimension}}}"
    return rf"\begin{{aligned}} {sum_.replace('=', '&=', 1)} \\ &= {shown} \\ &= {number(context)} \end{{aligned}}"


def aligned(*equations: str) -> str:
    """Equations below one another, their first equals signs in line."""
    lines = r" \\ ".join(equation.replace("=", "&=", 1) for equation in equations)
    return rf"\begin{{aligned}} {lines} \end{{aligned}}"


def one_of_heads(*, grouped: bool, scaled: bool) -> str:
    """What one head is; `grouped`: keys and values are those of group g(i); `scaled`: scores are divided by √d_k."""
    shared = "{g(i)}" if grouped else "i"
    product = rf"Q W_i^Q (K W_{shared}^K)^\top"
    scores = rf"\frac{{{product}}}{{\sqrt{{d_k}}}}" if scaled else product
    return rf"\mathrm{{head}}_i = \mathrm{{softmax}}\!\left({scores}\right) V W_{shared}^V"


def heads_side_by_side(num_heads: int, head_dim: int, d_model: int) -> str:
    """Heads whose widths need not add up to that of the model."""
    whole = num_heads * head_dim
    return rf"h \cdot d_k = {num_heads} \cdot {head_dim} = {whole}, \qquad W^O \in \mathbb{{R}}^{{{whole} \times {d_model}}}"


def head_widths(d_model: int, num_heads: int) -> str:
    """How the width of the model is shared among the heads."""
    return rf"d_k = \frac{{d_{{\text{{model}}}}}}{{h}} = \frac{{{d_model}}}{{{num_heads}}} = {d_model // num_heads}"


def row_sum(trace: Trace, path: str, head: int, row: int) -> str:
    """The weights of one row add up to 1."""
    weights = [float(weight) for weight in trace[path].tensor[0, head, row]]
    return rf"\sum_j \alpha_{{{row},j}} = {summed(weights, 3)} = {number(sum(weights), 3)}"


def leaked(trace: Trace, attention: str, head: int, row: int, share: float) -> str:
    """The mass that a row of masked attention would put on hidden keys if their scores became 0: each keeps exp(0) = 1."""
    scores = trace[f"{attention}.masked"].tensor[0, head, row].double()
    allowed = [float(score) for score in scores if score > -math.inf]
    hidden = len(scores) - len(allowed)
    terms = " + ".join(f"e^{{{number(score)}}}" for score in allowed[:MOST_TERMS])
    dots = r" + \cdots" if len(allowed) > MOST_TERMS else ""
    return rf"\frac{{{hidden}}}{{{hidden} + {terms}{dots}}} = {number(share, 4)}"
