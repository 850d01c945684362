"""Animations of a document as clips.

Specification: glTF 2.0, section 3.11 (animations) and appendix C (interpolation).
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from bunraku.errors import FormatError, RigError
from bunraku.formats.gltf.accessors import AccessorReader, Float32
from bunraku.formats.gltf.context import Context, Place, spell
from bunraku.formats.gltf.node_rules import target_count, unplayable
from bunraku.model import Clip, Path, Track
from bunraku.model.arrays import Float64

Tree = dict[str, Any]

# Rotations stored as 8-bit integers are off by this much; beyond it they are normalised.
UNIT_TOLERANCE = 0.00769


class AnimationReader:
    """Turns the animations of one document into clips; each sampler is decoded once."""

    def __init__(self, reader: AccessorReader, context: Context) -> None:
        self.reader = reader
        self.context = context
        self._times: dict[int, Float64] = {}
        self._rotations: dict[tuple[int, bool], Float32] = {}

    def clip(self, index: int) -> Clip:
        """One animation; channels that cannot be played were noted by the rules."""
        tree = self.reader.file.json
        animation = tree["animations"][index]
        tracks: dict[tuple[int, str], Track] = {}
        for c, channel in enumerate(animation["channels"]):
            target = (channel["target"].get("node"), channel["target"]["path"])
            if target in tracks or unplayable(tree, animation, channel) is not None:
                continue
            place: Place = ("animations", index, "channels", c)
            try:
                tracks[target] = self._track(animation, channel, place)
            except RigError as error:
                raise FormatError(self.reader.where(f"{spell(place)}: {error}")) from None
        return Clip(animation.get("name", ""), tuple(tracks.values()))

    def _track(self, animation: Tree, channel: Tree, place: Place) -> Track:
        sampler = animation["samplers"][channel["sampler"]]
        node, path = channel["target"]["node"], channel["target"]["path"]
        interpolation = sampler.get("interpolation", "LINEAR")
        times = self._keys(sampler["input"])
        if path == "rotation":
            values = self._unit(sampler["output"], interpolation == "CUBICSPLINE", place)
        else:
            values = self.reader.floats(sampler["output"])
        width = target_count(self.reader.file.json, node) if path == "weights" else values.shape[1]
        shape = (len(times), 3, width) if interpolation == "CUBICSPLINE" else (len(times), width)
        # spent for every track, shared data or not: each of them is walked
        self.reader.budget.spend(times.nbytes + values.nbytes, spell(place))
        return Track(node, cast(Path, path), times, values.reshape(shape), interpolation)

    def _keys(self, index: int) -> Float64:
        """Key times; a key repeated at the same time is moved on by the least amount."""
        if index not in self._times:
            times = self.reader.floats(index)[:, 0].astype(np.float64)
            steps = np.diff(times)
            if not (times[0] >= 0 and (steps > 0).all() and times[-1] < np.inf):
                times = self._odd_times(times, steps, index)
            self._times[index] = times
        return self._times[index]

    def _odd_times(self, times: Float64, steps: Float64, index: int) -> Float64:
        if not np.isfinite(times).all():
            raise FormatError(self.reader.where(f"accessors[{index}]: times are not finite"))
        if (steps < 0).any():
            key = int(np.argmax(steps < 0)) + 1
            raise FormatError(
                self.reader.where(
                    f"accessors[{index}]: expected increasing times, found {times[key]:g}"
                    f" after {times[key - 1]:g} at key {key}"
                )
            )
        if times[0] < 0:
            message = f"times start at {times[0]:g} s, before 0"
            self.context.note("times-negative", ("accessors", index), message)
        repeated = int((steps == 0).sum())
        if not repeated:
            return times
        message = f"{repeated} keys repeat the time of the key before; kept as cuts"
        self.context.note("times-repeated", ("accessors", index), message)
        return _apart(times)

    def _unit(self, index: int, cubic: bool, place: Place) -> Float32:
        """Rotations; those clearly off unit length are normalised (tangents are not)."""
        if (index, cubic) in self._rotations:
            return self._rotations[index, cubic]
        values = self.reader.floats(index)
        keys = values[1::3] if cubic else values
        lengths = np.sqrt(np.einsum("ij,ij->i", keys, keys, dtype=np.float64))
        # what is not finite is left for the track to refuse
        off = (np.abs(lengths - 1) > UNIT_TOLERANCE) & (lengths < np.inf)
        if off.any():
            if lengths.min() < 1e-6:
                key = int(lengths.argmin())
                raise FormatError(
                    self.reader.where(f"{spell(place)}: the rotation at key {key} is zero")
                )
            message = f"{int(off.sum())} of {len(keys)} rotations are not unit; normalised"
            self.context.note("rotation-not-unit", place, message)
            values = values.copy()
            keys = values[1::3] if cubic else values
            keys[off] /= lengths[off, None]
        self._rotations[index, cubic] = values
        return values


def _apart(times: Float64) -> Float64:
    """Strictly increasing times, repeated ones a nanosecond after each other.

    >>> np.diff(_apart(np.array([0.0, 1.0, 1.0, 2.0]))).min() > 0
    np.True_
    """
    result = times.copy()
    for start in (np.flatnonzero(np.diff(times) == 0) + 1).tolist():
        for key in range(start, len(result)):
            least = result[key - 1]
            if result[key] > least:
                break
            result[key] = max(least + 1e-9, np.nextafter(least, np.inf))
    return result
