"""Geometry: vertex buffers, faces, morph targets, influences."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from bunraku.errors import RigError
from bunraku.model.arrays import Float32, Float64, Int32, checked, in_range, index
from bunraku.model.frozen import Frozen

Topology = Literal["triangles", "lines", "points"]
CORNERS: dict[Topology, int] = {"triangles": 3, "lines": 2, "points": 1}


@dataclass(frozen=True, eq=False, repr=False)
class MorphTarget(Frozen):
    """Sparse displacements of one vertex buffer: only the vertices that move are listed.

    Attributes:
        indices: (M,) int32 vertices, strictly increasing.
        positions: (M, 3) float32 deltas, or None when the target moves no positions.
        normals: (M, 3) float32 deltas or None.
        tangents: (M, 3) float32 deltas or None (three components: handedness cannot morph).

    >>> MorphTarget([3], positions=[[0, 1, 0]]).positions
    array([[0., 1., 0.]], dtype=float32)
    """

    indices: Int32
    positions: Float32 | None = None
    normals: Float32 | None = None
    tangents: Float32 | None = None

    if TYPE_CHECKING:

        def __init__(
            self,
            indices: npt.ArrayLike,
            positions: npt.ArrayLike | None = None,
            normals: npt.ArrayLike | None = None,
            tangents: npt.ArrayLike | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        indices = checked(self.indices, np.int32, (None,), "morph.indices")
        if indices.size and (indices[0] < 0 or (np.diff(indices) <= 0).any()):
            raise RigError("morph.indices: expected strictly increasing vertices")
        object.__setattr__(self, "indices", indices)
        for name in ("positions", "normals", "tangents"):
            value = getattr(self, name)
            if value is not None:
                array = checked(value, np.float32, (len(indices), 3), f"morph.{name}")
                object.__setattr__(self, name, array)


@dataclass(frozen=True, eq=False, repr=False)
class SphericalBlend(Frozen):
    """Vertices that turn about a centre between two joints (MMD SDEF), and those centres.

    Attributes:
        indices: (M,) int32 vertices, strictly increasing; each is held by the joints of its
            first two influence slots.
        centers: (M, 3) float32 C, in the mesh's space.
        first, second: (M, 3) float32 R0 and R1, the centres as either joint has them.
    """

    indices: Int32
    centers: Float32
    first: Float32
    second: Float32

    if TYPE_CHECKING:

        def __init__(
            self,
            indices: npt.ArrayLike,
            centers: npt.ArrayLike,
            first: npt.ArrayLike,
            second: npt.ArrayLike,
        ) -> None: ...

    def __post_init__(self) -> None:
        indices = checked(self.indices, np.int32, (None,), "spherical.indices")
        if indices.size and (indices[0] < 0 or (np.diff(indices) <= 0).any()):
            raise RigError("spherical.indices: expected strictly increasing vertices")
        object.__setattr__(self, "indices", indices)
        for name in ("centers", "first", "second"):
            array = checked(getattr(self, name), np.float32, (len(indices), 3), f"spherical.{name}")
            object.__setattr__(self, name, array)


@dataclass(frozen=True, eq=False, repr=False)
class Geometry(Frozen):
    """One vertex buffer.

    Attributes:
        positions: (V, 3) float32, metres, in the mesh's own space.
        normals: (V, 3) float32 or None.
        tangents: (V, 4) float32 or None; w is the handedness, ±1.
        uvs: texture coordinate sets, each (V, 2) float32, origin at the top left.
        colors: colour sets, each (V, 4) float32, linear.
        joints: (V, K) int32 joint slots (indices into `Skin.joints`), or None.
        weights: (V, K) float32, or None; each row sums to 1, or to 0 for a vertex that no
            joint holds. K is any number.
        morphs: one target per morph of the mesh.
        spherical: vertices that bend by MMD's SDEF in every method, or None.
        dual: (M,) int32 vertices that bend by dual quaternions in every method (MMD QDEF), or
            None.

    Raises:
        RigError: wrong shapes, non-finite numbers, negative weights or slots, rows that sum
            to neither 1 nor 0 (1e-3), morph vertices out of range.

    >>> Geometry([[0, 0, 0], [1, 0, 0], [0, 1, 0]]).vertex_count
    3
    """

    positions: Float32
    normals: Float32 | None = None
    tangents: Float32 | None = None
    uvs: tuple[Float32, ...] = ()
    colors: tuple[Float32, ...] = ()
    joints: Int32 | None = None
    weights: Float32 | None = None
    morphs: tuple[MorphTarget, ...] = ()
    spherical: SphericalBlend | None = None
    dual: Int32 | None = None

    if TYPE_CHECKING:

        def __init__(
            self,
            positions: npt.ArrayLike,
            normals: npt.ArrayLike | None = None,
            tangents: npt.ArrayLike | None = None,
            uvs: Iterable[npt.ArrayLike] = (),
            colors: Iterable[npt.ArrayLike] = (),
            joints: npt.ArrayLike | None = None,
            weights: npt.ArrayLike | None = None,
            morphs: Iterable[MorphTarget] = (),
            spherical: SphericalBlend | None = None,
            dual: npt.ArrayLike | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        positions = checked(self.positions, np.float32, (None, 3), "geometry.positions")
        count = len(positions)
        object.__setattr__(self, "positions", positions)
        for name, width in (("normals", 3), ("tangents", 4)):
            value = getattr(self, name)
            if value is not None:
                array = checked(value, np.float32, (count, width), f"geometry.{name}")
                object.__setattr__(self, name, array)
        for name, width in (("uvs", 2), ("colors", 4)):
            sets = tuple(
                checked(value, np.float32, (count, width), f"geometry.{name}[{i}]")
                for i, value in enumerate(getattr(self, name))
            )
            object.__setattr__(self, name, sets)
        self._check_influences(count)
        object.__setattr__(self, "morphs", tuple(self.morphs))
        for i, morph in enumerate(self.morphs):
            in_range(morph.indices, count, f"geometry.morphs[{i}].indices", "vertex")
        if self.spherical is not None:
            in_range(self.spherical.indices, count, "geometry.spherical.indices", "vertex")
            if self.joints is None or self.joints.shape[1] < 2:
                raise RigError("geometry.spherical: expected at least two influences per vertex")
        if self.dual is not None:
            dual = checked(self.dual, np.int32, (None,), "geometry.dual")
            in_range(dual, count, "geometry.dual", "vertex")
            object.__setattr__(self, "dual", dual)

    def _check_influences(self, count: int) -> None:
        if (self.joints is None) != (self.weights is None):
            raise RigError("geometry: expected joints and weights together, found one of them")
        if self.joints is None or self.weights is None:
            return
        joints = checked(self.joints, np.int32, (count, None), "geometry.joints")
        weights = checked(self.weights, np.float32, joints.shape, "geometry.weights")
        if joints.size and joints.min() < 0:
            raise RigError(f"geometry.joints: expected slots from 0, found {joints.min()}")
        if weights.size and weights.min() < 0:
            raise RigError(f"geometry.weights: expected none below 0, found {weights.min()}")
        sums = weights.sum(axis=1, dtype=np.float64)
        bad = (np.abs(sums - 1) > 1e-3) & (sums != 0)
        if bad.any():
            vertex = int(np.flatnonzero(bad)[0])
            raise RigError(
                f"geometry.weights[{vertex}]: expected a sum of 1 (or 0), found {sums[vertex]:.6g}"
                f" ({int(bad.sum())} such vertices); see skinning.weights.normalize"
            )
        object.__setattr__(self, "joints", joints)
        object.__setattr__(self, "weights", weights)

    @property
    def vertex_count(self) -> int:
        """Number of vertices V."""
        return len(self.positions)


@dataclass(frozen=True, eq=False, repr=False)
class Part(Frozen):
    """Faces of one geometry that share a material.

    Attributes:
        geometry: index into `Mesh.geometries`.
        faces: (F, 3) int32 vertices of the geometry, counter-clockwise seen from outside
            ((F, 2) for lines, (F, 1) for points).
        material: index into `Character.materials`, or None.
        topology: "triangles", "lines" or "points".
    """

    geometry: int
    faces: Int32
    material: int | None = None
    topology: Topology = "triangles"

    if TYPE_CHECKING:

        def __init__(
            self,
            geometry: int,
            faces: npt.ArrayLike,
            material: int | None = None,
            topology: Topology = "triangles",
        ) -> None: ...

    def __post_init__(self) -> None:
        if self.topology not in CORNERS:
            raise RigError(f"part.topology: expected {list(CORNERS)}, found {self.topology!r}")
        faces = checked(self.faces, np.int32, (None, CORNERS[self.topology]), "part.faces")
        object.__setattr__(self, "faces", faces)
        super().__post_init__()


@dataclass(frozen=True, eq=False, repr=False)
class Mesh(Frozen):
    """Geometries and the parts made of them.

    Attributes:
        name: may be empty.
        geometries: vertex buffers in order of first use.
        parts: faces, one entry per primitive of the file, in file order.
        morph_names: (T,) one per morph target ("" when the file names none); every geometry
            has exactly T targets.
        morph_weights: (T,) float64 default weights; 0 if omitted.

    >>> triangle = Geometry([[0, 0, 0], [1, 0, 0], [0, 1, 0]])
    >>> Mesh("tri", (triangle,), (Part(0, [[0, 1, 2]]),)).vertex_count
    3
    """

    name: str
    geometries: tuple[Geometry, ...]
    parts: tuple[Part, ...]
    morph_names: tuple[str, ...] = ()
    morph_weights: Float64 = None  # type: ignore[assignment]

    if TYPE_CHECKING:

        def __init__(
            self,
            name: str,
            geometries: Iterable[Geometry],
            parts: Iterable[Part],
            morph_names: Iterable[str] = (),
            morph_weights: npt.ArrayLike | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        place = f"mesh {self.name!r}"
        names = tuple(self.morph_names)
        weights = checked(
            np.zeros(len(names)) if self.morph_weights is None else self.morph_weights,
            np.float64,
            (len(names),),
            f"{place}.morph_weights",
        )
        object.__setattr__(self, "geometries", tuple(self.geometries))
        object.__setattr__(self, "parts", tuple(self.parts))
        object.__setattr__(self, "morph_names", names)
        object.__setattr__(self, "morph_weights", weights)
        for i, geometry in enumerate(self.geometries):
            if len(geometry.morphs) != len(names):
                raise RigError(
                    f"{place}.geometries[{i}]: expected {len(names)} morph targets, "
                    f"found {len(geometry.morphs)}"
                )
        for i, part in enumerate(self.parts):
            at = f"{place}.parts[{i}].geometry"
            count = self.geometries[
                index(part.geometry, len(self.geometries), at, "geometry")
            ].vertex_count
            in_range(part.faces, count, f"{place}.parts[{i}].faces", "vertex")

    @property
    def vertex_count(self) -> int:
        """Vertices of all geometries together."""
        return sum(geometry.vertex_count for geometry in self.geometries)
