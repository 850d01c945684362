"""A bake of an MMD rig below scaled nodes is what the slow, obvious evaluation says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bunraku import Stage, bake, load
from bunraku.model import (
    Append,
    Attachment,
    Character,
    Clip,
    Geometry,
    IkChain,
    IkLink,
    Mesh,
    Part,
    Rig,
    Skeleton,
    Skin,
    Track,
)
from bunraku.rotation import quaternion
from tests.reference import mmd, skinning

NODES = {
    # name: parent, place beside it
    "root": (-1, (0.0, 0.0, 0.0)),
    "hip": (0, (0.1, 1.0, 0.0)),
    "knee": (1, (0.0, -0.45, 0.03)),
    "foot": (2, (0.0, -0.45, -0.03)),
    "goal": (0, (0.1, 0.1, 0.0)),
    "twist": (1, (0.2, 0.0, 0.0)),  # takes half of the knee's turn
    "shadow": (0, (-0.4, 0.3, 0.1)),  # turns with the hip as IK has it
    "charm": (5, (0.1, 0.1, 0.1)),  # moves against the goal
}


def turning(name: str, axis: list[float], angle: float) -> Track:
    turns = [[0, 0, 0, 1], quaternion.from_axis_angle(axis, angle)]
    return Track(name, "rotation", [0, 1], turns)


STEP = (
    turning("root", [0.6, 0.8, 0], 0.9),
    turning("hip", [0, 0.6, 0.8], 0.4),
    turning("twist", [1, 0, 0], -0.7),
    Track("goal", "translation", [0, 0.5, 1], [[0.1, 0.1, 0], [0.2, 0.4, 0.3], [0.1, 0.2, -0.2]]),
)


def dancer(**scales: list[float]) -> Character:
    """A leg with IK, appends of every kind, and a skin over all nodes."""
    names = tuple(NODES)
    index = {name: i for i, name in enumerate(names)}
    parents, places = zip(*NODES.values(), strict=True)
    skeleton = Skeleton(names, parents, places, scales=[scales.get(n, [1.0] * 3) for n in names])
    bend = IkLink(index["knee"], [[-3, 0, 0], [-0.01, 0, 0]])
    rig = Rig(
        layers=[0, 0, 0, 0, 1, 2, 2, 2],
        appends=(
            Append(index["twist"], index["knee"], 0.5),
            Append(index["shadow"], index["hip"], 1.0),
            Append(index["charm"], index["goal"], -1.5, False, True),
        ),
        chains=(IkChain(index["goal"], index["foot"], (bend, IkLink(index["hip"])), 30, 1.0),),
    )
    rest = np.tile(np.eye(4), (len(names), 1, 1))
    rest[:, :3] = mmd.solve(skeleton, Rig(layers=np.zeros(8, int)), at_rest(skeleton))[0]
    random = np.random.default_rng(7)
    around = np.repeat(rest[:, :3, 3], 3, axis=0) + random.uniform(-0.1, 0.1, (24, 3))
    joints = np.stack([np.repeat(np.arange(8), 3), random.integers(0, 8, 24)], axis=1)
    share = random.uniform(0.5, 1, (24, 1))
    geometry = Geometry(around, joints=joints, weights=np.concatenate([share, 1 - share], axis=1))
    return Character(
        skeleton,
        (Mesh("skin", (geometry,), (Part(0, np.arange(24).reshape(8, 3)),)),),
        (Skin(np.arange(8), np.linalg.inv(rest)),),
        (Attachment(0, 0, 0),),
        rig=rig,
    )


def at_rest(skeleton: Skeleton):
    return Character(skeleton).rest_pose()


EVERYWHERE = np.random.default_rng(1).uniform(0.6, 1.6, (8, 3)).tolist()
SCALES = {
    "none": {},
    "uniform": {"root": [2.5, 2.5, 2.5]},
    "non-uniform": {"root": [1.5, 0.5, 2.0]},
    "mirrored": {"root": [-1.0, 1.0, 1.0]},
    "mirrored and non-uniform": {"root": [0.7, -1.4, 1.1]},
    "everywhere": dict(zip(NODES, EVERYWHERE, strict=True)),
    "a hundredth": {"root": [0.01, 0.02, 0.01]},
}


@pytest.mark.parametrize("moving", [False, True], ids=["still", "growing"])
@pytest.mark.parametrize("scales", SCALES.values(), ids=SCALES)
def test_a_bake_is_the_oracles_motion(scales, moving: bool, tmp_path: Path) -> None:
    character = dancer(**scales)
    tracks = STEP
    if moving:
        first = character.skeleton.scales[0]
        tracks += (Track("root", "scale", [0, 1], [first, first * [1.0, 1.5, 0.75]]),)
    stage = Stage(character, Clip("step", tracks))
    times = stage.frame_times(10)
    world = mmd.solve(character.skeleton, character.rig, stage.pose(times))
    assert np.linalg.norm(world[4, 3, :, 3] - world[4, 4, :, 3]) < 1e-3  # the foot is at its goal
    palette = world @ character.skins[0].inverse_bind_matrices
    expected = skinning.deform(character.meshes[0].geometries[0], palette)[0]
    close = 1e-5 * float(np.ptp(expected.reshape(-1, 3), axis=0).max())

    bake(stage, tmp_path / "out.npy", fps=10)
    np.testing.assert_allclose(np.load(tmp_path / "out.npy"), expected, rtol=0, atol=close)

    bake(stage, tmp_path / "out.glb", fps=10)
    played = Stage(load(tmp_path / "out.glb"), 0)
    np.testing.assert_allclose(played.global_transforms(times), world, rtol=0, atol=close)
    np.testing.assert_allclose(played.deform(times).positions, expected, rtol=0, atol=close)
