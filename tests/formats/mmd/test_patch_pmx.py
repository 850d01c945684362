"""A changed character over the PMX it came from."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from bunraku.formats import load, save
from bunraku.formats.mmd import (
    character_from_pmx,
    pmx_bytes,
    pmx_from_character,
    read_pmx,
)
from bunraku.model import (
    Expression,
    GroupBind,
    Skeleton,
    differences,
)
from tests.formats.mmd.sketch import whole_pmx


def changed_fields(a: Any, b: Any) -> set[str]:
    """Names of the fields in which two documents differ."""
    return {
        each.name for each in fields(a) if differences(getattr(a, each.name), getattr(b, each.name))
    }


def test_what_was_not_changed_is_the_document():
    file = read_pmx(whole_pmx())
    character = character_from_pmx(file)
    made, _, notes = pmx_from_character(character)
    assert made is file
    assert notes == ()


def test_a_name_alone():
    file = read_pmx(whole_pmx())
    made, _, _ = pmx_from_character(replace(character_from_pmx(file), name="other"))
    assert changed_fields(made, file) == {"name"}
    assert made.name == "other"


def test_a_moved_bone_keeps_its_other_fields():
    file = read_pmx(whole_pmx())
    character = character_from_pmx(file)
    skeleton = character.skeleton
    names = ("センター", "腕", "足ＩＫ")
    moved = replace_skeleton(skeleton, names=names)
    made, _, notes = pmx_from_character(replace(character, skeleton=moved))
    assert notes == ()
    assert changed_fields(made, file) == {"bones"}
    assert made.bones[0] == file.bones[0]
    assert made.bones[1] == replace(file.bones[1], name="腕")


def replace_skeleton(skeleton: Skeleton, **parts: Any) -> Skeleton:
    whole = {name: getattr(skeleton, name) for name in ("names", "parents", "translations")}
    return Skeleton(**{**whole, **parts})


def test_moved_vertices_keep_their_edges_and_the_others_their_bits():
    file = read_pmx(whole_pmx())
    character = character_from_pmx(file)
    (mesh,) = character.meshes
    (geometry,) = mesh.geometries
    positions = geometry.positions.copy()
    positions[2] += [0.08, 0, 0]
    mesh = replace(mesh, geometries=(replace(geometry, positions=positions),))
    made, _, _ = pmx_from_character(replace(character, meshes=(mesh,)))
    assert changed_fields(made, file) == {"vertices"}
    assert changed_fields(made.vertices, file.vertices) == {"positions"}
    np.testing.assert_allclose(made.vertices.positions[2], [3, 2, 3], rtol=1e-6)
    others = [0, 1, 3, 4, 5]
    np.testing.assert_array_equal(made.vertices.positions[others], file.vertices.positions[others])


def test_new_weights_make_a_new_deform_type():
    file = read_pmx(whole_pmx())
    character = character_from_pmx(file)
    (mesh,) = character.meshes
    (geometry,) = mesh.geometries
    joints, weights = geometry.joints.copy(), geometry.weights.copy()
    joints[0], weights[0] = [0, 1, 2, 0], [0.5, 0.25, 0.25, 0]
    geometry = replace(geometry, joints=joints, weights=weights, spherical=None)
    changed = replace(character, meshes=(replace(mesh, geometries=(geometry,)),))
    made = pmx_from_character(changed)[0].vertices
    assert made.deform.tolist() == [2, 0 + 1, 2, 1, 4, 0]
    assert made.weights[0].tolist() == [0.5, 0.25, 0.25, 0]
    assert made.weights[2].tolist() == file.vertices.weights[2].tolist()  # not renormalised
    assert len(made.sdef) == 0
    read_pmx(pmx_bytes(replace(file, vertices=made)))


def test_new_morphs_and_bones_are_listed():
    file = read_pmx(whole_pmx())
    character = character_from_pmx(file)
    skeleton = character.skeleton
    grown = replace_skeleton(
        skeleton,
        names=(*skeleton.names, "new"),
        parents=[*skeleton.parents, 0],
        translations=[*skeleton.translations, [0, 1, 0]],
    )
    rig = replace(
        character.rig,
        layers=[*character.rig.layers, 0],
        after_physics=np.append(character.rig.after_physics, False),
    )
    expressions = (*character.expressions, Expression("new", (GroupBind(0, 1.0),)))
    changed = replace(character, skeleton=grown, rig=rig, expressions=expressions)
    made, _, notes = pmx_from_character(changed)
    assert notes == ()
    assert changed_fields(made, file) == {"bones", "morphs", "frames"}
    assert (made.bones[:3], made.bones[3].name) == (file.bones, "new")
    assert made.morphs[-1].name == "new"
    assert made.frames[1].elements[-1].tolist() == [1, len(file.morphs)]
    assert made.frames[-1].elements.tolist() == [[0, 3]]
    read_pmx(pmx_bytes(made))


def test_fewer_of_something_is_written_from_scratch():
    character = character_from_pmx(read_pmx(whole_pmx()))
    made, _, notes = pmx_from_character(replace(character, expressions=()))
    assert "written-from-scratch" in [note.code for note in notes]
    assert made.bodies == ()


def test_real_models_are_written_back_bit_for_bit(corpus: Path, tmp_path: Path):
    for path in sorted(corpus.rglob("*.pmx")):
        character = load(path)
        codes = {note.code for note in save(character, tmp_path / "a.pmx")}
        assert codes == set(), path.name
        assert (tmp_path / "a.pmx").read_bytes() == path.read_bytes(), path.name


def test_real_models_made_anew_say_the_same(corpus: Path):
    for path in sorted(corpus.rglob("*.pmx")):
        character = load(path)
        made, _, notes = pmx_from_character(replace(character, document=None))
        assert notes == (), path.name
        again = character_from_pmx(read_pmx(pmx_bytes(made), name=made.source))
        found = differences(character, again)
        # float32 on the way, and slots of no weight
        allowed = ("weights", "joints", "translations", "axis")
        assert all(place.endswith(allowed) for place in found), (path.name, found)
        was, now = character.skeleton.translations, again.skeleton.translations
        np.testing.assert_allclose(now, was, atol=1e-6, err_msg=path.name)
