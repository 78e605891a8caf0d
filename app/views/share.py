"""The share control, on every page: what its link holds is named here, in words; the link itself is the browser's address."""

from collections.abc import Mapping
from dataclasses import replace

from app import session
from app.components.share import Name, pack, share
from app.text import LANGUAGES, has, section, text
from app.views.share_names import Called, named
from model.analysis import painted

LONGEST = 48  # characters of what one value is called
WITH_PLACE = ("rotary", "masks", "layers", "decoding")
"""Pages whose layer and head the server knows and the address may lack, where another page chose them."""


def control(page: str) -> None:
    """The button of this page; pages without parameters of their own have it too."""
    parameters = named(page)
    names = {name: Name(text(called.key).replace("`", ""), called.kind) for name, called in parameters.items()}
    place = _place_of(page)
    message = pack(
        names,
        words(parameters),
        [text(key) for key in (f"sharing.left_{page}", "sharing.left") if has(key)],
        place=place.parameters() if place else {},
        page=text(f"{page}.title"),
        spoken=session.current().language,
        language=LANGUAGES[session.current().language],
        text=section("share"),
    )
    share(message, key="share")


def _place_of(page: str) -> session.Place | None:
    """Where the page looks, if the address may lack it."""
    place = session.last_place() if page in WITH_PLACE else None
    if place and page == "masks" and place.attention not in painted.ATTENTIONS:  # it shows a self-attention all the same
        return replace(place, attention=painted.ATTENTIONS[0])
    return place


def words(parameters: Mapping[str, Called]) -> dict[str, str]:
    """What the ids of a parameter are called, by "name=id"."""
    return {f"{name}={identifier}": said for name, called in parameters.items() for identifier, said in _values(called).items()}


def _values(called: Called) -> dict[str, str]:
    """What its ids are called, by what stands for * in the keys; what has placeholders or markup, or is long, is no name."""
    part, _, rest = called.values.partition(".")
    if not part:
        return {}
    start, _, end = rest.partition("*")
    found = {key: said for key, said in section(part).items() if key.startswith(start) and key.endswith(end)}
    return {key.removeprefix(start): said for key, said in found.items() if len(said) <= LONGEST and not set(said) & set("{[`*")}
