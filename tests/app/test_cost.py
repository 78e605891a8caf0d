"""The page Cost: what it counts against counts by hand, changed configurations and machines, this machine measured."""

import io
import json
import sys
import time
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app import session
from app.charts import cost as charts
from app.session.machine import Bench, Measuring, own_process
from app.views import cost_shape
from app.views.cost_shape import GPT_2_POSITIONS, gpt_2_small
from model import cost
from model.analysis import cost_curves, machine, wrong_costs
from model.config import ModelConfig, paper_base
from tests.app.conftest import OpenApp, said, shown
from tests.model import tiny

SENTENCE = "I love you."


def chart(app: AppTest, name: str) -> dict[str, Any]:
    found = (json.loads(component.proto.bytes) for component in app.get("bidi_component"))
    return next(one for one in found if one["name"] == name)


def products(n: int, m: int, d: int, ff: int, layers: int, vocabulary: int) -> int:
    """Operations of the paper's model, product by product: rows x inner x columns, 2 each."""
    encoder = 4 * (n * d * d) + 2 * (n * d * n) + 2 * (n * d * ff)
    own = 4 * (m * d * d) + 2 * (m * d * m)
    cross = 2 * (m * d * d) + 2 * (n * d * d) + 2 * (m * d * n)
    return 2 * (layers * (encoder + own + cross + 2 * (m * d * ff)) + m * d * vocabulary)


def test_the_paper_s_model_is_itemised_and_nothing_is_bent(open_app: OpenApp) -> None:
    app = open_app("cost", lang="en", model="en-fr", text=SENTENCE, preset="base", n="100", m="40", batch="2", bytes="2")
    text = shown(app)
    for number in (
        "18,902,016",
        "25,199,616",
        "18,944,000",
        "63,045,632",
        "prints 65 M",
        "6 · (1,048,576 + 2,099,712 + 2 · 1,024)",
    ):
        assert number in text
    assert f"{2 * products(100, 40, 512, 2048, 6, 37_000):,}" in text
    assert "equal: 3,072" in text
    assert f"{100 * 100 / (100 + 3072):.2f} %" in text  # the square's share at 100 tokens
    for number in ("8.00 MiB", "512 MiB", "32.0 GiB", "512 KiB", "3.28 × 10¹⁸", "2.30 × 10¹⁹"):
        assert number in text
    grown = chart(app, "growth")
    assert grown["places_logarithmic"]
    assert [mark["place"] for mark in grown["marks"]] == [100, 3072, 131_072, 1_000_000]
    at = grown["labels"].index("3,072")
    assert [series["values"][at] for series in grown["series"]] == [4 * 3072**2 * 512] * 2
    assert all(low < high for low, high in pairwise(grown["places"]))
    assert "n^* = 2 \\cdot 512 + 2048 = 3{,}072 = 6\\, d" in "".join(element.value for element in app.latex)
    assert app.query_params["n"] == "100"


def test_the_lengths_are_those_of_the_sentence_until_they_are_changed(open_app: OpenApp) -> None:
    app = open_app("cost", lang="zh", model="en-fr", text=SENTENCE)
    trace = session.trace("en-fr", SENTENCE)
    assert (app.number_input(key="n").value, app.number_input(key="m").value) == (len(trace.source), len(trace.target))
    app.number_input(key="n").set_value(192).run()
    assert "n = d = 192：" in shown(app)
    app.number_input(key="n").set_value(777).run()
    assert not app.exception
    assert app.query_params["n"] == "777"
    assert "在 777 个词元处" in shown(app)
    app.selectbox(key="preset").select("big").run()
    assert "214,171,648" in shown(app)
    assert app.number_input(key="d_model").value == 1024
    assert "n" not in app.query_params  # another preset forgets what was changed


def test_heads_that_do_not_divide_the_width_are_told_and_the_rest_of_the_page_stays(open_app: OpenApp) -> None:
    app = open_app("cost", lang="en", model="en-fr", text=SENTENCE, preset="base", num_heads="7")
    assert "d_model = 512 cannot be split evenly into 7 heads" in shown(app)
    assert "LLaMA 2 7B" in shown(app)
    assert "Where attention overtakes" not in shown(app)
    app.number_input(key="num_heads").set_value(16).run()
    assert "paper's base, changed: 63,045,632 parameters." in shown(app)  # heads share the width
    assert "Where attention overtakes" in shown(app)


