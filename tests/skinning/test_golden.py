"""What OpenUSD and ufbx made of the same palettes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from bunraku.model import Geometry
from bunraku.skinning import deform

USD = "gltf_usd_fbx_bvh/openusd/pxr"
SCALED_ARM = ("usd_synth_scaled_arm", "synth_usd_scaled_arm.usda")
IMAGING = f"{USD}/usdImaging/usdImagingGL/testenv/testUsdImagingGLSkelSkinning"
CYLINDERS = [
    (f"usd_ImagingGLSkelSkinning_test_{m}", f"{IMAGING}/test_{m}.usda") for m in ("lbs", "dqs")
]


def numbers(text: str, name: str, brackets: str):
    opening, closing = map(re.escape, brackets)
    found = re.search(rf"skel:{name} = ({opening}.*?{closing})(?= \(|\n)", text, re.DOTALL)
    return [float(x) for x in re.findall(r"-?\d[\d.e+-]*", found[1])]


def usd_geometry(source: Path, rest) -> Geometry:
    """Points moved by the bind transform, as USD does before it skins; row vectors there."""
    text = source.read_text()
    bind = np.reshape(numbers(text, "geomBindTransform", "()"), (4, 4))
    joints = np.reshape(numbers(text, "jointIndices", "[]"), (len(rest), -1))
    weights = np.reshape(numbers(text, "jointWeights", "[]"), joints.shape)
    bound = np.c_[rest, np.ones(len(rest))] @ bind
    return Geometry(bound[:, :3], joints=joints, weights=weights)


def usd_palette(data, times: int):
    rows = np.stack([data[f"skel0/skinning/t{k}"] for k in range(times)])
    return np.ascontiguousarray(rows.transpose(0, 1, 3, 2)[:, :, :3], np.float32)


@pytest.mark.parametrize(("method", "name"), [("lbs", "classicLinear"), ("dqs", "dualQuaternion")])
@pytest.mark.parametrize(("file", "source"), [SCALED_ARM, *CYLINDERS])
def test_openusd(golden, corpus, file, source, method, name):
    """The scaled arm has non-uniform scale and shear: two-phase dual quaternions."""
    with np.load(golden / f"{file}.npz") as data:
        meta = json.loads(str(data["meta"]))
        times = [k for k, t in enumerate(meta["times"]) if t in meta["authored_times"]]
        path = (golden if file == SCALED_ARM[0] else corpus) / source
        rig = usd_geometry(path, data["p0/rest"])
        moved = deform(rig, usd_palette(data, len(meta["times"])), method=method).positions[times]
        baked = np.stack([data[f"{name}/p0/t{k}"] for k in times])
    size = np.ptp(rig.positions, axis=0).max()
    np.testing.assert_allclose(moved, baked, atol=2e-6 * size)


def maya(golden, file):
    """Geometry, palette, Maya's share of dual quaternions, and where ufbx puts the vertices."""
    with np.load(golden / f"{file}.npz") as data:
        held = data["m0/skin0/clusters"] >= 0
        rig = Geometry(
            data["m0/rest"],
            joints=np.where(held, data["m0/skin0/clusters"], 0).astype(np.int32),
            weights=np.where(held, data["m0/skin0/weights"], 0),
        )
        palette = data["s0/m0/skin0/geometry_to_world"][:, :3]
        return rig, palette, data["m0/skin0/dq_weight"], data["s0/m0/pos"]


@pytest.mark.parametrize("file", ["dual_quaternion", "dual_quaternion_scale"])
def test_ufbx(golden, file):
    """Maya splits a matrix into T·R·diag(s) and blends the three numbers of s.

    That equals blending the stretches of the polar decomposition wherever the bind matrices do
    not turn the scaled axes, as in the second file, whose tip is scaled by (0.5, 1, 2). Where
    they do, diag(s) in the joint's axes is another matrix than the stretch in the mesh's, and
    the two ways part; OpenUSD's, which is ours, needs no joint axes.
    """
    with np.load(golden / f"ufbx_maya_{file}_7500_ascii.npz") as data:
        held = data["m0/skin0/clusters"] >= 0
        rig = Geometry(
            data["m0/rest"],
            joints=np.where(held, data["m0/skin0/clusters"], 0).astype(np.int32),
            weights=np.where(held, data["m0/skin0/weights"], 0),
        )
        palette = data["s0/m0/skin0/geometry_to_world"][:, :3]
        moved = deform(rig, palette, method="dqs", mix=data["m0/skin0/dq_weight"]).positions[0]
        size = np.ptp(rig.positions, axis=0).max()
        np.testing.assert_allclose(moved, data["s0/m0/pos"], atol=1e-6 * size)
