"""Pictures on surfaces: decoded once, halved to a pyramid, read with or without a filter."""

from __future__ import annotations

import io

import numpy as np
import numpy.typing as npt

from bunraku.errors import FormatError
from bunraku.model.arrays import Float32
from bunraku.model.material import Filter, Wrap
from bunraku.render.color import Bytes, to_linear, to_srgb

LARGEST = 2048  # texels along a side: more than the pixels of the pictures made here


class Texture:
    """A picture (H, W, 4) of sRGB bytes with linear alpha, and its halvings down to one texel.

    Texture coordinates have their origin at the top left of the picture, as in glTF.

    Args:
        texels: (H, W, 4) uint8.

    >>> red_blue = np.array([[[255, 0, 0, 255], [0, 0, 255, 255]]], np.uint8)
    >>> Texture(red_blue).read([[0.25, 0.5], [0.5, 0.5], [0.75, 0.5]])
    array([[1. , 0. , 0. , 1. ], [0.5, 0. , 0.5, 1. ], [0. , 0. , 1. , 1. ]], dtype=float32)
    """

    def __init__(self, texels: Bytes) -> None:
        levels = [np.ascontiguousarray(texels, np.uint8)]
        while max(levels[-1].shape[:2]) > 1:
            levels.append(_halved(levels[-1]))
        self._heights = np.array([len(level) for level in levels], np.int32)
        self._widths = np.array([level.shape[1] for level in levels], np.int32)
        self._starts = np.cumsum([0, *(level.size // 4 for level in levels)])[:-1]
        self._texels = np.concatenate([level.reshape(-1, 4) for level in levels])
        self.size = (int(self._widths[0]), int(self._heights[0]))
        self.opaque = bool((levels[0][..., 3] == 255).all())

    @classmethod
    def decode(cls, data: bytes, place: str) -> Texture:
        """Read PNG, JPEG or whatever else Pillow knows; larger than 2048 is halved until it fits.

        Raises:
            FormatError: it cannot be decoded, or would take an unreasonable amount of memory.
        """
        from PIL import Image, UnidentifiedImageError

        try:
            with Image.open(io.BytesIO(data)) as picture:
                width, height = picture.size
                if width * height > 1 << 26:
                    raise FormatError(
                        f"{place}: expected at most 2^26 texels, found {picture.size}"
                    )
                factor = 1 << max(0, (max(width, height) - 1).bit_length() - 11)
                if factor > 1:
                    picture.draft("RGB", (width // factor, height // factor))
                whole = picture.convert("RGBA")
        except FormatError:
            raise
        except UnidentifiedImageError:
            raise FormatError(f"{place}: is no picture of a kind that is known here") from None
        # Pillow's decoders raise whatever their C libraries and struct give them.
        except Exception as error:
            raise FormatError(f"{place}: is no picture that can be read: {error}") from None
        while max(whole.size) > LARGEST:
            whole = whole.reduce(2)
        return cls(np.asarray(whole))

    def read(
        self,
        uvs: npt.ArrayLike,
        texels: npt.ArrayLike = 1.0,
        wrap: tuple[Wrap, Wrap] = ("repeat", "repeat"),
        filter: Filter = "linear",
    ) -> Float32:
        """Linear red, green, blue and alpha (N, 4) at coordinates (N, 2).

        Args:
            uvs: where; finite.
            texels: () or (N,) how many texels of the picture one pixel covers along a side; the
                pyramid's level that comes nearest is read, so fine patterns do not flicker.
            wrap: what lies outside 0 … 1, across and down.
            filter: "nearest" for one texel and no mixture, where texels are larger than pixels.
        """
        at = np.asarray(uvs, np.float32)
        level = np.rint(np.log2(np.fmin(np.fmax(np.asarray(texels, np.float32), 1), 1 << 15)))
        level = np.minimum(level.astype(np.int32), len(self._starts) - 1)
        widths, heights = self._widths[level], self._heights[level]
        left, right, across = _neighbours(at[:, 0], widths, wrap[0])
        top, bottom, down = _neighbours(at[:, 1], heights, wrap[1])
        if filter == "nearest":
            across, down = (np.where(level > 0, share, share >= 0.5) for share in (across, down))
        start = self._starts[level]
        top_row, bottom_row = start + top * widths, start + bottom * widths

        def row(start: npt.NDArray[np.int64]) -> Float32:
            one = _linear(self._texels[start + left])
            one += (_linear(self._texels[start + right]) - one) * across[:, None]
            return one

        upper = row(top_row)
        upper += (row(bottom_row) - upper) * down[:, None]
        return upper


def _linear(texels: Bytes) -> Float32:
    linear = to_linear(texels)
    linear[:, 3] = texels[:, 3] * np.float32(1 / 255)
    return linear


def _neighbours(
    at: Float32, length: npt.NDArray[np.int32], wrap: Wrap
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], Float32]:
    """The two texels whose centres lie around a coordinate, and the share of the second."""
    if wrap == "repeat":
        at = at - np.floor(at)
    elif wrap == "mirror":
        at = 1 - np.abs(1 - np.mod(at, np.float32(2)))
    place = np.clip(at, 0, 1) * length - np.float32(0.5)
    floor = np.floor(place)
    first = floor.astype(np.int32)
    second = first + 1
    if wrap == "repeat":
        first = np.where(first < 0, length - 1, first)
        second = np.where(second >= length, 0, second)
    else:
        first, second = np.maximum(first, 0), np.minimum(second, length - 1)
    return first, second, (place - floor).astype(np.float32)


def _halved(level: Bytes) -> Bytes:
    """Means of 2 × 2 texels in linear light, colours weighted by their alpha."""
    high, wide = (min(2, length) for length in level.shape[:2])
    rows, columns = level.shape[0] // high, level.shape[1] // wide
    corners = [
        level[y : rows * high : high, x : columns * wide : wide] for y, x in np.ndindex(high, wide)
    ]
    alphas = [corner[..., 3:] * np.float32(1 / 255) for corner in corners]
    total = sum(alphas[1:], alphas[0])
    clear = total == 0
    seen = np.zeros((rows, columns, 3), np.float32)
    for corner, alpha in zip(corners, alphas, strict=True):
        seen += to_linear(corner[..., :3]) * np.where(clear, np.float32(1), alpha)
    half = np.empty((rows, columns, 4), np.uint8)
    half[..., :3] = to_srgb(seen / np.where(clear, np.float32(len(corners)), total))
    half[..., 3:] = np.rint(total * np.float32(255 / len(corners)))
    return half
