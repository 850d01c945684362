"""Writing characters that come from no glTF."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bunraku.errors import UnsupportedError
from bunraku.formats.gltf import GltfFile, character_from_gltf, gltf_from_character
from bunraku.model import (
    Attachment,
    Character,
    Clip,
    Geometry,
    Image,
    Material,
    Mesh,
    MorphTarget,
    Part,
    Skeleton,
    Skin,
    Track,
)
from tests.formats.puppet import PNG, TRIANGLE, puppet, save
from tests.formats.reading import read
from tests.formats.same import changed
from tests.formats.validator import complaints


class TestFromScratch:
    def character(self, geometry: Geometry = TRIANGLE, **fields: Any) -> Character:
        faces = [[0, 1, 2]]
        base = {
            "skeleton": Skeleton(("root", "tip"), [-1, 0]),
            "meshes": (Mesh("mesh", (geometry,), (Part(0, faces),)),),
            "attachments": (Attachment(0, 0),),
        }
        return Character(**(base | fields))

    def test_a_whole_character(self, folder: Path):
        bare = replace(read(puppet()), document=None)
        for suffix in (".glb", ".gltf"):
            again, codes = save(bare, folder / f"whole{suffix}")
            assert changed(again, bare) == []
            assert codes == []

    def test_an_empty_character(self, folder: Path):
        bare = Character(Skeleton((), np.zeros(0, np.int32)), scenes=())
        again, codes = save(bare, folder / "empty.glb")
        assert changed(again, bare) == []
        assert codes == []
        assert again.document.json == {  # type: ignore[attr-defined]
            "asset": {"version": "2.0", "generator": "Bunraku"}
        }

    def test_shared_geometries_stay_shared(self, folder: Path):
        mesh = Mesh("m", (TRIANGLE,), (Part(0, [[0, 1, 2]]), Part(0, [[2, 1, 0]])))
        bare = self.character(meshes=(mesh, mesh))
        again, _ = save(bare, folder / "shared.glb")
        assert changed(again, bare) == []
        assert len(again.document.json["accessors"]) == 4  # type: ignore[attr-defined]

    def test_influences_are_filled_up_to_sets_of_four(self, folder: Path):
        geometry = replace(
            TRIANGLE,
            joints=np.tile([1, 0, 1, 0, 7], (3, 1)),
            weights=np.tile([0.5, 0.25, 0.125, 0.125, 0], (3, 1)),
        )
        bare = self.character(geometry, attachments=(Attachment(0, 0, 0),), skins=(Skin([0, 1]),))
        again, _ = save(bare, folder / "filled.glb")
        found = again.meshes[0].geometries[0]
        assert found.joints is not None
        assert found.weights is not None
        # a joint that holds a vertex twice does so once, with both weights
        assert found.weights.tolist() == [[0.625, 0.375, 0, 0, 0, 0, 0, 0]] * 3
        assert found.joints.tolist() == [[1, 0, 0, 0, 0, 0, 0, 0]] * 3

    def test_vertices_without_weight_are_noted(self, tmp_path: Path):
        geometry = replace(TRIANGLE, joints=np.zeros((3, 4), int), weights=np.zeros((3, 4)))
        bare = self.character(geometry, attachments=(Attachment(0, 0, 0),), skins=(Skin([0]),))
        again, codes = save(bare, tmp_path / "x.glb")
        assert codes == ["weights-zero-sum"]
        assert changed(again, bare) == []

    def test_normals_have_unit_length(self, folder: Path):
        geometry = replace(
            TRIANGLE,
            normals=[[0, 0, 2], [0, 0, 0], [0, 0.6, 0.8]],
            tangents=[[2, 0, 0, 1], [0, 0, 0, 0], [1, 0, 0, -0.5]],
        )
        again, codes = save(self.character(geometry), folder / "normals.glb")
        found = again.meshes[0].geometries[0]
        assert found.normals is not None
        assert found.tangents is not None
        assert found.normals.tolist() == [[0, 0, 1], [0, 0, 1], np.float32([0, 0.6, 0.8]).tolist()]
        assert found.tangents.tolist() == [[1, 0, 0, 1], [0, 0, 1, 1], [1, 0, 0, -1]]
        assert codes == ["normals-replaced", "tangents-replaced"]

    def test_many_vertices_get_long_indices(self, folder: Path):
        count = 65_536
        geometry = Geometry(np.zeros((count, 3)))
        mesh = Mesh("m", (geometry,), (Part(0, [[0, 1, count - 1]]),))
        bare = self.character(meshes=(mesh,))
        again, _ = save(bare, folder / "many.glb")
        assert changed(again, bare) == []

    def test_what_has_no_faces_is_left_out_with_a_note(self, folder: Path):
        empty = Mesh("empty", (TRIANGLE,), (Part(0, np.zeros((0, 3), int)),))
        some = Mesh("some", (TRIANGLE,), (Part(0, np.zeros((0, 3), int)), Part(0, [[0, 1, 2]])))
        bare = self.character(
            meshes=(empty, some), attachments=(Attachment(0, 0), Attachment(1, 1))
        )
        again, codes = save(bare, folder / "empty-mesh.glb")
        assert codes == ["mesh-dropped", "part-dropped"]
        assert [mesh.name for mesh in again.meshes] == ["some"]
        assert [(a.node, a.mesh) for a in again.attachments] == [(1, 0)]

    def test_joints_of_several_trees_get_a_common_root(self, folder: Path):
        geometry = replace(
            TRIANGLE, joints=np.tile([0, 1, 0, 0], (3, 1)), weights=[[0.5, 0.5, 0, 0]] * 3
        )
        bare = self.character(
            geometry,
            skeleton=Skeleton(("a", "b", "mesh"), [-1, -1, -1]),
            attachments=(Attachment(2, 0, 0),),
            skins=(Skin([0, 1]),),
        )
        again, codes = save(bare, folder / "roots.glb")
        assert codes == ["root-added"]
        assert again.skeleton.parents.tolist() == [3, 3, -1, -1]
        assert again.scenes[0].roots.tolist() == [2, 3]

    def test_a_skin_without_influences_is_left_out_with_a_note(self, folder: Path):
        bare = self.character(attachments=(Attachment(0, 0, 0),), skins=(Skin([0, 1]),))
        again, codes = save(bare, folder / "no-influences.glb")
        assert codes == ["skin-dropped"]
        assert again.attachments[0].skin is None

    def test_tracks_by_name_and_tracks_without_a_node(self, folder: Path):
        clip = Clip(
            "by name",
            (
                Track("tip", "translation", [0, 1], np.zeros((2, 3))),
                Track("tail", "translation", [0, 1], np.zeros((2, 3))),
                Track(9, "scale", [0], np.zeros((1, 3))),
                Track(1, "translation", [0, 1], np.ones((2, 3))),
                Track(0, "weights", [0], np.zeros((1, 2))),
            ),
        )
        again, codes = save(self.character(clips=(clip, Clip("e", ()))), folder / "names.glb")
        assert codes == ["track-dropped"] * 4 + ["clip-dropped"]
        (track,) = again.clips[0].tracks
        assert (track.target, track.path) == (1, "translation")

    def test_times_round_to_increasing_floats_from_zero(self, folder: Path):
        times = [-1.0, -1.0 + 1e-12, 0.0, 1e-12, 100.0, 100.0 + 1e-9]
        clip = Clip("c", (Track(0, "translation", times, np.zeros((6, 3))),))
        again, codes = save(self.character(clips=(clip,)), folder / "times.glb")
        assert codes == ["clip-moved"]
        found = again.clips[0].tracks[0].times
        assert np.allclose(found, np.array(times) + 1, atol=1e-5)

    def test_a_single_cubic_key_is_held(self, folder: Path):
        values = np.arange(9).reshape(1, 3, 3)
        clip = Clip("c", (Track(0, "translation", [1], values, "CUBICSPLINE"),))
        again, _ = save(self.character(clips=(clip,)), folder / "cubic.glb")
        (track,) = again.clips[0].tracks
        assert (track.interpolation, track.values.tolist()) == ("STEP", [[3, 4, 5]])

    def test_targets_that_move_nothing(self, folder: Path):
        geometry = replace(
            TRIANGLE,
            morphs=(MorphTarget([]), MorphTarget([0, 1, 2], np.ones((3, 3))), MorphTarget([1])),
        )
        mesh = Mesh("m", (geometry,), (Part(0, [[0, 1, 2]]),), ("a", "b", "c"), [0, 0.5, 0])
        again, _ = save(self.character(meshes=(mesh,)), folder / "targets.glb")
        morphs = again.meshes[0].geometries[0].morphs
        assert [len(morph.indices) for morph in morphs] == [0, 3, 0]
        assert again.meshes[0].morph_names == ("a", "b", "c")

    def test_pictures_without_data_are_left_out_with_a_note(self, folder: Path):
        bare = self.character(
            images=(Image(b"", "image/png"), Image(PNG, "image/png")),
            materials=(Material("a", image=0), Material("b", image=1)),
        )
        again, codes = save(bare, folder / "pictures.glb")
        assert codes == ["image-dropped"]
        assert [material.image for material in again.materials] == [None, 0]

    def test_vertices_that_bend_as_in_mmd_are_noted(self, folder: Path):
        geometry = replace(TRIANGLE, joints=[[0, 0]] * 3, weights=[[1, 0]] * 3, dual=[1])
        mesh = Mesh("m", (geometry,), (Part(0, [[0, 1, 2]]),))
        _, codes = save(self.character(meshes=(mesh,)), folder / "dual.glb")
        assert "blend-dropped" in codes

    def test_colours_out_of_range_are_clamped(self, folder: Path):
        bare = self.character(materials=(Material("m", (2.0, -1.0, 0.5, 1.0)),))
        again, _ = save(bare, folder / "colour.glb")
        assert again.materials[0].base_color == (1, 0, 0.5, 1)

    def test_matrices_too_large_for_float32_are_refused(self, tmp_path: Path):
        matrices = np.eye(4)[None] * [1e300, 1, 1, 1]
        with pytest.raises(UnsupportedError, match="too large for glTF's float32"):
            save(self.character(skins=(Skin([0], matrices),)), tmp_path / "x.glb")
        assert list(tmp_path.iterdir()) == []


def test_documents_of_other_formats_do_not_matter(folder: Path):
    bare = replace(read(puppet()), document=object())
    file, notes = gltf_from_character(bare)
    assert isinstance(file, GltfFile)
    assert notes == ()


def test_pictures_of_other_kinds_become_png():
    from PIL import Image as Pictures

    made = {}
    for kind, mode in (("BMP", "RGB"), ("TGA", "RGBA")):
        out = io.BytesIO()
        Pictures.new(mode, (2, 1), (255, 0, 0)).save(out, kind)
        made[kind] = out.getvalue()
    images = (
        Image(made["BMP"], "image/bmp", "a"),
        Image(made["TGA"], "image/x-tga", "b"),
        Image(b"DDS junk", "image/vnd-ms.dds", "c"),
    )
    file, notes = gltf_from_character(Character(Skeleton((), np.zeros(0, np.int32)), images=images))
    codes = [note.code for note in notes]
    assert codes == ["image-converted", "image-converted", "image-kept"]
    again = character_from_gltf(file).images
    assert [image.mime_type for image in again] == ["image/png"] * 2 + ["image/vnd-ms.dds"]
    for image, mode in zip(again[:2], ("RGB", "RGBA"), strict=True):
        with Pictures.open(io.BytesIO(image.data)) as picture:
            assert (picture.format, picture.mode, picture.size) == ("PNG", mode, (2, 1))
            assert picture.getpixel((1, 0))[:3] == (255, 0, 0)
    assert again[2].data == b"DDS junk"


def test_the_validator_has_nothing_against_what_was_written_from_scratch(folder: Path):
    assert complaints(folder) == {}
