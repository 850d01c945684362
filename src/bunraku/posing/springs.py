"""Springs: hair, skirts and the like, simulated in steps of 1/60 s (VRM 0.x and 1.0).

A spring turns joints so that their tails follow by inertia, are pulled back to rest, fall, and stay
out of colliders. Where tails are now depends on where they have been: a motion is simulated from
its start. What a clip says of the joints themselves is not heard.

With H the joint's position, M its world matrix at rest under its parent's now, b the direction of
the tail at rest, and one step of Verlet integration (VRMC_springBone 1.0)::

    next = tail + (tail − previous tail) (1 − drag)
           + dt stiffness unit(M b) + dt gravity
    next = H + length unit(next − H)
    for each collider in the order of the spring: pushed out, then again to its length
    rotation = rest · from_to(b, unit(M⁻¹ next))

Drag counts per step, so another step would be another motion: at 30 Hz tips stray by up to 8 % of
a chain's length. Results are the same bits on every machine and for every number of threads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from typing import NamedTuple

import numpy as np

from bunraku import _core
from bunraku.errors import Note, RigError
from bunraku.model import Pose, Rig, Skeleton, SpringJoint
from bunraku.model.arrays import Float64, Int32
from bunraku.rotation import quaternion

STEP = 1 / 60
_SHAPES = ("sphere", "capsule", "plane")


class Swung(NamedTuple):
    """Frames of a motion with its springs, and where the tails are after the last of them.

    Attributes:
        pose: as it came in, but for the rotations of the joints.
        tails: (2, J, 3) float64 now and a step before, in the space of a spring's center or the
            world; hand them back to go on from here.
    """

    pose: Pose
    tails: Float64


class Springs:
    """The springs of one character, laid out for simulation.

    A node that several springs turn is turned by the last of them. A joint whose tail lies on the
    joint itself cannot swing and is left out. A collider that hangs on a joint pushes what comes
    below it, not the joint that carries it.

    Args:
        skeleton: whose rest the springs return to.
        rig: its springs and colliders.

    Attributes:
        nodes: (J,) int32 node of each joint that swings.
        notes: ``center-on-spring``: a center that hangs on its own spring, which then feels
            inertia in the world; ``springs-in-circle``: springs that wait for each other's
            colliders or centers, which then count only for what comes later in the file.

    Raises:
        RigError: a tail that does not hang on its joint.

    >>> from bunraku.model import Spring
    >>> rod = Skeleton(("root", "tip"), [-1, 0], [[0, 0, 0], [1, 0, 0]])
    >>> rig = Rig(springs=(Spring("", (SpringJoint(0, 1, stiffness=0, gravity_power=9),)),))
    >>> rest = Pose(rod.translations[None], rod.rotations[None], rod.scales[None])
    >>> still = Pose(*(np.repeat(each, 90, 0) for each in (rest.translations, rest.rotations,
    ...     rest.scales)))
    >>> down = swing(Springs(rod, rig), still).pose.rotations[-1, 0]
    >>> quaternion.rotate(down, [1, 0, 0]).round(2)
    array([ 0., -1.,  0.])
    """

    def __init__(self, skeleton: Skeleton, rig: Rig) -> None:
        chosen: dict[int, tuple[int, SpringJoint, list[int], Float64]] = {}
        for i, spring in enumerate(rig.springs):
            for joint in spring.joints:
                path = _path(skeleton, joint)
                chosen[joint.node] = i, joint, path, _tail(skeleton, joint, path)
        members = [each for each in chosen.values() if each[3].any()]
        nodes = [joint.node for _, joint, _, _ in members]
        notes: list[Note] = []
        centers = _centers(skeleton, rig, notes)
        rows = [_numbers(skeleton, joint, tail) for _, joint, _, tail in members]
        path_starts, paths = _lists([path for _, _, path, _ in members])
        starts, lists = _lists([spring.colliders for spring in rig.springs])
        self.node_count = len(skeleton)
        self.nodes: Int32 = np.array(nodes, np.int32)
        self.nodes.flags.writeable = False
        shapes = [(c.node, _SHAPES.index(c.shape), c.inside) for c in rig.colliders]
        others = [{"sphere": c.offset, "capsule": c.tail, "plane": c.normal} for c in rig.colliders]
        places = [
            np.concatenate([c.offset, np.asarray(other[c.shape]), [c.radius]])
            for c, other in zip(rig.colliders, others, strict=True)
        ]
        order = _order(skeleton, rig, centers, {j.node: i for i, j, _, _ in members}, notes)
        rank = np.argsort(order)
        joints = [
            (j.node, centers[i] if rank[centers[i]] < rank[j.node] else -1, i)
            for i, j, _, _ in members
        ]
        self.system = _core.springs.System(
            skeleton.parents,
            order,
            np.array(joints, np.int32).reshape(-1, 3),
            np.array(rows, np.float64).reshape(-1, 28),
            path_starts,
            paths,
            starts,
            lists,
            np.array(shapes, np.int32).reshape(-1, 3),
            np.array(places, np.float64).reshape(-1, 7),
        )
        self.notes: tuple[Note, ...] = tuple(notes)


def swing(springs: Springs, pose: Pose, tails: Float64 | None = None) -> Swung:
    """Simulate one character over frames that are 1/60 s apart.

    Args:
        springs: of the pose's skeleton.
        pose: F frames, constraints and all else already in it.
        tails: where the last call left them, for frames that follow on; or None, and the first
            frame is the start: its tails are at rest, and the others follow from there.

    Raises:
        RigError: a pose of another skeleton, tails of other springs, no frame to start from.
    """
    return swing_crowd([(springs, pose, tails)])[0]


def swing_crowd(members: Sequence[tuple[Springs, Pose, Float64 | None]]) -> list[Swung]:
    """Simulate many characters at once, spread over threads; each as `swing` does it."""
    jobs, starts, all_tails, poses = [], [], [], []
    for springs, pose, tails in members:
        if pose.translations.shape[1] != springs.node_count:
            raise RigError(
                f"pose: {pose.translations.shape[1]} nodes, "
                f"but the springs' skeleton has {springs.node_count}"
            )
        shape = (2, len(springs.nodes), 3)
        if tails is not None and (np.shape(tails) != shape or not np.isfinite(tails).all()):
            raise RigError(f"tails: expected finite numbers of shape {shape}")
        if tails is None and not pose.frames:
            raise RigError("pose: expected a frame to start from, found none")
        moving = np.array(np.zeros(shape) if tails is None else tails, np.float64)
        rotations = np.array(pose.rotations)
        first = 1 if tails is None else 0
        if first:
            parts = (pose.translations[:1], rotations[:1], pose.scales[:1])
            starts.append((springs.system, *parts, moving))
        parts = (pose.translations[first:], rotations[first:], pose.scales[first:])
        jobs.append((springs.system, *parts, moving))
        all_tails.append(moving)
        poses.append((pose, rotations))
    _core.springs.start(starts)
    _core.springs.run(jobs, STEP)
    return [
        Swung(replace(pose, rotations=rotations), tails)
        for (pose, rotations), tails in zip(poses, all_tails, strict=True)
    ]


def _path(skeleton: Skeleton, joint: SpringJoint) -> list[int]:
    """The nodes from a joint's child up to, not including, the joint."""
    if joint.child is None:
        return []
    path, node = [], joint.child
    while node != joint.node:
        path.append(node)
        node = int(skeleton.parents[node])
        if node < 0:
            raise RigError(
                f"spring joint of node {joint.node}: its child, node {joint.child}, "
                "does not hang on it"
            )
    return path


