"""Materials and pictures that are changed, and how a document says what they are."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image as Pictures

from bunraku.model import Character, Image, Material
from tests.formats.puppet import PNG, puppet, save
from tests.formats.reading import codes, read
from tests.formats.same import changed
from tests.formats.sketch import Sketch
from tests.formats.validator import complaints

ARCHIVED = "KHR_materials_pbrSpecularGlossiness"
KTX2 = b"\xabKTX 20\xbb\r\n\x1a\n" + bytes(68)


def webp() -> bytes:
    out = io.BytesIO()
    Pictures.new("RGB", (2, 2), (255, 0, 0)).save(out, "WEBP", lossless=True)
    return out.getvalue()


def painted(texture: dict[str, Any], samplers: list[dict[str, Any]], *more: Any) -> Sketch:
    """The puppet with these textures and samplers; the material shows the first texture."""
    sketch = puppet()
    sketch.tree["textures"] = [texture, *more]
    sketch.tree["samplers"] = samplers
    return sketch


def with_material(character: Character, **changes: Any) -> Character:
    return replace(character, materials=(replace(character.materials[0], **changes),))


def shown(character: Character) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Document, texture and sampler of the first material."""
    tree = character.document.json  # type: ignore[attr-defined]
    index = tree["materials"][0]["pbrMetallicRoughness"]["baseColorTexture"]["index"]
    texture = tree["textures"][index]
    return tree, texture, tree["samplers"][texture["sampler"]]


SAMPLED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "a wrap": (
        {"wrap": ("clamp", "clamp")},
        {"wrapS": 33071, "wrapT": 33071, "magFilter": 9728, "minFilter": 9984},
    ),
    "a filter": ({"filter": "linear"}, {"magFilter": 9729, "minFilter": 9984}),
    "another picture": ({"image": 1}, {"magFilter": 9728, "minFilter": 9984}),
}


@pytest.mark.parametrize("name", SAMPLED)
def test_a_texture_changes_in_nothing_but_what_was_asked(name: str, folder: Path):
    sketch = painted(
        {"source": 0, "sampler": 0, "name": "own"},
        [
            {"magFilter": 9728, "minFilter": 9984},
            {"magFilter": 9729, "minFilter": 9987, "wrapS": 33071, "wrapT": 33071},
            {"magFilter": 9729, "minFilter": 9987},
        ],
        *({"source": source, "sampler": k} for source in (0, 1) for k in (1, 2)),
    )
    sketch.tree["images"].append({"bufferView": sketch.view(PNG), "mimeType": "image/png"})
    change, sampler = SAMPLED[name]
    after = with_material(read(sketch), **change)
    again, _ = save(after, folder / f"{name.replace(' ', '-')}.glb")
    assert changed(again, after) == []
    _, texture, found = shown(again)
    assert found == sampler
    if name != "another picture":
        assert texture["name"] == "own"


def test_the_same_change_makes_one_texture(folder: Path):
    sketch = puppet()
    sketch.tree["materials"].append(sketch.tree["materials"][0])
    before = read(sketch)
    wrapped = tuple(replace(each, wrap=("clamp", "clamp")) for each in before.materials)
    again, _ = save(replace(before, materials=wrapped), folder / "both.glb")
    assert len(again.document.json["textures"]) == 2  # type: ignore[attr-defined]


