"""Attention matrices that a visitor brought as a file: in their session and nowhere else, gone when they take them away."""

import secrets
import threading
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import streamlit as st

from app.session.rates import allowed
from app.session.studio_reading import most_bytes
from model.adapters.matrices import Limits, Matrices, MatrixError, read

UNPACKED = 8  # times the bytes of a file: of what an NPZ unpacks to
MAX_SENTENCES = 1000
MOST_HELD = 1_000_000_000  # bytes of the matrices of all visitors together

_BROUGHT, _REFUSED, _PICTURE = "atlas_matrices", "atlas_matrices_refused", "atlas_matrices_picture"


@dataclass(frozen=True, eq=False)
class BroughtMatrices:
    """What was brought: its name, which is text and never a path, and what was read of it."""

    name: str
    size: int
    matrices: Matrices
    token: str = field(default_factory=lambda: secrets.token_hex(4))  # tells it from others of the session

    @property
    def held(self) -> int:
        """Bytes of memory that its numbers take."""
        return sum(one.tensor.nbytes for trace in self.matrices.traces for one in trace.values())


@dataclass(frozen=True)
class Refused:
    """Why a file was not read: the code of a message, its values, the file and the place in it ("line", 3)."""

    code: str
    values: Mapping[str, object]
    file: str = ""
    place: tuple[str, int] | None = None


class _Room:
    """What all visitors hold; a visitor who left holds nothing."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.all: weakref.WeakSet[BroughtMatrices] = weakref.WeakSet()

    def take(self, found: BroughtMatrices) -> bool:
        """Whether there is room for it."""
        with self.lock:
            if found.held + sum(other.held for other in self.all) > MOST_HELD:
                return False
            self.all.add(found)
            return True

    def leave(self, found: BroughtMatrices) -> None:
        with self.lock:
            self.all.discard(found)


_room = _Room()


def brought_matrices() -> BroughtMatrices | None:
    """The visitor's matrices; None until some were read."""
    found: BroughtMatrices | None = st.session_state.get(_BROUGHT)
    return found


def refused_matrices() -> Refused | None:
    """Why the last file could not be read; None where it could."""
    found: Refused | None = st.session_state.get(_REFUSED)
    return found


def bring_matrices(name: str, content: bytes) -> None:
    """Read a file; one before it is given up. What cannot be read leaves `refused_matrices`."""
    if not allowed("upload"):
        return
    forget_matrices()
    found = read_matrices(name, content)
    if isinstance(found, Refused):
        st.session_state[_REFUSED] = found
        return
    made = BroughtMatrices(name, len(content), found)
    if _room.take(made):
        st.session_state[_BROUGHT] = made
    else:
        st.session_state[_REFUSED] = Refused("full", {"limit": MOST_HELD}, name)


def read_matrices(name: str, content: bytes) -> Matrices | Refused:
    """The matrices of a file within the limits of this server; its size is looked at before anything is read."""
    try:
        return read(content, name, Limits(most_bytes(), UNPACKED * most_bytes(), MAX_SENTENCES))
    except MatrixError as error:
        return Refused(error.message.code, error.message.values, error.file, error.place)


def forget_matrices() -> None:
    """Forget what was brought."""
    if found := brought_matrices():
        _room.leave(found)
    for name in (_BROUGHT, _REFUSED, _PICTURE):
        st.session_state.pop(name, None)


def kept_picture(key: tuple[object, ...], make: Callable[[], bytes]) -> bytes:
    """The bytes of the last picture, made again only where its key is another: a page is drawn again at every click."""
    kept: tuple[object, bytes] | None = st.session_state.get(_PICTURE)
    if kept is None or kept[0] != key:
        kept = st.session_state[_PICTURE] = (key, make())
    return kept[1]
