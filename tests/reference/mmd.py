"""MMD's evaluation of one frame, bone by bone, as the field's engines do it (babylon-mmd).

Scalar first principles: 4×4 matrices, recursion, no shortcuts. Nodes have no rest rotation.
"""

from __future__ import annotations

import numpy as np

from bunraku.rotation import quaternion

REACHED = (1e-4 * 0.08) ** 2  # square metres
NO_AXIS = 1e-8
IDENTITY = np.array([0.0, 0, 0, 1])


def evaluation_order(skeleton, rig) -> list[int]:
    """By (after physics, layer, index); a node waits for its parent, and a goal for the parents
    of its links and effector, as far as they do not wait for the goal."""
    count = len(skeleton)
    ranks = sorted(range(count), key=lambda n: (rig.after_physics[n], rig.layers[n], n))
    parents = skeleton.parents.tolist()
    waits = {node: {parents[node]} - {-1} for node in ranks}
    extra = {node: set() for node in ranks}
    for chain in rig.chains:
        links = {link.node for link in chain.links}
        for node in (*links, chain.effector):
            if parents[node] >= 0 and parents[node] not in links:
                extra[chain.goal].add(parents[node])
    order: list[int] = []
    while len(order) < count:
        left = [node for node in ranks if node not in order]
        ready = [node for node in left if waits[node] <= set(order)]
        free = [node for node in ready if extra[node] <= set(order) | {node}]
        order.append((free or ready)[0])
    return order


