"""A motion from any humanoid to any other, whatever they stand like at rest.

Bones are turned as the source's are, in the world: N = R W⁻¹, with R the source's rotation now and
W at rest. Limbs and fingers besides point where the source's point: A turns the direction that a
segment has at rest on the target into the one it has on the source, N = R W⁻¹ A (a hand takes its
forearm's A), and what is then missing to the source's direction now is made up for. So an A-pose
and a T-pose agree. Trunk, shoulders, head and feet keep to how they have turned since rest: where
their joints lie inside the body is a matter of modelling, not of pose.

The figure moves so that its legs begin where the source's do, in proportion to their length, and
the feet are put where the source's feet are (`legs`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bunraku.model import Pose
from bunraku.model.arrays import Float64
from bunraku.model.humanoid import PARENTS
from bunraku.posing import global_transforms
from bunraku.retargeting.figure import SEGMENTS, Figure, product, rotations
from bunraku.retargeting.legs import planted
from bunraku.rotation import between_vectors, quaternion

_LEG = ("UpperLeg", "LowerLeg", "Foot")
_ALIKE = np.radians(15)  # between legs of figures that both stand
LEGS = tuple(f"{side}{bone}" for side in ("left", "right") for bone in _LEG)
Turns = dict[str, Float64]


def transferred(source: Figure, transforms: Float64, target: Figure) -> Pose:
    """The target's pose for world transforms (F, N, 3, 4) of the source's nodes."""
    source = grounded(source, target)
    now = source.faced(transforms)
    turns = _turns(source, now, target)
    pose = _moved(source, now, target, posed(target, turns))
    if has_legs(source) and has_legs(target):
        here = target.faced(global_transforms(target.character.skeleton, pose))
        for side in ("left", "right"):
            ankle = f"{side}Foot"
            way = now[:, source.bones[ankle], :, 3] - standing_ankle(source, target, side)
            goal = target.place(ankle) + leg_ratio(source, target) * way
            turns |= planted(target, side, here, turns, goal)
        pose = replace(posed(target, turns), translations=pose.translations)
    return pose


def has_legs(figure: Figure) -> bool:
    """Whether both legs are there, with thighs and shins that have a length."""
    return all(leg in figure.bones for leg in LEGS) and all(
        (figure.place(f"{side}{far}") != figure.place(f"{side}{near}")).any()
        for side in ("left", "right")
        for near, far in (("UpperLeg", "LowerLeg"), ("LowerLeg", "Foot"))
    )


def leg_ratio(source: Figure, target: Figure) -> float:
    """How much longer the target's legs are; of hips' heights where one of them has no legs."""
    if has_legs(source) and has_legs(target):
        return leg_length(target) / leg_length(source)
    heights = source.place("hips")[1], target.place("hips")[1]
    return float(heights[1] / heights[0]) if min(heights) > 0 else 1.0


def leg_length(figure: Figure) -> float:
    """Thigh and shin, both legs' mean; not the height, for legs may be spread at rest."""
    joints = [[figure.place(f"{side}{bone}") for bone in _LEG] for side in ("left", "right")]
    return float(np.linalg.norm(np.diff(joints, axis=1), axis=-1).sum() / 2)


def standing_ankle(source: Figure, target: Figure, side: str) -> Float64:
    """Where the source's ankle is when the target's is at rest.

    At rest, too, where their legs stand alike; else, as with captured figures whose legs are
    spread, where it would be if they did.
    """
    legs = [
        figure.place(f"{side}Foot") - figure.place(f"{side}UpperLeg") for figure in (source, target)
    ]
    cosine = legs[0] @ legs[1] / (np.linalg.norm(legs[0]) * np.linalg.norm(legs[1]))
    if cosine > np.cos(_ALIKE):
        return source.place(f"{side}Foot")
    place = source.place(f"{side}UpperLeg") + legs[1] / leg_ratio(source, target)
    return np.asarray(place, np.float64)


def grounded(source: Figure, target: Figure) -> Figure:
    """The source, put on the floor if at rest its feet are far below."""
    if not (has_legs(source) and has_legs(target)):
        return source
    low = standing_ankle(source, target, "left")[1]
    if low > -leg_length(source) / 4:
        return source
    return Figure(source.character, target.place("leftFoot")[1] / leg_ratio(source, target) - low)


