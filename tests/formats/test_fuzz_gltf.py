"""Broken files: each gives a character or a clear error, soon, and within the memory promised.

BUNRAKU_FUZZ sets how many mutations are tried; each is made from its number alone, so a
failure is repeated by its number.
"""

from __future__ import annotations

import json
import os
import random
import re
import struct
import time
import tracemalloc
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bunraku.errors import BunrakuError
from bunraku.formats.gltf import (
    GltfFile,
    character_from_gltf,
    gltf_from_character,
    read_gltf,
    write_gltf,
)
from bunraku.formats.registry import save
from tests.conftest import shared_folder
from tests.formats.sketch import Sketch, glb, skinned, triangle
from tests.formats.test_gltf_document import whole

COUNT = int(os.environ.get("BUNRAKU_FUZZ", "600"))
SECONDS = 10
LARGEST_SEED = 24_000

NUMBERS: list[Any] = [0, 1, 2, 3, 4, 5, 7, 8, 255, 256, 4096, 65535, 65536, 2**24, 10**9]
NUMBERS += [-1, -(2**31), 2**31 - 1, 2**31, 2**32 - 1, 2**53, 2**63, 10**30, 0.5, -0.0, 1e-320]
NUMBERS += [1e38, 1e308]
VALUES: list[Any] = [*NUMBERS, None, True, "", "x", [], {}, [0], [[]], {"a": {}}, "SCALAR", "MAT4"]
FLOATS = [np.nan, np.inf, -np.inf, 0.0, -1.0, 1e38, -1e38, 1e-45, 3e9]


def seeds() -> list[tuple[dict[str, Any], bytes]]:
    """JSON trees and buffers of small files: hand-made ones, and the corpus where it is."""
    tree = whole()
    data = tree.pop("_data")
    found = [(tree, data)]
    for sketch in (triangle(), skinned([[0.5, 0.25, 0.25, 0]] * 3)):
        found.append((sketch.finished(), bytes(sketch.data)))
    corpus = shared_folder("corpus")
    if corpus is None:
        return found
    paths = [
        path
        for suffix in ("*.glb", "*.gltf", "*.vrm", "*.vrma")
        for path in sorted(corpus.rglob(suffix))
        if path.stat().st_size < LARGEST_SEED
    ]
    for path in paths:
        try:
            file = read_gltf(path)
        except BunrakuError:
            continue
        if sum(map(len, file.buffers)) < 2 * LARGEST_SEED and len(file.buffers) < 2:
            tree = json.loads(json.dumps(file.json))
            for buffer in tree.get("buffers", []):
                buffer.pop("uri", None)
            found.append((tree, bytes(file.buffers[0]) if file.buffers else b""))
    return found


