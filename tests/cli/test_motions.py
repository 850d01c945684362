"""Commands that play the motion of one file on the character of another."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import bunraku
from bunraku import Clip, Track
from bunraku.formats.mmd import PropertyKey, VmdFile, write_vmd
from tests.cli.test_cli import run

# What some exporters give: clips of one name, and of none.
THRICE = tuple(
    Clip(name, (Track(1, "translation", [0, end], [[0, 1, 0]] * 2),))
    for name, end in (("same", 1), ("same", 2), ("", 3))
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The puppet as a PMX, and its motion as a VMD."""
    folder = tmp_path_factory.mktemp("motions")
    puppet = bunraku.make_puppet()
    bunraku.save(puppet, folder / "puppet.pmx")
    bunraku.bake(bunraku.Stage(puppet, 0), folder / "dance.vmd")
    write_vmd(VmdFile(), folder / "camera.vmd")
    nod = Clip("pose", (Track("head", "rotation", [0], [[0.6, 0, 0, 0.8]]),))
    bunraku.save_clip(nod, folder / "pose.vpd")
    bunraku.save(replace(puppet, clips=THRICE), folder / "thrice.glb")
    (folder / "junk.pmx").write_bytes(b"PMX junk")
    return folder


ERRORS = {
    "junk": (("info", "junk.pmx"), "junk.pmx: PMX version"),
    "a motion for a character": (("bake", "dance.vmd", "-o", "x.npy"), "holds no character"),
    "a model for a motion": (
        ("render", "puppet.pmx", "--motion", "puppet.pmx", "-o", "x.png"),
        "puppet.pmx: holds no clips",
    ),
    "nothing to bake": (("bake", "puppet.pmx", "-o", "x.npy"), "has no clip to bake"),
    "no such clip": (
        ("pick", "puppet.pmx", "--motion", "dance.vmd", "--clip", "x", "--pixel", "1,1"),
        "no clip 'x'; there are: 0 'dance'",
    ),
    "no such number": (
        ("bake", "thrice.glb", "--clip", "3", "-o", "x.npy"),
        "no clip '3'; there are: 0 'same', 1 'same', 2 ''",
    ),
    "a pose for a film": (
        ("render", "puppet.pmx", "--motion", "pose.vpd", "-o", "x.gif"),
        "film: nothing moves, 'pose' is a single moment; a .png shows it, or turn the figure",
    ),
    "a camera for a film": (
        ("render", "puppet.pmx", "--motion", "camera.vmd", "-o", "x.gif"),
        "film: nothing moves, 'camera' has no tracks",
    ),
    "a VMD with other frames": (
        ("bake", "puppet.pmx", "--motion", "dance.vmd", "-o", "x.vmd", "--fps", "60"),
        "x.vmd: a VMD has 30 frames a second, not 60; leave out --fps",
    ),
}


@pytest.mark.parametrize(("arguments", "message"), ERRORS.values(), ids=ERRORS.keys())
def test_errors_are_one_line_and_exit_1(
    folder: Path, arguments: tuple[str, ...], message: str
) -> None:
    paths = [str(folder / word) if "." in word else word for word in arguments]
    done = run(*paths, check=1)
    assert message in done.stderr
    assert done.stderr.startswith("bunraku: ")
    assert done.stderr.count("\n") == 1


def test_info_shows_a_motion_without_a_character(folder: Path) -> None:
    shown = run("info", folder / "dance.vmd").stdout
    assert "no character" in shown
    assert "dance" in shown
    report = json.loads(run("info", folder / "dance.vmd", "--json").stdout)
    (clip,) = report["clips"]
    assert clip["name"] == "dance"
    assert clip["keys"] > clip["tracks"] > 10
    assert report["notes"] == []


def test_info_shows_a_motion_without_tracks(folder: Path) -> None:
    assert "0 … 0" in run("info", folder / "camera.vmd").stdout


def test_info_says_what_stays_in_the_document(tmp_path: Path) -> None:
    import numpy as np

    from bunraku.formats.mmd.vmd import CAMERA_KEY

    file = VmdFile(cameras=np.zeros(2, CAMERA_KEY), properties=(PropertyKey(0, 1),))
    write_vmd(file, tmp_path / "a.vmd")
    assert "2 camera keys are kept in the document" in run("info", tmp_path / "a.vmd").stdout


def test_a_motion_is_played_on_a_model(folder: Path, tmp_path: Path) -> None:
    model, motion = folder / "puppet.pmx", folder / "dance.vmd"
    rest = run("pick", model, "--pixel", "320,240", "--json").stdout
    posed = run("pick", model, "--motion", motion, "--time", 1, "--pixel", "320,240", "--json")
    assert json.loads(rest)["hit"] is json.loads(posed.stdout)["hit"] is True
    assert json.loads(rest) != json.loads(posed.stdout) | {"time": 0.0}
    out = tmp_path / "a.png"
    done = run("render", model, "--motion", motion, "--time", 1, "--size", "64x48", "-o", out)
    assert "dance" in done.stdout
    assert out.stat().st_size > 0
    run("bake", model, "--motion", motion, "-o", tmp_path / "a.glb")
    assert bunraku.load(tmp_path / "a.glb").clips[0].name == "dance"


@pytest.mark.parametrize(
    ("chosen", "end"), [((), 1), (("same",), 1), (("0",), 1), (("1",), 2), (("2",), 3), (("",), 3)]
)
@pytest.mark.parametrize("motion", [False, True])
def test_clips_are_chosen_by_name_or_by_number(
    folder: Path, tmp_path: Path, motion: bool, chosen: tuple[str, ...], end: int
) -> None:
    file = folder / "thrice.glb"
    source = (folder / "puppet.pmx", "--motion", file) if motion else (file,)
    flag = ("--clip", *chosen) if chosen else ()
    done = run("bake", *source, *flag, "--fps", 1, "-o", tmp_path / "a.npy", "--json")
    assert json.loads(done.stdout)["frames"] == end + 1


def test_a_name_comes_before_a_number(tmp_path: Path) -> None:
    clips = tuple(replace(clip, name=name) for clip, name in zip(THRICE, "210", strict=True))
    bunraku.save(replace(bunraku.make_puppet(0.5), clips=clips), tmp_path / "a.glb")
    done = run("bake", tmp_path / "a.glb", "--clip", 0, "--fps", 1, "-o", tmp_path / "a.npy")
    assert "a.npy: 4 frames of 0 " in done.stdout


@pytest.mark.parametrize(("fps", "frames"), [(30, 31), (15, 16), (7.5, 8)])
def test_a_vmd_takes_frames_that_it_has(
    folder: Path, tmp_path: Path, fps: float, frames: int
) -> None:
    arguments = ("bake", folder / "thrice.glb", "--fps", fps, "-o", tmp_path / "a.vmd", "--json")
    assert json.loads(run(*arguments).stdout)["frames"] == frames
