"""The command line as a user meets it: output, exit codes, one-line errors."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import bunraku
from tests.formats.vrm.figures import HAIR, NODES, figure_1


def run(*arguments: object, check: int | None = 0) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from bunraku.cli import main; main()"]
    done = subprocess.run(
        [*command, *map(str, arguments)], capture_output=True, text=True, timeout=120, check=False
    )
    if check is not None:
        assert done.returncode == check, done.stderr
    return done


@pytest.fixture(scope="module")
def puppet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cli") / "puppet.glb"
    bunraku.save(bunraku.make_puppet(), path)
    return path


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("info", "nowhere.glb"), "nowhere.glb: No such file or directory"),
        (("info", "{text}"), "text.glb: "),
        (("bake", "{puppet}", "-o", "out.fbx"), "out.fbx: expected a name ending in"),
        (("bake", "{puppet}", "-o", "out.npy", "--clip", "polka"), "no clip 'polka'; there are: "),
        (("bake", "{puppet}", "-o", "out.npy", "--fps", "0"), "fps: expected a positive number"),
        (("bake", "{puppet}", "-o", "nowhere/out.npy"), "bunraku: nowhere: No such"),
    ],
)
def test_errors_are_one_line_and_exit_1(
    puppet: Path, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    text = tmp_path / "text.glb"
    text.write_text("hello")
    done = run(*(a.format(puppet=puppet, text=text) for a in arguments), check=1)
    assert done.stdout == ""
    assert done.stderr.startswith("bunraku: ")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "arguments", [("dance",), ("bake",), ("bake", "a.glb", "-o", "b", "--method", "x")]
)
def test_usage_errors_exit_2(arguments: tuple[str, ...]) -> None:
    assert "Usage" in run(*arguments, check=2).stderr


def test_help_and_version() -> None:
    assert all(name in run("--help").stdout for name in ("info", "bake", "demo"))
    assert run("--version").stdout == f"bunraku {bunraku.__version__}\n"


def test_info_shows_what_is_there(puppet: Path) -> None:
    shown = run("info", puppet).stdout
    character = bunraku.load(puppet)
    for name in (*character.skeleton.names, *(clip.name for clip in character.clips)):
        assert name in shown


def test_info_names_what_has_no_name_and_says_how_it_is_packed(tmp_path: Path) -> None:
    path = tmp_path / "nameless.gltf"
    tree = {
        "asset": {"version": "2.0"},
        "extensionsUsed": ["KHR_materials_unlit"],
        "nodes": [{}, {}],
        "scenes": [{"nodes": [0], "name": "day"}, {"nodes": [1]}],
        "scene": 1,
    }
    path.write_text(json.dumps(tree))
    shown = run("info", path).stdout
    assert "scenes: day, 1 (shown)" in shown
    assert "extensions: KHR_materials_unlit" in shown
    assert json.loads(run("info", path, "--json").stdout)["extensions"] == ["KHR_materials_unlit"]


def test_info_shows_the_number_of_every_clip(puppet: Path, tmp_path: Path) -> None:
    from dataclasses import replace

    character = bunraku.load(puppet)
    clip = replace(character.clips[0], name="")
    path = tmp_path / "twins.glb"
    bunraku.save(replace(character, clips=(clip, clip, clip)), path)
    rows = [line.split("│") for line in run("info", path).stdout.splitlines() if " … " in line]
    assert [row[1].strip() for row in rows[-3:]] == ["0", "1", "2"]


def test_info_json_is_whole(puppet: Path) -> None:
    data = json.loads(run("info", "--json", puppet).stdout)
    character = bunraku.load(puppet)
    assert [node["name"] for node in data["nodes"]] == list(character.skeleton.names)
    vertices = sum(mesh.vertex_count for mesh in character.meshes)
    assert sum(mesh["vertices"] for mesh in data["meshes"]) == vertices
    influences = [sum(mesh["influences"].values()) for mesh in data["meshes"]]
    assert sum(influences) == vertices
    assert data["clips"][0]["end"] == character.clips[0].end
    assert data["notes"] == []


def test_a_deep_chain_of_nodes_is_shown(tmp_path: Path) -> None:
    count = 3000  # deeper than Python recurses
    nodes = [{"children": [i + 1]} for i in range(count - 1)] + [{"name": "fingertip"}]
    path = tmp_path / "deep.gltf"
    path.write_text(json.dumps({"asset": {"version": "2.0"}, "nodes": nodes}))
    assert "fingertip" in json.dumps(json.loads(run("info", "--json", path).stdout))
    assert "fingertip" in run("info", path).stdout


def test_bake_json_tells_a_program(puppet: Path, tmp_path: Path) -> None:
    out = tmp_path / "puppet.npy"
    done = run("bake", puppet, "-o", out, "--method", "dqs", "--fps", 5, "--json")
    report = json.loads(done.stdout)
    shape = np.load(out).shape
    assert report["files"] == [str(out)]
    assert (report["frames"], report["vertices"], 3) == shape
    assert (report["method"], report["fps"]) == ("dqs", 5)
    assert report["working_set_bytes"] > 0


def test_bake_takes_the_motion_of_another_file(puppet: Path, tmp_path: Path) -> None:
    still = tmp_path / "still.glb"
    character = bunraku.load(puppet)
    from dataclasses import replace

    bunraku.save(replace(character, clips=(), document=None), still)
    out = tmp_path / "moved.npy"
    assert "has no clip to bake" in run("bake", still, "-o", out, check=1).stderr
    done = run("bake", still, "--motion", puppet, "-o", out, "--fps", 3)
    assert done.stderr == ""
    stage = bunraku.Stage(character, 0)
    expected = stage.deform(stage.frame_times(3)).positions
    np.testing.assert_allclose(np.load(out), expected, atol=1e-6)


def test_demo_writes_its_files_and_says_where(tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    shown = run("demo", folder).stdout
    written = sorted(path.name for path in folder.iterdir())
    assert sum(name.endswith(".glb") for name in written) >= 2
    assert any(name.startswith("report") for name in written)
    assert all(str(folder / name) in shown for name in written)
    for path in folder.glob("*.glb"):
        assert bunraku.load(path).clips


def test_info_shows_the_figure(tmp_path: Path) -> None:
    path = tmp_path / "figure.vrm"
    head, hand = NODES["head"], NODES["leftHand"]
    faces = {"preset": {"aa": {"isBinary": True, "overrideBlink": "block"}}, "custom": {"grin": {}}}
    springs = {"springs": [{"name": "hair", "joints": [{"node": HAIR}, {"node": HAIR + 1}]}]}
    sketch = figure_1(springs=springs, expressions=faces, lookAt={"type": "bone"})
    roll = {"roll": {"source": head, "rollAxis": "X", "weight": 0.5}}
    extension = {"specVersion": "1.0", "constraint": roll}
    sketch.tree["nodes"][hand]["extensions"] = {"VRMC_node_constraint": extension}
    path.write_bytes(sketch.glb())
    shown = run("info", path).stdout
    for line in (
        "humanoid: 19 bones, facing +Z",
        "gaze: by bone",
        "constraint: leftHand follows head by roll, weight 0.5",
        "blink: block",
        "licence-redistribution",
        "licence-modification",
        "licence-usage",
    ):
        assert line in shown
    data = json.loads(run("info", "--json", path).stdout)
    assert data["humanoid"]["head"] == head
    assert [(each["name"], each["preset"]) for each in data["expressions"]] == [
        ("aa", "aa"),
        ("grin", None),
    ]
    assert data["expressions"][0]["overrides"] == {"blink": "block"}
    assert data["springs"] == [{"name": "hair", "joints": [HAIR], "colliders": 0, "center": None}]
    assert data["constraints"] == [{"kind": "roll", "node": hand, "source": head, "weight": 0.5}]


def test_info_says_nothing_of_what_is_not_there(puppet: Path) -> None:
    shown = run("info", puppet).stdout
    assert not any(word in shown for word in ("humanoid", "gaze", "spring", "constraint"))
