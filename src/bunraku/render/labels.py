"""Words on pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bunraku.render.color import Bytes

if TYPE_CHECKING:
    from PIL.ImageFont import FreeTypeFont


INK, CHALK, PAPER = (52, 50, 56), (238, 236, 232), (252, 251, 249)


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
    ink = CHALK if dark else INK
    return ink if picture.shape[2] == 3 else (*ink, 255)


def beside(pictures: list[Bytes], labels: list[str]) -> Bytes:
    """Pictures (H, W, 3) of one height side by side, each under a strip with its label.

    >>> beside([np.zeros((80, 60, 3), np.uint8)] * 2, ["a", "b"]).shape
    (98, 120, 3)
    """
    from PIL import Image, ImageDraw

    joined = np.concatenate(pictures, axis=1)
    letters = font(max(9, len(joined) // 20))
    strip = np.empty((2 * int(letters.size), *joined.shape[1:]), np.uint8)
    strip[:] = PAPER
    image = Image.fromarray(np.concatenate([strip, joined]))
    pen = ImageDraw.Draw(image)
    left = 0
    for picture, label in zip(pictures, labels, strict=True):
        middle = left + picture.shape[1] / 2
        pen.text((middle, len(strip) / 2), label, INK, letters, anchor="mm")
        left += picture.shape[1]
    return np.array(image)
