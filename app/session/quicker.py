"""Two things that Streamlit does for every widget and every fragment: the same, with less work.

A box of numbers, a text box, a list ask whether the session holds nothing under one key, and Streamlit makes the values of all
widgets of the page for that. A fragment notes where it stands, and Streamlit copies the containers around each of these once
more. Counted in calls of functions, both were a third of a run of the page of costs, with its twenty boxes, and a tenth of a run
of other pages.
"""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.state import SafeSessionState


class _Looked(Mapping[str, Any]):
    """The state of a session by the keys of the app, of which a value is made when somebody asks for it."""

    def __init__(self, session: SafeSessionState) -> None:
        self._session = session

    def __getitem__(self, key: str) -> Any:
        with self._session._lock:
            return self._session._state[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._whole())

    def __len__(self) -> int:
        return len(self._whole())

    def __repr__(self) -> str:
        return repr(self._whole())

    def _whole(self) -> dict[str, Any]:
        with self._session._lock:
            return self._session._state.filtered_state


def _copied(self: DeltaGenerator, memo: dict[int, Any]) -> DeltaGenerator:
    """A container with those around it, each copied once."""
    copy = DeltaGenerator(
        root_container=self._root_container,
        cursor=deepcopy(self._cursor, memo),
        parent=deepcopy(self._parent, memo),
        block_type=self._block_type,
    )
    copy._form_data = deepcopy(self._form_data, memo)
    copy._creating_fragment_id = self._creating_fragment_id
    return copy


def quicken() -> None:
    """Put both into Streamlit, for this process."""
    SafeSessionState.filtered_state = property(_Looked)  # type: ignore[assignment,method-assign]
    DeltaGenerator.__deepcopy__ = _copied  # type: ignore[method-assign,assignment]