KINDS = {
    "webp": ("image/webp", webp(), "EXT_texture_webp"),
    "ktx2": ("image/ktx2", KTX2, "KHR_texture_basisu"),
    "dds": ("image/vnd-ms.dds", b"DDS junk", "MSFT_texture_dds"),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("how", ["in its place", "beside it", "from scratch"])
def test_kinds_the_core_does_not_know_are_named_by_their_extension(
    kind: str, how: str, folder: Path
):
    media, data, extension = KINDS[kind]
    image = Image(data, media)
    before = read(puppet())
    if how == "in its place":
        after = replace(before, images=(image,))
    elif how == "beside it":
        after = with_material(replace(before, images=(*before.images, image)), image=1)
    else:
        material = Material("new", image=0)
        after = replace(before, images=(image,), materials=(material,), document=None)
    again, notes = save(after, folder / f"{kind}-{how.replace(' ', '-')}.glb")
    assert changed(again, after) == []
    assert notes == (["image-kept"] if kind == "dds" else [])
    tree = again.document.json  # type: ignore[attr-defined]
    index = tree["materials"][0]["pbrMetallicRoughness"]["baseColorTexture"]["index"]
    texture = tree["textures"][index]
    assert texture["extensions"] == {extension: {"source": after.materials[0].image}}
    assert "source" not in texture
    assert extension in tree["extensionsUsed"]
    assert tree["extensionsRequired"] == [extension]
    back = replace(again, images=(*again.images[:-1], Image(PNG, "image/png")))
    plain, _ = save(back, folder / f"{kind}-{how.replace(' ', '-')}-back.glb")
    assert changed(plain, back) == []
    tree = plain.document.json  # type: ignore[attr-defined]
    assert all("extensions" not in each for each in tree["textures"])
    assert "extensionsRequired" not in tree
    assert extension not in tree.get("extensionsUsed", [])


def test_a_file_with_such_textures_comes_through_as_it_was(folder: Path):
    sketch = painted(
        {"source": 0, "extensions": {"EXT_texture_webp": {"source": 1}}}, [{"wrapS": 33071}]
    )
    sketch.tree["images"].append({"bufferView": sketch.view(webp()), "mimeType": "image/webp"})
    sketch.tree["extensionsUsed"].append("EXT_texture_webp")
    before = read(sketch)
    assert before.materials[0].image == 0
    again, _ = save(with_material(before, base_color=(1.0, 0.0, 0.0, 1.0)), folder / "twin.glb")
    tree = again.document.json  # type: ignore[attr-defined]
    assert tree["textures"] == sketch.tree["textures"]
    assert tree["extensionsUsed"] == sketch.tree["extensionsUsed"]
    wrapped, _ = save(with_material(before, wrap=("mirror", "mirror")), folder / "twin-wrapped.glb")
    _, texture, _ = shown(wrapped)
    assert texture["extensions"] == {"EXT_texture_webp": {"source": 1}}
    # another picture in place of the first: its twin would still show the old one
    new = replace(before, images=(Image(PNG + b"\0", "image/png"), before.images[1]))
    tree = save(new, folder / "twin-new.glb")[0].document.json  # type: ignore[attr-defined]
    assert tree["textures"] == [{"source": 0}]


def glossy(**colors: Any) -> Sketch:
    sketch = puppet()
    said = {"diffuseFactor": [0.5, 0.25, 0, 1], "diffuseTexture": {"index": 0, "texCoord": 0}}
    extension = {**said, "glossinessFactor": 0.25, "extras": {"kept": True}}
    sketch.tree["materials"] = [{"extensions": {ARCHIVED: extension}, **colors}]
    sketch.tree["extensionsUsed"].append(ARCHIVED)
    return sketch


class TestSpecularAndGlossiness:
    def test_its_colour_is_read_where_the_core_says_none(self):
        (material,) = read(glossy(pbrMetallicRoughness={"metallicFactor": 0})).materials
        assert (material.base_color, material.image) == ((0.5, 0.25, 0, 1), 0)

    def test_a_fallback_in_the_core_is_what_bunraku_knows(self):
        core = {"baseColorFactor": [0, 0, 1, 1]}
        (material,) = read(glossy(pbrMetallicRoughness=core)).materials
        assert (material.base_color, material.image) == ((0, 0, 1, 1), None)

    def test_a_change_goes_where_the_colour_came_from(self, folder: Path):
        sketch = glossy()
        after = with_material(
            read(sketch), base_color=(0.0, 1.0, 0.0, 0.5), uv_offset=(0.5, 0.0), wrap=("clamp",) * 2
        )
        again, notes = save(after, folder / "glossy.glb")
        assert changed(again, after) == []
        assert notes == []
        material = again.document.json["materials"][0]  # type: ignore[attr-defined]
        assert material.keys() == {"extensions"}
        extension = material["extensions"][ARCHIVED]
        assert extension["diffuseFactor"] == [0, 1, 0, 0.5]
        assert extension["glossinessFactor"] == 0.25
        assert extension["extras"] == {"kept": True}
        back = with_material(again, base_color=(1.0,) * 4, image=None, uv_offset=(0.0, 0.0))
        plain, _ = save(back, folder / "glossy-plain.glb")
        assert plain.materials[0].base_color == (1, 1, 1, 1)
        assert plain.materials[0].image is None

    @pytest.mark.parametrize(
        ("broken", "expected"),
        [
            ({"diffuseFactor": [1, 2, 3]}, ["color-unread"]),
            ({"diffuseFactor": "red"}, ["color-unread"]),
            ({"diffuseFactor": [0, 0, 0, None]}, ["color-unread"]),
            ({"diffuseTexture": [0]}, ["texture-unread"]),
            ({"diffuseTexture": {"index": "0", "texCoord": -1, "extensions": 1}}, []),
            ("nothing", []),
        ],
    )
    def test_what_it_says_may_be_anything(self, broken: Any, expected: list[str]):
        sketch = puppet()
        sketch.tree["materials"] = [{"extensions": {ARCHIVED: broken}}]
        found = read(sketch)
        assert (found.materials[0].base_color, found.materials[0].image) == ((1,) * 4, None)
        assert [code for code in codes(found) if code.endswith("unread")] == expected


def test_the_validator_has_nothing_against_edited_surfaces(folder: Path):
    junk = {"ktx2", "dds"}  # no pictures at all
    found = complaints(folder)
    assert {name: said for name, said in found.items() if name.split("-")[0] not in junk} == {}
