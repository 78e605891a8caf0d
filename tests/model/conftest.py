"""Two tiny translators with random weights: no test of behaviour depends on what a trained model has learned."""

import jaxtyping
import pytest

from model import Translator, load
from tests.model import tiny


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Translator:
    """One BPE vocabulary, everything tied, sinusoidal positions, post-norm: as en-fr."""
    folder = tmp_path_factory.mktemp("models") / "shared"
    tiny.save_checkpoint(folder)
    return load(folder)


@pytest.fixture(scope="session")
def characters(tmp_path_factory: pytest.TempPathFactory) -> Translator:
    """BPE to characters, rotary positions, pre-norm, GELU."""
    folder = tmp_path_factory.mktemp("models") / "characters"
    tiny.save_checkpoint(folder, shared=False, positions="rotary", norm="pre", activation="gelu", seed=3)
    return load(folder)


@pytest.fixture(params=["shared", "characters"])
def translator(request: pytest.FixtureRequest) -> Translator:
    """Each of the two in turn."""
    made: Translator = request.getfixturevalue(request.param)
    return made


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shapes are not checked at every call: for tests of many steps, each of which others check."""
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)
