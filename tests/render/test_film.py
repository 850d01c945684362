"""Films: how long, how many pictures, how coloured."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import bunraku
from bunraku.errors import RigError, UnsupportedError
from bunraku.model import Clip, Track
from bunraku.render import Heat, render_clip, save_picture
from bunraku.stage import Stage

SMALL = {"size": (32, 40)}


@pytest.fixture(scope="module")
def puppet() -> Stage:
    return Stage(bunraku.make_puppet(0.5), 0)


def played(path: Path) -> tuple[list[np.ndarray], int]:
    """Pictures of a film and the milliseconds it plays."""
    frames, length = [], 0
    with Image.open(path) as film:
        for k in range(getattr(film, "n_frames", 1)):
            film.seek(k)
            frames.append(np.asarray(film.convert("RGBA")))
            length += round(film.info["duration"])
    return frames, length


@pytest.mark.parametrize(
    ("name", "options", "error", "message"),
    [
        ("a.mp4", {}, UnsupportedError, "a name ending in .gif or .apng"),
        ("a.gif", {"fps": 60}, UnsupportedError, "at most 50"),
        ("a.gif", {"background": None}, UnsupportedError, "needs a background"),
        ("a.gif", {"fps": 0}, RigError, "fps: expected a positive number"),
        ("a.gif", {"fps": -5, "turns": 1, "time": 0.0}, RigError, "fps: expected a positive"),
        ("a.gif", {"time": 0.0}, RigError, "nothing moves"),
        ("a.gif", {"time": 0.0, "turns": 1, "seconds": 0}, RigError, "seconds: expected above 0"),
        ("no/where/a.gif", {}, FileNotFoundError, "No such file"),
    ],
)
def test_refuses_films_that_cannot_be(
    puppet: Stage, tmp_path: Path, name: str, options: Any, error: Any, message: str
) -> None:
    with pytest.raises(error, match=message):
        render_clip(puppet, tmp_path / name, **SMALL, **options)
    assert list(tmp_path.iterdir()) == []


def test_refuses_a_film_of_a_figure_at_rest(puppet: Stage, tmp_path: Path) -> None:
    with pytest.raises(RigError, match="nothing moves"):
        render_clip(Stage(puppet.character), tmp_path / "a.gif")


def test_refuses_pictures_under_other_names(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match=r"a name ending in \.png"):
        save_picture(np.zeros((2, 2, 3), np.uint8), tmp_path / "a.jpg")


@pytest.mark.parametrize("suffix", [".gif", ".apng"])
@pytest.mark.parametrize("fps", [5.0, 3.0])  # 3 divides neither 100 nor 1000
def test_a_film_is_as_long_as_its_clip(
    puppet: Stage, tmp_path: Path, suffix: str, fps: float
) -> None:
    told: list[tuple[int, int]] = []
    path = tmp_path / f"film{suffix}"
    film = render_clip(
        puppet, path, fps=fps, **SMALL, progress=lambda done, total: told.append((done, total))
    )
    count = int(4 * fps)
    assert (film.file, film.frames, film.seconds, film.notes) == (path, count, 4.0, ())
    frames, length = played(path)
    assert len(frames) == count
    assert length == 4000
    assert told == [(k + 1, count) for k in range(count)]
    assert all(frame.shape == (40, 32, 4) for frame in frames)
    moved = [(a != b).any() for a, b in pairwise(frames)]
    assert all(moved)


def test_a_gif_keeps_to_the_colors_of_the_pictures(puppet: Stage, tmp_path: Path) -> None:
    gif, apng = tmp_path / "a.gif", tmp_path / "a.apng"
    for path in (gif, apng):
        render_clip(puppet, path, fps=2, size=(96, 120))
    for few, all_of_them in zip(played(gif)[0], played(apng)[0], strict=True):
        difference = np.abs(few.astype(int) - all_of_them.astype(int))[..., :3]
        assert difference.mean() < 2.0
        assert np.percentile(difference, 99) < 20


def test_a_turntable_goes_round_once(puppet: Stage, tmp_path: Path) -> None:
    path = tmp_path / "turn.apng"
    film = render_clip(puppet, path, time=0.0, turns=1, seconds=2, fps=4, background=None, **SMALL)
    frames, length = played(path)
    assert (film.frames, len(frames), length) == (8, 8, 2000)
    front = np.array([(frame[..., :3].max(axis=-1) > 200).sum() for frame in frames])
    assert front[[7, 0, 1]].min() > front[4]  # the face is in front
    assert frames[0][0, 0, 3] == 0


def test_a_film_notes_how_long_the_motion_hides_the_character(
    puppet: Stage, tmp_path: Path
) -> None:
    assert render_clip(puppet, tmp_path / "seen.gif", fps=2, **SMALL).notes == ()
    hide = Track("", "visible", [0.0, 1.0, 2.0], [[1], [0], [1]], "STEP")
    stage = Stage(puppet.character, Clip("", (hide,)))
    (note,) = render_clip(stage, tmp_path / "gone.gif", fps=4, **SMALL).notes
    assert (note.code, note.message) == (
        "character-hidden",
        "the motion hides the character in 4 of 8 pictures",
    )


def test_heat_may_change_with_time(puppet: Stage, tmp_path: Path) -> None:
    def heat(time: float) -> Heat:
        return Heat(np.full(puppet.vertex_count, time), 0, 4)

    path = tmp_path / "heat.apng"
    render_clip(puppet, path, fps=1, heat=heat, **SMALL)
    frames = played(path)[0]
    assert len(frames) == 4
    # The figure is violet first and orange in the end; there is no room for the bar.
    red = [frame[8:32, 8:20, 0].astype(int) - frame[8:32, 8:20, 2] for frame in frames]
    assert red[0].min() < -30
    assert red[0].max() < 30
    assert red[3].max() > 100


def test_a_picture_comes_back_from_its_file(tmp_path: Path) -> None:
    picture = np.random.default_rng(1).integers(0, 256, (5, 7, 4), np.uint8)
    save_picture(picture, tmp_path / "a.png")
    with Image.open(tmp_path / "a.png") as read:
        np.testing.assert_array_equal(np.asarray(read), picture)
