"""A stage of a figure with MMD's rig and skin: every question has one answer."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace

import numpy as np
import pytest

from bunraku import Stage
from bunraku.model import (
    Append,
    Attachment,
    Character,
    Clip,
    Expression,
    Geometry,
    IkChain,
    IkLink,
    JointBind,
    Mesh,
    MorphBind,
    MorphTarget,
    Part,
    Rig,
    Skeleton,
    Skin,
    SphericalBlend,
    Track,
)
from bunraku.query import Bvh
from bunraku.query.posed import IDLE
from bunraku.rotation import quaternion


def dancer() -> Character:
    """A leg that reaches for a goal, in a tube that bends by SDEF at the knee, by QDEF below."""
    rest = [[0, 2, 0], [0, -1, 0.05], [0, -1, -0.05], [0, 0, 0]]
    skeleton = Skeleton(("hip", "knee", "foot", "goal"), [-1, 0, 1, -1], rest)
    chain = IkChain(3, 2, (IkLink(1), IkLink(0)), 30, 2.0)
    rings, around = 21, 10
    turn = 2 * np.pi * np.arange(around) / around
    height = np.linspace(2, 0, rings)
    circle = np.stack([np.cos(turn), 0 * turn, np.sin(turn)], axis=1)
    positions = (0.2 * circle + height[:, None, None] * [0, 1, 0]).reshape(-1, 3)
    normals = np.tile(circle, (rings, 1))
    share = np.clip((height - 0.5) * 1.0, 0, 1).repeat(around)
    ids = np.arange(rings * around).reshape(rings, around)
    a, b = ids[:-1], ids[1:]
    c, d = np.roll(a, -1, axis=1), np.roll(b, -1, axis=1)
    faces = np.stack([a, c, b, c, d, b], axis=-1).reshape(-1, 3)
    knee = ids[5:16].reshape(-1)
    centers = np.tile([0, 1, 0.05], (len(knee), 1))
    bulge = MorphTarget(knee, positions=0.1 * normals[knee])
    geometry = Geometry(
        positions,
        normals,
        joints=np.tile([0, 1], (len(positions), 1)),
        weights=np.stack([share, 1 - share], axis=1),
        morphs=(bulge,),
        spherical=SphericalBlend(knee, centers, centers + [0, 0.2, 0], centers - [0, 0.2, 0]),
        dual=ids[16:].reshape(-1),
    )
    inverse = np.tile(np.eye(4), (2, 1, 1))
    inverse[:, :3, 3] = -np.cumsum(rest[:2], axis=0)
    wide = Expression("bulge", (MorphBind(0, 0),))
    lean = Expression(
        "lean", (JointBind(0, np.zeros(3), quaternion.from_rotation_vector([0, 0, 0.3])),)
    )
    return Character(
        skeleton,
        (Mesh("tube", (geometry,), (Part(0, faces),), ("bulge",)),),
        (Skin([0, 1], inverse),),
        (Attachment(0, 0, 0),),
        expressions=(wide, lean),
        rig=Rig(layers=[0, 0, 0, 1], appends=(Append(3, 0, 0.0),), chains=(chain,)),
    )


STEP = Clip(
    "step",
    (
        Track("goal", "translation", [0, 1], [[0, 0, 0], [0.1, 0.9, 0.4]], relative=True),
        Track("bulge", "expression", [0, 1], [[0], [1]]),
        Track("lean", "expression", [0, 1], [[0], [0.5]]),
        Track("goal", "ik", [0, 2], [[1], [0]], "STEP"),
    ),
)


def test_the_foot_reaches_the_goal_of_the_motion():
    stage = Stage(dancer(), STEP)
    assert stage.notes == ()
    world = stage.global_transforms([0, 0.5, 1, 2])
    np.testing.assert_allclose(world[:3, 2, :, 3], world[:3, 3, :, 3], atol=2e-3)
    assert np.linalg.norm(world[3, 2, :, 3] - world[3, 3, :, 3]) > 0.1  # IK is off


def test_expressions_move_morphs_and_bones():
    character = dancer()
    rig = replace(character.rig, chains=())
    stage = Stage(replace(character, rig=rig), replace(STEP, tracks=STEP.tracks[1:3]))
    hip = stage.global_transforms(1.0)[0, 0]
    turn = quaternion.to_rotation_vector(quaternion.from_matrix(hip[:, :3]))
    np.testing.assert_allclose(turn, [0, 0, 0.15], atol=1e-12)
    still = Stage(replace(character, rig=rig), replace(STEP, tracks=STEP.tracks[2:3]))
    gap = stage.deform(1.0).positions - still.deform(1.0).positions
    moved = np.linalg.norm(gap[0], axis=1) > 1e-6
    knee = character.meshes[0].geometries[0].spherical.indices
    assert np.flatnonzero(moved).tolist() == knee.tolist()
    np.testing.assert_allclose(np.linalg.norm(gap[0, knee], axis=1), 0.1, atol=1e-6)


@pytest.mark.parametrize("method", ["lbs", "dqs"])
def test_rays_meet_the_surface_that_deform_shows(method):
    stage = Stage(dancer(), STEP)
    rng = np.random.default_rng(3)
    origins = rng.uniform(-1, 1, (300, 3)) + [0, 1, 3]
    directions = rng.uniform(-0.3, 0.3, (300, 3)) + [0, 0, -1]
    kept = []
    for time in (0.0, 0.4, 1.0):
        positions = stage.deform(time, method=method).positions[0]
        expected = Bvh(positions, stage.triangles).closest_hit(origins, directions)
        assert (expected.primitive >= 0).sum() > 20
        kept.append((stage.posed(time, method=method), expected))
    # Trees are handed on from pose to pose, but not away from poses that are still asked.
    for posed, expected in (*kept, *kept[::-1]):
        found = posed.closest_hit(origins, directions)
        np.testing.assert_array_equal(found.primitive, expected.primitive)
        np.testing.assert_array_equal(found.t, expected.t)
        np.testing.assert_array_equal(posed.any_hit(origins, directions), expected.primitive >= 0)
    kept.clear()
    del posed
    again = stage.cast(0.4, origins, directions, method=method)
    positions = stage.deform(0.4, method=method).positions[0]
    expected = Bvh(positions, stage.triangles).closest_hit(origins, directions)
    np.testing.assert_array_equal(again.primitive, expected.primitive)


def test_of_many_poses_at_once_few_leave_their_trees():
    stage = Stage(dancer(), STEP)
    poses = [stage.posed(0.1 * i) for i in range(3 * IDLE)]
    trees = [weakref.ref(posed.members[0]) for posed in poses]
    del poses
    gc.collect()
    assert sum(bvh() is not None for bvh in trees) == IDLE


def test_a_pick_tells_what_was_met():
    stage = Stage(dancer(), STEP)
    found = stage.pick(1.0, [0, 1.2, 5], [0, 0, -1])
    assert found is not None
    corners = stage.triangles[found.row]
    positions = stage.deform(1.0).positions[0, corners]
    np.testing.assert_allclose(found.barycentrics @ positions, found.point, atol=1e-5)
    assert {joint for joint, _ in found.joints} <= {0, 1}