def test_figures_of_a_machine_are_checked_here(open_app: OpenApp) -> None:
    app = open_app("cost", lang="en", model="en-fr", text=SENTENCE, bandwidth="much")
    assert "much cannot be. Give" in shown(app)
    for figure, given, told in (
        ("bandwidth", "672", ""),
        ("fp32", "0", "0"),
        ("bf16", "-4", "-4"),
        ("fp8", "1e9", "1e9"),
    ):
        app.text_input(key=figure).set_value(given).run()
        assert (f"{told} cannot be. Give" in shown(app)) == bool(told)
        drawn = [one for one in app.get("bidi_component") if json.loads(one.proto.bytes)["name"] == "roof"]
        assert len(drawn) == (not told)
        if told:
            app.text_input(key=figure).set_value("100").run()
            assert "RTX 5070, changed" in shown(app)


def test_a_changed_machine_moves_the_edge_of_its_roof(open_app: OpenApp) -> None:
    app = open_app("cost", lang="en", model="en-fr", text=SENTENCE, machine="H100 SXM", bytes="1", bandwidth="1000")
    assert "the edge of the roof stands at 1979 FLOPs a byte" in shown(app)
    roof = chart(app, "roof")
    assert [series["label"] for series in roof["series"]][:3] == ["roof, fp32", "roof, bf16", "roof, fp8"]
    at = next(i for i, place in enumerate(roof["places"]) if place == pytest.approx(1979))
    assert roof["series"][2]["values"][at] == pytest.approx(1.979e15)
    app.selectbox(key="machine").select("T4").run()
    assert "T4 has no fp8" in shown(app)
    assert "bandwidth" not in app.query_params


def test_a_language_model_has_one_sequence(open_app: OpenApp) -> None:
    app = open_app("cost", lang="en", model="en-lm", text="The cat")
    trace, atlas = session.trace("en-lm", "The cat"), session.load("en-lm")
    given = len(atlas.given(trace))
    assert app.number_input(key="n").value == given
    assert app.number_input(key="m").value == len(trace.target) - given
    assert "N · 4 (n + m)² d" in shown(app)
    assert f"{sum(parameter.numel() for parameter in atlas.model.parameters()):,}" in shown(app)


@pytest.mark.parametrize("value", ["9" * 2000, "<b>☃", "-1"])
def test_a_link_with_anything_in_it_opens(open_app: OpenApp, value: str) -> None:
    names = ("preset", "family", "tie", "d_model", "num_heads", "n", "bytes", "machine", "bandwidth", "cache_length", "kernel")
    app = open_app("cost", lang="en", model="en-fr", text="<b>1E1</b> NaN", **dict.fromkeys(names, value))
    config = session.load("en-fr").config
    assert app.number_input(key="d_model").value == config.d_model
    assert "cannot be. Give" in shown(app)  # the memory's speed, which is a box of text
    assert "<b>1E1" not in said(app)


# ----- this machine


def lines(count: int, config: ModelConfig, wait: float = 0.0) -> list[str]:
    """A process that writes measurements that nobody took."""
    made = [
        {"kind": kind, "length": n, "milliseconds": n / 64, "bytes": n * 2**20, "flops": n * 10**6}
        for n in machine.lengths(config)
        for kind in machine.KINDS
    ]
    program = (
        f"import time\nfor line in {[json.dumps(one) for one in made[:count]]!r}:\n print(line, flush=True)\n time.sleep({wait})"
    )
    return [sys.executable, "-S", "-c", program]


def until(bench: Bench, config: ModelConfig, *states: str) -> Measuring:
    for _ in range(1000):
        if (found := bench.look(config)).state in states:
            return found
        time.sleep(0.02)
    raise AssertionError(found)


def test_one_measurement_at_a_time_and_each_is_kept() -> None:
    one, two = tiny.config(d_ff=40), tiny.config(d_ff=41)
    started = list[int]()

    def command(config: ModelConfig) -> list[str]:
        started.append(config.d_ff)
        return lines(99, config, wait=0.03)

    bench = Bench(command)
    assert bench.look(one).state == "idle"
    assert bench.ask(one).state == "running"
    waiting = bench.ask(two)
    assert (waiting.state, waiting.ahead) == ("waiting", 1)
    assert bench.ask(one).state == "running"
    found = until(bench, one, "done")
    assert found.share == 1
    assert len(found.found) == found.total == 3 * len(machine.lengths(one))
    assert bench.ask(two).state == "running"
    assert until(bench, two, "done").state == "done"
    assert bench.ask(one).state == "done"
    assert started == [40, 41]


def test_a_process_that_ends_early_or_writes_nonsense_has_failed_and_may_be_asked_again() -> None:
    config, commands = tiny.config(), list[list[str]]()
    bench = Bench(lambda layer: commands.pop(0))
    for command in (lines(2, config), [sys.executable, "-S", "-c", "print('[]')"], ["no such program"], lines(99, config)):
        commands.append(command)
        bench.ask(config)
        found = until(bench, config, "failed", "done")
    assert found.state == "done"
    assert json.loads(own_process(config)[-1])["d_model"] == config.d_model


