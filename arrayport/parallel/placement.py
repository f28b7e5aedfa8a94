"""Arrays over several devices: made of parts, moved, and held to a sharding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from arrayport.core import backend as backends
from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.core.backend import Device
from arrayport.core.shardings import Index, Sharding, SingleDeviceSharding
from arrayport.ops.placement import constrained, device_put


def with_sharding_constraint(x: Any, shardings: Any) -> Any:
    """Hold the arrays of a pytree to shardings, also in traced functions.

    `shardings`: a Sharding, a PartitionSpec for the mesh in use, or a pytree prefix of these. On
    JAX it steers the compiler. NumPy and CuPy check that each array can be divided so, and then
    note it on the arrays of an eager call. Raises ValueError for one that cannot.
    Source: `jax.lax.with_sharding_constraint`.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> mesh = ap.make_mesh((1,), ("x",))
    >>> with_sharding_constraint(anp.ones(2), ap.NamedSharding(mesh, ap.P("x"))).sharding.spec
    P('x',)
    """
    return constrained(x, shardings, "with_sharding_constraint", "shardings")


def reshard(xs: Any, out_shardings: Any) -> Any:
    """Divide the arrays of a pytree otherwise, also in traced functions. Source: `jax.reshard`.

    `out_shardings`: as `shardings` of `lax.with_sharding_constraint`.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> mesh = ap.make_mesh((1,), ("x",))
    >>> reshard(anp.ones(2), ap.NamedSharding(mesh, ap.P())).is_fully_replicated
    True
    """
    return constrained(xs, out_shardings, "reshard", "out_shardings")


def _backend(sharding: Sharding) -> backends.Backend:
    return backends.get(sharding.device_list[0].backend)


def _bounds(index: Index, shape: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    return tuple([s.indices(n)[:2] for s, n in zip(index, shape, strict=True)])


def make_array_from_callback(
    shape: Sequence[int],
    sharding: Sharding,
    data_callback: Callable[[Index], Any],
    dtype: Any = None,
) -> Array:
    """Make an array of what a function gives for each part, called with the part's slices.

    Source: `jax.make_array_from_callback`. Raises ValueError for a part of another shape.

    >>> import arrayport as ap, numpy as np
    >>> with ap.virtual_devices(2):
    ...     sharding = ap.NamedSharding(ap.make_mesh((2,), ("x",)), ap.P("x"))
    ...     make_array_from_callback((4,), sharding, lambda index: np.arange(4)[index])
    Array([0, 1, 2, 3], dtype=int32)
    """
    shape = tuple(shape)
    backend = _backend(sharding)
    if backend.native is not None:
        return backend.native.make_array_from_callback(shape, sharding, data_callback, dtype)
    parts: dict[Any, Any] = {}
    for index in sharding.devices_indices_map(shape).values():
        key = _bounds(index, shape)
        if key not in parts:
            parts[key] = np.asarray(data_callback(index))
    return _assembled(shape, sharding, parts, dtype, "data_callback")


def _assembled(
    shape: tuple[int, ...], sharding: Sharding, parts: Any, dtype: Any, what: str
) -> Array:
    want = sharding.shard_shape(shape)
    first = next(iter(parts.values()))
    whole = np.empty(shape, first.dtype if dtype is None else dtypes.canonicalize(dtype))
    for key, part in parts.items():
        if part.shape != want:
            raise ValueError(
                f"a part from {what} has shape {part.shape}: {sharding} divides {shape} into "
                f"parts of {want}"
            )
        whole[tuple([slice(*bounds) for bounds in key])] = part
    return device_put(whole, sharding)


def make_array_from_single_device_arrays(
    shape: Sequence[int], sharding: Sharding, arrays: Sequence[Any], *, dtype: Any = None
) -> Array:
    """Make an array of its parts, one for each device of the sharding, in the devices' order.

    Source: `jax.make_array_from_single_device_arrays`. Raises ValueError for a wrong number of
    parts or a part of another shape.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> with ap.virtual_devices(2):
    ...     sharding = ap.NamedSharding(ap.make_mesh((2,), ("x",)), ap.P("x"))
    ...     parts = [ap.device_put(anp.ones(1), d) for d in ap.devices()]
    ...     make_array_from_single_device_arrays((2,), sharding, parts)
    Array([1., 1.], dtype=float32)
    """
    shape = tuple(shape)
    backend = _backend(sharding)
    if backend.native is not None:
        return backend.native.make_array_from_single_device_arrays(shape, sharding, arrays, dtype)
    indices = sharding.devices_indices_map(shape)
    by_device = {x.device: x for x in arrays}
    if len(arrays) != len(indices) or by_device.keys() != indices.keys():
        raise ValueError(
            f"make_array_from_single_device_arrays needs one array on each of the {len(indices)} "
            f"devices of {sharding}: it was given {len(arrays)}, on {sorted(map(str, by_device))}"
        )
    parts = {
        _bounds(index, shape): by_device[device].__array__() for device, index in indices.items()
    }
    return _assembled(shape, sharding, parts, dtype, "arrays")


def make_single_device_sharding(
    device: Device, *, memory_kind: str | None = None
) -> SingleDeviceSharding:
    """Say that all of an array is on one device.

    Source: `jax.sharding.make_single_device_sharding`.

    >>> import arrayport as ap
    >>> make_single_device_sharding(ap.devices("numpy")[0]).is_fully_replicated
    True
    """
    return SingleDeviceSharding(device, memory_kind=memory_kind)


def make_array_from_process_local_data(
    sharding: Sharding, local_data: Any, global_shape: Sequence[int] | None = None
) -> Any:
    """Make an array of what this process has of it: all, where there is one process.

    Source: `jax.make_array_from_process_local_data`. Raises ValueError for a `global_shape` that is
    not that of the data.

    >>> import arrayport as ap, numpy as np
    >>> sharding = ap.NamedSharding(ap.make_mesh((1,), ("x",)), ap.P("x"))
    >>> make_array_from_process_local_data(sharding, np.arange(2))
    Array([0, 1], dtype=int32)
    """
    if global_shape is not None and tuple(global_shape) != np.shape(local_data):
        raise ValueError(
            f"make_array_from_process_local_data has global_shape={tuple(global_shape)} for data "
            f"of shape {np.shape(local_data)}: one process has all of it, leave global_shape out"
        )
    return device_put(local_data, sharding)
