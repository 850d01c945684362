from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bunraku
from bunraku.formats import load, save
from bunraku.formats.mmd import (
    BoneFlag,
    Deform,
    MorphKind,
    PmxFile,
    character_from_pmx,
    pmx_bytes,
    pmx_from_character,
    read_pmx,
)
from bunraku.model import (
    Append,
    Attachment,
    Character,
    Expression,
    FixedAxis,
    Geometry,
    GroupBind,
    Humanoid,
    IkChain,
    IkLink,
    Image,
    JointBind,
    Material,
    MaterialBind,
    Mesh,
    MorphBind,
    MorphTarget,
    Part,
    Rig,
    RollConstraint,
    Skeleton,
    Skin,
    SphericalBlend,
    UvBind,
    differences,
)
from bunraku.rotation import quaternion

TRIANGLE = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], np.float32)


def figure(**parts: Any) -> Character:
    """A triangle on two joints."""
    geometry = parts.pop(
        "geometry", Geometry(TRIANGLE, joints=[[0, 1]] * 3, weights=[[0.75, 0.25]] * 3)
    )
    names = tuple(f"t{i}" for i in range(len(geometry.morphs)))
    mesh = Mesh("m", (geometry,), (Part(0, [[0, 1, 2]], 0),), names)
    bind = np.tile(np.eye(4), (2, 1, 1))
    bind[1, 1, 3] = -1
    whole = {
        "skeleton": Skeleton(("root", "tip"), [-1, 0], [[0, 0, 0], [0, 1, 0]]),
        "meshes": (mesh,),
        "skins": (Skin([0, 1], bind),),
        "attachments": (Attachment(0, 0, 0),),
        "materials": (Material("skin"),),
        "name": "figure",
    }
    return Character(**{**whole, **parts})


def written(character: Character) -> tuple[PmxFile, list[str]]:
    """The document as a reader finds it, and the codes of the notes."""
    file, _, notes = pmx_from_character(character)
    again = read_pmx(pmx_bytes(file))
    assert again.notes == ()
    return again, [note.code for note in notes]


UNSAID = {
    "clips": (figure(clips=(bunraku.Clip("c", ()),)), "clips-dropped"),
    "constraints": (figure(rig=Rig(constraints=(RollConstraint(1, 0, "X"),))), "rig-dropped"),
    "lines": (
        figure(meshes=(Mesh("m", (Geometry(TRIANGLE),), (Part(0, [[0, 1]], None, "lines"),)),)),
        "topology-dropped",
    ),
    "vertex colours": (
        figure(geometry=Geometry(TRIANGLE, colors=(np.ones((3, 4), np.float32),))),
        "colors-dropped",
    ),
    "more than five sets of UVs": (
        figure(geometry=Geometry(TRIANGLE, uvs=(np.zeros((3, 2), np.float32),) * 6)),
        "uvs-dropped",
    ),
    "more than four influences": (
        figure(geometry=Geometry(TRIANGLE, joints=[[0, 1, 0, 1, 0]] * 3, weights=[[0.2] * 5] * 3)),
        "influences-limited",
    ),
    "SDEF where the mesh is bound elsewhere": (
        figure(
            skins=(Skin([0, 1]),),
            geometry=Geometry(
                TRIANGLE,
                joints=[[0, 1]] * 3,
                weights=[[1, 0]] * 3,
                spherical=SphericalBlend([0], *[[[0, 0, 0]]] * 3),
            ),
        ),
        "sdef-dropped",
    ),
    "another bind pose": (
        figure(skins=(Skin([0, 1]),)),
        "bind-pose-dropped",
    ),
    "two chains with one goal": (
        figure(rig=Rig(chains=(IkChain(1, 0, (), 1, 1.0),) * 2)),
        "ik-dropped",
    ),
    "a texture that does not repeat": (
        figure(
            images=(Image(b"data", "image/png", "face"),),
            materials=(Material("skin", image=0, wrap=("clamp", "mirror")),),
        ),
        "texture-wrap-dropped",
    ),
    "a hidden mesh": (
        figure(attachments=(Attachment(0, 0, 0, visible=False),)),
        "visibility-dropped",
    ),
    "a texture whose texels are not mixed": (
        figure(
            images=(Image(b"data", "image/png", "face"),),
            materials=(Material("skin", image=0, filter="nearest"),),
        ),
        "texture-filter-dropped",
    ),
    "two places in textures for a vertex": (
        figure(
            meshes=(
                Mesh(
                    "m",
                    (Geometry(TRIANGLE, uvs=(TRIANGLE[:, :2],)),),
                    (Part(0, [[0, 1, 2]], 0), Part(0, [[2, 1, 0]], 1)),
                ),
            ),
            images=(Image(b"data", "image/png", "face"),),
            materials=(Material("a", image=0), Material("b", image=0, uv_offset=(0.5, 0.0))),
        ),
        "texture-placement-dropped",
    ),
    "a preset that motions do not know": (
        figure(expressions=(Expression("up", preset="lookUp"),)),
        "preset-dropped",
    ),
    "an expression that is on or off": (
        figure(expressions=(Expression("wink", binary=True),)),
        "override-dropped",
    ),
    "an expression that overrides others": (
        figure(expressions=(Expression("wide", override_blink="block"),)),
        "override-dropped",
    ),
    "an emission": (
        figure(expressions=(Expression("glow", (MaterialBind(0, "emission", (1.0, 1, 1)),)),)),
        "bind-dropped",
    ),
}


