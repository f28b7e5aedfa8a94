"""pmap: one program for several devices, each with its slice of the arguments."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from contextlib import nullcontext
from contextvars import ContextVar
from functools import cache
from math import prod
from typing import Any

import numpy as np

from arrayport.control.jit import jit
from arrayport.core.arguments import numbers_of, of_chosen
from arrayport.core.array import Array
from arrayport.core.backend import Device, use_backend
from arrayport.core.contexts import within
from arrayport.core.meshes import Mesh
from arrayport.core.shardings import NamedSharding, PartitionSpec
from arrayport.core.tree import broadcast_prefix, tree_flatten, tree_leaves, tree_unflatten
from arrayport.ops.placement import devices as devices_of
from arrayport.ops.placement import placed
from arrayport.transforms.batching import argument, vmap
from arrayport.transforms.engines import by_engine

# The extents of the pmaps around the code that runs, which share the devices out.
_among: ContextVar[tuple[int, ...]] = ContextVar("mapped_among", default=())
UNNAMED = "devices"  # the axis of the results' sharding, if axis_name is no string


def pmap(
    fun: Callable[..., Any],
    axis_name: Hashable | None = None,
    *,
    in_axes: Any = 0,
    out_axes: Any = 0,
    static_broadcasted_argnums: int | Sequence[int] = (),
    devices: Sequence[Device] | None = None,
    backend: str | None = None,
    axis_size: int | None = None,
    donate_argnums: int | Sequence[int] = (),
) -> Callable[..., Any]:
    """Compile a function for several devices, which run it on slices of the arguments, together.

    `in_axes`, `out_axes`: as in `vmap`; `axis_name` names the mapped axis for collectives
    (`lax.psum` …). There is a device for every index along that axis: the first ones of all, or
    `devices`. `static_broadcasted_argnums`, `donate_argnums`: as in `jit`. Raises ValueError where
    the mapped axis is longer than there are devices; `arrayport.virtual_devices` makes more.
    Source: `jax.pmap`.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> from arrayport import lax
    >>> with ap.use_backend("numpy"), ap.virtual_devices(2):
    ...     pmap(lambda x: x / lax.psum(x, "i"), axis_name="i")(anp.array([1.0, 3.0]))
    Array([0.25, 0.75], dtype=float32)
    """
    static = numbers_of(static_broadcasted_argnums)
    options = {
        "in_axes": in_axes,
        "out_axes": out_axes,
        "static_broadcasted_argnums": static,
        "devices": devices,
        "backend": backend,
        "axis_size": axis_size,
        "donate_argnums": numbers_of(donate_argnums),
    }

    def whole(*args: Any, **kwargs: Any) -> Any:
        fixed = {n % len(args) for n in static}
        others = [i for i in range(len(args)) if i not in fixed]
        axes = _others(in_axes, fixed, len(args))
        mapped = vmap(of_chosen(fun, others, args), axes, out_axes, axis_name, axis_size)
        return mapped(*[args[i] for i in others], **kwargs)

    compiled = jit(whole, static_argnums=static, donate_argnums=options["donate_argnums"])

    def own(*args: Any, **kwargs: Any) -> Any:
        out = compiled(*args, **kwargs)
        return _placed(out, out_axes, _chosen(devices, backend)[: _among.get()[-1]], axis_name)

    run = by_engine(own, "pmap", fun, axis_name=axis_name, **options)

    def call(*args: Any, **kwargs: Any) -> Any:
        if any(not -len(args) <= n < len(args) for n in static):
            raise ValueError(
                f"pmap has static_broadcasted_argnums={static}, but the function was called with "
                f"{len(args)} positional arguments: give static ones by position"
            )
        fixed = {n % len(args) for n in static}
        axes = _others(in_axes, fixed, len(args))
        size = _size(_others(args, fixed, len(args)), kwargs, axes, axis_size)
        given = _chosen(devices, backend)
        _enough(size, len(given), devices is not None)
        home = use_backend(given[0].backend) if devices or backend else nullcontext()
        with within(_among, (*_among.get(), size)), home:
            return run(*args, **kwargs)

    call.__wrapped__ = fun  # type: ignore[attr-defined]
    call.__name__ = getattr(fun, "__name__", "pmap")
    call.__doc__ = getattr(fun, "__doc__", None)
    return call


def _chosen(devices: Sequence[Device] | None, backend: str | None) -> list[Device]:
    return devices_of(backend) if devices is None else list(devices)


def _others(values: Any, fixed: Any, count: int) -> Any:
    """The entries that are not those of static arguments, of a tuple with one an argument."""
    if not isinstance(values, tuple | list) or len(values) != count:
        return values
    return tuple([v for i, v in enumerate(values) if i not in fixed])


def _size(args: Any, kwargs: Any, in_axes: Any, size: int | None) -> int:
    """The extent of the mapped axis; vmap raises where others differ."""
    leaves = tree_leaves(args)
    axes = _each(in_axes, args, len(leaves), "in_axes")
    if kwargs:
        leaves += (named := tree_leaves(kwargs))
        axes += [0] * len(named)
    for i, (x, axis) in enumerate(zip(leaves, axes, strict=True)):
        shape = x.shape if isinstance(x, Array) else np.shape(x)
        if axis is None:
            continue
        if not isinstance(axis, int) or not -len(shape) <= axis < len(shape):
            raise ValueError(
                f"pmap cannot map axis {axis} (in_axes) of {argument(args, kwargs, i)}, which has "
                f"shape {shape}: map it by None, to give it to every device"
            )
        if size is None:
            size = shape[axis]
        elif shape[axis] != size:
            raise ValueError(
                f"pmap got mapped axes of unequal sizes: {argument(args, kwargs, i)} has "
                f"{shape[axis]} where others, or axis_size, have {size}"
            )
    if size is None:
        raise ValueError(
            "pmap needs at least one mapped argument: every entry of in_axes is None (or give "
            "axis_size)"
        )
    return size


def _each(axes: Any, tree: Any, count: int, argument_name: str) -> list[Any]:
    """The axis of each leaf."""
    if isinstance(axes, int):
        return [axes] * count
    return broadcast_prefix(axes, tree, argument_name, none_is_leaf=True)


def _enough(size: int, present: int, chosen: bool) -> None:
    """Raise unless there is a device for each index, and in pmaps around this one as well."""
    around = prod(_among.get())
    if chosen and size != present:
        raise ValueError(
            f"pmap was given {present} devices for a mapped axis of {size}: give one for each "
            "index, or leave devices out"
        )
    if size < 1 or size * around > present:
        nested = f", within pmaps over {around}," if around > 1 else ""
        raise ValueError(
            f"pmap has a mapped axis of {size}{nested} and {present} devices: it needs one for "
            "each index, so map a shorter axis (vmap the rest), or raise their number "
            "(arrayport.virtual_devices, ARRAYPORT_NUM_CPU_DEVICES)"
        )


@cache
def _along(devices: tuple[Device, ...], name: Hashable | None, axis: int | None) -> NamedSharding:
    """The sharding of an array whose slices along an axis are on these devices."""
    own = name if isinstance(name, str) else UNNAMED
    spec = PartitionSpec() if axis is None else PartitionSpec(*[None] * axis, own)
    return NamedSharding(Mesh(devices, own), spec)


def _placed(out: Any, out_axes: Any, devices: Sequence[Device], name: Hashable | None) -> Any:
    """Results of a call that nothing traces, with their sharding."""
    leaves, tree = tree_flatten(out)
    if not all(type(x) is Array for x in leaves):
        return out
    axes = _each(out_axes, out, len(leaves), "out_axes")
    line = tuple(devices)
    found = []
    for x, axis in zip(leaves, axes, strict=True):
        place = axis if axis is None else axis % len(x.shape)
        found.append(placed(x, _along(line, name, place)))
    return tree_unflatten(tree, found)
