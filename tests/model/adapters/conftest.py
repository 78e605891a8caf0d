"""Folders of every family, each made once for all tests here."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
import torch

from tests.model.adapters.tiny_hugging_face import FAMILIES, RELATIVES


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder of a family by its name. Nobody writes into it."""

    @cache
    def one(family: str) -> Path:
        path = tmp_path_factory.mktemp("hugging_face") / family
        path.mkdir()
        torch.manual_seed(5)
        {**FAMILIES, **RELATIVES}[family](path)
        return path

    return one
