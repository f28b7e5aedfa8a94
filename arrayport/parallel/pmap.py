"""pmap: one program for several devices, each with its slice of the arguments."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from functools import cache, partial, update_wrapper
from math import prod
from typing import Any

import numpy as np

from arrayport.control.jit import jit
from arrayport.core.arguments import numbers_of, of_chosen
from arrayport.core.array import Tracer
from arrayport.core.backend import Device, use_backend
from arrayport.core.contexts import within
from arrayport.core.likenesses import wraps
from arrayport.core.meshes import Mesh
from arrayport.core.shardings import NamedSharding, PartitionSpec
from arrayport.core.trace import route
from arrayport.core.tree import (
    broadcast_prefix,
    is_none,
    tree_flatten,
    tree_leaves,
    tree_map,
    tree_unflatten,
)
from arrayport.ops.placement import devices as devices_of
from arrayport.ops.placement import more_devices, placed
from arrayport.transforms.batching import argument, batched, checked_axes
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

    `in_axes`, `out_axes`: as in `vmap`, but for an `out_axes` of None, which gives what the first
    device has; `axis_name` names the mapped axis for collectives (`lax.psum` …). There is a device
    for every index along that axis: the first ones of all, or `devices`.
    `static_broadcasted_argnums`, `donate_argnums`: as in `jit`, and so is `.lower(...)`. Raises
    ValueError where the mapped axis is longer than there are devices; `arrayport.virtual_devices`
    makes more. Source: `jax.pmap`.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> from arrayport import lax
    >>> with ap.use_backend("numpy"), ap.virtual_devices(2):
    ...     pmap(lambda x: x / lax.psum(x, "i"), axis_name="i")(anp.array([1.0, 3.0]))
    Array([0.25, 0.75], dtype=float32)
    """
    options = {
        "in_axes": checked_axes(in_axes, "pmap"),
        "out_axes": out_axes,
        "static_broadcasted_argnums": numbers_of(static_broadcasted_argnums),
        "devices": devices,
        "backend": backend,
        "axis_size": axis_size,
        "donate_argnums": numbers_of(donate_argnums),
    }
    return Mapped(fun, axis_name, options)


class Mapped:
    """A function as `pmap` gives it: call it, or look at it by `lower`."""

    __name__: str

    def __init__(
        self, fun: Callable[..., Any], axis_name: Hashable | None, options: dict[str, Any]
    ) -> None:
        update_wrapper(self, fun)
        self.__name__ = getattr(fun, "__name__", "pmap")
        self.fun = fun
        self.axis_name = axis_name
        self.options = options
        self.static = options["static_broadcasted_argnums"]
        self.compiled = jit(
            _whole(fun, axis_name, **options),
            static_argnums=self.static,
            donate_argnums=options["donate_argnums"],
        )
        self._run = by_engine(self._own, "pmap", fun, axis_name=axis_name, **options)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        with self._shared_out(args, kwargs):
            return self._run(*args, **kwargs)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else partial(self, instance)

    def __repr__(self) -> str:
        return f"<pmapped {self.fun!r}>"

    def lower(self, *args: Any, **kwargs: Any) -> Any:
        """Trace and lower for arguments, or for their types, as `jit(f).lower` does."""
        with self._shared_out(args, kwargs):
            _, engine = route(tree_leaves((args, kwargs)))
            if engine is not None:
                native = engine.pmap(self.fun, axis_name=self.axis_name, **self.options)
                return native.lower(*args, **kwargs)
            return self.compiled.lower(*args, **kwargs)

    def _own(self, *args: Any, **kwargs: Any) -> Any:
        """What is called on our own engine."""
        out = self.compiled(*args, **kwargs)
        devices = _chosen(self.options["devices"], self.options["backend"])
        line = devices[: _among.get()[-1]]
        return _placed(out, self.options["out_axes"], line, self.axis_name)

    @contextmanager
    def _shared_out(self, args: Any, kwargs: Any) -> Iterator[None]:
        """Within it the devices are shared out for a call with these arguments."""
        if any(not -len(args) <= n < len(args) for n in self.static):
            raise ValueError(
                f"pmap has static_broadcasted_argnums={self.static}, but the function was called "
                f"with {len(args)} positional arguments: give static ones by position"
            )
        devices, backend = self.options["devices"], self.options["backend"]
        fixed = {n % len(args) for n in self.static}
        axes = _others(self.options["in_axes"], fixed, len(args))
        size = _size(_others(args, fixed, len(args)), kwargs, axes, self.options["axis_size"])
        given = _chosen(devices, backend)
        _enough(size, len(given), devices is not None)
        home = use_backend(given[0].backend) if devices or backend else nullcontext()
        with within(_among, (*_among.get(), size)), home:
            yield


def _whole(
    fun: Callable[..., Any],
    axis_name: Hashable | None,
    in_axes: Any,
    out_axes: Any,
    static_broadcasted_argnums: Sequence[int],
    axis_size: int | None,
    **_options: Any,
) -> Callable[..., Any]:
    """Make the function of whole arrays that is compiled."""
    full = tree_map(lambda a: 0 if a is None else a, out_axes, is_leaf=is_none)

    @wraps(fun)
    def whole(*args: Any, **kwargs: Any) -> Any:
        fixed = {n % len(args) for n in static_broadcasted_argnums}
        others = [i for i in range(len(args)) if i not in fixed]
        axes = _others(in_axes, fixed, len(args))
        one = of_chosen(fun, others, args)
        mapped = batched(one, axes, full, axis_name, axis_size, what="pmap")
        out = mapped(*[args[i] for i in others], **kwargs)
        leaves, tree = tree_flatten(out)
        own = _each(out_axes, out, len(leaves), "out_axes of pmap")
        firsts = [x[0] if axis is None else x for x, axis in zip(leaves, own, strict=True)]
        return tree_unflatten(tree, firsts)

    return whole


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
    axes = _each(in_axes, args, len(leaves), "in_axes of pmap")
    if kwargs:
        leaves += (named := tree_leaves(kwargs))
        axes += [0] * len(named)
    for i, (x, axis) in enumerate(zip(leaves, axes, strict=True)):
        shape = x.shape if hasattr(x, "shape") else np.shape(x)
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
            f"each index, so map a shorter axis (vmap the rest), or {more_devices()}"
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
    if any(isinstance(x, Tracer) for x in leaves):
        return out
    axes = _each(out_axes, out, len(leaves), "out_axes")
    line = tuple(devices)
    found = []
    for x, axis in zip(leaves, axes, strict=True):
        place = axis if axis is None else axis % len(x.shape)
        found.append(placed(x, _along(line, name, place)))
    return tree_unflatten(tree, found)
