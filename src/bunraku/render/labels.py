"""Words on pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bunraku.render.color import Bytes

if TYPE_CHECKING:
    from PIL.ImageFont import FreeTypeFont


def font(size: float) -> FreeTypeFont:
    """Pillow's own typeface, so that pictures are the same on every machine."""
    from PIL import ImageFont

    letters: Any = ImageFont.load_default(size)
    return letters  # type: ignore[no-any-return]


def text_color(picture: Bytes) -> tuple[int, ...]:
    """Dark ink on a light picture, light ink on a dark one; opaque."""
    dark = (
        picture.shape[2] == 3 and float(picture[:, -max(1, picture.shape[1] // 8) :].mean()) < 110
    )
    ink = (238, 236, 232) if dark else (52, 50, 56)
    return ink if picture.shape[2] == 3 else (*ink, 255)


def beside(pictures: list[Bytes], labels: list[str]) -> Bytes:
    """Pictures of one height side by side, each with a label at its top.

    >>> beside([np.zeros((80, 60, 3), np.uint8)] * 2, ["a", "b"]).shape
    (80, 120, 3)
    """
    from PIL import Image, ImageDraw

    image = Image.fromarray(np.concatenate(pictures, axis=1))
    pen = ImageDraw.Draw(image)
    left = 0
    for picture, label in zip(pictures, labels, strict=True):
        height, width = picture.shape[:2]
        letters = font(max(9, height // 22))
        place = (left + width / 2, letters.size)
        pen.text(place, label, text_color(picture), letters, anchor="ma")
        left += width
    return np.array(image)
