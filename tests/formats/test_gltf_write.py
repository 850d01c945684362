from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bunraku.errors import UnsupportedError
from bunraku.formats.gltf import (
    GltfFile,
    character_from_gltf,
    gltf_from_character,
    read_gltf,
    write_gltf,
)
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
    Scene,
    Skeleton,
    Skin,
    Track,
)
from tests.formats.same import changed
from tests.formats.sketch import Sketch, chunk, glb, skinned
from tests.formats.validator import errors, validate

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c63f8cfc0f01f00050001ff56c72f0d0000000049454e44ae426082"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where this module's files go, for the last test to judge."""
    return tmp_path_factory.mktemp("written")


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


def load(sketch: Sketch) -> Character:
    return character_from_gltf(read_gltf(sketch.glb(), name="puppet.glb"))


def save(character: Character, path: Path) -> tuple[Character, list[str]]:
    """What a character becomes when it is saved and loaded, and the codes of the notes."""
    file, notes = gltf_from_character(character)
    notes += write_gltf(file, path)
    return character_from_gltf(read_gltf(path)), [note.code for note in notes]


@pytest.mark.parametrize("suffix", [".glb", ".gltf"])
def test_an_untouched_character_is_its_document(suffix: str, folder: Path):
    character = load(puppet())
    file, notes = gltf_from_character(replace(character, name="another", notes=()))
    assert file is character.document
    assert notes == ()
    again, _ = save(character, folder / f"untouched{suffix}")
    assert changed(again, character) == []


def mesh_with(character: Character, **changes: Any) -> Character:
    """The first mesh with a changed geometry."""
    mesh = character.meshes[0]
    geometry = replace(mesh.geometries[0], **changes)
    return replace(
        character,
        meshes=(replace(mesh, geometries=(geometry,)), *character.meshes[1:]),
    )


def part_with(character: Character, **changes: Any) -> Character:
    mesh = character.meshes[0]
    part = replace(mesh.parts[0], **changes)
    return replace(character, meshes=(replace(mesh, parts=(part,)), *character.meshes[1:]))


def skeleton_with(character: Character, **changes: Any) -> Character:
    """Replace rows of the skeleton's arrays: {field: {node: value}}."""
    skeleton = character.skeleton
    fields = {
        "names": list(skeleton.names),
        "parents": skeleton.parents.copy(),
        "translations": skeleton.translations.copy(),
        "rotations": skeleton.rotations.copy(),
        "scales": skeleton.scales.copy(),
    }
    for name, rows in changes.items():
        for node, value in rows.items():
            fields[name][node] = value
    return replace(character, skeleton=Skeleton(**fields))


def material_with(character: Character, **changes: Any) -> Character:
    return replace(character, materials=(replace(character.materials[0], **changes),))


def more_nodes(character: Character) -> Character:
    skeleton = character.skeleton
    return replace(
        character,
        skeleton=Skeleton(
            (*skeleton.names, "hand"),
            [*skeleton.parents, 2],
            np.concatenate([skeleton.translations, [[0, 1, 0]]]),
            np.concatenate([skeleton.rotations, [[0, 0, 0, 1]]]),
            np.concatenate([skeleton.scales, [[1, 1, 1]]]),
        ),
        attachments=(*character.attachments, Attachment(4, 1)),
    )


def track_with(character: Character, **changes: Any) -> Character:
    wave, still = character.clips
    tracks = (replace(wave.tracks[0], **changes), *wave.tracks[1:])
    return replace(character, clips=(replace(wave, tracks=tracks), still))


NEW_CLIP = Clip(
    "new",
    (
        Track(0, "weights", [0, 0.5], [[0, 1], [1, 0]]),
        Track(1, "scale", [0, 0.5], np.ones((2, 3, 3)), "CUBICSPLINE"),
        Track(2, "rotation", [0.5], [[0, 0, 0, 1]], "STEP"),
    ),
)
TRIANGLE = Geometry([[0, 0, 0], [1, 0, 0], [0, 1, 0]], normals=[[0, 0, 1]] * 3)

