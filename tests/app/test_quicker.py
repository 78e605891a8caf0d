"""What is done with less work than Streamlit does it comes to the same; a choice draws anew what follows it."""

import textwrap
from copy import deepcopy

import pytest
from streamlit import string_util
from streamlit.cursor import RunningCursor
from streamlit.delta_generator import DeltaGenerator
from streamlit.emojis import ALL_EMOJIS
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime import app_session
from streamlit.testing.v1 import AppTest

from app import session


def test_a_box_is_empty_where_the_session_holds_nothing_under_its_key() -> None:
    def page() -> None:
        import streamlit as st

        from app import session

        assert session
        st.session_state.setdefault("kept", None)
        st.session_state.setdefault("held", 7)
        st.number_input("kept", value=3, key="kept")
        st.number_input("held", value=3, key="held")
        st.number_input("fresh", value=3, key="fresh")
        st.text(f"{sorted(st.session_state)} {len(st.session_state)}")

    app = AppTest.from_function(page).run()
    assert [box.value for box in app.number_input] == [None, 7, 3]
    assert app.text[0].value == "['fresh', 'held', 'kept'] 3"
    assert not app.exception


def test_a_copied_container_stands_among_copies_of_those_around_it() -> None:
    outer = DeltaGenerator(block_type="vertical")
    inner = DeltaGenerator(parent=outer, block_type="horizontal")
    first, second = deepcopy((outer, inner))
    assert second._parent is first is not outer
    assert list(second._ancestor_block_types) == ["horizontal", "vertical"]
    assert session


def test_a_place_on_the_page_is_copied_with_what_comes_and_goes_there() -> None:
    place = DeltaGenerator(root_container=0, cursor=RunningCursor(0, (1, 2)))._cursor
    assert isinstance(place, RunningCursor)
    place.transient_elements[0] = Element()
    copied = deepcopy(place)
    place.lock_element()
    assert (copied.delta_path, len(copied.transient_elements)) == ([0, 1, 2, 0], 1)
    assert (place.delta_path, len(place.transient_elements)) == ([0, 1, 2, 1], 0)


@pytest.mark.parametrize("written", ["", "  one line ", "\t", "  two\n   lines\n", "no\nmargin"])
def test_text_loses_its_margin(written: str) -> None:
    assert string_util.clean_text(written) == textwrap.dedent(written).strip()
    assert string_util.to_help_str(written) == textwrap.dedent(written)


def test_what_begins_with_a_letter_begins_with_no_picture() -> None:
    found = {picture for picture in ALL_EMOJIS if string_util.extract_leading_emoji(f"{picture} é") != (picture, "é")}
    assert not {picture for picture in found if picture[0].isalpha()}
    assert string_util.extract_leading_emoji("Français") == ("", "Français")
    assert string_util.extract_leading_emoji("中文") == ("", "中文")


def test_the_theme_is_told_to_every_run() -> None:
    first, second = CustomThemeConfig(), CustomThemeConfig()
    for message in (first, second):
        app_session._populate_theme_msg(message)
        app_session._populate_theme_msg(message.dark, "theme.dark")
        app_session._populate_theme_msg(message.light, "theme.light")
    assert first == second
    assert first.body_font
    assert first.dark.text_color != first.light.text_color
