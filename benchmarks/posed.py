"""`python -m benchmarks posed`: a ray on a posed character, against bending it first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median
from time import perf_counter

import numpy as np

import bunraku
from bunraku import _core
from bunraku.model import Geometry, MorphTarget
from bunraku.model.arrays import Float32, Int32
from bunraku.query import Bvh
from bunraku.query.posed import Method, SkinTree
from bunraku.skinning import deform_into

# Parts into which every edge of the puppet's body is cut: 5 thousand to 5 million triangles.
PARTS = (1, 3, 8, 23)
RAYS, ROUNDS = 64, 5
METHODS: tuple[Method, ...] = ("lbs", "dqs")
CASES: tuple[tuple[str, Method, bool], ...] = (
    ("LBS", "lbs", False),
    ("DQS", "dqs", False),
    ("LBS, two morphs", "lbs", True),
)


def run() -> Iterator[str]:
    """The tables, one after another, on one thread: with two, bending takes a little over half."""
    _core.set_thread_count(1)
    rows, growth, even = [], [], []
    for parts in PARTS:
        figure = Figure.cut(parts)
        growth.append(_growth(figure))
        if len(figure.faces) > 1_000_000:
            continue
        for case, method, morphs in CASES:
            rows.append(_pick(figure, case, method, morphs))
        even.append(_break_even(figure))
    _core.set_thread_count(0)
    yield "\n".join(
        [
            "### One ray on a posed character",
            "",
            "Each ray has a pose of its own, after another pose; beside it the same ray after "
            "bending all vertices and refitting a tree. Medians over rays of the best of five. "
            "Same triangle, same bits of t.",
            "",
            "| triangles | method | posed, µs | bend + refit + trace, µs | × | leaves bent | "
            "nodes not bounded |",
            "|---|---|---|---|---|---|---|",
            *rows,
        ]
    )
    yield "\n".join(
        [
            "### Growth with the mesh",
            "",
            "| triangles | µs a ray | µs a ray at one pose | tree, MB | build, s |",
            "|---|---|---|---|---|",
            *growth,
        ]
    )
    yield "\n".join(
        [
            "### Many rays at one pose",
            "",
            "| triangles | LBS: µs a ray | bend + refit, µs | rays from which that is cheaper | "
            "DQS: µs a ray | bend + refit, µs | rays |",
            "|---|---|---|---|---|---|---|",
            *even,
        ]
    )


@dataclass(frozen=True)
class Figure:
    """The puppet's body in finer triangles, at some moments of its dance, and rays at it."""

    geometry: Geometry
    faces: Int32
    palettes: Float32
    origins: Float32
    directions: Float32

    @classmethod
    def cut(cls, parts: int) -> Figure:
        puppet = bunraku.make_puppet()
        stage = bunraku.Stage(puppet, 0)
        mesh = puppet.meshes[stage.ranges[0].mesh]
        faces = np.concatenate([part.faces for part in mesh.parts if part.geometry == 0])
        geometry, finer = _cut(mesh.geometries[0], faces, parts)
        times = np.linspace(0, 4, RAYS)
        palettes = bunraku.posing.palette(puppet.skins[0], stage.global_transforms(times))
        rng = np.random.default_rng(parts)
        origins = rng.normal(size=(RAYS, 3)) + [0, 1, 0]
        targets = _bent(geometry, palettes[:1], "lbs", None)[
            rng.integers(0, geometry.vertex_count, RAYS)
        ]
        origins = (
            targets + 2 * (origins - targets) / np.linalg.norm(origins - targets, axis=1)[:, None]
        )
        return cls(
            geometry,
            finer,
            palettes,
            origins.astype(np.float32),
            (targets - origins).astype(np.float32),
        )


