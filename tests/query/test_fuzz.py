"""Hostile scenes and rays: every tree answers as testing each primitive does, and nothing crashes.

BUNRAKU_FUZZ sets how much is tried; each case is made from its number alone, so a failure is
repeated by its number. Under sanitizers a read or write out of bounds fails, too.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from bunraku.model import Geometry
from bunraku.query import Bvh, Scene, SkinTree
from bunraku.query.posed import FEWEST_RAYS
from bunraku.skinning import deform
from tests.query.rigs import KINDS, assert_same, palette, rays_at, skin
from tests.reference import query as reference

COUNT = int(os.environ.get("BUNRAKU_FUZZ", "600")) // 4
LARGEST = np.float32(2.0**60)
HOSTILE = np.array(
    [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-45, -1e-40, 1.2e-38, 1e7, 1e18, -1.2e18, -3.4e38],
    np.float32,
)
COUNTS = (0, 1, 2, 3, 8, 9, 17, 65, 300)
MANY = 7000  # so many packets that scattered rays walk by turns
RAYS = 48


def tried(case: Callable[[np.random.Generator], None], count: int) -> None:
    for number in range(count):
        try:
            with np.errstate(all="ignore"):
                case(np.random.default_rng(number))
        except Exception as error:
            raise AssertionError(f"case {number}: {type(error).__name__}: {error}") from error


def size(rng: np.random.Generator) -> int:
    return MANY if rng.random() < 0.03 else int(rng.choice(COUNTS))


def numbers(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    """Of one scale and place, or small whole ones, which tie; and some that are hostile."""
    kind = rng.integers(4)
    if kind == 0:
        found = rng.integers(-2, 3, shape).astype(np.float32)
    else:
        scale, offset = 10.0 ** rng.uniform(-6, 6, 2) * [1, kind == 1]
        found = (rng.normal(size=shape) * scale + offset).astype(np.float32)
    if rng.random() < 0.5:
        spoilt = rng.random(shape) < rng.choice([0.01, 0.1, 0.5])
        found = np.where(spoilt, rng.choice(HOSTILE, shape), found)
    return found


def mesh(rng: np.random.Generator) -> tuple[Any, Any]:
    """Triangles that share vertices or not, some degenerate, some twice."""
    count = size(rng)
    points = numbers(rng, (max(1, 3 * count // int(rng.integers(1, 4))), 3))
    if rng.random() < 0.3:
        points = points[rng.integers(len(points), size=len(points))]
    near = rng.integers(len(points), size=(count, 1)) + rng.integers(-3, 4, (count, 3))
    faces = (near % len(points)).astype(np.int32)
    if count and rng.random() < 0.3:
        faces = faces[rng.integers(count, size=count)]
    return points, faces


def rays(rng: np.random.Generator, points: Any) -> tuple[Any, Any]:
    """At what is there, along axes, in a bundle, and with numbers that are hostile."""
    finite = points[(np.abs(points) < 1e18).all(axis=1)] if len(points) else points
    finite = finite if len(finite) else np.zeros((1, 3), np.float32)
    aims = finite[rng.integers(len(finite), size=RAYS)].astype(np.float64)
    extent = max(float(np.ptp(finite.astype(np.float64), axis=0).max()), 1e-30)
    origins = aims + rng.normal(size=(RAYS, 3)) * extent
    if rng.random() < 0.2:
        origins[:] = origins[0]
    directions = aims - origins
    along = rng.random(RAYS) < 0.3
    directions[along] = np.eye(3)[rng.integers(3, size=RAYS)][along] * rng.choice([-1.0, 1.0])
    o, d = origins.astype(np.float32), directions.astype(np.float32)
    at_rest = rng.random(o.shape) < 0.1
    o = np.where(at_rest, aims.astype(np.float32), o)
    for array in (o, d):
        spoilt = rng.random(array.shape) < rng.choice([0.0, 0.05])
        array[spoilt] = rng.choice(HOSTILE, array.shape)[spoilt]
    d[rng.random(RAYS) < 0.05] = rng.choice([0.0, -0.0, 1e-45])
    return o, d


def limits(rng: np.random.Generator, count: int) -> dict[str, Any]:
    given: dict[str, Any] = {}
    if rng.random() < 0.3:
        given["t_min"] = rng.choice([0, -0.0, -1, 0.5, np.nan, -np.inf, 1e-40], RAYS)
    if rng.random() < 0.3:
        given["t_max"] = rng.choice([0, 1, 1e30, np.nan, np.inf, -np.inf], RAYS)
    if rng.random() < 0.3:
        given["skip"] = rng.integers(-1, count + 2, RAYS)
    if rng.random() < 0.3:
        given["front_only"] = True
    return given


def options(rng: np.random.Generator) -> dict[str, Any]:
    return {
        "builder": str(rng.choice(["sah", "median"])),
        "width": int(rng.integers(2, 9)),
        "leaf_size": int(rng.integers(1, 9)),
    }


def bits(hits: Any, names: tuple[str, ...] = ("t", "primitive", "u", "v")) -> Any:
    return np.stack([getattr(hits, name).view(np.int32) for name in names])


def check(tree: Bvh, o: Any, d: Any, given: dict[str, Any]) -> Any:
    """All ways to ask one tree agree with testing each primitive; returns the closest hits."""
    expected = tree.closest_hit(o, d, by_force=True, counts=True, **given)
    assert set(expected.primitive_tests.tolist()) <= {0, tree.primitive_count}  # none is lost
    assert (bits(tree.closest_hit(o, d, normals=True, **given)) == bits(expected)).all()
    assert (bits(tree.closest_hit(o, d, counts=True, **given)) == bits(expected)).all()
    assert (tree.any_hit(o, d, **given) == expected.hit).all()
    everything = tree.all_hits(o, d, **given)
    assert (np.diff(everything.first) == tree.count_hits(o, d, **given)).all()
    for r in range(len(o)):
        found = everything.of(r)
        order = list(zip(everything.t[found], everything.primitive[found], strict=True))
        assert order == sorted(order)
        assert len({primitive for _, primitive in order}) == len(order)
        first = order[0] if order else (np.inf, -1)
        assert first == (expected.t[r], expected.primitive[r])
    if not given:
        for r in range(4):
            hit = tree.cast(o[r], d[r])
            assert hit == (
                (expected.t[r], expected.primitive[r], expected.u[r], expected.v[r])
                if expected.hit[r]
                else None
            )
    return expected


def check_reference(points: Any, faces: Any, o: Any, d: Any, hits: Any) -> int:
    """The slow tests, one triangle after another; rays that are none hit nothing."""
    found = 0
    for r in range(12):
        ray = np.concatenate([o[r], d[r]])
        if not np.isfinite(ray).all() or not d[r].any():
            assert hits.primitive[r] == -1
        elif (np.abs(o[r]) <= LARGEST).all():
            answer = (hits.t[r], hits.primitive[r], hits.u[r], hits.v[r])
            assert answer == reference.closest(points, faces, o[r], d[r])
            found += answer[1] >= 0
    return found


def test_triangles():
    met = 0

    def case(rng: np.random.Generator) -> None:
        nonlocal met
        points, faces = mesh(rng)
        tree = Bvh(points, faces, **options(rng))
        o, d = rays(rng, points)
        given = limits(rng, len(faces))
        hits = check(tree, o, d, given)
        if not given and len(faces) <= 17:
            met += check_reference(points, faces, o, d, hits)
        # What cannot be hit hides nothing: the answers are those of a tree without it.
        whole = np.flatnonzero((np.abs(points[faces]) <= LARGEST).all(axis=(1, 2)))
        if "skip" not in given:
            kept = Bvh(points, faces[whole]).closest_hit(o, d, **given)
            assert (bits(kept, ("t", "u", "v")) == bits(hits, ("t", "u", "v"))).all()
            assert (np.append(whole, -1)[kept.primitive] == hits.primitive).all()
        moved = numbers(rng, points.shape)
        tree.refit(moved)
        again = check(tree, *rays(rng, moved), limits(rng, len(faces)))
        assert again.t.dtype == np.float32
        tree.update(points)
        assert (bits(tree.closest_hit(o, d, **given)) == bits(hits)).all()
        assert tree.depth <= 96
        assert tree.nbytes >= 0
        assert tree.sah_cost >= 0

    tried(case, COUNT)
    assert met > COUNT / 10  # the rays are not all in vain


def test_boxes_and_spheres():
    def case(rng: np.random.Generator) -> None:
        count = size(rng)
        points, extents = numbers(rng, (count, 3)), np.abs(numbers(rng, (count, 3)))
        extents *= rng.choice([1e-3, 1, 1, -1])
        boxes = rng.random() < 0.5

        def of(points: Any, extents: Any) -> tuple[Any, Any]:
            return (points, points + extents) if boxes else (points, extents[:, 0])

        make = Bvh.of_boxes if boxes else Bvh.of_spheres
        tree = make(*of(points, extents), **options(rng))
        check(tree, *rays(rng, points), limits(rng, count))
        moved = numbers(rng, points.shape)
        tree.refit(*of(moved, extents))
        o, d = rays(rng, moved)
        new = make(*of(moved, extents)).closest_hit(o, d)
        assert (bits(check(tree, o, d, {})) == bits(new)).all()

    tried(case, COUNT)


def test_points_and_volumes():
    """Trees of different shapes agree about what is near, around and inside."""

    def case(rng: np.random.Generator) -> None:
        points, faces = mesh(rng)
        trees = [Bvh(points, faces), Bvh(points, faces, **options(rng))]
        at = rays(rng, points)[0]
        reach = rng.choice([np.inf, 1.0, 0.0, np.nan])
        one, other = (tree.closest_point(at, max_distance=reach) for tree in trees)
        names = ("distance", "primitive", "u", "v")
        assert (bits(one, names) == bits(other, names)).all()
        assert one.point.tobytes() == other.point.tobytes()
        assert (trees[0].winding(at) == trees[1].winding(at)).all()
        low, high = np.sort(numbers(rng, (2, 3)), axis=0)
        if np.isfinite([low, high]).all():
            assert (trees[0].overlap_box(low, high) == trees[1].overlap_box(low, high)).all()
            radius = float(np.abs(high[0]))
            found = [tree.overlap_sphere(low, radius) for tree in trees]
            assert (found[0] == found[1]).all()

    tried(case, COUNT)


def test_scenes():
    def case(rng: np.random.Generator) -> None:
        meshes = [mesh(rng) for _ in range(2)]
        trees = [Bvh(points, faces) for points, faces in meshes]
        count = int(rng.integers(0, 5))
        transforms = np.tile(np.eye(4), (count, 1, 1))
        transforms[:, :3] += rng.normal(size=(count, 3, 4)) * rng.choice([0, 0.1, 1e3])
        scene = Scene(trees, rng.integers(2, size=count), transforms)
        o, d = rays(rng, meshes[0][0])
        hits = scene.closest_hit(o, d, normals=True)
        assert (scene.any_hit(o, d) == hits.hit).all()
        assert ((hits.instance >= 0) == hits.hit).all()
        every = scene.all_hits(o, d)
        met = np.diff(every.first) > 0
        assert (met == hits.hit).all()
        first = every.first[:-1][met]
        assert (every.t[first] == hits.t[met]).all()
        assert (every.instance[first] == hits.instance[met]).all()

    tried(case, COUNT // 3)


def test_posed_trees():
    met = 0

    def case(rng: np.random.Generator) -> None:
        nonlocal met
        joints, morphs = int(rng.integers(1, 12)), int(rng.integers(0, 3))
        geometry, faces = skin(
            rng,
            vertices=int(rng.choice([1, 2, 9, 60, 300])),
            influences=int(rng.integers(1, 9)),
            joints=joints,
            morphs=morphs,
            local=rng.random() < 0.5,
        )
        positions = geometry.positions * np.float32(10.0 ** rng.integers(-5, 6))
        spoilt = rng.random(positions.shape) < rng.choice([0, 0.02])
        positions[spoilt] = rng.choice(HOSTILE[np.isfinite(HOSTILE)], positions.shape)[spoilt]
        geometry = Geometry(
            positions,
            joints=geometry.joints,
            weights=geometry.weights,
            morphs=geometry.morphs,
        )
        tree = SkinTree(geometry, faces[: len(faces) - int(rng.integers(0, 2))])
        for method in ("lbs", "dqs"):
            matrices = palette(rng, joints, str(rng.choice(KINDS)))
            if rng.random() < 0.1:
                matrices[0, :, :3] *= np.float32(10.0 ** rng.integers(-40, 38))
            weights = rng.normal(size=morphs).astype(np.float32)
            posed = tree.at(matrices, method=method, morph_weights=weights)
            bent = deform(geometry, matrices, method=method, morph_weights=weights).positions[0]
            near = bent[np.isfinite(bent).all(axis=1) & (np.abs(bent) < 1e15).all(axis=1)]
            o, d = rays_at(rng, near, FEWEST_RAYS // 4)
            met += assert_same(posed, bent, tree.faces, o, d)
            assert posed._bvh is None

    tried(case, COUNT // 2)
    assert met > COUNT / 10
