"""Making meshes of the devices present, and the mesh that the context gives."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from math import prod
from typing import Any

import numpy as np

from arrayport.core.backend import Device
from arrayport.core.meshes import AbstractMesh, AxisType, Mesh, mesh_in_use
from arrayport.ops.placement import adopted, more_devices
from arrayport.ops.placement import devices as all_devices


def create_device_mesh(
    mesh_shape: Sequence[int],
    devices: Sequence[Device] | None = None,
    *,
    contiguous_submeshes: bool = False,
    allow_split_physical_axes: bool = False,
) -> np.ndarray[Any, Any]:
    """Arrange devices, by default all, in a grid. Source: `jax.experimental.mesh_utils`.

    The flags, about how TPUs are wired, change nothing. Raises ValueError unless the grid holds
    each device once.

    >>> import arrayport as ap
    >>> create_device_mesh((1, 1), ap.devices("numpy")[:1]).shape
    (1, 1)
    """
    del contiguous_submeshes, allow_split_physical_axes
    given = list(all_devices() if devices is None else devices)
    if prod(mesh_shape) != len(given):
        raise ValueError(
            f"create_device_mesh cannot arrange {len(given)} devices in a grid of "
            f"{tuple(mesh_shape)}, which has {prod(mesh_shape)} places"
        )
    return _grid(given, mesh_shape)


def _grid(devices: Sequence[Device], shape: Sequence[int]) -> np.ndarray[Any, Any]:
    grid = np.empty(len(devices), dtype=object)
    grid[:] = devices
    return grid.reshape(tuple(shape))


def make_mesh(
    axis_sizes: Sequence[int],
    axis_names: Sequence[Hashable],
    axis_types: AxisType | Sequence[AxisType] | None = None,
    *,
    devices: Sequence[Device] | None = None,
) -> Mesh:
    """Make a mesh of the first devices, or of those given. Source: `jax.make_mesh`.

    Raises ValueError if there are not enough. The axes are of type Auto unless `axis_types` says
    otherwise: JAX's default, Explicit, tracks shardings in types, as only JAX can.

    >>> import arrayport as ap
    >>> with ap.virtual_devices(8):
    ...     make_mesh((4, 2), ("x", "y"))
    Mesh('x': 4, 'y': 2, axis_types=(Auto, Auto))
    """
    given = list(all_devices() if devices is None else devices)
    need = prod(axis_sizes)
    if any(n < 1 for n in axis_sizes):
        raise ValueError(f"make_mesh needs axis_sizes of at least 1, not {tuple(axis_sizes)}")
    if need > len(given):
        raise ValueError(
            f"make_mesh needs {need} devices for axis_sizes={tuple(axis_sizes)} and has "
            f"{len(given)}: make the mesh smaller, or {more_devices()}"
        )
    return Mesh(_grid(given[:need], axis_sizes), axis_names, axis_types)


class set_mesh:  # noqa: N801 - JAX's name of what is called and entered
    """Put a mesh in use, for good or within a `with` block. Source: `jax.set_mesh`.

    Specs and names of axes then need no mesh beside them.

    >>> import arrayport as ap
    >>> with set_mesh(make_mesh((1,), ("x",))):
    ...     get_mesh().axis_names
    ('x',)
    """

    def __init__(self, mesh: Mesh | AbstractMesh | None) -> None:
        mesh = adopted(mesh)
        if not isinstance(mesh, Mesh | AbstractMesh | None):
            raise TypeError(f"set_mesh needs a Mesh or None, not {type(mesh).__name__}")
        self.mesh = mesh
        self.token = mesh_in_use.set(mesh)

    def __enter__(self) -> Mesh | AbstractMesh | None:
        return self.mesh

    def __exit__(self, *_: object) -> None:
        mesh_in_use.reset(self.token)


@contextmanager
def use_abstract_mesh(mesh: AbstractMesh) -> Iterator[AbstractMesh]:
    """Put a mesh without devices in use within a `with` block.

    Source: `jax.sharding.use_abstract_mesh`.

    >>> with use_abstract_mesh(AbstractMesh((2,), ("x",))):
    ...     get_abstract_mesh()
    AbstractMesh('x': 2, axis_types=(Auto,))
    """
    with set_mesh(mesh):
        yield mesh


def get_mesh() -> Mesh:
    """Give the mesh in use; an empty one if there is none. Source: `jax.sharding.get_mesh`.

    >>> get_mesh().empty
    True
    """
    found = mesh_in_use.get()
    return found if isinstance(found, Mesh) else Mesh(np.empty((), object), ())


def get_abstract_mesh() -> AbstractMesh:
    """Give the mesh in use without its devices. Source: `jax.sharding.get_abstract_mesh`.

    >>> get_abstract_mesh().empty
    True
    """
    found = mesh_in_use.get()
    return AbstractMesh((), ()) if found is None else found.abstract_mesh


use_mesh = set_mesh
