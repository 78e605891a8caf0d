"""The tiny translators of tests/model, for alignment."""

from tests.model.conftest import characters, quick, shared, translator

__all__ = ["characters", "quick", "shared", "translator"]
