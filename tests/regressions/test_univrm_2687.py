"""UniVRM #2687: does a roll constraint turn backwards if the node's own axis is flipped?

https://github.com/vrm-c/UniVRM/issues/2687

It does not: the source's turn is first seen in the node's own frame at rest, so the same turn in
the world comes out whichever way the node's axis points. A rotation constraint copies local turns
and does reverse (VRMC_node_constraint 1.0).
"""

from pathlib import Path

import numpy as np
import pytest

from bunraku.formats import load
from bunraku.posing import global_transforms
from bunraku.posing.constraints import constrain
from bunraku.rotation import quaternion
from tests.formats.vrm.figures import NODES, constrained, written

ARM, SLEEVE = NODES["leftUpperArm"], NODES["rightUpperArm"]
TURN = quaternion.from_axis_angle([1, 0, 0], 0.5)
# At rest the sleeve's x points with the arm's, or against it.
REST = {"alike": [0.0, 0, 0, 1], "flipped": [0.0, 1, 0, 0]}


@pytest.mark.parametrize("rest", REST.values(), ids=REST.keys())
@pytest.mark.parametrize("kind", ["roll", "rotation"])
def test_which_way_the_sleeve_turns(tmp_path: Path, rest: list[float], kind: str):
    axis = {"rollAxis": "X"} if kind == "roll" else {}
    sketch = constrained(("rightUpperArm", {kind: {"source": ARM, **axis}}))
    sketch.tree["nodes"][SLEEVE]["rotation"] = rest
    character = load(written(sketch, tmp_path))
    pose = character.rest_pose()
    rotations = pose.rotations.copy()
    rotations[:, ARM] = TURN
    posed = constrain(
        character.skeleton, character.rig, type(pose)(pose.translations, rotations, pose.scales)
    )
    now, before = (
        global_transforms(character.skeleton, p)[0, SLEEVE, :, :3] for p in (posed, pose)
    )
    turned = now @ before.T
    reverses = kind == "rotation" and rest[1] == 1
    expected = quaternion.to_matrix(quaternion.conjugate(TURN) if reverses else TURN)
    np.testing.assert_allclose(turned, expected, atol=1e-12)
