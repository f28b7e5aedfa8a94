"""Batching: traces whose values carry one more axis, and vmap."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Self

import numpy as np

from arrayport.core import dtypes
from arrayport.core.array import Array, Tracer, aval_of
from arrayport.core.backend import Backend
from arrayport.core.nodes import keystr
from arrayport.core.primitive import Collective, Primitive
from arrayport.core.quiet import quiet
from arrayport.core.trace import Trace, backend_of, finish, naming
from arrayport.core.tree import (
    broadcast_prefix,
    is_none,
    tree_flatten,
    tree_flatten_with_path,
    tree_unflatten,
)
from arrayport.ops.promotion import lift
from arrayport.ops.structure import batch_to_front, broadcast_in_dim, convert, move_axis, reduce_sum
from arrayport.transforms.engines import by_engine


class BatchTracer(Tracer):
    """One example's view of a value that holds a whole batch along the axis `dim`."""

    __slots__ = ("dim", "value")

    def __init__(self, trace: Trace, value: Array, dim: int) -> None:
        self.owner = trace
        self.value = value
        self.dim = dim
        shape = value.shape
        self.shape = shape[:dim] + shape[dim + 1 :]
        self.dtype = value.dtype
        self.weak = value.weak


class Extent(int):
    """The extent of a mapped axis that has a name, under which collectives find it."""

    name: Hashable

    def __new__(cls, size: int, name: Hashable) -> Self:
        made = super().__new__(cls, size)
        made.name = name
        return made


class BatchTrace(Trace):
    """Applies every operation to the whole batch, by the primitives' batch rules."""

    what = "vmap"  # whose trace it is, for messages

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size

    def backend(self, x: Tracer) -> Backend:
        return backend_of(x.value)  # type: ignore[attr-defined, return-value]

    def pair(self, x: Array) -> tuple[Array, int | None]:
        """A value and its batch axis, None if it has none."""
        return (x.value, x.dim) if type(x) is BatchTracer and x.owner is self else (x, None)

    def process(self, prim: Primitive, args: Sequence[Array], params: dict[str, Any]) -> Any:
        xs = []
        dims = []
        for a in args:
            own = type(a) is BatchTracer and a.owner is self
            xs.append(a.value if own else a)  # type: ignore[attr-defined]
            dims.append(a.dim if own else None)  # type: ignore[attr-defined]
        out, dim = prim.batch(self.size, xs, dims, **params)
        if prim.many:
            return [
                o if d is None else BatchTracer(self, o, d) for o, d in zip(out, dim, strict=True)
            ]
        return out if dim is None else BatchTracer(self, out, dim)

    def named(self) -> AbstractContextManager[None]:
        """Within it, collectives find the mapped axis."""
        return nullcontext()

    def output(self, x: Array, axis: int | None, path: str = "", sum_match: bool = False) -> Array:
        """A result with the batch axis where it is wanted; None: nowhere, or summed over it."""
        value, dim = self.pair(x)
        if axis is None:
            if dim is not None and sum_match:
                return reduce_sum(convert(value, _of_sum(value.dtype), value.weak), (dim,))
            if dim is not None:
                raise ValueError(
                    f"{self.what} has out_axes=None for the output{path} of {aval_of(x)}, but it "
                    "depends on a mapped argument"
                )
            return value
        rank = len(value.shape) + (dim is None)
        if not -rank <= axis < rank:
            raise ValueError(
                f"{self.what} has out_axes={axis} for the output{path}, which with the mapped axis "
                f"has {rank} axes"
            )
        axis %= rank
        if dim is not None:
            return move_axis(value, dim, axis)
        shape = (*value.shape[:axis], self.size, *value.shape[axis:])
        return broadcast_in_dim(value, shape, [i + (i >= axis) for i in range(len(value.shape))])


