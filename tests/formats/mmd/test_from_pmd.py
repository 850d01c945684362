from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bunraku.errors import FormatError
from bunraku.formats.mmd import (
    BoneFlag,
    PmdFile,
    PmdIk,
    character_from_pmd,
    pmx_bytes,
    pmx_from_character,
    pmx_from_pmd,
    read_pmd,
    read_pmx,
)
from bunraku.formats.mmd.pmd import BONE, MATERIAL, NONE, VERTEX
from bunraku.model import differences
from tests.formats.mmd.sketch import pmd_sections


def bones(*records: tuple[Any, ...]) -> np.ndarray[Any, Any]:
    """(name, parent, tail, kind, link, position) each."""
    return np.array([(name.encode("cp932"), *rest) for name, *rest in records], BONE)


def whole() -> PmdFile:
    return read_pmd(b"".join(pmd_sections()), name="m.pmd")


INVALID = {
    "a material that claims part of a face": (
        replace(
            PmdFile(source="x.pmd"),
            vertices=np.zeros(3, VERTEX),
            bones=bones(("a", NONE, 0, 0, 0, (0, 0, 0))),
            faces=np.zeros((2, 3), "<u2"),
            materials=np.array([((1,) * 4, 0, (0,) * 3, (0,) * 3, 0, 0, 4, b"")], MATERIAL),
        ),
        "x.pmd: material 0: claims 4",
    ),
    "a vertex that is nowhere": (
        replace(
            PmdFile(source="x.pmd"),
            vertices=np.array([((math.nan,) * 3, (0,) * 3, (0, 0), (0, 0), 100, 0)], VERTEX),
            bones=bones(("a", NONE, 0, 0, 0, (0, 0, 0))),
        ),
        "x.pmd: geometry.positions",
    ),
}


@pytest.mark.parametrize(("file", "message"), INVALID.values(), ids=INVALID.keys())
def test_models_that_cannot_be(file: PmdFile, message: str):
    with pytest.raises(FormatError) as caught:
        character_from_pmd(file)
    assert str(caught.value).startswith(message)


def test_bones_of_every_kind():
    up = (0.0, 0.0, 0.0)
    file = PmdFile(
        bones=bones(
            ("a", NONE, 1, 0, 0, up),
            ("move", 0, 0, 1, 0, up),
            ("follow", 0, 0, 5, 1, up),
            ("twist", 0, 5, 8, 0, up),
            ("tail", 0, 1, 9, 50, up),
            ("tip", 0, 0, 7, 0, (3, 0, 4)),
            ("against", 0, 1, 9, 65536 - 50, up),
        )
    )
    made = pmx_from_pmd(file).bones
    assert made[0].parent == -1
    assert (made[0].flags & BoneFlag.TAIL_IS_BONE, made[0].tail) == (1, 1)
    assert made[1].flags & BoneFlag.MOVABLE
    assert not made[0].flags & BoneFlag.MOVABLE
    assert made[2].append == (1, 1.0)
    assert made[3].fixed_axis == (0.6, 0.0, 0.8)
    assert made[4].append == (1, 0.5)
    assert made[6].append == (1, -0.5)
    assert not made[5].flags & BoneFlag.VISIBLE
    assert all(bool(bone.flags & 0x300) is (bone.append is not None) for bone in made)


def test_knees_bend_one_way_and_steps_are_four_times_the_weight():
    rig = character_from_pmd(whole()).rig
    (chain,) = rig.chains
    assert (chain.goal, chain.effector, chain.loops, chain.step) == (0, 1, 40, 2.0)
    knee, other = chain.links
    np.testing.assert_allclose(knee.limits, [[math.radians(0.5), 0, 0], [math.pi, 0, 0]])
    assert other.limits is None


def test_ik_is_solved_in_the_order_of_its_list_after_what_it_turns():
    records = bones(*((name, NONE, 0, 0, 0, (0, 0, 0)) for name in "abcd"))
    records["parent"][3] = 2
    iks = tuple(PmdIk(goal, 0, 1, 1.0) for goal in (2, 1, 2))
    made = pmx_from_pmd(PmdFile(bones=records, iks=iks)).bones
    assert [bone.name for bone in made] == ["a", "b", "c", "d", "c+"]
    assert [bone.layer for bone in made] == [0, 2, 2, 2, 2]
    assert [bone.ik is not None for bone in made] == [False, True, True, False, True]
    assert made[4].parent == 2
    assert not made[4].flags & BoneFlag.VISIBLE


def test_skins_move_the_vertices_of_the_base():
    character = character_from_pmd(whole())
    assert [each.name for each in character.expressions] == ["あ"]
    target = character.meshes[0].geometries[0].morphs[0]
    assert target.indices.tolist() == [2]
    np.testing.assert_allclose(target.positions, [[0.32, 0.4, -0.48]], rtol=1e-6)


def test_vertices_of_one_bone_and_of_two():
    geometry = character_from_pmd(whole()).meshes[0].geometries[0]
    assert geometry.joints.tolist() == [[0, 0], [0, 1], [0, 1], [0, 0]]
    expected = [[1, 0], [0.99, 0.01], [0.98, 0.02], [1, 0]]
    np.testing.assert_allclose(geometry.weights, expected, atol=1e-7)


def test_textures_and_sphere_maps_share_a_field():
    made = pmx_from_pmd(whole())
    assert made.textures == ("a.bmp", "b.sph")
    material = made.materials[0]
    assert (material.texture, material.sphere_texture, material.sphere_mode) == (0, 1, 1)


def test_bodies_stand_where_their_bones_do():
    body = pmx_from_pmd(whole()).bodies[0]
    assert body.position == (3.0, 12.0, 5.0)


def test_the_pmx_is_a_whole_one():
    file = whole()
    made = read_pmx(pmx_bytes(pmx_from_pmd(file)))
    assert made.notes == ()
    assert [frame.name for frame in made.frames] == ["Root", "表情", "体"]
    assert [bone.name_english for bone in made.bones] == ["center", "knee"]


def test_a_pmd_saved_as_pmx_is_that_one():
    character = character_from_pmd(whole())
    assert isinstance(character.document, PmdFile)
    made = pmx_from_character(character)[0]
    assert pmx_bytes(made) == pmx_bytes(pmx_from_pmd(character.document))
    again = replace(character, name="other")
    assert differences(pmx_from_character(again)[0].bones, made.bones) == []
