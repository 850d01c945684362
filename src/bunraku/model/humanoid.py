"""The bones every humanoid has, under the names of VRM 1.0, and who plays them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from bunraku.errors import RigError
from bunraku.model.frozen import Shown, plain

# Each bone with its parent; a parent that is missing gives way to its own (VRM 1.0, humanoid).
_SIDES = {
    "Eye": "head",
    "UpperLeg": "hips",
    "LowerLeg": "{}UpperLeg",
    "Foot": "{}LowerLeg",
    "Toes": "{}Foot",
    "Shoulder": "upperChest",
    "UpperArm": "{}Shoulder",
    "LowerArm": "{}UpperArm",
    "Hand": "{}LowerArm",
    "ThumbMetacarpal": "{}Hand",
    "ThumbProximal": "{}ThumbMetacarpal",
    "ThumbDistal": "{}ThumbProximal",
}
_FINGERS = {
    f"{finger}{part}": f"{{}}{finger}{above}" if above else "{}Hand"
    for finger in ("Index", "Middle", "Ring", "Little")
    for part, above in (
        ("Proximal", ""),
        ("Intermediate", "Proximal"),
        ("Distal", "Intermediate"),
    )
}
PARENTS: Mapping[str, str | None] = MappingProxyType(
    {
        "hips": None,
        "spine": "hips",
        "chest": "spine",
        "upperChest": "chest",
        "neck": "upperChest",
        "head": "neck",
        "jaw": "head",
    }
    | {
        f"{side}{bone}": parent.format(side)
        for side in ("left", "right")
        for bone, parent in (_SIDES | _FINGERS).items()
    }
)

REQUIRED = frozenset(
    {"hips", "spine", "head"}
    | {
        f"{side}{bone}"
        for side in ("left", "right")
        for bone in ("UpperLeg", "LowerLeg", "Foot", "UpperArm", "LowerArm", "Hand")
    }
)


@dataclass(frozen=True, repr=False)
class Humanoid(Shown):
    """Which node plays which bone.

    Attributes:
        bones: bone name (a key of `PARENTS`) to node index.

    Raises:
        RigError: an unknown bone, or one node for two bones.

    >>> Humanoid({"hips": 3}).parent("spine")
    'hips'
    """

    bones: Mapping[str, int]

    def __post_init__(self) -> None:
        bones = dict(zip(self.bones, plain(tuple(self.bones.values())), strict=True))
        for bone in bones:
            if bone not in PARENTS:
                raise RigError(f"humanoid: unknown bone {bone!r}")
        if len(set(bones.values())) < len(bones):
            nodes = list(bones.values())
            twice = next(node for node in nodes if nodes.count(node) > 1)
            names = [bone for bone, node in bones.items() if node == twice]
            raise RigError(f"humanoid: node {twice} plays {' and '.join(names)}")
        object.__setattr__(self, "bones", MappingProxyType(bones))

    def __reduce__(self) -> tuple[type[Humanoid], tuple[dict[str, int]]]:
        return Humanoid, (dict(self.bones),)  # a view of a mapping is not copied or pickled

    @property
    def missing(self) -> tuple[str, ...]:
        """Bones that VRM 1.0 requires and nobody plays."""
        return tuple(sorted(REQUIRED - set(self.bones)))

    def parent(self, bone: str) -> str | None:
        """The nearest bone above that somebody plays; None above the hips."""
        above = PARENTS[bone]
        while above is not None and above not in self.bones:
            above = PARENTS[above]
        return above
