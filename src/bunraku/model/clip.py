"""A motion: keyed values over time, by node and path."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
import numpy.typing as npt

from bunraku.errors import Note, RigError
from bunraku.model.arrays import Float32, Float64, checked, frozen, whole
from bunraku.model.frozen import Frozen

Path = Literal["translation", "rotation", "scale", "weights", "expression", "ik", "visible"]
Interpolation = Literal["STEP", "LINEAR", "CUBICSPLINE", "BEZIER"]
WIDTHS: dict[str, int | None] = {
    "translation": 3,
    "rotation": 4,
    "scale": 3,
    "weights": None,
    "expression": 1,
    "ik": 1,
    "visible": 1,
}
# How far from 1 the length of an 8-bit quaternion may be (Khronos glTF-Validator).
UNIT_TOLERANCE = 0.00769
# How many curves a BEZIER key has: a rotation turns along one.
CURVES: dict[str, int] = {"translation": 3, "rotation": 1, "scale": 3, "expression": 1}


@dataclass(frozen=True, eq=False, repr=False)
class Track(Frozen):
    """Keys of one path of one node.

    Attributes:
        target: node index, or node name (resolved when the clip is bound to a character); of an
            "expression", its index or name; of "ik", the chain's goal; of "visible", unused.
        path: "translation" (metres), "rotation" (quaternion x, y, z, w), "scale", "weights"
            (of all morph targets of the mesh on that node), "expression" (its weight), "ik"
            (of a chain: 1 on, 0 off) or "visible" (of the character). Values are absolute,
            they replace the rest transform.
        times: (K,) float64 seconds, strictly increasing, K ≥ 1.
        values: (K, C) float32; for CUBICSPLINE (K, 3, C): in-tangent, value, out-tangent.
        interpolation: "STEP", "LINEAR" (rotations: slerp on the shorter arc), "CUBICSPLINE"
            (glTF 2.0, appendix C) or "BEZIER" (as LINEAR, after a curve has bent the time).
        curves: (K, D, 4) float32 for BEZIER, else None: x1, y1, x2, y2 in 0 … 1 of the curve
            (0, 0), (x1, y1), (x2, y2), (1, 1) that leads *to* each key, one per component of a
            translation or scale, one for a rotation or weight (MMD).
        relative: a translation track whose values are added to the rest translation (MMD).
        notes: which keys of a rotation were not unit quaternions, as files in the wild have them
            (``rotation-normalised``, beyond 0.00769: 8-bit ones are kept), or of length 0
            (``zero-rotation``, now none). A key of a CUBICSPLINE is scaled with its tangents.

    Raises:
        RigError: wrong shapes, times that do not increase, non-finite numbers, a target that is
            neither a name nor a whole number.

    >>> turn = Track("fore", "rotation", [0, 1], [[0, 0, 0, 1], [0, 0, 0.7071068, 0.7071068]])
    >>> turn.key_count, turn.width
    (2, 4)
    """

    target: int | str
    path: Path
    times: Float64
    values: Float32
    interpolation: Interpolation = "LINEAR"
    curves: Float32 | None = None
    relative: bool = False
    notes: tuple[Note, ...] = field(init=False, default=())

    if TYPE_CHECKING:

        def __init__(
            self,
            target: int | str,
            path: Path,
            times: npt.ArrayLike,
            values: npt.ArrayLike,
            interpolation: Interpolation = "LINEAR",
            curves: npt.ArrayLike | None = None,
            relative: bool = False,
        ) -> None: ...

    def __post_init__(self) -> None:
        place = f"track {self.target!r:.60} {self.path}"
        target = self.target if isinstance(self.target, str) else whole(self.target)
        if target is None:
            raise RigError(f"{place}: expected the name or the index of a target")
        if self.path not in WIDTHS:
            raise RigError(f"{place}: expected one of {list(WIDTHS)}")
        if self.interpolation not in get_args(Interpolation):
            raise RigError(f"{place}: unknown interpolation {self.interpolation!r}")
        times = checked(self.times, np.float64, (None,), f"{place}.times")
        if not len(times):
            raise RigError(f"{place}.times: expected at least one key, found none")
        if (np.diff(times) <= 0).any():
            key = int(np.flatnonzero(np.diff(times) <= 0)[0]) + 1
            raise RigError(
                f"{place}.times[{key}]: expected strictly increasing times, "
                f"found {times[key]} after {times[key - 1]}"
            )
        keys, width = len(times), WIDTHS[self.path]
        cubic = self.interpolation == "CUBICSPLINE"
        shape = (keys, 3, width) if cubic else (keys, width)
        values = checked(self.values, np.float32, shape, f"{place}.values")
        if self.path == "rotation":
            values, notes = _unit_keys(values)
            object.__setattr__(self, "notes", notes)
        object.__setattr__(self, "target", target)
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "values", values)
        self._check_curves(place)
        if self.relative and self.path != "translation":
            raise RigError(f"{place}: only a translation can be relative to rest")

    def _check_curves(self, place: str) -> None:
        if (self.curves is None) == (self.interpolation == "BEZIER"):
            raise RigError(f"{place}: expected curves with BEZIER, and only there")
        if self.curves is None:
            return
        if self.path not in CURVES:
            raise RigError(f"{place}: expected BEZIER for one of {list(CURVES)}")
        shape = (self.key_count, CURVES[self.path], 4)
        curves = checked(self.curves, np.float32, shape, f"{place}.curves")
        if curves.size and (curves[..., ::2].min() < 0 or curves[..., ::2].max() > 1):
            raise RigError(f"{place}.curves: expected x1 and x2 in 0 … 1, where time runs forward")
        object.__setattr__(self, "curves", curves)

    @property
    def key_count(self) -> int:
        """Number of keys K."""
        return len(self.times)

    @property
    def width(self) -> int:
        """Number of components C."""
        return int(self.values.shape[-1])


def _unit_keys(values: Float32) -> tuple[Float32, tuple[Note, ...]]:
    """Rotation keys (K, 4) or (K, 3, 4) with those that are off by too much made unit."""
    turns = np.array(values, np.float64).reshape(len(values), -1, 4)
    keys = turns[:, turns.shape[1] // 2]
    lengths = np.linalg.norm(keys, axis=-1)
    zero = lengths == 0
    off = (np.abs(lengths - 1) > UNIT_TOLERANCE) & ~zero
    if not (zero | off).any():
        return values, ()
    turns[off] /= lengths[off, None, None]
    keys[zero] = [0, 0, 0, 1]
    said = (
        (zero, "zero-rotation", "with {} quaternions of length 0, read as no rotation"),
        (off, "rotation-normalised", "with {} quaternions that are not of length 1, normalised"),
    )
    notes = tuple(Note(code, what.format(which.sum())) for which, code, what in said if which.any())
    return frozen(turns.astype(np.float32).reshape(values.shape)), notes


@dataclass(frozen=True, eq=False, repr=False)
class Clip(Frozen):
    """A named set of tracks.

    `start` and `end` are the first and last key of any track; before and after, values are
    held (glTF 2.0, 3.11).

    Attributes:
        name: may be empty.
        tracks: in file order.
        notes: what the reader repaired or could not represent.
        document: the lossless document the clip was read from; opaque here.

    >>> Clip("empty", ()).end
    0.0
    """

    name: str
    tracks: tuple[Track, ...]
    notes: tuple[Note, ...] = ()
    document: object | None = field(default=None, repr=False)

    if TYPE_CHECKING:

        def __init__(
            self,
            name: str,
            tracks: Iterable[Track],
            notes: Iterable[Note] = (),
            document: object | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "tracks", tuple(self.tracks))
        object.__setattr__(self, "notes", tuple(self.notes))

    @property
    def start(self) -> float:
        """Time of the earliest key, seconds; 0 for a clip without tracks."""
        return min((float(track.times[0]) for track in self.tracks), default=0.0)

    @property
    def end(self) -> float:
        """Time of the latest key, seconds; 0 for a clip without tracks."""
        return max((float(track.times[-1]) for track in self.tracks), default=0.0)

    def __repr__(self) -> str:
        return f"Clip({self.name!r}, {len(self.tracks)} tracks, {self.start:g}…{self.end:g} s)"
