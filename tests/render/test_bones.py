"""A skeleton drawn in the place of the skin."""

from __future__ import annotations

import numpy as np
import pytest

import bunraku
from bunraku.model import (
    Attachment,
    Character,
    Clip,
    Geometry,
    Humanoid,
    Mesh,
    Part,
    Skeleton,
    Skin,
    Track,
)
from bunraku.render.bones import as_bones

ARM = Skeleton(("upper", "fore", "hand"), [-1, 0, 1], [[0, 0, 0], [0, 2, 0], [0, 1, 0]])


def _bones(character: Character, time: float = 0.0) -> np.ndarray:
    """(bones, 6, 3): head, four around it, tip."""
    stage = bunraku.Stage(as_bones(character), 0 if character.clips else None)
    return stage.deform(time).positions[0].reshape(-1, 6, 3)


@pytest.mark.parametrize(
    "skeleton",
    [Skeleton(("alone",), [-1]), Skeleton(("a", "b"), [-1, 0]), Skeleton(("a", "b"), [-1, -1])],
    ids=["one node", "one place", "two roots"],
)
def test_no_bones(skeleton: Skeleton) -> None:
    with pytest.raises(bunraku.RigError, match="no bones to show"):
        as_bones(Character(skeleton))


def test_a_bone_goes_from_a_node_to_its_child() -> None:
    bones = _bones(Character(ARM))
    np.testing.assert_allclose(bones[:, 0], [[0, 0, 0], [0, 2, 0]])
    np.testing.assert_allclose(bones[:, 5], [[0, 2, 0], [0, 3, 0]])
    np.testing.assert_allclose(bones[0, 1:5, 1], 0.3)
    np.testing.assert_allclose(np.hypot(bones[0, 1:5, 0], bones[0, 1:5, 2]), 0.14, rtol=1e-6)


def test_faces_look_outwards() -> None:
    bones = as_bones(Character(ARM))
    positions = bunraku.Stage(bones).deform(0).positions[0]
    a, b, c = positions[bones.meshes[-1].parts[0].faces].transpose(1, 0, 2)
    normals = np.cross(b - a, c - a)
    middle = positions.reshape(-1, 6, 3)[:, [0, 5]].mean(axis=1).repeat(8, axis=0)
    assert (np.einsum("fi,fi->f", normals, (a + b + c) / 3 - middle) > 0).all()


def test_bones_turn_and_stretch() -> None:
    half = np.sqrt(0.5)
    turn = Track(0, "rotation", [0.0], [[0, 0, half, half]])
    move = Track(2, "translation", [0.0], [[0, 4, 0]])
    bones = _bones(Character(ARM, clips=(Clip("wave", (turn, move)),)))
    np.testing.assert_allclose(bones[:, 5], [[-2, 0, 0], [-6, 0, 0]], atol=1e-6)


def test_bones_below_a_scaled_node() -> None:
    scaled = Skeleton(
        ("root", "a", "b"),
        [-1, 0, 1],
        [[0, 0, 0], [0, 100, 0], [0, 50, 0]],
        None,
        [[0.01, 0.01, 0.01], [1, 1, 1], [1, 1, 1]],
    )
    np.testing.assert_allclose(_bones(Character(scaled))[1, [0, 5]], [[0, 1, 0], [0, 1.5, 0]])


def test_only_joints_and_what_lies_between_them() -> None:
    names = ("root", "hips", "between", "hand", "lamp")
    skeleton = Skeleton(names, [-1, 0, 1, 2, 3], np.tile([0.0, 1, 0], (5, 1)))
    triangle = Geometry(np.eye(3), joints=[[0]] * 3, weights=[[1]] * 3)
    mesh = Mesh("skin", (triangle,), (Part(0, [[0, 1, 2]]),))
    character = Character(skeleton, (mesh,), (Skin([1, 3]),), (Attachment(0, 0, 0),))
    np.testing.assert_allclose(_bones(character)[:, 5, 1], [3, 4])


def test_what_morphs_a_mesh_leaves_quietly() -> None:
    puppet = bunraku.make_puppet(0.5)
    for clip in puppet.clips:
        assert bunraku.Stage(as_bones(puppet), clip.name).notes == ()
    picture = bunraku.render.Renderer(bunraku.Stage(as_bones(puppet), 0), size=(32, 32)).picture(
        0.5
    )
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 20


def test_what_leads_to_the_hips_is_no_limb() -> None:
    names = ("ground", "centre", "hips", "spine", "leg", "goal")
    offsets = [[0, 0, 0], [0, 0.5, 0], [0, 0.5, 0], [0, 0.2, 0], [0.1, -0.5, 0], [0.1, 0, 0.3]]
    skeleton = Skeleton(names, [-1, 0, 1, 2, 2, 0], offsets)
    plain = Character(skeleton)
    assert len(_bones(plain)) == 5
    figure = _bones(Character(skeleton, humanoid=Humanoid({"hips": 2, "spine": 3})))
    np.testing.assert_allclose(figure[:, 5], [[0, 1.2, 0], [0.1, 0.5, 0], [0.1, 0, 0.3]])
