"""What the server gives for a file of a page: this page's numbers, the code of our own pictures, and nothing else."""

import hashlib
import io

import numpy as np
import pytest

from app.components.take_away import LABELS, unpack
from app.session import version, weights_digest
from app.text import section, use
from app.views import take_away
from model.checkpoint import SHIPPED
from tests.app import conftest
from tests.app.conftest import OpenApp


def test_a_page_says_what_its_pack_is(open_app: OpenApp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conftest, "FRAME", ())
    app = open_app("heads", lang="zh", model="en-fr", text="The red car.")
    header, content = unpack(conftest.payload(app, "take_away"))
    digest = hashlib.sha256((SHIPPED / "en-fr" / "model.safetensors").read_bytes()).hexdigest()
    lines = "\n".join(header["lines"])  # type: ignore[arg-type]
    assert digest == weights_digest("en-fr")
    assert digest in lines
    assert version() in lines
    assert header["language"] == "zh"
    assert header["page"] == "heads"
    assert header["numbers"]
    assert content == b""
    assert set(section("take_away")) == set(LABELS)


def test_whatever_a_browser_asks_for_only_our_own_is_given() -> None:
    use("en")
    file = io.BytesIO()
    np.savez(file, weights=np.eye(2))

    def ask(content: object = file.getvalue, **asked: object) -> take_away.Answer:
        return take_away._answer({"number": "1", **asked}, "Heads", "en", content)  # type: ignore[arg-type]

    assert ask(kind="zip").content == file.getvalue()
    page = (ask(kind="html", components=["../../../etc/passwd", "matrices", 7, "no_such"]).content or b"").decode()
    assert '"matrices": {' in page
    assert "etc/passwd" not in page
    assert "no_such" not in page
    for asked in ({}, {"kind": "html"}, {"kind": "html", "components": ["shared"]}, {"kind": "html", "components": "matrices"}):
        assert ask(**asked).content is None
    assert ask(None, kind="zip").content is None


def test_numbers_that_cannot_be_made_are_an_answer_too(caplog: pytest.LogCaptureFixture) -> None:
    def broken() -> bytes:
        raise MemoryError

    answer = take_away._answer({"number": "n" * 500, "kind": "zip"}, "Heads", "en", broken)
    assert answer.content is None
    assert len(answer.number) == 80
    assert "could not be made" in caplog.text
