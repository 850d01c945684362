"""Meshes, skins, materials, pictures and scenes in another order, and what belongs to them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bunraku.model import Attachment, Character, Image, Material, Mesh, MorphTarget, Scene
from tests.formats.puppet import PNG, puppet, save
from tests.formats.reading import read
from tests.formats.same import changed
from tests.formats.sketch import Sketch, morphed
from tests.formats.validator import complaints


def pair() -> Sketch:
    """The puppet with two of everything, each of which says in its extras which it is."""
    sketch = puppet()
    tree = sketch.tree
    tree["materials"].append({"name": "second", "emissiveFactor": [0, 1, 0]})
    tree["meshes"][1]["primitives"][0]["material"] = 1
    tree["skins"].append({"joints": [2, 1]})
    tree["images"].append({"bufferView": sketch.view(PNG + b"\0"), "mimeType": "image/png"})
    tree["textures"].append({"source": 1})
    tree["materials"][1]["emissiveTexture"] = {"index": 1}
    tree["scenes"].append({"nodes": [3]})
    for kind in ("meshes", "skins", "materials", "images", "scenes"):
        for each, name in zip(tree[kind], ("first", "second"), strict=True):
            each["extras"] = {**each.get("extras", {}), "of": name}
    uv = tree["meshes"][0]["primitives"][0]["attributes"]["TEXCOORD_0"]
    tree["meshes"][1]["primitives"][0]["attributes"]["TEXCOORD_0"] = uv
    return sketch


def exchanged(character: Character, kind: str) -> Character:
    """The two of a kind in the other order, and everything that names them after it."""
    things = getattr(character, kind)[::-1]
    fields: dict[str, Any] = {kind: things}
    if kind == "meshes":
        fields["attachments"] = [replace(a, mesh=1 - a.mesh) for a in character.attachments]
    if kind == "skins":
        fields["attachments"] = [
            a if a.skin is None else replace(a, skin=1 - a.skin) for a in character.attachments
        ]
    if kind == "materials":
        fields["meshes"] = [
            replace(mesh, parts=[replace(p, material=1 - (p.material or 0)) for p in mesh.parts])
            for mesh in character.meshes
        ]
    if kind == "images":
        fields["materials"] = [
            m if m.image is None else replace(m, image=1 - m.image) for m in character.materials
        ]
    return replace(character, **fields)


@pytest.mark.parametrize("kind", ["meshes", "skins", "materials", "scenes"])
def test_what_an_object_holds_beside_the_model_moves_along(kind: str, folder: Path):
    before = read(pair())
    after = exchanged(before, kind)
    again, codes = save(after, folder / f"{kind}.glb")
    assert changed(again, after) == []
    assert codes == ([] if kind == "scenes" else ["order-changed"])
    objects = again.document.json[kind]  # type: ignore[attr-defined]
    assert [each["extras"]["of"] for each in objects] == ["second", "first"]
    if kind == "materials":
        assert [each["emissiveFactor"] for each in objects] == [[0, 1, 0], [1, 0, 0]]


def test_pictures_stay_where_textures_find_them(folder: Path):
    before = read(pair())
    again, codes = save(exchanged(before, "images"), folder / "images.glb")
    assert changed(again, before) == []
    assert codes == []
    old, new = (each.document.json for each in (before, again))  # type: ignore[attr-defined]
    assert new["images"] == old["images"]
    assert new["textures"] == old["textures"]


def test_a_picture_more_before_the_others(folder: Path):
    before = read(pair())
    images = (Image(PNG + b"\0\0", "image/png", "new"), *before.images)
    materials = (replace(before.materials[0], image=1), replace(before.materials[1], image=0))
    again, codes = save(replace(before, images=images, materials=materials), folder / "more.glb")
    assert codes == []
    assert [image.name for image in again.images] == ["", "", "new"]
    assert [material.image for material in again.materials] == [0, 2]


def test_a_picture_that_is_replaced_while_another_moves_stays(folder: Path):
    before = read(pair())
    images = (before.images[1], Image(PNG + b"\0\0", "image/png", "new"))
    materials = (replace(before.materials[0], image=1), before.materials[1])
    again, codes = save(replace(before, images=images, materials=materials), folder / "stays.glb")
    assert codes == []
    assert again.images[:2] == before.images
    assert again.images[again.materials[0].image or 0].name == "new"
    assert again.document.json["materials"][1]["emissiveTexture"] == {"index": 1}  # type: ignore[attr-defined]


MATERIALS: dict[str, tuple[Callable[[Material, Material], Any], list[str | None]]] = {
    "colours exchanged": (
        lambda a, b: (replace(a, base_color=(0.0,) * 4), replace(b, base_color=(1.0,) * 4)),
        ["a", "b"],
    ),
    "names exchanged": (lambda a, b: (replace(a, name="b"), replace(b, name="a")), ["a", "b"]),
    "moved and edited": (
        lambda a, b: (replace(b, alpha_mode="blend"), replace(a, double_sided=True)),
        ["b", "a"],
    ),
    "one more before": (lambda a, b: (Material("new", (0.5,) * 4), a, b), [None, "a", "b"]),
}


@pytest.mark.parametrize("name", MATERIALS)
def test_which_material_is_which(name: str, folder: Path):
    sketch = Sketch(nodes=[{}], scenes=[{"nodes": [0]}])
    colors = {"a": [1, 1, 1, 1], "b": [0, 0, 0, 0]}
    sketch.tree["materials"] = [
        {"name": each, "pbrMetallicRoughness": {"baseColorFactor": color}, "extras": {"of": each}}
        for each, color in colors.items()
    ]
    before = read(sketch)
    edit, owners = MATERIALS[name]
    after = replace(before, materials=edit(*before.materials))
    again, _ = save(after, folder / f"{name.replace(' ', '-')}.glb")
    assert changed(again, after) == []
    materials = again.document.json["materials"]  # type: ignore[attr-defined]
    assert [each.get("extras", {}).get("of") for each in materials] == owners


def test_the_scene_that_is_left_keeps_what_is_its_own(folder: Path):
    before = read(pair())
    again, codes = save(replace(before, scenes=before.scenes[1:]), folder / "scene.glb")
    assert codes == []
    (scene,) = again.document.json["scenes"]  # type: ignore[attr-defined]
    assert scene["extras"] == {"of": "second"}


def test_what_nothing_continues_is_noted(tmp_path: Path):
    before = read(pair())
    after = replace(before, scenes=(Scene([3]), Scene([0, 1], "all")))
    _, codes = save(after, tmp_path / "x.glb")
    assert codes == ["object-dropped"]


def test_nodes_in_another_order_are_noted(folder: Path):
    before = read(puppet())
    skeleton = before.skeleton
    names = (*skeleton.names[:1], *skeleton.names[2:0:-1], *skeleton.names[3:])
    after = replace(before, skeleton=replace(skeleton, names=names))
    again, codes = save(after, folder / "nodes.glb")
    assert changed(again, after) == []
    assert codes == ["order-changed"]


def test_a_node_whose_mesh_cannot_be_written_shows_none(folder: Path):
    before = read(puppet())
    empty = Mesh("empty", before.meshes[1].geometries, ())
    attachments = (before.attachments[0], Attachment(2, 2))
    after = replace(before, meshes=(*before.meshes, empty), attachments=attachments)
    again, codes = save(after, folder / "empty.glb")
    assert codes == ["mesh-dropped"]
    assert [attachment.node for attachment in again.attachments] == [0]


@pytest.mark.parametrize("count", [0, 2, 4])
def test_weights_of_other_targets_than_there_are_go_with_a_note(count: int, folder: Path):
    sketch = morphed()
    times, weights = sketch.add([0, 1]), sketch.add(np.arange(6) / 6)
    sketch.tree["animations"] = [
        {
            "channels": [{"sampler": 0, "target": {"node": 0, "path": "weights"}}],
            "samplers": [{"input": times, "output": weights}],
        }
    ]
    before = read(sketch)
    (mesh,) = before.meshes
    morphs = (*mesh.geometries[0].morphs, MorphTarget([]))[:count]
    geometry = replace(mesh.geometries[0], morphs=morphs)
    mesh = Mesh(mesh.name, (geometry,), mesh.parts, ("",) * count)
    again, codes = save(replace(before, meshes=(mesh,)), folder / f"{count}.glb")
    assert codes == ["track-dropped", "clip-dropped"]
    assert len(again.meshes[0].morph_names) == count


def test_the_validator_has_nothing_against_another_order(folder: Path):
    assert complaints(folder) == {}
