"""Residual connection, LayerNorm and feed-forward in LaTeX, with this example's numbers. Only numbers and symbols."""

from collections.abc import Sequence

from app.charts.formulas import number


def signed(value: float, digits: int = 3) -> str:
    """A number as a term of a sum: with its sign before it."""
    shown = number(value, digits)
    return f"- {shown[1:]}" if shown.startswith("-") else f"+ {shown}"


def residual_cell(feature: int, x: float, added: float, total: float, *, pre_norm: bool) -> str:
    """One feature of x + Sub(x), in pre-norm of x + Sub(LN(x))."""
    inner = r"\mathrm{LN}(x)" if pre_norm else "x"
    total_name = "" if pre_norm else rf"s_{{{feature}}} = "
    parts = rf"x_{{{feature}}} + \mathrm{{Sub}}({inner})_{{{feature}}}"
    return rf"{total_name}{parts} = {number(x, 3)} {signed(added)} = {number(total, 3)}"


def layer_norm_cell(
    feature: int, *, name: str, x: float, mean: float, variance: float, epsilon: float, gain: float, bias: float, output: float
) -> str:
    """One feature of one token through LayerNorm; `name` is what is normalised, x or s."""
    fraction = rf"\frac{{{number(x, 3)} {signed(-mean)}}}{{\sqrt{{{number(variance, 3)} + {power_of_ten(epsilon)}}}}}"
    scale = number(gain, 3)
    factor = rf"({scale})" if scale.startswith("-") else scale
    return rf"\mathrm{{LN}}({name})_{{{feature}}} = {fraction} \cdot {factor} {signed(bias)} = {number(output, 3)}"


def power_of_ten(value: float) -> str:
    """An epsilon: 10^-5 for 1e-05, digits times a power of ten for others."""
    digits, _, exponent = f"{value:e}".partition("e")
    leading = f"{float(digits):g}"
    return rf"10^{{{int(exponent)}}}" if leading == "1" else rf"{leading} \cdot 10^{{{int(exponent)}}}"


def unit_product(
    *, name: str, terms: Sequence[tuple[int, float, float]], rest: float, others: int, bias: float, total: float
) -> tuple[str, str]:
    """x · w + b of one hidden unit: its largest terms with both factors, the sum of the others over a brace, the bias.

    `name` is what the network reads: x, or u where it is normed first. Two equations, symbols and numbers.
    """
    products = " + ".join(rf"{factor(x)} \cdot {factor(weight)}" for _, x, weight in terms)
    symbols = " + ".join(rf"{name}_{{{at}}} w_{{{at}}}" for at, _, _ in terms)
    dots, left = (r" + \cdots", rf" + \underbrace{{{factor(rest)}}}_{{{others}\,\cdots}}") if others else ("", "")
    return (
        rf"{name} \cdot w + b = {symbols}{dots} + b",
        rf"= {products}{left} {signed(bias)} = {number(total, 3)}",
    )


def factor(value: float) -> str:
    """A number in a product: a negative one in brackets."""
    shown = number(value, 3)
    return f"({shown})" if shown.startswith("-") else shown


def unit_cell(unit: int, before: float, after: float, activation: str) -> str:
    """One hidden unit: its pre-activation through the non-linearity."""
    inner = rf"\max(0,\, {number(before, 3)})" if activation == "relu" else rf"\mathrm{{GELU}}({number(before, 3)})"
    return rf"h_{{{unit}}} = {inner} = {number(after, 3)}"
