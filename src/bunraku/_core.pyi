"""The compiled core. Each class below is a submodule; arrays are checked, never converted."""

from collections.abc import Sequence
from typing import overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

def level() -> str: ...
def available_levels() -> list[str]: ...
def thread_count() -> int: ...
def set_thread_count(count: int) -> None: ...

class kinematics:  # noqa: N801
    """Forward kinematics and palettes. Results are the same bits at every level."""

    @staticmethod
    def global_transforms(
        translations: NDArray[np.floating],
        rotations: NDArray[np.floating],
        scales: NDArray[np.floating],
        parents: NDArray[np.int32],
        order: NDArray[np.int32],
        out: NDArray[np.floating],
    ) -> None: ...
    @staticmethod
    def palette(
        globals: NDArray[np.float64],
        joints: NDArray[np.int32],
        inverse_binds: NDArray[np.float64],
        out: NDArray[np.float32],
    ) -> None: ...

class sampling:  # noqa: N801
    """Keyed tracks at many times; core/sampling/sampling.hpp says what the arrays hold."""

    @staticmethod
    def sample(
        key_times: NDArray[np.float64],
        timeline_starts: NDArray[np.int64],
        rows: NDArray[np.float64],
        tracks: NDArray[np.int64],
        times: NDArray[np.float64],
        rest_translations: NDArray[np.float64],
        rest_rotations: NDArray[np.float64],
        rest_scales: NDArray[np.float64],
        rest_weights: NDArray[np.float64],
        translations: NDArray[np.float64],
        rotations: NDArray[np.float64],
        scales: NDArray[np.float64],
        weights: NDArray[np.float64],
    ) -> None: ...

class meshopt:  # noqa: N801
    """Buffer views packed by EXT_meshopt_compression and KHR_meshopt_compression.

    A stream that breaks its specification raises ValueError with the reason. Filters work in
    place; after a ValueError drop the elements.
    """

    @staticmethod
    def decode_vertex(data: NDArray[np.uint8], count: int, stride: int) -> NDArray[np.uint8]: ...
    @staticmethod
    def decode_triangles(
        data: NDArray[np.uint8], count: int, index_size: int
    ) -> NDArray[np.uint8]: ...
    @staticmethod
    def decode_indices(
        data: NDArray[np.uint8], count: int, index_size: int
    ) -> NDArray[np.uint8]: ...
    @staticmethod
    def apply_filter(data: NDArray[np.uint8], count: int, stride: int, name: str) -> None: ...

class pmx:  # noqa: N801
    """Where the records of a PMX are, and its vertices; core/pmx/pmx.hpp says what the arrays hold.

    A file that breaks its format raises ValueError with the place and the reason.
    """

    @staticmethod
    def scan(
        data: NDArray[np.uint8],
        start: int,
        additional_uvs: int,
        sizes: NDArray[np.int64],
        soft_bodies: bool,
    ) -> dict[str, NDArray[np.int64]]: ...
    @staticmethod
    def read_vertices(
        data: NDArray[np.uint8],
        start: int,
        bone_size: int,
        positions: NDArray[np.float32],
        normals: NDArray[np.float32],
        uvs: NDArray[np.float32],
        additional_uvs: NDArray[np.float32],
        deform: NDArray[np.uint8],
        bones: NDArray[np.int32],
        weights: NDArray[np.float32],
        sdef: NDArray[np.float32],
        edge_scales: NDArray[np.float32],
    ) -> None: ...
    @staticmethod
    def write_vertices(
        bone_size: int,
        positions: NDArray[np.float32],
        normals: NDArray[np.float32],
        uvs: NDArray[np.float32],
        additional_uvs: NDArray[np.float32],
        deform: NDArray[np.uint8],
        bones: NDArray[np.int32],
        weights: NDArray[np.float32],
        sdef: NDArray[np.float32],
        edge_scales: NDArray[np.float32],
    ) -> NDArray[np.uint8]: ...

