"""Whatever a character is made of, it comes back from the PMX it is written as."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from bunraku.formats.mmd import (
    character_from_pmx,
    clip_from_vmd,
    pmx_bytes,
    pmx_from_character,
    read_pmx,
    read_vmd,
    vmd_bytes,
    vmd_from_clip,
)
from bunraku.model import (
    Attachment,
    Character,
    Clip,
    Expression,
    Geometry,
    JointBind,
    Mesh,
    MorphBind,
    MorphTarget,
    Part,
    Skeleton,
    Skin,
    Track,
)
from bunraku.rotation import quaternion
from bunraku.stage import Stage

NAMES = st.text("ab左右腕ﾃ_", min_size=1, max_size=6)


@st.composite
def figures(draw: Any) -> Character:
    """Some nodes with rest rotations, and a mesh on them that is bound as it stands."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    count = draw(st.integers(1, 6))
    names = draw(st.lists(NAMES, min_size=count, max_size=count, unique=True))
    parents = [draw(st.integers(-1, node - 1)) for node in range(count)]
    order = draw(st.permutations(range(count)))  # parents may stand behind their children
    place = {node: i for i, node in enumerate(order)}
    shuffled = [0] * count
    for node, parent in enumerate(parents):
        shuffled[place[node]] = -1 if parent < 0 else place[parent]
    rest = quaternion.normalize(rng.normal(size=(count, 4)))
    skeleton = Skeleton(tuple(names), shuffled, rng.normal(size=(count, 3)), rest)
    width = draw(st.integers(1, 4))
    weights = rng.uniform(0.01, 1, (5, width))
    target = MorphTarget([1, 3], rng.normal(size=(2, 3)))
    geometry = Geometry(
        rng.normal(size=(5, 3)),
        quaternion.rotate(quaternion.normalize(rng.normal(size=(5, 4))), [0, 0, 1.0]),
        joints=rng.integers(0, count, (5, width)),
        weights=weights / weights.sum(axis=1, keepdims=True),
        morphs=(target,),
    )
    world = np.tile(np.eye(4), (count, 1, 1))
    world[:, :3] = Stage(Character(skeleton)).global_transforms(0)[0]
    bound = draw(st.booleans())
    skin = Skin(np.arange(count), np.linalg.inv(world) if bound else None)
    turn = quaternion.normalize(rng.normal(size=4))
    return Character(
        skeleton,
        (Mesh("m", (geometry,), (Part(0, [[0, 1, 2], [2, 3, 4]]),), ("t",)),),
        (skin,),
        (Attachment(int(skeleton.order[0]), 0, 0),),
        expressions=(
            Expression("vertex", (MorphBind(0, 0, 0.5),)),
            Expression("bone", (JointBind(count - 1, rng.normal(size=3), turn),)),
        ),
        name="f",
    )


@settings(max_examples=60, deadline=None)
@given(figures())
def test_it_stands_and_moves_as_before(character: Character):
    file, pictures, notes = pmx_from_character(character)
    assert pictures == {}
    assert {note.code for note in notes} <= {"bind-pose-dropped"}
    bends_alike = not notes
    again = character_from_pmx(read_pmx(pmx_bytes(file)))
    assert again.notes == ()
    assert again.skeleton.names == character.skeleton.names
    assert again.skeleton.parents.tolist() == character.skeleton.parents.tolist()
    rest, there = Stage(character), Stage(again)
    np.testing.assert_allclose(there.deform(0).positions, rest.deform(0).positions, atol=1e-5)
    rng = np.random.default_rng(len(character.skeleton))
    nodes = range(len(character.skeleton))
    turns = quaternion.normalize(rng.normal(size=(len(nodes), 2, 4)))
    moves = character.skeleton.translations[:, None] + rng.normal(size=(len(nodes), 2, 3))
    clip = Clip(
        "c",
        (
            *(Track(node, "rotation", [0, 0.5], turns[node]) for node in nodes),
            *(Track(node, "translation", [0, 0.5], moves[node]) for node in nodes),
        ),
    )
    made, notes = vmd_from_clip(clip, character)
    assert notes == ()
    motion = clip_from_vmd(read_vmd(vmd_bytes(made)))
    moving, follows = Stage(character, clip), Stage(again, motion)
    assert follows.notes == ()
    times = [0, 0.2, 0.5]
    np.testing.assert_allclose(
        follows.global_transforms(times)[..., 3],
        moving.global_transforms(times)[..., 3],
        atol=1e-5,
    )
    if bends_alike:
        np.testing.assert_allclose(
            follows.deform(times).positions, moving.deform(times).positions, atol=1e-4
        )
