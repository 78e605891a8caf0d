"""Widgets as the server draws them: which they are, what they hold at first, what else they may be set to."""

import json
import random
from dataclasses import dataclass
from typing import Any

from streamlit.proto.Block_pb2 import Block
from streamlit.proto.WidgetStates_pb2 import WidgetState

# Kinds of elements that hold something, with the field of `WidgetState` that carries it.
KINDS = {
    "button_group": "string_array_value",
    "selectbox": "string_value",
    "radio": "string_value",
    "checkbox": "bool_value",
    "slider": "double_array_value",
    "number_input": "double_value",
    "multiselect": "string_array_value",
    "text_input": "string_value",
    "text_area": "string_value",
    "file_uploader": "file_uploader_state_value",
    "button": "trigger_value",
    "bidi_component": "json_value",
}


@dataclass
class Widget:
    """One that is drawn. `around`: part of what stays when the page changes; `fragment`: what runs again when it is used."""

    id: str
    kind: str
    element: Any
    fragment: str = ""
    run: int = 0
    around: bool = False

    @property
    def key(self) -> str:
        """What the app calls it: the end of its id ("$$ID-<hash>-<key>"); "None" without a key."""
        return self.id.split("-", 2)[-1]


def block_widget(block: Block) -> Widget | None:
    """A part of a page that tells the server when it is opened."""
    if block.WhichOneof("type") == "expandable" and block.expandable.id:
        return Widget(block.expandable.id, "expandable", block.expandable)
    return None


def first_state(widget: Widget, known: bool) -> WidgetState | None:
    """What the browser holds for a widget that was drawn: what it was told, or, of a new one, its default."""
    kind, element = widget.kind, widget.element
    told = getattr(element, "set_value", False)
    if known and not told:
        return None
    state = WidgetState(id=widget.id)
    if kind == "button_group":
        names = [option.content for option in element.options]
        state.string_array_value.data.extend(element.raw_values if told else [names[index] for index in element.default])
    elif kind == "multiselect":
        state.string_array_value.data.extend(
            element.raw_values if told else [element.options[index] for index in element.default]
        )
    elif kind in ("selectbox", "radio"):
        if not told and not (element.HasField("default") and element.options):
            return None
        state.string_value = element.raw_value if told else element.options[element.default]
    elif kind == "checkbox":
        state.bool_value = element.value if told else element.default
    elif kind == "slider":
        _slide(state, element, told)
    elif kind == "number_input":
        if not told and not element.HasField("default"):
            return None
        state.double_value = element.value if told else element.default
    elif kind in ("text_input", "text_area"):
        state.string_value = element.value if told else element.default
    elif kind == "expandable":
        state.bool_value = element.expanded
    else:
        return None
    return state


def _slide(state: WidgetState, element: Any, told: bool) -> None:
    if element.type == element.SELECT_SLIDER:
        state.string_array_value.data.extend(
            element.raw_value if told else [element.options[int(index)] for index in element.default]
        )
    else:
        state.double_array_value.data.extend(element.value if told else element.default)


def another(widget: Widget, held: WidgetState | None, chance: random.Random) -> WidgetState | None:
    """Something else that a visitor may set this widget to; None if there is nothing else, or if it takes words or files."""
    kind, element = widget.kind, widget.element
    state = WidgetState(id=widget.id)
    if getattr(element, "disabled", False):
        return None
    if kind in ("button_group", "selectbox", "radio") or (kind == "slider" and element.type == element.SELECT_SLIDER):
        return _other_option(state, widget, held, chance)
    if kind in ("checkbox", "expandable"):
        state.bool_value = not (held.bool_value if held else False)
    elif kind == "slider":
        state.double_array_value.data.append(_step(element, held.double_array_value.data[0] if held else element.min, chance))
    elif kind == "number_input":
        state.double_value = _step(element, held.double_value if held else element.default, chance)
    else:
        return None
    return state


def _other_option(state: WidgetState, widget: Widget, held: WidgetState | None, chance: random.Random) -> WidgetState | None:
    element = widget.element
    several = widget.kind in ("button_group", "slider")
    names = [option.content for option in element.options] if widget.kind == "button_group" else list(element.options)
    now = (list(held.string_array_value.data) if several else [held.string_value]) if held else []
    others = [name for name in names if name not in now]
    if not others:
        return None
    chosen = chance.choice(others)
    if several:
        state.string_array_value.data.append(chosen)
    else:
        state.string_value = chosen
    return state


def _step(element: Any, now: float, chance: random.Random) -> float:
    """A few steps up or down, within the limits."""
    step = element.step or 1.0
    low = element.min if getattr(element, "has_min", True) else now - 5 * step
    high = element.max if getattr(element, "has_max", True) else now + 5 * step
    steps = [offset for offset in range(-5, 6) if offset and low <= now + offset * step <= high]
    return now + chance.choice(steps or [0]) * step


def typed(widget: Widget, written: str) -> WidgetState:
    """Words in a box for text."""
    return WidgetState(id=widget.id, string_value=written)


def pressed(widget: Widget) -> WidgetState:
    """A click on a button."""
    return WidgetState(id=widget.id, trigger_value=True)


def kept(widget: Widget, **values: Any) -> WidgetState:
    """What a component keeps: the values that its script has set."""
    return WidgetState(id=widget.id, json_value=json.dumps(values))


def told(widget: Widget, event: str, value: Any) -> WidgetState:
    """What a component tells once, as a click in it does."""
    told = json.dumps([{"event": event, "value": value}])
    return WidgetState(id=f"$$STREAMLIT_INTERNAL_KEY_{widget.id}__events", json_trigger_value=told)