class sdef:  # noqa: N801
    """MMD's SDEF and QDEF; core/sdef/sdef.hpp says what the arrays hold. Results are the same
    bits at every level."""

    class Vertices:
        """Vertices of one geometry that bend MMD's way."""

        def __init__(
            self,
            spherical: NDArray[np.int32],
            pairs: NDArray[np.int32],
            shares: NDArray[np.float32],
            centers: NDArray[np.float32],
            dual: NDArray[np.int32],
            slots: NDArray[np.int32],
            weights: NDArray[np.float32],
        ) -> None: ...

    @staticmethod
    def bend_into(
        vertices: sdef.Vertices,
        palette: NDArray[np.float32],
        positions: NDArray[np.float32],
        normals: NDArray[np.float32] | None,
        tangents: NDArray[np.float32] | None,
        out_positions: NDArray[np.float32],
        out_normals: NDArray[np.float32] | None,
        out_tangents: NDArray[np.float32] | None,
    ) -> None: ...

class skinning:  # noqa: N801
    """Linear-blend and dual-quaternion skinning. Results are the same bits at every level."""

    class Rig:
        """Influences of one geometry, arranged for the kernels."""

        def __init__(self, joints: NDArray[np.int32], weights: NDArray[np.float32]) -> None: ...
        @property
        def vertex_count(self) -> int: ...
        @property
        def joint_count(self) -> int: ...

    @staticmethod
    def deform_into(
        rig: skinning.Rig,
        palette: NDArray[np.float32],
        method: str,
        positions: NDArray[np.float32],
        normals: NDArray[np.float32] | None,
        tangents: NDArray[np.float32] | None,
        mix: NDArray[np.float32] | None,
        targets: Sequence[
            tuple[
                NDArray[np.int32],
                NDArray[np.float32] | None,
                NDArray[np.float32] | None,
                NDArray[np.float32] | None,
            ]
        ],
        morph_weights: NDArray[np.float32] | None,
        out_positions: NDArray[np.float32],
        out_normals: NDArray[np.float32] | None,
        out_tangents: NDArray[np.float32] | None,
    ) -> None: ...

class springs:  # noqa: N801
    """Springs; core/springs/springs.hpp says what is simulated."""

    class System:
        """A character's hierarchy and what swings on it."""

        def __init__(
            self,
            parents: NDArray[np.int32],
            order: NDArray[np.int32],
            joints: NDArray[np.int32],
            joint_numbers: NDArray[np.float64],
            path_starts: NDArray[np.int32],
            paths: NDArray[np.int32],
            collider_starts: NDArray[np.int32],
            collider_lists: NDArray[np.int32],
            colliders: NDArray[np.int32],
            collider_numbers: NDArray[np.float64],
        ) -> None: ...
        @property
        def joint_count(self) -> int: ...

    Job = tuple[
        System, NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]
    ]
    @staticmethod
    def start(jobs: Sequence[Job]) -> None: ...
    @staticmethod
    def run(jobs: Sequence[Job], dt: float) -> None: ...

