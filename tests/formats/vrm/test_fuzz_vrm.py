"""Broken extensions: each gives a character or a clear error, soon, and what loads can be saved.

BUNRAKU_FUZZ sets how many mutations are tried; each is made from its number alone, so a failure
is repeated by its number.
"""

from __future__ import annotations

import json
import os
import random
import time
import tracemalloc
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from bunraku.errors import BunrakuError, FormatError
from bunraku.formats.gltf import read_gltf
from bunraku.formats.vrm import (
    character_from_vrm,
    character_from_vrma,
    is_vrma,
    vrm_from_character,
    vrma_from_character,
)
from bunraku.model import Character, Humanoid
from tests.conftest import shared_folder
from tests.formats.sketch import Sketch, glb
from tests.formats.test_fuzz_gltf import VALUES, mutate_tree
from tests.formats.vrm.figures import (
    FACE,
    HAIR,
    NODES,
    bare_figure,
    figure_0,
    figure_1,
    rich_0,
    rich_1,
)
from tests.formats.vrm.test_vrma import full

COUNT = int(os.environ.get("BUNRAKU_FUZZ", "300"))
SECONDS = 10
LARGEST_SEED = 24_000
LARGEST_TREE = 200_000


def seeds() -> list[tuple[dict[str, Any], bytes]]:
    sketches = (rich_1(), rich_0(), full(), figure_1(), figure_0())
    found = [(sketch.finished(), bytes(sketch.data)) for sketch in sketches]
    corpus = shared_folder("corpus")
    for path in sorted((corpus / "vrm_mmd").glob("*.vrm*")) if corpus is not None else ():
        if path.stat().st_size < LARGEST_SEED:
            with suppress(BunrakuError):
                file = read_gltf(path)
                found.append((file.json, bytes(file.buffers[0]) if file.buffers else b""))
    return found


def extensions_of(tree: dict[str, Any]) -> list[dict[str, Any]]:
    """Where extensions hang: the root and every node that has some."""
    return [each for each in (tree, *tree.get("nodes", [])) if "extensions" in each]


def mutated(rng: random.Random, tree: dict[str, Any]) -> dict[str, Any]:
    tree = json.loads(json.dumps(tree))
    for _ in range(rng.choice([1, 1, 2, 4, 8])):
        holder = rng.choice(extensions_of(tree) or [tree])
        if rng.random() < 0.05:
            holder["extensions"] = rng.choice(VALUES)
        elif isinstance(holder.get("extensions"), dict):
            mutate_tree(rng, holder["extensions"])
        if len(json.dumps(tree)) > LARGEST_TREE:  # repeated lists of repeated lists
            break
    return tree


def check(data: bytes, label: str) -> str:
    """Read the bytes as a character; what must never happen fails the test."""
    tracemalloc.start()
    start, message = time.process_time(), "fuzz.vrm: "
    try:
        file = read_gltf(data, name="fuzz.vrm")
        character = character_from_vrma(file) if is_vrma(file) else character_from_vrm(file)
        outcome = "character"
    except BunrakuError as error:
        outcome, message = type(error).__name__, str(error)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert time.process_time() - start < SECONDS, f"{label}: {time.process_time() - start:.1f} s"
    assert peak < 64 * len(data) + 16 * 2**20, f"{label}: {peak} bytes for {len(data)}"
    assert message.startswith("fuzz.vrm: "), f"{label}: no file in {message}"
    assert len(message) < 1000, f"{label}: {len(message)} characters"
    if outcome == "character":
        check_saving(character)
    return outcome


def check_saving(character: Character) -> None:
    """As it is, from scratch, and with everything changed."""
    materials = tuple(replace(m, name="x", base_color=(0, 1, 0, 1)) for m in character.materials)
    other = replace(
        character,
        materials=materials,
        expressions=character.expressions[1:],
        humanoid=Humanoid({"hips": 0} if len(character.skeleton) else {}),
        rig=None,
        clips=tuple(replace(clip, tracks=clip.tracks[1:]) for clip in character.clips),
    )
    for each in (character, replace(character, document=None), other):
        vrm_from_character(each)
        if each.humanoid is not None and "hips" in each.humanoid.bones:
            vrma_from_character(each)


def test_mutated_extensions():
    files = seeds()
    outcomes: dict[str, int] = {}
    for number in range(COUNT):
        rng = random.Random(number)
        tree, data = rng.choice(files)
        broken = glb(json.dumps(mutated(rng, tree)).encode(), data or None)
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