def mutate(rng: random.Random, tree: dict[str, Any], data: bytes) -> bytes:
    kind = rng.choice(["tree", "tree", "number", "number", "data", "bits", "truncate", "header"])
    if kind == "tree":
        tree = json.loads(json.dumps(tree))
        for _ in range(rng.choice([1, 1, 2, 4])):
            mutate_tree(rng, tree)
    if kind == "data" and data:
        broken = bytearray(data)
        for _ in range(rng.choice([1, 4, 16])):
            at = rng.randrange(0, max(1, len(data) - 4), 4)
            broken[at : at + 4] = struct.pack("<f", rng.choice(FLOATS))
        data = bytes(broken)
    text = json.dumps(tree)
    if kind == "number":
        spots = list(re.finditer(r"(?<=[\[:, ])-?\d[\d.eE+-]*", text))
        for spot in rng.sample(spots, min(len(spots), rng.choice([1, 1, 2]))):
            number = json.dumps(rng.choice(NUMBERS)).ljust(spot.end() - spot.start())
            text = text[: spot.start()] + number[: spot.end() - spot.start()] + text[spot.end() :]
            if rng.random() < 0.5:
                break
    whole = bytearray(glb(text.encode(), data or None))
    if kind == "bits":
        for _ in range(rng.choice([1, 2, 8, 64])):
            whole[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
    if kind == "truncate":
        del whole[rng.randrange(len(whole)) :]
        if rng.random() < 0.5 and len(whole) >= 12:
            whole[8:12] = struct.pack("<I", len(whole))
    if kind == "header":
        at = rng.choice([0, 4, 8, 12, 16])
        whole[at : at + 4] = struct.pack("<I", rng.choice([0, 1, 4, 20, 2**31, 2**32 - 1]))
    return bytes(whole)


def mutate_tree(rng: random.Random, tree: dict[str, Any]) -> None:
    """Replace, remove, copy or exchange one value anywhere in the tree."""
    spots: list[tuple[Any, Any]] = []
    stack: list[Any] = [tree]
    while stack:
        holder = stack.pop()
        keys = list(holder) if isinstance(holder, dict) else range(len(holder))
        for key in keys:
            spots.append((holder, key))
            if isinstance(holder[key], dict | list):
                stack.append(holder[key])
    if not spots:
        return
    holder, key = rng.choice(spots)
    other, other_key = rng.choice(spots)
    action = rng.random()
    if action < 0.5:
        holder[key] = rng.choice(VALUES)
    elif action < 0.7:
        del holder[key]
    elif action < 0.9:
        holder[key] = json.loads(json.dumps(other[other_key]))
    elif isinstance(holder, list):
        holder *= rng.choice([2, 50])


def check(data: bytes, label: str) -> str:
    """Read the bytes as a character; what must never happen fails the test."""
    tracemalloc.start()
    start, message = time.process_time(), "fuzz.glb: "
    try:
        character = character_from_gltf(read_gltf(data, name="fuzz.glb"))
        outcome = "character"
    except BunrakuError as error:
        outcome, message = type(error).__name__, str(error)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert time.process_time() - start < SECONDS, f"{label}: {time.process_time() - start:.1f} s"
    assert peak < 64 * len(data) + 16 * 2**20, f"{label}: {peak} bytes for {len(data)}"
    assert message.startswith("fuzz.glb: "), f"{label}: no file in {message}"
    assert len(message) < 1000, f"{label}: {len(message)} characters"
    if outcome == "character":
        with suppress(BunrakuError):  # numbers near the end of their range may not be writable
            gltf_from_character(replace(character, document=None))
    return outcome


def test_mutated_files():
    files = seeds()
    outcomes: dict[str, int] = {}
    for number in range(COUNT):
        rng = random.Random(number)
        tree, data = rng.choice(files)
        broken = mutate(rng, tree, data)
        try:
            outcome = check(broken, f"mutation {number}")
        except AssertionError:
            raise
        except Exception as error:
            raise AssertionError(f"mutation {number}: {type(error).__name__}: {error}") from error
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
    # both ends are reached: the mutations are neither harmless nor hopeless
    assert outcomes.get("character", 0) > COUNT // 20
    assert outcomes.get("FormatError", 0) > COUNT // 20


def bomb_of_accessors(count: int) -> Sketch:
    """Every primitive claims the same data through accessors of its own."""
    sketch = Sketch(nodes=[{"mesh": 0}], scenes=[{"nodes": [0]}])
    view = sketch.view(b"\1" * 60_000, byteStride=4)
    primitives = []
    for i in range(count):
        sketch.accessor(
            bufferView=view, byteOffset=0, componentType=5121, count=14_999 - i % 2, type="VEC3"
        )
        primitives.append({"attributes": {"POSITION": i}, "mode": 5})
    sketch.tree["meshes"] = [{"primitives": primitives}]
    sketch.tree["extensionsUsed"] = sketch.tree["extensionsRequired"] = ["KHR_mesh_quantization"]
    return sketch


def bomb_of_parts(count: int) -> Sketch:
    """Every primitive walks the same long list of indices."""
    sketch = triangle()
    indices = sketch.add(np.zeros(60_000), "u1")
    primitive = sketch.tree["meshes"][0]["primitives"][0]
    primitive |= {"indices": indices, "mode": 5}
    sketch.tree["meshes"][0]["primitives"] = [primitive] * count
    return sketch


def bomb_of_zeros() -> Sketch:
    sketch = triangle()
    sketch.tree["accessors"][0].pop("bufferView")
    sketch.tree["accessors"][0]["count"] = 10**9
    return sketch


def bomb_of_targets(count: int) -> Sketch:
    """Sparse targets over a vertex count that only zeros back."""
    sketch = Sketch(nodes=[{"mesh": 0}], scenes=[{"nodes": [0]}])
    indices, values = sketch.view(b"\0"), sketch.view(b"\0" * 12)
    sparse = {
        "count": 1,
        "indices": {"bufferView": indices, "componentType": 5121},
        "values": {"bufferView": values},
    }
    sketch.accessor(componentType=5126, count=100_000, type="VEC3")
    for _ in range(count):
        sketch.accessor(componentType=5126, count=100_000, type="VEC3", sparse=sparse)
    targets = [{"POSITION": 1 + i, "NORMAL": 1 + i} for i in range(count)]
    attributes = {"POSITION": 0, "NORMAL": 0}
    sketch.tree["meshes"] = [{"primitives": [{"attributes": attributes, "targets": targets}]}]
    return sketch


def bomb_of_tracks(count: int) -> Sketch:
    """Every channel plays the same long sampler."""
    keys = 4_000
    sketch = Sketch(nodes=[{} for _ in range(count)])
    times = sketch.add(np.arange(keys))
    values = sketch.add(np.zeros((keys, 3)))
    channels = [{"sampler": 0, "target": {"node": i, "path": "translation"}} for i in range(count)]
    samplers = [{"input": times, "output": values}]
    sketch.tree["animations"] = [{"channels": channels, "samplers": samplers}]
    return sketch


def bomb_of_instances(count: int) -> Sketch:
    """Many nodes show one mesh with many vertices through one skin."""
    vertices = 20_000
    sketch = Sketch()
    position = sketch.accessor(componentType=5126, count=vertices, type="VEC3")
    joints = sketch.accessor(componentType=5121, count=vertices, type="VEC4")
    weights = sketch.add(np.tile([1, 0, 0, 0], (vertices, 1)) * 255, "u1", normalized=True)
    attributes = {"POSITION": position, "JOINTS_0": joints, "WEIGHTS_0": weights}
    sketch.tree["meshes"] = [{"primitives": [{"attributes": attributes}]}]
    sketch.tree["nodes"] = [{"mesh": 0, "skin": 0}] * count
    sketch.tree["skins"] = [{"joints": [0]}]
    return sketch


BOMBS: dict[str, Any] = {
    "accessors": lambda: bomb_of_accessors(2000).glb(),
    "parts": lambda: bomb_of_parts(5000).glb(),
    "zeros": lambda: bomb_of_zeros().glb(),
    "targets": lambda: bomb_of_targets(600).glb(),
    "tracks": lambda: bomb_of_tracks(5000).glb(),
    "instances": lambda: bomb_of_instances(1000).glb(),
    "nodes": lambda: Sketch(nodes=[{}] * 10_000).glb(),
    "a chain of nodes": lambda: Sketch(
        nodes=[{}] + [{"children": [i]} for i in range(8_000)]
    ).glb(),
    "joints": lambda: Sketch(nodes=[{}], skins=[{"joints": [0] * 50_000}]).glb(),
    "skins": lambda: Sketch(nodes=[{}] * 300, skins=[{"joints": list(range(300))}] * 300).glb(),
    "scenes": lambda: Sketch(nodes=[{}] * 300, scenes=[{"nodes": list(range(300))}] * 300).glb(),
    "flawed nodes": lambda: Sketch(nodes=[{"children": [], "weights": []}] * 10_000).glb(),
    "empty objects": lambda: glb(b'{"asset":{"version":"2.0"},"x":[' + b"{}," * 60_000 + b"{}]}"),
    "small objects": lambda: glb(
        b'{"asset":{"version":"2.0"},"x":[' + b'{"a":0},' * 60_000 + b"{}]}"
    ),
    "numbers": lambda: glb(b'{"asset":{"version":"2.0"},"x":[' + b"1e1," * 100_000 + b"0]}"),
    "names": lambda: glb(
        json.dumps({"asset": {"version": "2.0"}, "x": {str(i): i for i in range(20_000)}}).encode()
    ),
}


@pytest.mark.parametrize("make", BOMBS.values(), ids=BOMBS.keys())
def test_files_that_describe_more_than_they_hold(make):
    assert check(make(), "bomb") in ("character", "FormatError")


def test_saving_what_was_read_from_a_broken_file_stays_in_its_folder(tmp_path: Path):
    sketch = triangle()
    file = read_gltf(sketch.glb())
    tree = json.loads(json.dumps(file.json))
    tree["buffers"][0]["uri"] = "../outside.bin"
    with pytest.raises(BunrakuError, match="leaves the folder"):
        write_gltf(GltfFile(tree, file.buffers), tmp_path / "x.gltf")
    save(character_from_gltf(file), tmp_path / "x.gltf")
    assert not (tmp_path.parent / "outside.bin").exists()
