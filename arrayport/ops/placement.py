"""Where arrays live: the devices present, reading a `device=` argument, and moving arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from arrayport.core import backend as backends
from arrayport.core.array import Array, PlacedArray, Tracer, aval_of, home, traced
from arrayport.core.backend import Backend, Device
from arrayport.core.errors import BackendMismatchError, BackendNotFoundError, user_line
from arrayport.core.guards import explicit, transfer
from arrayport.core.meshes import AbstractMesh, mesh_or_in_use
from arrayport.core.shardings import (
    NamedSharding,
    PartitionSpec,
    Sharding,
    SingleDeviceSharding,
)
from arrayport.core.trace import backend_of
from arrayport.core.tree import broadcast_prefix, tree_flatten, tree_map, tree_unflatten
from arrayport.ops.promotion import lift


def present() -> list[Backend]:
    """Load every backend that works here, the default first."""
    first = backends.ambient()
    found = [first]
    for name in sorted(backends.entry_points()):
        try:
            other = backends.get(name)
        except BackendNotFoundError:
            continue
        if other is not first:
            found.append(other)
    return found


def devices(backend: str | None = None) -> list[Device]:
    """List the devices of the default backend, those that arrays are made on.

    `backend` selects by a backend's name ("numpy") or, among all that are present, by a platform
    ("cpu", "gpu", "tpu"). Raises BackendNotFoundError if nothing is left. Source: ``jax.devices``.

    >>> import arrayport as ap
    >>> ap.devices("numpy")
    [Device(backend='numpy', platform='cpu', id=0)]
    """
    if backend is None:
        own = backends.ambient().devices()
        return [device for device in own if device.platform == own[0].platform]
    if backend in backends.entry_points():
        return backends.get(backend).devices()
    found = all_devices()
    chosen = [device for device in found if device.platform == backend]
    if not chosen:
        raise BackendNotFoundError(f"no device of {backend!r}: there are {_listed(found)}")
    return chosen


def more_devices(backend: Backend | None = None) -> str:
    """How to have more devices on a backend, the ambient one if none is given, for messages."""
    if (backend or backends.ambient()).native is None:
        return "raise their number (arrayport.virtual_devices, ARRAYPORT_NUM_CPU_DEVICES)"
    return (
        "set the environment variable ARRAYPORT_NUM_CPU_DEVICES, or call arrayport.config.update("
        '"num_cpu_devices", ...), before the first use of JAX'
    )


def all_devices() -> list[Device]:
    """List the devices of every backend present, the default backend's first."""
    return [device for own in present() for device in own.devices()]


def _listed(found: list[Device]) -> str:
    return ", ".join(str(device) for device in found)


def adopted(x: Any) -> Any:
    """JAX's own device, mesh, spec or sharding as ours; anything else as it is."""
    if type(x).__module__.startswith("jax"):
        return backends.get("jax").native.adopted(x)
    return x


def resolve(device: Any) -> tuple[Backend, Device | None]:
    """The backend, and the device if one is named, that a `device=` argument means.

    That is a Device, its text ("numpy:cpu:0"), a backend's name, or a platform, which is looked for
    on the ambient backend first. None is the ambient backend.
    """
    device = adopted(device)
    if device is None:
        return backends.ambient(), None
    if isinstance(device, Device):
        return backends.get(device.backend), device
    if isinstance(device, Backend):
        return device, None
    if not isinstance(device, str):
        raise TypeError(
            "device must be a Device of arrayport.devices() or the name of a backend, not "
            f"{device!r}"
        )
    name, _, rest = device.partition(":")
    if name in backends.entry_points():
        backend = backends.get(name)
        if not rest:
            return backend, None
        found = [d for d in backend.devices() if str(d) == device]
    else:
        found = [d for d in all_devices() if d.platform == device]
    if not found:
        raise BackendNotFoundError(f"no device {device!r}: there are {_listed(all_devices())}")
    return backends.get(found[0].backend), found[0]


def on_device(device: Any, function: Callable[..., Array], *args: Any) -> Array:
    """Call a function that has no operands where `device` says, and put its answer there."""
    if device is None:
        return function(*args)
    backend, place = resolve(device)
    token = backends.enter(backend)
    try:
        return _moved(function(*args), backend, place)
    finally:
        backends.leave(token)


