"""What a visitor wants to be trained: the controls, each in the URL."""

from typing import get_args

import streamlit as st

from app.text import text
from app.views import linked
from model.config import Norm, Positions
from model.practice.order import LIMITS, Order
from model.training.tasks import TASKS

WIDTHS, HEADS, LAYERS = ("16", "32", "64", "128"), ("1", "2", "4", "8"), ("1", "2", "3", "4")
NORMS: tuple[Norm, ...] = get_args(Norm)
POSITIONS: tuple[Positions, ...] = get_args(Positions)
SMOOTHINGS = ("0.0", "0.1", "0.2", "0.3")
SWITCHES = ("warmup", "scale", "residual", "mask")  # no positions is a choice of positions

WITHOUT = "train_without"


def choose() -> Order:
    """Draw the controls; the order that they make."""
    default = Order()
    with st.container(horizontal=True, vertical_alignment="bottom", key="training_sizes"):
        task = _list("task", tuple(TASKS), default.task, named=True)
        d_model = _list("d_model", WIDTHS, str(default.d_model))
        num_heads = _list("num_heads", HEADS, str(default.num_heads))
        layers = _list("layers", LAYERS, str(default.layers))
        steps = _steps(default.steps)
    with st.container(horizontal=True, vertical_alignment="bottom", key="training_switches"):
        norm = _row("norm", NORMS, default.norm, named=True)
        positions = _row("positions", POSITIONS, default.positions, named=True)
        smoothing = _row("smoothing", SMOOTHINGS, str(default.smoothing))
        without = _left_out()
    return Order(
        task=task, d_model=int(d_model), num_heads=int(num_heads), layers=int(layers), steps=steps, smoothing=float(smoothing),
        norm=next(one for one in NORMS if one == norm), positions=next(one for one in POSITIONS if one == positions),
        without=without,
    )  # fmt: skip


def task_name(task: str) -> str:
    """What a task is called on the screen."""
    return text(f"training_live.option_task_{task}")


def _list(name: str, options: tuple[str, ...], default: str, *, named: bool = False) -> str:
    key = f"train_{name}"
    linked.chosen(key, options, default)
    st.selectbox(
        text(f"training_live.choose_{name}"), options, key=key, width=150, on_change=linked.remember(key, default),
        format_func=lambda one: text(f"training_live.option_{name}_{one}") if named else one,
    )  # fmt: skip
    return str(st.session_state[key])


def _row(name: str, options: tuple[str, ...], default: str, *, named: bool = False) -> str:
    key = f"train_{name}"
    linked.chosen(key, options, default)
    st.segmented_control(
        text(f"training_live.choose_{name}"), options, key=key, required=True, on_change=linked.remember(key, default),
        format_func=lambda one: text(f"training_live.option_{name}_{one}") if named else one,
    )  # fmt: skip
    return str(st.session_state[key])


def _steps(default: int) -> int:
    key, (least, most) = "train_steps", LIMITS["steps"]
    linked.number(key, range(least, most + 1), default)
    st.number_input(
        text("training_live.choose_steps"), min_value=least, max_value=most, step=50, key=key, width=150,
        on_change=linked.remember(key, default),
    )  # fmt: skip
    return int(st.session_state[key])


def _left_out() -> tuple[str, ...]:
    """Several of the switches; in the URL with commas between them."""
    held = linked.held(WITHOUT)
    asked = st.query_params.get(WITHOUT, "").split(",") if held is None else held
    st.session_state[WITHOUT] = [name for name in SWITCHES if name in asked]
    st.pills(
        text("training_live.choose_without"), SWITCHES, key=WITHOUT, selection_mode="multi",
        format_func=lambda one: text(f"training_live.option_without_{one}"),
        on_change=lambda: linked.write(WITHOUT, ",".join(st.session_state[WITHOUT]) or None),
    )  # fmt: skip
    return tuple(st.session_state[WITHOUT])
