"""`bunraku render` as a user meets it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import bunraku
from bunraku.formats.mmd import PropertyKey, VmdFile, write_vmd
from bunraku.model.humanoid_names import MOCAP_NAMES, humanoid_by_names
from bunraku.render import Renderer, render
from bunraku.render.bones import as_bones
from tests.cli.test_cli import run


@pytest.fixture(scope="module")
def puppet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cli-render") / "puppet.glb"
    bunraku.save(bunraku.make_puppet(0.5), path)
    return path


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere.glb", "-o", "a.png"), "nowhere.glb: No such file or directory"),
        (("{puppet}", "-o", "a.jpg"), "a.jpg: expected a name ending in .png, .gif or .apng"),
        (("{puppet}", "-o", "a.png", "--clip", "polka"), "no clip 'polka'; there are: "),
        (("{puppet}", "-o", "a.png", "--fps", "5"), "--fps and --turntable are for"),
        (("{puppet}", "-o", "a.png", "--turntable"), "--fps and --turntable are for"),
        (("{puppet}", "-o", "a.gif", "--fps", "-1"), "fps: expected a positive number"),
        (("{puppet}", "-o", "a.gif", "--transparent"), "needs a background"),
        (("{puppet}", "-o", "a.gif", "--time", "1"), "nothing moves"),
        (("{puppet}", "-o", "a.png", "--size", "99999x99999"), "size: expected 1"),
        (("{puppet}", "-o", "nowhere/a.png", "--size", "4x4"), "nowhere: No such"),
        (("{puppet}", "-o", "nowhere/a.gif"), "nowhere: No such"),
    ],
)
def test_errors_are_one_line_and_exit_1(
    puppet: Path, arguments: tuple[str, ...], message: str
) -> None:
    done = run("render", *(a.format(puppet=puppet) for a in arguments), check=1)
    assert done.stdout == ""
    assert done.stderr.startswith("bunraku: ")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("{puppet}",),
        ("{puppet}", "-o", "a.png", "--view", "below"),
        ("{puppet}", "-o", "a.png", "--size", "640"),
        ("{puppet}", "-o", "a.png", "--size", "0x5"),
        ("{puppet}", "-o", "a.png", "--method", "magic"),
    ],
)
def test_usage_errors_exit_2(puppet: Path, arguments: tuple[str, ...]) -> None:
    assert "Usage" in run("render", *(a.format(puppet=puppet) for a in arguments), check=2).stderr


def test_a_picture_is_that_of_the_library(puppet: Path, tmp_path: Path) -> None:
    out = tmp_path / "a.png"
    options = ("--time", 2.4, "--method", "dqs", "--view", "side", "--size", "48x64")
    done = run("render", puppet, "-o", out, *options)
    assert done.stderr == ""
    assert done.stdout == f"{out}: bow and offer, 2.4 s, 48x64, dqs\n"
    stage = bunraku.Stage(bunraku.load(puppet), 0)
    expected = render(stage, 2.4, method="dqs", view="side", size=(48, 64))
    with Image.open(out) as picture:
        np.testing.assert_array_equal(np.asarray(picture), expected)


def test_a_film_says_how_long_it_is(puppet: Path, tmp_path: Path) -> None:
    out = tmp_path / "a.gif"
    done = run("render", puppet, "-o", out, "--fps", 2, "--size", "24x32")
    assert done.stderr == ""  # no progress where there is no terminal
    assert done.stdout == f"{out}: bow and offer, 8 frames, 4 s, 24x32, lbs\n"
    with Image.open(out) as film:
        assert film.n_frames == 8  # type: ignore[attr-defined]


def test_a_figure_at_rest_stands_on_a_turntable(puppet: Path, tmp_path: Path) -> None:
    still, out = tmp_path / "still.glb", tmp_path / "a.apng"
    bunraku.save(replace(bunraku.load(puppet), clips=(), document=None), still)
    assert "nothing moves" in run("render", still, "-o", out, check=1).stderr
    done = run(
        "render", still, "-o", out, "--turntable", "--transparent", "--fps", 2, "--size", "24x32"
    )
    assert done.stdout == f"{out}: at rest, 8 frames, 4 s, 24x32, lbs\n"
    with Image.open(out) as film:
        assert (film.mode, film.n_frames) == ("RGBA", 8)  # type: ignore[attr-defined]


def test_bones_instead_of_skin_and_where_there_is_none(puppet: Path, tmp_path: Path) -> None:
    skin, bones, bare = (tmp_path / name for name in ("skin.png", "bones.png", "bare.png"))
    arguments = ("--time", "1", "--size", "24x32")
    run("render", str(puppet), "-o", str(skin), *arguments)
    said = run("render", str(puppet), "-o", str(bones), "--bones", *arguments).stdout
    assert said == f"{bones}: bones, {bunraku.make_puppet(0.5).clips[0].name}, 1 s, 24x32, lbs\n"
    mocap = tmp_path / "puppet.bvh"
    run("bake", str(puppet), "-o", str(mocap))
    assert "bones, " in run("render", str(mocap), "-o", str(bare), *arguments).stdout
    pictures = [np.asarray(Image.open(path)).astype(int) for path in (skin, bones, bare)]
    assert np.abs(pictures[1] - pictures[0]).mean() > 10
    # A BVH knows its hips, by their name, and does not show what leads to them.
    whole = bunraku.load(puppet)
    figure = replace(whole, humanoid=humanoid_by_names(whole.skeleton.names, MOCAP_NAMES))
    shown = Renderer(bunraku.Stage(as_bones(figure), 0), size=(24, 32)).picture(1.0)
    assert np.abs(pictures[2] - shown).mean() < 1


def test_a_motion_that_hides_the_character_says_so(tmp_path: Path) -> None:
    bunraku.save(bunraku.make_puppet(0.5), tmp_path / "puppet.pmx")
    write_vmd(VmdFile(properties=(PropertyKey(0, 1), PropertyKey(30, 0))), tmp_path / "gone.vmd")
    files = (tmp_path / "puppet.pmx", "--motion", tmp_path / "gone.vmd", "-o", tmp_path / "a.png")
    shown = run("render", *files, "--size", "8x8", "--transparent", "--time", "0.5")
    assert "hides" not in shown.stderr
    assert np.asarray(Image.open(tmp_path / "a.png")).any()
    hidden = run("render", *files, "--size", "8x8", "--transparent", "--time", "1")
    assert "character-hidden" in hidden.stderr
    assert "the motion hides the character at 1 s" in hidden.stderr
    assert not np.asarray(Image.open(tmp_path / "a.png")).any()
