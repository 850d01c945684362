from __future__ import annotations

import numpy as np
import pytest

from bunraku.errors import FormatError
from bunraku.formats.gltf import character_from_gltf, read_gltf
from tests.formats.reading import codes, read
from tests.formats.sketch import Sketch, animated, skinned, triangle, with_indices, with_positions

TURNS = [[0, 0, 0, 1], [0, 0, 1, 0]]

INVALID = {
    "a vertex index beyond the last": (
        with_indices([0, 1, 6]),
        "meshes[0].primitives[0].indices: expected vertices below 6, found 6",
    ),
    "a restart index": (with_indices([0, 1, 255]), "found 255"),
    "an index beyond int32": (with_indices([0, 1, 2**32 - 1], dtype="u4"), "found 4294967295"),
    "positions that are no numbers": (
        with_positions([[0, 0, np.nan]] * 3),
        "meshes[0].primitives[0]: geometry.positions[0, 2]: expected finite numbers",
    ),
    "a joint slot beyond the skin": (
        skinned([[1, 0, 0, 0]] * 3, joints=[[0, 0, 0, 0], [1, 0, 0, 0], [2, 0, 0, 0]]),
        "nodes[0]: its mesh uses joint slot 2, but skins[0] has 2 joints; first at vertex 2 of"
        " meshes[0]",
    ),
    "times that run back": (
        animated("rotation", [1, 0], TURNS),
        "expected increasing times, found 0 after 1 at key 1",
    ),
    "times that are no numbers": (animated("rotation", [0, np.nan], TURNS), "are not finite"),
    "a rotation of zero": (
        animated("rotation", [0, 1], [[0, 0, 0, 1], [0, 0, 0, 0]]),
        "animations[0].channels[0]: the rotation at key 1 is zero",
    ),
    "values that are no numbers": (
        animated("translation", [0], [[0, np.inf, 0]]),
        "animations[0].channels[0]: track 0 translation.values",
    ),
}


@pytest.mark.parametrize(("sketch", "message"), INVALID.values(), ids=INVALID.keys())
def test_data_that_contradict_themselves(sketch: Sketch, message: str):
    with pytest.raises(FormatError) as caught:
        read(sketch)
    assert str(caught.value).startswith("x.glb: ")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("above", "own", "visible"),
    [
        ({}, {}, True),
        ({}, {"visible": False}, False),
        ({"visible": False}, {}, False),
        ({"visible": False}, {"visible": True}, False),
        ({"visible": True}, {"visible": True}, True),
        ([], {"visible": 0}, True),  # not what the extension says: as if it were not there
    ],
)
def test_nodes_hide_what_is_below_them(above: object, own: object, visible: bool):
    sketch = triangle()
    hide = "KHR_node_visibility"
    sketch.tree["extensionsUsed"] = [hide]
    sketch.tree["nodes"][0].setdefault("extensions", {})[hide] = own
    sketch.tree["nodes"].append({"children": [0], "extensions": {hide: above}})
    sketch.tree["scenes"] = [{"nodes": [len(sketch.tree["nodes"]) - 1]}]
    assert [each.visible for each in read(sketch).attachments] == [visible]


