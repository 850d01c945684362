"""Moving pictures: a stage's motion as GIF or APNG."""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bunraku.errors import Note, RigError, UnsupportedError
from bunraku.formats.binary import write_files
from bunraku.render.color import Bytes
from bunraku.render.exposure import Color
from bunraku.render.framing import View
from bunraku.render.heat import Heat
from bunraku.render.renderer import STUDIO, Renderer
from bunraku.skinning import Method
from bunraku.stage import Stage

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

SUFFIXES = (".gif", ".apng")
PALETTE_FRAMES = 8  # pictures that a GIF's colours are chosen from, spread over the film

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Film:
    """What a film became.

    Attributes:
        file: the file.
        frames: pictures rendered; a writer joins those that are equal to the one before.
        seconds: how long it plays.
        notes: textures that could not be read.
    """

    file: Path
    frames: int
    seconds: float
    notes: tuple[Note, ...] = ()


def save_picture(picture: Bytes, out: Path | str) -> None:
    """Write a picture (H, W, 3 or 4) of sRGB bytes as PNG.

    Raises:
        UnsupportedError: the name does not end in .png.
        OSError: the file system refuses.
    """
    from PIL import Image

    path = Path(out)
    if path.suffix.lower() != ".png":
        raise UnsupportedError(f"{path}: expected a name ending in .png")
    encoded = io.BytesIO()
    Image.fromarray(picture).save(encoded, "PNG")
    write_files({path: [encoded.getvalue()]})


def render_clip(
    stage: Stage,
    out: Path | str,
    *,
    fps: float = 25.0,
    time: float | None = None,
    turns: float = 0.0,
    seconds: float = 4.0,
    method: Method = "lbs",
    view: View | tuple[float, float] = "three-quarter",
    size: tuple[int, int] = (640, 480),
    heat: Heat | Callable[[float], Heat] | None = None,
    background: tuple[Color, Color] | None = STUDIO,
    progress: Progress = lambda done, total: None,
) -> Film:
    """Film a stage's motion into a GIF (256 colours) or APNG (all of them) that plays for ever.

    The film is as long as the clip, and the frame after its last would be its first: frames lie
    at k/fps before the clip's end. Pictures are rendered one by one; of a GIF's, a byte per pixel
    stays in memory until the file is written, of an APNG's, three or four.

    Args:
        out: a name ending in .gif or .apng.
        fps: frames per second; GIF knows hundredths of a second, so at most 50, and delays
            alternate where it does not divide 100.
        time: hold the pose of this time instead of playing the motion.
        turns: how often the camera goes around the figure.
        seconds: length of a film without motion.
        heat: values to show instead of the paint, the same ones at all times or by time.
        method, view, size, background: as of `Renderer`.
        progress: called with (frames done, frames in all).

    Raises:
        UnsupportedError: another suffix, more than 50 frames per second or no background in a GIF.
        RigError: nothing moves, or as `Renderer`.
        OSError: the file system refuses.
    """
    path = Path(out)
    kind = path.suffix.lower()
    if kind not in SUFFIXES:
        raise UnsupportedError(f"{path}: expected a name ending in {' or '.join(SUFFIXES)}")
    if not path.parent.is_dir():  # said before the work, not after it
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path.parent))
    times, length = _moments(stage, fps, time, turns, seconds)
    if kind == ".gif" and fps > 50:
        raise UnsupportedError(f"{path}: a GIF shows at most 50 frames per second, not {fps:g}")
    if kind == ".gif" and background is None:
        raise UnsupportedError(f"{path}: a GIF needs a background; .apng does not")
    renderer = Renderer(stage, method=method, view=view, size=size, background=background)
    count = len(times)
    if turns:
        cameras = renderer.turntable(np.arange(count) * (2 * np.pi * turns / count))
    else:
        cameras = [renderer.camera(None if time is None else time)] * count

    def picture(k: int) -> Picture:
        from PIL import Image

        now = heat(times[k]) if callable(heat) else heat
        return Image.fromarray(renderer.picture(times[k], heat=now, camera=cameras[k]))

    write = _write_gif if kind == ".gif" else _write_apng
    write(path, picture, count, length, progress)
    return Film(path, count, length, (*renderer.notes, *_hidden(stage, times)))


