"""A standard MMD skeleton in another figure's proportions, for motions that come without a model.

MMD's motions are keys of bones that every dancer has (準標準ボーン): a centre, arms that hang at 35
degrees at rest, legs that follow targets on the floor. Only a figure with just those bones can
evaluate them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bunraku.errors import RigError
from bunraku.model import (
    Append,
    Character,
    FixedAxis,
    IkChain,
    IkLink,
    Rig,
    Skeleton,
)
from bunraku.model.arrays import Float64
from bunraku.model.humanoid_names import MMD_NAMES, humanoid_by_names
from bunraku.retargeting.figure import Figure
from bunraku.rotation import quaternion

STANCE = np.radians(35)  # of the arms below the horizontal, as most models are built
# From the thighs to the ankles of the model that most motions are made for (9.41 MMD units): what a
# motion says in lengths, of centre and feet, is meant for legs like these.
LEG = 0.753
_CENTRE, _GROOVE = 0.7, 0.8  # of the hips' height
# A leg that is straight at rest would never bend: CCD turns nothing that points at its goal.
_KNEE = 0.01  # of the leg's length, forward
_FINGERS = {"Index": "人指", "Middle": "中指", "Ring": "薬指", "Little": "小指"}
_DIGITS = "０１２３"


class Bone(NamedTuple):
    """A bone to be: parent by name, world place in metres."""

    parent: str | None
    place: Float64


def standard_mmd_skeleton(character: Character) -> Character:
    """Return a figure that VMD motions move, in the proportions of a humanoid, in MMD's A-pose.

    It has the centre bones, the trunk, arms with twist bones, fingers, legs and their IK (links,
    loops, steps and the knee's limits of MMD's own models), and the eyes where there are some.
    It faces +Z and is as large as motions expect: its legs are `LEG` long.

    Raises:
        RigError: the humanoid lacks a bone that VRM 1.0 requires, or does not stand on its legs.

    >>> from bunraku.model import Humanoid
    >>> standard_mmd_skeleton(Character(Skeleton(("root",), [-1]), humanoid=Humanoid({"hips": 0})))
    Traceback (most recent call last):
      ...
    bunraku.errors.RigError: retarget: the humanoid has no head, leftFoot, leftHand, ...
    """
    figure = Figure(character)
    missing = character.humanoid.missing if character.humanoid is not None else ()
    if missing:
        raise RigError(f"retarget: the humanoid has no {', '.join(missing)}")
    bones = _trunk(figure)
    for side, prefix in (("left", "左"), ("right", "右")):
        _arm(figure, side, prefix, bones)
        _leg(figure, side, prefix, bones)
    names = tuple(bones)
    index = {name: i for i, name in enumerate(names)}
    parents = [-1 if bone.parent is None else index[bone.parent] for bone in bones.values()]
    leg = bones["左足"].place[1] - bones["左足首"].place[1]
    places = np.array([bone.place for bone in bones.values()]) * (LEG / leg)
    rest = np.where(np.array(parents)[:, None] < 0, places, places - places[parents])
    return Character(
        Skeleton(names, np.array(parents, np.int32), rest),
        rig=_rig(index, places),
        humanoid=humanoid_by_names(names, MMD_NAMES),
        name="MMD",
    )


def _trunk(figure: Figure) -> dict[str, Bone]:
    hips, spine = figure.place("hips"), figure.place("spine")
    floor = np.zeros(3)
    up = np.array([0.0, 1, 0])
    bones = {
        "全ての親": Bone(None, floor),
        "センター": Bone("全ての親", _CENTRE * hips[1] * up),
        "グルーブ": Bone("センター", _GROOVE * hips[1] * up),
        "腰": Bone("グルーブ", hips),
        "下半身": Bone("腰", spine),
        "上半身": Bone("腰", spine),
    }
    chest, trunk = "上半身", spine
    if "chest" in figure.bones:
        chest, trunk = "上半身2", figure.place("chest")
        bones[chest] = Bone("上半身", trunk)
    head = figure.place("head")
    neck = figure.place("neck") if "neck" in figure.bones else (trunk + 3 * head) / 4
    bones["首"] = Bone(chest, neck)
    bones["頭"] = Bone("首", head)
    if "leftEye" in figure.bones and "rightEye" in figure.bones:
        bones["両目"] = Bone("頭", head + (figure.place("leftEye") - head) * [0, 1, 1])
        bones["左目"] = Bone("頭", figure.place("leftEye"))
        bones["右目"] = Bone("頭", figure.place("rightEye"))
    return bones


def _arm(figure: Figure, side: str, prefix: str, bones: dict[str, Bone]) -> None:
    chest = "上半身2" if "上半身2" in bones else "上半身"
    start, elbow = figure.place(f"{side}UpperArm"), figure.place(f"{side}LowerArm")
    way = elbow - start
    sign = 1.0 if side == "left" else -1.0
    slope = np.arctan2(-way[1], sign * way[0])
    lower = quaternion.from_axis_angle([0.0, 0, 1], sign * (slope - STANCE))

    def lowered(place: Float64) -> Float64:
        return np.asarray(start + quaternion.rotate(lower, place - start), np.float64)

    elbow, wrist = lowered(elbow), lowered(figure.place(f"{side}Hand"))
    shoulder = f"{side}Shoulder"
    trunk = bones[chest].place
    collar = figure.place(shoulder) if shoulder in figure.bones else start + (trunk - start) / 2
    if shoulder not in figure.bones:
        collar[1] = start[1]
    bones[f"{prefix}肩"] = Bone(chest, collar)
    bones[f"{prefix}腕"] = Bone(f"{prefix}肩", start)
    bones[f"{prefix}腕捩"] = Bone(f"{prefix}腕", (start + elbow) / 2)
    bones[f"{prefix}ひじ"] = Bone(f"{prefix}腕捩", elbow)
    bones[f"{prefix}手捩"] = Bone(f"{prefix}ひじ", (elbow + wrist) / 2)
    bones[f"{prefix}手首"] = Bone(f"{prefix}手捩", wrist)
    fingers = [(("Metacarpal", "Proximal", "Distal"), "Thumb", "親指", 0)]
    parts = ("Proximal", "Intermediate", "Distal")
    fingers += [(parts, finger, name, 1) for finger, name in _FINGERS.items()]
    for joints, finger, name, first in fingers:
        parent = f"{prefix}手首"
        for i, joint in enumerate(joints, first):
            if f"{side}{finger}{joint}" in figure.bones:
                own = f"{prefix}{name}{_DIGITS[i]}"
                bones[own] = Bone(parent, lowered(figure.place(f"{side}{finger}{joint}")))
                parent = own


def _leg(figure: Figure, side: str, prefix: str, bones: dict[str, Bone]) -> None:
    hip, knee, ankle = (figure.place(f"{side}{bone}") for bone in ("UpperLeg", "LowerLeg", "Foot"))
    if not hip[1] > ankle[1]:
        raise RigError(f"retarget: the {side} foot is not below its leg")
    least = np.linalg.norm(ankle - hip) * _KNEE
    line = hip + (ankle - hip) * (hip[1] - knee[1]) / (hip[1] - ankle[1])
    knee = np.array([knee[0], knee[1], max(knee[2], line[2] + least)])
    toes = f"{side}Toes"
    if toes in figure.bones:
        toe = figure.place(toes)
    else:
        toe = np.array([ankle[0], 0, ankle[2] + max(ankle[1], 0.05)])
    bones[f"{prefix}足"] = Bone("下半身", hip)
    bones[f"{prefix}ひざ"] = Bone(f"{prefix}足", knee)
    bones[f"{prefix}足首"] = Bone(f"{prefix}ひざ", ankle)
    bones[f"{prefix}つま先"] = Bone(f"{prefix}足首", toe)
    bones[f"{prefix}足IK親"] = Bone("全ての親", ankle * [1, 0, 1])
    bones[f"{prefix}足ＩＫ"] = Bone(f"{prefix}足IK親", ankle)
    bones[f"{prefix}つま先ＩＫ"] = Bone(f"{prefix}足ＩＫ", toe)


def _rig(index: dict[str, int], places: Float64) -> Rig:
    axes: list[FixedAxis] = []
    chains: list[IkChain] = []
    # −180 … −0.5 degrees about X in MMD's left-handed axes.
    bend = np.radians(np.array([[0.5, 0, 0], [180, 0, 0]]))
    for prefix in "左右":
        for twist, near, far in (("腕捩", "腕", "ひじ"), ("手捩", "ひじ", "手首")):
            way = places[index[f"{prefix}{far}"]] - places[index[f"{prefix}{near}"]]
            axes.append(FixedAxis(index[f"{prefix}{twist}"], way))
        knee = IkLink(index[f"{prefix}ひざ"], bend)
        leg, foot = IkLink(index[f"{prefix}足"]), IkLink(index[f"{prefix}足首"])
        goal, toe = index[f"{prefix}足ＩＫ"], index[f"{prefix}つま先ＩＫ"]
        chains.append(IkChain(goal, foot.node, (knee, leg), 40, 2.0))
        chains.append(IkChain(toe, index[f"{prefix}つま先"], (foot,), 3, 4.0))
    eyes = [Append(index[eye], index["両目"], 1.0) for eye in ("左目", "右目") if "両目" in index]
    return Rig(
        layers=np.zeros(len(index), np.int32),
        appends=tuple(eyes),
        fixed_axes=tuple(axes),
        chains=tuple(chains),
    )