class query:  # noqa: N801
    """Trees over primitives; core/bvh/bvh.hpp says what the arrays hold. Results are the same
    bits at every level."""

    class Tree:
        """A bounding-volume hierarchy over triangles, boxes or spheres."""

        def __init__(
            self,
            kind: str,
            points: NDArray[np.float32],
            extents: NDArray[np.float32] | None,
            faces: NDArray[np.int32] | None,
            median: bool,
            width: int,
            leaf_size: int,
        ) -> None: ...
        def refit(
            self,
            points: NDArray[np.float32],
            extents: NDArray[np.float32] | None,
            faces: NDArray[np.int32] | None,
        ) -> None: ...
        def closest(
            self,
            origins: NDArray[np.float32],
            directions: NDArray[np.float32],
            t_min: NDArray[np.float32],
            t_max: NDArray[np.float32],
            skip: NDArray[np.int32],
            front_only: bool,
            by_force: bool,
            t: NDArray[np.float32],
            primitive: NDArray[np.int32],
            u: NDArray[np.float32],
            v: NDArray[np.float32],
            normal: NDArray[np.float32] | None,
            box_tests: NDArray[np.int32] | None,
            primitive_tests: NDArray[np.int32] | None,
        ) -> None: ...
        def any(
            self,
            origins: NDArray[np.float32],
            directions: NDArray[np.float32],
            t_min: NDArray[np.float32],
            t_max: NDArray[np.float32],
            skip: NDArray[np.int32],
            front_only: bool,
            hit: NDArray[np.bool_],
        ) -> None: ...
        def all(
            self,
            origins: NDArray[np.float32],
            directions: NDArray[np.float32],
            t_min: NDArray[np.float32],
            t_max: NDArray[np.float32],
            skip: NDArray[np.int32],
            front_only: bool,
        ) -> tuple[
            NDArray[np.int64],
            NDArray[np.float32],
            NDArray[np.int32],
            NDArray[np.float32],
            NDArray[np.float32],
        ]: ...
        def count(
            self,
            origins: NDArray[np.float32],
            directions: NDArray[np.float32],
            t_min: NDArray[np.float32],
            t_max: NDArray[np.float32],
            skip: NDArray[np.int32],
            front_only: bool,
            winding: bool,
            counts: NDArray[np.int32],
        ) -> None: ...
        def nearest(
            self,
            points: NDArray[np.float32],
            max_distance: NDArray[np.float32],
            distance: NDArray[np.float32],
            primitive: NDArray[np.int32],
            closest: NDArray[np.float32],
            u: NDArray[np.float32],
            v: NDArray[np.float32],
        ) -> None: ...
        def overlap_box(
            self, low: NDArray[np.float32], high: NDArray[np.float32]
        ) -> NDArray[np.int32]: ...
        def overlap_ball(self, centre: NDArray[np.float32], radius: float) -> NDArray[np.int32]: ...
        @overload
        def cast(
            self,
            ox: float,
            oy: float,
            oz: float,
            dx: float,
            dy: float,
            dz: float,
            t_min: float = 0.0,
            t_max: float = ...,
        ) -> tuple[float, int, float, float] | None: ...
        @overload
        def cast(
            self,
            origin: ArrayLike,
            direction: ArrayLike,
            t_min: float = 0.0,
            t_max: float = ...,
        ) -> tuple[float, int, float, float] | None: ...
        @property
        def primitive_count(self) -> int: ...
        @property
        def node_count(self) -> int: ...
        @property
        def packet_count(self) -> int: ...
        @property
        def depth(self) -> int: ...
        @property
        def bytes(self) -> int: ...
        @property
        def cost(self) -> float: ...
        @property
        def built_cost(self) -> float: ...
        @property
        def bounds(self) -> tuple[tuple[float, float, float], tuple[float, float, float]]: ...

    @staticmethod
    def in_scene(
        top: query.Tree,
        trees: Sequence[query.Tree],
        tree_of: NDArray[np.int32],
        inverses: NDArray[np.float64],
        widen: float,
        origins: NDArray[np.float32],
        directions: NDArray[np.float32],
        t_min: NDArray[np.float32],
        t_max: NDArray[np.float32],
        skip: NDArray[np.int32],
        front_only: bool,
        hit: NDArray[np.bool_] | None,
        t: NDArray[np.float32] | None,
        instance: NDArray[np.int32] | None,
        primitive: NDArray[np.int32] | None,
        u: NDArray[np.float32] | None,
        v: NDArray[np.float32] | None,
        normal: NDArray[np.float32] | None,
    ) -> None: ...
    @staticmethod
    def all_in_scene(
        top: query.Tree,
        trees: Sequence[query.Tree],
        tree_of: NDArray[np.int32],
        inverses: NDArray[np.float64],
        widen: float,
        origins: NDArray[np.float32],
        directions: NDArray[np.float32],
        t_min: NDArray[np.float32],
        t_max: NDArray[np.float32],
        skip: NDArray[np.int32],
        front_only: bool,
    ) -> tuple[
        NDArray[np.int64],
        NDArray[np.float32],
        NDArray[np.int32],
        NDArray[np.float32],
        NDArray[np.float32],
        NDArray[np.int32],
    ]: ...