def _pick(figure: Figure, case: str, method: Method, with_morphs: bool) -> str:
    geometry = figure.geometry
    weights = None
    if with_morphs:
        weights = np.array([0.7, 0.4], np.float32)
        geometry = _with_morphs(geometry)
    tree = SkinTree(geometry, figure.faces)
    bvh = Bvh(geometry.positions, figure.faces)
    rays = np.concatenate([figure.origins, figure.directions], axis=1).tolist()

    def posed(i: int) -> object:
        return tree.cast(figure.palettes[i], method, weights, *rays[i])

    def bent(i: int) -> object:
        bvh.refit(_bent(geometry, figure.palettes[i : i + 1], method, weights))
        return bvh.cast(*rays[i])

    least: dict[str, list[float]] = {"posed": [], "bent": []}
    for i in range(RAYS):
        taken: dict[str, list[float]] = {"posed": [], "bent": []}
        for _ in range(ROUNDS):
            for name, ask in (("bent", bent), ("posed", posed)):
                posed((i + 7) % RAYS)  # what another pose leaves in the caches
                start = perf_counter()
                ask(i)
                taken[name].append(perf_counter() - start)
        for name, seconds in taken.items():
            least[name].append(min(seconds))
        if posed(i) != bent(i):
            raise AssertionError(f"{case}: the answers differ")
    ours, theirs = median(least["posed"]) * 1e6, median(least["bent"]) * 1e6
    lanes, unbounded, leaves = _effort(tree, figure, method, weights)
    return (
        f"| {len(figure.faces):,} | {case} | {ours:.1f} | {theirs:,.0f} | {theirs / ours:.0f} | "
        f"{leaves:.1f} | {unbounded / lanes:.1%} |"
    )


