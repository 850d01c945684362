"""A folder for what the tests of one module write."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where this module's files go, for the last test to judge."""
    return tmp_path_factory.mktemp("written")
