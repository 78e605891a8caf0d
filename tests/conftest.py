"""What holds for every test: the shapes written on signatures are checked, and chance is seeded.

`JAXTYPING_DISABLE=1 make test` runs without the shape checks (and is then a little faster).
"""

import os
from typing import Any

import hypothesis
import jaxtyping
import pytest

if not jaxtyping.config.jaxtyping_disable:
    # Before anything imports model: its functions are then compiled with their annotations checked at each call.
    # An int is welcome where a float is written, as mypy and PEP 484 have it.
    shape_checks = jaxtyping.install_import_hook("model", "beartype.beartype(conf=beartype.BeartypeConf(is_pep484_tower=True))")

import torch

hypothesis.settings.register_profile("here", deadline=None, print_blob=True)
hypothesis.settings.register_profile("ci", deadline=None, print_blob=True, derandomize=True)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "here")


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> None:
    """Small tensors are quicker on one thread, and sums keep their order."""
    torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(20170612)  # the day the paper was posted


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever lies in tests/browser carries the mark `browser`, and runs last: what is quick to fail fails first."""
    for item in items:
        if "browser" in item.path.parts:
            item.add_marker("browser")
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)


@pytest.hookimpl(optionalhook=True)  # there is no such hook without pytest-xdist
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Of several processes one runs all that lies in tests/browser, with one server and one browser; the others go by file."""
    from xdist.scheduler import LoadScopeScheduling

    class OneBrowser(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.split("::", 1)[0]
            return "tests/browser" if file.startswith("tests/browser/") else file

    return OneBrowser(config, log)
