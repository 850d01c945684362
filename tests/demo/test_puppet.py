"""The puppet's surface, weights and paint."""

from __future__ import annotations

import io
from collections import Counter

import numpy as np
import pytest
from PIL import Image

from bunraku.demo import atlas, make_puppet, weights
from bunraku.demo.figure import JOINTS, MESHES, mirrored
from bunraku.demo.puppet import figure_shells, limb_shells, vertex_normals
from bunraku.demo.report import signed_volume
from bunraku.demo.shells import Shell
from bunraku.errors import RigError
from bunraku.model import Character, differences
from bunraku.stage import Stage

SHELLS = figure_shells() + limb_shells()
# Worn on one side, or left over right.
ONE_SIDED = ("Collar", "petal", "heart")


@pytest.fixture(scope="module")
def puppet() -> Character:
    return make_puppet()


@pytest.mark.parametrize("detail", [0.0, 0.49, 8.1, -1.0, float("nan"), float("inf")])
def test_refuses_details_it_cannot_make(detail: float) -> None:
    with pytest.raises(RigError, match="expected a detail of"):
        make_puppet(detail)


@pytest.mark.parametrize("shell", SHELLS, ids=lambda shell: shell.name)
def test_shells_are_closed_and_face_outward(shell: Shell) -> None:
    edges = Counter(
        (int(face[i]), int(face[(i + 1) % 3])) for face in shell.faces for i in range(3)
    )
    assert set(edges.values()) == {1}
    assert all((b, a) in edges for a, b in edges)
    assert signed_volume([shell.positions], shell.faces)[0] > 0
    assert set(np.unique(shell.faces)) == set(range(len(shell.positions)))
    # A sphere's topology: V − E + F = 2.
    assert len(shell.positions) - len(edges) // 2 + len(shell.faces) == 2


@pytest.mark.parametrize("shell", SHELLS, ids=lambda shell: shell.name)
def test_normals_agree_with_faces(shell: Shell) -> None:
    corners = shell.positions[shell.faces]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert np.linalg.norm(across, axis=1).min() > 0
    mean = vertex_normals(shell.positions, shell.faces)[shell.faces].mean(axis=1)
    assert ((across * mean).sum(axis=1) > 0).all()


@pytest.mark.parametrize("shell", SHELLS, ids=lambda shell: shell.name)
def test_left_mirrors_right_to_the_last_bit(shell: Shell) -> None:
    if shell.name.startswith(("left", "right")):
        twin = next(other for other in SHELLS if other.name == mirrored(shell.name))
        if "Collar" in shell.name:  # the left one lies over the right one
            assert np.abs(twin.positions * [-1, 1, 1] - shell.positions).max() < 0.006
            return
        np.testing.assert_array_equal(twin.positions * [-1, 1, 1], shell.positions)
        np.testing.assert_array_equal(twin.weights, shell.mirror("").weights)
    elif not shell.name.startswith(ONE_SIDED):
        reflection = shell.mirror("")
        found = {tuple(p): i for i, p in enumerate(np.round(shell.positions, 12) + 0.0)}
        other = [found[tuple(p)] for p in np.round(reflection.positions, 12) + 0.0]
        np.testing.assert_allclose(reflection.weights, shell.weights[other], atol=1e-12)


def test_stands_on_the_floor_facing_forward(puppet: Character) -> None:
    points = Stage(puppet).deform(0.0).positions[0]
    low, high = points.min(axis=0), points.max(axis=0)
    assert low[1] == pytest.approx(0, abs=1e-6)
    assert 1.55 < high[1] < 1.66
    assert -low[0] == high[0]
    feet = next(shell for shell in SHELLS if shell.name == "leftTabi").positions
    assert feet[:, 2].max() > -feet[:, 2].min() + 0.05
    assert feet[:, 0].min() > 0


def test_rest_pose_shows_the_mesh_as_made(puppet: Character) -> None:
    made = np.concatenate([mesh.geometries[0].positions for mesh in puppet.meshes])
    with_normals = Stage(puppet).deform(0.0, normals=True).positions[0]
    np.testing.assert_array_equal(with_normals, made)
    alone = Stage(puppet).deform(0.0).positions[0]  # summed in another way
    np.testing.assert_allclose(alone, made, rtol=0, atol=3e-7)


