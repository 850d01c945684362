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
from bunraku.formats.gltf.encoding import BufferBuilder
from bunraku.formats.gltf.node_rules import WIDTHS, unplayable
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

    def patched(self, animation: Tree, old: Clip, clip: Clip, place: Place) -> Tree | None:
        """The animation with the tracks of `clip`; channels Bunraku cannot play stay.

        Channels whose track did not change keep their samplers.
        """
        kept: list[Tree] = []
        playable: dict[tuple[int, str], Tree] = {}
        for channel in animation["channels"]:
            target = (channel["target"].get("node"), channel["target"]["path"])
            if unplayable(self.tree, animation, channel) is not None or target in playable:
                kept.append(channel)
            else:
                playable[target] = channel
        before = {(track.target, track.path): track for track in old.tracks}
        result = {**animation, "channels": kept, "samplers": list(animation["samplers"])}
        if clip.name:
            result["name"] = clip.name
        else:
            result.pop("name", None)
        for node, track in self._tracks(clip, place):
            same = before.get((node, track.path))
            if same is not None and not differences(_keys(same), _keys(track)):
                result["channels"].append(playable[node, track.path])
            else:
                self._append(result, node, track)
        return result if result["channels"] else None

    def written(self, clip: Clip, place: Place) -> Tree | None:
        """A new animation, or None when there is nothing glTF could say about it."""
        result: Tree = {"channels": [], "samplers": []}
        if clip.name:
            result["name"] = clip.name
        if clip.start < 0:
            message = f"clip {clip.name!r} starts at {clip.start:g} s, glTF at 0; moved there"
            self.context.note("clip-moved", place, message)
            moved = [replace(track, times=track.times - clip.start) for track in clip.tracks]
            clip = replace(clip, tracks=tuple(moved))
        for node, track in self._tracks(clip, place):
            self._append(result, node, track)
        if not result["channels"]:
            message = f"clip {clip.name!r} has no tracks, which glTF cannot say; left out"
            self.context.note("clip-dropped", place, message)
            return None
        return result

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
        values, interpolation = track.values, track.interpolation
        if interpolation == "CUBICSPLINE" and track.key_count == 1:
            values, interpolation = values[:, 1], "STEP"  # cubic needs two keys; one is held
        # weights are one flat stream, everything else one element per key (and tangent)
        flat = values.reshape(-1) if track.path == "weights" else values.reshape(-1, track.width)
        sampler = {"input": self._input(track), "output": self.builder.accessor(flat)}
        if interpolation != "LINEAR":
            sampler["interpolation"] = interpolation  # type: ignore[assignment]
        animation["channels"].append(
            {
                "sampler": len(animation["samplers"]),
                "target": {"node": node, "path": track.path},
            }
        )
        animation["samplers"].append(sampler)

    def _input(self, track: Track) -> int:
        times = _rounded(track.times)
        key = times.tobytes()
        if key not in self._times:
            self._times[key] = self.builder.accessor(times, bounds=True)
        return self._times[key]


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
