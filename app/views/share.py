"""The share control, on every page: what its link holds is named here, in words; the link itself is the browser's address."""

from app import session
from app.components.share import Name, pack, share
from app.text import LANGUAGES, has, section, text

_EVERYWHERE = {"model": "sidebar.model", "text": "sidebar.sentence", "target": "translate.target", "beam": "translate.decoding"}


def control(page: str) -> None:
    """The button of this page."""
    left = [text("sharing.left_always")]
    if has(f"sharing.left_{page}"):
        left.insert(0, text(f"sharing.left_{page}"))
    names = {name: Name(text(key)) for name, key in _EVERYWHERE.items()}
    message = pack(
        names, {}, left, page=text(f"{page}.title"), language=LANGUAGES[session.current().language], text=section("share")
    )
    share(message, key="share")
