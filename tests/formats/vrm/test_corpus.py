"""Real VRM files: what loads, what is refused, and what each gets noted."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from bunraku.errors import BunrakuError, FormatError
from bunraku.formats import load, load_clips
from bunraku.model import Character, MorphBind

FIXTURES = "animu-sphere__usd-vrm-plugins__"

# Files that must not load, and what the error says.
REFUSED = {
    f"{FIXTURES}duplicate_humanoid_bone.vrm": (
        "extensions.VRM.humanoid.humanBones[1]: expected one node for hips"
    ),
    f"{FIXTURES}invalid.vrm": "expected a GLB or a JSON object",
    f"{FIXTURES}malformed_glb_json.vrm": "expected a GLB or a JSON object",
    f"{FIXTURES}nonfinite_transform.vrm": "NaN is not a JSON number",
    f"{FIXTURES}nonobject_vrm_extension.vrm": "extensions.VRMC_vrm: expected an object",
    f"{FIXTURES}out_of_range_joints.vrm": "nodes[0]: its mesh uses joint slot 5",
}

# Files with flaws that only cost what is flawed: code and place of the note.
NOTED = {
    f"{FIXTURES}badext.vrm": [
        ("dangling-reference", "extensions.VRMC_vrm.humanoid.humanBones.spine.node"),
        ("licence-missing", "extensions.VRMC_vrm.meta"),
    ],
    f"{FIXTURES}dangling_texture_index.vrm": [
        ("dangling-reference", "materials[0].pbrMetallicRoughness.baseColorTexture.index")
    ],
    f"{FIXTURES}missing_spring_collider_group.vrm": [
        ("dangling-reference", "extensions.VRMC_springBone.springs[0].colliderGroups[0]")
    ],
    f"{FIXTURES}oob_expression_morph.vrm": [
        (
            "dangling-reference",
            "extensions.VRMC_vrm.expressions.preset.happy.morphTargetBinds[0].index",
        )
    ],
    f"{FIXTURES}unmapped_humanoid_node.vrm": [
        ("dangling-reference", "extensions.VRMC_vrm.humanoid.humanBones.spine.node")
    ],
    "V-Sekai__godot-vrm__Godette_vrm_v4.vrm": [
        ("gaze-curve-carried", "extensions.VRM.firstPerson.lookAtHorizontalOuter.curve"),
        ("gaze-curve-carried", "extensions.VRM.firstPerson.lookAtVerticalUp.curve"),
    ],
}
# What many files have and no test of this table is about.
ORDINARY = {"humanoid-incomplete", "bounds-missing", "shading-carried", "licence-usage"}
ORDINARY |= {"licence-redistribution", "licence-modification"}

# Nodes, bones, expressions and their binds, springs and their joints, colliders.
HELD = {
    "V-Sekai__godot-vrm__Godette_vrm_v4.vrm": (71, 45, 17, 25, 3, 16, 4),
    f"{FIXTURES}constraints.vrm": (4, 3, 0, 0, 0, 0, 0),
    f"{FIXTURES}expressions.vrm": (3, 2, 1, 2, 0, 0, 0),
    f"{FIXTURES}springbone.vrm": (6, 2, 0, 0, 1, 1, 1),
    f"{FIXTURES}vrm0_expressions.vrm": (3, 2, 1, 1, 0, 0, 0),
    f"{FIXTURES}vrm0_frontbake.vrm": (3, 2, 0, 0, 1, 1, 0),
    "arkavo-org__VRMMetalKit__smoke_spring.vrm": (25, 19, 0, 0, 1, 3, 0),
    "madjin__vrm-samples__cryptovoxels.vrm": (74, 43, 0, 0, 0, 0, 0),
    "saturday06__VRM-Addon-for-Blender__minimal.vrm": (17, 17, 17, 0, 0, 0, 0),
    "vrm-c__UniVRM__EmissionMigration_v0.107.0.vrm": (70, 52, 17, 0, 0, 0, 0),
    "vrm-c__vrm-specification__VRMC_materials_mtoon_UV_Animation_Test.vrm": (58, 53, *5 * [0]),
    "vrm-c__vrm-specification__VRMC_vrm_expressions_isBinary_Overridden.vrm": (
        *(27, 22, 2, 8, 0, 0, 0),
    ),
}


@pytest.fixture(scope="module")
def folder(corpus: Path) -> Path:
    return corpus / "vrm_mmd"


@pytest.fixture(scope="module")
def loaded(folder: Path) -> dict[str, Character | BunrakuError]:
    found: dict[str, Character | BunrakuError] = {}
    for path in sorted([*folder.glob("*.vrm"), *folder.glob("*.vrma")]):
        try:
            found[path.name] = load(path)
        except BunrakuError as error:
            found[path.name] = error
    return found


def test_real_files_load_or_give_the_error_they_deserve(loaded):
    assert len(loaded) >= 40
    for name, found in loaded.items():
        if name in REFUSED:
            assert isinstance(found, FormatError), name
            assert f"{name}: " in str(found)
            assert REFUSED[name] in str(found)
        else:
            assert isinstance(found, Character), f"{name}: {found}"


def test_real_files_get_the_notes_they_deserve(loaded):
    found = {
        name: [(n.code, n.place) for n in character.notes if n.code not in ORDINARY]
        for name, character in loaded.items()
        if isinstance(character, Character)
    }
    assert {name: notes for name, notes in found.items() if notes} == NOTED


def test_every_vrm_says_what_it_allows(loaded):
    for name, character in loaded.items():
        if isinstance(character, Character) and name.endswith(".vrm"):
            codes = {note.code for note in character.notes}
            expected = {"licence-redistribution", "licence-modification", "licence-usage"}
            assert expected <= codes or "licence-missing" in codes, name


@pytest.mark.parametrize(("name", "counts"), HELD.items(), ids=HELD.keys())
def test_what_real_files_hold(folder: Path, name: str, counts):
    character = load(folder / name)
    springs = character.rig.springs if character.rig is not None else ()
    assert counts == (
        len(character.skeleton),
        len(character.humanoid.bones),
        len(character.expressions),
        sum(len(each.binds) for each in character.expressions),
        len(springs),
        sum(len(each.joints) for each in springs),
        len(character.rig.colliders) if character.rig is not None else 0,
    )


def test_facing_follows_the_version(loaded):
    for name, character in loaded.items():
        if isinstance(character, Character):
            old = "VRM" in character.document.json.get("extensions", {})
            assert character.facing == ("-Z" if old else "+Z"), name


def test_left_is_where_facing_says(loaded):
    for name, character in loaded.items():
        if not isinstance(character, Character) or character.humanoid is None:
            continue
        bones, skeleton = character.humanoid.bones, character.skeleton
        if "leftUpperArm" not in bones:
            continue
        node, x = bones["leftUpperArm"], 0.0
        while node >= 0 and not skeleton.rotations[node][:3].any():  # nobody turned so far
            x += skeleton.translations[node][0]
            node = skeleton.parents[node]
        if node < 0:
            assert (x > 0) == (character.facing == "+Z"), name


def test_godette(folder: Path):
    character = load(folder / "V-Sekai__godot-vrm__Godette_vrm_v4.vrm")
    joy = next(each for each in character.expressions if each.preset == "happy")
    assert [(b.target, b.weight) for b in joy.binds if isinstance(b, MorphBind)] == [
        (9, 0.5),
        (10, 0.25),
    ]
    gaze = character.rig.look_at
    np.testing.assert_allclose(gaze.offset, [0, 0.146, -0.122])
    assert gaze.outer.output == 7.1
    assert math.isclose(gaze.outer.limit, math.pi / 2)
    assert [spring.colliders for spring in character.rig.springs] == [(2, 3), (0, 1), ()]
    assert character.rig.springs[0].joints[0].node == 22


def test_constraints_of_a_real_file(folder: Path):
    (roll,) = load(folder / f"{FIXTURES}constraints.vrm").rig.constraints
    assert (roll.node, roll.source, roll.axis, roll.weight) == (3, 2, "X", 0.8)


# Bones, tracks, seconds.
MOTIONS = {
    f"{FIXTURES}canonical_walk.vrma": (3, 3, 1.0),
    "pixiv__ChatVRM__idle_loop.vrma": (22, 28, 10.3751),
    "saturday06__VRM-Addon-for-Blender__hips_spine_twisting.vrma": (17, 6, 59.9667),
    "saturday06__VRM-Addon-for-Blender__nop.vrma": (53, 12, 0.0),
}


@pytest.mark.parametrize(("name", "counts"), MOTIONS.items(), ids=MOTIONS.keys())
def test_real_motions(folder: Path, name: str, counts):
    figure = load(folder / name)
    (clip,) = figure.clips
    found = (len(figure.humanoid.bones), len(clip.tracks), round(clip.end, 4))
    assert found == counts
    (alone,) = load_clips(folder / name)
    assert len(alone.tracks) == len(clip.tracks)
