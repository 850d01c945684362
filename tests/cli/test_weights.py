"""`bunraku weights`: the numbers by a slow count, the output as a user meets it."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

import bunraku
from bunraku.cli.weights import Order, chosen_meshes, held_vertices, joint_weights, ordered
from bunraku.errors import RigError
from bunraku.model import Attachment, Character, Geometry, Mesh, Part, Skeleton, Skin
from tests.cli.test_cli import run
from tests.formats.sketch import Sketch


def figure() -> Character:
    """Two skinned meshes and a plain one; a repeated joint, a tie, a vertex nobody holds."""
    first = Geometry(
        np.zeros((4, 3)),
        joints=[[0, 1, 1], [1, 0, 0], [0, 1, 0], [2, 2, 2]],
        weights=[[0.4, 0.3, 0.3], [1, 0, 0], [0.5, 0.5, 0], [0, 0, 0]],
    )
    second = Geometry(np.zeros((1, 3)), joints=[[0]], weights=[[1]])
    plain = Geometry(np.zeros((7, 3)))
    faces = (Part(0, np.zeros((0, 3), np.int32)),)
    return Character(
        Skeleton(("hips", "spine", "idle", "a", "b", "c"), [-1, 0, 1, -1, -1, -1]),
        tuple(
            Mesh(name, (g,), faces) for name, g in zip("xyz", (first, second, plain), strict=True)
        ),
        (Skin([1, 0, 2]), Skin([0])),
        (Attachment(3, 0, 0), Attachment(4, 1, 1), Attachment(5, 2)),
    )


def counted(character: Character) -> dict[int, tuple[int, int, float]]:
    """The same by hand: vertices, mostly, mass of every node."""
    found: dict[int, list[float]] = defaultdict(lambda: [0, 0, 0.0])
    for attachment in character.attachments:
        if attachment.skin is None:
            continue
        nodes = character.skins[attachment.skin].joints
        for node in nodes:
            found[int(node)][0] += 0
        for geometry in character.meshes[attachment.mesh].geometries:
            if geometry.weights is None:
                continue
            for slots, row in zip(geometry.joints, geometry.weights, strict=True):
                held: dict[int, float] = defaultdict(float)
                for slot, weight in zip(slots, row, strict=True):
                    if weight > 0:
                        held[int(nodes[slot])] += float(weight)
                for node, weight in held.items():
                    found[node][0] += 1
                    found[node][2] += weight
                if held:
                    found[min(held, key=lambda n: (-held[n], n))][1] += 1
    return {node: (int(v), int(m), mass) for node, (v, m, mass) in found.items()}


def test_an_example_by_hand():
    table = {each.name: each for each in joint_weights(figure(), {0, 1})}
    assert {n: (each.vertices, each.mostly) for n, each in table.items()} == {
        "hips": (4, 4),  # of the tie, the first node has it
        "spine": (2, 0),
        "idle": (0, 0),
    }
    assert [each.mass for each in table.values()] == pytest.approx([3.1, 0.9, 0])
    assert sum(each.share for each in table.values()) == pytest.approx(1)
    assert held_vertices(figure(), {0, 1}) == (4, 1)


@pytest.mark.parametrize("make", [figure, bunraku.make_puppet])
def test_against_a_slow_count(make):
    character = make()
    found = joint_weights(character, chosen_meshes(character, None))
    expected = counted(character)
    assert {each.index: (each.vertices, each.mostly) for each in found} == {
        node: (vertices, mostly) for node, (vertices, mostly, _) in expected.items()
    }
    for each in found:
        assert each.mass == pytest.approx(expected[each.index][2])


def test_orders():
    table = joint_weights(figure(), {0, 1})
    names = {
        order: [e.name for e in ordered(table, Order(order))] for order in ("mass", "name", "index")
    }
    assert names == {
        "mass": ["hips", "spine", "idle"],
        "name": ["hips", "idle", "spine"],
        "index": ["hips", "spine", "idle"],
    }


def test_meshes_by_name_or_index():
    assert chosen_meshes(figure(), None) == {0, 1}
    assert chosen_meshes(figure(), "y") == chosen_meshes(figure(), "1") == {1}
    assert chosen_meshes(figure(), "z") == set()  # shown, but without a skin
    with pytest.raises(RigError, match="no mesh 'w'; there are: 0 'x', 1 'y', 2 'z'"):
        chosen_meshes(figure(), "w")


@pytest.fixture(scope="module")
def puppet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cli") / "puppet.glb"
    bunraku.save(bunraku.make_puppet(), path)
    return path


def test_the_table_shows_every_joint(puppet: Path) -> None:
    shown = run("weights", puppet, "--sort", "index").stdout
    character = bunraku.load(puppet)
    for node in character.skins[0].joints:
        assert character.skeleton.names[node] in shown


def test_json_is_whole(puppet: Path) -> None:
    data = json.loads(run("weights", puppet, "--json", "--sort", "vertices").stdout)
    counts = [joint["vertices"] for joint in data["joints"]]
    assert counts == sorted(counts, reverse=True)
    assert sum(joint["mass"] for joint in data["joints"]) == pytest.approx(data["vertices"])
    assert (data["name"], data["unheld"], data["notes"]) == ("puppet", 0, [])


def test_what_was_repaired_of_the_weights_is_said(tmp_path: Path) -> None:
    sketch = Sketch()
    places = np.arange(9, dtype="f4").reshape(3, 3)
    weights = np.array([[0.5, 0.6, 0, 0], [0, 0, 0, 0], [1, 0, 0, 0]], "f4")
    attributes = {
        "POSITION": sketch.add(places),
        "JOINTS_0": sketch.add(np.zeros((3, 4)), "u1"),
        "WEIGHTS_0": sketch.add(weights),
    }
    sketch.tree |= {
        "meshes": [{"primitives": [{"attributes": attributes, "mode": 4}]}],
        "nodes": [{"mesh": 0, "skin": 0}, {"name": "joint"}],
        "skins": [{"joints": [1]}],
        "scenes": [{"nodes": [0, 1]}],
        "scene": 0,
    }
    path = tmp_path / "loose.glb"
    path.write_bytes(sketch.glb())
    data = json.loads(run("weights", path, "--json").stdout)
    codes = {note["code"] for note in data["notes"]}
    assert codes == {"weights-renormalised", "weights-zero-sum"}
    shown = run("weights", path).stdout
    assert "held by none" in shown
    assert all(code in shown for code in codes)
    every = json.loads(run("info", path, "--json").stdout)["notes"]
    assert [note for note in every if note["code"] in codes] == data["notes"]


def test_a_mesh_that_is_not_there(puppet: Path) -> None:
    assert "no mesh 'hat'; there are: " in run("weights", puppet, "--mesh", "hat", check=1).stderr


FILES = ["V-Sekai__godot-vrm__Godette_vrm_v4.vrm"]
FILES += ["yohawing__unity-mmd-loader__mixed-deform-types.pmx"]


@pytest.mark.parametrize("name", FILES)
def test_real_files(corpus: Path, name: str) -> None:
    data = json.loads(run("weights", corpus / "vrm_mmd" / name, "--json").stdout)
    total = sum(joint["mass"] for joint in data["joints"])
    assert total == pytest.approx(data["vertices"] - data["unheld"], rel=1e-5)
    assert sum(joint["mostly"] for joint in data["joints"]) == data["vertices"] - data["unheld"]
    assert data["vertices"] > 0