HEAD = NODES["head"]


def bomb_of_springs(count: int) -> Sketch:
    """Every bone group swings the same long chain."""
    sketch = figure_0(secondaryAnimation={"boneGroups": [{"bones": [HAIR]}] * count})
    first = len(sketch.tree["nodes"])
    nodes = [{"translation": [0, 1, 0], "children": [first + i + 1]} for i in range(count)]
    sketch.tree["nodes"] += [*nodes, {"translation": [0, 1, 0]}]
    sketch.tree["nodes"][HAIR + 2]["children"] = [first]
    return sketch


def bomb_of_colliders(count: int) -> Sketch:
    """Every spring names every collider, many times."""
    ball = {"node": HEAD, "shape": {"sphere": {}}}
    joints = [{"node": HAIR}, {"node": HAIR + 1}]
    springs = {
        "colliders": [ball] * count,
        "colliderGroups": [{"colliders": list(range(count))}],
        "springs": [{"joints": joints, "colliderGroups": [0] * 20}] * count,
    }
    return figure_1(springs=springs)


def bomb_of_binds(count: int) -> Sketch:
    """Every bind moves a mesh that every node shows."""
    binds = [{"mesh": 0, "index": 0, "weight": 1}] * count
    groups = [{"name": "x", "binds": binds}]
    sketch = figure_0(blendShapeMaster={"blendShapeGroups": groups})
    sketch.tree["nodes"] += [{"mesh": 0}] * count
    return sketch


def bomb_of_materials(count: int) -> Sketch:
    """Every value changes every material: they share a name."""
    value = {"materialName": "m", "propertyName": "_Color", "targetValue": [1, 1, 1, 1]}
    groups = [{"name": "x", "materialValues": [value] * count}]
    sketch = figure_0(blendShapeMaster={"blendShapeGroups": groups})
    sketch.tree["materials"] = [{"name": "m"}] * count
    return sketch


def bomb_of_constraints(count: int) -> Sketch:
    """A deep chain of nodes that all aim at the last one of another."""
    sketch = bare_figure()
    first = len(sketch.tree["nodes"])
    aim = {"constraint": {"aim": {"source": FACE, "aimAxis": "PositiveX"}}}
    extensions = {"VRMC_node_constraint": aim}
    sketch.tree["nodes"] += [
        {"children": [first + i + 1], "extensions": extensions} for i in range(count)
    ] + [{}]
    return sketch


def bomb_of_pairs(count: int) -> Sketch:
    """A deep chain, and springs whose tails hang deep in it but not below their joints."""
    joints = [{"node": HAIR}, {"node": FACE + 4 + count}]
    sketch = figure_1(springs={"springs": [{"joints": joints}] * count})
    first = len(sketch.tree["nodes"])
    sketch.tree["nodes"] += [{"children": [first + i + 1]} for i in range(count)] + [{}]
    return sketch


def bomb_of_names(count: int) -> Sketch:
    """Custom expressions that all want the same name."""
    faces = {f"x{i}": {"morphTargetBinds": [{"node": 9, "index": 0}] * 3} for i in range(count)}
    return figure_1(expressions={"custom": faces})


BOMBS: dict[str, Any] = {
    "springs": lambda: bomb_of_springs(1500),
    "colliders": lambda: bomb_of_colliders(700),
    "binds": lambda: bomb_of_binds(3000),
    "materials": lambda: bomb_of_materials(2000),
    "constraints": lambda: bomb_of_constraints(2000),
    "pairs": lambda: bomb_of_pairs(3000),
    "names": lambda: bomb_of_names(1500),
}


@pytest.mark.parametrize("make", BOMBS.values(), ids=BOMBS.keys())
def test_extensions_that_describe_more_than_they_hold(make):
    assert check(make().glb(), "bomb") in ("character", "FormatError")


@pytest.mark.parametrize("value", [None, True, 0, "x", [], [[]], 1e308])
@pytest.mark.parametrize("name", ["VRM", "VRMC_vrm", "VRMC_springBone", "VRMC_vrm_animation"])
def test_extensions_that_are_no_objects(name: str, value: Any):
    sketch = bare_figure()
    sketch.tree["extensions"] = {name: value}
    file = read_gltf(sketch.glb(), name="x.vrm")
    read = character_from_vrma if is_vrma(file) else character_from_vrm
    if value is None and not is_vrma(file):
        assert read(file).humanoid is None
        return
    with pytest.raises(FormatError, match=rf"x\.vrm: extensions.*{name}"):
        read(file)
