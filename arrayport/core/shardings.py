"""Shardings: which part of an array stands on which device."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from arrayport.core.backend import Device
from arrayport.core.meshes import AbstractMesh, AxisType, Mesh

if TYPE_CHECKING:
    from arrayport.core.array import Array

Index = tuple[slice, ...]


class _Unconstrained:
    def __repr__(self) -> str:
        return "UNCONSTRAINED"


class PartitionSpec:
    """Says for each dimension of an array along which axes of a mesh it is divided.

    Source: `jax.sharding.PartitionSpec`, also `P`. An entry is the name of an axis, a tuple of
    names (the first divides first), or None; dimensions without an entry are whole.

    >>> PartitionSpec("x", None, ("y", "z"))
    P('x', None, ('y', 'z'))
    """

    __slots__ = ("partitions",)

    UNCONSTRAINED = _Unconstrained()

    def __init__(self, *partitions: Any) -> None:
        self.partitions = tuple([_entry(p) for p in partitions])

    def axes(self, i: int) -> tuple[Hashable, ...]:
        """The axes that divide dimension i."""
        entry = self.partitions[i] if i < len(self.partitions) else None
        if entry is None or entry is PartitionSpec.UNCONSTRAINED:
            return ()
        return entry if isinstance(entry, tuple) else (entry,)

    def all_axes(self) -> list[Hashable]:
        """The axes that divide some dimension, in order."""
        return [name for i in range(len(self.partitions)) for name in self.axes(i)]

    def __len__(self) -> int:
        return len(self.partitions)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.partitions)

    def __getitem__(self, i: Any) -> Any:
        return self.partitions[i]

    def index(self, entry: Any) -> int:
        """The first dimension that has an entry; ValueError where none has."""
        return self.partitions.index(_entry(entry))

    def count(self, entry: Any) -> int:
        """In how many dimensions an entry is."""
        return self.partitions.count(_entry(entry))

    def __add__(self, other: Any) -> PartitionSpec:
        return PartitionSpec(*self.partitions, *other)

    def __radd__(self, other: Any) -> PartitionSpec:
        return PartitionSpec(*other, *self.partitions)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PartitionSpec) and self.partitions == other.partitions

    def __hash__(self) -> int:
        return hash(self.partitions)

    def __repr__(self) -> str:
        comma = "," if len(self.partitions) == 1 else ""
        return f"P({', '.join(map(repr, self.partitions))}{comma})"

    def __reduce__(self) -> tuple[Any, ...]:
        return PartitionSpec, self.partitions


def _entry(entry: Any) -> Any:
    if isinstance(entry, list | tuple):
        names = tuple(entry)
        return None if not names else names[0] if len(names) == 1 else names
    return entry


@dataclass(frozen=True)
class Shard:
    """The part of an array on one device; of equal parts `replica_id` 0 is the first.

    Source: `jax.Shard`.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> (shard,) = anp.arange(3).addressable_shards
    >>> shard.replica_id, shard.data
    (0, Array([0, 1, 2], dtype=int32))
    """

    device: Device
    index: Index
    replica_id: int
    data: Array


class Sharding:
    """Which part of an array of any shape stands on which device. Source: `jax.sharding.Sharding`.

    A subclass gives `devices_indices_map`.
    """

    __slots__ = ()

    memory_kind: str | None = None

    def devices_indices_map(self, global_shape: Sequence[int]) -> Mapping[Device, Index]:
        """The part of an array of that shape on each device, as slices."""
        raise NotImplementedError

    def checked(self, shape: Sequence[int], what: str = "an array") -> None:
        """Raise ValueError unless an array of that shape can be divided so."""
        self.devices_indices_map(shape)

    def addressable_devices_indices_map(
        self, global_shape: Sequence[int]
    ) -> Mapping[Device, Index]:
        """The same: all devices are this process's."""
        return self.devices_indices_map(global_shape)

    @property
    def device_list(self) -> list[Device]:
        """The devices in order."""
        return list(self.devices_indices_map(()))

    @property
    def device_set(self) -> set[Device]:
        """The devices."""
        return set(self.device_list)

    @property
    def addressable_devices(self) -> set[Device]:
        """The devices of this process: all of them."""
        return self.device_set

    @property
    def num_devices(self) -> int:
        """How many devices there are."""
        return len(self.device_set)

    @property
    def is_fully_addressable(self) -> bool:
        """Whether all devices are this process's: always."""
        return True

    @property
    def is_fully_replicated(self) -> bool:
        """Whether every device holds the whole array."""
        return True

    def shard_shape(self, global_shape: Sequence[int]) -> tuple[int, ...]:
        """The shape of the parts of an array of that shape."""
        index = next(iter(self.devices_indices_map(global_shape).values()))
        return tuple([len(range(*s.indices(n))) for s, n in zip(index, global_shape, strict=True)])

    def is_equivalent_to(self, other: Sharding, ndim: int) -> bool:
        """Whether another sharding divides arrays of that rank in the same way."""
        shape = (prod(range(1, 9)) * max(self.num_devices, 1),) * ndim
        return self.device_list == other.device_list and (
            self.devices_indices_map(shape) == other.devices_indices_map(shape)
        )

    def parts(self, shape: Sequence[int]) -> list[tuple[Device, Index, int]]:
        """The device and the place of each part, and its number among those of the same place."""
        seen: dict[Any, int] = {}
        found = []
        for device, index in self.devices_indices_map(shape).items():
            key = tuple([(s.start, s.stop) for s in index])
            seen[key] = seen.get(key, -1) + 1
            found.append((device, index, seen[key]))
        return found