def _effort(
    tree: SkinTree, figure: Figure, method: Method, weights: Float32 | None
) -> tuple[int, int, float]:
    """Lanes of the tree in all poses, those without bounds, and leaves bent for a ray."""
    lanes = unbounded = 0
    triangles = np.zeros(1, np.int32)
    bent = 0
    for i in range(0, RAYS, 4):
        pose = tree._tree.pose(figure.palettes[i], method, weights)
        count, without = pose.survey()
        lanes, unbounded = lanes + count, unbounded + without
        pose.closest(
            figure.origins[i : i + 1],
            figure.directions[i : i + 1],
            np.zeros(1, np.float32),
            np.full(1, np.inf, np.float32),
            np.full(1, -1, np.int32),
            False,
            np.empty(1, np.float32),
            np.empty(1, np.int32),
            np.empty(1, np.float32),
            np.empty(1, np.float32),
            None,
            np.zeros(1, np.int32),
            triangles,
        )
        bent += int(triangles[0]) // 8
    return lanes, unbounded, bent / (RAYS // 4)


def _growth(figure: Figure) -> str:
    start = perf_counter()
    tree = SkinTree(figure.geometry, figure.faces)
    build = perf_counter() - start
    rays = np.concatenate([figure.origins, figure.directions], axis=1).tolist()
    pose = tree.at(figure.palettes[0])
    new = _least(
        lambda: [tree.cast(p, "lbs", None, *r) for p, r in zip(figure.palettes, rays, strict=True)]
    )
    same = _least(lambda: [pose.cast(*ray) for ray in rays])
    new, same = new / RAYS * 1e6, same / RAYS * 1e6
    return (
        f"| {len(figure.faces):,} | {new:.1f} | {same:.1f} | {tree.nbytes / 2**20:.1f} | "
        f"{build:.2f} |"
    )


def _break_even(figure: Figure) -> str:
    """From how many rays at one pose on a refitted tree is cheaper, by the best of each."""
    tree, bvh = (
        SkinTree(figure.geometry, figure.faces),
        Bvh(figure.geometry.positions, figure.faces),
    )
    rays = np.concatenate([figure.origins, figure.directions], axis=1).tolist()
    cells = []
    trace = _least(lambda: [bvh.cast(*ray) for ray in rays]) / RAYS
    for method in METHODS:
        pose = tree.at(figure.palettes[9], method=method)
        posed = _least(lambda: [pose.cast(*ray) for ray in rays]) / RAYS  # noqa: B023
        bent = _least(
            lambda: bvh.refit(_bent(figure.geometry, figure.palettes[9:10], method, None))  # noqa: B023
        )
        cells.append(f"{posed * 1e6:.1f} | {bent * 1e6:,.0f} | {bent / (posed - trace):,.0f}")
    return f"| {len(figure.faces):,} | {' | '.join(cells)} |"


def _least(run: Callable[[], object], rounds: int = 25) -> float:
    seconds = []
    for _ in range(rounds):
        start = perf_counter()
        run()
        seconds.append(perf_counter() - start)
    return min(seconds)


def _bent(geometry: Geometry, palette: Float32, method: Method, weights: Float32 | None) -> Float32:
    out = np.empty((1, geometry.vertex_count, 3), np.float32)
    deform_into(geometry, palette, out, method=method, morph_weights=weights)
    bent: Float32 = out[0]
    return bent


def _with_morphs(geometry: Geometry) -> Geometry:
    """Two targets: the head grows wide, the whole body breathes."""
    p = geometry.positions
    head = np.flatnonzero(p[:, 1] > np.quantile(p[:, 1], 0.85)).astype(np.int32)
    chest = np.flatnonzero(np.abs(p[:, 1] - np.median(p[:, 1])) < 0.3).astype(np.int32)
    targets = (
        MorphTarget(head, p[head] * np.array([0.1, 0, 0], np.float32)),
        MorphTarget(chest, p[chest] * np.array([0, 0, 0.2], np.float32)),
    )
    return Geometry(p, joints=geometry.joints, weights=geometry.weights, morphs=targets)


def _cut(geometry: Geometry, faces: Int32, parts: int) -> tuple[Geometry, Int32]:
    """Every triangle into parts² of them; positions and weights run evenly between its corners."""
    assert geometry.joints is not None
    assert geometry.weights is not None
    steps = [(i, j) for i in range(parts + 1) for j in range(parts + 1 - i)]
    number = {step: n for n, step in enumerate(steps)}
    share = np.array([(parts - i - j, i, j) for i, j in steps])
    small = [
        (number[i, j], number[i + 1, j], number[i, j + 1]) for i, j in steps if i + j < parts
    ] + [
        (number[i + 1, j], number[i + 1, j + 1], number[i, j + 1])
        for i, j in steps
        if i + j < parts - 1
    ]
    # A point on an edge is the same for both triangles: known by its corners and their shares.
    corners = np.where(share[None] > 0, faces[:, None, :], -1).reshape(-1, 3)
    shares = np.broadcast_to(share, (len(faces), *share.shape)).reshape(-1, 3)
    order = np.argsort(corners, axis=1)
    key = np.take_along_axis(corners, order, 1).astype(np.int64)
    key = np.concatenate([key, np.take_along_axis(shares, order, 1)], axis=1)
    packed = np.zeros(len(key), np.uint64)
    for column in key.T:
        packed = packed * np.uint64(0x9E3779B97F4A7C15) + (column + 2).astype(np.uint64)
    _, first, index = np.unique(packed, return_index=True, return_inverse=True)
    order = np.argsort(first)  # vertices in the order of the faces, as exporters write them
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    first, index = first[order], place[index]
    kept, amount = np.where(corners < 0, 0, corners)[first], shares[first] / parts
    count = int(geometry.joints.max()) + 1
    dense = np.zeros((geometry.vertex_count, count), np.float32)
    np.add.at(dense, (np.arange(len(dense))[:, None], geometry.joints), geometry.weights)
    joints, weights, positions = [], [], []
    for a in range(0, len(kept), 1 << 18):
        at, by = kept[a : a + (1 << 18)], amount[a : a + (1 << 18), :, None].astype(np.float32)
        blend = (dense[at] * by).sum(axis=1)
        top = np.argpartition(-blend, 4, axis=1)[:, :4]
        most = np.take_along_axis(blend, top, 1)
        joints.append(top.astype(np.int32))
        weights.append(most / most.sum(axis=1, keepdims=True))
        positions.append((geometry.positions[at] * by).sum(axis=1))
    finer = index.reshape(len(faces), len(steps))[:, np.array(small)].reshape(-1, 3)
    figure = Geometry(
        np.concatenate(positions), joints=np.concatenate(joints), weights=np.concatenate(weights)
    )
    return figure, finer.astype(np.int32)
