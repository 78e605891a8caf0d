"""The queue of trainings with fake processes, and one training of a few updates on the page."""

import io
import re
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app import session
from app.components.moments import unpack
from app.session.training import _trainings
from app.session.trainings import AWAY, PATIENCE, Trainings, reason
from model.practice.__main__ import STOP, main
from model.practice.order import Order
from tests.app.conftest import OpenApp, said


class Fake:
    """A process that ends when the test says so."""

    def __init__(self) -> None:
        self.code: int | None = None

    def poll(self) -> int | None:
        return self.code

    def kill(self) -> None:
        self.code = -9 if self.code is None else self.code

    def wait(self, timeout: float | None = None) -> int:
        assert self.code is not None
        return self.code


class Server:
    """Trainings whose processes, clock and sessions are in the test's hands."""

    def __init__(self, limit: int = 2) -> None:
        self.processes: dict[Path, Fake] = {}
        self.now = 0.0
        self.away: set[str] = set()
        self.trainings = Trainings(limit, self.start, lambda owner: owner not in self.away, lambda: self.now)

    def start(self, order: Order, folder: Path) -> Fake:
        return self.processes.setdefault(folder, Fake()) if self.processes.get(folder, Fake()).code is None else self.anew(folder)

    def anew(self, folder: Path) -> Fake:
        self.processes[folder] = Fake()
        return self.processes[folder]

    def state(self, owner: str) -> tuple[str, int]:
        found = self.trainings.look(owner)
        assert found is not None
        return found.state, found.place

    def end(self, owner: str, code: int) -> None:
        found = self.trainings.look(owner)
        assert found is not None
        self.processes[found.folder].code = code


def test_two_at_once_the_others_are_told_their_place() -> None:
    server = Server()
    for owner in "abcd":
        server.trainings.submit(owner, Order())
    assert [server.state(owner) for owner in "abcd"] == [("running", 0), ("running", 0), ("waiting", 1), ("waiting", 2)]
    server.trainings.stop("c")
    assert [server.state(owner) for owner in "cd"] == [("stopped", 0), ("waiting", 1)]
    server.end("a", 0)
    assert server.state("d") == ("running", 0)
    server.trainings.resume("c")
    assert server.state("c") == ("waiting", 1)
    assert sum(server.state(owner)[0] == "running" for owner in "abcd") == 2
    server.trainings.close()
    assert not server.trainings.folder.exists()


def test_one_training_a_session_a_new_one_replaces_it() -> None:
    server = Server(1)
    server.trainings.submit("a", Order())
    first = server.trainings.look("a")
    assert first is not None
    server.trainings.submit("a", Order(steps=20))
    second = server.trainings.look("a")
    assert second is not None
    assert second.order.steps == 20
    assert server.processes[first.folder].code == -9
    assert not first.folder.exists()
    server.trainings.close()


def test_stop_asks_first_and_kills_who_does_not_listen() -> None:
    server = Server()
    server.trainings.submit("a", Order())
    server.trainings.stop("a")
    found = server.trainings.look("a")
    assert found is not None
    assert found.state == "stopping"
    assert (found.folder / STOP).exists()
    server.now += PATIENCE + 1
    server.trainings.tick()
    assert server.state("a") == ("stopped", 0)
    server.trainings.resume("a")
    assert server.state("a") == ("running", 0)
    assert not (found.folder / STOP).exists()
    server.trainings.close()


def test_who_is_gone_for_long_leaves_nothing_behind() -> None:
    server = Server(1)
    server.trainings.submit("a", Order())
    server.trainings.submit("b", Order())
    found = server.trainings.look("a")
    assert found is not None
    home = server.trainings.home("a")
    server.away = {"a"}
    server.now += AWAY - 1
    assert server.state("b") == ("waiting", 1), "a lost connection may come back"
    server.now += 2
    assert server.state("b") == ("running", 0)
    assert server.processes[found.folder].code == -9
    assert server.trainings.look("a") is None
    assert not home.exists()
    server.trainings.close()


