"""`bunraku pick` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import bunraku
from bunraku.model import Material
from bunraku.query import Bvh
from tests.cli.test_cli import run
from tests.render.flats import RED, png, quad, stage_of


@pytest.fixture(scope="module")
def puppet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cli-pick") / "puppet.glb"
    bunraku.save(bunraku.make_puppet(0.5), path)
    return path


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere.glb", "--pixel", "1,1"), "nowhere.glb: No such file or directory"),
        (("{puppet}", "--pixel", "1,1", "--clip", "polka"), "no clip 'polka'; there are: "),
        (("{puppet}", "--pixel", "640,0"), "pixel: 640,0 is outside the picture of 640x480"),
        (("{puppet}", "--pixel", "1,1", "--time", "nan"), "finite"),
    ],
)
def test_errors_are_one_line_and_exit_1(
    puppet: Path, arguments: tuple[str, ...], message: str
) -> None:
    done = run("pick", *(a.format(puppet=puppet) for a in arguments), check=1)
    assert done.stdout == ""
    assert done.stderr.startswith("bunraku: ")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--pixel", "1,1", "--ray", "0,0,0 0,0,1"),
        ("--pixel", "1"),
        ("--ray", "0,0,0,0,0,1"),
        ("--ray", "0,0,0 0,0,nan"),
        ("--pixel", "1,1", "--size", "640"),
    ],
)
def test_usage_errors_exit_2(puppet: Path, arguments: tuple[str, ...]) -> None:
    assert "Usage" in run("pick", str(puppet), *arguments, check=2).stderr


@pytest.mark.parametrize("method", ["lbs", "dqs"])
def test_a_ray_says_what_it_meets(puppet: Path, method: str) -> None:
    ray = ("--ray", "0.02,1,5 0,0,-1", "--time", "1", "--method", method)
    report = json.loads(run("pick", str(puppet), *ray, "--json").stdout)
    stage = bunraku.Stage(bunraku.load(puppet), 0)
    bent = stage.deform(1.0, method=method).positions[0]
    t = float(Bvh(bent, stage.triangles).closest_hit([0.02, 1, 5], [0, 0, -1]).t)
    assert report["distance"] == t
    np.testing.assert_allclose(report["point"], [0.02, 1, 5 - t])
    assert sum(report["barycentrics"]) == pytest.approx(1)
    assert sum(joint["weight"] for joint in report["joints"]) == pytest.approx(1, abs=1e-4)
    told = run("pick", str(puppet), *ray).stdout
    assert f"{report['joints'][0]['name']} {report['joints'][0]['weight']:.3f}" in told
    assert f"triangle      {report['triangle']} of part {report['part']}" in told


def test_a_ray_into_the_void(puppet: Path) -> None:
    ray = ("--ray", "0,1,5 0,0,1")
    assert run("pick", str(puppet), *ray).stdout == "nothing there\n"
    assert json.loads(run("pick", str(puppet), *ray, "--json").stdout)["hit"] is False


def test_a_pixel_is_that_of_the_picture(puppet: Path) -> None:
    """The point that is picked projects back into the pixel, in the picture `render` makes."""
    view = ("--size", "320x240", "--view", "side", "--time", "0.5")
    found = json.loads(run("pick", str(puppet), "--pixel", "160,110", *view, "--json").stdout)
    from bunraku.render.renderer import Renderer

    renderer = Renderer(bunraku.Stage(bunraku.load(puppet), 0), view="side", size=(320, 240))
    x, y, _ = renderer.camera(0.5).project(found["point"], (320, 240))
    assert (x, y) == pytest.approx((160.5, 110.5), abs=0.01)


def test_what_a_texture_cuts_out_is_looked_through(tmp_path: Path) -> None:
    clear = png(np.zeros((2, 2, 4)))
    lace = Material("lace", image=0, alpha_mode="mask")
    stage = stage_of((quad(), lace), (quad((0, 0, -1)), RED), images=(clear,))
    path = tmp_path / "lace.glb"
    bunraku.save(stage.character, path)
    ray = ("--ray", "0.25,0.25,5 0,0,-1")
    assert json.loads(run("pick", str(path), *ray, "--json").stdout)["material"] == "red"
