"""From a pose to what stands where: global transforms, and the matrices that skin a mesh.

`evaluate` goes the whole way: fixed axes, expressions, then appends, inverse kinematics or
constraints, and forward kinematics (`solve`); `resolved` makes a plain pose of all that.
"""

from bunraku.posing.axes import on_fixed_axes
from bunraku.posing.evaluate import evaluate, resolved
from bunraku.posing.kinematics import forward_kinematics, global_transforms, node_palette, palette
from bunraku.posing.solve import solve

__all__ = [
    "evaluate",
    "forward_kinematics",
    "global_transforms",
    "node_palette",
    "on_fixed_axes",
    "palette",
    "resolved",
    "solve",
]
