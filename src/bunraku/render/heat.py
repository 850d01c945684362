"""Numbers on a surface: colours in place of the paint, and a bar that says what they mean."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bunraku.errors import RigError
from bunraku.model.arrays import Float32, checked
from bunraku.render.color import Bytes, heat_colors
from bunraku.render.labels import font, text_color


@dataclass(frozen=True, eq=False)
class Heat:
    """One value per vertex of a stage, shown from dark violet (`low`) to light yellow (`high`).

    Attributes:
        values: (V,) float32; NaN is shown grey.
        low, high: the ends of the scale; by default the least and greatest finite value.
        label: what the numbers are, with their unit; stands above the bar.

    Raises:
        RigError: values of another shape, ends that are not finite or not in order.

    >>> heat = Heat([0.0, 2.0, 4.0])
    >>> heat.low, heat.high, heat.shares([1.0])
    (0.0, 4.0, array([0.25], dtype=float32))
    """

    values: Float32
    low: float = None  # type: ignore[assignment]
    high: float = None  # type: ignore[assignment]
    label: str = ""

    def __post_init__(self) -> None:
        values = checked(self.values, np.float32, (None,), "heat.values", finite=False)
        object.__setattr__(self, "values", values)
        finite = values[np.isfinite(values)]
        ends = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
        for name, given, found in (("low", self.low, ends[0]), ("high", self.high, ends[1])):
            object.__setattr__(self, name, found if given is None else float(given))
        if not (np.isfinite([self.low, self.high]).all() and self.low <= self.high):
            raise RigError(f"heat: expected low ≤ high, found {self.low} and {self.high}")

    def shares(self, values: npt.ArrayLike) -> Float32:
        """Where values stand between `low` and `high`: 0 … 1, and beyond."""
        span = self.high - self.low
        offset = np.asarray(values, np.float32) - np.float32(self.low)
        return np.asarray(offset / np.float32(span if span > 0 else 1), np.float32)


def draw_bar(picture: Bytes, heat: Heat) -> None:
    """Draw a heat map's scale at the right of a picture (H, W, 3 or 4), in place, if it fits."""
    from PIL import Image, ImageDraw

    height, width = picture.shape[:2]
    letters = font(max(9, min(height, width) // 36))
    size = int(letters.size)
    top, bottom = height // 5, height - height // 5
    marks = np.linspace(heat.high, heat.low, 5)
    texts = [f"{value:.3g}" for value in marks]
    room = max(int(letters.getlength(text)) for text in texts)
    thick = max(4, size)
    right = width - size - room - size // 2
    left = right - thick
    if left < 0.6 * width:  # a thumbnail: the bar would hide the figure
        return
    ramp = heat_colors(np.linspace(1, 0, bottom - top))
    picture[top:bottom, left:right, :3] = ramp[:, None]
    picture[top:bottom, left:right, 3:] = 255
    image = Image.fromarray(picture)
    pen = ImageDraw.Draw(image)
    ink = text_color(picture)
    for y, text in zip(np.linspace(top, bottom - 1, len(texts)), texts, strict=True):
        pen.line((right, y, right + size // 3, y), ink, max(1, size // 12))
        pen.text((right + size // 2, y), text, ink, letters, anchor="lm")
    if heat.label:
        pen.text((width - size, top - size), heat.label, ink, letters, anchor="rs")
    picture[:] = np.asarray(image)
