"""Over the whole corpus: the rest pose is what the specification says, and in the bind pose
every skin gives back the file's own vertices."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bunraku import BunrakuError, Character, Stage, load
from bunraku.formats.gltf import read_gltf
from bunraku.posing import palette
from bunraku.skinning import deform
from tests.conftest import shared_folder
from tests.reference.gltf import rest_positions, world_matrices

CORPUS = shared_folder("corpus")
SUFFIXES = {".gltf", ".glb", ".vrm", ".vrma"}
FILES = (
    sorted(path for path in CORPUS.rglob("*") if path.suffix.lower() in SUFFIXES)
    if CORPUS is not None
    else []
)
# A matrix that is no translation · rotation · scale is read with a note; the rest pose is then
# the nearest one, not the file's.
SHEARED = "matrix-not-trs"


def character(path: Path) -> Character:
    try:
        return load(path)
    except BunrakuError as error:
        pytest.skip(f"refused: {error}")


def size_of(positions: np.ndarray) -> float:
    return max(float(np.abs(positions).max(initial=0)), 1e-3)


@pytest.mark.skipif(not FILES, reason="no corpus: set BUNRAKU_CORPUS")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_the_rest_pose_is_what_the_specification_says(path: Path) -> None:
    found = character(path)
    codes = {note.code for note in found.notes}
    file = read_gltf(path)
    stage = Stage(found)
    tolerance = 2e-6 if SHEARED not in codes else np.inf
    world, expected_world = stage.global_transforms(0.0)[0], world_matrices(file)[:, :3]
    scale = max(1.0, float(np.abs(expected_world).max(initial=0)))
    assert np.abs(world - expected_world).max(initial=0) <= tolerance * scale
    positions = stage.deform(0.0).positions[0]
    expected = rest_positions(file)
    compared = 0
    for span in stage.ranges:
        for part in span.parts:
            want = expected[span.node, part]
            have = positions[span.start : span.stop]
            assert have.shape == want.shape
            assert np.abs(have - want).max(initial=0) <= tolerance * size_of(want)
            compared += len(want)
    assert compared or not stage.ranges


@pytest.mark.skipif(not FILES, reason="no corpus: set BUNRAKU_CORPUS")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_in_the_bind_pose_every_vertex_comes_back(path: Path) -> None:
    found = character(path)
    skinned = [each for each in found.attachments if each.skin is not None]
    if not skinned:
        pytest.skip("no skins")
    for attachment in skinned:
        skin = found.skins[attachment.skin]
        matrices = skin.inverse_bind_matrices
        determinants = np.abs(np.linalg.det(matrices))
        if not len(matrices) or determinants.min() == 0:
            continue  # a singular inverse bind matrix has no bind pose
        bind = np.zeros((1, len(found.skeleton), 3, 4))
        # Joints may repeat in a skin with different matrices; give each slot a node of its own.
        if len(set(skin.joints.tolist())) < len(skin.joints):
            continue
        bind[0, skin.joints] = np.linalg.inv(matrices)[:, :3]
        for geometry in found.meshes[attachment.mesh].geometries:
            if geometry.joints is None:
                continue
            for method in ("lbs", "dqs"):
                back = deform(geometry, palette(skin, bind), method=method).positions[0]
                error = np.abs(back - geometry.positions).max(initial=0)
                assert error <= 1e-6 * size_of(geometry.positions)
