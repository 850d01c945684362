"""The whole way from a pose as it was asked for to what stands where."""

from __future__ import annotations

from bunraku.model import Character, Pose
from bunraku.model.arrays import Float64
from bunraku.posing.axes import on_fixed_axes
from bunraku.posing.expressions import applied
from bunraku.posing.solve import solve


def evaluate(character: Character, pose: Pose) -> tuple[Pose, Float64]:
    """Return the pose with all that comes before its rig, and (F, N, 3, 4) global transforms.

    Fixed axes, then expressions, then the rig (`solve`). Gaze and springs are steps of their own.

    Args:
        pose: F frames of the character, as sampled or made by hand.

    Raises:
        RigError: the pose is not of this character.

    >>> from bunraku.model import Skeleton
    >>> puppet = Character(Skeleton(("root",), [-1]))
    >>> evaluate(puppet, puppet.rest_pose())[1].shape
    (1, 1, 3, 4)
    """
    asked = applied(character, on_fixed_axes(character.rig, pose))
    return asked, solve(character.skeleton, character.rig, asked)
