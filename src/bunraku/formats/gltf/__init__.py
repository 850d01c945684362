"""glTF 2.0: a lossless document, its accessors, and the bridge to characters."""

from bunraku.formats.gltf.accessors import AccessorReader, dequantize, read_accessor
from bunraku.formats.gltf.document import GltfFile, read_gltf
from bunraku.formats.gltf.encoding import BufferBuilder, quantize, quantize_weights
from bunraku.formats.gltf.from_gltf import character_from_gltf, clips_from_gltf
from bunraku.formats.gltf.to_gltf import gltf_from_character
from bunraku.formats.gltf.writing import write_gltf

__all__ = [
    "AccessorReader",
    "BufferBuilder",
    "GltfFile",
    "character_from_gltf",
    "clips_from_gltf",
    "dequantize",
    "gltf_from_character",
    "quantize",
    "quantize_weights",
    "read_accessor",
    "read_gltf",
    "write_gltf",
]
