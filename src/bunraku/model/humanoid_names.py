"""Which bone a node plays, told from its name: MMD's standard bones, and motion capture's."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from bunraku.model.humanoid import Humanoid

_FINGERS = {"Index": "人指", "Middle": "中指", "Ring": "薬指", "Little": "小指"}
_PARTS = ("Proximal", "Intermediate", "Distal")

# Bone of VRM 1.0 to the names that may play it, the best first. 下半身 turns as hips do, but
# 上半身 stands beside it, not below: whoever moves the whole figure moves what both hang on.
# Of legs and arms it is the bone that a motion turns; bones that follow it (足D, 腕捩) append.
MMD_NAMES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "hips": ("下半身", "腰", "センター"),
        "spine": ("上半身",),
        "chest": ("上半身2",),
        "upperChest": ("上半身3",),
        "neck": ("首",),
        "head": ("頭",),
    }
    | {
        f"{side}{bone}": tuple(f"{prefix}{name}" for name in names)
        for side, prefix in (("left", "左"), ("right", "右"))
        for bone, names in {
            "Eye": ("目",),
            "UpperLeg": ("足",),
            "LowerLeg": ("ひざ",),
            "Foot": ("足首",),
            "Toes": ("足先EX", "つま先"),
            "Shoulder": ("肩",),
            "UpperArm": ("腕",),
            "LowerArm": ("ひじ",),
            "Hand": ("手首",),
            "ThumbMetacarpal": ("親指0",),
            "ThumbProximal": ("親指1",),
            "ThumbDistal": ("親指2",),
            **{
                f"{finger}{part}": (f"{name}{i}",)
                for finger, name in _FINGERS.items()
                for i, part in enumerate(_PARTS, 1)
            },
        }.items()
    }
)

_FULL_WIDTH = str.maketrans("0123", "０１２３")


def spelled_for_mmd(bone: str) -> str:
    """What MMD's motions call a bone of VRM 1.0; "" where they have none.

    The figure as a whole is moved by its センター, which is what hips do that carry the spine.

    >>> spelled_for_mmd("hips"), spelled_for_mmd("chest"), spelled_for_mmd("leftIndexProximal")
    ('センター', '上半身2', '左人指１')
    """
    if bone == "hips":
        return "センター"
    name = MMD_NAMES.get(bone, ("",))[0]
    is_finger = any(finger in bone for finger in ("Thumb", *_FINGERS))
    return name.translate(_FULL_WIDTH) if is_finger else name


# The two families of names in BVH files: Character Studio's and Mixamo's, where a Shoulder is a
# collar bone and an Arm hangs on it, and the older one of Collar, Shoulder, Elbow and Wrist.
MOCAP_NAMES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "hips": ("Hips", "Hip", "Pelvis"),
        "spine": ("Spine", "Abdomen", "LowerBack", "Chest"),
        "chest": ("Spine1", "Chest", "Chest2"),
        "upperChest": ("Spine2", "Chest3", "Chest2"),
        "neck": ("Neck",),
        "head": ("Head",),
    }
    | {
        f"{side.lower()}{bone}": tuple(f"{side}{name}" for name in names)
        for side in ("Left", "Right")
        for bone, names in {
            "UpperLeg": ("UpLeg", "UpperLeg", "Thigh", "Hip"),
            "LowerLeg": ("LowLeg", "LowerLeg", "Shin", "Knee", "Leg"),
            "Foot": ("Foot", "Ankle"),
            "Toes": ("ToeBase", "Toe"),
            "UpperArm": ("Arm", "UpArm", "UpperArm", "Shoulder"),
            "Shoulder": ("Collar", "Shoulder"),
            "LowerArm": ("ForeArm", "LowArm", "LowerArm", "Elbow"),
            "Hand": ("Hand", "Wrist"),
            "ThumbMetacarpal": ("HandThumb1",),
            "ThumbProximal": ("HandThumb2",),
            "ThumbDistal": ("HandThumb3",),
            **{
                f"{finger}{part}": (f"Hand{name}{i}",)
                for finger, name in (
                    ("Index", "Index"),
                    ("Middle", "Middle"),
                    ("Ring", "Ring"),
                    ("Little", "Pinky"),
                )
                for i, part in enumerate(_PARTS, 1)
            },
        }.items()
    }
)


def humanoid_by_names(
    names: Iterable[str], table: Mapping[str, tuple[str, ...]]
) -> Humanoid | None:
    """The humanoid that nodes of these names are; None without hips, spine and head.

    Case and width of letters do not matter (足IK, 足ＩＫ), nor does what stands before the last
    colon (mixamorig:Hips). Of nodes with the same name the first plays.

    >>> humanoid_by_names(("センター", "上半身", "頭", "左足"), MMD_NAMES).bones["leftUpperLeg"]
    3
    """
    nodes: dict[str, int] = {}
    for node, name in enumerate(names):
        nodes.setdefault(_plain(name), node)
    bones: dict[str, int] = {}
    for bone, candidates in table.items():
        found = [nodes[key] for key in map(_plain, candidates) if key in nodes]
        free = [node for node in found if node not in bones.values()]
        if free:
            bones[bone] = free[0]
    return Humanoid(bones) if {"hips", "spine", "head"} <= bones.keys() else None


def _plain(name: str) -> str:
    last = unicodedata.normalize("NFKC", name).casefold().rpartition(":")[2]
    return re.sub(r"[\s_.-]", "", last)