CHANGES: dict[str, Callable[[Character], Character]] = {
    "a translation": lambda c: skeleton_with(c, translations={1: [1, 2, 3]}),
    "a rotation": lambda c: skeleton_with(c, rotations={2: [0, 0.6, 0, 0.8]}),
    "back to the default": lambda c: skeleton_with(c, translations={2: [0, 0, 0]}),
    "a node with a matrix": lambda c: skeleton_with(c, scales={3: [1, 2, 1]}),
    "names": lambda c: skeleton_with(c, names={1: "", 2: "fore", 3: "tip"}),
    "another parent": lambda c: replace(
        c,
        skeleton=Skeleton(
            c.skeleton.names,
            [-1, -1, 1, 1],
            c.skeleton.translations,
            c.skeleton.rotations,
            c.skeleton.scales,
        ),
        scenes=(Scene([0, 1]),),
    ),
    "a new node": more_nodes,
    "joints": lambda c: replace(c, skins=(replace(c.skins[0], joints=[2, 1]),), notes=()),
    "bind matrices": lambda c: replace(
        c, skins=(Skin([1, 2], 2.0 * np.eye(4) * [1, 1, 1, 0.5] * np.ones((2, 1, 1)), "skin"),)
    ),
    "positions": lambda c: mesh_with(c, positions=[[0, 0, 0], [2, 0, 0], [0, 2, 0]]),
    "normals": lambda c: mesh_with(c, normals=[[0, 1, 0]] * 3),
    "no normals": lambda c: mesh_with(c, normals=None),
    "tangents": lambda c: mesh_with(c, tangents=[[1, 0, 0, -1]] * 3),
    "texture coordinates": lambda c: mesh_with(c, uvs=(np.eye(3)[:, :2], np.zeros((3, 2)))),
    "colours": lambda c: mesh_with(c, colors=(np.full((3, 4), 0.5),)),
    "influences": lambda c: mesh_with(
        c, joints=np.tile([0, 1], (3, 4)), weights=np.tile([1, 0, 0, 0, 0, 0, 0, 0], (3, 1))
    ),
    "morph deltas": lambda c: mesh_with(
        c,
        morphs=(
            MorphTarget([2], [[5, 0, 0]], normals=[[0, 1, 0]]),
            c.meshes[0].geometries[0].morphs[1],
        ),
    ),
    "other vertices": lambda c: mesh_with(
        c,
        positions=np.eye(4)[:, :3],
        normals=None,
        uvs=(np.zeros((4, 2)),),
        joints=np.zeros((4, 4), np.int32),
        weights=np.tile([1, 0, 0, 0], (4, 1)),
    ),
    "morph names": lambda c: replace(
        c, meshes=(replace(c.meshes[0], morph_names=("a", "i")), c.meshes[1])
    ),
    "morph weights": lambda c: replace(
        c, meshes=(replace(c.meshes[0], morph_weights=[0, 1]), c.meshes[1])
    ),
    "weights of a node": lambda c: replace(
        c,
        attachments=(replace(c.attachments[0], morph_weights=[0.5, 0.5]), *c.attachments[1:]),
    ),
    "faces": lambda c: part_with(c, faces=[[0, 1, 2], [2, 1, 0]]),
    "lines": lambda c: part_with(c, faces=[[0, 1]], topology="lines"),
    "no material": lambda c: part_with(c, material=None),
    "a mesh name": lambda c: replace(c, meshes=(replace(c.meshes[0], name=""), c.meshes[1])),
    "one more part": lambda c: replace(
        c,
        meshes=(
            replace(c.meshes[0], parts=(*c.meshes[0].parts, Part(0, [[2, 1, 0]], 0))),
            c.meshes[1],
        ),
    ),
    "a new mesh": lambda c: replace(
        c,
        meshes=(*c.meshes, Mesh("new", (TRIANGLE,), (Part(0, [[0, 1, 2]]),))),
        attachments=(*c.attachments, Attachment(3, 2)),
    ),
    "a mesh less shown": lambda c: replace(c, attachments=c.attachments[1:]),
    "another mesh shown": lambda c: replace(
        c, attachments=(c.attachments[0], replace(c.attachments[1], mesh=0, morph_weights=None))
    ),
    "a base colour": lambda c: material_with(c, base_color=(0.5, 0.25, 1.0, 1.0)),
    "transparency": lambda c: material_with(c, alpha_mode="mask", alpha_cutoff=0.25),
    "two sides": lambda c: material_with(c, double_sided=True, name="skin"),
    "no texture": lambda c: material_with(c, image=None, uv_offset=(0.0, 0.0)),
    "a wrap": lambda c: material_with(c, wrap=("mirror", "clamp")),
    "a placement": lambda c: material_with(
        c, uv_offset=(0.5, 0.25), uv_rotation=1.5, uv_scale=(2.0, -1.0)
    ),
    "no placement": lambda c: material_with(c, uv_offset=(0.0, 0.0)),
    "another picture": lambda c: replace(c, images=(Image(PNG, "image/png", "new"),)),
    "one more picture": lambda c: replace(
        c,
        images=(*c.images, Image(PNG, "image/png", "second")),
        materials=(replace(c.materials[0], image=1), Material("plain", (0.0, 0.0, 0.0, 1.0))),
    ),
    "a scene": lambda c: replace(
        c, scenes=(Scene([0, 1], "main"), Scene([3, 0, 1])), default_scene=1
    ),
    "no scenes": lambda c: replace(c, scenes=(), default_scene=None),
    "values of a track": lambda c: track_with(c, values=[[0, 0, 0, 1], [0, 1, 0, 0]]),
    "times of a track": lambda c: track_with(c, times=[0, 2]),
    "a step": lambda c: track_with(c, interpolation="STEP"),
    "a new clip": lambda c: replace(c, clips=(*c.clips, NEW_CLIP)),
    "a clip less": lambda c: replace(c, clips=c.clips[1:]),
    "no clips": lambda c: replace(c, clips=()),
    "clips the other way round": lambda c: replace(c, clips=c.clips[::-1]),
    "a clip renamed": lambda c: replace(c, clips=(replace(c.clips[0], name="x"), c.clips[1])),
}


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("suffix", [".glb", ".gltf"])
def test_a_change_is_written_and_nothing_else(name: str, suffix: str, folder: Path):
    sketch = puppet()
    before = load(sketch)
    after = CHANGES[name](before)
    again, _ = save(after, folder / (name.replace(" ", "-") + suffix))
    assert changed(again, after) == []
    assert again.document is not None
    new, old = again.document.json, sketch.finished()  # type: ignore[attr-defined]
    assert new["accessors"][: len(old["accessors"])] == old["accessors"]
    for was, now in zip(old["bufferViews"], new["bufferViews"], strict=False):
        start = now.get("byteOffset", 0)
        data = again.document.buffers[now["buffer"]]  # type: ignore[attr-defined]
        stored = bytes(data[start : start + now["byteLength"]])
        assert stored == bytes(sketch.data[was["byteOffset"] :][: was["byteLength"]])
    assert new["extras"] == old["extras"]
    assert new["meshes"][1]["extras"] == {"kept": True}
    assert new["materials"][0]["extensions"] == {"KHR_materials_unlit": {}}
    assert new["materials"][0]["emissiveFactor"] == [1, 0, 0]
    assert new["materials"][0]["pbrMetallicRoughness"]["roughnessFactor"] == 0.5


