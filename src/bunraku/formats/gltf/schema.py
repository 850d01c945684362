"""The shape of a glTF document as a table: types, ranges, references.

`check` walks the JSON tree along the table. Rules between objects are in `rules.py`.
Specification: glTF 2.0, section 5 (properties reference).
"""

from __future__ import annotations

from typing import Any

from bunraku.formats.gltf.checks import (
    MOST_OBJECTS,
    array_of,
    boolean,
    carried_index_into,
    count,
    extensions_of,
    index_into,
    integer,
    map_of,
    number,
    numbers,
    object_of,
    one_of,
    preferably,
    string,
)
from bunraku.formats.gltf.context import KINDS, Context

COMPONENT_TYPES = (5120, 5121, 5122, 5123, 5125, 5126)

_offset = integer(0)
_size = integer(1)
_texture_info = object_of(("index",), index=carried_index_into("textures"), texCoord=integer(0))

_meshopt = object_of(
    ("buffer", "byteLength", "byteStride", "count", "mode"),
    buffer=index_into("buffers"),
    byteOffset=_offset,
    byteLength=_size,
    byteStride=integer(1, 256),
    count=integer(0, MOST_OBJECTS),
    mode=one_of("ATTRIBUTES", "TRIANGLES", "INDICES"),
    filter=one_of("NONE", "OCTAHEDRAL", "QUATERNION", "EXPONENTIAL", "COLOR"),
)
_draco = object_of(
    ("bufferView", "attributes"),
    bufferView=index_into("bufferViews"),
    attributes=map_of(integer(0)),
)

_accessor = object_of(
    ("componentType", "count", "type"),
    bufferView=index_into("bufferViews"),
    byteOffset=_offset,
    componentType=one_of(*COMPONENT_TYPES),
    normalized=boolean,
    count=count,
    type=string,
    max=numbers(None),
    min=numbers(None),
    name=string,
    sparse=object_of(
        ("count", "indices", "values"),
        count=integer(0, MOST_OBJECTS),
        indices=object_of(
            ("bufferView", "componentType"),
            bufferView=index_into("bufferViews"),
            byteOffset=_offset,
            componentType=one_of(5121, 5123, 5125),
        ),
        values=object_of(
            ("bufferView",),
            bufferView=index_into("bufferViews"),
            byteOffset=_offset,
        ),
    ),
)
_animation = object_of(
    ("channels", "samplers"),
    channels=array_of(
        object_of(
            ("sampler", "target"),
            sampler=integer(0),
            target=object_of(("path",), node=index_into("nodes"), path=string),
        )
    ),
    samplers=array_of(
        object_of(
            ("input", "output"),
            input=index_into("accessors"),
            output=index_into("accessors"),
            interpolation=string,
        )
    ),
    name=string,
)
_primitive = object_of(
    ("attributes",),
    attributes=map_of(index_into("accessors")),
    indices=index_into("accessors"),
    material=index_into("materials"),
    mode=integer(0, 6),
    targets=array_of(map_of(index_into("accessors"))),
    extensions=extensions_of({"KHR_draco_mesh_compression": _draco}),
)
_node = object_of(
    (),
    camera=carried_index_into("cameras"),
    children=array_of(index_into("nodes")),
    matrix=numbers(16),
    mesh=index_into("meshes"),
    name=string,
    rotation=numbers(4),
    scale=numbers(3),
    skin=index_into("skins"),
    translation=numbers(3),
    weights=numbers(None),
)
_material = object_of(
    (),
    name=string,
    pbrMetallicRoughness=object_of(
        (),
        baseColorFactor=numbers(4),
        baseColorTexture=_texture_info,
        metallicRoughnessTexture=_texture_info,
        metallicFactor=number,
        roughnessFactor=number,
    ),
    normalTexture=_texture_info,
    occlusionTexture=_texture_info,
    emissiveTexture=_texture_info,
    emissiveFactor=numbers(3),
    alphaMode=preferably("OPAQUE", "MASK", "BLEND"),
    alphaCutoff=number,
    doubleSided=boolean,
)
_skin = object_of(
    ("joints",),
    inverseBindMatrices=index_into("accessors"),
    joints=array_of(index_into("nodes"), may_be_empty=False, unique=True),
    skeleton=index_into("nodes"),
    name=string,
)

DOCUMENT = object_of(
    ("asset",),
    extensionsUsed=array_of(string, unique=True),
    extensionsRequired=array_of(string, unique=True),
    accessors=array_of(_accessor),
    animations=array_of(_animation),
    asset=object_of(
        ("version",), version=string, minVersion=string, generator=string, copyright=string
    ),
    buffers=array_of(object_of(("byteLength",), byteLength=_size, uri=string, name=string)),
    bufferViews=array_of(
        object_of(
            ("buffer", "byteLength"),
            buffer=index_into("buffers"),
            byteOffset=_offset,
            byteLength=integer(0),
            byteStride=integer(1),
            name=string,
            extensions=extensions_of(
                {"EXT_meshopt_compression": _meshopt, "KHR_meshopt_compression": _meshopt}
            ),
        )
    ),
    cameras=array_of(object_of()),
    images=array_of(
        object_of(
            (), bufferView=index_into("bufferViews"), mimeType=string, uri=string, name=string
        )
    ),
    materials=array_of(_material),
    meshes=array_of(
        object_of(
            ("primitives",),
            primitives=array_of(_primitive, may_be_empty=False),
            weights=numbers(None),
            name=string,
        )
    ),
    nodes=array_of(_node),
    samplers=array_of(object_of()),
    scene=index_into("scenes"),
    scenes=array_of(object_of((), nodes=array_of(index_into("nodes"), unique=True), name=string)),
    skins=array_of(_skin),
    textures=array_of(
        object_of(
            (),
            sampler=carried_index_into("samplers"),
            source=carried_index_into("images"),
            name=string,
        )
    ),
)


def check(tree: dict[str, Any], source: str) -> Context:
    """Walk the document along the table; the context carries what was worth noting."""
    counts = {}
    for kind in KINDS:
        objects = tree.get(kind)
        counts[kind] = len(objects) if isinstance(objects, list) else 0
    context = Context(source, counts)
    DOCUMENT(tree, (), context)
    return context