@pytest.mark.parametrize(("character", "code"), UNSAID.values(), ids=UNSAID.keys())
def test_what_a_pmx_cannot_say_is_noted(character: Character, code: str):
    assert written(character)[1] == [code]


def test_a_figure_without_a_document_becomes_a_whole_model():
    file, notes = written(figure())
    assert notes == []
    assert file.name == "figure"
    assert [bone.name for bone in file.bones] == ["root", "tip"]
    assert file.bones[1].position == (0, 12.5, 0)
    assert [frame.name for frame in file.frames] == ["Root", "表情", "ボーン"]
    assert [frame.special for frame in file.frames] == [1, 1, 0]
    assert file.frames[2].elements.tolist() == [[0, 1]]
    assert file.faces.tolist() == [[0, 2, 1]]
    assert [material.index_count for material in file.materials] == [3]
    assert file.vertices.deform.tolist() == [Deform.BDEF2] * 3
    assert file.vertices.positions.tolist() == [[0, 0, 0], [12.5, 0, 0], [0, 12.5, 0]]
    again = character_from_pmx(file)
    skipped = frozenset({"notes", "document", "name", "rig", "humanoid", "normals", "uvs"})
    assert differences(figure(), again, ignore=skipped) == []


def test_meshes_stand_as_they_do_at_rest():
    """Bound in another pose, hanging on a turned and scaled node, and as they are."""
    half = [0, 0, np.sqrt(0.5), np.sqrt(0.5)]
    skeleton = Skeleton(
        ("root", "tip", "free"),
        [-1, 0, 0],
        [[0, 0, 0], [0, 1, 0], [5, 0, 0]],
        [[0, 0, 0, 1], half, half],
        [[1, 1, 1], [1, 1, 1], [2, -2, 2]],
    )
    loose, whole = Geometry(TRIANGLE, normals=[[0, 0, 1]] * 3), Part(0, [[0, 1, 2]], 0)
    character = figure(
        skeleton=skeleton,
        attachments=(Attachment(0, 0, 0), Attachment(2, 1)),
        meshes=(
            Mesh("held", (replace(loose, joints=[[1]] * 3, weights=[[1]] * 3),), (whole,)),
            Mesh("loose", (loose,), (whole,)),
        ),
    )
    stage = bunraku.Stage(character)
    shape = stage.deform(0, normals=True)
    again = character_from_pmx(written(character)[0])
    geometry = again.meshes[0].geometries[0]
    np.testing.assert_allclose(geometry.positions, shape.positions[0], atol=1e-6)
    np.testing.assert_allclose(geometry.normals, shape.normals[0], atol=1e-6)
    faces = np.concatenate([part.faces for part in again.meshes[0].parts])
    assert list(map(wound, faces)) == list(map(wound, stage.triangles))
    assert geometry.joints[3:].tolist() == [[2]] * 3


def wound(face: Any) -> list[int]:
    """Corners from the lowest on: the same for faces that are wound the same way."""
    return np.roll(face, -int(np.argmin(face))).tolist()


def test_a_character_that_faces_backwards_is_turned():
    file, _ = written(figure(facing="-Z"))
    assert file.vertices.positions[1].tolist() == [-12.5, 0, 0]
    assert file.bones[1].position == (0, 12.5, 0)


