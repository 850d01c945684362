"""Light adds up in linear numbers, files and screens hold sRGB bytes: the way between the two."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bunraku.model.arrays import Float32
from bunraku.model.material import to_display as _encode
from bunraku.model.material import to_linear as _decode

Bytes = npt.NDArray[np.uint8]


def to_linear(srgb: npt.ArrayLike) -> Float32:
    """Linear float32 values, 0 … 1, of sRGB bytes (IEC 61966-2-1).

    >>> to_linear([0, 188, 255]).round(3)
    array([0.   , 0.503, 1.   ], dtype=float32)
    """
    return _LINEAR[np.asarray(srgb, np.uint8)]


def to_srgb(linear: npt.ArrayLike) -> Bytes:
    """sRGB bytes of linear values; what is below 0 or above 1 is clipped, NaN is 0.

    >>> to_srgb([0, 0.2140, 0.5, 1, 7])
    array([  0, 127, 188, 255, 255], dtype=uint8)
    """
    light = np.asarray(linear, np.float32)
    # A table of 4096 square roots of light is within half a byte of the curve everywhere.
    at = np.sqrt(np.clip(np.nan_to_num(light, nan=0.0), 0, 1)) * np.float32(4095) + np.float32(0.5)
    return _ENCODED[at.astype(np.int32)]


_LINEAR = _decode(np.arange(256) / 255).astype(np.float32)
_ENCODED = np.rint(_encode((np.arange(4096) / 4095) ** 2) * 255).astype(np.uint8)


def heat_colors(shares: npt.ArrayLike) -> Bytes:
    """sRGB bytes (…, 3) of shares 0 … 1: from dark violet through red to light yellow.

    Lightness climbs evenly (in OKLab, Ottosson 2020), so that the order of values also survives
    grey printing and colour blindness. Shares outside are clipped; NaN is grey.

    >>> heat_colors([0.0, 1.0, float("nan")])
    array([[ 67,  56, 137],
           [252, 234, 127],
           [128, 128, 128]], dtype=uint8)
    """
    values = np.asarray(shares, np.float32)
    missing = np.isnan(values)
    at = np.clip(np.where(missing, 0, values), 0, 1) * np.float32(255)
    colors = _HEAT[np.rint(at).astype(np.intp)]
    colors[missing] = 128
    return colors


def _heat_table() -> Bytes:
    share = np.linspace(0, 1, 256)
    lightness = 0.40 + 0.53 * share
    chroma = 0.13 + 0.09 * np.sin(np.pi * share) ** 1.5
    hue = np.radians(285 + 175 * share)
    a, b = chroma * np.cos(hue), chroma * np.sin(hue)
    lms = np.stack(
        [
            lightness + 0.3963377774 * a + 0.2158037573 * b,
            lightness - 0.1055613458 * a - 0.0638541728 * b,
            lightness - 0.0894841775 * a - 1.2914855480 * b,
        ],
        -1,
    )
    matrix = np.array(
        [
            [4.0767416621, -3.3077115913, 0.2309699292],
            [-1.2684380046, 2.6097574011, -0.3413193965],
            [-0.0041960863, -0.7034186147, 1.7076147010],
        ]
    )
    linear = np.clip(lms**3 @ matrix.T, 0, 1)
    return np.rint(_encode(linear) * 255).astype(np.uint8)


_HEAT = _heat_table()
