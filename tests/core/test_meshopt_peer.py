"""Streams that the meshoptimizer package packs, and what it makes of them itself.

Needs node and npm (they come with the test extra) and, once, the network: the package is kept in
`~/.cache/bunraku-tests`. Skipped without them, unless BUNRAKU_REQUIRE_NODE=1.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest

from bunraku._core import meshopt

PACKAGE = "meshoptimizer@1.3.0"
CACHE = Path.home() / ".cache/bunraku-tests/meshoptimizer"
SCRIPT = Path(__file__).with_name("meshopt_peer.mjs")

Job = dict[str, Any]


def tool(name: str) -> str | None:
    beside_python = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    return shutil.which(name, path=beside_python)


def give_up(reason: str) -> NoReturn:
    if os.environ.get("BUNRAKU_REQUIRE_NODE") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="module")
def package() -> Path:
    """The folder of the installed package."""
    if tool("node") is None:
        give_up("no node: install the test extra")
    folder = CACHE / "node_modules" / "meshoptimizer"
    wanted = PACKAGE.split("@")[1]
    manifest = folder / "package.json"
    if not manifest.exists() or json.loads(manifest.read_text())["version"] != wanted:
        npm = tool("npm")
        if npm is None:
            give_up(f"no npm to install {PACKAGE} with")
        CACHE.mkdir(parents=True, exist_ok=True)
        options = ["--ignore-scripts", "--no-audit", "--fetch-retries=0", "--prefix", str(CACHE)]
        try:
            subprocess.run(
                [npm, "install", *options, PACKAGE], capture_output=True, timeout=60, check=True
            )
        except (subprocess.SubprocessError, OSError) as error:
            give_up(f"npm cannot install {PACKAGE}: {error}")
    return folder


def peer(package: Path, jobs: list[Job]) -> list[tuple[np.ndarray, np.ndarray]]:
    """For each job the stream the package packs, and the elements it decodes from it."""
    text = json.dumps(
        [job | {"source": base64.b64encode(job["source"].tobytes()).decode()} for job in jobs]
    )
    node = tool("node")
    assert node is not None
    done = subprocess.run(
        [node, str(SCRIPT), str(package)], input=text, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    results = [
        {key: np.frombuffer(base64.b64decode(value), np.uint8) for key, value in result.items()}
        for result in json.loads(done.stdout)
    ]
    return [(result["stream"], result["decoded"]) for result in results]


def walk(rng: np.random.Generator, count: int, stride: int, kind: int) -> np.ndarray:
    if kind == 0:
        step = 2 ** rng.integers(0, 8)
        return np.cumsum(rng.integers(-step, step, (count, stride)), 0).astype(np.uint8)
    if kind == 1:
        steps = rng.integers(-300, 300, (count, stride // 2))
        return np.cumsum(steps, 0).astype(np.uint16).view(np.uint8)
    if kind == 2:
        return np.cumsum(rng.normal(size=(count, stride // 4)), 0).astype(np.float32).view(np.uint8)
    if kind == 3:
        noise = rng.integers(0, 256, (count, stride))
        return np.where(rng.random((count, stride)) < 0.05, noise, 0).astype(np.uint8)
    # floats that share few mantissa bits: the encoder rotates such words
    return (
        rng.integers(0, 2**10, (count, stride // 4)).astype(np.float32).view(np.uint32) >> 3
    ).view(np.uint8)


def test_attributes(package: Path) -> None:
    rng = np.random.default_rng(2)
    jobs: list[Job] = []
    for i in range(1600):
        stride = int(rng.choice([4, 8, 12, 16, 20, 32, 64, 100, 256]))
        count = int(rng.choice([1, 2, 5, 15, 16, 17, 31, 33, 100, 255, 256, 257]))
        source = walk(rng, count, stride, i % 5)
        jobs.append({"mode": "ATTRIBUTES", "count": count, "stride": stride, "source": source})
        jobs[-1] |= {"version": i // 5 % 2, "level": i // 10 % 4}
    modes: Counter[int] = Counter()
    for job, (stream, decoded) in zip(jobs, peer(package, jobs), strict=True):
        count, stride = job["count"], job["stride"]
        assert np.array_equal(decoded, job["source"].reshape(-1))
        assert np.array_equal(meshopt.decode_vertex(stream, count, stride), decoded)
        if job["version"] == 1:
            modes.update((stream[-(stride // 4) :] & 15).tolist())
    assert set(modes) == {0, 1, 2}


def index_lists(rng: np.random.Generator, i: int) -> np.ndarray:
    count = int(rng.choice([3, 6, 30, 300, 999]))
    if i % 3 == 0:
        return rng.integers(0, rng.choice([5, 20, 200, 60000]), count)
    if i % 3 == 1:
        return np.abs(np.cumsum(rng.integers(-3, 5, count)))
    width = int(rng.integers(2, 12))
    square = np.array([0, 1, width, width, 1, width + 1])
    corners = np.arange(width * width).reshape(width, width)[:-1, :-1].reshape(-1, 1)
    once = (corners + square).reshape(-1)
    return np.concatenate([once, once]) if i % 2 else once


@pytest.mark.parametrize("mode", ["TRIANGLES", "INDICES"])
def test_index_lists(package: Path, mode: str) -> None:
    rng = np.random.default_rng(3)
    decode = {"TRIANGLES": meshopt.decode_triangles, "INDICES": meshopt.decode_indices}[mode]
    jobs: list[Job] = []
    for i in range(900):
        size = 2 if i // 3 % 2 else 4
        source = index_lists(rng, i).astype(f"<u{size}")
        jobs.append({"mode": mode, "count": len(source), "stride": size, "source": source})
    for job, (stream, decoded) in zip(jobs, peer(package, jobs), strict=True):
        assert np.array_equal(decode(stream, job["count"], job["stride"]), decoded)


def unit(v: np.ndarray) -> np.ndarray:
    return np.asarray(v / np.linalg.norm(v, axis=1, keepdims=True))


def floats(rng: np.random.Generator, name: str, count: int) -> np.ndarray:
    """What the package quantises for a filter, one row for each element."""
    if name == "OCTAHEDRAL":
        return np.hstack([unit(rng.normal(size=(count, 3))), rng.choice([-1, 1], (count, 1))])
    if name == "QUATERNION":
        return unit(rng.normal(size=(count, 4)))
    if name == "EXPONENTIAL":
        return rng.normal(size=(count, 3)) * 10.0 ** rng.integers(-20, 20, (count, 3))
    return rng.random((count, 4))


FILTERS = [
    ("OCTAHEDRAL", 4, np.int8, range(2, 9)),
    ("OCTAHEDRAL", 8, np.int16, range(2, 17)),
    ("QUATERNION", 8, np.int16, range(4, 17)),
    ("EXPONENTIAL", 12, np.float32, range(1, 25)),
    ("COLOR", 4, np.uint8, range(2, 9)),
    ("COLOR", 8, np.uint16, range(2, 17)),
]


@pytest.mark.parametrize(("name", "stride", "kind", "bits"), FILTERS)
def test_filters(package: Path, name: str, stride: int, kind: type, bits: range) -> None:
    """The specification leaves one unit in the last place free; the package's SIMD code uses it."""
    rng = np.random.default_rng(stride)
    count = 1000
    jobs: list[Job] = []
    for width in bits:
        source = floats(rng, name, count)
        jobs.append({"mode": "ATTRIBUTES", "filter": name, "count": count, "stride": stride})
        jobs[-1] |= {"version": 1, "level": 2, "bits": width, "source": source.astype(np.float32)}
    different = total = 0
    for stream, decoded in peer(package, jobs):
        ours = meshopt.decode_vertex(stream, count, stride)
        meshopt.apply_filter(ours, count, stride, name)
        a, b = ours.view(kind).astype(float), decoded.view(kind).astype(float)
        assert np.abs(a - b).max() <= (0 if name == "EXPONENTIAL" else 1)
        different += int(np.sum(a != b))
        total += a.size
    assert different <= total / 500  # 0.1 % in version 1.3
