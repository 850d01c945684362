"""The files that the demo writes, and films of shapes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import bunraku
from bunraku.demo import SHAPES_PER_SECOND, make_puppet, run_demo, shape_animation
from bunraku.errors import RigError
from bunraku.model import Character, differences
from bunraku.stage import Deformation, Stage


@pytest.fixture(scope="module")
def puppet() -> Character:
    return make_puppet(0.5)


@pytest.fixture(scope="module")
def film(puppet: Character) -> Deformation:
    return Stage(puppet, 0).deform([0.0, 1.0, 2.0, 4.0], method="dqs", normals=True)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return run_demo(tmp_path_factory.mktemp("demo") / "new" / "folder")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"times": np.zeros(0)}, "expected at least one frame"),
        ({"times": np.array([0.0, 1.0, 1.0, 4.0])}, "strictly increasing"),
        ({"times": np.array([0.0, 1.0])}, "frames"),
        ({"positions": np.zeros((4, 5, 3), np.float32)}, "vertices"),
    ],
)
def test_refuses_films_that_do_not_fit(
    puppet: Character, film: Deformation, change: dict[str, np.ndarray], message: str
) -> None:
    with pytest.raises(RigError, match=message):
        shape_animation(puppet, replace(film, **change))


def test_a_film_shows_its_frames(puppet: Character, film: Deformation) -> None:
    shown = Stage(shape_animation(puppet, film), 0).deform(film.times, normals=True)
    np.testing.assert_allclose(shown.positions, film.positions, atol=2e-6)
    assert film.normals is not None
    assert shown.normals is not None
    np.testing.assert_allclose(shown.normals, film.normals, atol=2e-3)


def test_between_frames_it_goes_straight(puppet: Character, film: Deformation) -> None:
    shown = Stage(shape_animation(puppet, film), 0).deform(1.5).positions[0]
    middle = (film.positions[1] + film.positions[2]) / 2
    np.testing.assert_allclose(shown, middle, atol=2e-6)


def test_only_what_moves_is_stored(puppet: Character, film: Deformation) -> None:
    shown = shape_animation(puppet, film)
    assert shown.skins == ()
    figure = shown.meshes[0]
    assert figure.morph_names == ("frame 1", "frame 2")  # the last frame is the first
    for target in figure.geometries[0].morphs:
        assert 0 < len(target.indices) < figure.vertex_count  # sandals stand still


def test_a_still_film_needs_no_shapes(puppet: Character) -> None:
    shown = shape_animation(puppet, Stage(puppet).deform([0.0, 1.0]))
    assert [mesh.morph_names for mesh in shown.meshes] == [()] * 5
    assert shown.clips[0].tracks == ()


def test_writes_five_files_of_a_few_megabytes(files: list[Path]) -> None:
    names = ["puppet.glb", "puppet-lbs.glb", "puppet-dqs.glb", "lbs-dqs.png", "report.md"]
    assert [path.name for path in files] == names
    assert files[0].stat().st_size < 700_000
    assert all(path.stat().st_size < 6_000_000 for path in files)


def test_the_rig_comes_back_equal(files: list[Path]) -> None:
    loaded = bunraku.load(files[0])
    assert loaded.notes == ()
    assert differences(make_puppet(), loaded) == []


@pytest.mark.parametrize("method", ["lbs", "dqs"])
def test_films_come_back_as_that_method_bends(files: list[Path], method: str) -> None:
    loaded = bunraku.load(files[1 if method == "lbs" else 2])
    assert loaded.notes == ()
    stage = Stage(make_puppet(), 0)
    times = stage.frame_times(SHAPES_PER_SECOND)
    expected = stage.deform(times, method=method).positions  # type: ignore[arg-type]
    np.testing.assert_allclose(Stage(loaded, 0).deform(times).positions, expected, atol=3e-6)


def test_the_picture_shows_both_methods_of_the_same_moment(files: list[Path]) -> None:
    with Image.open(files[3]) as picture:
        pixels = np.asarray(picture).astype(int)
    assert pixels.shape[1] == 960
    skin = pixels[40:390, :, 0] - pixels[40:390, :, 2] > 12  # the background is nearly grey
    thick = skin.sum(axis=0)
    linear, dual = thick[:480], thick[480:]
    # The hand is where it was; the forearm is thin as a thread by one and whole by the other.
    np.testing.assert_allclose(linear[:60], dual[:60], atol=2)
    assert linear[150:430].min() < 20
    assert dual[150:430].min() > 60


def test_written_twice_the_same(files: list[Path], tmp_path: Path) -> None:
    for path, again in zip(files, run_demo(tmp_path), strict=True):
        assert path.read_bytes() == again.read_bytes()
