"""What a moment is: local transforms of every node, weights of morphs and expressions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bunraku.errors import RigError
from bunraku.model.arrays import Bool, Float64, checked, frozen
from bunraku.model.frozen import Frozen


@dataclass(frozen=True, eq=False, repr=False)
class Pose(Frozen):
    """Local transforms and morph weights for a batch of frames; F is 1 for a single moment.

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
        RigError: shapes that disagree, non-finite numbers.

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
        translations = checked(self.translations, np.float64, (None, None, 3), "pose.translations")
        frames, nodes = translations.shape[:2]
        object.__setattr__(self, "translations", translations)
        object.__setattr__(
            self,
            "rotations",
            checked(self.rotations, np.float64, (frames, nodes, 4), "pose.rotations"),
        )
        object.__setattr__(
            self, "scales", checked(self.scales, np.float64, (frames, nodes, 3), "pose.scales")
        )
        object.__setattr__(
            self,
            "morph_weights",
            tuple(
                checked(weights, np.float64, (frames, None), f"pose.morph_weights[{i}]")
                for i, weights in enumerate(self.morph_weights)
            ),
        )
        expressions = np.zeros((frames, 0)) if self.expressions is None else self.expressions
        object.__setattr__(
            self,
            "expressions",
            checked(expressions, np.float64, (frames, None), "pose.expressions"),
        )
        ik = np.ones((frames, 0), bool) if self.ik is None else self.ik
        visible = np.ones(frames, bool) if self.visible is None else self.visible
        object.__setattr__(self, "ik", _switches(ik, (frames, None), "pose.ik"))
        object.__setattr__(self, "visible", _switches(visible, (frames,), "pose.visible"))

    @property
    def frames(self) -> int:
        """Number of frames F."""
        return len(self.translations)

    def __repr__(self) -> str:
        return f"Pose({self.frames} frames, {self.translations.shape[1]} nodes)"

    def __getitem__(self, frames: int | slice) -> Pose:
        """The pose of one frame or of a slice of frames, without copying."""
        if not isinstance(frames, slice):
            if not -self.frames <= frames < self.frames:
                raise RigError(f"pose: frame {frames}, but there are {self.frames}")
            frames = slice(frames, frames + 1 or None)
        return Pose(
            self.translations[frames],
            self.rotations[frames],
            self.scales[frames],
            tuple(weights[frames] for weights in self.morph_weights),
            self.expressions[frames],
            self.ik[frames],
            self.visible[frames],
        )


def _switches(value: npt.ArrayLike, shape: tuple[int | None, ...], place: str) -> Bool:
    array = np.asarray(value)
    fits = array.ndim == len(shape) and array.shape[0] == shape[0]
    if array.dtype != np.bool_ or not fits:
        raise RigError(
            f"{place}: expected bool of shape {shape}, found {array.dtype} {array.shape}"
        )
    return frozen(array)