def _hidden(stage: Stage, times: list[float]) -> Iterator[Note]:
    hidden = int((~stage.pose(times).visible).sum())
    if hidden:
        message = f"the motion hides the character in {hidden} of {len(times)} pictures"
        yield Note("character-hidden", message)


def _moments(
    stage: Stage, fps: float, time: float | None, turns: float, seconds: float
) -> tuple[list[float], float]:
    """When the pictures are taken, and how long they play."""
    clip = stage.clip
    still = time is not None or clip is None or clip.end <= 0
    if still and not turns:
        why = "there is no clip"
        if time is not None:
            why = f"the pose of {time:g} s is held"
        elif clip is not None:
            why = f"{clip.name!r} " + ("is a single moment" if clip.tracks else "has no tracks")
        raise RigError(f"film: nothing moves, {why}; a .png shows it, or turn the figure")
    if not still:
        assert clip is not None
        times = stage.frame_times(fps)
        kept = times[times < clip.end - 1e-6] if len(times) > 1 else times
        return kept.tolist(), clip.end if len(kept) > 1 else 1 / fps
    if not (np.isfinite(fps) and fps > 0):
        raise RigError(f"fps: expected a positive number, found {fps:g}")
    if not 0 < seconds * fps < 1e8:
        raise RigError(f"seconds: expected above 0, and fewer than 1e8 frames, found {seconds:g}")
    count = max(1, round(seconds * fps))
    return [0.0 if time is None else time] * count, count / fps


def _write_gif(
    path: Path,
    picture: Callable[[int], Picture],
    count: int,
    length: float,
    progress: Progress,
) -> None:
    from PIL import Image

    chosen = sorted(set(np.linspace(0, count - 1, min(count, PALETTE_FRAMES)).round().astype(int)))
    taken = {int(k): picture(int(k)) for k in chosen}
    palette = _palette(list(taken.values()))

    frames = []
    for k in range(count):
        whole = taken.pop(k) if k in taken else picture(k)
        # Diffusing errors crawls from frame to frame; plain nearest colours stand still.
        frames.append(whole.quantize(palette=palette, dither=Image.Dither.NONE))
        progress(k + 1, count)
    ends = np.rint(np.arange(count + 1) * (100 * length / count)).astype(int)
    delays = (np.diff(ends) * 10).tolist()
    _save_all(path, frames, "GIF", delays, optimize=False, disposal=1)


def _write_apng(
    path: Path,
    picture: Callable[[int], Picture],
    count: int,
    length: float,
    progress: Progress,
) -> None:
    frames = []
    for k in range(count):
        frames.append(picture(k))
        progress(k + 1, count)
    ends = np.rint(np.arange(count + 1) * (1000 * length / count)).astype(int)
    _save_all(path, frames, "PNG", np.diff(ends).tolist())


def _save_all(
    path: Path, frames: list[Picture], kind: str, delays: list[int], **options: object
) -> None:
    encoded = io.BytesIO()
    first, *others = frames
    first.save(
        encoded, kind, save_all=True, append_images=others, duration=delays, loop=0, **options
    )
    write_files({path: [encoded.getbuffer()]})


def _palette(pictures: Iterable[Picture]) -> Picture:
    """256 colours for all of some pictures.

    Every colour counts by the root of its pixels: a plain background has most of them, and would
    else take most of the colours from a small figure.
    """
    from PIL import Image

    pixels = np.concatenate([np.asarray(each).reshape(-1, 3) for each in pictures])
    packed = pixels.astype(np.int32) @ np.array([1 << 16, 1 << 8, 1], np.int32)
    found, counts = np.unique(packed, return_counts=True)
    weights = np.ceil(np.sqrt(counts)).astype(np.int64)
    colors = np.repeat(found, weights)
    width = 1024
    colors = np.resize(colors, (-(-len(colors) // width), width))
    strip = np.stack([colors >> 16, colors >> 8 & 255, colors & 255], -1).astype(np.uint8)
    return Image.fromarray(strip).quantize(256, Image.Quantize.MEDIANCUT, kmeans=2)
