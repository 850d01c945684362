"""Commands that play the motion of one file on the character of another."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import bunraku
from bunraku.formats.mmd import PropertyKey, VmdFile, write_vmd
from tests.cli.test_cli import run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The puppet as a PMX, and its motion as a VMD."""
    folder = tmp_path_factory.mktemp("motions")
    puppet = bunraku.make_puppet()
    bunraku.save(puppet, folder / "puppet.pmx")
    bunraku.bake(bunraku.Stage(puppet, 0), folder / "dance.vmd")
    write_vmd(VmdFile(), folder / "camera.vmd")
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
        "no clip 'x'",
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
