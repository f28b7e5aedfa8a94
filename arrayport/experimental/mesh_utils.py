"""JAX's experimental.mesh_utils: devices in a grid."""

from __future__ import annotations

from arrayport.parallel.meshes import create_device_mesh

__all__ = [
    "create_device_mesh",
]
