"""A crowd of VRM characters: springs, constraints, palettes and skins, many figures at once."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks.harness import Contender, Row, compare, table
from benchmarks.peers import springs as peers
from bunraku import _core
from bunraku.model import (
    Collider,
    Geometry,
    Pose,
    Rig,
    RollConstraint,
    Skeleton,
    Skin,
    Spring,
    SpringJoint,
)
from bunraku.posing import global_transforms, palette
from bunraku.posing.constraints import constrain
from bunraku.posing.springs import STEP, Springs, swing_crowd
from bunraku.skinning import deform_into

FRAMES = 30
STRANDS, LINKS = 24, 5  # of hair and skirt
VERTICES = 10_000
BODY = 22


def run() -> Iterator[str]:
    """Yield two tables: springs alone, beside others'; and what a crowd costs in all."""
    yield table(
        f"Springs: {STRANDS * LINKS} joints, 8 colliders each, figures of {BODY} bones",
        "frames of a character per second",
        list(_spring_rows()),
    )
    yield table(
        f"A VRM crowd: 8 constraints, springs, palettes, skins of {VERTICES} vertices",
        "frames of a character per second, 60 are real time",
        list(_crowd_rows()),
    )
    _core.set_thread_count(0)


def _spring_rows() -> Iterator[Row]:
    skeleton, rig = _character()
    springs, pose = Springs(skeleton, rig), _pose(skeleton, FRAMES)
    for crowd, threads in ((1, 1), (100, 1), (100, 2)):
        _core.set_thread_count(threads)
        given = _as_json(skeleton, rig, pose, crowd)
        members = [(springs, pose, None)] * crowd
        contenders: dict[str, Contender] = {"bunraku": lambda m=members: swing_crowd(m)}
        if threads == 1 and crowd > 1:  # what NumPy is good at; for one figure it is hopeless
            contenders["NumPy"] = lambda g=given: peers.crowd_in_numpy(g)
        node = _three_vrm(given) if threads == 1 else None
        if node is not None:
            contenders["three-vrm"] = node.run
        _check(contenders, springs)
        seconds = compare(contenders, 3)
        if node is not None:
            node.close()
        yield Row(f"{crowd} characters, {threads} thread(s)", seconds, crowd * FRAMES)


def _three_vrm(given: dict[str, Any]) -> peers.ThreeVrm | None:
    try:
        return peers.ThreeVrm(given)
    except OSError:
        return None


def _crowd_rows() -> Iterator[Row]:
    crowd, frames = 20, FRAMES
    skeleton, rig = _character()
    springs, skin = Springs(skeleton, rig), Skin(np.arange(len(skeleton), dtype=np.int32))
    geometry = _skin_geometry(len(skeleton))
    poses = [_pose(skeleton, frames, 0.1 * i) for i in range(crowd)]
    out = np.empty((frames, VERTICES, 3), np.float32)

    def swung() -> list[Pose]:
        turned = [constrain(skeleton, rig, pose) for pose in poses]
        return [done.pose for done in swing_crowd([(springs, pose, None) for pose in turned])]

    def posed() -> list[Any]:
        return [palette(skin, global_transforms(skeleton, pose)) for pose in swung()]

    def deformed() -> None:
        for matrices in posed():
            deform_into(geometry, matrices, out)

    stages = {"constraints, springs": swung, "and palettes": posed, "and skins": deformed}
    for threads in (1, 2):
        _core.set_thread_count(threads)
        for name, stage in stages.items():
            seconds = compare({"bunraku": stage}, 3)
            yield Row(f"{crowd} characters, {name}, {threads} thread(s)", seconds, crowd * frames)


def _check(contenders: dict[str, Contender], springs: Springs) -> None:
    """The peers swing the same way. three-vrm measures a link's length to where its child was a
    step ago, but for the first of a strand: only those agree."""
    ours: Any = contenders["bunraku"]()
    for name, every in (("NumPy", 1), ("three-vrm", LINKS)):
        if name in contenders:
            answer: Any = contenders[name]()
            found = np.asarray(answer).reshape(-1, len(springs.nodes), 4)[0, ::every]
            expected = ours[0].pose.rotations[-1, springs.nodes[::every]]
            off = np.abs(found * np.sign((found * expected).sum(1, keepdims=True)) - expected).max()
            if not off < 1e-7:
                raise AssertionError(f"{name} disagrees by {off}")


