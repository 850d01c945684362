"""babylon-mmd's parsers, run in Node without a browser: what they see in a file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.formats.node import reports

PACKAGES = ("babylon-mmd@1.3.0",)
PROGRAM = Path(__file__).with_suffix(".mjs")


def seen(files: Iterable[Path]) -> list[dict[str, Any]]:
    """What babylon-mmd finds in each file, or its error; one Node process for all of them."""
    return reports(PROGRAM, PACKAGES, files)
