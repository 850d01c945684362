"""Whatever a VRM can say comes back as it was."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from bunraku.formats.vrm import character_from_vrm, vrm_from_character
from bunraku.formats.vrm.names import PRESETS, PRESETS_OF_0
from bunraku.model import (
    AimConstraint,
    Character,
    Collider,
    Expression,
    Humanoid,
    LookAt,
    MaterialBind,
    MorphBind,
    RangeMap,
    Rig,
    RollConstraint,
    RotationConstraint,
    Spring,
    SpringJoint,
    differences,
)
from tests.formats.vrm.figures import HAIR, NODES, bare_figure, read

BARE = replace(read(bare_figure()), document=None, name="x")
NODE = st.integers(0, len(BARE.skeleton) - 1)
NUMBER = st.floats(-1e6, 1e6)
SHARE = st.floats(0, 1)
VECTOR = st.tuples(NUMBER, NUMBER, NUMBER).map(np.array)
NAME = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8).filter(
    lambda name: name not in PRESETS
)
OVERRIDE = st.sampled_from(["none", "block", "blend"])
MATERIAL = st.integers(0, len(BARE.materials) - 1)


def colors(names: list[str]) -> st.SearchStrategy[MaterialBind]:
    value = st.tuples(SHARE, SHARE, SHARE, SHARE)
    return st.builds(MaterialBind, MATERIAL, st.sampled_from(names), value)


@st.composite
def transforms(draw: Any, materials: list[int]) -> tuple[MaterialBind, ...]:
    """Scale and offset of some textures, in the order in which files are read."""
    found = []
    for material in draw(st.lists(st.sampled_from(materials), unique=True)):
        found.append(MaterialBind(material, "uv_scale", draw(st.tuples(SHARE, SHARE))))
        found.append(MaterialBind(material, "uv_offset", draw(st.tuples(SHARE, SHARE))))
    return tuple(found)


@st.composite
def expressions(draw: Any, old: bool) -> tuple[Expression, ...]:
    presets = PRESETS_OF_0.values() if old else PRESETS
    found = []
    for preset in draw(st.lists(st.sampled_from(sorted(presets)), unique=True, max_size=4)):
        found.append((preset, preset))
    names = draw(st.lists(NAME, unique=True, max_size=3))
    result = []
    for name, preset in [*found, *((name, None) for name in names)]:
        weight = st.integers(0, 100).map(lambda n: n / 100)
        targets = draw(st.lists(st.integers(0, 1), unique=True))
        morphs = tuple(MorphBind(0, target, draw(weight)) for target in targets)
        # 0.x names materials, and two of the figure's have one name
        known = ["base_color", "emission", "shade_color", "rim_color", "outline_color"]
        tints = draw(st.lists(colors(known if old else [*known, "matcap_color"]), max_size=2))
        if old:
            tints = [replace(tint, material=0) for tint in tints][:1]
        moved = draw(transforms([0] if old else [0, 1, 2]))
        overrides = ["none"] * 3 if old else [draw(OVERRIDE) for _ in range(3)]
        binds = (*morphs, *tints, *moved)
        result.append(Expression(name, binds, preset, draw(st.booleans()), *overrides))
    return tuple(result)


@st.composite
def gazes(draw: Any) -> LookAt:
    kind = draw(st.sampled_from(["bone", "expression"]))
    degrees = st.integers(0, 180).map(math.radians)
    outputs = degrees if kind == "bone" else SHARE
    maps = [RangeMap(draw(degrees), draw(outputs)) for _ in range(4)]
    return LookAt(kind, draw(VECTOR), *maps)


@st.composite
def constraints(draw: Any) -> tuple[Any, ...]:
    """Hands that follow other bones: never in a circle."""
    found = []
    for node in (NODES["leftHand"], NODES["rightHand"]):
        source = draw(st.sampled_from([NODES["hips"], NODES["head"], NODES["leftFoot"]]))
        kind = draw(st.sampled_from([None, "roll", "aim", "rotation"]))
        weight = draw(SHARE)
        if kind == "roll":
            found.append(RollConstraint(node, source, draw(st.sampled_from("XYZ")), weight))
        elif kind == "aim":
            axis = draw(st.sampled_from(["+X", "-X", "+Y", "-Y", "+Z", "-Z"]))
            found.append(AimConstraint(node, source, axis, weight))
        elif kind == "rotation":
            found.append(RotationConstraint(node, source, weight))
    return tuple(found)


@st.composite
def colliders(draw: Any, old: bool) -> Collider:
    shape = "sphere" if old else draw(st.sampled_from(["sphere", "capsule", "plane"]))
    if shape == "plane":
        normal = draw(VECTOR.filter(lambda v: v.any()))
        return Collider(draw(NODE), shape, draw(VECTOR), normal=normal)
    tail = draw(VECTOR) if shape == "capsule" else None
    inside = False if old else draw(st.booleans())
    return Collider(draw(NODE), shape, draw(VECTOR), draw(SHARE), tail=tail, inside=inside)


@st.composite
def springs(draw: Any, old: bool) -> Rig:
    found = draw(st.lists(colliders(old), max_size=3))
    # colliders of one node that follow each other are one group of 0.x
    used = tuple(range(len(found))) if old else tuple(draw(st.permutations(range(len(found)))))
    setting = (draw(SHARE), draw(SHARE), (0.0, -1.0, 0.0), draw(SHARE), draw(SHARE))
    joints = [SpringJoint(HAIR, HAIR + 1, None, *setting)]
    if old:
        tail = BARE.skeleton.translations[HAIR + 2] * (0.07 / 0.2)
        joints.append(SpringJoint(HAIR + 1, HAIR + 2, None, *setting))
        joints.append(SpringJoint(HAIR + 2, None, tail, *setting))
    elif draw(st.booleans()):
        other = (draw(SHARE), draw(SHARE), tuple(draw(VECTOR).tolist()), draw(SHARE), draw(SHARE))
        joints.append(SpringJoint(HAIR + 1, HAIR + 2, None, *other))
    center = draw(st.none() | st.just(NODES["hips"]))
    spring = Spring(draw(NAME), tuple(joints), used, center)
    return Rig(springs=draw(st.sampled_from([(), (spring,)])), colliders=tuple(found))


@st.composite
def figures(draw: Any) -> Character:
    old = draw(st.booleans())
    rig = replace(
        draw(springs(old)), constraints=draw(constraints()), look_at=draw(st.none() | gazes())
    )
    empty = not (rig.springs or rig.colliders or rig.constraints or rig.look_at)
    bones = draw(st.sets(st.sampled_from(sorted(NODES))))
    return replace(
        BARE,
        facing="-Z" if old else "+Z",
        humanoid=Humanoid({bone: NODES[bone] for bone in sorted(bones)}),
        expressions=draw(expressions(old)),
        rig=None if empty else rig,
    )


def again(character: Character) -> Character:
    return replace(character_from_vrm(vrm_from_character(character)[0]), name="x")


def alike(a: Character, b: Character) -> list[str]:
    return differences(_rounded(a), _rounded(b))


def _rounded(character: Character) -> Character:
    """Weights of 0.x go through hundredths, offsets through 1 − y, tails through a root."""
    expressions = tuple(
        replace(
            each,
            binds=tuple(
                replace(bind, weight=round(bind.weight, 9))
                if isinstance(bind, MorphBind)
                else replace(bind, value=tuple(round(v, 9) + 0.0 for v in bind.value))
                for bind in each.binds
            ),
        )
        for each in character.expressions
    )
    rig = character.rig
    if rig is not None:
        rig = replace(rig, springs=tuple(map(_rounded_tails, rig.springs)))
    return replace(character, expressions=expressions, rig=rig)


def _rounded_tails(spring: Spring) -> Spring:
    return replace(
        spring,
        joints=tuple(
            joint if joint.tail is None else replace(joint, tail=np.round(joint.tail, 9) + 0.0)
            for joint in spring.joints
        ),
    )


@settings(max_examples=40, deadline=None)
@given(figures())
def test_written_from_scratch(figure: Character):
    assert alike(again(figure), figure) == []


@settings(max_examples=40, deadline=None)
@given(figures(), figures())
def test_patched_from_one_to_another(before: Character, after: Character):
    read_back = again(before)
    changed = replace(
        after, facing=before.facing, document=read_back.document, materials=read_back.materials
    )
    if before.facing != after.facing:
        changed = replace(changed, expressions=before.expressions, rig=before.rig)
    assert alike(again(changed), changed) == []
