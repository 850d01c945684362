"""Rays against trees: batches, builds, updates, single rays, bytes; ours beside every peer.

Like with like: embreex, Open3D and the C interface run Embree's robust mode, ours is watertight.
Every round has fresh rays, the same for all. One thread is timed by the process's clock, so that a
busy machine does not count, nor a peer's other threads for free; two by the wall's.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from math import exp, log
from statistics import median
from typing import Any

import numpy as np

from benchmarks.harness import Row, compare, installed, table
from benchmarks.peers import embree
from benchmarks.peers.rays import Warp, installed_peers
from bunraku import _core
from bunraku.query import Bvh
from tests.conftest import shared_folder
from tests.query.scenes import icosphere, soup

SIDE = 384  # rays of a batch: its square
ROUNDS = 7
KINDS = ("primary", "shadow", "incoherent", "incoherent any hit")


def run() -> Iterator[str]:
    """Yield batches for one thread and two, then builds, updates, single rays and memory."""
    yield "with " + ", ".join(installed(("embreex", "open3d", "trimesh", "warp-lang", "fcpw")))
    meshes = scenes()
    cells: list[float] = []
    for threads in (1, 2):
        rows, checks = [], []
        for name, (vertices, faces) in meshes.items():
            more, differing = _batches(name, vertices, faces, threads)
            rows += more
            checks.append(f"{name}: {differing}")
        yield table(f"Rays on {threads} thread(s)", "rays per second", rows)
        ratios = [
            min(s for n, s in r.seconds.items() if n != "bunraku") / r.seconds["bunraku"]
            for r in rows
        ]
        cells += ratios
        yield f"geometric mean of × {_mean(ratios):.2f}, least {min(ratios):.2f}"
        yield "faces that differ, per million rays: " + "; ".join(checks)
    yield f"all cells: geometric mean {_mean(cells):.2f}, least {min(cells):.2f}"
    for threads in (1, 2):
        yield table(
            f"Builds on {threads} thread(s)", "triangles per second", list(_builds(meshes, threads))
        )
    yield table("Updates on one thread", "triangles per second", [_updates(*meshes["80k"])])
    yield _single(*meshes["80k"])
    yield _memory(meshes)
    _core.set_thread_count(0)


def scenes() -> dict[str, tuple[Any, Any]]:
    """Name and mesh: two closed ones, a soup, and a real character where the corpus is at hand."""
    found = {"80k": icosphere(6, 0.05), "1.3M": icosphere(8, 0.05), "soup": soup(200_000, 0.02, 0)}
    corpus = shared_folder("corpus")
    path = corpus and corpus / "vrm_mmd" / "V-Sekai__godot-vrm__Godette_vrm_v4.vrm"
    if path and path.exists():
        from bunraku import load

        parts, vertices, count = [], [], 0
        for mesh in load(path).meshes:
            for part in mesh.parts:
                positions = mesh.geometries[part.geometry].positions
                parts.append(part.faces + count)
                vertices.append(positions)
                count += len(positions)
        found["character"] = np.concatenate(vertices), np.concatenate(parts).astype(np.int32)
    return found


def _rays(kind: str, tree: Bvh, rng: Any) -> tuple[Any, Any]:
    low, high = tree.bounds.astype(np.float64)
    center, size = (low + high) / 2, float((high - low).max()) / 2
    if kind.startswith("incoherent"):
        o = rng.uniform(center - 1.2 * size, center + 1.2 * size, (SIDE * SIDE, 3))
        return o.astype(np.float32), rng.standard_normal((SIDE * SIDE, 3)).astype(np.float32)
    turn = rng.uniform(0, 2 * np.pi)
    eye = np.array([np.cos(turn), 0.3, np.sin(turn)]) * 3
    ahead = -eye / np.linalg.norm(eye)
    right = np.cross(ahead, [0, 1, 0])
    right /= np.linalg.norm(right)
    x, y = np.meshgrid(*[(np.arange(SIDE) + rng.random()) / SIDE * 0.84 - 0.42] * 2)
    d = ahead + x[..., None] * right - y[..., None] * np.cross(right, ahead)
    d = d.reshape(-1, 3).astype(np.float32)
    o = np.broadcast_to((center + size * eye).astype(np.float32), d.shape).copy()
    if kind == "primary":
        return o, d
    hits = tree.closest_hit(o, d)
    at = o + 0.999 * np.where(hits.hit, hits.t, 1)[:, None] * d
    light = center + size * np.array([4, 5, 3])
    return at.astype(np.float32), (light - at).astype(np.float32)


def _batches(name: str, vertices: Any, faces: Any, threads: int) -> tuple[list[Row], str]:
    _core.set_thread_count(threads)
    ours = Bvh(vertices, faces)
    peers = {
        n: peer(vertices, faces, threads)
        for n, peer in installed_peers().items()
        if peer.threads >= threads
    }
    clock = time.process_time if threads == 1 else time.perf_counter
    rng = np.random.default_rng(1)
    rows, differing = [], dict.fromkeys(peers, 0.0)
    for kind in KINDS:
        closest = kind in ("primary", "incoherent")
        asks: dict[str, Callable[[Any, Any], Any]] = {
            "bunraku": ours.closest_hit if closest else ours.any_hit,
            **{n: p.closest if closest else p.any for n, p in peers.items()},
        }
        taken: dict[str, list[float]] = {n: [] for n in asks}
        for round_ in range(-1, ROUNDS):
            o, d = _rays(kind, ours, rng)
            for n, ask in asks.items():
                start = clock()
                answer = ask(o, d)
                if round_ >= 0:
                    taken[n].append(clock() - start)
                if n == "bunraku":
                    expected = answer.primitive if closest else answer
                    continue
                found = answer[1] if closest else answer
                if found is not None:
                    share = np.mean(found != expected)
                    differing[n] += float(share) * 1e6 / (ROUNDS + 1) / len(KINDS)
        rows.append(Row(f"{name} {kind}", {n: median(s) for n, s in taken.items()}, SIDE * SIDE))
    return rows, ", ".join(f"{n} {count:.1f}" for n, count in differing.items() if n != "fcpw")


def _mean(ratios: list[float]) -> float:
    return exp(sum(map(log, ratios)) / len(ratios))


def _timed(contenders: dict[str, Callable[[], Any]], rounds: int, clock: Any) -> dict[str, float]:
    taken: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, build in contenders.items():
            start = clock()
            made = build()
            taken[name].append(clock() - start)
            if hasattr(made, "release"):
                made.release()
            del made
    return {name: median(seconds) for name, seconds in taken.items()}


def _builds(meshes: dict[str, Any], threads: int) -> Iterator[Row]:
    _core.set_thread_count(threads)
    lib = embree.library()
    clock = time.process_time if threads == 1 else time.perf_counter
    for name in ("80k", "1.3M", "soup"):
        v, f = meshes[name]
        contenders: dict[str, Callable[[], Any]] = {"bunraku": lambda v=v, f=f: Bvh(v, f)}
        if lib is not None:
            contenders["Embree"] = lambda v=v, f=f: embree.Scene(lib, v, f, threads, None)
        for n, peer in installed_peers().items():
            if n != "trimesh" and peer.threads >= threads:
                contenders[n] = lambda peer=peer, v=v, f=f: peer(v, f, threads)
        yield Row(name, _timed(contenders, 3, clock), len(f))


def _updates(v: Any, f: Any) -> Row:
    _core.set_thread_count(1)
    tree = Bvh(v, f)
    moving = [v * np.float32(1 + 0.01 * i) for i in range(5)]
    contenders: dict[str, Callable[[], Any]] = {"bunraku": lambda: [tree.refit(m) for m in moving]}
    lib = embree.library()
    if lib is not None:
        dynamic = embree.Scene(lib, v, f, 1, embree.LOW)
        refitting = embree.Scene(lib, v, f, 1, embree.REFIT)
        contenders["Embree dynamic"] = lambda: [dynamic.update(m) for m in moving]
        contenders["Embree refit quality"] = lambda: [refitting.update(m) for m in moving]
    if "warp" in installed_peers():
        mesh = Warp(v, f, 1)
        contenders["warp"] = lambda: [mesh.refit(m) for m in moving]
    return Row("80k", _timed(contenders, 7, time.process_time), 5 * len(f))


def _single(v: Any, f: Any) -> str:
    tree = Bvh(v, f)
    rng = np.random.default_rng(2)
    rays = [(o, -o) for o in rng.standard_normal((1000, 3)).astype(np.float32) * 3]
    flat = [(*o.tolist(), *d.tolist()) for o, d in rays]
    batches = [(o[None], d[None]) for o, d in rays]
    contenders: dict[str, Callable[[], Any]] = {
        "scalar door": lambda: [tree.cast(*r) for r in flat],
        "arrays door": lambda: [tree.cast(o, d) for o, d in rays],
        "a batch of one": lambda: [tree.closest_hit(o, d) for o, d in batches],
    }
    if "embreex" in installed_peers():
        peer = installed_peers()["embreex"](v, f, 1)
        contenders["embreex"] = lambda: [peer.faces_only(o, d) for o, d in batches]
    taken = compare(contenders)
    return "### One ray from Python, 80k\n\n" + ", ".join(
        f"{name} {1e3 * seconds:.2f} µs" for name, seconds in taken.items()
    )


def _memory(meshes: dict[str, Any]) -> str:
    lib = embree.library()
    lines = ["### Memory of the tree", "", "| scene | bunraku | Embree |", "|---|---|---|"]
    for name, (v, f) in meshes.items():
        theirs = "–"
        if lib is not None:
            scene = embree.Scene(lib, v, f, 1, None)
            theirs = f"{scene.bytes / 1e6:.1f} MB"
            scene.release()
        lines.append(f"| {name} | {Bvh(v, f).nbytes / 1e6:.1f} MB | {theirs} |")
    return "\n".join(lines)