def _character() -> tuple[Skeleton, Rig]:
    """A spine of 22 bones; strands around the head and the hips, shapes along the body."""
    parents = [-1, *range(BODY - 1)]
    places = [(0.0, 0.9, 0.0), *[(0.0, 0.04, 0.0)] * (BODY - 1)]
    joints = []
    for strand in range(STRANDS):
        parent = BODY - 1 if strand % 2 else 0
        angle = 2 * np.pi * strand / STRANDS
        place = (0.12 * np.cos(angle), 0.0, 0.12 * np.sin(angle))
        chain = []
        for _ in range(LINKS + 1):
            chain.append(len(parents))
            parents.append(parent)
            places.append(place)
            parent, place = chain[-1], (0.02 * np.cos(angle), -0.06, 0.02 * np.sin(angle))
        joints.append(
            tuple(
                SpringJoint(a, b, None, 0.8, 0.3, drag=0.4, hit_radius=0.01)
                for a, b in pairwise(chain)
            )
        )
    shapes = [Collider(3 * i, "sphere", np.array([0, 0.02, 0.0]), 0.1) for i in range(6)]
    shapes += [
        Collider(2 + i, "capsule", np.array([0.05, 0, 0]), 0.08, tail=np.array([0.05, -0.3, 0.05]))
        for i in range(2)
    ]
    springs = tuple(Spring("", chain, tuple(range(8))) for chain in joints)
    constraints = []
    for i in range(8):  # a twist bone beside each of eight bones
        constraints.append(RollConstraint(len(parents), 2 * i + 1, "Y", 0.5))
        parents.append(2 * i)
        places.append((0.0, 0.02, 0.0))
    skeleton = Skeleton(
        tuple(f"n{i}" for i in range(len(parents))), np.array(parents), np.array(places)
    )
    return skeleton, Rig(springs=springs, colliders=tuple(shapes), constraints=tuple(constraints))


def _pose(skeleton: Skeleton, frames: int, phase: float = 0.0) -> Pose:
    """The figure walks in a circle."""
    time = np.arange(frames) * STEP + phase
    moves = np.tile(skeleton.translations, (frames, 1, 1))
    moves[:, 0, 0] += 0.5 * np.sin(2 * np.pi * time)
    moves[:, 0, 2] += 0.5 * np.cos(2 * np.pi * time)
    turns, scales = (
        np.tile(each, (frames, 1, 1)) for each in (skeleton.rotations, skeleton.scales)
    )
    return Pose(moves, turns, scales)


def _skin_geometry(joints: int) -> Geometry:
    random = np.random.default_rng(3)
    base = random.integers(0, joints - 4, (VERTICES, 1)) + np.arange(4)
    weights = random.uniform(0.1, 1, (VERTICES, 4))
    return Geometry(
        random.uniform(-1, 1, (VERTICES, 3)).astype(np.float32),
        joints=base.astype(np.int32),
        weights=(weights / weights.sum(axis=1, keepdims=True)).astype(np.float32),
    )


def _as_json(skeleton: Skeleton, rig: Rig, pose: Pose, crowd: int) -> dict[str, Any]:
    return {
        "crowd": crowd,
        "parents": skeleton.parents.tolist(),
        "translations": skeleton.translations.tolist(),
        "motion": pose.translations[:, 0].tolist(),
        "joints": [
            {
                "node": joint.node,
                "child": joint.child,
                "stiffness": joint.stiffness,
                "gravity": joint.gravity_power,
                "drag": joint.drag,
                "radius": joint.hit_radius,
            }
            for spring in rig.springs
            for joint in spring.joints
        ],
        "colliders": [
            {
                "node": shape.node,
                "offset": shape.offset.tolist(),
                "tail": None if shape.tail is None else shape.tail.tolist(),
                "radius": shape.radius,
            }
            for shape in rig.colliders
        ],
    }
