"""The same springs elsewhere: three-vrm in Node, and NumPy vectorised over the crowd."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

STEP = 1 / 60
NODE_PACKAGES = ("three@0.187.0", "@pixiv/three-vrm-springbone@3.5.5")


class ThreeVrm:
    """A Node process that holds a crowd; None of it counts but the simulation itself.

    Raises:
        OSError: there is no Node, or its packages cannot be installed.
    """

    def __init__(self, rig: dict[str, Any]) -> None:
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
        node, npm = shutil.which("node", path=path), shutil.which("npm", path=path)
        if node is None or npm is None:
            raise OSError("Node is not installed")
        base = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
        prefix = base / "bunraku-benchmarks" / "three-vrm-springbone"
        if not (prefix / "node_modules" / "three").is_dir():
            prefix.mkdir(parents=True, exist_ok=True)
            command = [npm, "install", "--no-audit", "--no-fund", "--ignore-scripts"]
            environment = {**os.environ, "PATH": path}
            subprocess.run(
                [*command, "--prefix", str(prefix), *NODE_PACKAGES],
                check=True,
                capture_output=True,
                env=environment,
            )
        program = Path(__file__).with_suffix(".mjs")
        self._process = subprocess.Popen(
            [node, str(program), str(prefix / "node_modules")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._ask(json.dumps(rig))

    def run(self) -> np.ndarray:
        """Simulate once; the last rotations of the first member's joints."""
        return np.array(json.loads(self._ask("run"))["turns"])

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()

    def _ask(self, line: str) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        return self._process.stdout.readline()


def crowd_in_numpy(rig: dict[str, Any]) -> np.ndarray:
    """The last rotations (C, J, 4) of a crowd: joint by joint, all members at once."""
    members = rig["crowd"]
    parents, rest = rig["parents"], np.array(rig["translations"])
    joints, colliders = rig["joints"], rig["colliders"]
    joint_of = {joint["node"]: j for j, joint in enumerate(joints)}
    axes = [_unit(rest[joint["child"]]) for joint in joints]
    lengths = [np.linalg.norm(rest[joint["child"]]) for joint in joints]
    turns = np.tile([0.0, 0, 0, 1], (members, len(joints), 1))
    now = np.zeros((members, len(joints), 3))
    before = np.zeros_like(now)
    for frame, place in enumerate(rig["motion"]):
        worlds: list[tuple[np.ndarray, np.ndarray]] = []
        for node, parent in enumerate(parents):
            own = np.array(place) if node == 0 else rest[node]
            if parent < 0:
                head, above = np.tile(own, (members, 1)), np.tile([0.0, 0, 0, 1], (members, 1))
            else:
                origin, above = worlds[parent]
                head = origin + _rotate(above, own)
            j = joint_of.get(node)
            if j is None:
                worlds.append((head, above))
                continue
            still = _rotate(above, axes[j])
            if frame == 0:
                now[:, j] = before[:, j] = head + lengths[j] * still
            else:
                joint = joints[j]
                tail = now[:, j] + (1 - joint["drag"]) * (now[:, j] - before[:, j])
                tail += STEP * joint["stiffness"] * still
                tail[:, 1] -= STEP * joint["gravity"]
                tail = head + lengths[j] * _unit(tail - head)
                for shape in colliders:
                    tail = _pushed(shape, worlds, tail, joint["radius"], head, lengths[j])
                before[:, j], now[:, j] = now[:, j], tail
                turns[:, j] = _between(
                    axes[j], _rotate(above * [-1, -1, -1, 1], _unit(tail - head))
                )
            worlds.append((head, _multiply(above, turns[:, j])))
    return turns


def _pushed(shape: Any, worlds: Any, tail: Any, radius: float, head: Any, length: float) -> Any:
    origin, turn = worlds[shape["node"]]
    start = origin + _rotate(turn, np.array(shape["offset"]))
    way = tail - start
    if shape["tail"] is not None:
        along = origin + _rotate(turn, np.array(shape["tail"])) - start
        share = np.clip((way * along).sum(1) / (along * along).sum(1), 0, 1)
        way = way - share[:, None] * along
    far = np.linalg.norm(way, axis=1)
    depth = far - shape["radius"] - radius
    out = head + length * _unit(tail - (depth / far)[:, None] * way - head)
    return np.where(depth[:, None] < 0, out, tail)


def _unit(v: np.ndarray) -> Any:
    return v / np.linalg.norm(v, axis=-1, keepdims=True)


def _multiply(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    av, bv = a[:, :3], b[:, :3]
    vector = a[:, 3:] * bv + b[:, 3:] * av + np.cross(av, bv)
    return np.concatenate([vector, a[:, 3:] * b[:, 3:] - (av * bv).sum(1, keepdims=True)], 1)


def _rotate(q: np.ndarray, v: np.ndarray) -> Any:
    u = q[:, :3]
    v = np.broadcast_to(v, u.shape)
    return v + 2 * np.cross(u, np.cross(u, v) + q[:, 3:] * v)


def _between(a: np.ndarray, b: np.ndarray) -> Any:
    a = np.broadcast_to(a, b.shape)
    return _unit(np.concatenate([np.cross(a, b), 1 + (a * b).sum(1, keepdims=True)], 1))