class TestSurfaces:
    PNG = b"\x89PNG\r\n\x1a\n"

    def sketch(self) -> Sketch:
        sketch = triangle(TEXCOORD_0=(np.zeros((3, 2)), "f4", {}))
        sketch.tree["images"] = [
            {"bufferView": sketch.view(self.PNG + b"0"), "mimeType": "image/png", "name": "skin"},
            {"uri": "data:image/jpeg;base64,/9j/"},
        ]
        sketch.tree["textures"] = [
            {"source": 1},
            {"extensions": {"EXT_texture_webp": {"source": 0}}},
            {},
        ]
        sketch.tree["materials"] = [
            {
                "name": "face",
                "pbrMetallicRoughness": {
                    "baseColorFactor": [1, 0.5, 0.25, 0.125],
                    "baseColorTexture": {"index": 0, "texCoord": 0},
                },
                "alphaMode": "MASK",
                "alphaCutoff": 0.25,
                "doubleSided": True,
            },
            {"pbrMetallicRoughness": {"baseColorTexture": {"index": 1}}, "alphaMode": "BLEND"},
            {"pbrMetallicRoughness": {"baseColorTexture": {"index": 2}}},
            {},
        ]
        return sketch

    def test_materials(self):
        face, hair, none, plain = read(self.sketch()).materials
        assert (face.name, face.base_color) == ("face", (1, 0.5, 0.25, 0.125))
        assert (face.image, face.alpha_mode, face.alpha_cutoff) == (1, "mask", 0.25)
        assert face.double_sided
        assert (hair.image, hair.alpha_mode) == (0, "blend")
        assert none.image is None
        assert plain.base_color == (1, 1, 1, 1)

    def test_wraps_and_placement_of_textures(self):
        sketch = self.sketch()
        tree = sketch.tree
        tree["samplers"] = [
            {"wrapS": 33648, "wrapT": 33071, "magFilter": 9728, "minFilter": 9984},
            {"wrapS": 10497, "wrapT": [7], "magFilter": 9729, "minFilter": 9728},
        ]
        for texture, sampler in zip(tree["textures"], (0, 1, 9), strict=True):
            texture["sampler"] = sampler
        placed = {"offset": [0.5, 0.25], "rotation": 1.5, "scale": [2, -1], "texCoord": 1}
        reads = tree["materials"][0]["pbrMetallicRoughness"]["baseColorTexture"]
        reads["extensions"] = {"KHR_texture_transform": placed}
        found = read(sketch)
        assert codes(found) == ["dangling-reference"]  # the third texture's sampler
        face, hair, none, plain = found.materials
        wraps = {name: m.wrap for name, m in zip("fhnp", (face, hair, none, plain), strict=True)}
        repeat = ("repeat", "repeat")
        assert [m.filter for m in (face, hair, plain)] == ["nearest", "linear", "linear"]
        assert wraps == {"f": ("mirror", "clamp"), "h": repeat, "n": repeat, "p": repeat}
        assert (face.uv_set, face.uv_offset, face.uv_rotation, face.uv_scale) == (
            1,
            (0.5, 0.25),
            1.5,
            (2, -1),
        )
        assert (plain.uv_offset, plain.uv_rotation, plain.uv_scale) == ((0, 0), 0, (1, 1))

    @pytest.mark.parametrize(
        "extension",
        [[], {"offset": [1]}, {"scale": "two"}, {"rotation": True}, {"texCoord": -1}],
    )
    def test_a_placement_that_is_none_is_noted_and_left_out(self, extension):
        sketch = self.sketch()
        reads = sketch.tree["materials"][0]["pbrMetallicRoughness"]["baseColorTexture"]
        plain = read(self.sketch()).materials[0]
        reads["extensions"] = {"KHR_texture_transform": extension}
        found = read(sketch)
        assert "texture-transform-unread" in codes(found)
        assert found.materials[0] == plain

    def test_images(self):
        first, second = read(self.sketch()).images
        assert (first.data, first.mime_type, first.name) == (self.PNG + b"0", "image/png", "skin")
        assert (second.data, second.mime_type) == (b"\xff\xd8\xff", "image/jpeg")

    def test_a_missing_image_is_noted(self, tmp_path):
        sketch = triangle()
        sketch.tree["images"] = [{"uri": "gone.png"}, {}, {"uri": "../gone.png"}]
        (tmp_path / "x.glb").write_bytes(sketch.glb())
        found = character_from_gltf(read_gltf(tmp_path / "x.glb"))
        assert codes(found) == ["image-missing"] * 3
        assert [image.data for image in found.images] == [b""] * 3
