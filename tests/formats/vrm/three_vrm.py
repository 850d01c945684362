"""three-vrm, run in Node without a browser: what it sees in a file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.formats.node import reports

PACKAGES = ("three@0.187.0", "@pixiv/three-vrm@3.5.5", "@pixiv/three-vrm-animation@3.5.5")
PROGRAM = Path(__file__).with_suffix(".mjs")


def seen(files: Iterable[Path]) -> list[dict[str, Any]]:
    """What three-vrm finds in each file, or its error; one Node process for all of them."""
    return reports(PROGRAM, PACKAGES, files)
