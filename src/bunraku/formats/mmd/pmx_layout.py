"""The fixed-size parts of PMX records, one description for reader and writer."""

from __future__ import annotations

from functools import lru_cache

from bunraku.formats.mmd.fields import Fields
from bunraku.formats.mmd.pmx import IndexSizes

# letters of `struct` for the NumPy types of indices
LETTERS = {"i1": "b", "i2": "h", "i4": "i", "u1": "B", "u2": "H"}


class Layout:
    """Fields of each record for one choice of index sizes."""

    def __init__(self, sizes: IndexSizes) -> None:
        texture, material, bone, body = (
            LETTERS[sizes.code(kind)] for kind in ("texture", "material", "bone", "body")
        )
        self.material = Fields(
            "diffuse:4f specular:3f specular_power:f ambient:3f flags:B edge_colour:4f edge_size:f"
            f" texture:{texture} sphere_texture:{texture} sphere_mode:B shared_toon:B"
        )
        self.shared_toon = Fields("toon:B")
        self.own_toon = Fields(f"toon:{texture}")
        self.index_count = Fields("index_count:i")
        self.bone = Fields(f"position:3f parent:{bone} layer:i flags:H")
        self.bone_index = Fields(f"bone:{bone}")
        self.vector = Fields("vector:3f")
        self.append = Fields(f"source:{bone} ratio:f")
        self.two_vectors = Fields("first:3f second:3f")
        self.key = Fields("key:i")
        self.ik = Fields(f"target:{bone} loops:i step_limit:f")
        self.count = Fields("count:i")
        self.morph = Fields("panel:B kind:B")
        self.frame = Fields("special:B")
        self.body = Fields(
            f"bone:{bone} group:B mask:H shape:B size:3f position:3f rotation:3f mass:f"
            " linear_damping:f angular_damping:f restitution:f friction:f mode:B"
        )
        self.joint = Fields(
            f"kind:B body_a:{body} body_b:{body} position:3f rotation:3f"
            " position_lower:3f position_upper:3f rotation_lower:3f rotation_upper:3f"
            " position_spring:3f rotation_spring:3f"
        )
        self.soft_body = Fields(
            f"shape:B material:{material} group:B mask:H flags:B bend_distance:i cluster_count:i"
            " mass:f margin:f aero_model:i config:12f cluster:6f iterations:4i stiffness:3f"
        )


@lru_cache(maxsize=8)
def layout_of(sizes: IndexSizes) -> Layout:
    """The layout for these sizes; made once, which takes as long as a hundred bones."""
    return Layout(sizes)
