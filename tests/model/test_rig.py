"""What a rig, an expression, a humanoid and a curve refuse, and what they keep."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bunraku.errors import RigError
from bunraku.model import (
    AimConstraint,
    Append,
    Attachment,
    Character,
    Collider,
    Expression,
    FixedAxis,
    Geometry,
    GroupBind,
    Humanoid,
    IkChain,
    IkLink,
    JointBind,
    MaterialBind,
    Mesh,
    MorphBind,
    MorphTarget,
    Part,
    Pose,
    Rig,
    Skeleton,
    SphericalBlend,
    Spring,
    SpringJoint,
    Track,
    UvBind,
)
from bunraku.model.humanoid import PARENTS, REQUIRED

LINEAR = [0.25, 0.25, 0.75, 0.75]


def character(**fields: Any) -> Character:
    corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
    geometry = Geometry(corners, uvs=(np.zeros((3, 2)),), morphs=(MorphTarget([1], [[0, 0, 1]]),))
    mesh = Mesh("face", (geometry,), (Part(0, [[0, 1, 2]]),), ("a",))
    skeleton = Skeleton(("root", "head"), [-1, 0])
    return Character(skeleton, (mesh,), attachments=(Attachment(1, 0),), **fields)


def spring(**fields: Any) -> Spring:
    return Spring("hair", (SpringJoint(0, 1),), **fields)


REFUSED: list[tuple[Callable[[], object], str]] = [
    (lambda: Rig(appends=(Append(1, 0, 1), Append(1, 0, 2))), "node 1 has more than one"),
    (lambda: Rig(layers=[0, 0], after_physics=np.zeros(3, bool)), "after_physics"),
    (lambda: Rig(springs=(spring(colliders=(0,)),)), "collider 0, but there are 0"),
    (lambda: character(rig=Rig(appends=(Append(1, 2, 1),))), r"appends\[0\].source: node 2"),
    (lambda: character(rig=Rig(layers=[0])), "expected 2 nodes, found 1"),
    (lambda: character(humanoid=Humanoid({"hips": 5})), "humanoid.hips: node 5"),
    (lambda: character(facing="+X"), "facing"),
    (lambda: Humanoid({"tail": 0}), "unknown bone 'tail'"),
    (lambda: Humanoid({"hips": 0, "spine": 0}), "node 0 plays hips and spine"),
    (lambda: FixedAxis(0, [0, np.nan, 0]), "finite"),
    (lambda: IkLink(0, [[0, 0]]), "shape"),
    (lambda: IkChain(0, 1, (), -1, 1.0), "loops"),
    (lambda: AimConstraint(0, 1, "X"), "unknown axis 'X'"),  # type: ignore[arg-type]
    (lambda: Collider(0, "capsule", [0, 0, 0]), "needs tail"),
    (lambda: Collider(0, "cone", [0, 0, 0]), "found 'cone'"),  # type: ignore[arg-type]
    (lambda: SpringJoint(0), "either a child or a tail"),
    (lambda: SpringJoint(0, 1, stiffness=np.inf), "finite"),
    (lambda: MaterialBind(0, "base_color", (1.0,), "mix"), "found 'mix'"),  # type: ignore[arg-type]
    (lambda: Expression("a", override_blink="never"), "override_blink"),  # type: ignore[arg-type]
    (lambda: character(expressions=(Expression("a", (MorphBind(0, 1),)),)), "morph target 1"),
    (lambda: character(expressions=(Expression("a", (MorphBind(1, 0),)),)), "attachment 1"),
    (lambda: character(expressions=(Expression("a", (GroupBind(1),)),)), "expression 1"),
    (lambda: character(expressions=(Expression("a", (MaterialBind(0, "x", ()),)),)), "material 0"),
    (
        lambda: character(expressions=(Expression("a", (JointBind(2, [0] * 3, [0, 0, 0, 1]),)),)),
        "node 2",
    ),
    (
        lambda: character(expressions=(Expression("a", (UvBind(0, 0, 1, [0], [[0, 0]]),)),)),
        "uv set 1",
    ),
    (
        lambda: character(expressions=(Expression("a", (UvBind(0, 0, 0, [3], [[0, 0]]),)),)),
        "vertex 3",
    ),
    (lambda: SphericalBlend([1, 0], *[np.zeros((2, 3))] * 3), "increasing"),
    (
        lambda: Geometry([[0, 0, 0]], spherical=SphericalBlend([0], *[[[0, 0, 0]]] * 3)),
        "two influences",
    ),
    (lambda: Geometry([[0, 0, 0]], dual=[1]), "vertex 1"),
    (lambda: Track(0, "ik", [0], [[1]], "BEZIER"), "curves with BEZIER"),
    (lambda: Track(0, "ik", [0], [[1]], "BEZIER", [[LINEAR]]), "BEZIER for one of"),
    (lambda: Track(0, "expression", [0], [[1]], curves=[[LINEAR]]), "only there"),
    (lambda: Track(0, "expression", [0], [[1]], "BEZIER", [[[2, 0, 1, 1]]]), "x1 and x2"),
    (lambda: Track(0, "rotation", [0], [[0, 0, 0, 1]], relative=True), "relative"),
    (lambda: Pose(*_locals(1), ik=np.ones((1, 1))), "expected bool"),
    (lambda: Pose(*_locals(2), expressions=np.zeros((1, 1))), "pose.expressions"),
]


def _locals(frames: int) -> tuple[Any, Any, Any]:
    turns = np.tile([0.0, 0, 0, 1], (frames, 1, 1))
    return np.zeros((frames, 1, 3)), turns, np.ones((frames, 1, 3))


@pytest.mark.parametrize(("build", "said"), REFUSED, ids=[said for _, said in REFUSED])
def test_refused(build: Callable[[], object], said: str) -> None:
    with pytest.raises(RigError, match=said):
        build()


def test_limits_are_sorted_and_axes_unit() -> None:
    assert IkLink(0, [[1, -1, 0], [-1, 1, 0]]).limits.tolist() == [[-1, -1, 0], [1, 1, 0]]  # type: ignore[union-attr]
    assert FixedAxis(0, [0, 0, 2]).axis.tolist() == [0, 0, 1]
    assert FixedAxis(0, [0, 0, 0]).axis.tolist() == [0, 0, 0]


def test_a_rest_pose_says_nothing_of_faces_and_solves_every_chain() -> None:
    rig = Rig(chains=(IkChain(0, 1, (IkLink(0),), 4, 1.0),))
    rest = character(rig=rig, expressions=(Expression("a"), Expression("b"))).rest_pose()
    assert rest.expressions.tolist() == [[0, 0]]
    assert rest.ik.tolist() == [[True]]
    assert rest.visible.tolist() == [True]
    assert rest[0].expressions.shape == (1, 2)


def test_a_missing_bone_gives_way_to_the_one_above() -> None:
    humanoid = Humanoid({"hips": 0, "spine": 1, "head": 2, "leftUpperArm": 3})
    assert humanoid.parent("head") == "spine"
    assert humanoid.parent("leftUpperArm") == "spine"
    assert humanoid.parent("hips") is None
    assert "leftHand" in humanoid.missing


def test_the_table_of_bones_is_that_of_vrm() -> None:
    assert len(PARENTS) == 55
    assert len(REQUIRED) == 15
    assert all(parent is None or parent in PARENTS for parent in PARENTS.values())
