"""From a pose to what stands where: global transforms, and the matrices that skin a mesh."""

from bunraku.posing.kinematics import forward_kinematics, global_transforms, node_palette, palette

__all__ = ["forward_kinematics", "global_transforms", "node_palette", "palette"]
