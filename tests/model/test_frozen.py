"""Every piece of a model is shown on one line, and its arrays stay read-only in every copy."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from copy import copy, deepcopy
from dataclasses import fields, is_dataclass, replace
from pathlib import Path

import numpy as np
import pytest

import bunraku
from bunraku.model import (
    Attachment,
    Character,
    Clip,
    Collider,
    Expression,
    FixedAxis,
    Geometry,
    GroupBind,
    Humanoid,
    IkChain,
    IkLink,
    Image,
    JointBind,
    LookAt,
    Material,
    MaterialBind,
    Mesh,
    MorphTarget,
    Part,
    RangeMap,
    Rig,
    RollConstraint,
    Skeleton,
    Skin,
    Spring,
    SpringJoint,
    Track,
    UvBind,
    differences,
)
from bunraku.model.mesh import SphericalBlend

CORNERS = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
FAR = RangeMap(1.0, 1.0)


def everything() -> Character:
    """A character that has one of each kind of data, made of lists."""
    geometry = Geometry(
        CORNERS,
        normals=[[0, 0, 1]] * 3,
        tangents=[[1, 0, 0, 1]] * 3,
        uvs=[[[0, 0]] * 3],
        colors=[[[1, 1, 1, 1]] * 3],
        joints=[[0, 1]] * 3,
        weights=[[0.5, 0.5]] * 3,
        morphs=[MorphTarget([0], [[0, 1, 0]], [[0, 0, 1]], [[0, 0, 1]])],
        spherical=SphericalBlend([0], [[0, 0, 0]], [[0, 0, 0]], [[0, 0, 0]]),
        dual=[1],
    )
    rig = Rig(
        layers=[0, 0],
        after_physics=[False, True],
        fixed_axes=[FixedAxis(1, [0, 2, 0])],
        chains=[IkChain(0, 1, [IkLink(1, [[1, 1, 1], [0, 0, 0]])], 4, 0.5)],
        look_at=LookAt("bone", [0, 0, 0], FAR, FAR, FAR, FAR),
        springs=[Spring("hair", [SpringJoint(1, tail=[0, 1, 0])], [0])],
        colliders=[Collider(0, "plane", [0, 0, 0], normal=[0, 1, 0])],
    )
    binds = (JointBind(1, [0, 1, 0], [0, 0, 0.6, 0.8]), UvBind(0, 0, 0, [0], [[0.5, 0]]))
    bent = [[[0, 0, 1, 1]] * 3] * 2
    steps = Track("b", "translation", [0, 1], [[0, 0, 0], [0, 1, 0]], "BEZIER", bent)
    return Character(
        Skeleton(["a", "b"], [-1, 0]),
        [Mesh("face", [geometry], [Part(0, [[0, 1, 2]])], ["smile"])],
        [Skin([0, 1])],
        [Attachment(0, 0, 0)],
        images=[Image(b"\x89PNG" * 9, "image/png", "skin")],
        clips=[Clip("step", [steps])],
        expressions=[Expression("grin", binds)],
        rig=rig,
        humanoid=Humanoid({"head": 1}),
        name="doll",
    )


def pieces(value: object, place: str = "") -> Iterator[tuple[str, object]]:
    yield place, value
    if isinstance(value, tuple):
        for i, each in enumerate(value):
            yield from pieces(each, f"{place}[{i}]")
    elif is_dataclass(value):
        for field in fields(value):
            yield from pieces(getattr(value, field.name), f"{place}.{field.name}")


def through_pickle(value: object) -> object:
    return pickle.loads(pickle.dumps(value))


@pytest.mark.parametrize("copied", [lambda value: value, copy, deepcopy, through_pickle])
def test_arrays_are_read_only_in_every_copy(copied: Callable[[object], object]) -> None:
    for original in (everything(), everything().rest_pose()):
        made = copied(original)
        arrays = {place: each for place, each in pieces(made) if isinstance(each, np.ndarray)}
        assert len(arrays) > 5
        assert [place for place, each in arrays.items() if each.flags.writeable] == []
        assert differences(original, made) == []


def test_a_figure_with_its_bones_can_be_copied() -> None:
    copied = deepcopy(Humanoid({"hips": 3}))
    assert copied == Humanoid({"hips": 3})
    with pytest.raises(TypeError):
        copied.bones["head"] = 4


def test_the_callers_own_arrays_stay_as_they_are() -> None:
    late, axis = np.array([False, True]), np.array([0.0, 1, 0])
    rig = Rig(layers=[0, 0], after_physics=late, fixed_axes=[FixedAxis(0, axis)])
    assert not rig.after_physics.flags.writeable
    assert late.flags.writeable
    assert axis.flags.writeable


def test_everything_is_shown_on_one_line_by_its_sizes() -> None:
    doll = everything()
    shown = {place: repr(each) for place, each in pieces(doll) if is_dataclass(each)}
    assert all("\n" not in each and len(each) < 700 for each in shown.values())
    assert shown[""].startswith("Character('doll', skeleton=Skeleton(2 nodes), 1 meshes, 1 skins")
    assert shown[".meshes[0]"] == (
        "Mesh('face', 1 geometries, 1 parts, 1 morph_names, morph_weights (1,))"
    )
    assert shown[".meshes[0].parts[0]"] == "Part(geometry=0, faces (1, 3))"
    assert shown[".meshes[0].geometries[0].morphs[0]"].startswith("MorphTarget(indices (1,), posit")
    assert shown[".images[0]"] == "Image('skin', 36 bytes, mime_type='image/png')"
    assert shown[".humanoid"] == "Humanoid(1 bones)"
    assert shown[".clips[0].tracks[0]"] == (
        "Track(target='b', path='translation', times (2,), values (2, 3), interpolation='BEZIER', "
        "curves (2, 3, 4))"
    )
    assert repr(doll.rest_pose()) == "Pose(1 frames, 2 nodes)"
    bent = bunraku.Stage(doll).deform([0, 1])
    assert repr(bent) == "Deformation(times (2,), method='lbs', 1 ranges, positions (2, 3, 3))"


def test_a_large_character_is_shown_as_short() -> None:
    puppet = bunraku.make_puppet()
    assert len(repr(puppet)) < 300
    assert len(repr(replace(puppet, images=(Image(bytes(10**6), "image/png"),)))) < 300


def test_numbers_of_numpy_become_pythons(tmp_path: Path) -> None:
    zero, one, half = np.int64(0), np.uint8(1), np.float32(0.5)
    doll = Character(
        Skeleton(["a", "b"], [-1, 0]),
        [Mesh("m", [Geometry(CORNERS)], [Part(zero, [[0, 1, 2]], zero)])],
        attachments=[Attachment(one, zero)],
        materials=[Material(base_color=(half, half, half, one), image=zero, alpha_cutoff=half)],
        images=[Image(b"\x89PNG", "image/png")],
        default_scene=zero,
        clips=[Clip("step", [Track(one, "translation", [0, 1], np.ones((2, 3)))])],
        expressions=[
            Expression("grin", [JointBind(one, [0, 0, 0], [0, 0, 0, 1]), GroupBind(zero, half)]),
            Expression("red", [MaterialBind(zero, "base_color", np.ones(4))]),
        ],
        rig=Rig(
            constraints=[RollConstraint(one, zero, "X", half)],
            springs=[Spring("", [SpringJoint(one, tail=[0, 1, 0], drag=half)], [zero], zero)],
            colliders=[Collider(zero, "sphere", [0, 0, 0], half)],
        ),
        humanoid=Humanoid({"hips": one}),
    )
    numbers = {place for place, each in pieces(doll) if isinstance(each, np.generic)}
    assert numbers == set()
    assert type(doll.humanoid.bones["hips"]) is int
    bunraku.save(doll, tmp_path / "doll.glb")
    assert bunraku.load(tmp_path / "doll.glb").attachments[0].node == 1
