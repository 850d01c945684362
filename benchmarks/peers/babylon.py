"""babylon-mmd's runtime in Node, without a browser: a model and a motion, played."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

PACKAGES = ("babylon-mmd@1.3.0", "@babylonjs/core@9.35.0")


class BabylonMmd:
    """A Node process that has a figure and its motion in memory; loading them does not count.

    Raises:
        OSError: there is no Node, or its packages cannot be installed.
    """

    def __init__(self, model: Path, motion: Path) -> None:
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
        node, npm = shutil.which("node", path=path), shutil.which("npm", path=path)
        if node is None or npm is None:
            raise OSError("Node is not installed")
        base = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
        prefix = base / "bunraku-benchmarks" / "babylon-mmd"
        if not all(
            (prefix / "node_modules" / name).is_dir() for name in ("babylon-mmd", "@babylonjs")
        ):
            prefix.mkdir(parents=True, exist_ok=True)
            options = ["--no-audit", "--no-fund", "--ignore-scripts", "--legacy-peer-deps"]
            try:
                subprocess.run(
                    [npm, "install", *options, "--prefix", str(prefix), *PACKAGES],
                    check=True,
                    capture_output=True,
                    env={**os.environ, "PATH": path},
                )
            except subprocess.CalledProcessError as error:
                raise OSError(f"npm: {error}") from None
        self._process = subprocess.Popen(
            [
                node,
                str(Path(__file__).with_suffix(".mjs")),
                *map(str, (prefix / "node_modules", model, motion)),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def play(self, frames: int) -> tuple[float, np.ndarray]:
        """Seconds of processor time for so many frames, and (N, 4, 4) where bones are at last."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{frames}\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            if line.startswith("{"):
                said: dict[str, Any] = json.loads(line)
                return said["seconds"], np.array(said["world"]).reshape(-1, 4, 4).swapaxes(1, 2)
        raise OSError("Node ended early")

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
