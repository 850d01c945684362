"""The Khronos glTF validator, run in Node, as a second opinion on what is written."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.formats.node import installed

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
    node, modules = installed(f"{PACKAGE}@{VERSION}")
    done = subprocess.run(
        [node, "-e", _PROGRAM, str(modules / PACKAGE)],
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


def complaints(folder: Path) -> dict[str, list[str]]:
    """Errors in what tests have written to a folder, by file; some file must be there."""
    files = sorted([*folder.glob("*.glb"), *folder.glob("*.gltf")])
    assert files
    found = {file.name: errors(report) for file, report in zip(files, validate(files), strict=True)}
    return {name: messages for name, messages in found.items() if messages}
