"""What holds for every test: chance is seeded; and where a model is tested, the shapes written on signatures are checked.

`JAXTYPING_DISABLE=1 make test` runs without the shape checks (and is then a little faster).
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import jaxtyping
import pytest

from tests import shapes

if not jaxtyping.config.jaxtyping_disable:
    # Before anything imports model: its functions are then compiled with their annotations checked at their first calls.
    jaxtyping.jaxtyped = shapes.first_calls_of_each_test(jaxtyping.jaxtyped)
    shape_checks = jaxtyping.install_import_hook("model", f"{shapes.__name__}.checked")

import torch

hypothesis.settings.register_profile("here", deadline=None, print_blob=True)
hypothesis.settings.register_profile("ci", deadline=None, print_blob=True, derandomize=True)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "here")


@pytest.fixture(scope="module", autouse=True)
def shapes_where_models_are_tested(request: pytest.FixtureRequest) -> Iterator[None]:
    """The tests of the app run the same functions, with what tests/model has seen checked: there it would only take time."""
    wanted = {"model", "alignment"} & set(request.path.parts[-3:]) and "formats" not in request.path.parts  # where no tensor is
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jaxtyping.config, "jaxtyping_disable", jaxtyping.config.jaxtyping_disable or not wanted)
        yield


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> None:
    """Small tensors are quicker on one thread, and sums keep their order."""
    torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def checks_begin_again() -> None:
    shapes.calls.clear()


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(20170612)  # the day the paper was posted


@pytest.fixture(scope="session")
def server_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("server") / "server.log"


@pytest.fixture(scope="session")
def server(server_log: Path) -> Iterator[str]:
    """The address of the running app, one for the whole run. An exception anywhere in it fails the run at its end."""
    from tests.browser import application

    with application.serve(server_log) as address:
        yield address
    log = server_log.read_text(errors="replace")
    if "Traceback" in log:
        pytest.fail(f"the server logged an exception:\n{log[-6000:]}", pytrace=False)


SCOPE = "tests/browser"
WITH_SERVER = ("browser", "security")  # folders whose tests use the running app


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever lies in tests/browser carries the mark `browser`. What uses the running app runs last in a single process, hostile
    input at the very end: what is quick to fail fails first."""
    for item in items:
        if "browser" in item.path.parts:
            item.add_marker("browser")
    items.sort(key=lambda item: [folder in item.path.parts for folder in reversed(WITH_SERVER)])


@pytest.hookimpl(optionalhook=True)  # there is no such hook without pytest-xdist
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Of several processes one runs all that uses the running app, with one server and one browser; the others go by file.

    That one begins with it, as it takes as long as all the others together.
    """
    from xdist.scheduler import LoadScopeScheduling

    class OneBrowser(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.split("::", 1)[0]
            return SCOPE if file.startswith(tuple(f"tests/{folder}/" for folder in WITH_SERVER)) else file

        def _assign_work_unit(self, node: Any) -> None:
            if SCOPE in self.workqueue:
                self.workqueue.move_to_end(SCOPE, last=False)
            super()._assign_work_unit(node)

    return OneBrowser(config, log)