def _of_sum(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """In which dtype to sum, as numpy.sum does: narrow integers and booleans in wider ones."""
    if dtypes.kind(dtype) not in "biu" or dtype.itemsize >= dtypes.default_int().itemsize:
        return dtype
    return dtypes.canonicalize("uint64") if dtypes.kind(dtype) == "u" else dtypes.default_int()


class NamedBatchTrace(BatchTrace):
    """A BatchTrace whose axis has a name: collectives over it meet the whole batch."""

    size: Extent

    def named(self) -> AbstractContextManager[None]:
        return naming(self.size.name, self)

    def process(self, prim: Primitive, args: Sequence[Array], params: dict[str, Any]) -> Any:
        name = self.size.name
        if not isinstance(prim, Collective) or name not in params["axes"]:
            return super().process(prim, args, params)
        front: list[Any] = [batch_to_front(self.size, *self.pair(a)) for a in args] or [None]
        others = {k: v for k, v in params.items() if k != "axes"}
        out, mapped = prim.across(int(self.size), *front, **others)
        rest = tuple([n for n in params["axes"] if n != name])
        if rest:
            return prim.bind(out, axes=rest, **others)
        return BatchTracer(self, out, 0) if mapped else out


def batch_trace(size: int) -> BatchTrace:
    """A trace for an axis of that extent, which may be a named Extent."""
    return NamedBatchTrace(size) if type(size) is Extent else BatchTrace(size)


def in_batch(
    size: int, f: Callable[..., Any], xs: Sequence[Array], dims: Sequence[int | None]
) -> tuple[BatchTrace, Any]:
    """Call a function of flat Arrays for every example at once: the trace, and what it gave."""
    trace = batch_trace(size)
    ins = [x if d is None else BatchTracer(trace, x, d) for x, d in zip(xs, dims, strict=True)]
    with trace.named():
        return trace, f(*ins)


def vmap(
    fun: Callable[..., Any],
    in_axes: Any = 0,
    out_axes: Any = 0,
    axis_name: Any = None,
    axis_size: int | None = None,
    spmd_axis_name: Any = None,
    sum_match: bool = False,
) -> Callable[..., Any]:
    """Map a function over an axis of its arguments. Source: `jax.vmap`.

    `in_axes`: an int or None for all arguments, or a tuple with an entry (or a pytree prefix) an
    argument; keyword arguments are mapped over axis 0. `out_axes` likewise for the results. Raises
    ValueError for axes that do not fit.

    `axis_name` names the mapped axis for collectives (`lax.psum` …); `axis_size` gives its extent,
    which is needed if no argument is mapped; `spmd_axis_name` is a hint to JAX's sharding. An
    output with `out_axes` None must not be mapped; with `sum_match` it is summed over the axis.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> ap.vmap(lambda a: a.sum())(anp.ones((2, 3)))
    Array([3., 3.], dtype=float32)
    """
    in_axes = checked_axes(in_axes)
    own = batched(fun, in_axes, out_axes, axis_name, axis_size, sum_match)
    return by_engine(
        own,
        "vmap",
        fun,
        in_axes=in_axes,
        out_axes=out_axes,
        axis_name=axis_name,
        axis_size=axis_size,
        spmd_axis_name=spmd_axis_name,
        **({"sum_match": True} if sum_match else {}),  # which JAX before 0.12 does not know
    )


def checked_axes(in_axes: Any, what: str = "vmap") -> Any:
    """Give `in_axes` with a tuple for a list; raise TypeError for what they cannot be."""
    if isinstance(in_axes, list):
        in_axes = tuple(in_axes)
    if not (in_axes is None or isinstance(in_axes, int | tuple)):
        raise TypeError(
            f"{what} needs in_axes to be an int, None or a tuple of them, not "
            f"{type(in_axes).__name__}"
        )
    return in_axes


def batched(
    fun: Callable[..., Any],
    in_axes: Any,
    out_axes: Any,
    axis_name: Any,
    axis_size: int | None,
    sum_match: bool = False,
    what: str = "vmap",
) -> Callable[..., Any]:
    """Map a function on our own engine; `what` does so, for messages."""

    @quiet
    def own(*args: Any, **kwargs: Any) -> Any:
        if (
            len(args) == 1
            and not kwargs
            and type(args[0]) is Array
            and in_axes == 0
            and args[0].shape
            and axis_size is None
            and axis_name is None
        ):
            trace = BatchTrace(args[0].shape[0])
            out = fun(BatchTracer(trace, args[0], 0))
        else:
            trace, mapped, named = _mapped(args, kwargs, in_axes, axis_size, axis_name, what)
            trace.what = what
            with trace.named():
                out = fun(*mapped, **named)
        if isinstance(out, Array) and isinstance(out_axes, int | None):
            value = trace.output(out, out_axes, sum_match=sum_match)
            finish(trace)
            return value
        outs, tree = tree_flatten(out)
        axes = broadcast_prefix(out_axes, out, is_leaf=is_none, name="out_axes") if outs else []
        values = [
            o
            if a is None and not isinstance(o, Array)  # it is no example's, and stays as it is
            else _repeated(o, a, trace.size)
            if getattr(o, "dtype", None) == dtypes.float0
            else trace.output(lift(o), a, sum_match=sum_match)
            for o, a in zip(outs, axes, strict=True)
        ]
        finish(trace)
        return tree_unflatten(tree, values)

    return own


def _repeated(tangent: Any, axis: int, size: int) -> Any:
    """Zeros of float0, which no trace follows, with the axis that is mapped."""
    return np.repeat(np.expand_dims(tangent, axis), size, axis)


def argument(args: Any, kwargs: Any, i: int) -> str:
    """Where the leaf i of the arguments is, such as args[1]['weights']."""
    place, *path = tree_flatten_with_path((args, kwargs))[0][i][0]
    return ("args", "kwargs")[place.idx] + keystr(tuple(path))


def _mapped(
    args: Any, kwargs: Any, in_axes: Any, size: int | None, name: Hashable, what: str
) -> tuple[BatchTrace, Any, Any]:
    if isinstance(in_axes, tuple) and len(in_axes) != len(args):
        raise ValueError(
            f"{what} has {len(in_axes)} in_axes for {len(args)} positional arguments: give one "
            "entry an argument"
        )
    leaves, tree = tree_flatten((args, kwargs))
    axes = broadcast_prefix(in_axes, args, is_leaf=is_none, name="in_axes")
    axes += [0] * (len(leaves) - len(axes))
    values = [
        lift(x, None, "a mapped argument") if a is not None else x
        for x, a in zip(leaves, axes, strict=True)
    ]
    dims: list[int | None] = []
    for i, (x, axis) in enumerate(zip(values, axes, strict=True)):
        if axis is None:
            dims.append(None)
            continue
        rank = len(x.shape)
        if not isinstance(axis, int) or not -rank <= axis < rank:
            raise ValueError(
                f"{what} cannot map axis {axis} (in_axes) of {argument(args, kwargs, i)}, which "
                f"has shape {x.shape}"
            )
        dims.append(axis % rank)
        if size is None:
            size = x.shape[axis]
        elif x.shape[axis] != size:
            raise ValueError(
                f"{what} got mapped axes of unequal sizes: {argument(args, kwargs, i)} has "
                f"{x.shape[axis]} where others have {size}"
            )
    if size is None:
        raise ValueError(
            f"{what} needs at least one mapped argument: every entry of in_axes is None (or give "
            "axis_size)"
        )
    trace = batch_trace(size if name is None else Extent(size, name))
    mapped = [
        x if d is None else BatchTracer(trace, x, d) for x, d in zip(values, dims, strict=True)
    ]
    return trace, *tree_unflatten(tree, mapped)