class SingleDeviceSharding(Sharding):
    """All of an array on one device. Source: `jax.sharding.SingleDeviceSharding`.

    >>> import arrayport as ap
    >>> SingleDeviceSharding(ap.devices("numpy")[0])
    SingleDeviceSharding(device=Device(backend='numpy', platform='cpu', id=0))
    """

    __slots__ = ("device", "memory_kind")

    def __init__(self, device: Device, *, memory_kind: str | None = None) -> None:
        self.device = device
        self.memory_kind = memory_kind

    def devices_indices_map(self, global_shape: Sequence[int]) -> Mapping[Device, Index]:
        return {self.device: (slice(None),) * len(global_shape)}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SingleDeviceSharding) and self.device == other.device

    def __hash__(self) -> int:
        return hash(self.device)

    def __repr__(self) -> str:
        return f"SingleDeviceSharding(device={self.device!r})"


class NamedSharding(Sharding):
    """An array divided along the axes of a mesh as a PartitionSpec says.

    Source: `jax.sharding.NamedSharding`. Raises ValueError for an axis that the mesh lacks or that
    the spec names twice.

    >>> import arrayport as ap
    >>> NamedSharding(Mesh(ap.devices("numpy")[:1], "x"), PartitionSpec("x"))
    NamedSharding(mesh=Mesh('x': 1, axis_types=(Auto,)), spec=P('x',))
    """

    __slots__ = ("memory_kind", "mesh", "spec")

    def __init__(
        self, mesh: Mesh | AbstractMesh, spec: PartitionSpec, *, memory_kind: str | None = None
    ) -> None:
        if not isinstance(spec, PartitionSpec):
            raise TypeError(f"NamedSharding needs spec to be a PartitionSpec, not {spec!r}")
        if not isinstance(mesh, Mesh | AbstractMesh):
            raise TypeError(f"NamedSharding needs mesh to be a Mesh, not {type(mesh).__name__}")
        self.mesh = mesh
        self.spec = spec
        self.memory_kind = memory_kind
        check_spec(spec, mesh.axis_names, "spec", "the mesh")

    def update(self, **parts: Any) -> NamedSharding:
        """Make one of the same parts but for those given, by name."""
        own = {"mesh": self.mesh, "spec": self.spec, "memory_kind": self.memory_kind}
        return NamedSharding(**own | parts)

    def checked(self, shape: Sequence[int], what: str = "an array") -> None:
        if len(self.spec) > len(shape):
            raise ValueError(
                f"{what} of shape {tuple(shape)} has {len(shape)} dimensions, fewer than the "
                f"{len(self.spec)} entries of {self.spec}: shorten the spec"
            )
        sizes = self.mesh.shape
        for i, extent in enumerate(shape):
            parts = prod([sizes[name] for name in self.spec.axes(i)])
            if extent % parts:
                raise ValueError(
                    f"{what} of shape {tuple(shape)} cannot be divided by {self.spec}: dimension "
                    f"{i} has {extent} elements, no multiple of the {parts} parts that the mesh "
                    f"axes {self.spec.axes(i)} make"
                )

    def devices_indices_map(self, global_shape: Sequence[int]) -> Mapping[Device, Index]:
        if not isinstance(self.mesh, Mesh):
            raise TypeError(f"{self} has an abstract mesh, which has no devices: use a Mesh")
        self.checked(global_shape)
        sizes, names = self.mesh.shape, self.mesh.axis_names
        found = {}
        for place, device in np.ndenumerate(self.mesh.devices):
            at = dict(zip(names, place, strict=True))
            index = []
            for i, extent in enumerate(global_shape):
                number, parts = 0, 1
                for name in self.spec.axes(i):
                    number, parts = number * sizes[name] + at[name], parts * sizes[name]
                step = extent // parts
                whole = not self.spec.axes(i)
                index.append(slice(None) if whole else slice(number * step, (number + 1) * step))
            found[device] = tuple(index)
        return found

    @property
    def device_list(self) -> list[Device]:
        return list(self.mesh.devices.flat) if isinstance(self.mesh, Mesh) else []

    @property
    def is_fully_replicated(self) -> bool:
        return all(self.mesh.shape[name] == 1 for name in self.spec.all_axes())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NamedSharding) and (self.mesh, self.spec) == (
            other.mesh,
            other.spec,
        )

    def __hash__(self) -> int:
        return hash((self.mesh, self.spec))

    def __repr__(self) -> str:
        return f"NamedSharding(mesh={self.mesh!r}, spec={self.spec!r})"


