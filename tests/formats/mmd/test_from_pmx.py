from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bunraku.errors import FormatError
from bunraku.formats.mmd import (
    OFFSETS,
    BoneFlag,
    MaterialFlag,
    MorphKind,
    PmxBody,
    PmxBone,
    PmxFile,
    PmxIk,
    PmxIkLink,
    PmxMaterial,
    PmxMorph,
    PmxVertices,
    character_from_pmx,
    read_pmx,
)
from bunraku.formats.mmd.space import (
    metres,
    mirrored,
    mirrored_limits,
    mirrored_rotations,
    units,
)
from bunraku.model import Character, GroupBind, JointBind, MaterialBind, MorphBind, UvBind
from tests.formats.mmd.sketch import whole_pmx

NAN, INF = math.nan, math.inf
APPEND = BoneFlag.APPEND_ROTATION | BoneFlag.APPEND_TRANSLATION
PLAIN = PmxBone("").flags


def bone(name: str, **fields: Any) -> PmxBone:
    flags = PLAIN
    for field, flag in {
        "append": BoneFlag.APPEND_ROTATION,
        "fixed_axis": BoneFlag.FIXED_AXIS,
        "ik": BoneFlag.IK,
    }.items():
        flags |= flag if field in fields else 0
    return PmxBone(name, **{"flags": flags, **fields})


def vertices(count: int, **arrays: Any) -> PmxVertices:
    empty = PmxVertices.empty(count, arrays.pop("extra", 0))
    made = {name: np.array(value, getattr(empty, name).dtype) for name, value in arrays.items()}
    return replace(empty, **made)


def morph(kind: MorphKind, *records: tuple[Any, ...], name: str = "m") -> PmxMorph:
    return PmxMorph(name, kind=kind, offsets=np.array([*records], OFFSETS[kind]))


def codes(character: Character) -> list[str]:
    return [note.code for note in character.notes]


FATAL = {
    "a vertex that is nowhere": (
        PmxFile(vertices=vertices(1, positions=[[NAN, 0, 0]]), bones=(bone("a"),), source="x.pmx"),
        "x.pmx: geometry.positions",
    ),
    "a bone that is nowhere": (
        PmxFile(bones=(bone("a", position=(0, INF, 0)),), source="x.pmx"),
        "x.pmx: skeleton.translations",
    ),
}


@pytest.mark.parametrize(("file", "message"), FATAL.values(), ids=FATAL.keys())
def test_models_without_a_shape(file: PmxFile, message: str):
    with pytest.raises(FormatError) as caught:
        character_from_pmx(file)
    assert str(caught.value).startswith(message)


def ik(target: int, *links: PmxIkLink, loops: int = 9, step: float = 1.0) -> PmxIk:
    return PmxIk(target, loops, step, links)


