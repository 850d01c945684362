from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bunraku.formats.gltf import character_from_gltf, gltf_from_character, read_gltf
from bunraku.model import (
    Attachment,
    Character,
    Clip,
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
from tests.formats.puppet import PNG, TRIANGLE, puppet, save
from tests.formats.reading import read
from tests.formats.same import changed
from tests.formats.sketch import Sketch, chunk, glb
from tests.formats.stored import contents, unread
from tests.formats.validator import complaints


@pytest.mark.parametrize("suffix", [".glb", ".gltf"])
def test_an_untouched_character_is_its_document(suffix: str, folder: Path):
    character = read(puppet())
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


def one_more_target(character: Character) -> Character:
    mesh = character.meshes[0]
    (geometry,) = mesh.geometries
    morphs = (*geometry.morphs, MorphTarget([1], [[0, 2, 0]]))
    mesh = replace(
        mesh,
        geometries=(replace(geometry, morphs=morphs),),
        morph_names=(*mesh.morph_names, "jump"),
        morph_weights=[0.25, 0, 0.5],
    )
    return replace(character, meshes=(mesh, *character.meshes[1:]))


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
    "the mesh's weights on a node": lambda c: replace(
        c,
        attachments=(replace(c.attachments[0], morph_weights=[0.25, 0]), *c.attachments[1:]),
    ),
    "one more morph target": one_more_target,
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
    "a mesh hidden": lambda c: replace(
        c, attachments=(replace(c.attachments[0], visible=False), *c.attachments[1:])
    ),
    "a base colour": lambda c: material_with(c, base_color=(0.5, 0.25, 1.0, 1.0)),
    "transparency": lambda c: material_with(c, alpha_mode="mask", alpha_cutoff=0.25),
    "two sides": lambda c: material_with(c, double_sided=True, name="skin"),
    "no texture": lambda c: material_with(c, image=None, uv_offset=(0.0, 0.0)),
    "a wrap": lambda c: material_with(c, wrap=("mirror", "clamp")),
    "no mixture of texels": lambda c: material_with(c, filter="nearest"),
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
    before = read(sketch)
    after = CHANGES[name](before)
    again, _ = save(after, folder / (name.replace(" ", "-") + suffix))
    assert changed(again, after) == []
    assert again.document is not None
    new, old = again.document.json, sketch.finished()  # type: ignore[attr-defined]
    was, now = contents(before.document), contents(again.document)
    edited = {place for place in was.keys() & now.keys() if was[place] != now[place]}
    assert len({place.partition("/")[0] for place in edited}) <= 1
    assert unread(new)[0] <= {1}  # an extra says 1, which may mean that accessor
    assert unread(new)[1] == set()
    assert new["extras"] == old["extras"]
    assert new["meshes"][1]["extras"] == {"kept": True}
    assert new["materials"][0]["extensions"] == {"KHR_materials_unlit": {}}
    assert new["materials"][0]["emissiveFactor"] == [1, 0, 0]
    assert new["materials"][0]["pbrMetallicRoughness"]["roughnessFactor"] == 0.5


def test_what_is_hidden_above_stays_hidden(folder: Path):
    sketch = Sketch(
        nodes=[
            {"children": [1], "extensions": {"KHR_node_visibility": {"visible": False}}},
            {"mesh": 0},
        ],
        extensionsUsed=["KHR_node_visibility"],
        scenes=[{"nodes": [0]}],
        scene=0,
    )
    position = sketch.add([[0, 0, 0], [1, 0, 0], [0, 1, 0]])
    sketch.tree["meshes"] = [{"primitives": [{"attributes": {"POSITION": position}}]}]
    before = read(sketch)
    assert [each.visible for each in before.attachments] == [False]
    shown = replace(before, attachments=(replace(before.attachments[0], visible=True),))
    again, codes = save(shown, folder / "shown.glb")
    assert codes == ["node-hidden"]
    assert [each.visible for each in again.attachments] == [False]


def test_what_was_not_touched_in_an_object_stays(folder: Path):
    before = read(puppet())
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
    after = CHANGES["times of a track"](read(puppet()))
    again, _ = save(after, folder / "pointer.glb")
    animation = again.document.json["animations"][0]  # type: ignore[attr-defined]
    paths = [channel["target"]["path"] for channel in animation["channels"]]
    assert paths == ["pointer", "rotation", "translation"]
    assert [channel["sampler"] for channel in animation["channels"]] == [0, 1, 0]
    assert len(animation["samplers"]) == 2
    assert animation["extras"] == {"loop": True}


def test_extras_that_are_no_object_are_kept_unless_they_are_needed(folder: Path):
    sketch = puppet()
    sketch.tree["meshes"][0]["extras"] = "a note to self"
    before = read(sketch)
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
    _, codes = save(CHANGES["other vertices"](read(puppet())), folder / "fewer.glb")
    assert codes == ["attributes-dropped"]


def test_saving_twice_changes_nothing_more(folder: Path):
    once, _ = save(CHANGES["positions"](read(puppet())), folder / "once.glb")
    save(once, folder / "twice.glb")
    assert (folder / "once.glb").read_bytes() == (folder / "twice.glb").read_bytes()


def test_fewer_objects_start_from_scratch_with_a_note(folder: Path):
    before = read(puppet())
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
    before = read(sketch)
    after = mesh_with(before, positions=before.meshes[0].geometries[0].positions * 2)
    again, codes = save(after, folder / "draco.glb")
    assert codes == []
    assert changed(again, after) == []
    tree = again.document.json  # type: ignore[attr-defined]
    assert "extensionsRequired" not in tree
    assert "extensions" not in tree["meshes"][0]["primitives"][0]


def test_the_validator_has_nothing_against_what_was_written(folder: Path):
    assert complaints(folder) == {}