def _moved(x: Any, backend: Backend, device: Device | None) -> Array:
    if not isinstance(x, Array):
        x = lift(x, backend if isinstance(x, np.ndarray | np.generic) else None)
    own = backend_of(x)
    if traced(x):  # by us or by JAX
        if own is None or own is backend:
            return x
        raise BackendMismatchError(
            f"a traced array of {own.name!r} cannot move to {backend.name!r} at {user_line()}: "
            "move it before the traced function is called"
        )
    raw = x.raw
    source = home(raw)
    if source is backend and (device is None or x.sharding == SingleDeviceSharding(device)):
        return x
    transfer("device_to_host", source, aval_of(x))
    transfer("host_to_device", backend, aval_of(x))
    out = Array(backend.asarray(source.to_numpy(raw), device), x.weak)
    if device is not None and out.device != device:
        return PlacedArray(out.raw, x.weak, SingleDeviceSharding(device))
    return out


def placed(x: Array, sharding: Sharding) -> Array:
    """The same values, and beside them how they are divided: one buffer serves all devices."""
    return PlacedArray(x.raw, x.weak, sharding)


def sharded(x: Any, sharding: Sharding, what: str = "x of device_put") -> Array:
    """An array divided over the devices of a sharding; a traced one is only checked."""
    if isinstance(sharding, SingleDeviceSharding):
        return _moved(x, *resolve(sharding.device))
    if isinstance(sharding, NamedSharding) and isinstance(sharding.mesh, AbstractMesh):
        x = lift(x, None, "x")  # of a mesh without devices there is no more to say
        sharding.checked(x.shape, what)
        return x
    home_of = {device.backend for device in sharding.device_list}
    if len(home_of) != 1:
        raise BackendMismatchError(
            f"{sharding} is over devices of {len(home_of)} backends, {sorted(home_of)}: an array "
            "has one (make the mesh of devices of one backend)"
        )
    backend = backends.get(home_of.pop())
    if not isinstance(x, Array):
        x = lift(x, backend if isinstance(x, np.ndarray | np.generic) else None)
    sharding.checked(x.shape, what)
    x = _moved(x, backend, None)
    if isinstance(x, Tracer):
        return x
    return placed(x, sharding) if backend.native is None else backend.native.placed(x, sharding)


def divided_as(like: Any, made: Array) -> Array:
    """What was made in the place of another array: if it has its shape, over the same devices."""
    sharding: Sharding | None = None
    if type(like) is PlacedArray:
        sharding = like.placement
    elif type(like) is Array and type(like.raw) is not np.ndarray and not traced(like):
        sharding = home(like.raw).sharding(like.raw)
    return made if sharding is None or like.shape != made.shape else sharded(made, sharding)


def sharding_of(target: Any, what: str) -> Any:
    """A PartitionSpec with the mesh in use as a sharding; anything else as it is."""
    target = adopted(target)
    if isinstance(target, PartitionSpec):
        return NamedSharding(mesh_or_in_use(None, f"{what} with a PartitionSpec"), target)
    return target


def constrained(x: Any, shardings: Any, what: str, argument: str) -> Any:
    """The arrays of a pytree, each divided as a pytree prefix of shardings or specs says."""
    leaves, tree = tree_flatten(x)
    targets = broadcast_prefix(shardings, x, argument, none_is_leaf=True)
    found = []
    for leaf, target in zip(leaves, targets, strict=True):
        sharding = sharding_of(target, what)
        if sharding is not None and not isinstance(sharding, Sharding):
            raise TypeError(
                f"{what} needs {argument} to be Shardings or PartitionSpecs, not {sharding!r}"
            )
        value = lift(leaf, None, "x") if sharding is None else sharded(leaf, sharding, what)
        found.append(value)
    return tree_unflatten(tree, found)


