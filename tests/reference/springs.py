"""Spring bones, one joint and one collider after another: slow and obvious."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from bunraku.model import Rig, Skeleton
from tests.reference.kinematics import local_matrix

DT = 1 / 60


def unit(v: np.ndarray) -> np.ndarray:
    size = np.linalg.norm(v)
    return v / size if size > 0 else v * 0


def world_of(skeleton: Skeleton, t, q, s, node: int) -> np.ndarray:
    """The product of the local matrices of a node and all its ancestors; of none for -1."""
    matrix = np.eye(4)
    while node >= 0:
        matrix = local_matrix(t[node], q[node], s[node]) @ matrix
        node = skeleton.parents[node]
    return matrix


def point(matrix: np.ndarray, v) -> np.ndarray:
    return (matrix @ [*v, 1])[:3]


def turn_between(a: np.ndarray, b: np.ndarray) -> Rotation:
    normal = np.cross(a, b)
    size = np.linalg.norm(normal)
    angle = np.arctan2(size, a @ b)
    return Rotation.from_rotvec(normal / size * angle) if size > 0 else Rotation.identity()


def pushed(shape, world: np.ndarray, at: np.ndarray, radius: float) -> tuple[float, np.ndarray]:
    """Distance to what the ball must stay out of, and the way out."""
    offset = point(world, shape.offset)
    if shape.shape == "plane":
        normal = unit(np.linalg.inv(world[:3, :3]).T @ shape.normal)
        return (at - offset) @ normal - radius, normal
    if shape.shape == "capsule":
        tail = point(world, shape.tail)
        along = tail - offset
        share = 0 if not along.any() else np.clip((at - offset) @ along / (along @ along), 0, 1)
        offset = offset + share * along
    way = at - offset
    far = np.linalg.norm(way)
    if shape.inside:
        return shape.radius - radius - far, -unit(way)
    return far - shape.radius - radius, unit(way)


class Simulation:
    """Tails of every joint, keyed by its node; joints in an order that the caller vouches for."""

    def __init__(self, skeleton: Skeleton, rig: Rig, order: list[int]) -> None:
        self.skeleton, self.rig = skeleton, rig
        joints = {j.node: (spring, j) for spring in rig.springs for j in spring.joints}
        self.joints = [joints[node] for node in order]
        self.tails: dict[int, tuple[np.ndarray, np.ndarray]] = {}

    def tail_in_joint(self, joint, t, q, s) -> np.ndarray:
        tail = np.zeros(3) if joint.tail is None else joint.tail
        node = joint.node if joint.child is None else joint.child
        while node != joint.node:
            tail = point(local_matrix(t[node], q[node], s[node]), tail)
            node = self.skeleton.parents[node]
        return tail

    def start(self, t, q, s) -> np.ndarray:
        q = np.array(q)
        for spring, joint in self.joints:
            q[joint.node] = self.skeleton.rotations[joint.node]
            world = world_of(self.skeleton, t, q, s, joint.node)
            tail = point(world, self.tail_in_joint(joint, t, q, s))
            if spring.center is not None:
                center = world_of(self.skeleton, t, q, s, spring.center)
                tail = point(np.linalg.inv(center), tail)
            self.tails[joint.node] = tail, tail
        return q

    def step(self, t, q, s) -> np.ndarray:
        q, rest = np.array(q), self.skeleton
        for spring, joint in self.joints:
            node = joint.node
            q[node] = rest.rotations[node]
            parent = world_of(rest, t, q, s, rest.parents[node])
            world = world_of(rest, t, q, s, node)
            head = point(world, [0, 0, 0])
            length = np.linalg.norm(point(world, self.tail_in_joint(joint, t, q, s)) - head)
            still = parent @ local_matrix(
                rest.translations[node], rest.rotations[node], rest.scales[node]
            )
            axis = unit(self.tail_in_joint(joint, rest.translations, rest.rotations, rest.scales))
            now, before = self.tails[node]
            following = now + (now - before) * (1 - joint.drag)
            center = np.eye(4)
            if spring.center is not None:
                center = world_of(rest, t, q, s, spring.center)
                following = point(center, following)
            following = following + DT * joint.stiffness * unit(still[:3, :3] @ axis)
            following = following + DT * joint.gravity_power * np.array(joint.gravity_direction)
            following = head + length * unit(following - head)
            for i in spring.colliders:
                shape = self.rig.colliders[i]
                where = world_of(rest, t, q, s, shape.node)
                distance, normal = pushed(shape, where, following, joint.hit_radius)
                if distance < 0:
                    following = head + length * unit(following - distance * normal - head)
            self.tails[node] = point(np.linalg.inv(center), following), now
            way = unit(point(np.linalg.inv(still), following))
            turn = Rotation.from_quat(rest.rotations[node]) * turn_between(axis, way)
            q[node] = turn.as_quat()
        return q
