"""Clips into animations of a document.

Specification: glTF 2.0, section 3.11 (animations).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bunraku.errors import RigError
from bunraku.formats.gltf.context import Context, Place
from bunraku.formats.gltf.encoding import BufferBuilder, put
from bunraku.formats.gltf.node_rules import WIDTHS, unplayable
from bunraku.formats.gltf.pairing import paired
from bunraku.formats.gltf.unread import mentioned, places_without
from bunraku.model import Character, Clip, Track, differences

Tree = dict[str, Any]


class AnimationWriter:
    """Writes clips through one buffer builder; tracks with the same times share them."""

    def __init__(
        self, builder: BufferBuilder, tree: Tree, character: Character, context: Context
    ) -> None:
        self.builder = builder
        self.tree = tree
        self.context = context
        self.skeleton = character.skeleton
        self.targets = {
            attachment.node: len(character.meshes[attachment.mesh].morph_names)
            for attachment in character.attachments
        }
        self._times: dict[bytes, int] = {}

    def animations(self, old: tuple[Clip, ...], new: tuple[Clip, ...]) -> list[Tree]:
        """The animations of the document, brought from the clips `old` to `new`."""
        before: list[Tree] = self.tree.get("animations", [])
        partners = _partners(old, new)
        written = []
        for i, (clip, k) in enumerate(zip(new, partners, strict=True)):
            place = ("animations", i)
            if k is None:
                animation = self._written(clip, place)
            else:
                animation = self._patched(before[k], old[k], clip, place)
            if animation["channels"] or (k is not None and not before[k]["channels"]):
                written.append(animation)
            else:
                message = f"clip {clip.name!r} has no tracks, which glTF cannot say; left out"
                self.context.note("clip-dropped", place, message)
        if None in partners:
            for k in sorted(set(range(len(old))).difference(partners)):
                self._note_left_out(before[k], old[k], ("animations", k))
        return written

    def _note_left_out(self, animation: Tree, clip: Clip, place: Place) -> None:
        """Say what goes with an old animation that none of the clips written anew continues."""
        channels = [c for c in animation["channels"] if unplayable(self.tree, animation, c)]
        lost = [f"{len(channels)} channels that were only carried"] if channels else []
        lost += [key for key in ("extras", "extensions") if key in animation]
        if lost:
            message = f"no clip continues {clip.name!r}: its {', '.join(lost)} are left out"
            self.context.note("animation-dropped", place, message)

    def _patched(self, animation: Tree, old: Clip, clip: Clip, place: Place) -> Tree:
        """The animation with the tracks of `clip`; channels Bunraku cannot play stay.

        Channels whose track did not change keep their samplers.
        """
        result = dict(animation)
        put(result, "name", clip.name, "")
        if _same_tracks(old, clip) and self._fits(clip):
            return result
        if clip.start < min(0.0, old.start):
            clip = self._from_zero(clip, place)
        before: dict[Any, Track] = {(track.target, track.path): track for track in old.tracks}
        kept: list[Tree] = []
        playable: dict[tuple[int, str], Tree] = {}
        for channel in animation["channels"]:
            target = (channel["target"].get("node"), channel["target"]["path"])
            reason = unplayable(self.tree, animation, channel)
            # its mesh may have lost its targets since it was read
            played = reason is None or (reason[0] == "weights-without-targets" and target in before)
            if played and target not in playable:
                playable[target] = channel
            else:
                kept.append(channel)
        result |= {"channels": kept, "samplers": list(animation["samplers"])}
        for node, track in self._tracks(clip, place):
            was = before.get((node, track.path))
            if was is None:
                self._append(result, node, track)
            elif not differences(_keys(was), _keys(track)):
                kept.append(playable[node, track.path])
            else:
                self._replace(result, playable[node, track.path], was, track)
        freed = {channel["sampler"] for channel in animation["channels"]}
        return _without_samplers(result, freed)

    def _fits(self, clip: Clip) -> bool:
        """Whether all weights are those of as many targets as the meshes have now."""
        return all(
            self.targets.get(track.target) == track.width  # type: ignore[arg-type]
            for track in clip.tracks
            if track.path == "weights"
        )

    def _written(self, clip: Clip, place: Place) -> Tree:
        """A new animation."""
        result: Tree = {"channels": [], "samplers": []}
        put(result, "name", clip.name, "")
        for node, track in self._tracks(self._from_zero(clip, place), place):
            self._append(result, node, track)
        return result

    def _from_zero(self, clip: Clip, place: Place) -> Clip:
        """The clip without negative times, which glTF does not have."""
        if clip.start >= 0:
            return clip
        message = f"clip {clip.name!r} starts at {clip.start:g} s, glTF at 0; moved there"
        self.context.note("clip-moved", place, message)
        moved = [replace(track, times=track.times - clip.start) for track in clip.tracks]
        return replace(clip, tracks=tuple(moved))

    def _tracks(self, clip: Clip, place: Place) -> list[tuple[int, Track]]:
        """Tracks with a node to play on, each target once."""
        found: dict[tuple[int, str], Track] = {}
        for track in clip.tracks:
            what = f"{track.path} of {track.target!r}"
            if track.path not in WIDTHS:
                self.context.note("track-dropped", place, f"{what}: glTF has no such path")
                continue
            try:
                node = self._node(track.target)
            except RigError:
                self.context.note("track-dropped", place, f"{what}: there is no such node")
                continue
            if track.path == "weights" and self.targets.get(node) != track.width:
                message = f"{what}: {track.width} weights for {self.targets.get(node, 0)} targets"
                self.context.note("track-dropped", place, message)
            elif (node, track.path) in found:
                message = f"{what}: glTF allows one track for each target; the first is written"
                self.context.note("track-dropped", place, message)
            else:
                found[node, track.path] = self._absolute(track, node, place)
        return [(node, track) for (node, _), track in found.items()]

    def _absolute(self, track: Track, node: int, place: Place) -> Track:
        """The track as glTF can say it: with rest in its values, without curves."""
        values = track.values
        if track.relative:
            values = (values + self.skeleton.translations[node]).astype(np.float32)
        if track.interpolation != "BEZIER":
            return replace(track, values=values, relative=False) if track.relative else track
        message = (
            f"{track.path} of {track.target!r}: glTF has no Bezier curves; written with straight"
            " lines between its keys (bake the clip to keep the curves)"
        )
        self.context.note("curves-dropped", place, message)
        return replace(track, values=values, relative=False, interpolation="LINEAR", curves=None)

    def _node(self, target: int | str) -> int:
        if isinstance(target, str):
            return self.skeleton.index(target)
        if not 0 <= target < len(self.skeleton):
            raise RigError(f"no node {target}")
        return target

    def _append(self, animation: Tree, node: int, track: Track) -> None:
        channel = {
            "sampler": len(animation["samplers"]),
            "target": {"node": node, "path": track.path},
        }
        animation["channels"].append(channel)
        animation["samplers"].append(self._sampler({}, None, track))

    def _replace(self, animation: Tree, channel: Tree, old: Track, track: Track) -> None:
        """Give a channel a sampler of its own: another channel may read the one it had."""
        before = animation["samplers"][channel["sampler"]]
        animation["channels"].append({**channel, "sampler": len(animation["samplers"])})
        animation["samplers"].append(self._sampler(before, old, track))

    def _sampler(self, before: Tree, old: Track | None, track: Track) -> Tree:
        """The sampler with the keys of `track`; times or values that are still `old`'s stay."""
        sampler = dict(before)
        values, interpolation = track.values, track.interpolation
        if interpolation == "CUBICSPLINE" and track.key_count == 1:
            values, interpolation = values[:, 1], "STEP"  # cubic needs two keys; one is held
        if old is None or differences(old.times, track.times):
            sampler["input"] = self._input(track)
        if old is None or old.interpolation != interpolation or differences(old.values, values):
            # weights are one flat stream, everything else one element per key (and tangent)
            flat = values.reshape(-1, *(() if track.path == "weights" else (track.width,)))
            sampler["output"] = self.builder.accessor(flat)
        put(sampler, "interpolation", interpolation, "LINEAR")
        return sampler

    def _input(self, track: Track) -> int:
        times = _rounded(track.times)
        key = times.tobytes()
        if key not in self._times:
            self._times[key] = self.builder.accessor(times, bounds=True)
        return self._times[key]


