from __future__ import annotations

import pytest

from bunraku.model.humanoid import PARENTS
from bunraku.model.humanoid_names import MMD_NAMES, MOCAP_NAMES, humanoid_by_names

NOBODY = {
    "no nodes": (),
    "strangers": ("a", "b", ""),
    "a torso without a head": ("Hips", "Spine"),
    "a head without hips": ("Spine", "Head"),
}


@pytest.mark.parametrize("names", NOBODY.values(), ids=NOBODY.keys())
def test_nodes_that_are_no_humanoid(names: tuple[str, ...]):
    assert humanoid_by_names(names, MOCAP_NAMES) is None


def test_every_bone_of_the_tables_is_one():
    assert MMD_NAMES.keys() <= PARENTS.keys()
    assert MOCAP_NAMES.keys() <= PARENTS.keys()
    assert PARENTS.keys() - MMD_NAMES.keys() == {"jaw"}


def test_width_and_case_do_not_matter():
    names = ("下半身", "上半身", "頭", "左人指１", "左人指2", "左足")
    found = humanoid_by_names(names, MMD_NAMES)
    assert found is not None
    assert (found.bones["leftIndexProximal"], found.bones["leftIndexIntermediate"]) == (3, 4)
    assert found.bones["leftUpperLeg"] == 5


def test_prefixes_do_not_matter_and_the_first_of_a_name_plays():
    names = ("mixamorig:Hips", "mixamorig:Spine", "mixamorig:Head", "Head")
    found = humanoid_by_names(names, MOCAP_NAMES)
    assert found is not None
    assert dict(found.bones) == {"hips": 0, "spine": 1, "head": 2}


def test_the_two_families_of_captures():
    old = ("Hips", "Chest", "Chest2", "Neck", "Head", "LeftCollar", "LeftShoulder", "LeftElbow")
    old += ("LeftWrist", "LeftHip", "LeftKnee", "LeftAnkle")
    found = humanoid_by_names(old, MOCAP_NAMES)
    assert found is not None
    bones = ("hips", "spine", "chest", "neck", "head", "leftShoulder", "leftUpperArm")
    bones += ("leftLowerArm", "leftHand", "leftUpperLeg", "leftLowerLeg", "leftFoot")
    assert dict(found.bones) == {bone: node for node, bone in enumerate(bones)}
    new = ("Hips", "Spine", "Spine1", "Neck", "Head", "LeftShoulder", "LeftArm", "LeftForeArm")
    new += ("LeftHand", "LeftUpLeg", "LeftLeg", "LeftFoot", "LeftHandThumb1")
    found = humanoid_by_names(new, MOCAP_NAMES)
    assert found is not None
    assert dict(found.bones) == {b: i for i, b in enumerate((*bones, "leftThumbMetacarpal"))}


def test_hips_are_the_bone_that_turns_as_they_do():
    names = ("センター", "腰", "下半身", "上半身", "頭")
    found = humanoid_by_names(names, MMD_NAMES)
    assert found is not None
    assert found.bones["hips"] == 2
    assert humanoid_by_names(names[:2] + names[3:], MMD_NAMES).bones["hips"] == 1  # type: ignore[union-attr]
