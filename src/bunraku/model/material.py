"""The little that Bunraku needs to know of a surface; the document keeps the rest."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from bunraku.errors import RigError
from bunraku.model.arrays import Float32, Float64
from bunraku.model.frozen import Plain, Shown

Wrap = Literal["repeat", "mirror", "clamp"]
Filter = Literal["linear", "nearest"]


@dataclass(frozen=True, repr=False)
class Image(Shown):
    """An encoded picture, exactly as the file holds it.

    Attributes:
        data: PNG, JPEG, … bytes.
        mime_type: e.g. "image/png".
        name: may be empty.
    """

    data: bytes
    mime_type: str
    name: str = ""


@dataclass(frozen=True)
class Material(Plain):
    """What a renderer needs to show a part.

    Attributes:
        name: may be empty.
        base_color: linear red, green, blue, alpha.
        image: index into `Character.images` of the base colour texture, or None.
        uv_set: which of the geometry's `uvs` that texture reads.
        alpha_mode: "opaque", "mask" (cut out below `alpha_cutoff`) or "blend".
        alpha_cutoff: used by "mask" only.
        double_sided: whether back faces show.
        wrap: what the texture shows outside 0 … 1, across and down.
        filter: what it shows between the centres of texels that are larger than pixels: a mixture,
            or the nearest one, as pixel art wants it.
        uv_offset, uv_rotation, uv_scale: where the texture is read: at offset + R (scale · uv),
            R a turn by so many radians from down to across (KHR_texture_transform).

    Raises:
        RigError: numbers too many, too few or not finite, an unknown word.

    >>> Material("skin").base_color
    (1.0, 1.0, 1.0, 1.0)
    """

    name: str = ""
    base_color: tuple[float, float, float, float] = (1.0, 1.0, 1.0, 1.0)
    image: int | None = None
    uv_set: int = 0
    alpha_mode: Literal["opaque", "mask", "blend"] = "opaque"
    alpha_cutoff: float = 0.5
    double_sided: bool = False
    wrap: tuple[Wrap, Wrap] = ("repeat", "repeat")
    filter: Filter = "linear"
    uv_offset: tuple[float, float] = (0.0, 0.0)
    uv_rotation: float = 0.0
    uv_scale: tuple[float, float] = (1.0, 1.0)

    def __post_init__(self) -> None:
        place = f"material {self.name!r}"
        if len(self.base_color) != 4:
            raise RigError(f"{place}: base_color needs four numbers")
        if self.alpha_mode not in ("opaque", "mask", "blend"):
            raise RigError(f"{place}: alpha_mode {self.alpha_mode!r}")
        if len(self.wrap) != 2 or not set(self.wrap) <= set(get_args(Wrap)):
            raise RigError(f"{place}: wrap: expected two of {get_args(Wrap)}, found {self.wrap!r}")
        if self.filter not in get_args(Filter):
            raise RigError(
                f"{place}: filter: expected one of {get_args(Filter)}, found {self.filter!r}"
            )
        for name in ("uv_offset", "uv_scale"):
            pair = getattr(self, name)
            if len(pair) != 2 or not all(map(math.isfinite, pair)):
                raise RigError(f"{place}: {name}: expected two finite numbers, found {pair!r}")
        if not math.isfinite(self.uv_rotation):
            raise RigError(f"{place}: uv_rotation: expected a finite number")
        super().__post_init__()

    def texture_coordinates(self, uvs: Float32) -> Float32:
        """Where in the picture the material reads at coordinates (…, 2) of its set.

        >>> lower_half = Material("eyes", uv_offset=(0.0, 0.5), uv_scale=(1.0, 0.5))
        >>> lower_half.texture_coordinates(np.float32([[0.25, 0.5]]))
        array([[0.25, 0.75]], dtype=float32)
        """
        (across, down), turn = self.uv_scale, self.uv_rotation
        if (self.uv_offset, turn, across, down) == ((0, 0), 0, 1, 1):
            return uvs
        cos, sin = math.cos(turn), math.sin(turn)
        with np.errstate(over="ignore", invalid="ignore"):  # files may scale by any number
            matrix = np.array([[cos * across, -sin * across], [sin * down, cos * down]], np.float32)
            placed = uvs @ matrix + np.array(self.uv_offset, np.float32)
        finite: Float32 = np.nan_to_num(placed, nan=0, posinf=0, neginf=0)
        return finite


def to_linear(display: npt.ArrayLike) -> Float64:
    """Linear light of display values (sRGB, IEC 61966-2-1); above 1 the curve goes on.

    >>> to_linear([-1, 0.5, 1]).round(3)
    array([-0.077,  0.214,  1.   ])
    """
    value = np.asarray(display, np.float64)
    curve = ((np.maximum(value, 0.04045) + 0.055) / 1.055) ** 2.4
    return np.where(value <= 0.04045, value / 12.92, curve)


def to_display(linear: npt.ArrayLike) -> Float64:
    """Display values of linear light; the inverse of `to_linear`."""
    value = np.asarray(linear, np.float64)
    curve = 1.055 * np.maximum(value, 0.0031308) ** (1 / 2.4) - 0.055
    return np.where(value <= 0.0031308, value * 12.92, curve)