def test_parents_that_stand_later_are_evaluated_first():
    skeleton = Skeleton(("tip", "root", "leaf"), [1, -1, 0])
    file, _ = written(Character(skeleton))
    assert [(bone.parent, bone.layer) for bone in file.bones] == [(1, 1), (-1, 0), (0, 1)]


def test_the_rig_is_written():
    limits = [[0.25, 0, 0], [3, 0, 0]]
    rig = Rig(
        layers=[0, 2],
        after_physics=np.array([False, True]),
        appends=(Append(1, 0, -0.5, rotation=False, translation=True, local=True),),
        fixed_axes=(FixedAxis(0, [0, 0.6, 0.8]),),
        chains=(IkChain(1, 0, (IkLink(0, limits), IkLink(1)), 40, 2.0),),
    )
    file, notes = written(figure(rig=rig))
    assert notes == []
    assert file.bones[1].flags & BoneFlag.AFTER_PHYSICS
    assert differences(character_from_pmx(file).rig, rig) == [".fixed_axes[0].axis"]
    np.testing.assert_allclose(file.bones[0].fixed_axis, [0, 0.6, -0.8], rtol=1e-6)
    np.testing.assert_allclose(file.bones[1].ik.links[0].limits, [[-3, 0, 0], [-0.25, 0, 0]])


def test_targets_of_a_figure_without_expressions_become_morphs():
    target = MorphTarget([1], positions=[[0, 0, 1]])
    geometry = Geometry(TRIANGLE, joints=[[0]] * 3, weights=[[1]] * 3, morphs=(target,))
    file, notes = written(figure(geometry=geometry))
    assert notes == []
    assert [(morph.name, morph.kind) for morph in file.morphs] == [("t0", MorphKind.VERTEX)]
    assert file.morphs[0].offsets["vertex"].tolist() == [1]
    assert file.morphs[0].offsets["offset"].tolist() == [[0, 0, -12.5]]
    assert file.frames[1].elements.tolist() == [[1, 0]]


def test_expressions_keep_their_indices_and_mixed_ones_become_groups():
    target = MorphTarget([1], positions=[[0, 0, 1]])
    geometry = Geometry(
        TRIANGLE,
        uvs=(np.zeros((3, 2), np.float32),),
        joints=[[0]] * 3,
        weights=[[1]] * 3,
        morphs=(target,),
    )
    turn = quaternion.from_axis_angle([1, 2, 3], 0.5)
    expressions = (
        Expression("aa", (MorphBind(0, 0, 0.5), JointBind(1, [0, 1, 0], turn)), preset="aa"),
        Expression("uv", (UvBind(0, 0, 0, [2], [[0.5, 0.25]]),)),
        Expression("group", (GroupBind(1, 0.5),)),
        Expression("red", (MaterialBind(0, "base_color", (1.0, 0, 0, 1)),), preset="blink"),
        Expression("dark", (MaterialBind(None, "ambient", (0.5, 0.5, 0.5), "multiply"),)),
        Expression(""),
    )
    file, notes = written(figure(geometry=geometry, expressions=expressions))
    assert notes == ["names-standard"]
    kinds = [(morph.name, morph.kind.name, morph.panel) for morph in file.morphs]
    assert kinds == [
        ("あ", "GROUP", 3),
        ("uv", "UV", 4),
        ("group", "GROUP", 4),
        ("まばたき", "MATERIAL", 2),
        ("dark", "MATERIAL", 4),
        ("morph5", "VERTEX", 4),
        ("あ_vertex", "VERTEX", 4),
        ("あ_bone", "BONE", 4),
    ]
    assert [morph.name_english for morph in file.morphs] == ["aa", "", "", "red", "", "", "", ""]
    assert file.morphs[0].offsets.tolist() == [(6, 1.0), (7, 1.0)]
    assert file.morphs[2].offsets.tolist() == [(1, 0.5)]
    assert file.morphs[3].offsets["diffuse"].tolist() == [[0, -1, -1, 0]]
    again = character_from_pmx(file).expressions
    assert again[4].binds == expressions[4].binds
    bone = again[7].binds[0]
    np.testing.assert_allclose(bone.translation, [0, 1, 0])
    np.testing.assert_allclose(bone.rotation, turn, atol=1e-7)
    assert again[1].binds[0].offsets.tolist() == [[0.5, 0.25]]