def test_a_measurement_is_asked_for_awaited_and_shown(open_app: OpenApp, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(lambda layer: lines(99, layer))
    monkeypatch.setattr("app.views.cost_live.bench", lambda: bench)
    app = open_app("cost", lang="en", model="en-fr", text=SENTENCE, preset="base")
    app.button(key="cost_live_start").click().run()
    until(bench, paper_base(), "done")
    app.run()
    assert not app.exception
    text = shown(app)
    assert "Time is processor time" in text
    assert "cost_live_start" not in [button.key for button in app.button]
    time_chart = chart(app, "live_time")
    assert time_chart["places"] == list(machine.lengths(paper_base()))
    assert time_chart["series"][0]["values"] == [n / 64 for n in machine.lengths(paper_base())]
    by_formula = time_chart["series"][-1]["values"]
    assert by_formula == pytest.approx(
        [n * 10**6 / (64 * 10**6) for n in time_chart["places"]]
    )  # the made-up rate is one for all
    assert chart(app, "live_space")["series"][-1]["values"][0] == 8 * 32 * 32 * 4 / 2**20
    assert f"{8 * 512 * 512 * 4 / 2**20:.2f}" in text  # the weights of eight heads at 512


def test_a_layer_that_is_too_wide_is_not_measured(open_app: OpenApp) -> None:
    app = open_app("cost", lang="en", model="en-fr", text=SENTENCE, preset="base", d_model="4096")
    assert "A layer of width 4096 is too large" in shown(app)


# ----- numbers


def test_numbers_are_printed_with_their_units() -> None:
    assert [charts.scaled(value) for value in (0, 7, 999, 1000, 63_045_632, 9_995, 1e12)] == [
        "0",
        "7",
        "999",
        "1.00 k",
        "63.0 M",
        "10.0 k",
        "1.00 T",
    ]
    assert [charts.in_bytes(value) for value in (512, 2**19, 2**23, 2**35)] == ["512 B", "512 KiB", "8.00 MiB", "32.0 GiB"]
    assert [charts.duration(value) for value in (2e-6, 0.0125, 3, 600, 40_000, 302_400)] == [
        "2.00 µs", "12.5 ms", "3.00 s", "10.0 min", "11.1 h", "3.50 d",
    ]  # fmt: skip
    assert charts.power(3.283e18) == "3.28 × 10¹⁸"


def test_the_file_holds_the_counts() -> None:
    config = cost_shape.gpt_2_small()
    with np.load(io.BytesIO(charts.npz_of({"parameters": 7.0, "config.family": config.family, "lengths": (1, 2)}))) as found:
        assert found["parameters"] == 7
        assert found["config.family"] == "decoder-only"
        assert found["lengths"].tolist() == [1, 2]


def test_slips_are_what_their_names_say() -> None:
    base = paper_base()
    for name in wrong_costs.WRONG:
        right, wrong, times = wrong_costs.beside(base, name, 10, 10)
        assert times == wrong / right
    assert wrong_costs.beside(base, "untied", 10, 10)[1] == 63_045_632 + 2 * 37_000 * 512
    assert wrong_costs.beside(base, "macs", 10, 10)[2] == 0.5
    for written in (0, 1):  # the first token costs the same
        assert wrong_costs.beside(base, "no_cache", 10, written)[2] == 1
    assert wrong_costs.beside(base, "no_cache", 10, 200)[2] > 50
    shares = cost_curves.shares({"a": 1, "b": 3})
    assert shares == {"a": 25, "b": 75}


@pytest.mark.parametrize("sentence", [" ", "word " * 300])
def test_the_page_needs_no_sentence(open_app: OpenApp, sentence: str) -> None:
    app = open_app("cost", lang="en", model="en-fr", text=sentence)
    assert "n and m begin at 25 tokens" in said(app)
    assert app.number_input(key="n").value == app.number_input(key="m").value == 25
    assert not app.error


def test_gpt_2_with_its_positions_has_the_published_sum() -> None:
    assert cost.learned_positions(gpt_2_small(), GPT_2_POSITIONS) == (786_432, 124_439_808)


def test_only_a_memory_that_is_slow_lets_the_arithmetic_wait(open_app: OpenApp) -> None:
    assert "the arithmetic waits" in said(open_app("cost", lang="en", model="en-fr", text=SENTENCE))
    assert "the arithmetic waits" not in said(open_app("cost", lang="en", model="en-fr", text=SENTENCE, bandwidth="1000000"))