# bones, the note, and what holds after the repair
REPAIRED = {
    "a bone that is its own parent": (
        (bone("a", parent=0),),
        "parent-cycle",
        lambda c: c.skeleton.parents.tolist() == [-1],
    ),
    "a circle of parents": (
        (bone("a", parent=2), bone("b", parent=0), bone("c", parent=1), bone("d", parent=2)),
        "parent-cycle",
        lambda c: c.skeleton.parents.tolist() == [-1, 0, 1, 2],
    ),
    "a bone that follows itself": (
        (bone("a", append=(0, 1.0)),),
        "append-dropped",
        lambda c: c.rig.appends == (),
    ),
    "bones that follow each other": (
        (bone("a", append=(1, 1.0)), bone("b", append=(0, 1.0))),
        "append-dropped",
        lambda c: [(each.node, each.source) for each in c.rig.appends] == [(1, 0)],
    ),
    "a ratio that is no number": (
        (bone("a"), bone("b", append=(0, NAN))),
        "append-dropped",
        lambda c: c.rig.appends == (),
    ),
    "an axis that is no number": (
        (bone("a", fixed_axis=(NAN, 0, 0)),),
        "fixed-axis-dropped",
        lambda c: c.rig.fixed_axes == (),
    ),
    "IK that reaches for itself": (
        (bone("a", ik=ik(0, PmxIkLink(0))),),
        "ik-dropped",
        lambda c: c.rig.chains == (),
    ),
    "IK that reaches for IK that reaches for it": (
        (bone("a", ik=ik(1)), bone("b", ik=ik(0))),
        "ik-dropped",
        lambda c: [chain.goal for chain in c.rig.chains] == [1],
    ),
    "IK without an effector": (
        (bone("a", ik=ik(-1)),),
        "ik-dropped",
        lambda c: c.rig.chains == (),
    ),
    "IK with steps that are no number": (
        (bone("a"), bone("b", ik=ik(0, step=INF))),
        "ik-dropped",
        lambda c: c.rig.chains == (),
    ),
    "two thousand million passes": (
        (bone("a"), bone("b", ik=ik(0, loops=2**31 - 1))),
        "ik-loops",
        lambda c: c.rig.chains[0].loops == 256,
    ),
    "a link that is no bone": (
        (bone("a"), bone("b", ik=ik(0, PmxIkLink(-1), PmxIkLink(0)))),
        "ik-link-dropped",
        lambda c: [link.node for link in c.rig.chains[0].links] == [0],
    ),
    "limits that are no numbers": (
        (bone("a"), bone("b", ik=ik(0, PmxIkLink(0, ((NAN, 0, 0), (0, 0, 0)))))),
        "ik-limits-dropped",
        lambda c: c.rig.chains[0].links[0].limits is None,
    ),
}


@pytest.mark.parametrize(("bones", "code", "holds"), REPAIRED.values(), ids=REPAIRED.keys())
def test_bones_that_cannot_be(bones: tuple[PmxBone, ...], code: str, holds: Any):
    character = character_from_pmx(PmxFile(bones=bones))
    assert codes(character) == [code]
    assert holds(character)


ODD_VERTICES: dict[str, tuple[PmxVertices, str, list[list[float]]]] = {
    "a sum above 1": (
        vertices(1, deform=[2], weights=[[1, 1, 1, 1]]),
        "weights-renormalised",
        [[0.25] * 4],
    ),
    "a sum of 0": (vertices(1, deform=[2], weights=[[0, 0, 0, 0]]), "weights-zero", [[0.0]]),
    "less than nothing": (
        vertices(1, deform=[1], weights=[[-0.5, 1.5, 0, 0]]),
        "weights-repaired",
        [[0.0, 1.0]],
    ),
    "no number": (
        vertices(1, deform=[2], weights=[[NAN, 0.5, 0.5, 0]]),
        "weights-repaired",
        [[0.0, 0.5, 0.5]],
    ),
    "weight of no bone": (
        vertices(1, deform=[1], weights=[[0.25, 0.75, 0, 0]], bones=[[-1, 0, 0, 0]]),
        "weight-without-bone",
        [[0.0, 1.0]],
    ),
    "a normal that is no number": (
        vertices(1, normals=[[0, NAN, 1]]),
        "numbers-repaired",
        [[1.0]],
    ),
    "an SDEF centre that is no number": (
        vertices(1, deform=[3], weights=[[0.5, 0.5, 0, 0]], sdef=np.full((1, 3, 3), NAN)),
        "sdef-linear",
        [[0.5, 0.5]],
    ),
    "a UV of four numbers": (
        vertices(1, extra=1, additional_uvs=[[[0, 0, 1, 0]]]),
        "uv-components",
        [[1.0]],
    ),
}


@pytest.mark.parametrize(("given", "code", "kept"), ODD_VERTICES.values(), ids=ODD_VERTICES.keys())
def test_vertices_that_are_odd(given: PmxVertices, code: str, kept: list[list[float]]):
    character = character_from_pmx(PmxFile(vertices=given, bones=(bone("a"),)))
    assert code in codes(character)
    geometry = character.meshes[0].geometries[0]
    assert geometry.weights.tolist() == kept
    assert np.isfinite(geometry.normals).all()
    assert geometry.spherical is None