def humanoid(**names: str) -> Character:
    """A trunk with hands, each bone under its own name or the one given."""
    bones = ("hips", "spine", "head", "leftHand", "rightHand", "leftIndexProximal")
    skeleton = Skeleton(
        ("root", *(names.get(bone, bone) for bone in bones), names.get("else", "hair")),
        [-1, 0, 1, 2, 2, 2, 4, 3],
    )
    expressions = (Expression("A", preset="aa"), Expression("wide", preset="lookUp"))
    return Character(
        skeleton,
        humanoid=Humanoid({bone: i for i, bone in enumerate(bones, 1)}),
        expressions=expressions,
    )


NAMED = ["root", "センター", "上半身", "頭", "左手首", "右手首", "左人指１", "hair"]


def test_bones_and_expressions_get_the_names_that_motions_know():
    file, notes = written(humanoid())
    assert notes == ["names-standard", "preset-dropped"]
    assert [bone.name for bone in file.bones] == NAMED
    assert [bone.name_english for bone in file.bones][:3] == ["", "hips", "spine"]
    assert [(m.name, m.name_english) for m in file.morphs] == [("あ", "A"), ("wide", "")]
    assert file.bones[1].flags & BoneFlag.MOVABLE
    again = character_from_pmx(file)
    assert dict(again.humanoid.bones) == dict(humanoid().humanoid.bones)
    # a model of MMD keeps the names that it has
    other = pmx_from_character(replace(again, humanoid=Humanoid({"hips": 0})))[0]
    assert [bone.name for bone in other.bones] == NAMED


def test_names_that_are_standard_or_taken_stay():
    names = {"hips": "下半身", "leftHand": "左手首", "leftIndexProximal": "左人指1", "else": "頭"}
    file, _ = written(humanoid(**names))
    assert [bone.name for bone in file.bones] == [
        *("root", "下半身", "上半身", "head", "左手首", "右手首", "左人指1", "頭")
    ]


def test_pictures_are_named_and_handed_over():
    images = (Image(b"data", "image/png", "face"), Image(b"", "image/png", "tex/gone.png"))
    material = Material("skin", image=0, double_sided=True, base_color=(0.5, 1, 0, 1))
    character = figure(images=images, materials=(material,))
    file, pictures, _ = pmx_from_character(character, textures="m_textures")
    assert file.textures == ("m_textures/0_face.png", "tex/gone.png")
    assert pictures == {"m_textures/0_face.png": b"data"}
    assert file.materials[0].texture == 0
    assert file.materials[0].diffuse == pytest.approx((0.7353569, 1, 0, 1))
    assert character_from_pmx(file).materials[0].base_color == pytest.approx((0.5, 1, 0, 1))


def test_textures_are_read_where_materials_place_them():
    uvs = tuple(np.float32(each) for each in ([[0, 0], [1, 0], [0, 1]], [[0, 0], [4, 0], [0, 4]]))
    placed = Material("skin", image=0, uv_set=1, uv_offset=(0.5, 0.25), uv_scale=(0.25, 0.5))
    character = figure(
        geometry=Geometry(TRIANGLE, uvs=uvs),
        images=(Image(b"data", "image/png", "face"),),
        materials=(placed,),
    )
    file, notes = written(character)
    assert notes == []
    assert file.vertices.uvs.tolist() == [[0.5, 0.25], [1.5, 0.25], [0.5, 2.25]]
    assert file.vertices.additional_uvs[:, 0, :2].tolist() == uvs[1].tolist()
    half_pictured = replace(character, materials=(replace(placed, image=None),))
    assert written(half_pictured)[0].vertices.uvs.tolist() == uvs[0].tolist()


def test_the_puppet_goes_through_a_file(tmp_path: Path):
    puppet = bunraku.make_puppet()
    notes = save(puppet, tmp_path / "puppet.pmx")
    assert [note.code for note in notes] == ["clips-dropped"]
    again = load(tmp_path / "puppet.pmx")
    assert again.notes == ()
    rest, there = bunraku.Stage(puppet).deform(0), bunraku.Stage(again).deform(0)
    np.testing.assert_allclose(there.positions, rest.positions, atol=1e-6)
    assert [image.data for image in again.images] == [image.data for image in puppet.images]
    assert save(again, tmp_path / "puppet.pmx") == ()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["puppet.pmx", "puppet_textures"]