class posed:  # noqa: N801
    """Rays on skins in any pose; core/posed/posed.hpp says what the arrays hold. Results are the
    same bits at every level."""

    class Tree:
        """A geometry at rest, arranged for rays in any pose."""

        def __init__(
            self,
            rig: skinning.Rig,
            positions: NDArray[np.float32],
            faces: NDArray[np.int32],
            targets: Sequence[tuple[NDArray[np.int32], NDArray[np.float32] | None]],
        ) -> None: ...
        def pose(
            self,
            palette: NDArray[np.float32],
            method: str,
            morph_weights: NDArray[np.float32] | None,
        ) -> posed.Pose: ...
        def cast(
            self,
            palette: NDArray[np.float32],
            method: str,
            morph_weights: NDArray[np.float32] | None,
            ox: float,
            oy: float,
            oz: float,
            dx: float,
            dy: float,
            dz: float,
            t_min: float = 0.0,
            t_max: float = ...,
        ) -> tuple[float, int, float, float] | None: ...
        @property
        def triangle_count(self) -> int: ...
        @property
        def joint_count(self) -> int: ...
        @property
        def leaf_count(self) -> int: ...
        @property
        def bytes(self) -> int: ...

    class Pose:
        """A palette, prepared for the rays of one pose."""

        def closest(
            self,
            origins: NDArray[np.float32],
            directions: NDArray[np.float32],
            t_min: NDArray[np.float32],
            t_max: NDArray[np.float32],
            skip: NDArray[np.int32],
            front_only: bool,
            t: NDArray[np.float32],
            primitive: NDArray[np.int32],
            u: NDArray[np.float32],
            v: NDArray[np.float32],
            normal: NDArray[np.float32] | None,
            boxes: NDArray[np.int32] | None,
            triangles: NDArray[np.int32] | None,
        ) -> None: ...
        def any(
            self,
            origins: NDArray[np.float32],
            directions: NDArray[np.float32],
            t_min: NDArray[np.float32],
            t_max: NDArray[np.float32],
            skip: NDArray[np.int32],
            front_only: bool,
            hit: NDArray[np.bool_],
        ) -> None: ...
        def all(
            self,
            origins: NDArray[np.float32],
            directions: NDArray[np.float32],
            t_min: NDArray[np.float32],
            t_max: NDArray[np.float32],
            skip: NDArray[np.int32],
            front_only: bool,
        ) -> tuple[
            NDArray[np.int64],
            NDArray[np.float32],
            NDArray[np.int32],
            NDArray[np.float32],
            NDArray[np.float32],
        ]: ...
        def cast(
            self,
            ox: float,
            oy: float,
            oz: float,
            dx: float,
            dy: float,
            dz: float,
            t_min: float = 0.0,
            t_max: float = ...,
        ) -> tuple[float, int, float, float] | None: ...
        def survey(self) -> tuple[int, int]: ...

class rig:  # noqa: N801
    """Appends and inverse kinematics; core/rig/rig.hpp says what the arrays hold. Results are the
    same bits at every level."""

    class Plan:
        """A rig on a skeleton, in the order in which it is evaluated."""

        def __init__(
            self,
            parents: NDArray[np.int32],
            rest: NDArray[np.float64],
            layers: NDArray[np.int32],
            after_physics: NDArray[np.bool_],
            append_nodes: NDArray[np.int32],
            ratios: NDArray[np.float64],
            append_kinds: NDArray[np.bool_],
            chain_nodes: NDArray[np.int32],
            steps: NDArray[np.float64],
            link_nodes: NDArray[np.int32],
            link_limits: NDArray[np.float64],
        ) -> None: ...
        @property
        def order(self) -> NDArray[np.int32]: ...

    @staticmethod
    def solve(
        plan: rig.Plan,
        translations: NDArray[np.float64],
        rotations: NDArray[np.float64],
        scales: NDArray[np.float64],
        ik: NDArray[np.bool_] | None,
        keep_best: bool,
        plain_step: bool,
        out: NDArray[np.float64],
    ) -> None: ...

class rotation:  # noqa: N801
    """Operations on each element of broadcast arrays; core/rotation/kernel.cpp names them all.

    `track_...` are of keyed tracks, `fit_...` of rows of rotations or vectors. A result is None
    where the input first has to be converted to float32 or float64 arrays that are contiguous
    and aligned, or does not fit. Results are the same bits at every level.
    """

    class NoAnswerError(ValueError):
        """An element has no answer; its only argument is its position in C order."""

    @staticmethod
    def track_continuous(track: object) -> NDArray[np.floating] | None: ...
