"""Rays on posed skins: the same triangle and the same bits of t as bending everything first."""

from __future__ import annotations

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import bunraku
from bunraku.errors import RigError
from bunraku.model import Geometry, MorphTarget
from bunraku.query import Bvh, SkinTree
from bunraku.query.posed import FEWEST_RAYS, IDLE
from bunraku.skinning import deform
from tests.query.rigs import KINDS, assert_same, palette, rays_at, skin

METHODS = ("lbs", "dqs")
FOX = "gltf_usd_fbx_bvh/khronos-sample-assets/Models/Fox/glTF-Binary/Fox.glb"
GODETTE = "vrm_mmd/V-Sekai__godot-vrm__Godette_vrm_v4.vrm"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"palette": np.zeros((2, 3, 3))}, "palette: expected shape"),
        ({"palette": np.zeros((1, 3, 4))}, "expected at least 2 joints"),
        ({"palette": np.full((2, 3, 4), np.nan)}, "palette"),
        ({"method": "nearest"}, "method: expected"),
        ({"morph_weights": [1, 2]}, "morph_weights: expected shape"),
        ({"morph_weights": [np.inf]}, "morph_weights"),
    ],
)
def test_what_is_no_pose_is_refused(arguments, message):
    geometry = Geometry(
        np.eye(3),
        joints=[[1]] * 3,
        weights=[[1]] * 3,
        morphs=(MorphTarget([0], [[0, 1, 0]]),),
    )
    tree = SkinTree(geometry, [[0, 1, 2]])
    given = {"palette": np.zeros((2, 3, 4)), **arguments}
    with pytest.raises(RigError, match=message):
        tree.at(given.pop("palette"), **given)


def test_faces_outside_the_vertices_are_refused():
    with pytest.raises(RigError, match="vertex 3, but there are 3"):
        SkinTree(Geometry(np.eye(3)), [[0, 1, 3]])


def test_a_geometry_without_joints_takes_one_matrix():
    tree = SkinTree(Geometry(np.eye(3)), [[0, 1, 2]])
    with pytest.raises(RigError, match="expected 1 matrix"):
        tree.at(np.zeros((2, 3, 4)))


def test_the_core_refuses_what_does_not_fit():
    tree = SkinTree(Geometry(np.eye(3), joints=[[1]] * 3, weights=[[1]] * 3), [[0, 1, 2]])
    with pytest.raises(ValueError, match="at least 2 joints"):
        tree.cast(np.zeros((1, 3, 4), np.float32), "lbs", None, 0, 0, 0, 0, 0, 1)
    with pytest.raises(ValueError, match="finite"):
        tree.cast(np.full((2, 3, 4), np.inf, np.float32), "lbs", None, 0, 0, 0, 0, 0, 1)
    with pytest.raises(ValueError, match="method"):
        tree.cast(np.zeros((2, 3, 4), np.float32), "none", None, 0, 0, 0, 0, 0, 1)


def test_a_bent_elbow_by_hand():
    """Half of each of two joints, one turned by 90° about z: LBS goes to the middle."""
    geometry = Geometry(
        [[2, 0, 0], [2, 0.5, 0], [2, 0, 0.5]], joints=[[0, 1]] * 3, weights=[[0.5, 0.5]] * 3
    )
    upper = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]
    elbow = [[0, -1, 0, 1], [1, 0, 0, -1], [0, 0, 1, 0]]
    # Corners go to (1.5, 0.5, 0), (1.25, 0.75, 0) and (1.5, 0.5, 0.5).
    hits = (
        SkinTree(geometry, [[0, 1, 2]])
        .at([upper, elbow])
        .closest_hit([1.375, 5, 0.125], [0, -1, 0], normals=True)
    )
    assert hits.t == 5 - 0.625
    assert hits.primitive == 0
    assert (hits.u, hits.v) == (0.5, 0.25)
    np.testing.assert_allclose(np.abs(hits.normal), np.sqrt([0.5, 0.5, 0]), atol=1e-7)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("influences", [1, 2, 4, 8])
