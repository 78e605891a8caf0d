"""Connections over websockets: from elsewhere, too large, malformed, too many, too often."""

import re
import secrets
from collections.abc import Iterator
from uuid import uuid4

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime import memory_media_file_storage
from websockets.exceptions import InvalidStatus

from tests.security.client import Visitor, ask


@pytest.fixture
def visitor(server: str) -> Iterator[Visitor]:
    with Visitor(server) as found:
        yield found


def lives(visitor: Visitor) -> bool:
    return "atlas-prose" in visitor.run("model=toy&lang=en", "heads").html


@pytest.mark.parametrize(
    "origin",
    ["https://example.org", "http://127.0.0.1:1", "http://localhost", "null", "http://[", "https://127.0.0.1.example.org"],
)
def test_another_site_cannot_connect(server: str, origin: str) -> None:
    with pytest.raises(InvalidStatus) as refused, Visitor(server, origin=origin):
        pass
    assert refused.value.response.status_code == 403


def test_there_is_one_address_to_connect_to(server: str) -> None:
    assert ask(server, "GET", "/_stcore/stream")[0] in (200, 404)  # the page, or nothing: no websocket without asking for one


@pytest.mark.parametrize(
    ("data", "code"),
    [
        ("text", 1003),
        (b"\xff" * 200, 1002),
        (secrets.token_bytes(3000) + b"\xff\xff\xff\xff\xff", 1002),
        (b"\0" * 13_000_000, 1009),
    ],
    ids=["text", "no-message", "noise", "large"],
)  # fmt: skip
def test_what_no_page_sends_ends_the_connection(visitor: Visitor, data: bytes | str, code: int) -> None:
    visitor.run()
    visitor.send(data)
    assert visitor.closed_with() == code


def test_an_address_that_no_browser_has_ends_the_connection(visitor: Visitor) -> None:
    message = BackMsg()
    message.rerun_script.query_string = "text=" + "a" * 100_000
    visitor.send(message.SerializeToString())
    assert visitor.closed_with() == 1009


def test_numbers_that_are_none_end_the_connection(visitor: Visitor) -> None:
    message = BackMsg()
    message.rerun_script.widget_states.widgets.add(id="x", double_value=float("nan"))
    visitor.send(message.SerializeToString())
    assert visitor.closed_with() == 1002


def test_orders_to_the_server_are_not_heard(visitor: Visitor) -> None:
    """No visitor empties the caches of all, asks for the state of the source code, stops the server, or drops the connection."""
    for name in ("clear_cache", "load_git_info", "debug_shutdown_runtime", "debug_disconnect_websocket", "set_run_on_save"):
        message = BackMsg()
        setattr(message, name, True)
        visitor.send(message.SerializeToString())
    message = BackMsg()
    message.backend_operation_request.install_skills.SetInParent()  # writes files beside the app
    visitor.send(message.SerializeToString())
    visitor.send(b"")
    told = visitor.run()
    assert not {"git_info_changed", "backend_operation_response"} & {one.WhichOneof("type") for one in told.messages}
    assert not told.broken


def test_a_session_that_is_guessed_is_a_new_one(server: str, visitor: Visitor) -> None:
    """The name of a session is 122 random bits, known to its tab alone, which comes back with it after a broken connection."""
    visitor.run("model=toy&lang=en", "heads")
    for guess in (str(uuid4()), visitor.session[:-1] + "x", "..%2f..%2fetc"):
        with Visitor(server, subprotocols=["streamlit", "x", guess]) as other:
            other.run()
            assert other.session not in ("", guess, visitor.session)


def test_files_of_another_session_cannot_be_had(server: str, visitor: Visitor) -> None:
    """Neither in the other's name nor by the address that Streamlit would give to such a content."""
    told = visitor.run("model=toy&lang=en", "heads")
    waiting = [one.download_button.deferred_file_id for one in told.elements if one.WhichOneof("type") == "download_button"]
    with Visitor(server) as other:
        other.run()
        assert other.address_of_file(waiting[0], session=visitor.session) == ""
    assert ask(server, "GET", f"/media/{waiting[0]}")[0] == 404
    address = visitor.address_of_file(waiting[0])
    status, headers, content = ask(server, "GET", address)
    assert status == 200
    assert headers["content-disposition"].startswith("attachment")
    assert headers["cache-control"] == "private, no-store"
    name = re.findall('filename="(.+)"', headers["content-disposition"])[0]
    guess = memory_media_file_storage._calculate_file_id(content, headers["content-type"], name)
    assert ask(server, "GET", f"/media/{guess}.bin")[0] == 404
    assert b"<title>Streamlit" in ask(server, "GET", f"/_stcore/upload_file/{visitor.session}/x")[2]  # the page, and no file


def test_too_many_texts_are_put_off_and_nothing_is_lost(visitor: Visitor) -> None:
    """Twenty pasted texts a minute; the page says when to go on, in the visitor's language, and what was there stays."""
    told = visitor.run("lang=zh", "studio")
    paste, read = (next(id for id in told.widgets if id.endswith(f"-{name}")) for name in ("studio_paste", "studio_read"))
    turns = 0
    while "每位访客每分钟最多读取 20 个文件或粘贴的文本" not in told.html:
        turns += 1
        assert turns < 60
        text = WidgetState(id=paste, string_value=f"I see {turns}\tje vois {turns}\n")
        told = visitor.run("lang=zh", "studio", text, WidgetState(id=read, trigger_value=True))
    assert turns > 20
    assert any(id.endswith("-studio_start") for id in told.widgets)  # the last one that was read is still there
    assert lives(visitor)


def test_the_server_is_healthy_after_all_this(server: str) -> None:
    assert ask(server, "GET", "/_stcore/health")[0] == 200
    with Visitor(server) as visitor:
        assert lives(visitor)
