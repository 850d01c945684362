"""Pictures of a stage: who is shown, from where, against what."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np
import numpy.typing as npt

from bunraku.errors import Note, RigError
from bunraku.model import Pose
from bunraku.model.arrays import Float32, Float64
from bunraku.query import Camera
from bunraku.render.color import Bytes
from bunraku.render.exposure import Color, Exposure, nothing
from bunraku.render.framing import View, frame, view_axes
from bunraku.render.heat import Heat, draw_bar
from bunraku.render.scene import Scene
from bunraku.render.surface import Surface
from bunraku.skinning import Method
from bunraku.skinning.deform import METHODS
from bunraku.stage import Stage

STUDIO: tuple[Color, Color] = ((247, 245, 241), (205, 203, 201))
LARGEST = 1 << 26  # pixels
FRAMED_TIMES = 24  # moments of a motion that a camera is fitted to
WORKING_SET = 32 << 20


class Renderer:
    """A stage in front of a camera, in a studio: a picture for every moment.

    Args:
        stage: who, and the motion.
        method: "lbs" or "dqs".
        view: "front", "side" (from the figure's left), "three-quarter", "back", or azimuth from
            the front towards the left and elevation, in radians. The figure faces +Z.
        size: width and height in pixels.
        projection: "perspective" or "orthographic".
        ground: whether the figure stands on something that takes its shadow, as high as the
            lowest point of the motion.
        background: sRGB colours at top and bottom, or None for pictures with alpha.
        smooth_edges: whether pixels that differ from their neighbours are sampled four times.

    Attributes:
        notes: textures that could not be read.

    Raises:
        RigError: the stage shows no triangles, or has no finite vertex; an unknown view; a size
            below 1 or above 2^26 pixels.

    >>> import bunraku
    >>> renderer = Renderer(bunraku.Stage(bunraku.make_puppet(0.5), 0), size=(48, 64))
    >>> renderer.picture(0.5).shape
    (64, 48, 3)
    """

    def __init__(
        self,
        stage: Stage,
        *,
        method: Method = "lbs",
        view: View | tuple[float, float] = "three-quarter",
        size: tuple[int, int] = (640, 480),
        projection: Literal["perspective", "orthographic"] = "perspective",
        ground: bool = True,
        background: tuple[Color, Color] | None = STUDIO,
        smooth_edges: bool = True,
    ) -> None:
        width, height = size
        if not (width >= 1 and height >= 1 and width * height <= LARGEST):
            raise RigError(f"size: expected 1 … 2^26 pixels, found {width}x{height}")
        if projection not in ("perspective", "orthographic"):
            raise RigError(f"projection: perspective or orthographic, found {projection!r}")
        if method not in METHODS:
            raise RigError(f"method: expected {' or '.join(METHODS)}, found {method!r}")
        self.stage, self.method, self.size = stage, method, (int(width), int(height))
        backwards = stage.character.facing == "-Z"
        self._axes = view_axes(view, np.pi if backwards else 0.0)
        self._orthographic = projection == "orthographic"
        self._background, self._smooth_edges = background, smooth_edges
        self._surface = Surface.of(stage)
        self.notes: tuple[Note, ...] = self._surface.notes
        self._scene = Scene(self._surface)
        self._posed_at: float | None = None
        self._visible = True
        self._used = np.unique(self._surface.faces)
        self._ground = self._lowest() if ground else None

    def camera(self, times: npt.ArrayLike | None = None) -> Camera:
        """The camera of this view that sees the figure at some times, or in the whole motion."""
        return self._framed(self._points(self._motion() if times is None else times))

    def turntable(self, turns: npt.ArrayLike) -> list[Camera]:
        """Cameras of this view that went around the figure by some angles (radians).

        All are as far away as the figure needs from any side, so that it does not pump.
        """
        frames = list(self._extents())
        low = np.min([low for low, _, _ in frames], axis=0)
        high = np.max([high for _, high, _ in frames], axis=0)
        pivot = (low + high) / 2
        radius = max(far + np.hypot(*((a + b) / 2 - pivot)[[0, 2]]) for a, b, far in frames)
        around = np.linspace(0, 2 * np.pi, 33)[:-1]
        rim = pivot + radius * np.stack([np.sin(around), 0 * around, np.cos(around)], -1)
        drum = np.concatenate([np.where([False, True, False], end, rim) for end in (low, high)])
        first = self._framed([drum])
        return [first.orbited(float(turn), pivot) for turn in np.asarray(turns, np.float64).flat]

    def picture(
        self, time: float = 0.0, *, heat: Heat | None = None, camera: Camera | None = None
    ) -> Bytes:
        """The picture (H, W, 3) at a time, or (H, W, 4) without a background, sRGB bytes.

        While the motion hides the character it is the background alone.

        Args:
            time: seconds.
            heat: values to show instead of the paint, and a bar that explains them.
            camera: from where; by default from near enough to fill the picture at this time.

        Raises:
            RigError: the time is not finite, or heat is for another number of vertices.
        """
        if heat is not None and len(heat.values) != self.stage.vertex_count:
            raise RigError(
                f"heat.values: expected one for each of {self.stage.vertex_count} vertices, "
                f"found {len(heat.values)}"
            )
        if self._posed_at != time:
            self._take(self.stage.pose(time))
            self._posed_at = time
        if self._visible:
            exposure = Exposure(
                self._scene,
                camera if camera is not None else self.camera(time),
                self.size,
                self._ground,
                heat,
                self._background,
            )
            picture = exposure.develop(smooth_edges=self._smooth_edges)
        else:
            picture = nothing(self.size, self._background)
        if heat is not None:
            draw_bar(picture, heat)
        return picture

    def _take(self, pose: Pose) -> None:
        """Bring the scene to a pose of one frame."""
        self._visible = bool(pose.visible.all())
        if not self._visible:
            return
        now = self.stage.deform_pose(pose, method=self.method, normals=True)
        assert now.normals is not None
        surface = self._surface.repainted(self.stage.character, pose)
        self._scene.move(surface, now.positions[0], now.normals[0])

    def _framed(self, frames: Iterator[Float32] | list[Float64]) -> Camera:
        return frame(frames, self._axes, self.size, orthographic=self._orthographic)

    def _motion(self) -> Float64:
        clip = self.stage.clip
        return np.zeros(1) if clip is None else np.linspace(clip.start, clip.end, FRAMED_TIMES)

    def _points(self, times: npt.ArrayLike) -> Iterator[Float32]:
        """Positions (K, 3) of the vertices that triangles use, moment by moment."""
        for block in self.stage.chunks(times, method=self.method, memory=WORKING_SET):
            for positions in block.positions:
                points = positions[self._used]
                yield points[np.isfinite(points).all(axis=1)]

    def _extents(self) -> Iterator[tuple[Float64, Float64, float]]:
        """Low and high corner, and the radius around their middle's upright, of every moment."""
        for points in self._points(self._motion()):
            if len(points):
                low, high = points.min(axis=0).astype(np.float64), points.max(axis=0)
                away = points[:, [0, 2]] - ((low + high) / 2)[[0, 2]]
                yield low, high, float(np.sqrt(np.einsum("ij,ij->i", away, away).max()))

    def _lowest(self) -> float:
        lows = [low[1] for low, _, _ in self._extents()]
        if not lows:
            raise RigError("stage: has no finite vertex to show")
        return float(min(lows))


def render(
    stage: Stage,
    time: float = 0.0,
    *,
    method: Method = "lbs",
    view: View | tuple[float, float] = "three-quarter",
    size: tuple[int, int] = (640, 480),
    heat: Heat | None = None,
    background: tuple[Color, Color] | None = STUDIO,
) -> Bytes:
    """One picture of a stage: (H, W, 3) sRGB bytes, (H, W, 4) without a background.

    For many pictures of one stage, and for more options, make a `Renderer`; for films see
    `render_clip`.

    Args:
        time: seconds.
        method, view, size, background: as of `Renderer`.
        heat: values to show instead of the paint.

    Raises:
        RigError: as `Renderer` and its `picture`.

    >>> import bunraku
    >>> render(bunraku.Stage(bunraku.make_puppet(0.5)), view="front", size=(32, 24)).shape
    (24, 32, 3)
    """
    renderer = Renderer(stage, method=method, view=view, size=size, background=background)
    return renderer.picture(time, heat=heat)
