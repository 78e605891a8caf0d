"""Residual connection, LayerNorm and feed-forward in LaTeX, with this example's numbers. Only numbers and symbols."""

from app.charts.formulas import number


def signed(value: float, digits: int = 3) -> str:
    """A number as a term of a sum: with its sign before it."""
    shown = number(value, digits)
    return f"- {shown[1:]}" if shown.startswith("-") else f"+ {shown}"


def residual_cell(feature: int, x: float, added: float, total: float, *, pre_norm: bool) -> str:
    """One feature of x + Sub(x), in pre-norm of x + Sub(LN(x))."""
    inner = r"\mathrm{LN}(x)" if pre_norm else "x"
    return rf"x_{{{feature}}} + \mathrm{{Sub}}({inner})_{{{feature}}} = {number(x, 3)} {signed(added)} = {number(total, 3)}"


def layer_norm_cell(
    feature: int, *, x: float, mean: float, variance: float, epsilon: float, gain: float, bias: float, output: float
) -> str:
    """One feature of one token through LayerNorm."""
    fraction = rf"\frac{{{number(x, 3)} {signed(-mean)}}}{{\sqrt{{{number(variance, 3)} + {power_of_ten(epsilon)}}}}}"
    scale = number(gain, 3)
    factor = rf"({scale})" if scale.startswith("-") else scale
    return rf"\mathrm{{LN}}(x)_{{{feature}}} = {fraction} \cdot {factor} {signed(bias)} = {number(output, 3)}"


def power_of_ten(value: float) -> str:
    """An epsilon: 10^-5 for 1e-05, digits times a power of ten for others."""
    digits, _, exponent = f"{value:e}".partition("e")
    leading = f"{float(digits):g}"
    return rf"10^{{{int(exponent)}}}" if leading == "1" else rf"{leading} \cdot 10^{{{int(exponent)}}}"


def unit_cell(unit: int, before: float, after: float, activation: str) -> str:
    """One hidden unit: its pre-activation through the non-linearity."""
    inner = rf"\max(0,\, {number(before, 3)})" if activation == "relu" else rf"\mathrm{{GELU}}({number(before, 3)})"
    return rf"h_{{{unit}}} = {inner} = {number(after, 3)}"
