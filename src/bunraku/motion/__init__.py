"""Motions: bound to a character, sampled at any time, blended, and made into clips again."""

from bunraku.motion.binding import BoundClip, bind
from bunraku.motion.blending import add, additive, blend, joint_mask
from bunraku.motion.editing import clip_from_pose
from bunraku.motion.sampling import sample

__all__ = [
    "BoundClip",
    "add",
    "additive",
    "bind",
    "blend",
    "clip_from_pose",
    "joint_mask",
    "sample",
]