def test_a_killed_process_is_told_with_its_reason_and_can_go_on(tmp_path: Path) -> None:
    server = Server()
    server.trainings.submit("a", Order())
    server.end("a", -9)
    found = server.trainings.look("a")
    assert found is not None
    assert (found.state, found.reason) == ("failed", "SIGKILL")
    server.trainings.resume("a")
    assert server.state("a") == ("running", 0)
    server.trainings.close()
    server.trainings.submit("b", Order())
    assert server.trainings.look("b") is None, "nothing begins where the server stops"
    (tmp_path / "errors.txt").write_text("Traceback\nValueError: no room\n\n", encoding="utf-8")
    assert reason(1, tmp_path) == "ValueError: no room"


def maps(app: AppTest, name: str) -> list[dict[str, object]]:
    sent = [one.proto for one in app.get("bidi_component") if one.proto.component_name.endswith("moments")]
    return [header for header, _ in (unpack(proto.bytes) for proto in sent) if header["name"] == name]


def chosen(app: AppTest) -> str:
    name = app.query_params["model"]
    return name[0] if isinstance(name, list) else name


def at_once(order: Order, folder: Path) -> Fake:
    """Trains here and now; a process of its own is begun and stopped in tests/browser/test_training_live.py."""
    main(["--output", str(folder), "--quiet", *order.words()])
    ended = Fake()
    ended.code = 0
    return ended


def test_a_few_updates_on_the_page_and_the_result_in_the_sidebar(open_app: OpenApp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_trainings(), "start", at_once)
    app = open_app(
        "training", model="toy", lang="en", train_task="copy", train_d_model="16", train_num_heads="2", train_layers="1",
        train_steps="10", train_without="mask,nonsense",
    )  # fmt: skip
    (header,) = maps(app, "moments")
    assert header["source"] == ["the", "red", "cat", "sees", "a", "dog", "</s>"]
    assert header["links"] == [[1, 1], [2, 0], [3, 5], [5, 3]]
    app.session_state["training_command"] = True  # the box is filled when it is opened
    app.run()
    assert any("--task copy" in code.value and "--without mask" in code.value for code in app.code)
    app.button(key="training_begin").click().run()
    assert "Done: 10 updates" in said(app)
    (header,) = maps(app, "trained")
    assert header["steps"][-1] == 10  # type: ignore[index]
    app.button(key="training_open").click().run()
    assert not app.exception, app.exception
    name = chosen(app)
    assert name.startswith("own-copy-10-")
    assert name in app.selectbox(key="model").options[-1]
    other = open_app(model=name, lang="en")
    assert name in said(other), "told that there is no such model here"
    assert chosen(other) != name
    shutil.rmtree(app.session_state["atlas_own"][name])  # as when the visitor was away for long
    app.run()
    assert not app.exception, app.exception
    assert f"There is no model {name} here" in re.sub("<[^>]+>|\u2060", "", said(app))
    app.button(key="training_open").click().run()
    assert not app.exception, app.exception
    assert chosen(app).startswith("own-copy-10-")
    assert chosen(app) != name


def test_what_is_taken_away_is_a_whole_model(tmp_path: Path) -> None:
    for name in ("model.safetensors", "config.json", "tokenizer.json", "card.toml", "moments.safetensors"):
        (tmp_path / name).write_bytes(name.encode())
    names = zipfile.ZipFile(io.BytesIO(session.packed(tmp_path))).namelist()
    assert names == ["model/card.toml", "model/config.json", "model/model.safetensors", "model/tokenizer.json"]
    assert session.packed(tmp_path) == session.packed(tmp_path)


@pytest.fixture(autouse=True, scope="module")
def nothing_goes_on() -> Iterator[None]:
    yield
    _trainings().close()
    _trainings.clear()
