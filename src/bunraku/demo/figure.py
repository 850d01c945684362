"""The puppet's joints: VRM humanoid names, a T-pose, every rest rotation the identity.

All positions are metres in the character's space: +Y up, facing +Z, left at +X, feet on y = 0.
"""

from __future__ import annotations

import numpy as np

from bunraku.model.arrays import Float64
from bunraku.model.skeleton import Skeleton
from bunraku.model.skin import Skin

SHOULDER, ELBOW, WRIST = 0.15, 0.40, 0.63  # x of the left arm's joints, all at the same height
ARM_HEIGHT = 1.265
LEG_SIDE = 0.088
HIP, KNEE, ANKLE = 0.82, 0.45, 0.085  # y of the leg's joints

_TRUNK = (
    ("root", "", (0, 0, 0)),
    ("hips", "root", (0, 0.86, 0)),
    ("spine", "hips", (0, 0.95, 0)),
    ("chest", "spine", (0, 1.09, 0)),
    ("neck", "chest", (0, 1.285, -0.012)),
    ("head", "neck", (0, 1.36, -0.008)),
)

# The four fingers of a hand move together, as a Bunraku puppet's do: the middle finger's joints
# hold them all. "Sleeve" is no humanoid bone; it lets the sleeve hang when the arm is raised.
_LEFT = (
    ("Shoulder", "chest", (0.035, ARM_HEIGHT, 0)),
    ("UpperArm", "Shoulder", (SHOULDER, ARM_HEIGHT, 0)),
    ("LowerArm", "UpperArm", (ELBOW, ARM_HEIGHT, 0)),
    ("Hand", "LowerArm", (WRIST, ARM_HEIGHT, 0)),
    ("ThumbProximal", "Hand", (0.652, 1.258, 0.024)),
    ("ThumbDistal", "ThumbProximal", (0.678, 1.254, 0.052)),
    ("MiddleProximal", "Hand", (0.706, ARM_HEIGHT, 0)),
    ("MiddleIntermediate", "MiddleProximal", (0.744, ARM_HEIGHT, 0)),
    ("Sleeve", "UpperArm", (0.27, ARM_HEIGHT, 0)),
    ("UpperLeg", "hips", (LEG_SIDE, HIP, 0)),
    ("LowerLeg", "UpperLeg", (LEG_SIDE, KNEE, 0)),
    ("Foot", "LowerLeg", (LEG_SIDE, ANKLE, 0)),
    ("Toes", "Foot", (LEG_SIDE, 0.03, 0.095)),
)


def _table() -> tuple[tuple[str, ...], tuple[int, ...], Float64]:
    rows: list[tuple[str, str, tuple[float, float, float]]] = list(_TRUNK)
    for side, sign in (("left", 1), ("right", -1)):
        own = {name for name, _, _ in _LEFT}
        for name, parent, (x, y, z) in _LEFT:
            held = side + parent if parent in own else parent
            rows.append((side + name, held, (sign * x, y, z)))
    names = tuple(name for name, _, _ in rows)
    parents = tuple(names.index(parent) if parent else -1 for _, parent, _ in rows)
    # Numbers that float32 holds exactly, so that a file's inverse bind matrices hold them too.
    positions = np.array([position for _, _, position in rows], np.float32)
    return names, parents, positions.astype(np.float64)


JOINTS, PARENTS, POSITIONS = _table()
MESHES = ("figure", "leftArm", "rightArm", "leftLeg", "rightLeg")


def mirrored(joint: str) -> str:
    """The joint's name on the other side; middle joints are their own mirror image.

    >>> mirrored("leftHand"), mirrored("head")
    ('rightHand', 'head')
    """
    for one, other in (("left", "right"), ("right", "left")):
        if joint.startswith(one):
            return other + joint[len(one) :]
    return joint


def make_skeleton() -> Skeleton:
    """The joints in table order, then one node at the origin for each of the meshes.

    A skinned mesh hangs on a root node of its own, because the transform of its node and of
    that node's parents is ignored (glTF 2.0, 3.7.3.3).

    >>> make_skeleton().index("leftLowerArm") == JOINTS.index("leftLowerArm")
    True
    """
    parents = np.array(PARENTS)
    local = POSITIONS - np.where(parents[:, None] >= 0, POSITIONS[parents], 0)
    count = len(MESHES)
    return Skeleton(
        JOINTS + MESHES,
        np.concatenate([parents, np.full(count, -1)]),
        np.concatenate([local, np.zeros((count, 3))]),
    )


def make_skin() -> Skin:
    """A skin of all joints, in table order, bound in the rest pose."""
    matrices = np.tile(np.eye(4), (len(JOINTS), 1, 1))
    matrices[:, :3, 3] = -POSITIONS
    return Skin(np.arange(len(JOINTS), dtype=np.int32), matrices, "puppet")
