"""Data that an edit leaves without a reader go; what anything may still mean stays."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bunraku.formats.gltf import (
    GltfFile,
    character_from_gltf,
    gltf_from_character,
    read_gltf,
    write_gltf,
)
from bunraku.formats.gltf.unread import drop_unread, places_without
from bunraku.model import Character, Clip, Image
from tests.formats.puppet import PNG, puppet, save
from tests.formats.reading import read
from tests.formats.same import changed
from tests.formats.sketch import Sketch
from tests.formats.stored import content, contents, unread
from tests.formats.validator import complaints


@given(st.data())
def test_places_close_up_around_what_must_stay(data: st.DataObject):
    count = data.draw(st.integers(0, 12))
    some = st.sets(st.integers(0, 14))
    freed = {i for i in data.draw(some) if i < count}
    pinned = data.draw(some)
    places = places_without(freed, count, pinned)
    assert places.keys() >= set(range(count)) - freed
    assert sorted(places.values()) == list(range(len(places)))
    assert all(places[i] == i for i in pinned if i < count)
    free = [place for i, place in places.items() if i not in pinned]
    assert free == sorted(free)
    left = places.keys() & freed - pinned  # only below what must stay
    assert not left or max(pinned & places.keys()) == len(places) - 1


def slower(clip: Clip) -> Clip:
    return replace(clip, tracks=tuple(replace(t, times=t.times * 1.25) for t in clip.tracks))


def nudged(character: Character) -> Character:
    (geometry,) = character.meshes[0].geometries
    mesh = replace(
        character.meshes[0], geometries=(replace(geometry, positions=geometry.positions * 1.01),)
    )
    return replace(character, meshes=(mesh, *character.meshes[1:]))


REPEATED: dict[str, Callable[[Character], Character]] = {
    "clips": lambda c: replace(c, clips=tuple(map(slower, c.clips))),
    "shapes": nudged,
    "both": lambda c: nudged(replace(c, clips=tuple(map(slower, c.clips)))),
}


@pytest.mark.parametrize("name", REPEATED)
@pytest.mark.parametrize("suffix", [".glb", ".gltf"])
@pytest.mark.parametrize("source", ["Fox.glb", "Fox.gltf", "Fox.gltfpack-cc.glb"])
def test_a_file_that_is_edited_again_and_again_does_not_grow(
    source: str, suffix: str, name: str, corpus: Path, tmp_path: Path
):
    (path,) = corpus.rglob(source)
    target = tmp_path / f"x{suffix}"
    character = character_from_gltf(read_gltf(path))
    sizes = []
    for _ in range(4):
        after = REPEATED[name](character)
        character, codes = save(after, target)
        assert set(codes) <= {"image-missing"}
        # times are stored as float32
        assert {p.rpartition(".")[2] for p in changed(character, after)} <= {"times"}
        assert unread(character.document.json) == (set(), set())  # type: ignore[attr-defined]
        document = character.document
        assert isinstance(document, GltfFile)
        sizes.append(document.size)
        assert "buffer-without-data" not in {note.code for note in document.notes}
    assert max(sizes) - min(sizes) < 100  # numbers of other lengths, and alignment
    assert len([*tmp_path.glob("*.bin")]) <= 2


def test_one_clip_of_three_is_a_smaller_file(corpus: Path, tmp_path: Path):
    (path,) = corpus.rglob("Fox.glb")
    before = character_from_gltf(read_gltf(path))
    after = replace(before, clips=(slower(before.clips[1]),))
    again, _ = save(after, tmp_path / "walk.glb")
    assert (tmp_path / "walk.glb").stat().st_size < 0.8 * path.stat().st_size
    assert unread(again.document.json) == (set(), set())  # type: ignore[attr-defined]
    was, now = contents(before.document), contents(again.document)
    for place in was:
        if not place.startswith("animations"):
            assert was[place] == now[place]


def test_a_picture_that_was_replaced_goes(folder: Path):
    before = read(puppet())
    after = replace(before, images=(Image(PNG + b"\0" * 3000, "image/png"),))
    large, _ = save(after, folder / "large.glb")
    small, _ = save(replace(large, images=before.images), folder / "small.glb")
    assert changed(small, before) == []
    assert (folder / "small.glb").stat().st_size < 100 + len(puppet().glb())


MEANT: dict[str, Any] = {
    "an extra": lambda tree, k: tree["nodes"][1].update(extras={"curve": k}),
    "an unknown extension": lambda tree, k: tree.update(extensions={"X_curve": {"keys": [k]}}),
    "a path": lambda tree, k: tree.update(extras={"at": f"#/accessors/{k}"}),
    "an extra of an extension": lambda tree, k: tree["materials"][0]["extensions"].update(
        KHR_materials_unlit={"extras": {"keys": float(k)}}
    ),
}


@pytest.mark.parametrize("name", MEANT)
def test_what_opaque_data_may_mean_keeps_its_number(name: str, folder: Path):
    last = len(puppet().tree["accessors"]) - 1
    for k in range(last + 1):
        sketch = puppet()
        MEANT[name](sketch.tree, k)
        before = read(sketch)
        again, _ = save(replace(before, clips=()), folder / "meant.glb")
        was = content(before.document, k)  # type: ignore[arg-type]
        assert content(again.document, k) == was  # type: ignore[arg-type]


def test_bytes_that_an_unknown_extension_may_mean_do_not_move(folder: Path):
    sketch = puppet()
    part = {"buffer": 0, "byteOffset": 100, "byteLength": 8}
    sketch.tree["extensions"] = {"X_bytes": part}
    before = read(sketch)
    again, _ = save(replace(before, clips=()), folder / "bytes.glb")
    stored = bytes(again.document.buffers[0])  # type: ignore[attr-defined]
    assert stored[: len(sketch.data)] == bytes(sketch.data)
    plain, _ = save(replace(read(puppet()), clips=()), folder / "bytes.glb")
    assert len(plain.document.buffers[0]) < len(stored)  # type: ignore[attr-defined]


def test_data_nobody_read_before_stay(folder: Path):
    sketch = puppet()
    sketch.add([1, 2, 3])
    sketch.view(b"unread as well")
    again, _ = save(replace(read(sketch), clips=()), folder / "unread.glb")
    accessors, views = unread(again.document.json)  # type: ignore[attr-defined]
    assert (len(accessors), len(views)) == (1, 1)


def test_buffers_inside_data_uris_shrink_too(tmp_path: Path):
    before = character_from_gltf(read_gltf(puppet().gltf(), name="x.gltf"))
    file, _ = gltf_from_character(replace(before, clips=()))
    assert len(file.buffers[0]) < len(puppet().data)
    write_gltf(file, tmp_path / "x.gltf")
    assert [path.name for path in tmp_path.iterdir()] == ["x.gltf"]
    assert (
        changed(character_from_gltf(read_gltf(tmp_path / "x.gltf")), replace(before, clips=()))
        == []
    )


def test_a_binary_without_data_has_no_bin_chunk(folder: Path):
    sketch = Sketch(nodes=[{}], scenes=[{"nodes": [0]}])
    times, moves = sketch.add([0, 1]), sketch.add([[0, 0, 0], [1, 0, 0]])
    sketch.tree["animations"] = [
        {
            "channels": [{"sampler": 0, "target": {"node": 0, "path": "translation"}}],
            "samplers": [{"input": times, "output": moves}],
        }
    ]
    again, _ = save(replace(read(sketch), clips=()), folder / "bare.glb")
    assert again.document.json.keys() == {"asset", "nodes", "scenes"}  # type: ignore[attr-defined]
    assert b"BIN" not in (folder / "bare.glb").read_bytes()


def stored(file: GltfFile, index: int) -> tuple[list[int], int]:
    """Bytes of an accessor of bytes, and how they are aligned."""
    accessor = file.json["accessors"][index]
    view = file.json["bufferViews"][accessor["bufferView"]]
    start, size = accessor.get("byteOffset", 0), accessor["count"]
    assert start + size <= view["byteLength"]
    start += view.get("byteOffset", 0)
    return list(file.buffers[view["buffer"]][start : start + size]), start % 8


@given(st.data())
def test_what_is_still_read_reads_the_same(data: st.DataObject):
    """Any accessors over any views of any buffers, some of which lose their reader."""
    sizes = data.draw(st.lists(st.integers(8, 60), min_size=1, max_size=3))
    generator = np.random.default_rng(data.draw(st.integers(0, 99)))
    buffers = [memoryview(generator.bytes(size)) for size in sizes]
    views = []
    for _ in range(data.draw(st.integers(1, 6))):
        buffer = data.draw(st.integers(0, len(sizes) - 1))
        start = data.draw(st.integers(0, sizes[buffer] - 1))
        length = data.draw(st.integers(1, sizes[buffer] - start))
        views.append({"buffer": buffer, "byteOffset": start, "byteLength": length})
    count = data.draw(st.integers(1, 8))
    accessors = []
    for i in range(count):
        index = data.draw(st.integers(0, len(views) - 1))
        start = data.draw(st.integers(0, views[index]["byteLength"] - 1))
        elements = data.draw(st.integers(0, views[index]["byteLength"] - start))
        accessor = {"bufferView": index, "byteOffset": start, "count": elements, "name": i}
        accessors.append(accessor | {"type": "SCALAR", "componentType": 5121})
    some = st.lists(st.integers(0, count - 1), max_size=count, unique=True)
    extras = {"extras": data.draw(st.lists(st.integers(0, 5), max_size=2))}

    def tree(read: list[int]) -> dict[str, Any]:
        mesh = {"primitives": [{"attributes": {f"_{i}": i for i in read}}]}
        whole = {"accessors": accessors, "bufferViews": views, "meshes": [mesh]}
        whole["buffers"] = [{"byteLength": size, "uri": "x"} for size in sizes]
        return json.loads(json.dumps(whole | extras))

    was_read = data.draw(some)
    still = [i for i in was_read if data.draw(st.booleans())]
    before, after = tree(was_read), tree(still)
    left = drop_unread(before, after, list(buffers))
    old = GltfFile(before, tuple(buffers))
    new = GltfFile(after, tuple(left))

    def same(was: int, now: int) -> bool:
        return stored(old, was) == stored(new, now)

    assert [buffer["byteLength"] for buffer in after.get("buffers", [])] == [*map(len, left)]
    for name, index in after["meshes"][0]["primitives"][0]["attributes"].items():
        assert same(int(name[1:]), index)
    for i in {*range(count)} - {*was_read} | {*extras["extras"]} & {*range(count)}:
        (index,) = (k for k, each in enumerate(after["accessors"]) if each["name"] == i)
        assert same(i, index)
    for view in after.get("bufferViews", []):
        assert view["byteOffset"] + view["byteLength"] <= len(left[view["buffer"]])


def test_the_validator_has_nothing_against_what_is_left(folder: Path):
    assert complaints(folder) == {}