def test_weights_sum_to_one_exactly(puppet: Character) -> None:
    for mesh in puppet.meshes:
        values = mesh.geometries[0].weights
        assert values is not None
        assert values.shape[1] <= 4
        assert (values.sum(axis=1) == 1).all()
        assert (values[:, ::-1].cumsum(axis=1, dtype=np.float32)[:, -1] == 1).all()


def test_influences_keep_the_heaviest_and_stay_within_rounding() -> None:
    rows = np.random.default_rng(3).dirichlet(np.full(len(JOINTS), 0.05), 500)
    slots, values = weights.influences(rows)
    kept = np.sort(rows, axis=1)[:, -4:]
    expected = np.sort(kept / kept.sum(axis=1, keepdims=True), axis=1)
    np.testing.assert_allclose(np.sort(values, axis=1), expected, atol=3 / 65536)
    np.testing.assert_array_equal(slots[:, 0], rows.argmax(axis=1))


def test_no_step_between_neighbours_is_abrupt() -> None:
    wooden = ("Index", "Middle", "Ring", "Little", "Thumb")
    for shell in SHELLS:
        if shell.name.endswith(wooden):
            continue
        a, b = shell.faces[:, 0], shell.faces[:, 1]
        step = np.abs(shell.weights[a] - shell.weights[b]).max(axis=1)
        assert step.max() < 0.77, shell.name


def test_every_joint_but_the_root_holds_something(puppet: Character) -> None:
    used = {
        JOINTS[slot]
        for mesh in puppet.meshes
        for slot in np.unique(mesh.geometries[0].joints[mesh.geometries[0].weights > 0])
    }
    assert used == set(JOINTS) - {"root"}


def test_size_and_names(puppet: Character) -> None:
    assert tuple(mesh.name for mesh in puppet.meshes) == MESHES
    assert 4000 < sum(mesh.vertex_count for mesh in puppet.meshes) < 6500
    assert puppet.meshes[0].morph_names == ("blink", "smile")
    more = make_puppet(2.0)
    assert sum(m.vertex_count for m in more.meshes) > 15000


def test_same_bits_at_every_call(puppet: Character) -> None:
    assert differences(puppet, make_puppet()) == []


def test_blink_and_smile_move_eyes_and_lips_alone() -> None:
    starts = np.cumsum([0] + [len(shell.positions) for shell in figure_shells()])
    names = [shell.name for shell in figure_shells()]
    geometry = make_puppet().meshes[0].geometries[0]
    for morph, moved in zip(geometry.morphs, ({"leftEye", "rightEye"}, {"lips"}), strict=True):
        owners = np.searchsorted(starts, morph.indices, side="right") - 1
        assert {names[i] for i in owners} == moved
    eyes = geometry.positions[geometry.morphs[0].indices]
    shut = eyes + geometry.morphs[0].positions
    left = eyes[:, 0] > 0
    assert np.ptp(shut[left, 1]) < 0.45 * np.ptp(eyes[left, 1])


def test_texture_is_small_and_covers_the_coordinates(puppet: Character) -> None:
    assert len(puppet.images[0].data) < 150_000
    picture = Image.open(io.BytesIO(puppet.images[0].data))
    assert picture.size == (1024, 1024)
    assert picture.mode == "RGB"
    for mesh in puppet.meshes:
        uvs = mesh.geometries[0].uvs[0]
        assert uvs.min() >= 0
        assert uvs.max() <= 1


def test_wave_tile_repeats_without_a_seam() -> None:
    tile = np.asarray(atlas.waves(32)).astype(int)
    assert tile.shape == (32, 64, 3)
    np.testing.assert_array_equal(tile[:, ::-1], tile)
    # The lower half is the upper one, shifted by a radius.
    np.testing.assert_array_equal(np.roll(tile, 32, axis=1)[:16], tile[16:])
