"""In which order constraints are evaluated, and which have none."""

import numpy as np
import pytest

from bunraku.errors import RigError
from bunraku.model import (
    AimConstraint,
    Character,
    Rig,
    RollConstraint,
    RotationConstraint,
    Skeleton,
)
from bunraku.model.rig import constraint_order

# n0 carries n1 and n3, which carry n2 and n4; n5 stands alone.
TREE = Skeleton(tuple(f"n{i}" for i in range(6)), [-1, 0, 1, 0, 3, -1])


@pytest.mark.parametrize(
    "constraints",
    [
        (RotationConstraint(0, 0),),
        (RotationConstraint(3, 4),),  # the source hangs on the node
        (RotationConstraint(1, 3), RollConstraint(3, 1, "X")),
        (AimConstraint(2, 5, "+X"), RotationConstraint(5, 2)),
        (AimConstraint(2, 5, "+X"), RotationConstraint(5, 1), RotationConstraint(1, 2)),
    ],
)
def test_constraints_that_wait_for_each_other_are_refused(constraints):
    with pytest.raises(RigError, match=r"wait for each other in a circle: nodes \d 'n\d'"):
        Character(TREE, rig=Rig(constraints=constraints))


def test_those_on_sources_and_on_what_they_hang_from_come_first():
    waiting = [RotationConstraint(5, 2), RotationConstraint(2, 3), RotationConstraint(1, 4)]
    order = constraint_order(TREE, waiting)
    assert sorted(order) == [0, 1, 2]
    assert order[-1] == 0
    # An aim needs to know where its node stands.
    aims = [AimConstraint(2, 5, "+X"), RollConstraint(1, 4, "X")]
    assert constraint_order(TREE, aims) == [1, 0]


def test_a_rotation_does_not_wait_for_what_its_own_node_hangs_from():
    rolls = [RollConstraint(2, 5, "X"), RollConstraint(1, 4, "X"), RollConstraint(5, 1, "Y")]
    assert constraint_order(TREE, rolls) == [1, 2, 0]


def test_long_chains_of_constraints_take_no_long_time():
    count = 20_000
    skeleton = Skeleton(tuple(map(str, range(count))), np.arange(count) - 1)
    chain = [RotationConstraint(i, i - 1) for i in range(count - 1, 0, -1)]
    assert constraint_order(skeleton, chain) == list(range(count - 1))[::-1]