class Frame:
    """The nodes of one frame while they are evaluated."""

    def __init__(self, skeleton, rig, pose, *, keep_best=False, plain_step=False):
        self.skeleton, self.rig = skeleton, rig
        self.keep_best, self.plain_step = keep_best, plain_step
        count = len(skeleton)
        self.moved = pose.translations[0] - skeleton.translations
        self.turned = pose.rotations[0]
        self.scales = pose.scales[0]
        self.on = pose.ik[0] if pose.ik.shape[1] else np.ones(len(rig.chains), bool)
        self.appends = {append.node: append for append in rig.appends}
        self.links = {link.node for chain in rig.chains for link in chain.links}
        self.ik = dict.fromkeys(self.links, IDENTITY)
        # What appends have given so far, with the node's own motion: nothing yet.
        self.q = [IDENTITY if self.appends_turn(n) else self.turned[n] for n in range(count)]
        self.p = [np.zeros(3) if self.appends_move(n) else self.moved[n] for n in range(count)]
        rest = np.tile(np.eye(4), (count, 1, 1))
        for node in skeleton.order:
            rest[node, :3, 3] = skeleton.translations[node]
            if skeleton.parents[node] >= 0:
                rest[node, :3, 3] += rest[skeleton.parents[node], :3, 3]
        self.rest = rest[:, :3, 3].copy()
        self.world = rest
        self.running: set[int] = set()

    def appends_turn(self, node):
        return node in self.appends and self.appends[node].rotation

    def appends_move(self, node):
        return node in self.appends and self.appends[node].translation

    def evaluate(self, node):
        """Append, then the node's matrix."""
        q, p = self.turned[node], self.moved[node]
        append = self.appends.get(node)
        if append is not None:
            turn, move = self.appended(append)
            if append.rotation:
                q = quaternion.multiply(q, scaled(turn, append.ratio))
            if append.translation:
                p = p + append.ratio * move
        self.q[node], self.p[node] = q, p
        self.rebuild(node)

    def appended(self, append):
        source = append.source
        if append.local:
            turn = quaternion.from_matrix(unscaled(self.world[source]))
            return turn, self.world[source][:3, 3] - self.rest[source]
        turn = self.q[source] if self.appends_turn(source) else self.turned[source]
        if source in self.ik:
            turn = quaternion.multiply(self.ik[source], turn)
        return turn, self.p[source] if self.appends_move(source) else self.moved[source]

    def rebuild(self, node):
        """The node's matrix from what is known of it."""
        local = np.eye(4)
        turn = quaternion.multiply(self.ik.get(node, IDENTITY), self.q[node])
        local[:3, :3] = quaternion.to_matrix(turn) * self.scales[node]
        local[:3, 3] = self.skeleton.translations[node] + self.p[node]
        self.world[node] = self.parent(node) @ local

    def parent(self, node):
        parent = self.skeleton.parents[node]
        return self.world[parent] if parent >= 0 else np.eye(4)

    def below(self, node):
        """Evaluate all descendants, depth first in file order."""
        for child in self.skeleton.children(node).tolist():
            self.evaluate(child)
            self.below(child)

    def run(self):
        for node in evaluation_order(self.skeleton, self.rig):
            self.evaluate(node)
            self.solve_of(node)
        return self.world[:, :3]

    def solve_of(self, node):
        for index, chain in enumerate(self.rig.chains):
            if chain.goal == node and self.on[index] and index not in self.running:
                self.running.add(index)
                self.solve(chain)
                self.running.discard(index)

    # ------------------------------------------------------------- inverse kinematics

    def solve(self, chain):
        for link in chain.links:
            self.ik[link.node] = IDENTITY
        goal = self.world[chain.goal][:3, 3].copy()
        self.evaluate(chain.effector)
        self.solve_of(chain.effector)
        if self.away(chain, goal) < REACHED:
            return
        for link in chain.links[::-1]:
            self.evaluate(link.node)
        self.evaluate(chain.effector)
        best = self.away(chain, goal)
        if best < REACHED:
            return
        loops = min(chain.loops, 256)
        kept = [self.ik[link.node] for link in chain.links]
        for loop in range(loops):
            for k in range(len(chain.links)):
                self.step(chain, k, goal, loop < loops // 2)
            away = self.away(chain, goal)
            if self.keep_best and not away < best:
                for link, ik in zip(chain.links, kept, strict=True):
                    self.ik[link.node] = ik
                self.refresh(chain, len(chain.links) - 1)
                return
            best, kept = away, [self.ik[link.node] for link in chain.links]
            if away < REACHED:
                return

    def away(self, chain, goal):
        return ((self.world[chain.effector][:3, 3] - goal) ** 2).sum()

    def refresh(self, chain, k):
        for j in range(k, -1, -1):
            self.rebuild(chain.links[j].node)
            self.below(chain.links[j].node)
        self.evaluate(chain.effector)

    def step(self, chain, k, goal, first):
        link = chain.links[k]
        limits = link.limits
        ranges = limits is not None and (limits != 0).any(axis=0)
        if limits is not None and not ranges.any():
            return
        place = self.world[link.node][:3, 3]
        above = self.parent(link.node)[:3, :3]
        seen = np.linalg.inv(above) if np.linalg.det(above) else np.zeros((3, 3))
        e = unit(seen @ (place - self.world[chain.effector][:3, 3]))
        g = unit(seen @ (place - goal))
        axis = np.cross(e, g)
        if axis @ axis < NO_AXIS:
            return
        if limits is not None and first and ranges.sum() == 1:
            only = int(np.flatnonzero(ranges)[0])
            local = np.eye(3)[only] * (1 if axis[only] >= 0 else -1)
        else:
            local = unit(axis)
        most = chain.step * (1 if self.plain_step else k + 1)
        angle = np.arctan2(np.linalg.norm(axis), e @ g)
        if not (self.plain_step and chain.step == 0):
            angle = min(most, angle)
        turn = np.append(local * np.sin(angle / 2), np.cos(angle / 2))
        ik = quaternion.multiply(turn, self.ik[link.node])
        if limits is not None:
            q = self.q[link.node]
            whole = limited(quaternion.multiply(ik, q), limits, first)
            ik = quaternion.multiply(whole, quaternion.conjugate(q))
        self.ik[link.node] = ik
        self.refresh(chain, k)


def limited(q, limits, first):
    m = quaternion.to_matrix(q)
    steep = np.radians(88)
    inside = (limits[0] > -np.pi / 2) & (limits[1] < np.pi / 2)
    if inside[0]:
        order, middle = "YXZ", 0
        angles = [
            np.arcsin(np.clip(-m[1, 2], -1, 1)),
            np.arctan2(m[0, 2], m[2, 2]),
            np.arctan2(m[1, 0], m[1, 1]),
        ]
    elif inside[1]:
        order, middle = "ZYX", 1
        angles = [
            np.arctan2(m[2, 1], m[2, 2]),
            np.arcsin(np.clip(-m[2, 0], -1, 1)),
            np.arctan2(m[1, 0], m[0, 0]),
        ]
    else:
        order, middle = "XZY", 2
        angles = [
            np.arctan2(m[2, 1], m[1, 1]),
            np.arctan2(m[0, 2], m[0, 0]),
            np.arcsin(np.clip(-m[0, 1], -1, 1)),
        ]
    angles[middle] = np.clip(angles[middle], -steep, steep)
    angles = [within(*each, first) for each in zip(angles, *limits, strict=True)]
    out = IDENTITY
    for letter in order:
        axis = "XYZ".index(letter)
        turn = np.append(np.eye(3)[axis] * np.sin(angles[axis] / 2), np.cos(angles[axis] / 2))
        out = quaternion.multiply(out, turn)
    return out


def within(angle, low, high, first):
    """What is beyond a limit is mirrored at it in the first half of the loops, if that fits."""
    if angle < low:
        mirrored = 2 * low - angle
        return mirrored if first and mirrored <= high else low
    if angle > high:
        mirrored = 2 * high - angle
        return mirrored if first and mirrored >= low else high
    return angle


def scaled(q, ratio):
    """`ratio` times the turn by the shorter way, also beyond 0 … 1."""
    vector = quaternion.to_rotation_vector(q if q[3] >= 0 else -q)
    return quaternion.from_rotation_vector(ratio * vector)


def unit(v):
    length = np.linalg.norm(v)
    return v / length if length > 0 else v


def unscaled(matrix):
    lengths = np.linalg.norm(matrix[:3, :3], axis=0)
    return matrix[:3, :3] / np.where(lengths > 0, lengths, 1)


def about_axis(q, axis):
    """The whole angle of q about the axis, in the sense that q has along it."""
    angle = 2 * np.arctan2(np.linalg.norm(q[:3]), q[3])
    if q[:3] @ axis < 0:
        angle = -angle
    if not axis.any():
        return IDENTITY
    return np.append(axis * np.sin(angle / 2), np.cos(angle / 2))


def solve(skeleton, rig, pose, **options) -> np.ndarray:
    """(F, N, 3, 4) global transforms."""
    return np.stack(
        [Frame(skeleton, rig, pose[f], **options).run() for f in range(pose.frames)]
    ).reshape(pose.frames, len(skeleton), 3, 4)
