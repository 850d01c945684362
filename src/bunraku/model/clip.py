"""A motion: keyed values over time, by node and path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from bunraku.errors import RigError
from bunraku.model.arrays import Float64, checked

Path = Literal["translation", "rotation", "scale", "weights"]
Interpolation = Literal["STEP", "LINEAR", "CUBICSPLINE"]
WIDTHS: dict[str, int | None] = {"translation": 3, "rotation": 4, "scale": 3, "weights": None}


@dataclass(frozen=True, eq=False)
class Track:
    """Keys of one path of one node.

    Attributes:
        target: node index, or node name (resolved when the clip is bound to a character).
        path: "translation" (metres), "rotation" (quaternion x, y, z, w), "scale" or "weights"
            (of all morph targets of the mesh on that node). Values are absolute, they replace
            the rest transform.
        times: (K,) float64 seconds, strictly increasing, K ≥ 1.
        values: (K, C) float32; for CUBICSPLINE (K, 3, C): in-tangent, value, out-tangent.
        interpolation: "STEP", "LINEAR" (rotations: slerp on the shorter arc) or "CUBICSPLINE"
            (glTF 2.0, appendix C).

    Raises:
        RigError: wrong shapes, times that do not increase, non-finite numbers.

    >>> turn = Track("fore", "rotation", [0, 1], [[0, 0, 0, 1], [0, 0, 0.7071068, 0.7071068]])
    >>> turn.key_count, turn.width
    (2, 4)
    """

    target: int | str
    path: Path
    times: Float64
    values: npt.NDArray[np.float32]
    interpolation: Interpolation = "LINEAR"

    def __post_init__(self) -> None:
        place = f"track {self.target!r} {self.path}"
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
        object.__setattr__(self, "times", times)
        object.__setattr__(
            self, "values", checked(self.values, np.float32, shape, f"{place}.values")
        )

    @property
    def key_count(self) -> int:
        """Number of keys K."""
        return len(self.times)

    @property
    def width(self) -> int:
        """Number of components C."""
        return int(self.values.shape[-1])


@dataclass(frozen=True, eq=False)
class Clip:
    """A named set of tracks.

    `start` and `end` are the first and last key of any track; before and after, values are
    held (glTF 2.0, 3.11).

    >>> Clip("empty", ()).end
    0.0
    """

    name: str
    tracks: tuple[Track, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "tracks", tuple(self.tracks))

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