def test_random_rigs_agree_with_brute_force(method, kind, influences):
    hits = 0
    for seed in range(4):
        rng = np.random.default_rng([seed, influences, KINDS.index(kind)])
        joints, morphs = int(rng.integers(1, 20)), int(rng.integers(0, 4))
        size = int(rng.integers(1, 500))
        geometry, faces = skin(
            rng,
            vertices=size,
            influences=influences,
            joints=joints,
            morphs=morphs,
            local=seed % 2 == 0,
        )
        matrices = palette(rng, joints, kind)
        weights = (rng.normal(size=morphs) * (rng.random(morphs) < 0.7)).astype(np.float32)
        bent = deform(geometry, matrices, method=method, morph_weights=weights).positions[0]
        tree = SkinTree(geometry, faces)
        for limits in ({}, {"t_min": 0.5, "t_max": 1.5, "front_only": True, "skip": 0}):
            posed = tree.at(matrices, method=method, morph_weights=weights)
            origins, directions = rays_at(rng, bent, FEWEST_RAYS // 3)
            hits += assert_same(posed, bent, faces, origins, directions, **limits)
            assert posed._bvh is None  # it was the posed query that answered
    assert hits > 0


@pytest.mark.parametrize("method", METHODS)
def test_numbers_that_overflow_hide_nothing(method):
    rng = np.random.default_rng(7)
    geometry, faces = skin(rng, vertices=300, influences=1, joints=3)
    matrices = palette(rng, 3, "rigid")
    matrices[1] *= np.float32(1e38)
    bent = deform(geometry, matrices, method=method).positions[0]
    near = bent[faces[(np.abs(bent[faces]) < 100).all(axis=(1, 2))]].mean(axis=1)
    origins, directions = rays_at(rng, near, 5)
    posed = SkinTree(geometry, faces).at(matrices, method=method)
    assert assert_same(posed, bent, faces, origins, directions) > 0


def test_one_ray_by_the_scalar_doors():
    rng = np.random.default_rng(3)
    geometry, faces = skin(rng, vertices=200, influences=3, joints=5, morphs=1)
    tree, weights = SkinTree(geometry, faces), np.array([0.5], np.float32)
    for method in METHODS:
        matrices = palette(rng, 5, "rigid")
        bent = deform(geometry, matrices, method=method, morph_weights=weights).positions[0]
        posed = tree.at(matrices, method=method, morph_weights=weights)
        whole = Bvh(bent, faces)
        for o, d in zip(*rays_at(rng, bent, 40), strict=True):
            ray = (*o.tolist(), *d.tolist())
            assert posed.cast(*ray) == whole.cast(*ray)
            assert tree.cast(matrices, method, weights, *ray) == whole.cast(*ray)


@pytest.mark.parametrize("count", [0, 1, 8, 9])
def test_tiny_meshes(count):
    rng = np.random.default_rng(count)
    geometry, faces = skin(rng, vertices=max(count, 1), influences=2, joints=2)
    faces = faces[:count]
    matrices = palette(rng, 2, "rigid")
    bent = deform(geometry, matrices).positions[0]
    posed = SkinTree(geometry, faces).at(matrices)
    assert_same(posed, bent, faces, *rays_at(rng, bent, 5))


def test_many_rays_bend_the_mesh_once_and_answer_the_same():
    rng = np.random.default_rng(11)
    geometry, faces = skin(rng, vertices=400, influences=4, joints=9, morphs=2)
    tree = SkinTree(geometry, faces)
    for seed in range(3):
        matrices = palette(rng, 9, "rigid")
        weights = np.array([seed, 0.5], np.float32)
        bent = deform(geometry, matrices, morph_weights=weights).positions[0]
        posed = tree.at(matrices, morph_weights=weights)
        assert_same(posed, bent, faces, *rays_at(rng, bent, 3))
        assert posed._bvh is None
        assert_same(posed, bent, faces, *rays_at(rng, bent, 300))
        assert posed._bvh is not None
        np.testing.assert_array_equal(posed.positions(), bent)
        del posed
        gc.collect()
    assert len(tree._idle) == 1  # each pose left its tree to the next


def test_of_many_poses_at_once_few_leave_their_trees():
    rng = np.random.default_rng(15)
    geometry, faces = skin(rng, vertices=50, influences=1, joints=2)
    tree, matrices = SkinTree(geometry, faces), palette(rng, 2, "rigid")
    poses = [tree.at(matrices) for _ in range(3 * IDLE)]
    for posed in poses:
        posed.any_hit(*rays_at(rng, geometry.positions, 1000))
    trees = [weakref.ref(posed._bvh) for posed in poses]
    del posed, poses
    gc.collect()
    assert sum(bvh() is not None for bvh in trees) == IDLE


def test_a_pose_stays_what_it_was():
    rng = np.random.default_rng(14)
    geometry, faces = skin(rng, vertices=100, influences=2, joints=3, morphs=1)
    matrices, weights = palette(rng, 3, "rigid"), np.array([0.5], np.float32)
    bent = deform(geometry, matrices, morph_weights=weights).positions[0]
    posed = SkinTree(geometry, faces).at(matrices, morph_weights=weights)
    matrices[...], weights[...] = 0, 9
    assert_same(posed, bent, faces, *rays_at(rng, bent, 10))
    np.testing.assert_array_equal(posed.positions(), bent)


def test_two_poses_at_once_do_not_share_a_tree():
    rng = np.random.default_rng(12)
    geometry, faces = skin(rng, vertices=300, influences=2, joints=4)
    tree = SkinTree(geometry, faces)
    poses = [palette(rng, 4, "rigid") for _ in range(2)]
    both = [tree.at(p) for p in poses]
    for posed, matrices in zip(both * 2, poses * 2, strict=True):
        bent = deform(geometry, matrices).positions[0]
        assert_same(posed, bent, faces, *rays_at(rng, bent, 100))


def test_threads_may_ask_at_once():
    rng = np.random.default_rng(13)
    geometry, faces = skin(rng, vertices=500, influences=4, joints=8)
    matrices = palette(rng, 8, "rigid")
    bent = deform(geometry, matrices).positions[0]
    origins, directions = rays_at(rng, bent, 40)
    expected = Bvh(bent, faces).closest_hit(origins, directions).t
    posed = SkinTree(geometry, faces).at(matrices)
    with ThreadPoolExecutor(4) as pool:
        parts = list(pool.map(lambda i: posed.closest_hit(origins[i], directions[i]).t, range(40)))
    np.testing.assert_array_equal(parts, expected)


def test_joints_that_only_move_a_little_bend_few_leaves():
    """Bounds are tight: a ray at a body of 20,000 triangles bends a handful of packets of 8."""
    puppet = bunraku.make_puppet()
    stage = bunraku.Stage(puppet, 0)
    mesh = puppet.meshes[stage.ranges[0].mesh]
    faces = np.concatenate([part.faces for part in mesh.parts if part.geometry == 0])
    matrices = bunraku.posing.palette(puppet.skins[0], stage.global_transforms(1.3))[0]
    tree = SkinTree(mesh.geometries[0], faces)
    for method in METHODS:
        pose = tree._tree.pose(matrices, method, None)
        lanes, unbounded = pose.survey()
        assert lanes > 0
        assert unbounded == 0
        origins, directions = rays_at(np.random.default_rng(1), tree.at(matrices).positions(), 64)
        one = (np.zeros(1, np.float32), np.full(1, np.inf, np.float32), np.full(1, -1, np.int32))
        counts = np.zeros((2, 64), np.int32)
        pose.closest(
            *(origins, directions, *one, False, np.empty(64, np.float32), np.empty(64, np.int32)),
            *(*np.empty((2, 64), np.float32), None, *counts),
        )
        assert counts[1].mean() < len(faces) / 20


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("file", [FOX, GODETTE])
def test_real_characters(corpus, file, method):
    if not (corpus / file).is_file():
        pytest.skip(f"no {file}")
    character = bunraku.load(corpus / file)
    stage = bunraku.Stage(character, 0 if character.clips else None)
    check_stage(stage, method, np.random.default_rng(5))


@pytest.mark.parametrize("method", METHODS)
def test_the_puppet(method):
    check_stage(bunraku.Stage(bunraku.make_puppet(), 0), method, np.random.default_rng(6))


def check_stage(stage, method, rng):
    for time in (0.0, 0.31, 0.77):
        bent = stage.deform(time, method=method).positions[0]
        origins, directions = rays_at(rng, bent, FEWEST_RAYS // 3)
        posed = stage.posed(time, method=method)
        assert assert_same(posed, bent, stage.triangles, origins, directions) > 0
        skip = np.arange(len(origins)) * 100
        assert_same(
            posed, bent, stage.triangles, origins, directions, t_min=0.2, t_max=1.1, skip=skip
        )
        found = stage.cast(time, origins, directions, method=method)
        expected = Bvh(bent, stage.triangles).closest_hit(origins, directions)
        np.testing.assert_array_equal(found.t, expected.t)
        np.testing.assert_array_equal(found.primitive, expected.primitive)
