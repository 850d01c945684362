"""babylon-mmd's parsers, run in Node without a browser: what they see in a file."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.formats.node import installed

PACKAGES = ("babylon-mmd@1.3.0",)
PROGRAM = Path(__file__).with_suffix(".mjs")


def seen(files: Iterable[Path]) -> list[dict[str, Any]]:
    """What babylon-mmd finds in each file, or its error; one Node process for all of them."""
    node, modules = installed(*PACKAGES)
    done = subprocess.run(
        [node, str(PROGRAM), str(modules)],
        input=json.dumps([str(file) for file in files]),
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    reports: list[dict[str, Any]] = json.loads(done.stdout)
    return reports
