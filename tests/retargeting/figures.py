"""Small humanoids for tests: any stance, size, facing and rest rotation."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from bunraku.model import Character, Humanoid, Pose, Skeleton
from bunraku.posing import global_transforms

# World places of a figure a metre high, facing +Z, arms spread; the right side mirrors the left.
_MIDDLE = {
    "hips": (None, (0, 0.55, 0)),
    "spine": ("hips", (0, 0.6, -0.01)),
    "chest": ("spine", (0, 0.7, 0)),
    "neck": ("chest", (0, 0.82, 0)),
    "head": ("neck", (0, 0.87, 0.01)),
}
_SIDE = {
    "Shoulder": ("chest", (0.03, 0.79, 0)),
    "UpperArm": ("Shoulder", (0.1, 0.79, 0)),
    "LowerArm": ("UpperArm", (0.25, 0.79, 0)),
    "Hand": ("LowerArm", (0.38, 0.79, 0)),
    "IndexProximal": ("Hand", (0.43, 0.79, 0.02)),
    "IndexIntermediate": ("IndexProximal", (0.45, 0.79, 0.02)),
    "IndexDistal": ("IndexIntermediate", (0.47, 0.79, 0.02)),
    "UpperLeg": ("hips", (0.06, 0.52, 0)),
    "LowerLeg": ("UpperLeg", (0.06, 0.29, 0.005)),
    "Foot": ("LowerLeg", (0.06, 0.05, -0.02)),
    "Toes": ("Foot", (0.06, 0.01, 0.06)),
}
_ARM = ("LowerArm", "Hand", "IndexProximal", "IndexIntermediate", "IndexDistal")


def figure(
    *,
    size: float = 1.0,
    lowered: float = 0.0,
    legs: float = 1.0,
    facing: str = "+Z",
    seed: int | None = None,
    without: tuple[str, ...] = (),
) -> Character:
    """A character of 27 bones.

    Args:
        lowered: degrees that the arms hang at rest.
        legs: how much longer the legs are than the rest of the figure makes one expect.
        seed: gives every node a rest rotation of its own.
        without: bones that nobody plays; their nodes are there nevertheless.
    """
    parents, places = {}, {}
    for bone, (parent, place) in _MIDDLE.items():
        parents[bone], places[bone] = parent, np.array(place, float)
    for side, sign in (("left", 1), ("right", -1)):
        start = np.array(_SIDE["UpperArm"][1])
        turn = Rotation.from_euler("z", -lowered, degrees=True)
        for bone, (parent, given) in _SIDE.items():
            place = np.array(given, float)
            if bone in _ARM:
                place = start + turn.apply(place - start)
            parents[side + bone] = side + parent if parent in _SIDE else parent
            places[side + bone] = place * [sign, 1, 1]
    for place in places.values():
        if place[1] > 0.52:
            place[1] += (legs - 1) * 0.47
        elif place[1] > 0.05:
            place[1] = 0.05 + (place[1] - 0.05) * legs
    names = ("root", *places)
    world = np.array([np.zeros(3), *places.values()]) * size
    above = [-1] + [0 if parents[n] is None else names.index(parents[n]) for n in names[1:]]
    turns = Rotation.identity(len(names))
    if facing == "-Z":
        world = world * [-1, 1, -1]
    if seed is not None:
        turns = Rotation.random(len(names), random_state=seed)
    local, rests = np.zeros_like(world), np.tile([0, 0, 0, 1.0], (len(names), 1))
    for i, parent in enumerate(above):
        outer = turns[parent] if parent >= 0 else Rotation.identity()
        origin = world[parent] if parent >= 0 else np.zeros(3)
        local[i] = outer.inv().apply(world[i] - origin)
        rests[i] = (outer.inv() * turns[i]).as_quat()
    bones = {name: i for i, name in enumerate(names) if i and name not in without}
    return Character(
        Skeleton(names, np.array(above, np.int32), local, rests),
        humanoid=Humanoid(bones),
        facing=facing,
        name="figure",
    )


def dance(character: Character, frames: int, seed: int, wide: float = 0.5) -> Pose:
    """Every bone turns a little in the world's axes, the hips wander."""
    random = np.random.default_rng(seed)
    rest = character.rest_pose()
    count = len(character.skeleton)
    world = global_transforms(character.skeleton, rest)[0, :, :, :3]
    rotations = np.repeat(rest.rotations, frames, 0)
    translations = np.repeat(rest.translations, frames, 0)
    for node in character.humanoid.bones.values():
        parent = character.skeleton.parents[node]
        above = Rotation.from_matrix(world[parent])
        turn = Rotation.from_rotvec(wide * random.normal(size=(frames, 3)))
        own = Rotation.from_quat(character.skeleton.rotations[node])
        rotations[:, node] = (above.inv() * turn * above * own).as_quat()
    hips = character.humanoid.bones["hips"]
    size = global_transforms(character.skeleton, rest)[0, hips, 1, 3]
    translations[:, hips] += 0.1 * size * random.normal(size=(frames, 3))
    assert translations.shape == (frames, count, 3)
    return Pose(translations, rotations, np.repeat(rest.scales, frames, 0))