def _turns(source: Figure, now: Float64, target: Figure) -> Turns:
    """World rotations (F, 4) that the target's bones shall have, facing +Z."""
    turns: Turns = {}
    aligned: dict[str, Float64] = {}
    for bone in PARENTS:
        if bone not in source.bones or bone not in target.bones:
            continue
        node = turning_node(source, bone)
        turn = product(rotations(now[:, node]), quaternion.conjugate(source.turns[node]))
        far = SEGMENTS.get(bone)
        if far is not None and far in source.bones and far in target.bones:
            there = source.place(far) - source.place(bone)
            here = target.place(far) - target.place(bone)
            if there.any() and here.any():
                aligned[bone] = np.asarray(between_vectors(here, there), np.float64)
                turn = product(turn, aligned[bone])
                way = now[:, source.bones[far], :, 3] - now[:, source.bones[bone], :, 3]
                turn = product(between_vectors(quaternion.rotate(turn, here), way), turn)
        elif bone.endswith(("Hand", "Distal")) and PARENTS[bone] in aligned:
            aligned[bone] = aligned[PARENTS[bone] or ""]
            turn = product(turn, aligned[bone])
        turns[bone] = product(turn, target.turns[target.bones[bone]])
    return turns


def turning_node(figure: Figure, bone: str) -> int:
    """The node that shows a bone's whole turn: MMD's arms are twisted by bones of their own."""
    node = figure.bones[bone]
    twist = {
        "leftUpperArm": "左腕捩",
        "rightUpperArm": "右腕捩",
        "leftLowerArm": "左手捩",
        "rightLowerArm": "右手捩",
    }.get(bone)
    names = figure.character.skeleton.names
    if twist in names and node in figure.above(names.index(twist)):
        return names.index(twist)
    return node


def posed(figure: Figure, turns: Turns) -> Pose:
    """The pose in which bones have these world rotations, and all other nodes are at rest."""
    skeleton = figure.character.skeleton
    frames = len(next(iter(turns.values())))
    wanted = {figure.bones[bone]: turn for bone, turn in turns.items()}
    local = np.tile(skeleton.rotations, (frames, 1, 1))
    world: dict[int, Float64] = {-1: figure.facing}
    for node in skeleton.order.tolist():
        parent = world[int(skeleton.parents[node])]
        if node in wanted:
            world[node] = wanted[node]
            local[:, node] = product(quaternion.conjugate(parent), wanted[node])
        else:
            world[node] = product(parent, skeleton.rotations[node])
    translations, scales = (
        np.tile(each, (frames, 1, 1)) for each in (skeleton.translations, skeleton.scales)
    )
    weights = tuple(
        np.repeat(each, frames, 0) for each in figure.character.rest_pose().morph_weights
    )
    return Pose(translations, local, scales, weights)


def carrier(figure: Figure) -> int:
    """The node that carries the whole figure: the hips, or what hips and spine both hang on."""
    hips = figure.bones["hips"]
    if "spine" not in figure.bones:
        return hips
    spine = figure.above(figure.bones["spine"])
    names = figure.character.skeleton.names
    shared = [node for node in figure.above(hips) if node in spine]
    named = [node for node in shared if names[node] == "センター"]
    return (named or shared or [hips])[0]


def _middle(figure: Figure, transforms: Float64, bone: str) -> Float64:
    """(F, 3) half way between left and right."""
    left, right = figure.bones[f"left{bone}"], figure.bones[f"right{bone}"]
    return np.asarray((transforms[:, left, :, 3] + transforms[:, right, :, 3]) / 2, np.float64)


def _moved(source: Figure, now: Float64, target: Figure, pose: Pose) -> Pose:
    """The pose shifted so that the legs begin in proportion to where the source's do."""
    figure_now = target.faced(global_transforms(target.character.skeleton, pose))
    if has_legs(source) and has_legs(target):
        ends = [
            _middle(figure, transforms, "UpperLeg")
            for figure, transforms in (
                (source, now),
                (source, source.rest[None]),
                (target, figure_now),
                (target, target.rest[None]),
            )
        ]
    else:
        hips = source.bones["hips"], target.bones["hips"]
        ends = [
            transforms[:, node, :, 3]
            for node, transforms in (
                (hips[0], now),
                (hips[0], source.rest[None]),
                (hips[1], figure_now),
                (hips[1], target.rest[None]),
            )
        ]
    there, there_rest, here, here_rest = ends
    shift = here_rest + leg_ratio(source, target) * (there - there_rest) - here
    node = carrier(target)
    back = np.linalg.inv(target.parent_rest(node)[:, :3])
    translations = np.array(pose.translations)
    translations[:, node] += shift @ back.T
    return replace(pose, translations=translations)
