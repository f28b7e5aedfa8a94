"""Makers of whole families: elementwise primitives, the functions over them, linear ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np
from numpy import ndarray

from arrayport.core import dtypes
from arrayport.core.array import Array, Aval, new
from arrayport.core.primitive import ERRORS, NO_PARAMS, UNCOMMON, Binary, Primitive, Rule, Unary
from arrayport.core.quiet import QUIET, error_state, reset_errors, set_errors
from arrayport.core.trace import EVAL, current_stage
from arrayport.core.units import INTEGERS, unit
from arrayport.ops.examples import NUMPY
from arrayport.ops.promotion import KEEPS, counted, inexact, lift, promote
from arrayport.ops.structure import broadcast_in_dim, move_axis

KEYED = frozenset({"eq", "ne", "select", "stop_gradient"})  # what typed random keys can do
NOT_SMOOTH = "its derivative is zero wherever it has one, and its output is an integer or a boolean"


def elementwise(
    name: str,
    *partials: Rule | None,
    dtype: np.dtype[Any] | Callable[[np.dtype[Any]], np.dtype[Any]] | None = None,
    **other: Any,
) -> Any:
    """State a primitive over operands of one shape or of rank 0: one partial an operand.

    `dtype`: the output's, or how it follows from the last operand's, whose own it is if None.
    `other`: Primitive's, where partials are not all (complex functions that are not holomorphic).
    """

    def abstract(*xs: Any, **_params: Any) -> Aval:
        shape, soft = (), weak
        for x in xs:
            soft = soft and x.weak
            if x.shape:
                if shape and x.shape != shape:
                    raise TypeError(
                        f"{name} got shapes {', '.join(str(x.shape) for x in xs)}: they must be "
                        "equal or ()"
                    )
                shape = x.shape
        own = xs[-1].dtype
        if own.num >= UNCOMMON and dtypes.is_key(own) and name not in KEYED:
            raise dtypes.no_number()
        try:
            out = own if dtype is None else dtype if isinstance(dtype, np.dtype) else dtype(own)
        except TypeError as e:
            raise TypeError(f"{name}: {e}") from None
        return new(Aval, (shape, out, soft))

    def batch(
        size: int, xs: Sequence[Array], dims: Sequence[int | None], /, **params: Any
    ) -> tuple[Array, int]:
        ranks = [len(x.shape) - (d is not None) for x, d in zip(xs, dims, strict=True)]
        rank, dim = max(ranks), next(d for d in dims if d is not None)
        if all(
            (not r and d is None) or (r == rank and d == dim)
            for r, d in zip(ranks, dims, strict=True)
        ):
            return prim.bind(*xs, **params), dim
        shape = next(
            (x.shape if d is None else x.shape[:d] + x.shape[d + 1 :])
            for x, d, r in zip(xs, dims, ranks, strict=True)
            if r == rank
        )
        ys = [_batched(size, x, d, r, shape) for x, d, r in zip(xs, dims, ranks, strict=True)]
        return prim.bind(*ys, **params), 0

    weak = dtype is None or not isinstance(dtype, np.dtype)
    count = len(partials) or other.pop("operands", 1)
    kind = (Unary, Binary)[count - 1] if count <= 2 else Primitive
    prim = kind(
        name, abstract, batch, partials=partials, keeps_weak=weak, takes=_taken(dtype), **other
    )
    return prim


SAMPLES = [np.dtype(t) for t in ("bool", "int32", "uint32", "float32", "complex64")]


@cache
def _taken(rule: np.dtype[Any] | Callable[[np.dtype[Any]], np.dtype[Any]] | None) -> str:
    """The kinds of NumPy's dtypes that an output's rule accepts."""
    if rule is None or isinstance(rule, np.dtype):
        return "biufc"
    kinds = ""
    for dtype in SAMPLES:
        with suppress(TypeError):
            rule(dtype)
            kinds += dtype.kind
    return kinds


def _batched(size: int, x: Array, dim: int | None, rank: int, shape: tuple[int, ...]) -> Array:
    """An operand ready to meet others of shape (size, *shape)."""
    if dim is None:
        return broadcast_in_dim(x, (size, *shape), range(1, rank + 1)) if rank else x
    return move_axis(x, dim, 0) if rank == len(shape) else broadcast_in_dim(x, (size, *shape), (0,))


def unary(
    prim: Unary, *, floating: bool = False, counting: bool = False, title: str = ""
) -> Callable[[Any], Array]:
    """Make the promoting function of a unary primitive.

    `floating`: integers and booleans are cast to floats first; `counting`: booleans to integers.
    `title`: what users call it, if not as the primitive.
    """
    quick, keeps_weak, casts = prim.quick, prim.keeps_weak, floating or counting

    def op(x: Any, /) -> Array:
        if type(x) is Array and current_stage() is EVAL:
            raw = x.raw
            if type(raw) is not ndarray:
                return whole(x)
            # What a comparison makes of a neutral number is at home on the ambient backend.
            if keeps_weak or not x.weak or raw.shape:
                kernel = quick.get(raw.dtype)
                if kernel is not None:
                    token = None if error_state() is QUIET else set_errors(QUIET)
                    try:
                        out = kernel(raw)
                    finally:
                        if token is not None:
                            reset_errors(token)
                    return Array(
                        out if type(out) is ndarray else np.asarray(out), x.weak and keeps_weak
                    )
        return general(x)

    def general(x: Any, /) -> Array:
        if not isinstance(x, Array):
            x = lift(x, None, f"the operand of {prim.name}")
        if casts and x.dtype not in quick:
            x = inexact(x) if floating else counted(x)
        if type(x) is Array:
            return prim.apply(x, NO_PARAMS)
        top, owner = current_stage(), x.owner  # type: ignore[attr-defined]
        return (owner if owner.level > top.level else top).process_unary(prim, x, NO_PARAMS)

    whole = unit("x", inline=True)(general)
    text = f"each element{'; integers and booleans become floats' * floating}"
    return titled(op, title or prim.name, text)


def binary(
    prim: Binary, *, floating: bool = False, counting: bool = False, title: str = ""
) -> Callable[[Any, Any], Array]:
    """Make the promoting function of a binary primitive; the options are those of `unary`."""
    quick, keeps_weak, casts = prim.quick, prim.keeps_weak, floating or counting

    def op(x: Any, y: Any, /) -> Array:
        if type(x) is Array and current_stage() is EVAL:
            a = x.raw
            if type(a) is not ndarray:
                return whole(x, _beside(x, y))
            dtype = a.dtype
            if type(y) is Array:
                b = y.raw
                weak, same = x.weak and y.weak, type(b) is ndarray and dtype is b.dtype
            else:
                b, weak, same = y, x.weak, dtype.kind in KEEPS.get(type(y), "")
            kernel = quick.get(dtype) if same else None
            if kernel is not None and (keeps_weak or not weak or a.shape):
                token = None if error_state() is QUIET else set_errors(QUIET)
                try:
                    out = kernel(a, b)
                except ERRORS:
                    promote(x, y)  # says what is wrong with the operands, if anything
                    raise
                finally:
                    if token is not None:
                        reset_errors(token)
                return Array(out if type(out) is ndarray else np.asarray(out), weak and keeps_weak)
        elif type(y) is Array and type(y.raw) is not ndarray and current_stage() is EVAL:
            return whole(_beside(y, x), y)
        return general(x, y)

    def general(x: Any, y: Any, /) -> Array:
        if not (
            isinstance(x, Array)
            and isinstance(y, Array)
            and x.dtype is y.dtype
            and x.shape == y.shape
        ):
            x, y = promote(x, y)
        if casts and x.dtype not in quick:
            x, y = (inexact(x), inexact(y)) if floating else (counted(x), counted(y))
        return prim.apply(x, y, NO_PARAMS)

    whole = unit("x", "y", inline=True)(general)
    text = f"two arrays that broadcast and promote{', integers to floats' * floating}"
    return titled(op, title or prim.name, text)


def _beside(x: Array, number: Any) -> Any:
    """Give an int, or for complex arrays a float, in x's kind: a program would convert it."""
    kind = dtypes.kind(x.dtype)
    if type(number) is int and kind in "fc" and number in INTEGERS:
        number = float(number)
    return complex(number) if type(number) is float and kind == "c" else number


