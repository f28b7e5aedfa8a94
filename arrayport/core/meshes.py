"""Meshes: devices in a grid whose axes have names, and the mesh that the context gives."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Sequence
from contextvars import ContextVar
from enum import Enum
from math import prod
from typing import Any, Self

import numpy as np

from arrayport.core.backend import Device


class AxisType(Enum):
    """Who divides the work along an axis: the compiler, the types of arrays, or the program.

    Source: `jax.sharding.AxisType`. Only JAX tells Auto from Explicit: here types name no axes.

    >>> AxisType.Auto
    <AxisType.Auto: 1>
    """

    Auto = 1
    Explicit = 2
    Manual = 3


class _Grid:
    """What meshes with and without devices have in common."""

    __slots__ = ("axis_names", "axis_sizes", "axis_types")

    axis_names: tuple[Hashable, ...]
    axis_sizes: tuple[int, ...]
    axis_types: tuple[AxisType, ...]

    def _fill(self, sizes: Sequence[int], names: Any, types: Any) -> None:
        names = (names,) if isinstance(names, str) else tuple(names)
        if len(names) != len(sizes):
            raise ValueError(
                f"a mesh needs a name for each axis: axis_names={names} for a grid of {sizes}"
            )
        if len({*names}) != len(names):
            raise ValueError(f"a mesh needs axis_names that differ, not {names}")
        types = types or AxisType.Auto
        types = (types,) * len(names) if isinstance(types, AxisType) else tuple(types)
        if len(types) != len(names):
            raise ValueError(
                f"a mesh needs an entry of axis_types for each axis: {types} for {names}"
            )
        for slot, value in (("axis_sizes", sizes), ("axis_names", names), ("axis_types", types)):
            object.__setattr__(self, slot, tuple(value))

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a {type(self).__name__} cannot change: make another one")

    @property
    def shape(self) -> OrderedDict[Hashable, int]:
        """The extent of each axis, by name."""
        return OrderedDict(zip(self.axis_names, self.axis_sizes, strict=True))

    @property
    def shape_tuple(self) -> tuple[tuple[Hashable, int], ...]:
        """Pairs of a name and an extent."""
        return tuple(self.shape.items())

    @property
    def size(self) -> int:
        """Number of places in the grid; 0 if there are no axes."""
        return prod(self.axis_sizes) if self.axis_sizes else 0

    @property
    def empty(self) -> bool:
        """Whether there are no axes."""
        return not self.axis_names

    def _axes_of(self, kind: AxisType) -> tuple[Hashable, ...]:
        return tuple(n for n, t in zip(self.axis_names, self.axis_types, strict=True) if t is kind)

    @property
    def auto_axes(self) -> tuple[Hashable, ...]:
        """Names of the axes of type Auto."""
        return self._axes_of(AxisType.Auto)

    @property
    def explicit_axes(self) -> tuple[Hashable, ...]:
        """Names of the axes of type Explicit."""
        return self._axes_of(AxisType.Explicit)

    @property
    def manual_axes(self) -> tuple[Hashable, ...]:
        """Names of the axes of type Manual."""
        return self._axes_of(AxisType.Manual)

    @property
    def are_all_axes_auto(self) -> bool:
        """Whether there are axes, all of type Auto."""
        return {*self.axis_types} == {AxisType.Auto}

    @property
    def are_all_axes_explicit(self) -> bool:
        """Whether there are axes, all of type Explicit."""
        return {*self.axis_types} == {AxisType.Explicit}

    @property
    def are_all_axes_manual(self) -> bool:
        """Whether there are axes, all of type Manual."""
        return {*self.axis_types} == {AxisType.Manual}

    def _text(self) -> str:
        if self.empty:
            return f"{type(self).__name__}()"
        shape = ", ".join(f"{name!r}: {size}" for name, size in self.shape_tuple)
        types = ", ".join(t.name for t in self.axis_types)
        comma = "," if len(self.axis_types) == 1 else ""
        return f"{type(self).__name__}({shape}, axis_types=({types}{comma}))"

    def __repr__(self) -> str:
        return self._text()


class AbstractMesh(_Grid):
    """A mesh of which only the extents and names of the axes are known, not the devices.

    Source: `jax.sharding.AbstractMesh`.

    >>> AbstractMesh((4, 2), ("x", "y"))
    AbstractMesh('x': 4, 'y': 2, axis_types=(Auto, Auto))
    >>> mixed = AbstractMesh((4, 2), ("x", "y"), (AxisType.Auto, AxisType.Explicit))
    >>> mixed.explicit_axes, mixed.are_all_axes_explicit, AbstractMesh((), ()).are_all_axes_auto
    (('y',), False, False)
    """

    __slots__ = ()

    def __init__(
        self,
        axis_sizes: Sequence[int],
        axis_names: str | Sequence[Hashable],
        axis_types: AxisType | Sequence[AxisType] | None = None,
    ) -> None:
        self._fill(tuple(axis_sizes), axis_names, axis_types)

    @property
    def abstract_mesh(self) -> AbstractMesh:
        """Itself."""
        return self

    def _key(self) -> tuple[Any, ...]:
        return self.axis_sizes, self.axis_names, self.axis_types

    def __eq__(self, other: object) -> bool:
        return type(other) is AbstractMesh and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __reduce__(self) -> tuple[Any, ...]:
        return AbstractMesh, self._key()


class Mesh(_Grid):
    """Devices in a grid whose axes have names; a context manager that makes it the mesh in use.

    Source: `jax.sharding.Mesh`. `devices`: an array or nested lists of Devices. Raises ValueError
    unless there is one name an axis, TypeError for what is no device.

    >>> import arrayport as ap
    >>> Mesh(ap.devices("numpy")[:1], "x")
    Mesh('x': 1, axis_types=(Auto,))
    """

    __slots__ = ("_tokens", "devices")

    devices: np.ndarray[Any, Any]
    _tokens: list[Any]

    def __init__(
        self,
        devices: Any,
        axis_names: str | Sequence[Hashable],
        axis_types: AxisType | Sequence[AxisType] | None = None,
    ) -> None:
        given = np.asarray(devices, dtype=object)
        grid = np.empty(given.shape, dtype=object)
        for place, device in np.ndenumerate(given) if given.ndim else ():  # else an empty mesh
            grid[place] = _device(device)
        grid.flags.writeable = False
        object.__setattr__(self, "devices", grid)
        object.__setattr__(self, "_tokens", [])
        self._fill(grid.shape, axis_names, axis_types)

    @property
    def device_ids(self) -> np.ndarray[Any, Any]:
        """The devices' numbers, in the grid."""
        return np.array([d.id for d in self.devices.flat], int).reshape(self.devices.shape)

    @property
    def local_devices(self) -> list[Device]:
        """The devices of this process: all of them."""
        return list(self.devices.flat)

    @property
    def local_mesh(self) -> Mesh:
        """The mesh of this process: itself."""
        return self

    @property
    def is_multi_process(self) -> bool:
        """Whether other processes' devices are in it: never."""
        return False

    @property
    def abstract_mesh(self) -> AbstractMesh:
        """The same without its devices."""
        return AbstractMesh(self.axis_sizes, self.axis_names, self.axis_types)

    def _key(self) -> tuple[Any, ...]:
        return tuple(self.devices.flat), self.axis_sizes, self.axis_names, self.axis_types

    def __eq__(self, other: object) -> bool:
        return type(other) is Mesh and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __reduce__(self) -> tuple[Any, ...]:
        return Mesh, (self.devices, self.axis_names, self.axis_types)

    def __enter__(self) -> Self:
        self._tokens.append(mesh_in_use.set(self))
        return self

    def __exit__(self, *_: object) -> None:
        mesh_in_use.reset(self._tokens.pop())


def _device(x: Any) -> Device:
    if isinstance(x, Device):
        return x
    try:  # another library's own, such as jax.devices() gives
        module = type(x).__module__
        return Device("jax" if module.startswith("jax") else module, x.platform, x.id)
    except AttributeError:
        raise TypeError(
            f"a mesh is made of Devices of arrayport.devices(), not of {type(x).__name__}"
        ) from None


# The mesh that `with mesh:`, `set_mesh` and their like put in use, with devices or without.
mesh_in_use: ContextVar[Mesh | AbstractMesh | None] = ContextVar("mesh_in_use", default=None)


def mesh_or_in_use(mesh: Any, what: str) -> Mesh | AbstractMesh:
    """The mesh that was given, else the one in use. Raises if there is neither."""
    if mesh is None:
        mesh = mesh_in_use.get()
    if mesh is None or mesh.empty:
        raise ValueError(f"{what} needs a mesh: pass mesh=, or put one in use with set_mesh(mesh)")
    if not isinstance(mesh, Mesh | AbstractMesh):
        raise TypeError(f"{what} needs mesh to be a Mesh, not {type(mesh).__name__}")
    return mesh
