"""Tokens as a row of small cards: where each stands in the text, or how probable it was."""

import math
from collections.abc import Sequence

from app.text import text
from app.views import html
from model.tokenizer import Token


def placed(tokens: Sequence[Token], name: str) -> str:
    """Every token with its position, its id and the characters of the text that it covers."""
    cards = []
    for position, token in enumerate(tokens):
        where = text("tokens.card_added") if token.special else span(token)
        known = text("tokens.card_id", id=token.id)
        cards.append(
            f'<li class="{kind(token)}" data-position="{position}"><small>{position}</small>{html.literal(token.label)}'
            f"<small>{html.literal(html.Ours(known))}</small><small>{html.literal(html.Ours(where))}</small></li>"
        )
    return f'<ol class="atlas-tokens placed" aria-label="{html.sentence(name)}">{"".join(cards)}</ol>'


def probable(tokens: Sequence[Token], log_probabilities: Sequence[float], name: str) -> str:
    """Every produced token with its probability."""
    cards = []
    for token, log_probability in zip(tokens, log_probabilities, strict=True):
        share = math.exp(log_probability)
        cards.append(
            f'<li class="{kind(token)}" style="--share:{share:.4f}">{html.literal(token.label)}'
            f"<small>{html.number(share)}</small></li>"
        )
    return f'<ol class="atlas-tokens" aria-label="{html.sentence(name)}">{"".join(cards)}</ol>'


def typed(source: str, tokens: Sequence[Token], name: str) -> str:
    """The text as typed, the characters of each token marked; what belongs to no token stays unmarked.

    One isolate holds all of it: if each token had one of its own, the words of an Arabic sentence would run from left to right.
    """
    parts: list[str] = []
    at = 0
    for token in tokens:
        begin, end = token.span
        if token.special or end <= begin:
            continue
        mark = "unknown" if token.unknown else "even" if len(parts) % 4 < 2 else "odd"
        parts += [html.characters(source[at:begin]), f'<mark class="{mark}">{html.characters(source[begin:end])}</mark>']
        at = end
    whole = f'<bdi class="typed">{"".join(parts)}{html.characters(source[at:])}</bdi>'
    return f'<p class="atlas-typed" aria-label="{html.sentence(name)}">{whole}</p>'


def span(token: Token) -> str:
    """The characters that a token covers: from the first to the one after the last, counted from 0."""
    begin, end = token.span
    return f"[{begin}, {end})"


def kind(token: Token) -> str:
    """The class of a card: special, unknown or none."""
    return "special" if token.special else "unknown" if token.unknown else ""
