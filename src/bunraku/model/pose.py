"""What a moment is: local transforms of every node, weights of morphs and expressions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeVar

import numpy as np
import numpy.typing as npt

from bunraku.errors import RigError
from bunraku.model.arrays import (
    Bool,
    Float64,
    Int32,
    checked,
    frozen,
    index,
    selected,
    unit_quaternions,
)
from bunraku.model.frozen import Frozen

Values = TypeVar("Values", Float64, Bool)


@dataclass(frozen=True, eq=False, repr=False)
class Pose(Frozen):
    """Local transforms and morph weights for a batch of frames; F is 1 for a single moment.

    It is a sequence of its frames: `len`, `for`, and indices as `__getitem__` takes them.

    Attributes:
        translations: (F, N, 3) float64 local translation, metres (absolute: it includes rest).
        rotations: (F, N, 4) float64 local rotation, unit quaternion (x, y, z, w).
        scales: (F, N, 3) float64 local scale.
        morph_weights: one (F, T) float64 array per attachment of the character, T being the
            number of morph targets of its mesh.
        expressions: (F, E) float64 weight of each of the character's expressions; E is 0 where
            nothing is said of them, which leaves all at 0.
        ik: (F, C) bool whether each of the rig's IK chains is on; C is 0 where nothing is said
            of them, which leaves all on.
        visible: (F,) bool whether the character is shown; always, if omitted.

    Raises:
        RigError: shapes that disagree, non-finite numbers, a rotation that is not of unit length
            (1e-3; lengths are then normalised exactly).

    >>> Pose(np.zeros((2, 1, 3)), np.tile([0, 0, 0, 1.0], (2, 1, 1)), np.ones((2, 1, 3))).frames
    2
    """

    translations: Float64
    rotations: Float64
    scales: Float64
    morph_weights: tuple[Float64, ...] = ()
    expressions: Float64 = None  # type: ignore[assignment]
    ik: Bool = None  # type: ignore[assignment]
    visible: Bool = None  # type: ignore[assignment]

    if TYPE_CHECKING:

        def __init__(
            self,
            translations: npt.ArrayLike,
            rotations: npt.ArrayLike,
            scales: npt.ArrayLike,
            morph_weights: Iterable[npt.ArrayLike] = (),
            expressions: npt.ArrayLike | None = None,
            ik: npt.ArrayLike | None = None,
            visible: npt.ArrayLike | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        self._settle(unit=False)

    @classmethod
    def of_unit(
        cls,
        translations: Float64,
        rotations: Float64,
        scales: Float64,
        morph_weights: tuple[Float64, ...],
        expressions: Float64,
        ik: Bool,
        visible: Bool,
    ) -> Pose:
        """A pose of rotations that are known to be unit quaternions, which is not looked at.

        That look takes as long as sampling does, so what computes rotations makes poses here.
        """
        pose = object.__new__(cls)
        pose.__dict__.update(
            translations=translations,
            rotations=rotations,
            scales=scales,
            morph_weights=morph_weights,
            expressions=expressions,
            ik=ik,
            visible=visible,
        )
        pose._settle(unit=True)
        return pose

    def _settle(self, *, unit: bool) -> None:
        translations = checked(self.translations, np.float64, (None, None, 3), "pose.translations")
        frames, nodes = translations.shape[:2]
        turns, shape = self.rotations, (frames, nodes, 4)
        expressions = np.zeros((frames, 0)) if self.expressions is None else self.expressions
        ik = np.ones((frames, 0), bool) if self.ik is None else self.ik
        visible = np.ones(frames, bool) if self.visible is None else self.visible
        self.__dict__.update(
            translations=translations,
            rotations=checked(turns, np.float64, shape, "pose.rotations")
            if unit
            else unit_quaternions(turns, shape, "pose.rotations"),
            scales=checked(self.scales, np.float64, (frames, nodes, 3), "pose.scales"),
            morph_weights=tuple(
                checked(weights, np.float64, (frames, None), f"pose.morph_weights[{i}]")
                for i, weights in enumerate(self.morph_weights)
            ),
            expressions=checked(expressions, np.float64, (frames, None), "pose.expressions"),
            ik=_switches(ik, (frames, None), "pose.ik"),
            visible=_switches(visible, (frames,), "pose.visible"),
        )

    @property
    def frames(self) -> int:
        """Number of frames F."""
        return len(self.translations)

    def __len__(self) -> int:
        return self.frames

    def __repr__(self) -> str:
        return f"Pose({self.frames} frames, {self.translations.shape[1]} nodes)"

    def __iter__(self) -> Iterator[Pose]:
        """Frame by frame."""
        return (self[frame] for frame in range(self.frames))

    def __getitem__(self, frames: SupportsIndex | slice | npt.ArrayLike) -> Pose:
        """The pose of one frame or of several: a slice, (K,) frame numbers, or an (F,) mask.

        Negative numbers count from the end. Nothing is copied for one frame or a slice.

        Raises:
            RigError: a frame that there is not, or something else that does not choose frames.
        """
        chosen = frames if isinstance(frames, slice) else self._chosen(frames)

        def taken(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
            return frozen(np.ascontiguousarray(values[chosen]))

        pose = object.__new__(Pose)
        for name, value in vars(self).items():
            several = isinstance(value, tuple)
            pose.__dict__[name] = tuple(map(taken, value)) if several else taken(value)
        return pose

    def _chosen(self, frames: SupportsIndex | npt.ArrayLike) -> slice | Int32:
        count = self.frames
        numbers = np.asarray(frames)
        if numbers.dtype.kind == "i":
            numbers = np.where((-count <= numbers) & (numbers < 0), numbers + count, numbers)
        if numbers.ndim:
            return selected(numbers, count, "pose", "frame")
        frame = index(numbers.item(), count, "pose", "frame")
        return slice(frame, frame + 1)

    @staticmethod
    def concatenate(poses: Iterable[Pose]) -> Pose:
        """The frames of several poses of one character, one pose after the other.

        Where some say something of expressions or IK and others do not, these leave all
        expressions at 0 and all chains on.

        Raises:
            RigError: no poses, or poses of different characters.

        >>> still = Pose(np.zeros((2, 1, 3)), [[[0, 0, 0, 1]]] * 2, np.ones((2, 1, 3)))
        >>> Pose.concatenate([still, still[0]])
        Pose(3 frames, 1 nodes)
        """
        parts = tuple(poses)
        if not parts:
            raise RigError("poses: expected one or more, found none")
        what = difference_of(*parts)
        if what:
            raise RigError(f"poses: expected those of one character, found {what}")
        expressions = max(part.expressions.shape[1] for part in parts)
        chains = max(part.ik.shape[1] for part in parts)
        return Pose.of_unit(
            np.concatenate([part.translations for part in parts]),
            np.concatenate([part.rotations for part in parts]),
            np.concatenate([part.scales for part in parts]),
            tuple(map(np.concatenate, zip(*(part.morph_weights for part in parts), strict=True))),
            np.concatenate([widened(part.expressions, expressions, 0) for part in parts]),
            np.concatenate([widened(part.ik, chains, True) for part in parts]),
            np.concatenate([part.visible for part in parts]),
        )


def difference_of(first: Pose, *others: Pose) -> str:
    """What shows that poses are not of one character; empty if nothing does."""
    nodes = [pose.translations.shape[1] for pose in (first, *others)]
    widths = [[each.shape[1] for each in pose.morph_weights] for pose in (first, *others)]
    for count, morphs in zip(nodes, widths, strict=True):
        if count != nodes[0]:
            return f"{nodes[0]} and {count} nodes"
        if morphs != widths[0]:
            return f"morph weights of widths {widths[0]} and {morphs}"
    for name in ("expressions", "ik"):
        counts = {getattr(pose, name).shape[1] for pose in (first, *others)} - {0}
        if len(counts) > 1:
            return f"{name} of widths {sorted(counts)}"
    return ""


def widened(values: Values, width: int, unsaid: float) -> Values:
    """Values (F, width), all `unsaid` where there are none: a width of 0 says nothing."""
    if values.shape[1]:
        return values
    return np.full((len(values), width), unsaid, values.dtype)


def _switches(value: npt.ArrayLike, shape: tuple[int | None, ...], place: str) -> Bool:
    array = np.asarray(value)
    fits = array.ndim == len(shape) and array.shape[0] == shape[0]
    if array.dtype != np.bool_ or not fits:
        raise RigError(
            f"{place}: expected bool of shape {shape}, found {array.dtype} {array.shape}"
        )
    return frozen(array)
