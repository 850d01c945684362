"""MikuMikuDance: PMX and PMD models, VMD motions and VPD poses as lossless documents.

In the files' own space (left-handed, +Y up, facing −Z), unit (about 0.08 m), angles and order;
and the bridges between them and the model, where that changes.
"""

from bunraku.formats.mmd.from_pmd import character_from_pmd, pmx_from_pmd
from bunraku.formats.mmd.from_pmx import character_from_pmx
from bunraku.formats.mmd.from_vmd import clip_from_vmd, clip_from_vpd
from bunraku.formats.mmd.pmd import PmdEnglish, PmdFile, PmdIk, PmdSkin
from bunraku.formats.mmd.pmd_io import pmd_bytes, read_pmd, write_pmd
from bunraku.formats.mmd.pmx import (
    BoneFlag,
    IndexSizes,
    MaterialFlag,
    PmxBone,
    PmxFile,
    PmxFrame,
    PmxIk,
    PmxIkLink,
    PmxMaterial,
    PmxOrigin,
)
from bunraku.formats.mmd.pmx_morphs import OFFSETS, MorphKind, PmxMorph
from bunraku.formats.mmd.pmx_physics import ANCHOR, PmxBody, PmxJoint, PmxSoftBody
from bunraku.formats.mmd.pmx_read import read_pmx
from bunraku.formats.mmd.pmx_vertices import Deform, PmxVertices
from bunraku.formats.mmd.pmx_write import pmx_bytes, write_pmx
from bunraku.formats.mmd.text import Text, decode_field
from bunraku.formats.mmd.textures import picture_files
from bunraku.formats.mmd.to_pmx import pmx_from_character
from bunraku.formats.mmd.to_vmd import vmd_from_clip, vpd_from_clip
from bunraku.formats.mmd.vmd import (
    BONE_KEY,
    CAMERA_KEY,
    CAMERA_MODEL,
    IK_STATE,
    LIGHT_KEY,
    MORPH_KEY,
    SHADOW_KEY,
    PropertyKey,
    VmdFile,
    read_vmd,
    tracks,
    vmd_bytes,
    write_vmd,
)
from bunraku.formats.mmd.vmd_curves import (
    LINEAR,
    bone_curves,
    camera_curves,
    encode_bone_curves,
    encode_camera_curves,
    physics_switch,
)
from bunraku.formats.mmd.vpd import VpdBone, VpdFile, VpdMorph, read_vpd, vpd_bytes, write_vpd
from bunraku.model.names import name_key

__all__ = [
    "ANCHOR",
    "BONE_KEY",
    "CAMERA_KEY",
    "CAMERA_MODEL",
    "IK_STATE",
    "LIGHT_KEY",
    "LINEAR",
    "MORPH_KEY",
    "OFFSETS",
    "SHADOW_KEY",
    "BoneFlag",
    "Deform",
    "IndexSizes",
    "MaterialFlag",
    "MorphKind",
    "PmdEnglish",
    "PmdFile",
    "PmdIk",
    "PmdSkin",
    "PmxBody",
    "PmxBone",
    "PmxFile",
    "PmxFrame",
    "PmxIk",
    "PmxIkLink",
    "PmxJoint",
    "PmxMaterial",
    "PmxMorph",
    "PmxOrigin",
    "PmxSoftBody",
    "PmxVertices",
    "PropertyKey",
    "Text",
    "VmdFile",
    "VpdBone",
    "VpdFile",
    "VpdMorph",
    "bone_curves",
    "camera_curves",
    "character_from_pmd",
    "character_from_pmx",
    "clip_from_vmd",
    "clip_from_vpd",
    "decode_field",
    "encode_bone_curves",
    "encode_camera_curves",
    "name_key",
    "physics_switch",
    "picture_files",
    "pmd_bytes",
    "pmx_bytes",
    "pmx_from_character",
    "pmx_from_pmd",
    "read_pmd",
    "read_pmx",
    "read_vmd",
    "read_vpd",
    "tracks",
    "vmd_bytes",
    "vmd_from_clip",
    "vpd_bytes",
    "vpd_from_clip",
    "write_pmd",
    "write_pmx",
    "write_vmd",
    "write_vpd",
]
