"""JAX's sharding: meshes of devices, and how arrays are divided over them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arrayport.core.meshes import AbstractMesh, AxisType, Mesh
from arrayport.core.names import absent
from arrayport.core.shardings import (
    NamedSharding,
    PartitionSpec,
    PositionalSharding,
    Sharding,
    SingleDeviceSharding,
)
from arrayport.parallel.meshes import (
    get_abstract_mesh,
    get_mesh,
    set_mesh,
    use_abstract_mesh,
    use_mesh,
)
from arrayport.parallel.placement import make_single_device_sharding, reshard

__all__ = [
    "AbstractMesh",
    "AxisType",
    "Mesh",
    "NamedSharding",
    "PartitionSpec",
    "PositionalSharding",
    "Sharding",
    "SingleDeviceSharding",
    "get_abstract_mesh",
    "get_mesh",
    "make_single_device_sharding",
    "reshard",
    "set_mesh",
    "use_abstract_mesh",
    "use_mesh",
]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise absent("sharding", name)