def linear(
    name: str,
    shape: Callable[..., tuple[int, ...]],
    transpose: Rule,
    batch: Callable[..., dict[str, Any]],
) -> Unary:
    """State a primitive linear in its one operand.

    `shape(x, **params)` is the output's, `transpose(g, x, **params)` the cotangent's rule, and
    `batch(size, x, **params)` gives the parameters for an operand with a batch axis in front.
    """

    def batch_rule(
        size: int, xs: Sequence[Array], dims: Sequence[int], /, **params: Any
    ) -> tuple[Array, int]:
        return prim.bind(move_axis(xs[0], dims[0], 0), **batch(size, xs[0], **params)), 0

    prim = Unary(
        name,
        lambda x, **p: Aval(shape(x, **p), x.dtype, x.weak),
        batch_rule,
        transposes=(transpose,),
    )
    return prim


def titled(op: Any, name: str, text: str) -> Any:
    """Give a made function the name and the docstring that users see."""
    op.__name__ = op.__qualname__ = name
    op.__doc__ = f"Compute `{name}` of {text}. Source: JAX's function of this name."
    if name in NUMPY:
        operands, answer = NUMPY[name]
        op.__doc__ = f"""Compute `{name}` of {text}. Source: ``jax.numpy.{name}``.

    >>> import arrayport.numpy as anp
    >>> anp.{name}({operands})
    Array({answer}, ...)
    """
    return op
