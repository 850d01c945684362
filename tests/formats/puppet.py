"""A small glTF with some of everything, as a file and as a character."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bunraku.formats.gltf import character_from_gltf, gltf_from_character, read_gltf, write_gltf
from bunraku.model import Character, Geometry
from tests.formats.sketch import Sketch, skinned

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c63f8cfc0f01f00050001ff56c72f0d0000000049454e44ae426082"
)


def puppet() -> Sketch:
    """Two joints, a skinned and morphed triangle, a plain one, materials, clips, opaque data."""
    sketch = skinned([[0.5, 0.5, 0, 0], [1, 0, 0, 0], [0.25, 0.75, 0, 0]])
    tree = sketch.tree
    primitive = tree["meshes"][0]["primitives"][0]
    attributes = primitive["attributes"]
    attributes["NORMAL"] = sketch.add([[0, 0, 1]] * 3)
    corners = [[0, 0], [65535, 0], [0, 65535]]
    attributes["TEXCOORD_0"] = sketch.add(corners, "u2", normalized=True)
    attributes["_HEAT"] = sketch.add([1, 2, 3])
    tree["bufferViews"][tree["accessors"][attributes["TEXCOORD_0"]]["bufferView"]] |= {
        "byteStride": 4,
        "byteLength": 12,
    }
    sketch.data += b"\0" * 6
    primitive |= {"indices": sketch.add([0, 1, 2], "u1"), "material": 0, "extras": {"part": 1}}
    primitive["targets"] = [
        {"POSITION": sketch.add([[0, 0, 0], [0, 0, 1], [0, 0, 0]])},
        {"POSITION": sketch.add([[1, 0, 0], [0, 0, 0], [0, 0, 0]])},
    ]
    mesh = tree["meshes"][0]
    mesh |= {"name": "body", "weights": [0.25, 0], "extras": {"targetNames": ["smile", "blink"]}}
    plain = {"attributes": {"POSITION": 0, "NORMAL": attributes["NORMAL"]}}
    tree["meshes"].append({"primitives": [plain], "extras": {"kept": True}})
    matrices = np.tile(np.eye(4), (2, 1, 1))
    tree["skins"][0] |= {"inverseBindMatrices": sketch.add(matrices), "name": "skin"}
    tree["nodes"][2]["mesh"] = 1
    tree["nodes"].append({"matrix": [2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 1, 2, 3, 1]})
    tree["scenes"][0]["nodes"].append(3)
    tree["scene"] = 0
    tree["images"] = [{"bufferView": sketch.view(PNG), "mimeType": "image/png"}]
    tree["textures"] = [{"source": 0}]
    transform = {"KHR_texture_transform": {"offset": [0.5, 0]}}
    texture = {"index": 0, "extensions": transform}
    tree["materials"] = [
        {
            "pbrMetallicRoughness": {"baseColorTexture": texture, "roughnessFactor": 0.5},
            "emissiveFactor": [1, 0, 0],
            "extensions": {"KHR_materials_unlit": {}},
        }
    ]
    times = sketch.add([0, 1])
    turns = sketch.add([[0, 0, 0, 1], [0, 0, 1, 0]])
    moves = sketch.add([[0, 1, 0], [0, 2, 0]])
    colour = {"KHR_animation_pointer": {"pointer": "/materials/0/emissiveFactor"}}
    tree["animations"] = [
        {
            "name": "wave",
            "channels": [
                {"sampler": 0, "target": {"node": 2, "path": "rotation"}},
                {"sampler": 1, "target": {"path": "pointer", "extensions": colour}},
                {"sampler": 1, "target": {"node": 2, "path": "translation"}},
            ],
            "samplers": [{"input": times, "output": turns}, {"input": times, "output": moves}],
            "extras": {"loop": True},
        },
        {
            "name": "still",
            "channels": [{"sampler": 0, "target": {"node": 1, "path": "translation"}}],
            "samplers": [{"input": times, "output": moves, "interpolation": "STEP"}],
        },
    ]
    tree["extensionsUsed"] = [
        "KHR_texture_transform",
        "KHR_materials_unlit",
        "KHR_animation_pointer",
    ]
    tree["extras"] = {"tool": "by hand"}
    return sketch


def save(character: Character, path: Path) -> tuple[Character, list[str]]:
    """What a character becomes when it is saved and loaded, and the codes of the notes."""
    file, notes = gltf_from_character(character)
    notes += write_gltf(file, path)
    return character_from_gltf(read_gltf(path)), [note.code for note in notes]


TRIANGLE = Geometry([[0, 0, 0], [1, 0, 0], [0, 1, 0]], normals=[[0, 0, 1]] * 3)
