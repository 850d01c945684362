"""Parts and morph targets that are taken away, moved or edited, and what belongs to them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bunraku.formats.gltf import (
    character_from_gltf,
    gltf_from_character,
    read_accessor,
    read_gltf,
)
from bunraku.model import Character, Geometry, Mesh, MorphTarget, Part
from tests.formats.puppet import puppet, save
from tests.formats.reading import codes as codes_of
from tests.formats.reading import read
from tests.formats.same import changed
from tests.formats.sketch import Sketch, morphed, triangle
from tests.formats.validator import complaints

VARIANTS = "KHR_materials_variants"


def three_parts() -> Character:
    """Parts a, b and c of one mesh, alike but for where they are; extras say which is which."""
    sketch = Sketch(nodes=[{"mesh": 0}], scenes=[{"nodes": [0]}], materials=[{}, {}, {}])
    primitives = []
    for i, name in enumerate("abc"):
        corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]]) + [0, 0, i]
        attributes = {"POSITION": sketch.add(corners), "_WEAR": sketch.add([i, i, i])}
        mappings = {"mappings": [{"material": i, "variants": [0]}]}
        primitive = {"attributes": attributes, "extras": {"of": name}}
        primitive |= {"material": i, "extensions": {VARIANTS: mappings}}
        primitives.append(primitive)
    sketch.tree["meshes"] = [{"primitives": primitives}]
    sketch.tree["extensions"] = {VARIANTS: {"variants": [{"name": "red"}]}}
    sketch.tree["extensionsUsed"] = [VARIANTS]
    return read(sketch)


def with_parts(character: Character, *parts: tuple[Geometry, Part]) -> Character:
    mesh = character.meshes[0]
    geometries = tuple(geometry for geometry, _ in parts)
    numbered = tuple(replace(part, geometry=i) for i, (_, part) in enumerate(parts))
    return replace(character, meshes=(replace(mesh, geometries=geometries, parts=numbered),))


def moved(each: tuple[Geometry, Part]) -> tuple[Geometry, Part]:
    geometry, part = each
    return replace(geometry, positions=geometry.positions + 7), part


def turned(each: tuple[Geometry, Part]) -> tuple[Geometry, Part]:
    geometry, part = each
    return geometry, replace(part, faces=part.faces[:, ::-1])


def painted(each: tuple[Geometry, Part], material: int) -> tuple[Geometry, Part]:
    geometry, part = each
    return geometry, replace(part, material=material)


NEW = (Geometry(np.eye(4)[:, :3]), Part(0, [[0, 1, 2], [1, 2, 3]]))

# What is done to parts a, b and c, and whose data the ones that are written have.
EDITS: dict[str, tuple[Callable[..., tuple[Any, ...]], list[str | None]]] = {
    "the first taken away": (lambda a, b, c: (b, c), ["b", "c"]),
    "all but the last taken away": (lambda a, b, c: (c,), ["c"]),
    "turned round": (lambda a, b, c: (c, b, a), ["c", "b", "a"]),
    "one more before": (lambda a, b, c: (NEW, a, b, c), [None, "a", "b", "c"]),
    "edited": (lambda a, b, c: (moved(a), turned(b), painted(c, 0)), ["a", "b", "c"]),
    "materials exchanged": (lambda a, b, c: (painted(a, 1), painted(b, 0), c), ["a", "b", "c"]),
    "edited and turned round": (lambda a, b, c: (moved(c), b, turned(a)), ["c", "b", "a"]),
    "edited and fewer": (lambda a, b, c: (moved(b), turned(c)), ["b", "c"]),
    "painted and fewer": (lambda a, b, c: (painted(b, 2),), ["b"]),
}


@pytest.mark.parametrize("name", EDITS)
def test_what_a_primitive_holds_beside_the_model_stays_with_its_part(name: str, folder: Path):
    before = three_parts()
    mesh = before.meshes[0]
    edit, owners = EDITS[name]
    parts = [(mesh.geometries[part.geometry], part) for part in mesh.parts]
    after = with_parts(before, *edit(*parts))
    again, codes = save(after, folder / f"{name.replace(' ', '-')}.glb")
    assert changed(again, after) == []
    assert codes == []
    file = again.document
    primitives = file.json["meshes"][0]["primitives"]  # type: ignore[attr-defined]
    assert [each.get("extras", {}).get("of") for each in primitives] == owners
    for primitive, owner in zip(primitives, owners, strict=True):
        if owner is None:
            assert "_WEAR" not in primitive["attributes"]
            continue
        number = "abc".index(owner)
        wear = read_accessor(file, primitive["attributes"]["_WEAR"])  # type: ignore[arg-type]
        assert wear[:, 0].tolist() == [number] * 3
        assert primitive["extensions"][VARIANTS]["mappings"][0]["material"] == number


def test_a_part_that_continues_none_leaves_data_behind_with_a_note():
    before = three_parts()
    _, notes = gltf_from_character(with_parts(before, NEW))
    assert [str(note) for note in notes] == [
        f"meshes[0].primitives[{k}]: no part continues it: its _WEAR, extras, {VARIANTS} are left"
        " out [primitive-dropped]"
        for k in range(3)
    ]


def test_a_new_part_of_old_vertices_shares_them(folder: Path):
    before = three_parts()
    mesh = before.meshes[0]
    parts = (*mesh.parts, Part(1, [[2, 1, 0]]))
    after = replace(before, meshes=(replace(mesh, parts=parts),))
    again, codes = save(after, folder / "shared.glb")
    assert changed(again, after) == []
    assert codes == []
    primitives = again.document.json["meshes"][0]["primitives"]  # type: ignore[attr-defined]
    assert primitives[3]["attributes"] == primitives[1]["attributes"]
    assert "extras" not in primitives[3]


def displaced() -> Sketch:
    """Three targets: one moves a corner, two only coordinates of the texture and a colour."""
    sketch = triangle(
        TEXCOORD_0=([[0, 0], [1, 0], [0, 1]], "f4", {}),
        COLOR_0=([[1, 1, 1]] * 3, "f4", {}),
    )
    mesh = sketch.tree["meshes"][0]
    mesh["primitives"][0]["targets"] = [
        {
            "POSITION": sketch.add([[0, 0, 0], [0, 0, 2], [0, 0, 0]]),
            "TEXCOORD_0": sketch.add([[0, 0.1], [0, 0], [0, 0]]),
        },
        {"TEXCOORD_0": sketch.add([[0, 0.2], [0, 0], [0, 0]])},
        {"COLOR_0": sketch.add([[0, 0, 0.3]] * 3)},
    ]
    mesh["extras"] = {"targetNames": ["a", "b", "c"]}
    return sketch


def test_displacements_that_are_only_carried_are_noted():
    assert codes_of(read(displaced())) == ["displacements-carried"]
    assert str(read(displaced()).notes[0]) == (
        "meshes[0]: displacements of COLOR_0, TEXCOORD_0 are kept in the document, not shown"
        " [displacements-carried]"
    )
    assert codes_of(read(morphed())) == []


def with_targets(character: Character, *which: tuple[str, MorphTarget]) -> Character:
    mesh = character.meshes[0]
    (geometry,) = mesh.geometries
    geometry = replace(geometry, morphs=tuple(morph for _, morph in which))
    names = tuple(name for name, _ in which)
    mesh = Mesh(mesh.name, (geometry,), mesh.parts, names)
    return replace(character, meshes=(mesh,))


OTHER = MorphTarget([0], [[0, 5, 0]])
TARGETS: dict[str, tuple[Callable[..., tuple[Any, ...]], list[str]]] = {
    "edited": (lambda a, b, c: (("a", OTHER), ("b", b), ("c", c)), ["a", "b", "c"]),
    "all edited": (lambda a, b, c: (("a", OTHER), ("b", OTHER), ("c", a)), ["a", "b", "c"]),
    "the first taken away": (lambda a, b, c: (("b", b), ("c", c)), ["b", "c"]),
    "turned round": (lambda a, b, c: (("c", c), ("b", b), ("a", a)), ["c", "b", "a"]),
    "turned round and edited": (lambda a, b, c: (("c", OTHER), ("a", a)), ["c", "a"]),
    "renamed": (lambda a, b, c: (("x", OTHER), ("y", b), ("z", c)), ["a", "b", "c"]),
    "one more": (lambda a, b, c: (("a", a), ("b", b), ("c", c), ("d", OTHER)), ["a", "b", "c", ""]),
}
OWN = {"a": {"TEXCOORD_0"}, "b": {"TEXCOORD_0"}, "c": {"COLOR_0"}, "": set()}


@pytest.mark.parametrize("name", TARGETS)
def test_carried_displacements_stay_with_their_target(name: str, folder: Path):
    before = read(displaced())
    edit, owners = TARGETS[name]
    after = with_targets(before, *edit(*before.meshes[0].geometries[0].morphs))
    again, codes = save(after, folder / f"targets-{name.replace(' ', '-')}.glb")
    assert changed(again, after) == []
    assert codes == []
    file = again.document
    targets = file.json["meshes"][0]["primitives"][0]["targets"]  # type: ignore[attr-defined]
    for target, owner in zip(targets, owners, strict=True):
        assert target.keys() - {"POSITION"} == OWN[owner]
        if "TEXCOORD_0" in target:
            values = read_accessor(file, target["TEXCOORD_0"])  # type: ignore[arg-type]
            assert values[0, 1] == np.float32({"a": 0.1, "b": 0.2}[owner])


def test_displacements_that_no_longer_fit_are_left_out_with_a_note(tmp_path: Path):
    before = read(displaced())
    mesh = before.meshes[0]
    (geometry,) = mesh.geometries
    fewer = Geometry(geometry.positions[:3].repeat(2, 0), morphs=geometry.morphs)
    after = replace(before, meshes=(replace(mesh, geometries=(fewer,)),))
    _, notes = gltf_from_character(after)
    assert [str(note) for note in notes] == [
        "meshes[0].primitives[0]: the attributes displacements of COLOR_0, displacements of"
        " TEXCOORD_0 no longer fit; left out [attributes-dropped]"
    ]
    _, notes = gltf_from_character(with_targets(before, ("new", OTHER)))
    assert [note.code for note in notes] == ["attributes-dropped"]


def test_parts_of_a_real_file_keep_what_is_theirs(corpus: Path):
    (path,) = corpus.rglob("MorphStressTest.glb")
    source = read_gltf(path)
    for k, primitive in enumerate(source.json["meshes"][0]["primitives"]):
        primitive["extras"] = {"id": f"part{k}"}
    before = character_from_gltf(source)
    mesh = before.meshes[0]
    for k in range(len(mesh.parts)):
        after = replace(before, meshes=(replace(mesh, parts=(mesh.parts[k],)),))
        file, notes = gltf_from_character(after)
        (primitive,) = file.json["meshes"][0]["primitives"]
        assert primitive["extras"] == {"id": f"part{k}"}
        assert notes == ()


def test_a_changed_draco_primitive_keeps_its_displacements(folder: Path):
    pytest.importorskip("DracoPy", reason="pip install 'bunraku[draco]'")
    from tests.formats.test_gltf_compression import draco_sketch

    sketch = draco_sketch()
    primitive = sketch.tree["meshes"][0]["primitives"][0]
    count = sketch.tree["accessors"][primitive["attributes"]["POSITION"]]["count"]
    values = np.zeros((count, 2))
    values[0] = [0, 0.5]
    primitive["attributes"]["TEXCOORD_0"] = sketch.add(values)
    primitive["targets"] = [
        {"POSITION": sketch.add(np.ones((count, 3))), "TEXCOORD_0": sketch.add(values)}
    ]
    sketch.tree["nodes"] = [{"mesh": 0}]
    sketch.tree["scenes"] = [{"nodes": [0]}]
    before = read(sketch)
    mesh = before.meshes[0]
    geometry = replace(mesh.geometries[0], positions=mesh.geometries[0].positions * 2)
    after = replace(before, meshes=(replace(mesh, geometries=(geometry,)),))
    again, codes = save(after, folder / "draco.glb")
    assert changed(again, after) == []
    assert codes == []
    (target,) = again.document.json["meshes"][0]["primitives"][0]["targets"]  # type: ignore[attr-defined]
    assert target.keys() == {"POSITION", "TEXCOORD_0"}


def test_a_weight_of_the_mesh_shows_on_its_nodes(folder: Path):
    before = read(puppet())
    after = replace(
        before, meshes=(replace(before.meshes[0], morph_weights=[1.0, 0.5]), before.meshes[1])
    )
    again, _ = save(after, folder / "weights.glb")
    assert again.rest_pose().morph_weights[0].tolist() == [[1.0, 0.5]]
    assert "weights" not in again.document.json["nodes"][0]  # type: ignore[attr-defined]


def test_the_validator_has_nothing_against_edited_meshes(folder: Path):
    assert complaints(folder) == {}
