"""VRM 0.x and 1.0 and VRM animations, on top of glTF documents."""

from bunraku.formats.vrm.from_vrm import character_from_vrm
from bunraku.formats.vrm.to_vrm import gltf_from_any, is_vrm, vrm_from_character
from bunraku.formats.vrm.to_vrma import vrma_from_character
from bunraku.formats.vrm.vrma import character_from_vrma, clips_from_vrma, is_vrma

__all__ = [
    "character_from_vrm",
    "character_from_vrma",
    "clips_from_vrma",
    "gltf_from_any",
    "is_vrm",
    "is_vrma",
    "vrm_from_character",
    "vrma_from_character",
]