def test_what_was_not_touched_in_an_object_stays(folder: Path):
    before = load(puppet())
    again, _ = save(CHANGES["positions"](before), folder / "kept.glb")
    primitive = again.document.json["meshes"][0]["primitives"][0]  # type: ignore[attr-defined]
    original = before.document.json["meshes"][0]["primitives"][0]  # type: ignore[attr-defined]
    assert primitive["attributes"].pop("POSITION") != original["attributes"]["POSITION"]
    assert primitive["attributes"].items() <= original["attributes"].items()
    assert primitive["extras"] == {"part": 1}
    assert primitive["targets"] == original["targets"]
    again, _ = save(CHANGES["transparency"](before), folder / "kept.glb")
    material = again.document.json["materials"][0]  # type: ignore[attr-defined]
    texture = material["pbrMetallicRoughness"]["baseColorTexture"]
    assert texture["extensions"] == {"KHR_texture_transform": {"offset": [0.5, 0]}}


def test_channels_that_cannot_be_played_survive_a_changed_clip(folder: Path):
    after = CHANGES["times of a track"](load(puppet()))
    again, _ = save(after, folder / "pointer.glb")
    animation = again.document.json["animations"][0]  # type: ignore[attr-defined]
    paths = [channel["target"]["path"] for channel in animation["channels"]]
    assert paths == ["pointer", "rotation", "translation"]
    assert [channel["sampler"] for channel in animation["channels"]] == [1, 2, 1]
    assert animation["extras"] == {"loop": True}


