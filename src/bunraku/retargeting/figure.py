"""A humanoid as retargeting sees it: who plays which bone, and where everything is at rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from bunraku.errors import RigError
from bunraku.model import Character, Rig
from bunraku.model.arrays import Float64
from bunraku.posing import global_transforms
from bunraku.rotation import quaternion

# Whose direction is the pose of a limb: the bone at its far end.
_FINGERS = ("Index", "Middle", "Ring", "Little")
SEGMENTS: Mapping[str, str] = {
    f"{side}{near}": f"{side}{far}"
    for side in ("left", "right")
    for near, far in (
        ("UpperArm", "LowerArm"),
        ("LowerArm", "Hand"),
        ("UpperLeg", "LowerLeg"),
        ("LowerLeg", "Foot"),
        ("ThumbMetacarpal", "ThumbProximal"),
        ("ThumbProximal", "ThumbDistal"),
        *((f"{finger}Proximal", f"{finger}Intermediate") for finger in _FINGERS),
        *((f"{finger}Intermediate", f"{finger}Distal") for finger in _FINGERS),
    )
}


@dataclass(frozen=True, eq=False)
class Figure:
    """A character with a humanoid, measured at rest, turned to face +Z.

    Attributes:
        character: as given.
        lift: metres that it is put higher: motion capture has its hips at the origin at rest.
        bones: bone name to node.
        rest: (N, 3, 4) float64 world transforms at rest.
        turns: (N, 4) float64 world rotations at rest.

    Raises:
        RigError: the character has no humanoid, or one without hips.
    """

    character: Character
    lift: float = 0.0
    bones: Mapping[str, int] = field(init=False)
    rest: Float64 = field(init=False)
    turns: Float64 = field(init=False)

    def __post_init__(self) -> None:
        name = self.character.name or "the character"
        if self.character.humanoid is None or "hips" not in self.character.humanoid.bones:
            raise RigError(f"retarget: {name} has no humanoid with hips")
        object.__setattr__(self, "bones", self.character.humanoid.bones)
        skeleton = self.character.skeleton
        rest = self.faced(global_transforms(skeleton, self.character.rest_pose()))[0]
        rest[:, 1, 3] += self.lift
        object.__setattr__(self, "rest", rest)
        object.__setattr__(self, "turns", rotations(rest))

    @property
    def facing(self) -> Float64:
        """(4,) the turn that makes the character face +Z."""
        return np.array([0.0, 0, 0, 1] if self.character.facing == "+Z" else [0.0, 1, 0, 0])

    def faced(self, transforms: Float64) -> Float64:
        """World transforms (F, N, 3, 4) after that turn."""
        if self.character.facing == "+Z":
            return transforms
        return np.asarray(transforms * np.array([-1.0, 1, -1])[:, None], np.float64)

    def place(self, bone: str) -> Float64:
        """(3,) where a bone is at rest."""
        return np.asarray(self.rest[self.bones[bone], :, 3], np.float64)

    def parent_turn(self, node: int) -> Float64:
        """(4,) world rotation of a node's parent at rest."""
        parent = int(self.character.skeleton.parents[node])
        return self.facing if parent < 0 else np.asarray(self.turns[parent], np.float64)

    def parent_rest(self, node: int) -> Float64:
        """(3, 4) world transform of a node's parent at rest."""
        parent = int(self.character.skeleton.parents[node])
        if parent >= 0:
            return np.asarray(self.rest[parent], np.float64)
        return np.asarray(self.faced(np.eye(3, 4)[None, None])[0, 0], np.float64)

    def above(self, node: int) -> list[int]:
        """A node and its ancestors, upwards."""
        found = []
        while node >= 0:
            found.append(node)
            node = int(self.character.skeleton.parents[node])
        return found

    def is_t_posed(self) -> bool:
        """Whether both arms are spread within 20 degrees, or there are none to tell by."""
        for side, way in (("left", 1.0), ("right", -1.0)):
            near, far = f"{side}UpperArm", f"{side}LowerArm"
            if near in self.bones and far in self.bones:
                arm = self.place(far) - self.place(near)
                if arm[0] * way < np.cos(np.radians(20)) * np.linalg.norm(arm):
                    return False
        return True


def moving_parts(character: Character) -> set[int]:
    """The nodes that have a part in where the bones of a humanoid are.

    Those above them, what they append or are constrained to, goals of their inverse kinematics.
    """
    humanoid, rig = character.humanoid, character.rig or Rig()
    leads: dict[int, list[int]] = {}
    for node, parent in enumerate(character.skeleton.parents.tolist()):
        leads[node] = [parent] if parent >= 0 else []
    for other in (*rig.appends, *rig.constraints):
        leads[other.node].append(other.source)
    for chain in rig.chains:
        for node in (chain.effector, *(link.node for link in chain.links)):
            leads[node] += [chain.goal, chain.effector]
    found: set[int] = set()
    ahead = list(humanoid.bones.values()) if humanoid is not None else []
    while ahead:
        node = ahead.pop()
        if node not in found:
            found.add(node)
            ahead += leads[node]
    return found


def rotations(transforms: Float64) -> Float64:
    """(…, 4) the rotations nearest to transforms (…, 3, 4)."""
    turns = quaternion.from_matrix(transforms[..., :3], nearest=True)
    return np.asarray(turns, np.float64)


def product(first: npt.ArrayLike, *others: npt.ArrayLike) -> Float64:
    """Quaternion product, the last turn first."""
    result = np.asarray(first, np.float64)
    for other in others:
        result = np.asarray(quaternion.multiply(result, other), np.float64)
    return result
