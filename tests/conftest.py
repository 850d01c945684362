"""Where the shared corpus and the golden data are found."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"


def shared_folder(name: str) -> Path | None:
    """`$BUNRAKU_CORPUS/name`, else `../shared/name` beside the repository, else None."""
    root = Path(os.environ.get("BUNRAKU_CORPUS", SHARED))
    return root / name if (root / name).is_dir() else None


def _require(name: str) -> Path:
    folder = shared_folder(name)
    if folder is None:
        pytest.skip(f"no {name}: set BUNRAKU_CORPUS to a folder that holds it")
    return folder


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of real files."""
    return _require("corpus")


@pytest.fixture(scope="session")
def golden() -> Path:
    """The folder of results that independent engines computed."""
    return _require("golden")