def check_spec(spec: PartitionSpec, names: Sequence[Hashable], argument: str, owner: str) -> None:
    """Raise ValueError for an axis in a spec that is not among the names, or stands there twice."""
    used = spec.all_axes()
    for name in used:
        if name not in names:
            raise ValueError(
                f"{argument} {spec} names the axis {name!r}, which {owner} lacks: it has "
                f"{tuple(names)}"
            )
        if used.count(name) > 1:
            raise ValueError(
                f"{argument} {spec} divides two dimensions along the axis {name!r}: an axis can "
                "divide only one"
            )


class PositionalSharding(Sharding):
    """Devices in a grid with as many dimensions as the arrays that it divides, without names.

    As JAX had it until 0.6: start with a list of devices, `reshape` to the numbers of parts, and
    `replicate` along axes whose devices shall hold the same.

    >>> import arrayport as ap
    >>> with ap.virtual_devices(2):
    ...     PositionalSharding(ap.devices("numpy")).reshape(2, 1)
    PositionalSharding([['numpy:cpu:0'] ['numpy:cpu:1']])
    """

    __slots__ = ("_groups", "memory_kind")

    def __init__(self, devices: Any, *, memory_kind: str | None = None) -> None:
        grid = Mesh(devices, tuple(range(np.ndim(np.asarray(devices, dtype=object)))))
        self._groups = grid.devices[..., None]  # the last axis: devices that hold the same
        self.memory_kind = memory_kind

    def _with(self, groups: np.ndarray[Any, Any]) -> PositionalSharding:
        made = object.__new__(PositionalSharding)
        made._groups = groups
        made.memory_kind = self.memory_kind
        return made

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of parts along each dimension."""
        return self._groups.shape[:-1]

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    def reshape(self, *shape: Any) -> PositionalSharding:
        """The same devices in another grid; -1 is the extent that is left."""
        new = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        replicas = self._groups.shape[-1:]
        return self._with(self._groups.reshape(*new, *replicas))

    def transpose(self, *axes: int) -> PositionalSharding:
        """The same devices with the axes in another order, reversed if none is given."""
        order = axes or tuple(reversed(range(self.ndim)))
        return self._with(self._groups.transpose(*order, self.ndim))

    @property
    def T(self) -> PositionalSharding:
        """All axes reversed."""
        return self.transpose()

    def replicate(self, axis: int | None = None, keepdims: bool = True) -> PositionalSharding:
        """Let the devices along an axis, or all, hold the same."""
        axes = range(self.ndim) if axis is None else (axis % self.ndim,)
        groups = np.moveaxis(self._groups, [*axes], range(-1 - len(axes), -1))
        kept = [n for i, n in enumerate(self.shape) if i not in axes]
        if keepdims:
            kept = [1 if i in axes else n for i, n in enumerate(self.shape)]
        return self._with(groups.reshape(*kept, -1))

    def named(self) -> NamedSharding:
        """The same as a NamedSharding, of axes named by their places."""
        names = [f"axis{i}" for i in range(self.ndim)]
        return NamedSharding(Mesh(self._groups, (*names, "replica")), PartitionSpec(*names))

    def checked(self, shape: Sequence[int], what: str = "an array") -> None:
        if len(shape) != self.ndim:
            raise ValueError(
                f"{what} of shape {tuple(shape)} has {len(shape)} dimensions, {self} has "
                f"{self.ndim}: reshape the sharding"
            )
        self.named().checked(shape, what)

    def devices_indices_map(self, global_shape: Sequence[int]) -> Mapping[Device, Index]:
        self.checked(global_shape)
        return self.named().devices_indices_map(global_shape)

    @property
    def device_list(self) -> list[Device]:
        return list(self._groups.flat)

    @property
    def is_fully_replicated(self) -> bool:
        return prod(self.shape) == 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PositionalSharding) and np.array_equal(self._groups, other._groups)

    def __hash__(self) -> int:
        return hash((self.shape, *self._groups.flat))

    def __repr__(self) -> str:
        groups = np.empty(self.shape, dtype=object)
        for place in np.ndindex(*self.shape):
            groups[place] = ",".join(map(str, self._groups[place]))
        return f"PositionalSharding({groups})"


__all__ = [
    "AbstractMesh",
    "AxisType",
    "Mesh",
    "NamedSharding",
    "PartitionSpec",
    "PositionalSharding",
    "Shard",
    "Sharding",
    "SingleDeviceSharding",
]