MORPHS: dict[str, tuple[PmxMorph, str]] = {
    "a vertex that is not there": (
        morph(MorphKind.VERTEX, (7, (1, 1, 1))),
        "morph-offsets-dropped",
    ),
    "an offset that is no number": (
        morph(MorphKind.VERTEX, (0, (NAN, 1, 1))),
        "morph-offsets-dropped",
    ),
    "a morph that is not there": (morph(MorphKind.GROUP, (9, 1.0)), "morph-offsets-dropped"),
    "a bone that is not there": (
        morph(MorphKind.BONE, (-1, (0, 0, 0), (0, 0, 0, 1))),
        "morph-offsets-dropped",
    ),
    "a UV that is not there": (morph(MorphKind.UV3, (0, (1, 1, 0, 0))), "uv-morph-unsaid"),
    "UVs of four numbers": (morph(MorphKind.UV, (0, (1, 1, 1, 0))), "uv-components"),
    "a switch": (morph(MorphKind.FLIP, (0, 1.0)), "morph-unsaid"),
    "a push": (
        morph(MorphKind.IMPULSE, (0, 0, (1, 0, 0), (0, 0, 0))),
        "morph-unsaid",
    ),
}


@pytest.mark.parametrize(("given", "code"), MORPHS.values(), ids=MORPHS.keys())
def test_morphs_that_cannot_be_said(given: PmxMorph, code: str):
    file = PmxFile(vertices=vertices(1), bones=(bone("a"),), morphs=(given,))
    character = character_from_pmx(file)
    assert codes(character) == [code]
    assert [each.name for each in character.expressions] == ["m"]


# ------------------------------------------------------------------------- what it means


def test_mirroring_twice_changes_nothing():
    rng = np.random.default_rng(5)
    points, turns = rng.normal(size=(7, 3)), rng.normal(size=(7, 4))
    np.testing.assert_array_equal(mirrored(mirrored(points)), points)
    np.testing.assert_array_equal(mirrored_rotations(mirrored_rotations(turns)), turns)
    limits = np.sort(rng.normal(size=(2, 3)), axis=0)
    np.testing.assert_array_equal(mirrored_limits(mirrored_limits(limits)), limits)
    np.testing.assert_allclose(units(metres(points)), points, rtol=1e-15)


def test_a_rotation_turns_the_mirrored_point_to_the_mirror_of_the_turned():
    from bunraku.rotation import quaternion

    rng = np.random.default_rng(6)
    turn, point = rng.normal(size=4), rng.normal(size=3)
    turn /= np.linalg.norm(turn)
    there = quaternion.rotate(mirrored_rotations(turn), mirrored(point))
    np.testing.assert_allclose(there, mirrored(quaternion.rotate(turn, point)), atol=1e-15)


def test_bones_are_nodes_in_metres():
    file = PmxFile(
        "ミク",
        bones=(
            bone("親", position=(1, 2, 3)),
            bone("子", position=(1, 12, -7), parent=0, layer=2),
            bone("後", parent=1, flags=PLAIN | BoneFlag.AFTER_PHYSICS),
        ),
    )
    character = character_from_pmx(file)
    assert character.name == "ミク"
    assert character.facing == "+Z"
    assert character.skeleton.names == ("親", "子", "後")
    expected = [[0.08, 0.16, -0.24], [0, 0.8, 0.8], [-0.08, -0.96, -0.56]]
    np.testing.assert_allclose(character.skeleton.translations, expected, atol=1e-15)
    assert (character.skeleton.rotations == [0, 0, 0, 1]).all()
    assert character.rig.layers.tolist() == [0, 2, 0]
    assert character.rig.after_physics.tolist() == [False, False, True]
    assert character.document is file


