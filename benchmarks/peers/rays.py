"""Peers of ray queries, as many as are installed. All but warp and fcpw run Embree, robust mode.

Each is a class over one mesh with `closest(o, d)` -> (t, face) arrays (inf and -1 where nothing is
hit) and `any(o, d)` -> bool array; rays are (N, 3) float32. `threads` is the most it can use.
"""

from __future__ import annotations

from typing import Any

import numpy as np

try:
    from embreex import rtcore_scene
    from embreex.mesh_construction import TriangleMesh
except ImportError:
    rtcore_scene = None
try:
    import open3d
except ImportError:
    open3d = None
try:
    import trimesh
except ImportError:
    trimesh = None
try:
    import warp
except ImportError:
    warp = None
try:
    import fcpw
except ImportError:
    fcpw = None


class Embreex:
    threads = 1

    def __init__(self, vertices: Any, faces: Any, threads: int) -> None:
        self.scene = rtcore_scene.EmbreeScene()
        self.mesh = TriangleMesh(self.scene, vertices[faces])
        self.scene.run(vertices[:1], vertices[:1] + 1)  # commits

    def closest(self, o: Any, d: Any) -> tuple[Any, Any]:
        found = self.scene.run(o, d, output=1)
        missed = found["primID"] < 0
        return np.where(missed, np.inf, found["tfar"]), found["primID"]

    def any(self, o: Any, d: Any) -> Any:
        return self.scene.run(o, d, query="OCCLUDED") >= 0

    def faces_only(self, o: Any, d: Any) -> Any:
        return self.scene.run(o, d)


class Open3D:
    threads = 64

    def __init__(self, vertices: Any, faces: Any, threads: int) -> None:
        self.scene = open3d.t.geometry.RaycastingScene(nthreads=threads)
        tensor = open3d.core.Tensor.from_numpy
        self.scene.add_triangles(tensor(vertices), tensor(faces.astype(np.uint32)))
        self.count = threads
        self.scene.count_intersections(tensor(np.zeros((1, 6), np.float32)))  # commits

    def closest(self, o: Any, d: Any) -> tuple[Any, Any]:
        rays = open3d.core.Tensor.from_numpy(np.concatenate([o, d], axis=1))
        found = self.scene.cast_rays(rays, nthreads=self.count)
        return found["t_hit"].numpy(), found["primitive_ids"].numpy().view(np.int32)

    def any(self, o: Any, d: Any) -> Any:
        rays = open3d.core.Tensor.from_numpy(np.concatenate([o, d], axis=1))
        return self.scene.test_occlusions(rays, nthreads=self.count).numpy()


class Trimesh:
    threads = 1

    def __init__(self, vertices: Any, faces: Any, threads: int) -> None:
        self.mesh = trimesh.Trimesh(vertices, faces, process=False)
        self.mesh.ray.intersects_first(vertices[:1], vertices[:1] + 1)

    def closest(self, o: Any, d: Any) -> tuple[Any, Any]:
        return None, self.mesh.ray.intersects_first(o, d)

    def any(self, o: Any, d: Any) -> Any:
        return self.mesh.ray.intersects_any(o, d)


if warp is not None:
    warp.config.quiet = True

    @warp.kernel
    def _closest(
        mesh: warp.uint64,
        o: warp.array(dtype=warp.vec3),
        d: warp.array(dtype=warp.vec3),
        t: warp.array(dtype=float),
        face: warp.array(dtype=int),
    ):
        i = warp.tid()
        hit = warp.mesh_query_ray(mesh, o[i], d[i], 1.0e30)
        if hit.result:
            t[i] = hit.t
            face[i] = hit.face
        else:
            t[i] = float(warp.inf)
            face[i] = -1

    @warp.kernel
    def _any(
        mesh: warp.uint64,
        o: warp.array(dtype=warp.vec3),
        d: warp.array(dtype=warp.vec3),
        hit: warp.array(dtype=warp.bool),
    ):
        i = warp.tid()
        hit[i] = warp.mesh_query_ray_anyhit(mesh, o[i], d[i], 1.0e30)


class Warp:
    threads = 1

    def __init__(self, vertices: Any, faces: Any, threads: int) -> None:
        points = warp.array(vertices, dtype=warp.vec3, device="cpu")
        self.mesh = warp.Mesh(points, warp.array(faces.ravel(), dtype=int, device="cpu"))

    def refit(self, vertices: Any) -> None:
        self.mesh.points.assign(vertices)
        self.mesh.refit()

    def _rays(self, o: Any, d: Any) -> list[Any]:
        return [warp.array(a, dtype=warp.vec3, device="cpu", copy=False) for a in (o, d)]

    def closest(self, o: Any, d: Any) -> tuple[Any, Any]:
        t = warp.empty(len(o), dtype=float, device="cpu")
        face = warp.empty(len(o), dtype=int, device="cpu")
        inputs = [self.mesh.id, *self._rays(o, d), t, face]
        warp.launch(_closest, len(o), inputs, device="cpu")
        return t.numpy(), face.numpy()

    def any(self, o: Any, d: Any) -> Any:
        hit = warp.empty(len(o), dtype=warp.bool, device="cpu")
        warp.launch(_any, len(o), [self.mesh.id, *self._rays(o, d), hit], device="cpu")
        return hit.numpy()


class Fcpw:
    threads = 64

    def __init__(self, vertices: Any, faces: Any, threads: int) -> None:
        self.scene = fcpw.scene_3D()
        self.scene.set_object_count(1)
        self.scene.set_object_vertices(np.asfortranarray(vertices), 0)
        self.scene.set_object_triangles(np.asfortranarray(faces), 0)
        self.scene.build(fcpw.aggregate_type.bvh_surface_area, True)

    def _run(self, o: Any, d: Any, occlusion: bool) -> Any:
        # Answers stay in fcpw's own list: reading them out one by one would take longer.
        bounds = np.full(len(o), np.inf, np.float32)
        found = fcpw.interaction_3D_list()
        self.scene.intersect(np.asfortranarray(o), np.asfortranarray(d), bounds, found, occlusion)
        return found

    def closest(self, o: Any, d: Any) -> tuple[Any, Any]:
        self._run(o, d, False)
        return None, None

    def any(self, o: Any, d: Any) -> Any:
        self._run(o, d, True)


def installed_peers() -> dict[str, Any]:
    """Those that can be imported here, by name."""
    return {
        name: peer
        for name, peer, module in (
            ("embreex", Embreex, rtcore_scene),
            ("Open3D", Open3D, open3d),
            ("trimesh", Trimesh, trimesh),
            ("warp", Warp, warp),
            ("fcpw", Fcpw, fcpw),
        )
        if module is not None
    }