def test_extras_that_are_no_object_are_kept_unless_they_are_needed(folder: Path):
    sketch = puppet()
    sketch.tree["meshes"][0]["extras"] = "a note to self"
    before = load(sketch)
    assert before.meshes[0].morph_names == ("", "")
    again, _ = save(CHANGES["a mesh name"](before), folder / "extras.glb")
    assert again.document.json["meshes"][0]["extras"] == "a note to self"  # type: ignore[attr-defined]
    again, _ = save(CHANGES["morph names"](before), folder / "extras.glb")
    assert again.meshes[0].morph_names == ("a", "i")


def test_chunks_that_cannot_be_kept_are_noted(tmp_path: Path):
    buffers = [{"byteLength": 4, "uri": "data.bin"}]
    mesh = {"primitives": [{"attributes": {"POSITION": 0}}]}
    accessor = {"componentType": 5126, "count": 3, "type": "VEC3"}
    tree = {"asset": {"version": "2.0"}, "buffers": buffers, "meshes": [mesh]}
    text = json.dumps({**tree, "accessors": [accessor]}).encode()
    (tmp_path / "x.glb").write_bytes(glb(text, None, chunk(b"XTRA", b"lost")))
    (tmp_path / "data.bin").write_bytes(b"1234")
    before = character_from_gltf(read_gltf(tmp_path / "x.glb"))
    after = mesh_with(before, positions=np.eye(3))
    again, codes = save(after, tmp_path / "y.glb")
    assert codes == ["chunk-dropped"]
    assert changed(again, after) == []


def test_attributes_that_no_longer_fit_are_left_out_with_a_note(folder: Path):
    _, codes = save(CHANGES["other vertices"](load(puppet())), folder / "fewer.glb")
    assert codes == ["attributes-dropped"]


def test_saving_twice_changes_nothing_more(folder: Path):
    once, _ = save(CHANGES["positions"](load(puppet())), folder / "once.glb")
    save(once, folder / "twice.glb")
    assert (folder / "once.glb").read_bytes() == (folder / "twice.glb").read_bytes()


def test_fewer_objects_start_from_scratch_with_a_note(folder: Path):
    before = load(puppet())
    after = replace(before, materials=(), meshes=(part_with(before, material=None).meshes))
    again, codes = save(after, folder / "scratch.glb")
    assert codes == ["document-dropped"]
    assert changed(again, after) == []
    assert "extras" not in again.document.json  # type: ignore[attr-defined]


def test_a_changed_draco_primitive_is_written_plainly(folder: Path):
    pytest.importorskip("DracoPy", reason="pip install 'bunraku[draco]'")
    from tests.formats.test_gltf_compression import draco_sketch

    sketch = draco_sketch()
    sketch.tree["nodes"] = [{"mesh": 0, "skin": 0}, {}, {}, {}, {}]
    sketch.tree["skins"] = [{"joints": [1, 2, 3, 4]}]
    sketch.tree["nodes"][1]["children"] = [2, 3, 4]
    sketch.tree["scenes"] = [{"nodes": [0, 1]}]
    before = load(sketch)
    after = mesh_with(before, positions=before.meshes[0].geometries[0].positions * 2)
    again, codes = save(after, folder / "draco.glb")
    assert codes == []
    assert changed(again, after) == []
    tree = again.document.json  # type: ignore[attr-defined]
    assert "extensionsRequired" not in tree
    assert "extensions" not in tree["meshes"][0]["primitives"][0]


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
        bare = replace(load(puppet()), document=None)
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
    bare = replace(load(puppet()), document=object())
    file, notes = gltf_from_character(bare)
    assert isinstance(file, GltfFile)
    assert notes == ()


def test_the_validator_has_nothing_against_what_was_written(folder: Path):
    files = sorted([*folder.glob("*.glb"), *folder.glob("*.gltf")])
    assert files
    found = {file.name: errors(report) for file, report in zip(files, validate(files), strict=True)}
    assert {name: messages for name, messages in found.items() if messages} == {}


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
