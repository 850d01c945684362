"""What the skin loses, measured, against what theory says."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.demo import limb_volumes, make_puppet, report
from bunraku.demo.report import (
    LIMBS,
    TURNS,
    joint_losses,
    section_areas,
    section_theory,
    signed_volume,
)
from bunraku.errors import RigError
from bunraku.model import Character, Clip, Track
from bunraku.rotation import quaternion
from bunraku.skinning.deform import METHODS

ANGLES = np.radians([30.0, 60.0, 90.0, 120.0, 150.0, 175.0])


@pytest.fixture(scope="module")
def puppet() -> Character:
    return make_puppet()


def turning(puppet: Character, joint: str, axis: tuple[float, float, float]) -> Clip:
    """A clip that stands at each of `ANGLES` at a whole second, on one joint alone."""
    turns = quaternion.from_axis_angle(axis, ANGLES).astype(np.float32)
    track = Track(puppet.skeleton.index(joint), "rotation", np.arange(len(ANGLES)), turns)
    return Clip("turning", (track,))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"limbs": ("tail",)}, "no mesh 'tail' is shown"),
        ({"clip": "waltz"}, "no clip 'waltz'"),
        ({"method": "magic"}, "method"),
    ],
)
def test_refuses_what_is_not_there(
    puppet: Character, arguments: dict[str, object], message: str
) -> None:
    with pytest.raises(RigError, match=message):
        limb_volumes(puppet, [0.0], **arguments)  # type: ignore[arg-type]


def test_volume_and_area_of_known_bodies() -> None:
    cube = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], np.float64)
    faces = [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1]]
    faces += [[2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]
    both = np.stack([cube * 2 + 5, cube * [3, 1, -1]])
    np.testing.assert_allclose(signed_volume(both, np.array(faces, np.int32)), [8, -3])
    square = np.array([[0, 1, 3, 2]], np.int32)
    np.testing.assert_allclose(section_areas(both, square), [[4], [1]])


def test_rest_is_whole(puppet: Character) -> None:
    for method in METHODS:
        volumes = limb_volumes(puppet, [0.0], clip=Clip("still", ()), method=method)
        assert tuple(volumes) == LIMBS
        for kept in volumes.values():
            np.testing.assert_allclose(kept, 1, atol=1e-6)


@pytest.mark.parametrize(
    ("share", "angle", "twists", "left"),
    [
        (0.5, 90, False, 0.7071),
        (0.5, 90, True, 0.5),
        (0.5, 180, True, 0.0),
        (0.5, 60, True, 0.75),
        (0.0, 150, True, 1.0),
        (0.25, 180, True, 0.25),
    ],
)
def test_theory_by_hand(share: float, angle: float, twists: bool, left: float) -> None:
    found = section_theory(share, np.radians(angle), twists=twists)
    assert found == pytest.approx(left, abs=1e-4)


@pytest.mark.parametrize(
    ("turn", "axis"),
    [(TURNS[0], (0, -1, 0)), (TURNS[1], (-1, 0, 0)), (TURNS[2], (1, 0, 0))],
    ids=lambda value: getattr(value, "limb", ""),
)
def test_lbs_narrows_as_theory_says_and_dqs_does_not(
    puppet: Character, turn: object, axis: tuple[float, float, float]
) -> None:
    index = TURNS.index(turn)  # type: ignore[arg-type]
    clip = turning(puppet, TURNS[index].joint, axis)
    before = 1.0
    for second, angle in enumerate(ANGLES):
        loss = joint_losses(puppet, [float(second)], clip=clip)[index]
        assert loss.angle == pytest.approx(angle, abs=1e-5)
        assert loss.section["lbs"] == pytest.approx(loss.theory, abs=2e-4)
        assert loss.section["dqs"] == pytest.approx(1, abs=2e-4)
        half = np.cos(angle / 2) ** (2 if TURNS[index].twists else 1)
        assert half - 1e-3 < loss.section["lbs"] < half + 0.09  # no ring stands at exactly ½
        assert loss.section["lbs"] < before
        assert loss.joint_volume["lbs"] < loss.joint_volume["dqs"]
        before = loss.section["lbs"]


def test_what_the_clip_costs(puppet: Character) -> None:
    times = np.linspace(0, 4, 97)
    elbow, forearm, *knees = joint_losses(puppet, times)
    assert elbow.joint_volume["lbs"] < 0.85
    assert forearm.section["lbs"] < 0.05
    assert forearm.joint_volume["lbs"] < 0.65
    for loss in (elbow, forearm, *knees):
        assert 0.95 < loss.joint_volume["dqs"] < 1.05
        assert 0.98 < loss.limb_volume["dqs"] < 1.02
    linear = limb_volumes(puppet, times)
    dual = limb_volumes(puppet, times, method="dqs")
    for limb in LIMBS:
        assert linear[limb].min() < dual[limb].min()
        assert dual[limb].min() > 0.985
        assert dual[limb].max() < 1.01
    assert linear["rightArm"].min() == pytest.approx(forearm.limb_volume["lbs"], abs=0.01)


def test_limb_volume_is_the_ratio_the_meshes_have(puppet: Character) -> None:
    (kept,) = (
        loss.limb_volume for loss in joint_losses(puppet, [2.5]) if loss.turn.limb == "rightArm"
    )
    for method in METHODS:
        whole = limb_volumes(puppet, [2.5], method=method)["rightArm"]
        assert whole[0] == pytest.approx(kept[method])


def test_the_page_says_it(puppet: Character) -> None:
    page = report(puppet, fps=24)
    rows = [line for line in page.splitlines() if line.startswith("| ")]
    assert len({row.count("|") for row in rows}) == 1
    assert [row.split("|")[2].strip() for row in rows] == ["turn", "138°", "165°", "55°", "55°"]
    assert "LBS takes 98 % of its cross-section" in page
