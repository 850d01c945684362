"""The same bits, whatever shares a call with what, on whichever threads and instruction set."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bunraku import _core
from bunraku.model import Geometry, MorphTarget
from bunraku.skinning import Deformed, deform, deform_into
from tests.skinning import rigs

FRAMES, JOINTS = 17, 9
WEIGHTS = np.random.default_rng(6).normal(size=(FRAMES, 3))
WEIGHTS[::2, 1] = 0
CASES = [(kind, method) for kind in ("rigid", "shear") for method in ("lbs", "dqs", "mix")]


def bend(rig: Geometry, palette, method: str, weights) -> Deformed:
    if method != "mix":
        return deform(rig, palette, method=method, morph_weights=weights)
    mix = np.linspace(0, 1, rig.vertex_count)
    return deform(rig, palette, method="dqs", morph_weights=weights, mix=mix)


def same(a: Deformed, b: Deformed) -> bool:
    pairs = zip(
        (a.positions, a.normals, a.tangents), (b.positions, b.normals, b.tangents), strict=True
    )
    return all(np.array_equal(x, y) for x, y in pairs)


def some(result: Deformed, frames) -> Deformed:
    return Deformed(
        result.positions[frames], result.normals[frames], result.tangents[frames], result.method
    )


def half_rigid() -> np.ndarray:
    """Frames in which no joint stretches beside frames in which some do."""
    palette = rigs.palette(FRAMES, JOINTS, "rigid")
    palette[::3] = rigs.palette(FRAMES, JOINTS, "scale")[::3]
    palette[1::3, ::2] = rigs.palette(FRAMES, JOINTS, "mirror")[1::3, ::2]
    return palette


@pytest.mark.parametrize("method", ["lbs", "dqs", "mix"])
@pytest.mark.parametrize("batch", [1, 2, 3, 4, 5, 7, 8, 11, 16])
def test_frames_do_not_depend_on_the_frames_beside_them(method, batch):
    rig, palette = rigs.geometry(37, 4, JOINTS, morphs=3), half_rigid()
    whole = bend(rig, palette, method, WEIGHTS)
    for start in range(0, FRAMES, batch):
        part = slice(start, start + batch)
        assert same(bend(rig, palette[part], method, WEIGHTS[part]), some(whole, part))


@pytest.mark.parametrize("method", ["lbs", "dqs"])
@pytest.mark.parametrize("frames", [1, 8])
def test_vertices_do_not_depend_on_the_vertices_beside_them(method, frames):
    rig, palette = rigs.geometry(75, 4, JOINTS), half_rigid()[:frames]
    whole = deform(rig, palette, method=method)
    alone = deform(rig, palette, method=method, normals=False, tangents=False)
    for start, stop in ((0, 1), (5, 38), (32, 75)):
        part = Geometry(
            rig.positions[start:stop],
            rig.normals[start:stop],
            rig.tangents[start:stop],
            joints=rig.joints[start:stop],
            weights=rig.weights[start:stop],
        )
        moved = deform(part, palette, method=method)
        np.testing.assert_array_equal(moved.positions, whole.positions[:, start:stop])
        np.testing.assert_array_equal(moved.normals, whole.normals[:, start:stop])
        np.testing.assert_array_equal(moved.tangents, whole.tangents[:, start:stop])
        bare = deform(part, palette, method=method, normals=False, tangents=False)
        np.testing.assert_array_equal(bare.positions, alone.positions[:, start:stop])


def test_neighbours_with_few_joints_and_with_many_give_the_same_bits():
    """Positions alone are summed panel by panel, or vertex by vertex where neighbours scatter."""
    rng = np.random.default_rng(4)
    count, frames = 200, 11
    positions = rng.normal(size=(count, 3)).astype(np.float32)
    joints = np.minimum(np.arange(count)[:, None] // 20 + np.arange(4), JOINTS - 1).astype(np.int32)
    weights = rng.dirichlet(np.ones(4), count).astype(np.float32)
    palette = rigs.palette(frames, JOINTS, "shear")
    order = rng.permutation(count)
    morph = MorphTarget(np.arange(0, count, 3), rng.normal(size=(67, 3)))
    for morphs, given in (((), None), ((morph,), rng.uniform(size=(frames, 1)))):
        near = Geometry(positions, joints=joints, weights=weights, morphs=morphs)
        scattered = Geometry(
            positions[order],
            joints=joints[order],
            weights=weights[order],
            morphs=tuple(_reordered(each, order) for each in morphs),
        )
        for end in (1, 3, frames):
            some = None if given is None else given[:end]
            a = deform(near, palette[:end], morph_weights=some).positions
            b = deform(scattered, palette[:end], morph_weights=some).positions
            np.testing.assert_array_equal(a[:, order], b)


def _reordered(morph, order):
    at = np.argsort(order)[morph.indices]
    turn = np.argsort(at)
    return MorphTarget(at[turn], morph.positions[turn])


@pytest.mark.parametrize(("kind", "method"), CASES)
def test_what_is_asked_for_does_not_change_what_is_answered(kind, method):
    rig, palette = rigs.geometry(33, 4, JOINTS), rigs.palette(9, JOINTS, kind)
    options = {"method": method} if method != "mix" else {"method": "dqs", "mix": np.full(33, 0.3)}
    every = deform(rig, palette, **options)
    for normals in (False, True):
        for tangents in (False, True):
            asked = deform(rig, palette, normals=normals, tangents=tangents, **options)
            if method == "lbs" and not normals and not tangents:  # a way of their own
                size = np.abs(every.positions).max()
                np.testing.assert_allclose(
                    asked.positions, every.positions, rtol=0, atol=1e-6 * size
                )
                continue
            np.testing.assert_array_equal(asked.positions, every.positions)
            if normals:
                np.testing.assert_array_equal(asked.normals, every.normals)
            if tangents:
                np.testing.assert_array_equal(asked.tangents, every.tangents)


@pytest.mark.parametrize("method", ["lbs", "dqs"])
def test_morph_weights_of_zero_change_nothing(method):
    rig, palette = rigs.geometry(40, 3, JOINTS, morphs=2), rigs.palette(9, JOINTS, "scale")
    still = deform(rig, palette, method=method)
    weights = np.zeros((9, 2))
    assert same(deform(rig, palette, method=method, morph_weights=weights), still)
    weights[4] = 1
    others = [f for f in range(9) if f != 4]
    moved = deform(rig, palette, method=method, morph_weights=weights)
    assert same(some(moved, others), some(still, others))
    assert not same(moved, still)


def test_outputs_may_lie_any_stride_apart():
    rig, palette = rigs.geometry(29, 4, JOINTS), rigs.palette(11, JOINTS, "scale")
    expected = deform(rig, palette)
    wide = np.full((11, 100, 3), 7, np.float32)
    normals = np.full((11, 50, 3), 7, np.float32)
    tangents = np.full((22, 29, 4), 7, np.float32)
    deform_into(rig, palette, wide[:, 3:32], normals[:, 21:], tangents[::-2])
    np.testing.assert_array_equal(wide[:, 3:32], expected.positions)
    np.testing.assert_array_equal(normals[:, 21:], expected.normals)
    np.testing.assert_array_equal(tangents[::-2], expected.tangents)
    for untouched in (wide[:, :3], wide[:, 32:], normals[:, :21], tangents[::2]):
        assert (untouched == 7).all()


@pytest.mark.parametrize("method", ["lbs", "dqs"])
def test_threads_do_not_change_a_bit(method):
    rig, palette = rigs.geometry(6000, 4, JOINTS), rigs.palette(19, JOINTS, "shear")
    try:
        _core.set_thread_count(1)
        one = deform(rig, palette, method=method)
        _core.set_thread_count(3)
        assert same(deform(rig, palette, method=method), one)
    finally:
        _core.set_thread_count(0)


SCRIPT = """
import sys
import numpy as np
from bunraku import _core
from tests.skinning import test_exact as t

results = []
for kind, method in t.CASES:
    rig = t.rigs.geometry(45, 4, t.JOINTS, morphs=3)
    palette = t.rigs.palette(t.FRAMES, t.JOINTS, kind)
    moved = t.bend(rig, palette, method, t.WEIGHTS)
    results += [moved.positions, moved.normals, moved.tangents]
assert _core.level() == sys.argv[1]
np.savez(sys.argv[2], *results)
"""


def test_instruction_sets_do_not_change_a_bit(tmp_path, monkeypatch):
    files = []
    for level in _core.available_levels():
        monkeypatch.setenv("BUNRAKU_ISA", level)
        files.append(tmp_path / f"{level}.npz")
        root = Path(__file__).parents[2]
        subprocess.run([sys.executable, "-c", SCRIPT, level, files[-1]], check=True, cwd=root)
    first, *others = (np.load(file) for file in files)
    for other in others:
        for name in first.files:
            np.testing.assert_array_equal(other[name], first[name])