def _tail(skeleton: Skeleton, joint: SpringJoint, path: list[int]) -> Float64:
    """Where the tail is at rest, in the joint's space."""
    tail = np.zeros(3) if joint.tail is None else joint.tail
    for node in path:
        tail = skeleton.translations[node] + quaternion.rotate(
            skeleton.rotations[node], skeleton.scales[node] * tail
        )
    return np.asarray(tail, np.float64)


def _numbers(skeleton: Skeleton, joint: SpringJoint, tail: Float64) -> list[float]:
    """A row of `joint_numbers` (core/bindings/springs.cpp)."""
    node = joint.node
    turn = skeleton.rotations[node]
    rest = np.concatenate(
        [
            quaternion.to_matrix(turn) * skeleton.scales[node],
            skeleton.translations[node][:, None],
        ],
        axis=1,
    )
    gravity = joint.gravity_power * np.array(joint.gravity_direction, np.float64)
    start = np.zeros(3) if joint.tail is None else joint.tail
    forces = [joint.stiffness, joint.drag, joint.hit_radius]
    axis = tail / np.linalg.norm(tail)
    return [*start, *forces, *gravity, *rest.reshape(-1), *turn, *axis]


def _lists(lists: Sequence[Sequence[int]]) -> tuple[Int32, Int32]:
    starts = np.cumsum([0, *map(len, lists)], dtype=np.int32)
    return starts, np.array([each for some in lists for each in some], np.int32)


def _upward(skeleton: Skeleton, node: int) -> Iterator[int]:
    """The node and its ancestors."""
    while node >= 0:
        yield node
        node = int(skeleton.parents[node])


def _centers(skeleton: Skeleton, rig: Rig, notes: list[Note]) -> list[int]:
    """The center of each spring, -1 for the world."""
    centers = []
    for i, spring in enumerate(rig.springs):
        own = {joint.node for joint in spring.joints}
        center = -1 if spring.center is None else spring.center
        if not own.isdisjoint(_upward(skeleton, center)):
            message = f"its center, node {center}, hangs on it; the world is used"
            notes.append(Note("center-on-spring", message, f"rig.springs[{i}]"))
            center = -1
        centers.append(center)
    return centers


def _order(
    skeleton: Skeleton, rig: Rig, centers: list[int], spring_of: dict[int, int], notes: list[Note]
) -> Int32:
    """All nodes, each after its parent, a joint also after its spring's colliders and center."""
    # Springs are −1, −2, … here, so that a joint need not name each of its spring's colliders.
    graph = {
        node: [parent] if parent >= 0 else []
        for node, parent in enumerate(skeleton.parents.tolist())
    }
    for i, spring in enumerate(rig.springs):
        carriers = {rig.colliders[collider].node for collider in spring.colliders}
        own = {joint.node for joint in spring.joints}
        graph[~i] = [node for node in carriers if own.isdisjoint(_upward(skeleton, node))]
        if centers[i] >= 0:
            graph[~i].append(centers[i])
    for node, i in spring_of.items():
        graph[node].append(~i)
    try:
        order = [each for each in TopologicalSorter(graph).static_order() if each >= 0]
    except CycleError as error:
        spring = next(~each for each in error.args[1] if each < 0)
        message = "it waits for a collider on a spring that waits for its own"
        notes.append(Note("springs-in-circle", message, f"rig.springs[{spring}]"))
        return skeleton.order
    return np.array(order, np.int32)
