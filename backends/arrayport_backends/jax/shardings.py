"""JAX's own meshes and shardings for arrayport's, and the other way; arrays placed by them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import jax.sharding as shardings
import numpy as np

from arrayport.core.array import Array
from arrayport.core.backend import Device
from arrayport.core.meshes import AbstractMesh, AxisType, Mesh
from arrayport.core.shardings import (
    NamedSharding,
    PartitionSpec,
    PositionalSharding,
    Shard,
    Sharding,
    SingleDeviceSharding,
)
from arrayport.ops.placement import sharding_of
from arrayport_backends.jax.faults import translating
from arrayport_backends.jax.leaves import bare, wrap

theirs: Any = jax  # whose functions are partly untyped

# ---- devices and meshes


def place(device: Device) -> jax.Device:
    """Find JAX's own object for a device."""
    return next(d for d in jax.devices(device.platform) if d.id == device.id)


def device_of(found: Any) -> Device:
    """Give one of JAX's devices as ours."""
    return Device("jax", found.platform, found.id)


@cache
def mesh(own: Mesh | AbstractMesh) -> Any:
    """Make JAX's mesh of ours."""
    types = tuple([shardings.AxisType[t.name] for t in own.axis_types])
    names: Any = own.axis_names
    if isinstance(own, AbstractMesh):
        return shardings.AbstractMesh(own.axis_sizes, names, axis_types=types)
    grid = np.empty(own.devices.shape, dtype=object)
    for at, device in np.ndenumerate(own.devices):
        grid[at] = place(device)
    return shardings.Mesh(grid, names, axis_types=types)


def _own_mesh(found: Any) -> Mesh | AbstractMesh:
    types = [AxisType[t.name] for t in found.axis_types]
    if isinstance(found, shardings.AbstractMesh):
        return AbstractMesh(found.axis_sizes, found.axis_names, types)
    grid = np.empty(found.devices.shape, dtype=object)
    for at, device in np.ndenumerate(found.devices):
        grid[at] = device_of(device)
    return Mesh(grid, found.axis_names, types)


# ---- specs and shardings


def spec(own: PartitionSpec) -> Any:
    """Make JAX's spec of ours."""
    free = shardings.PartitionSpec.UNCONSTRAINED
    entries = [free if p is PartitionSpec.UNCONSTRAINED else p for p in own]
    return theirs.sharding.PartitionSpec(*entries)


def specs(tree: Any) -> Any:
    """Make JAX's specs of ours in a pytree, of whatever else what it is."""
    return jax.tree_util.tree_map(lambda x: spec(x) if isinstance(x, PartitionSpec) else x, tree)


def sharding(own: Sharding) -> Any:
    """Make JAX's sharding of ours."""
    if isinstance(own, SingleDeviceSharding):
        return shardings.SingleDeviceSharding(place(own.device), memory_kind=own.memory_kind)
    named = own.named() if isinstance(own, PositionalSharding) else own
    if not isinstance(named, NamedSharding):
        raise TypeError(f"JAX has no sharding such as {own!r}: use a NamedSharding")
    return shardings.NamedSharding(
        mesh(named.mesh), spec(named.spec), memory_kind=named.memory_kind
    )


def all_of(tree: Any) -> Any:
    """Make JAX's shardings of ours in a pytree, specs with the mesh in use."""

    def one(x: Any) -> Any:
        x = sharding_of(x, "jit")
        return sharding(x) if isinstance(x, Sharding) else x

    return jax.tree_util.tree_map(one, tree)


def own_sharding(found: Any) -> Any:
    """Make our sharding of JAX's; one of a kind that we lack stays as it is."""
    if isinstance(found, shardings.SingleDeviceSharding):
        return SingleDeviceSharding(device_of(next(iter(found.device_set))))
    if isinstance(found, shardings.NamedSharding):
        return NamedSharding(_own_mesh(found.mesh), _own_spec(found.spec))
    return found


def adopted(found: Any) -> Any:
    """Make ours of one of JAX's devices, meshes, specs or shardings; another thing stays."""
    if isinstance(found, jax.Device):
        return device_of(found)
    if isinstance(found, shardings.Mesh | shardings.AbstractMesh):
        return _own_mesh(found)
    if isinstance(found, shardings.PartitionSpec):
        return _own_spec(found)
    return own_sharding(found)


def _own_spec(found: Any) -> PartitionSpec:
    free = shardings.PartitionSpec.UNCONSTRAINED
    return PartitionSpec(*[PartitionSpec.UNCONSTRAINED if p is free else p for p in found])


def shards(raw: Any) -> list[Shard]:
    """Give the parts of one of JAX's arrays."""
    return [
        Shard(device_of(s.device), s.index, s.replica_id, wrap(s.data))
        for s in raw.addressable_shards
    ]


# ---- arrays


@translating
def placed(x: Array, own: Sharding) -> Any:
    """Divide an array over devices; in JAX's traces this is a constraint."""
    raw, target = bare(x), sharding(own)
    if isinstance(raw, jax.core.Tracer):
        return wrap(theirs.lax.with_sharding_constraint(raw, target))
    return wrap(jax.device_put(raw, target))


@translating
def make_array_from_callback(
    shape: Sequence[int], own: Sharding, data_callback: Callable[[Any], Any], dtype: Any
) -> Any:
    """Make an array of what a function gives for each part."""
    options = {} if dtype is None else {"dtype": dtype}

    def part(index: Any) -> Any:
        given = data_callback(index)
        return jnp.asarray(bare(given) if isinstance(given, Array) else given)

    return wrap(jax.make_array_from_callback(tuple(shape), sharding(own), part, **options))


@translating
def make_array_from_single_device_arrays(
    shape: Sequence[int], own: Sharding, arrays: Sequence[Any], dtype: Any
) -> Any:
    """Make an array of its parts."""
    options = {} if dtype is None else {"dtype": dtype}
    raws = [bare(x) for x in arrays]
    return wrap(
        jax.make_array_from_single_device_arrays(tuple(shape), sharding(own), raws, **options)
    )


def inspect_array_sharding(x: Any, callback: Callable[[Sharding], None]) -> None:
    """Call a function with the sharding that an array has, or is given by the compiler."""
    raw = bare(x)
    if not isinstance(raw, jax.core.Tracer):
        callback(own_sharding(raw.sharding))
        return
    theirs.debug.inspect_array_sharding(raw, callback=lambda s: callback(own_sharding(s)))
