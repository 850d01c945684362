"""The head: a round doll's face with eyes and lips on it, and the neck."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bunraku.demo import weights
from bunraku.demo.atlas import EYE_REACH, HEAD_BOTTOM, HEAD_TOP, hairline, region
from bunraku.demo.forms import Detail, surface, tube
from bunraku.demo.shells import Shell, circle, close, ring, ring_uvs, through
from bunraku.model.arrays import Float64

_ROUND = 2.15  # squareness of the head seen from above

# Height, half width, front, back (z) of the head.
_HEAD = np.array(
    [
        (1.357, 0.021, 0.052, 0.010),
        (1.366, 0.036, 0.066, -0.024),
        (1.380, 0.051, 0.075, -0.052),
        (1.403, 0.065, 0.081, -0.072),
        (1.428, 0.0735, 0.083, -0.084),
        (1.462, 0.079, 0.083, -0.094),
        (1.500, 0.081, 0.084, -0.098),
        (1.535, 0.075, 0.076, -0.092),
        (1.560, 0.059, 0.058, -0.075),
        (1.577, 0.033, 0.029, -0.048),
    ]
)


def head(detail: Detail) -> Shell:
    """A round doll's head; where it is painted as hair it stands out by the hair's thickness."""
    sides = detail(26)
    # Columns stand closer together in the face than at the back of the head.
    even = np.arange(sides // 2 + 1) * (2 * np.pi / sides)
    half = even - 0.4 * np.sin(even)
    angle = np.concatenate([half, half[-2:0:-1]])
    cos, sin = np.cos(half), np.sin(half)
    sin[-1] = 0.0
    cos = np.concatenate([cos, cos[-2:0:-1]])
    sin = np.concatenate([sin, -sin[-2:0:-1]])

    low, high = _HEAD[0, 0], _HEAD[-1, 0]
    level = low + (high - low) * (1 - np.cos(np.linspace(0, np.pi, detail(18)))) / 2
    half_width, front, back = through(_HEAD, level).T
    middle = (front + back) / 2
    z, x = ring(cos, sin, front - middle, middle - back, half_width, _ROUND)
    hair = 0.008 * weights.smooth_step((level[:, None] - hairline(angle)) / 0.012)
    away = np.stack([x, np.zeros_like(x), z], -1)
    away /= np.linalg.norm(away, axis=-1, keepdims=True)
    rings = np.stack([x, np.broadcast_to(level[:, None], x.shape), z + middle[:, None]], -1)
    nose = np.exp(-((angle / 0.15) ** 2) - ((level[:, None] - 1.433) / 0.011) ** 2)
    bridge = np.exp(-((angle / 0.13) ** 2) - ((level[:, None] - 1.450) / 0.016) ** 2)
    rings[..., 2] += 0.0095 * nose + 0.004 * bridge
    rings += away * hair[..., None]
    poles = ([0, HEAD_BOTTOM, 0.028], [0, HEAD_TOP, -0.012])
    positions, faces = close(rings, *poles)
    rows = (HEAD_TOP - level) / (HEAD_TOP - HEAD_BOTTOM)
    uvs = ring_uvs(angle / np.pi, rows, region("head"))
    return Shell("head", positions, faces, uvs, weights.held_by(len(positions), "head"))


def face_depth(x: npt.ArrayLike, y: npt.ArrayLike) -> Float64:
    """z (V,) of the face (without the nose) at x, y (V,)."""
    height, half_width, front, back = _HEAD.T
    middle = (front + back) / 2
    form = np.stack([height, half_width, front - middle, middle - back], -1)
    shift = through(np.column_stack([height, middle]), y)[:, 0]
    return surface(form, x, y, _ROUND) + shift


def _on_face(
    name: str, outline: Float64, centre: tuple[float, float], swell: float, paint: str
) -> Shell:
    """A lens on the face within an outline (S, 2) given relative to its centre (x, y).

    The outline runs from its top over the left, as seen by the puppet.
    """
    sizes = np.array([0.35, 0.7, 0.92, 1.0, 0.9])
    heights = np.array([0.95, 0.72, 0.40, 0.0, -2.0]) * swell
    flat = sizes[:, None, None] * outline + np.array(centre)
    depth = face_depth(flat[..., 0].ravel(), flat[..., 1].ravel()).reshape(flat.shape[:2])
    rings = np.concatenate([flat, (depth + heights[:, None])[..., None]], axis=-1)
    at_centre = float(face_depth([centre[0]], [centre[1]])[0])
    positions, faces = close(rings, [*centre, at_centre + swell], [*centre, at_centre - 3 * swell])
    left, top, right, bottom = region(paint)
    place = (positions[:, :2] - centre) / EYE_REACH
    uvs = np.stack(
        [
            left + (right - left) * np.clip(0.5 + 0.5 * place[:, 0], 0, 1),
            top + (bottom - top) * np.clip(0.5 - 0.5 * place[:, 1], 0, 1),
        ],
        -1,
    )
    return Shell(name, positions, faces, uvs, weights.held_by(len(positions), "head"))


EYE = (0.0345, 1.4555)
MOUTH = (0.0, 1.399)


def eye(detail: Detail) -> Shell:
    """The left eye: an almond with its outer corner a little higher."""
    cos, sin = circle(detail(14))
    x = 0.0205 * sin
    y = np.where(cos > 0, 0.0118, 0.0090) * np.sign(cos) * np.abs(cos) ** 1.15
    outline = np.stack([x, y + 0.13 * x], -1)
    return _on_face("leftEye", outline, EYE, 0.0022, "eye")


def lips(detail: Detail) -> Shell:
    """A small red mouth."""
    cos, sin = circle(detail(10))
    x = 0.0135 * sin
    y = np.where(cos > 0, 0.0042, 0.0062) * cos
    dip = -0.0016 * np.exp(-((x / 0.004) ** 2)) * (cos > 0)
    outline = np.stack([x, y + dip + 0.0015 * np.abs(sin)], -1)
    return _on_face("lips", outline, MOUTH, 0.003, "lips")


def neck(detail: Detail) -> Shell:
    """Skin from inside the collar to inside the head."""

    def held(points: Float64) -> Float64:
        borders = ((1.285, 0.03), (1.345, 0.03))
        return weights.chain(points[:, 1], ("chest", "neck", "head"), borders)

    path = [(0, 1.22, -0.012), (0, 1.30, -0.012), (0, 1.38, -0.004)]
    radius = [0.046, 0.037, 0.037]
    return tube(
        "neck",
        path,
        radius,
        sides=detail(12),
        count=detail(4),
        up=(0, 0, 1),
        paint="skin",
        held=held,
    )
