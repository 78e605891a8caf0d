"""Two processes and nginx for the whole run. A test that kills one leaves the next to start it again: ask for `cluster`."""

import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext

from tests.browser import application
from tests.cluster.cluster import SILENCE, Cluster, running
from tests.cluster.visitor import Visitor


@pytest.fixture(scope="session")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """The cluster; at its end no process may have logged an exception."""
    with running(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster
        for replica in cluster.replicas.values():
            said = replica.log.read_text(errors="replace")
            assert "Traceback" not in said, said[-6000:]


@pytest.fixture(scope="session")
def silent(started: Cluster) -> Iterator[Visitor]:
    """Someone who opened a page at the beginning, in the process that no test kills, and says nothing until the end."""
    visitor = Visitor(started.address, {"atlas_replica": "2"}).come("heads", lang="en", model="en-fr", text="I love you.")
    began = time.monotonic()
    yield visitor
    time.sleep(max(0, began + SILENCE + 2 - time.monotonic()))
    before = visitor.session
    visitor.run()
    assert (visitor.replica, visitor.session) == ("2", before), "a page that was left open for a while was cut off"
    visitor.leave()


@pytest.fixture
def cluster(started: Cluster, silent: Visitor) -> Cluster:
    return started.whole()


@pytest.fixture(scope="session")
def browser() -> Iterator[BrowserContext]:
    with application.launch() as context:
        yield context
