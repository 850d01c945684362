"""Poses and skinned positions agree with three.js, clip by clip, over the corpus."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from bunraku import Clip, Stage, load
from bunraku.model import Pose
from bunraku.rotation import quaternion
from tests.conftest import shared_folder

FOLDER = shared_folder("golden")
FILES = sorted(FOLDER.glob("three_*.npz")) if FOLDER is not None else []

TOLERANCE = 1e-5  # of the model's size


def positions(
    data: np.lib.npyio.NpzFile, key: str, of: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Expected positions, and ours for the same vertices (long meshes were sampled evenly)."""
    expected = data[key]
    if len(expected) != len(of):
        picked = np.round(np.linspace(0, len(of) - 1, len(expected))).astype(int)
        if np.abs(of[: len(expected)] - expected).max() < np.abs(of[picked] - expected).max():
            picked = np.arange(len(expected))
        of = of[picked]
    return expected, of


def pose_of(sample: dict, stage: Stage) -> Pose:
    pose = stage.pose(0.0 if sample["t"] is None else sample["t"])
    deltas = sample.get("set_delta_xyzw")
    if not deltas:
        return pose
    rotations = pose.rotations.copy()
    for node, delta in deltas.items():
        rotations[0, int(node)] = quaternion.multiply(
            rotations[0, int(node)], np.asarray(delta, float)
        )
    return Pose(pose.translations, rotations, pose.scales, pose.morph_weights)


@pytest.mark.skipif(not FILES, reason="no golden data: set BUNRAKU_CORPUS")
@pytest.mark.parametrize("file", FILES, ids=lambda path: path.stem)
def test_agrees_with_three(file: Path, corpus: Path) -> None:
    data = np.load(file)
    meta = json.loads(str(data["meta"]))
    character = load(corpus / meta["source"])
    rest = Stage(character)
    size = max(1e-3, float(np.ptp(rest.deform(0.0).positions.reshape(-1, 3), axis=0).max()))
    compared = 0
    for sample in meta["samples"]:
        clip: Clip | None = None
        if sample["animation"] is not None:
            clip = character.clips[sample["animation"]]
        stage = Stage(character, clip)
        pose = pose_of(sample, stage)
        deformed = stage.deform_pose(pose)
        key = sample["key"]
        world = stage_globals(stage, pose)[meta["node_indices"]]
        expected_world = data[f"{key}/world"][:, :3]
        # Some files hold rotation keys that are not of unit length (0.707, or quantised).
        # three.js interpolates them as they are and makes a matrix that also scales; we
        # normalise. How far its own quaternions are from unit length, summed along the chain of
        # parents, bounds the difference.
        lengths = np.linalg.norm(data[f"{key}/local_trs"][:, 3:7], axis=1)
        off = np.zeros(len(character.skeleton))
        off[meta["node_indices"]] = np.abs(lengths - 1)
        for node in character.skeleton.order:
            off[node] += off[character.skeleton.parents[node]] * (
                character.skeleton.parents[node] >= 0
            )
        tolerance = TOLERANCE + 4 * float(off.max())
        scale = max(size, float(np.abs(expected_world[..., 3]).max()))
        np.testing.assert_allclose(
            world[..., 3], expected_world[..., 3], rtol=0, atol=tolerance * scale
        )
        np.testing.assert_allclose(
            world[..., :3],
            expected_world[..., :3],
            rtol=0,
            atol=tolerance * float(np.abs(expected_world[..., :3]).max(initial=1)),
        )
        for mesh in meta["meshes"]:
            span = next(
                span
                for span in stage.ranges
                if span.node == mesh["node"] and mesh["primitive"] in span.parts
            )
            ours = deformed.positions[0, span.start : span.stop]
            assert len(ours) == mesh["total_vertices"]
            expected, ours = positions(data, f"{key}/{mesh['key']}", ours)
            np.testing.assert_allclose(ours, expected, rtol=0, atol=tolerance * size)
            compared += 1
    assert compared or not meta["meshes"]


def stage_globals(stage: Stage, pose: Pose) -> np.ndarray:
    from bunraku.posing import global_transforms

    return global_transforms(stage.character.skeleton, pose)[0]
