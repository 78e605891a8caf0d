"""What is done with less work than Streamlit does it comes to the same; a choice draws anew what follows it."""

from copy import deepcopy

from streamlit.delta_generator import DeltaGenerator
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
