"""BVH motion capture: a lossless document, and the bridge to a figure and its motion."""

from bunraku.formats.bvh.document import (
    CHANNELS,
    BvhFile,
    BvhJoint,
    bvh_bytes,
    read_bvh,
    write_bvh,
)
from bunraku.formats.bvh.from_bvh import character_from_bvh, clip_from_bvh
from bunraku.formats.bvh.to_bvh import bvh_from_clip

__all__ = [
    "CHANNELS",
    "BvhFile",
    "BvhJoint",
    "bvh_bytes",
    "bvh_from_clip",
    "character_from_bvh",
    "clip_from_bvh",
    "read_bvh",
    "write_bvh",
]
