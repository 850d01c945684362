"""Forward kinematics: local transforms down the hierarchy to global ones, and to palettes.

Matrices are 3×4: the rows of an affine transform that acts on column vectors, translation last.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

from bunraku import _core
from bunraku.errors import RigError
from bunraku.model import Pose, Skeleton, Skin
from bunraku.model.arrays import Float32, Float64, Int32, checked, index

Float = TypeVar("Float", np.float32, np.float64)


def global_transforms(skeleton: Skeleton, pose: Pose) -> Float64:
    """Return (F, N, 3, 4) float64 node-to-world transforms of every node in every frame.

    global(node) = global(parent) · T · R · S; every ancestor counts, joint or not (glTF 2.0,
    3.5.2). Nothing is decomposed, so the shear of a scaled parent over a turned child is kept.

    Raises:
        RigError: the pose has another number of nodes than the skeleton.

    >>> arm = Skeleton(("upper", "fore"), [-1, 0], [[0, 0, 0], [2, 0, 0]])
    >>> quarter_turn = [0, 0, 0.5**0.5, 0.5**0.5]
    >>> pose = Pose(arm.translations[None], [[quarter_turn, [0, 0, 0, 1]]], arm.scales[None])
    >>> elbow = global_transforms(arm, pose)[0, 1, :, 3]
    >>> np.allclose(elbow, [0, 2, 0], atol=1e-15)
    True
    """
    nodes = pose.translations.shape[1]
    if nodes != len(skeleton):
        raise RigError(f"pose: {nodes} nodes, but the skeleton has {len(skeleton)}")
    out = np.empty((pose.frames, nodes, 3, 4))
    _core.kinematics.global_transforms(
        pose.translations, pose.rotations, pose.scales, skeleton.parents, skeleton.order, out
    )
    return out


def forward_kinematics(
    translations: npt.NDArray[Float],
    rotations: npt.NDArray[Float],
    scales: npt.NDArray[Float],
    parents: Int32,
    order: Int32,
    *,
    out: npt.NDArray[Float] | None = None,
) -> npt.NDArray[Float]:
    """Return (F, N, 3, 4) global transforms of plain arrays, in their own float type.

    `global_transforms` without a `Skeleton` and a `Pose`, and the way to compute in float32.
    Results do not depend on the number of threads, and on the instruction set in their last bits
    alone. Arrays must be C-contiguous: nothing is converted.

    Args:
        translations: (F, N, 3) float32 or float64.
        rotations: (F, N, 4) unit quaternions (x, y, z, w) of the same type.
        scales: (F, N, 3) of the same type.
        parents: (N,) int32, -1 for a root.
        order: (N,) int32, all nodes, parents before children; see `Skeleton.order`.
        out: (F, N, 3, 4) of the same type to write to and return, instead of a new array. Long
            motions, whose results no cache holds, take half the time in memory that has been
            used before.

    Raises:
        RigError: shapes or types that disagree, parents out of range or after their children.

    >>> turn, still = np.float32([[[0, 0, 0, 1]]]), np.float32([[[1, 2, 3]]])
    >>> root = np.array([-1], np.int32), np.array([0], np.int32)
    >>> forward_kinematics(still, turn, np.ones_like(still), *root)[0, 0, :, 3]
    array([1., 2., 3.], dtype=float32)
    """
    if out is None and isinstance(translations, np.ndarray):
        out = np.empty(translations.shape[:2] + (3, 4), translations.dtype)
    try:
        _core.kinematics.global_transforms(translations, rotations, scales, parents, order, out)
    except TypeError:
        given = (translations, rotations, scales, parents, order, out)
        found = ", ".join(
            f"{each.dtype} {each.shape}" if isinstance(each, np.ndarray) else type(each).__name__
            for each in given
        )
        raise RigError(
            "expected C-contiguous (F, N, 3), (F, N, 4), (F, N, 3) of one float type, (N,), (N,) "
            f"int32 and a writeable (F, N, 3, 4), found {found}"
        ) from None
    except ValueError as error:
        raise RigError(str(error)) from None
    return out


def palette(skin: Skin, transforms: Float64) -> Float32:
    """Return the (F, J, 3, 4) float32 matrices that take a skin's vertices from bind to world.

    global(joint) · inverse bind matrix, multiplied in float64 and rounded once. The transform of
    the node that shows the mesh has no part in it (glTF 2.0, 3.7.3.3).

    Args:
        skin: J joints.
        transforms: (F, N, 3, 4) float64, see `global_transforms`.

    Raises:
        RigError: wrong shape, or a joint beyond the N nodes.

    >>> moved = np.array([[[[1, 0, 0, 5], [0, 1, 0, 0], [0, 0, 1, 0.0]]]])
    >>> palette(Skin([0]), moved)[0, 0, 0]
    array([1., 0., 0., 5.], dtype=float32)
    """
    globals_ = checked(transforms, np.float64, (None, None, 3, 4), "transforms", finite=False)
    out = np.empty((len(globals_), len(skin.joints), 3, 4), np.float32)
    try:
        _core.kinematics.palette(globals_, skin.joints, skin.inverse_bind_matrices, out)
    except ValueError as error:
        raise RigError(f"skin {skin.name!r}: {error}") from None
    return out


def node_palette(node: int, transforms: Float64) -> Float32:
    """Return the (F, 1, 3, 4) float32 palette of a mesh that moves rigidly with one node.

    Raises:
        RigError: wrong shape, or no such node.

    >>> moved = np.array([[[[1, 0, 0, 5], [0, 1, 0, 0], [0, 0, 1, 0.0]]]])
    >>> node_palette(0, moved).shape
    (1, 1, 3, 4)
    """
    globals_ = checked(transforms, np.float64, (None, None, 3, 4), "transforms", finite=False)
    at = index(node, globals_.shape[1], "palette", "node")
    return globals_[:, at : at + 1].astype(np.float32)
