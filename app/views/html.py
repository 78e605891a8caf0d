"""The one place where text becomes HTML, and so the one place that escapes it.

Sentences of the text files may carry a little markup: **bold**, `code`, and [[term]] or [[term|these words]], which becomes
a button that opens the glossary entry. Values are never markup: whatever a user typed appears character for character.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from html import escape

import streamlit as st

from app.text import Term, filled, glossary, language, section, template, text

_MARKUP = re.compile(r"\*\*(?P<bold>.+?)\*\*|`(?P<code>[^`]+)`|\[\[(?P<term>\w+)(?:\|(?P<words>[^\]]+))?\]\]")

WORD_JOINER = "\u2060"  # no line begins with what stands after it
_CLOSING = "，。；：、！？）”》"
_BEFORE_CLOSING = re.compile(rf"(</(?:bdi|code|b)>)(?=[{_CLOSING}])")
# A line may break beside a button, whatever stands there: what must not be parted from it is held together by a span.
_HELD = re.compile(r"[（“(]?<button[^>]*>[^<]*</button>[，。；：、！？）”》,.;:)?!]*")
_POWER = re.compile(r" × 10(?=[⁻⁰¹²³⁴-⁹])")  # a number is not parted from its power of ten
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


class Ours(str):
    """A text of our own that is put into a sentence: shown like the rest of it, not set off like what a user typed."""

    __slots__ = ()


def literal(value: object) -> str:
    """Any value as HTML that shows exactly it; user text keeps its spaces and its own direction of writing."""
    if isinstance(value, str) and not isinstance(value, Ours):
        return f'<bdi class="typed">{escape(value)}</bdi>'
    return escape(str(value))


def characters(value: str) -> str:
    """Part of a text that a user typed, for a caller that isolates the whole."""
    return escape(value)


def sentence(key: str, /, **values: object) -> str:
    """The sentence `key` as HTML: markup of the text file rendered, values shown literally."""
    made = filled(marked(template(key)), {name: literal(value) for name, value in values.items()})
    whole = _POWER.sub("\u00a0×\u00a010", made)
    return _BEFORE_CLOSING.sub(rf"\1{WORD_JOINER}", whole)


def plain(key: str) -> str:
    """The sentence `key` as text without markup, for a file; a term is called by its name."""
    return _MARKUP.sub(
        lambda found: found["bold"] or found["code"] or found["words"] or glossary()[found["term"]].name, template(key)
    )


def marked(source: str) -> str:
    """The markup of our own text files as HTML; {placeholders} stay open."""
    return _marked(source, language())


@lru_cache(maxsize=8192)
def _marked(source: str, spoken: str) -> str:
    """Terms are called by their names in the language that is spoken."""
    return _HELD.sub(_held, _MARKUP.sub(_element, escape(source, quote=False)))


def _held(match: re.Match[str]) -> str:
    whole = match[0]
    return whole if whole.startswith("<") and whole.endswith(">") else f'<span class="held">{whole}</span>'


def _element(match: re.Match[str]) -> str:
    if bold := match["bold"]:
        return f"<b>{bold}</b>"
    if code := match["code"]:
        return f"<code>{code}</code>"
    return term_button(glossary()[match["term"]], match["words"])


def term_button(term: Term, words: str | None = None) -> str:
    """A word that opens its glossary entry, by pointer or keyboard; `entries` must stand somewhere on the same page."""
    return f'<button type="button" class="term" popovertarget="term-{term.id}">{words or escape(term.name)}</button>'


def entries(terms: Iterable[Term]) -> str:
    """The glossary entries that the buttons of a page open."""
    return "".join(f'<div popover id="term-{term.id}" class="entry">{definition(term)}</div>' for term in terms)


def definition(term: Term) -> str:
    """A glossary entry: the term in both languages, its symbol, its name in the code, one sentence."""
    return _definition(term.id, language())


@cache
def _definition(id: str, spoken: str) -> str:
    """Every page has all entries, most of which nobody opens: each is written once a language."""
    term = glossary()[id]
    other = next(name for name in term.names if name != spoken)
    facts = [f'<span lang="{other}">{escape(term.names[other])}</span>']
    if term.symbol:
        facts.append(f'<span class="symbol">{escape(term.symbol)}</span>')
    if term.code:
        facts.append(f"{escape(text('sidebar.in_code'))} <code>{escape(term.code)}</code>")
    return f"<b>{escape(term.name)}</b> <span class=facts>{' · '.join(facts)}</span><p>{marked(term.sentence)}</p>"


def terms_in(keys: Iterable[str]) -> list[Term]:
    """The glossary terms that these sentences mention, in order, each once."""
    found = (id for key in keys for id in _terms_of(template(key)))
    return [glossary()[id] for id in dict.fromkeys(found)]


@lru_cache(maxsize=8192)
def _terms_of(source: str) -> tuple[str, ...]:
    return tuple(match["term"] for match in _MARKUP.finditer(source) if match["term"])


def prose(key: str, *, kind: str = "", **values: object) -> None:
    """A paragraph."""
    st.html(f'<p class="atlas-prose {kind}">{sentence(key, **values)}</p>')


def listing(code: str) -> None:
    """Lines to be copied, without colours: what colours them is half a megabyte for a browser to fetch."""
    st.html(f'<pre class="atlas-listing" tabindex="0">{escape(code)}</pre>')


def heading(key: str, *, anchor: str = "", **values: object) -> None:
    """The heading of one part of a page, whose `anchor` is the id that a link to it names; without one, of a part of a part."""
    tag, named = ("h2", f' id="{anchor}"') if anchor else ("h3", "")
    st.html(f'<{tag} class="atlas-heading"{named}>{sentence(key, **values)}</{tag}>')


def unseen_heading(key: str) -> None:
    """The heading of a part that shows what it is, for those who go from heading to heading."""
    st.html(f'<h2 class="atlas-unseen">{sentence(key)}</h2>')


def contents(key: str, parts: Mapping[str, str]) -> None:
    """Links to the parts of a page: the anchor of each and the key of its heading."""
    links = " ".join(f'<a href="#{anchor}">{sentence(title)}</a>' for anchor, title in parts.items())
    st.html(f'<nav class="atlas-contents" aria-label="{escape(text(key))}"><span>{sentence(key)}</span> {links}</nav>')


def notice(kind: str, key: str, **values: object) -> None:
    """A message in a box: kind is "info", "warning" or "error"; a screen reader is told of the last two."""
    role = "status" if kind == "info" else "alert"
    st.html(f'<div class="atlas-notice {kind}" role="{role}">{sentence(key, **values)}</div>')


def bullets(items: Sequence[str]) -> None:
    """A list whose items are HTML already (made by `sentence`)."""
    st.html(f'<ul class="atlas-list">{"".join(f"<li>{item}</li>" for item in items)}</ul>')


def table(columns: Mapping[str, str], rows: Iterable[Sequence[object]], caption: str, *, titled: bool = False) -> None:
    """A small table. `columns` maps each title to its kind: "word", "number", "code" or "rich" (HTML made by `sentence`).

    `titled`: a heading above says already what the caption says; it is then there for screen readers only.
    """
    kinds = list(columns.values())
    head = "".join(f'<th scope="col" class="{kind}">{escape(title)}</th>' for title, kind in columns.items())
    body = "".join(f"<tr>{''.join(_cell(kind, value) for kind, value in zip(kinds, row, strict=True))}</tr>" for row in rows)
    shown = f"<caption{' class=unseen' if titled else ''}><span>{escape(caption)}</span></caption>"
    st.html(
        f'<div class="atlas-scroll" tabindex="0" role="region" aria-label="{escape(caption)}"><table class="atlas-table">'
        f"{shown}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _cell(kind: str, value: object) -> str:
    return f'<td class="{kind}">{value if kind == "rich" else literal(value)}</td>'


def dialog(id: str, key: str, content: str, *, beside: str = "", **values: object) -> None:
    """A button that opens a box over the page, in the browser alone. `content` and `beside` are HTML made by this file."""
    name, close = sentence(key, **values), escape(text("sidebar.close"))
    st.html(
        f'<button type="button" class="atlas-open" popovertarget="{id}">{name}</button>'
        f'<div popover id="{id}" class="glossary" role="dialog" aria-label="{escape(text(key, **values))}">'
        f'<button type="button" class="close" popovertarget="{id}" popovertargetaction="hide" aria-label="{close}">×</button>'
        f"<h2>{name}</h2>{content}</div>{beside}"
    )


def number(value: float, digits: int = 2) -> str:
    """A number as it is printed everywhere: fixed digits, a real minus sign."""
    shown = f"{value:.{digits}f}"
    return (shown if float(shown) else shown.lstrip("-")).replace("-", "\N{MINUS SIGN}")


def small(value: float, digits: int = 4) -> str:
    """A number that may be next to nothing: 0 where it is 0, and where its decimals would not show it a power of ten."""
    if not value or abs(value) >= 1e-3:
        return number(value, digits) if value else "0"
    leading, _, exponent = f"{value:.0e}".partition("e")
    return f"{leading} × 10{str(int(exponent)).translate(RAISED)}".replace("-", "\N{MINUS SIGN}")


def signed(value: float, digits: int = 2) -> str:
    """A change, with its sign; what rounds to zero has none."""
    shown = number(value, digits)
    return f"+{shown}" if value > 0 and float(f"{value:.{digits}f}") else shown


def difference(after: float, before: float, digits: int = 2) -> str:
    """The change between two numbers as they are printed with these digits, so that what a reader subtracts is what stands."""
    return number(round(after, digits) - round(before, digits), digits)


def joined(parts: Sequence[str]) -> str:
    """Words in a row, with the comma of the language."""
    return text("page.comma").join(parts)


def keys(prefix: str) -> list[str]:
    """The keys of all sentences that begin with this prefix, which ends in a dot."""
    return [f"{prefix}{rest}" for rest in section(prefix[:-1])]