def device_put(
    x: Any, device: Any = None, src: Any = None, *, donate: Any = False, may_alias: Any = None
) -> Any:
    """Move all arrays of a pytree to a device or devices; None leaves Arrays where they are.

    `device`: a Device, the name of a backend or platform, a Sharding, a PartitionSpec for the mesh
    in use, or a pytree prefix of these. A traced array may only stay on its backend. NumPy arrays
    are copied. `src`, `donate` and `may_alias` are JAX's hints and change nothing. Raises
    ValueError for a shape that cannot be divided so. Source: ``jax.device_put``.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> ap.device_put(anp.arange(3), "numpy").device.backend
    'numpy'
    """
    del src, donate, may_alias
    leaves, treedef = tree_flatten(x)
    with explicit():
        if device is None:
            return tree_unflatten(treedef, [lift(leaf, None, "x") for leaf in leaves])
        targets = broadcast_prefix(device, x, "device", none_is_leaf=True)
        return tree_unflatten(
            treedef,
            [
                lift(leaf, None, "x") if target is None else _put(leaf, target)
                for leaf, target in zip(leaves, targets, strict=True)
            ],
        )


def _put(x: Any, target: Any) -> Array:
    target = sharding_of(target, "device_put")
    return sharded(x, target) if isinstance(target, Sharding) else _moved(x, *resolve(target))


def device_get(x: Any) -> Any:
    """Give the values of all arrays of a pytree as NumPy arrays, read-only.

    Source: ``jax.device_get``.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> ap.device_get({"a": anp.arange(3)})
    {'a': array([0, 1, 2], dtype=int32)}
    """
    with explicit():
        return tree_map(_got, x)


def _got(x: Any) -> Any:
    if isinstance(x, Array):
        return x.__array__()
    found = backends.by_type(type(x)) if not isinstance(x, np.ndarray) else None
    return x if found is None else found.to_numpy(x)


def no_sharding(out_sharding: Any, name: str) -> None:
    """Refuse `out_sharding` along axes of a mesh: types of arrays are divided on JAX only.

    What `typeof(x).sharding` is, along no axis, may be handed on.
    """
    if out_sharding is not None and not (
        isinstance(out_sharding, NamedSharding) and out_sharding.mesh.empty
    ):
        raise NotImplementedError(
            f"{name} takes no out_sharding: leave it out, and divide what it gives by device_put "
            "or lax.with_sharding_constraint"
        )


def copy_to_host_async(x: Any) -> Any:
    """Begin to copy the arrays of a pytree to the host, where that takes time; give it back.

    Own engines copy when the values are asked for. Source: ``jax.copy_to_host_async``.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> ap.copy_to_host_async([anp.arange(2)])
    [Array([0, 1], dtype=int32)]
    """
    with explicit():
        return tree_map(_begun, x)


def _begun(x: Any) -> Any:
    begin = getattr(x, "copy_to_host_async", None)
    if begin is not None and not isinstance(x, Tracer):
        begin()
    return x


def block_until_ready(x: Any) -> Any:
    """Wait until the values of all arrays of a pytree are there. Source: ``jax.block_until_ready``.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> ap.block_until_ready([anp.arange(2), 1.0])
    [Array([0, 1], dtype=int32), 1.0]
    """
    return tree_map(_ready, x)


def _ready(x: Any) -> Any:
    return x.block_until_ready() if type(x) is Array else x


def default_backend() -> str:
    """Name the platform of the default device: "cpu", "gpu" or "tpu".

    Source: ``jax.default_backend``.

    >>> import arrayport as ap
    >>> with ap.use_backend("numpy"):
    ...     ap.default_backend()
    'cpu'
    """
    return backends.ambient().devices()[0].platform


def local_devices(
    process_index: int | None = None, backend: str | None = None, host_id: int | None = None
) -> list[Device]:
    """List the devices of this process, which are all of them. Source: ``jax.local_devices``.

    >>> import arrayport as ap
    >>> with ap.use_backend("numpy"):
    ...     ap.local_devices()
    [Device(backend='numpy', platform='cpu', id=0)]
    """
    del process_index, host_id
    return devices(backend)


def device_count(backend: str | None = None) -> int:
    """Count the devices of the default backend, or of the one named. Source: ``jax.device_count``.

    >>> import arrayport as ap
    >>> ap.device_count("numpy")
    1
    """
    return len(devices(backend))


def local_device_count(backend: str | None = None) -> int:
    """Count the devices of this process: all of them. Source: ``jax.local_device_count``.

    >>> import arrayport as ap
    >>> ap.local_device_count("numpy")
    1
    """
    return device_count(backend)
