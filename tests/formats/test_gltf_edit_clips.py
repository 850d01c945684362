"""Clips that are renamed, moved, edited or replaced, and what their animations hold beside them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bunraku.formats.gltf import character_from_gltf, gltf_from_character, read_gltf
from bunraku.model import Character, Clip, Track
from tests.formats.puppet import puppet, save
from tests.formats.reading import read
from tests.formats.same import changed
from tests.formats.sketch import Sketch
from tests.formats.validator import complaints


def pointed(name: str, number: int) -> dict[str, Any]:
    """An animation with a channel by pointer and data of its own; all have the same targets."""
    pointer = {"KHR_animation_pointer": {"pointer": f"/nodes/{number}/scale"}}
    return {
        "name": name,
        "channels": [
            {"sampler": 0, "target": {"node": 1, "path": "translation"}, "extras": "moves"},
            {"sampler": 1, "target": {"path": "pointer", "extensions": pointer}},
        ],
        "samplers": [
            {"input": 2 * number, "output": 2 * number + 1, "extras": "keys"},
            {"input": 2 * number, "output": 2 * number + 1},
        ],
        "extras": {"of": name},
    }


def three_clips() -> Character:
    sketch = Sketch(nodes=[{}, {}, {}], scenes=[{"nodes": [0, 1, 2]}])
    for i in range(3):
        sketch.add([0, 1 + i])
        sketch.add([[0, 0, 0], [i, 0, 0]])
    sketch.tree["animations"] = [pointed(name, i) for i, name in enumerate("abc")]
    sketch.tree["extensionsUsed"] = ["KHR_animation_pointer"]
    return read(sketch)


def longer(clip: Clip, **fields: Any) -> Clip:
    tracks = tuple(replace(track, times=track.times * 2) for track in clip.tracks)
    return replace(clip, tracks=tracks, **fields)


NEW = Clip("new", (Track(0, "scale", [0], [[1, 2, 3]]),))

# What is done to clips a, b and c, and whose data the ones that are written have.
EDITS: dict[str, tuple[Callable[..., tuple[Clip, ...]], list[str | None]]] = {
    "renamed": (lambda a, b, c: (replace(a, name="x"), b, c), ["a", "b", "c"]),
    "renamed to each other": (
        lambda a, b, c: (replace(a, name="b"), replace(b, name="a"), c),
        ["a", "b", "c"],
    ),
    "turned round": (lambda a, b, c: (c, b, a), ["c", "b", "a"]),
    "turned round and renamed": (
        lambda a, b, c: (replace(c, name=""), b, replace(a, name="y")),
        ["c", "b", "a"],
    ),
    "turned round and edited": (lambda a, b, c: (longer(c), b, longer(a)), ["c", "b", "a"]),
    "only the last, edited": (lambda a, b, c: (longer(c),), ["c"]),
    "only the last, renamed": (lambda a, b, c: (replace(c, name="z"),), ["c"]),
    "edited and renamed": (lambda a, b, c: (longer(a, name="x"), b, c), ["a", "b", "c"]),
    "one more before": (lambda a, b, c: (NEW, a, b, c), [None, "a", "b", "c"]),
    "copied": (lambda a, b, c: (a, replace(a, name="copy"), b, c), ["a", "a", "b", "c"]),
}


@pytest.mark.parametrize("name", EDITS)
def test_what_an_animation_holds_beside_its_tracks_stays_with_its_clip(name: str, folder: Path):
    before = three_clips()
    edit, owners = EDITS[name]
    after = replace(before, clips=edit(*before.clips))
    again, codes = save(after, folder / f"{name.replace(' ', '-')}.glb")
    assert changed(again, after) == []
    assert codes == []
    animations = again.document.json["animations"]  # type: ignore[attr-defined]
    assert [each.get("extras", {}).get("of") for each in animations] == owners
    for animation, owner in zip(animations, owners, strict=True):
        pointers = [
            channel["target"]["extensions"]["KHR_animation_pointer"]["pointer"]
            for channel in animation["channels"]
            if channel["target"]["path"] == "pointer"
        ]
        assert pointers == ([f"/nodes/{'abc'.index(owner)}/scale"] if owner else [])


def test_an_edited_channel_keeps_what_else_it_says(folder: Path):
    before = three_clips()
    after = replace(before, clips=(longer(before.clips[0]), *before.clips[1:]))
    again, _ = save(after, folder / "edited.glb")
    old, new = (each.document.json["animations"][0] for each in (before, again))  # type: ignore[attr-defined]
    assert [c.get("extras") for c in new["channels"]] == [None, "moves"]
    (sampler,) = (s for s in new["samplers"] if "extras" in s)
    assert sampler["extras"] == "keys"
    assert sampler["output"] == old["samplers"][0]["output"]  # only the times are new
    assert len(new["samplers"]) == 2


def test_a_clip_that_continues_none_leaves_data_behind_with_a_note(tmp_path: Path):
    before = three_clips()
    _, notes = gltf_from_character(replace(before, clips=(NEW, *before.clips[1:])))
    (note,) = notes
    assert str(note) == (
        "animations[0]: no clip continues 'a': its 1 channels that were only carried, extras are"
        " left out [animation-dropped]"
    )
    for clips in ((), before.clips[1:]):  # what was taken away is not lost
        assert gltf_from_character(replace(before, clips=clips))[1] == ()


def test_a_clip_left_without_tracks_is_noted(tmp_path: Path):
    before = read(puppet())
    emptied = replace(before.clips[1], tracks=())
    again, codes = save(replace(before, clips=(before.clips[0], emptied)), tmp_path / "x.glb")
    assert codes == ["clip-dropped"]
    assert len(again.clips) == 1


def test_an_edited_clip_starts_at_zero_at_the_earliest(folder: Path):
    before = three_clips()
    (track,) = before.clips[0].tracks
    early = replace(before.clips[0], tracks=(replace(track, times=track.times - 0.5),))
    after = replace(before, clips=(early, *before.clips[1:]))
    again, codes = save(after, folder / "early.glb")
    assert codes == ["clip-moved"]
    assert again.clips[0].start == 0


def test_a_file_of_pointers_alone_survives_a_new_name(corpus: Path, tmp_path: Path):
    (path,) = corpus.rglob("24_animation_pointer.gltf")
    before = character_from_gltf(read_gltf(path))
    after = replace(before, clips=(replace(before.clips[0], name="walk"),))
    file, notes = gltf_from_character(after)
    assert notes == ()
    old, new = before.document.json["animations"], file.json["animations"]  # type: ignore[attr-defined]
    assert new == [{**old[0], "name": "walk"}]


def test_a_new_name_writes_no_keys(corpus: Path):
    (path,) = corpus.rglob("Fox.glb")
    before = character_from_gltf(read_gltf(path))
    clips = (replace(before.clips[0], name="look"), *before.clips[1:])
    file, _ = gltf_from_character(replace(before, clips=clips))
    assert file.buffers == before.document.buffers  # type: ignore[attr-defined]


def test_the_validator_has_nothing_against_edited_clips(folder: Path):
    assert complaints(folder) == {}
