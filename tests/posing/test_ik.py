"""Inverse kinematics by MMD's rules: legs, goals, limits, steps."""

import numpy as np
import pytest

from bunraku.model import IkChain, IkLink, Pose, Rig, Skeleton
from bunraku.posing import global_transforms, solve
from bunraku.rotation import quaternion
from tests.posing.poses import angle, posed
from tests.reference import mmd

LEG = Skeleton(
    ("hip", "knee", "foot", "toe", "goal"),
    [-1, 0, 1, 2, -1],
    [[0, 2, 0], [0, -1, 0.02], [0, -1, -0.02], [0, -0.1, 0.2], [0, 0, 0]],
)
KNEE = IkLink(1, np.radians([[0.5, 0, 0], [180, 0, 0]]))


def leg(*links: IkLink, loops: int = 40, step: float = 2.0) -> Rig:
    return Rig(layers=[0, 0, 0, 0, 1], chains=(IkChain(4, 2, links, loops, step),))


def test_a_leg_reaches_its_goal_with_the_knee_in_front():
    pose = posed(LEG, moves={4: [0, 0.6, 0.3]})
    world = solve(LEG, leg(KNEE, IkLink(0)), pose)[0]
    np.testing.assert_allclose(world[2, :, 3], [0, 0.6, 0.3], atol=2e-3)
    bend = quaternion.from_matrix(world[0, :, :3].T @ world[1, :, :3])
    assert np.degrees(quaternion.to_rotation_vector(bend))[0] == pytest.approx(78, abs=15)
    np.testing.assert_allclose(world[3, :, 3], world[2] @ [0, -0.1, 0.2, 1], atol=1e-12)


def test_a_goal_out_of_reach_is_pointed_at():
    pose = posed(LEG, moves={4: [0, 0, 9]})
    world = solve(LEG, leg(IkLink(1), IkLink(0)), pose)[0]
    towards = world[2, :, 3] - world[0, :, 3]
    np.testing.assert_allclose(np.cross(towards, [0, -2, 9]), 0, atol=0.02)


@pytest.mark.parametrize(
    "scale", [[-1, 1, 1], [1, 1, -1], [-1, -1, -1], [2, 2, 2], [-0.5, 0.5, 0.5]]
)
def test_below_a_node_that_mirrors_or_scales_a_leg_moves_as_its_image(scale):
    below = Skeleton(
        ("root", *LEG.names),
        [-1, *(LEG.parents + 1)],
        [[0, 0, 0], *LEG.translations],
        scales=[scale, *LEG.scales],
    )
    chain = IkChain(5, 3, (IkLink(2, KNEE.limits), IkLink(1)), 40, 2.0)
    rig = Rig(layers=[0, 0, 0, 0, 0, 1], chains=(chain,))
    for goal in np.random.default_rng(0).uniform([-0.5, 0.2, -0.5], [0.5, 1, 0.8], (20, 3)):
        expected = solve(LEG, leg(KNEE, IkLink(0)), posed(LEG, moves={4: goal}))[0]
        found = solve(below, rig, posed(below, moves={5: goal}))[0, 1:]
        # A chain ends 8 µm from its goal, whatever the scale: sooner in a small figure.
        near = 1e-9 if np.abs(scale).max() == 1 else 1e-2
        np.testing.assert_allclose(found, np.diag(scale) @ expected, rtol=0, atol=near)


def test_a_chain_that_is_off_does_not_turn_its_links():
    pose = posed(LEG, moves={4: [0, 0.6, 0.3]}, ik=np.array([[False]]))
    np.testing.assert_allclose(
        solve(LEG, leg(KNEE, IkLink(0)), pose), global_transforms(LEG, pose), atol=1e-15
    )


def test_frames_with_ik_on_and_off_do_not_touch_each_other():
    poses = [
        posed(LEG, moves={4: [0, 0.1 * i, 0.3]}, ik=np.array([[i % 3 != 1]])) for i in range(11)
    ]
    together = Pose(
        *(
            np.concatenate([getattr(pose, name) for pose in poses])
            for name in ("translations", "rotations", "scales")
        ),
        ik=np.concatenate([pose.ik for pose in poses]),
    )
    rig = leg(KNEE, IkLink(0))
    alone = np.concatenate([solve(LEG, rig, pose) for pose in poses])
    np.testing.assert_array_equal(solve(LEG, rig, together), alone)


def test_a_step_of_zero_turns_nothing_or_by_any_angle():
    pose = posed(LEG, moves={4: [0, 0.6, 0.3]})
    rig = leg(IkLink(1), IkLink(0), step=0.0)
    np.testing.assert_allclose(solve(LEG, rig, pose)[0, 2, :, 3], [0, 0, 0], atol=1e-15)
    reached = solve(LEG, rig, pose, plain_step=True)[0, 2, :, 3]
    np.testing.assert_allclose(reached, [0, 0.6, 0.3], atol=2e-3)


def test_the_kth_link_turns_by_k_steps_or_by_one():
    step = np.radians(3)
    rig = leg(IkLink(1), IkLink(0), loops=1, step=step)
    pose = posed(LEG, moves={4: [0, 1, 1.5]})
    grown, plain = (solve(LEG, rig, pose, plain_step=plain)[0] for plain in (False, True))
    assert abs(angle(grown[0], 0)) == pytest.approx(6)
    assert abs(angle(plain[0], 0)) == pytest.approx(3)


def test_frozen_links_and_links_that_are_the_effector_do_not_turn():
    pose = posed(LEG, moves={4: [0, 0.6, 0.3]})
    frozen = [IkLink(node, np.zeros((2, 3))) for node in (1, 0)]
    np.testing.assert_array_equal(
        solve(LEG, leg(*frozen), pose)[0, :4], global_transforms(LEG, pose)[0, :4]
    )
    on_itself = solve(LEG, leg(IkLink(2)), pose)
    np.testing.assert_array_equal(on_itself, global_transforms(LEG, pose))


def test_keeping_the_best_is_never_farther_away():
    rng = np.random.default_rng(5)
    limits = IkLink(1, np.radians([[0.5, -20, -5], [60, 10, 30]]))
    for _ in range(30):
        pose = posed(LEG, moves={4: rng.normal(size=3)})
        rig = leg(limits, IkLink(0), loops=9, step=0.7)
        goal = pose.translations[0, 4]
        start = np.linalg.norm(LEG.translations[:3].sum(axis=0) - goal)
        kept = solve(LEG, rig, pose, keep_best=np.True_)[0, 2, :, 3]
        assert np.linalg.norm(kept - goal) <= start + 1e-12


CIRCLES = [
    # chains that bite their own tails: goal, effector, links
    [(0, 0, (0,))],
    [(4, 4, (4,))],
    [(0, 2, (1, 0))],
    [(4, 2, (1, 1, 0, 0))],
    [(4, 2, (0, 1))],
    [(2, 4, (1, 0)), (4, 2, (1, 0))],
    [(4, 2, (1, 0)), (4, 3, (2, 1)), (2, 3, (2,))],
    [(4, 2, ())],
]


@pytest.mark.parametrize("chains", CIRCLES)
def test_chains_in_circles_have_an_answer(chains):
    rig = Rig(
        layers=[0, 0, 0, 0, 1],
        chains=tuple(
            IkChain(goal, effector, tuple(map(IkLink, links)), 6, 0.8)
            for goal, effector, links in chains
        ),
    )
    pose = posed(LEG, {0: (0, 10), 1: (0, 20)}, {4: [0.1, 0.6, 0.3]})
    np.testing.assert_allclose(solve(LEG, rig, pose), mmd.solve(LEG, rig, pose), atol=1e-9)
