"""Functions applied along axes, over arrays and over coordinates."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import numpy as np

from arrayport.core.array import Array
from arrayport.core.dtypes import canonicalize
from arrayport.numpy.arguments import arrayed, axis_of, shape_of
from arrayport.ops.creation import iota
from arrayport.ops.promotion import common_shape
from arrayport.ops.shapes import expand_dims
from arrayport.ops.structure import Shape, reshape
from arrayport.transforms.batching import vmap

__all__ = ["apply_along_axis", "apply_over_axes", "fromfunction", "vectorize"]


def apply_along_axis(
    func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **kwargs: Any
) -> Array:
    """Apply a function of vectors along an axis. Source: ``jax.numpy.apply_along_axis``.

    >>> import arrayport.numpy as anp
    >>> anp.apply_along_axis(anp.sum, 0, anp.ones((2, 3)))
    Array([2., 2., 2.], dtype=float32)
    """
    x = arrayed(arr, "arr")
    axis = axis_of(axis, len(x.shape))

    def function(v: Array) -> Any:
        return func1d(v, *args, **kwargs)

    mapped: Callable[..., Any] = function
    for later in range(1, len(x.shape) - axis):
        mapped = vmap(mapped, in_axes=later, out_axes=-1)
    for _ in range(axis):
        mapped = vmap(mapped)
    out: Array = mapped(x)
    return out


def apply_over_axes(func: Callable[[Any, int], Any], a: Any, axes: Sequence[int]) -> Array:
    """Reduce one axis after the other, keeping them. Source: ``numpy.apply_over_axes``.

    >>> import arrayport.numpy as anp
    >>> anp.apply_over_axes(anp.sum, anp.ones((2, 3)), (0, 1))
    Array([[6.]], dtype=float32)
    """
    x = arrayed(a, "a")
    for axis in axes:
        own = axis_of(axis, len(x.shape))
        out = func(x, own)
        if len(out.shape) == len(x.shape) - 1:
            out = expand_dims(out, (own,))
        if len(out.shape) != len(x.shape):
            raise ValueError(
                f"apply_over_axes: func must keep or drop axis {own} of shape {x.shape}, it gave "
                f"shape {out.shape}"
            )
        x = out
    return x


def fromfunction(
    function: Callable[..., Any], shape: Any, *, dtype: Any = float, **kwargs: Any
) -> Any:
    """Call a function of one coordinate for each axis, all scalars, at all places of a shape.

    Source: ``jax.numpy.fromfunction``.

    >>> import arrayport.numpy as anp
    >>> anp.fromfunction(lambda i, j: i + j, (2, 2), dtype=int)
    Array([[0, 1],
           [1, 2]], dtype=int32)
    """
    extents = shape_of(shape)

    def call(*places: Array) -> Any:
        return function(*places, **kwargs)

    mapped: Callable[..., Any] = call
    for i in reversed(range(len(extents))):
        mapped = vmap(mapped, in_axes=tuple([0 if i == j else None for j in range(len(extents))]))
    return mapped(*[iota(canonicalize(dtype), n) for n in extents])


Cores = list[tuple[str, ...]]


def vectorize(
    pyfunc: Callable[..., Any], *, excluded: Any = frozenset(), signature: str | None = None
) -> Callable[..., Any]:
    """Make a function broadcast over its arguments' leading axes, by `vmap`.

    `signature`, such as "(n),(n,k)->(k)", says which trailing axes the function itself takes and
    gives; without it, it is of scalars. `excluded`: numbers of arguments that stay as they are, as
    None does. Raises ValueError for arguments and outputs that do not fit, TypeError for another
    number of them. Source: ``jax.numpy.vectorize``.

    >>> import arrayport.numpy as anp
    >>> rows = anp.vectorize(anp.dot, signature="(n),(n)->()")
    >>> rows(anp.ones((2, 3)), anp.arange(3.0))
    Array([3., 3.], dtype=float32)
    """
    taken, given_back = (None, None) if signature is None else map(_cores, _sides(signature))

    @wraps(pyfunc)
    def call(*args: Any, **kwargs: Any) -> Any:
        places = [i for i in range(len(args)) if i not in excluded]
        if taken is not None and len(taken) != len(places):
            raise TypeError(
                f"vectorize: signature {signature} does not take {len(places)} arguments"
            )
        own = [()] * len(places) if taken is None else taken
        cores = {i: core for i, core in zip(places, own, strict=True) if args[i] is not None}
        xs = [arrayed(args[i], f"argument {i}") for i in cores]
        leads, sizes = _leads(xs, [*cores.values()], signature)
        shape = common_shape(*leads)

        def function(*parts: Any) -> Any:
            full = list(args)
            for i, part in zip(cores, parts, strict=True):
                full[i] = part
            out = pyfunc(*full, **kwargs)
            if given_back is not None:
                _check_outputs(out, given_back, sizes, signature)
            return out

        # One vmap an axis, the last axis innermost; what has extent 1 there is not mapped.
        mapped: Callable[..., Any] = function
        for place in range(-1, -len(shape) - 1, -1):
            axes = [
                0 if len(lead) >= -place and lead[place] == shape[place] else None for lead in leads
            ]
            mapped = vmap(mapped, in_axes=tuple(axes))
        return mapped(*[_squeezed(x, lead, shape) for x, lead in zip(xs, leads, strict=True)])

    return call


def _sides(signature: str) -> list[str]:
    """Read what a function takes and what it gives."""
    group = r"\(\s*(?:\w+(?:\s*,\s*\w+)*)?\s*\)"
    groups = rf"{group}(?:\s*,\s*{group})*"
    if not re.fullmatch(rf"{groups}\s*->\s*{groups}", signature.strip()):
        raise ValueError(f"signature {signature!r} is none: write it like '(n),(n,k)->(k)'")
    return signature.split("->")


def _cores(side: str) -> Cores:
    """Read the names of the trailing axes of each array."""
    return [tuple(re.findall(r"\w+", part)) for part in re.findall(r"\([^)]*\)", side)]


def _leads(
    xs: Sequence[Array], cores: Cores, signature: str | None
) -> tuple[list[Shape], dict[str, int]]:
    """Give the leading extents of each argument, and those of the names, which must agree."""
    sizes: dict[str, int] = {}
    leads = []
    for x, core in zip(xs, cores, strict=True):
        rank = len(x.shape) - len(core)
        if rank < 0 or not _fits(x.shape[rank:], core, sizes):
            raise ValueError(f"vectorize: shape {x.shape} does not fit {core} of {signature}")
        leads.append(x.shape[:rank])
    return leads, sizes


def _fits(shape: Shape, core: tuple[str, ...], sizes: dict[str, int]) -> bool:
    """Whether these are the extents of these axes; a name that is new gets its extent."""
    return len(shape) == len(core) and all(
        n == sizes.setdefault(name, n) for name, n in zip(core, shape, strict=True)
    )


def _check_outputs(out: Any, cores: Cores, sizes: dict[str, int], signature: str | None) -> None:
    outs = out if isinstance(out, tuple) else (out,)
    if len(outs) != len(cores):
        raise TypeError(
            f"vectorize: the function gave {len(outs)} outputs, signature {signature} says "
            f"{len(cores)}"
        )
    for x, core in zip(outs, cores, strict=True):
        if not _fits(np.shape(x), core, sizes):
            raise ValueError(
                f"vectorize: an output of shape {np.shape(x)} does not fit {core} of {signature}"
            )


def _squeezed(x: Array, lead: Shape, shape: Shape) -> Array:
    """Drop the leading axes that are not mapped."""
    kept = [n for n, full in zip(lead, shape[len(shape) - len(lead) :], strict=True) if n == full]
    return reshape(x, (*kept, *x.shape[len(lead) :]))