def _partners(old: tuple[Clip, ...], new: tuple[Clip, ...]) -> list[int | None]:
    """Which old clip each new one continues: under another name, at another index, edited.

    One that has neither the content nor the name of an old clip continues the one at its index if
    it moves the same things and no clip was taken away.
    """

    def same(i: int, k: int) -> bool:
        return new[i].name == old[k].name and renamed(i, k)

    def renamed(i: int, k: int) -> bool:
        return _same_tracks(old[k], new[i])

    def edited(i: int, k: int) -> bool:
        return bool(new[i].name) and new[i].name == old[k].name

    def in_place(i: int, k: int) -> bool:
        return i == k and len(new) >= len(old) and _targets(new[i]) == _targets(old[k])

    found = paired(len(old), len(new), same, renamed, edited, in_place)
    for i, k in enumerate(found):
        if k is None:  # a copy may share its original with others
            found[i] = next((k for k in range(len(old)) if renamed(i, k)), None)
    return found


def _same_tracks(a: Clip, b: Clip) -> bool:
    return len(a.tracks) == len(b.tracks) and not any(map(differences, a.tracks, b.tracks))


def _targets(clip: Clip) -> set[tuple[int | str, str]]:
    return {(track.target, track.path) for track in clip.tracks}


def _without_samplers(animation: Tree, freed: set[int]) -> Tree:
    """The animation without those samplers in `freed` that no channel reads any more."""
    channels, samplers = animation["channels"], animation["samplers"]
    unread = freed - {channel["sampler"] for channel in channels}
    places = places_without(unread, len(samplers), mentioned(animation))
    moved = [{**channel, "sampler": places[channel["sampler"]]} for channel in channels]
    order = sorted(places, key=places.__getitem__)
    return {**animation, "channels": moved, "samplers": [samplers[i] for i in order]}


def _keys(track: Track) -> tuple[Any, ...]:
    return (track.times, track.values, track.interpolation)


def _rounded(times: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
    """Times as float32 that still strictly increase."""
    result = times.astype(np.float32)
    for start in (np.flatnonzero(np.diff(result) <= 0) + 1).tolist():
        for key in range(start, len(result)):
            least = result[key - 1]
            if result[key] > least:
                break
            # beside 0 the next number is a denormal, which many programs read as 0
            result[key] = max(np.nextafter(least, np.float32(np.inf)), least + np.float32(1e-7))
    return result