def test_faces_are_wound_the_other_way_in_parts_by_material():
    file = PmxFile(
        vertices=vertices(4, positions=[[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]),
        faces=np.array([[0, 1, 2], [0, 2, 3], [1, 3, 2]], np.int32),
        materials=(PmxMaterial("a", index_count=3), PmxMaterial("b", index_count=3)),
        bones=(bone("a"),),
    )
    mesh = character_from_pmx(file).meshes[0]
    assert [part.faces.tolist() for part in mesh.parts] == [[[0, 2, 1]], [[0, 3, 2]], [[1, 2, 3]]]
    assert [part.material for part in mesh.parts] == [0, 1, None]
    np.testing.assert_allclose(mesh.geometries[0].positions[3], [0, 0, -0.08])


def test_every_bone_is_a_joint_bound_where_it_stands():
    bones = (bone("a", position=(1, 2, 3)), bone("b", position=(4, 5, 6), parent=0))
    character = character_from_pmx(PmxFile(vertices=vertices(1), bones=bones))
    (skin,) = character.skins
    assert skin.joints.tolist() == [0, 1]
    assert skin.inverse_bind_matrices.dtype == np.float64
    expected = -0.08 * np.array([[1, 2, -3], [4, 5, -6]], np.float64)
    np.testing.assert_allclose(skin.inverse_bind_matrices[:, :3, 3], expected, rtol=1e-15)
    assert (skin.inverse_bind_matrices[:, :3, :3] == np.eye(3)).all()


def test_influences_of_every_deform_type():
    file = read_pmx(whole_pmx())
    character = character_from_pmx(file)
    geometry = character.meshes[0].geometries[0]
    assert file.vertices.deform.tolist() == [0, 1, 2, 3, 4, 0]
    held = [
        {int(j): float(w) for j, w in zip(joints, weights, strict=True) if w}
        for joints, weights in zip(geometry.joints, geometry.weights, strict=True)
    ]
    assert held[0] == {1: 1.0}
    assert held[1] == {0: 0.25, 1: 0.75}
    assert held[2] == pytest.approx({0: 4 / 7, 1: 2 / 7, 2: 1 / 7})
    assert geometry.joints[3, :2].tolist() == [2, 1]  # SDEF needs its order
    assert geometry.weights[3, :2].tolist() == [0.75, 0.25]
    assert geometry.spherical.indices.tolist() == [3]
    np.testing.assert_allclose(geometry.spherical.centers, [[0, 0.08, -0.16]], rtol=1e-6)
    np.testing.assert_allclose(geometry.spherical.first, [[0.24, 0.32, -0.4]], rtol=1e-6)
    np.testing.assert_allclose(geometry.spherical.second, [[0.48, 0.56, -0.64]], rtol=1e-6)
    assert geometry.dual.tolist() == [4]
    assert len(geometry.uvs) == 2
    assert geometry.uvs[1][0].tolist() == [9, 8]


def test_appends_axes_and_ik():
    knee = ((-math.pi, 0.0, 0.0), (-0.25, 0.0, 0.0))
    follows = bone("d", append=(1, -0.5), flags=PLAIN | APPEND | BoneFlag.APPEND_LOCAL)
    file = PmxFile(
        bones=(
            bone("a"),
            bone("b", fixed_axis=(0, 3, 4)),
            bone("c", ik=PmxIk(0, 40, 2.0, (PmxIkLink(1, knee), PmxIkLink(0)))),
            follows,
        )
    )
    rig = character_from_pmx(file).rig
    (append,) = rig.appends
    assert (append.node, append.source, append.ratio) == (3, 1, -0.5)
    assert (append.rotation, append.translation, append.local) == (True, True, True)
    np.testing.assert_allclose(rig.fixed_axes[0].axis, [0, 0.6, -0.8])
    (chain,) = rig.chains
    assert (chain.goal, chain.effector, chain.loops, chain.step) == (2, 0, 40, 2.0)
    assert [link.node for link in chain.links] == [1, 0]
    np.testing.assert_allclose(chain.links[0].limits, [[0.25, 0, 0], [math.pi, 0, 0]])
    assert chain.links[1].limits is None


def test_every_morph_is_an_expression_at_its_index():
    material = (-1, 0, (2, 1, 1, 0.5), (1,) * 3, 1, (1,) * 3, (1,) * 4, 3, *[(1,) * 4] * 3)
    added = (0, 1, (0,) * 4, (0, 0, 0.5), *[0, (0,) * 3, (0,) * 4, 0], *[(0,) * 4] * 3)
    file = PmxFile(
        vertices=vertices(3, extra=1),
        bones=(bone("a"), bone("b")),
        materials=(PmxMaterial("m"),),
        morphs=(
            morph(MorphKind.GROUP, (1, 0.5), (0, 1.0), name="group"),
            morph(MorphKind.VERTEX, (2, (1, 2, 3)), (0, (1, 0, 0)), (2, (0, 0, 1)), name="あ"),
            morph(MorphKind.BONE, (1, (1, 2, 3), (0, 0, 3, 4)), name="bone"),
            morph(MorphKind.UV, (1, (0.5, 0.25, 0, 0)), name="uv"),
            morph(MorphKind.UV1, (2, (0.5, 0.25, 0, 0)), name="uv1"),
            morph(MorphKind.MATERIAL, material, added, name="material"),
            morph(MorphKind.VERTEX, name="empty"),
        ),
    )
    character = character_from_pmx(file)
    names = [expression.name for expression in character.expressions]
    assert names == ["group", "あ", "bone", "uv", "uv1", "material", "empty"]
    group, vertex, joint, uv, uv1, surface, empty = (e.binds for e in character.expressions)
    assert group == (GroupBind(1, 0.5), GroupBind(0, 1.0))
    assert vertex == (MorphBind(0, 0),)
    assert empty == (MorphBind(0, 1),)
    mesh = character.meshes[0]
    assert mesh.morph_names == ("あ", "empty")
    assert mesh.geometries[0].morphs[0].indices.tolist() == [0, 2]
    np.testing.assert_allclose(
        mesh.geometries[0].morphs[0].positions, [[0.08, 0, 0], [0.08, 0.16, -0.32]], rtol=1e-6
    )
    assert isinstance(joint[0], JointBind)
    assert joint[0].node == 1
    np.testing.assert_allclose(joint[0].translation, [0.08, 0.16, -0.24])
    np.testing.assert_allclose(joint[0].rotation, [0, 0, 0.6, 0.8])
    for bind, uv_set, index in ((uv[0], 0, 1), (uv1[0], 1, 2)):
        assert isinstance(bind, UvBind)
        assert (bind.uv_set, bind.indices.tolist()) == (uv_set, [index])
        assert bind.offsets.tolist() == [[0.5, 0.25]]
    assert surface == (
        MaterialBind(None, "base_color", (2.0, 1.0, 1.0, 0.5), "multiply"),
        MaterialBind(None, "edge_size", (3.0,), "multiply"),
        MaterialBind(0, "specular", (0.0, 0.0, 0.5), "add"),
    )


def test_materials_in_linear_light():
    opaque = PmxMaterial("a", diffuse=(0.5, 0, 1, 1), flags=int(MaterialFlag.DOUBLE_SIDED))
    glass = PmxMaterial("b", diffuse=(1, 1, 1, 0.5), flags=int(MaterialFlag.LINES))
    character = character_from_pmx(PmxFile(materials=(opaque, glass)))
    first, second = character.materials
    assert first.base_color == pytest.approx((0.2140411, 0, 1, 1))
    assert (first.double_sided, first.alpha_mode) == (True, "opaque")
    assert (second.double_sided, second.alpha_mode) == (False, "blend")
    assert codes(character) == ["material-topology"]


def test_bodies_are_carried_and_said_to_be():
    character = character_from_pmx(PmxFile(bones=(bone("a"),), bodies=(PmxBody("b"),)))
    assert codes(character) == ["physics-carried"]


def test_models_with_little_in_them():
    assert len(character_from_pmx(PmxFile()).skeleton) == 0
    bare = character_from_pmx(PmxFile("b", vertices=vertices(1, bones=[[-1, 0, 0, 0]])))
    assert codes(bare) == ["node-added", "weight-without-bone", "weights-zero"]
    assert bare.attachments[0].node == 0


def test_a_humanoid_is_known_by_its_names():
    names = ("センター", "上半身", "下半身", "首", "頭", "右足", "右ひざ", "親指０", "右親指１")
    character = character_from_pmx(PmxFile(bones=tuple(map(bone, names))))
    assert dict(character.humanoid.bones) == {
        "hips": 2,
        "spine": 1,
        "neck": 3,
        "head": 4,
        "rightUpperLeg": 5,
        "rightLowerLeg": 6,
        "rightThumbProximal": 8,
    }
    assert character_from_pmx(PmxFile(bones=(bone("頭"),))).humanoid is None
