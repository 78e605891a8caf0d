"""What Streamlit does for every element, widget, fragment and run: the same, with less work.

A box of numbers, a text box, a list ask whether the session holds nothing under one key, and Streamlit makes the values of all
widgets of the page for that. A fragment notes where it stands, and Streamlit copies the containers around each of these once
more. Counted in calls of functions, both were a third of a run of the page of costs, with its twenty boxes, and a tenth of a run
of other pages. A look into a cache reads the signature of the cached function anew for every argument; a run that begins reads
the whole theme from the configuration anew, some hundred options.
"""

import textwrap
from collections.abc import Callable, Iterator, Mapping
from copy import copy, deepcopy
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

from streamlit import config, delta_generator, string_util, type_util
from streamlit.cursor import Cursor, SparseList
from streamlit.delta_generator import DeltaGenerator
from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime import app_session
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
    copied = DeltaGenerator(
        root_container=self._root_container,
        cursor=deepcopy(self._cursor, memo),
        parent=deepcopy(self._parent, memo),
        block_type=self._block_type,
    )
    copied._form_data = self._form_data
    copied._creating_fragment_id = self._creating_fragment_id
    return copied


def _place_copied(self: Cursor, memo: dict[int, Any]) -> Cursor:
    """A place on the page: numbers, and mostly no elements that come and go."""
    copied = copy(self)
    copied._transient_elements = deepcopy(self._transient_elements, memo) if len(self._transient_elements) else SparseList()
    return copied


def _dedented(written: str) -> str:
    """Text without the margin that its lines have in common, of which one line needs no search."""
    return textwrap.dedent(written) if "\n" in written else written.lstrip(" \t")


def _leading_emoji(extract: Callable[[str], tuple[str, str]]) -> Callable[[str], tuple[str, str]]:
    """What a label begins with: a letter is no picture, which is known without the list of all pictures (0.2 s to compile)."""

    def extracted(label: str) -> tuple[str, str]:
        return ("", label) if label[:1].isalpha() and label[0] != LETTER else extract(label)

    return extracted


LETTER = "\N{INFORMATION SOURCE}"  # the one letter that is also a picture


def _theme_once(populate: Callable[[CustomThemeConfig, str], None]) -> Callable[..., None]:
    """A theme read from the configuration once; a configuration that is read again is another object, kept with its themes."""
    made: dict[tuple[int, str], CustomThemeConfig] = {}
    read: dict[int, object] = {}

    def populated(message: CustomThemeConfig, section: str = "theme") -> None:
        read[id(config._config_options)] = config._config_options
        key = (id(config._config_options), section)
        if key not in made:
            theme = CustomThemeConfig()
            populate(theme, section)
            made[key] = theme  # whole: another run may look for it meanwhile
        if made[key].ByteSize():
            message.MergeFrom(made[key])

    return populated


def _read_without_lock(get_option: Callable[[str], Any]) -> Callable[[str], Any]:
    """An option read without the lock of the configuration, which every message of every run asks for.

    Whoever holds it and loses Python's lock makes all others wait for both. The server reads its configuration once; where it is
    read again (`make dev`, when the file is saved), an option has its default for a moment.
    """

    def read(key: str) -> Any:
        option = (config._config_options or {}).get(key)
        return get_option(key) if option is None else option.value

    return read


def quicken() -> None:
    """Put all of it into Streamlit, for this process."""
    SafeSessionState.filtered_state = property(_Looked)  # type: ignore[assignment,method-assign]
    DeltaGenerator.__deepcopy__ = _copied  # type: ignore[method-assign,assignment]
    Cursor.__deepcopy__ = _place_copied  # type: ignore[attr-defined]
    string_util.textwrap = SimpleNamespace(dedent=_dedented)  # type: ignore[assignment,attr-defined]
    string_util.extract_leading_emoji = _leading_emoji(string_util.extract_leading_emoji)  # type: ignore[assignment]
    delta_generator._use_warning_has_been_displayed = True  # a server runs; to find that out took Streamlit 0.2 s
    config.get_option = _read_without_lock(config.get_option)  # type: ignore[assignment]
    type_util.get_func_parameters = lru_cache(maxsize=1024)(type_util.get_func_parameters)
    app_session._populate_theme_msg = _theme_once(app_session._populate_theme_msg)
