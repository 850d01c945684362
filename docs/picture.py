"""Draw the README's picture from the demo puppet: `python docs/picture.py`.

One moment of its clip, bent by linear blend and by dual quaternions from the same weights.
Bunraku has no renderer yet; what follows is a small orthographic z-buffer in NumPy, good enough
for one still picture.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

import bunraku
from bunraku.rotation import quaternion

OUT = Path(__file__).parent / "_static" / "puppet.png"
FINE = 3  # drawn this many times larger, then averaged
PAPER, CARD, INK = (247, 243, 235), (238, 231, 218), (52, 48, 54)
LIGHT = np.array([0.35, 0.75, 0.6]) / np.linalg.norm([0.35, 0.75, 0.6])


@dataclass(frozen=True)
class Camera:
    """An orthographic view: what stands in the middle, from where, pixels per metre."""

    middle: tuple[float, float, float]
    yaw: float
    pitch: float
    scale: float

    def project(self, points: np.ndarray) -> np.ndarray:
        """(V, 3) points to (V, 3): right, up, towards the viewer, in pixels."""
        turn = quaternion.multiply(
            quaternion.from_axis_angle([1, 0, 0], np.radians(self.pitch)),
            quaternion.from_axis_angle([0, 1, 0], np.radians(self.yaw)),
        )
        return quaternion.rotate(turn, points - np.array(self.middle)) * self.scale


MOMENT = 2.6  # seconds: the right forearm is turned by 165°, the left elbow bent by 138°
TITLES = {"lbs": "linear blend", "dqs": "dual quaternions"}
WHOLE = Camera((-0.18, 0.80, 0.1), -12, 8, 430)
CLOSE_UPS = (
    (Camera((-0.545, 1.215, 0.3), -12, 8, 930), 240),
    (Camera((0.14, 1.17, 0.2), -14, 8, 900), 440),
)


@dataclass(frozen=True)
class Surface:
    """What a stage shows, ready to be drawn."""

    positions: np.ndarray
    normals: np.ndarray
    uvs: np.ndarray
    triangles: np.ndarray
    texture: np.ndarray


def surface(stage: bunraku.Stage, pose: bunraku.Pose, method: str) -> Surface:
    """The stage's geometry in one pose, with the puppet's only texture."""
    moment = stage.deform_pose(pose, method=method, normals=True)
    meshes = stage.character.meshes
    uvs = [meshes[span.mesh].geometries[span.geometry].uvs[0] for span in stage.ranges]
    picture = Image.open(io.BytesIO(stage.character.images[0].data)).convert("RGB")
    return Surface(
        moment.positions[0].astype(np.float64),
        moment.normals[0].astype(np.float64),
        np.concatenate(uvs).astype(np.float64),
        stage.triangles,
        np.asarray(picture, np.float64),
    )


def draw(shown: Surface, camera: Camera, width: int, height: int) -> Image.Image:
    """A picture with a transparent ground: texture, one lamp, a soft fill from the other side."""
    corners = camera.project(shown.positions) * FINE
    corners[:, 0] += width * FINE / 2
    corners[:, 1] = height * FINE / 2 - corners[:, 1]
    depth = np.full((height * FINE, width * FINE), -np.inf)
    color = np.zeros((height * FINE, width * FINE, 3))
    for triangle in shown.triangles:
        _fill(shown, corners[triangle], triangle, depth, color)
    alpha = np.where(np.isfinite(depth), 255, 0)
    rgba = np.concatenate([color, alpha[..., None]], axis=2)
    # Averaged with premultiplied alpha by reduce(), so that edges do not darken.
    return Image.fromarray(rgba.round().clip(0, 255).astype(np.uint8), "RGBA").reduce(FINE)


def _fill(
    shown: Surface, corners: np.ndarray, triangle: np.ndarray, depth: np.ndarray, color: np.ndarray
) -> None:
    low = np.maximum(np.floor(corners[:, :2].min(axis=0)).astype(int), 0)
    high = np.minimum(np.ceil(corners[:, :2].max(axis=0)).astype(int), depth.shape[::-1])
    if (low >= high).any():
        return
    edges = corners[1:, :2] - corners[0, :2]
    area = edges[0, 0] * edges[1, 1] - edges[0, 1] * edges[1, 0]
    if abs(area) < 1e-9:
        return
    x, y = np.meshgrid(np.arange(low[0], high[0]) + 0.5, np.arange(low[1], high[1]) + 0.5)
    dx, dy = x - corners[0, 0], y - corners[0, 1]
    second = (dx * edges[1, 1] - dy * edges[1, 0]) / area
    third = (edges[0, 0] * dy - edges[0, 1] * dx) / area
    shares = np.stack([1 - second - third, second, third], axis=-1)
    z = shares @ corners[:, 2]
    window = (slice(low[1], high[1]), slice(low[0], high[0]))
    seen = (shares >= 0).all(axis=-1) & (z > depth[window])
    if not seen.any():
        return
    at = shares[seen] @ shown.uvs[triangle]
    size = np.array(shown.texture.shape[1::-1])
    texel = np.clip((at * size).astype(int), 0, size - 1)
    normal = shares[seen] @ shown.normals[triangle]
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-9)
    lamp = np.clip(normal @ LIGHT, 0, 1)
    fill = np.clip(0.5 - 0.5 * (normal @ LIGHT), 0, 1)
    shade = 0.50 + 0.55 * lamp + 0.06 * fill
    depth[window][seen] = z[seen]
    color[window][seen] = shown.texture[texel[:, 1], texel[:, 0]] * shade[:, None]


def main() -> None:
    """Put the whole figure and four close-ups on one sheet."""
    stage = bunraku.Stage(bunraku.make_puppet(1.5), 0)
    pose = stage.pose(MOMENT)
    shown = {method: surface(stage, pose, method) for method in TITLES}
    sheet = Image.new("RGB", (1400, 760), PAPER)
    text = ImageDraw.Draw(sheet)
    figure = draw(shown["dqs"], WHOLE, 560, 760)
    sheet.paste(figure, (0, 0), figure)
    for column, (method, title) in enumerate(TITLES.items()):
        left = 560 + column * 420
        text.text((left + 205, 34), title, INK, ImageFont.load_default(26), anchor="mm")
        for row, (camera, height) in enumerate(CLOSE_UPS):
            top = 60 + row * 250
            near = draw(shown[method], camera, 410, height)
            tile = Image.new("RGB", near.size, CARD)
            tile.paste(near, (0, 0), near)
            sheet.paste(tile, (left, top))
    sheet.quantize(256, kmeans=2, dither=Image.Dither.NONE).save(OUT, optimize=True)
    print(f"{OUT}: {OUT.stat().st_size / 1024:.0f} kB")


if __name__ == "__main__":
    main()
