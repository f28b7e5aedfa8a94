"""Universal functions: of scalars, broadcast over arrays, and what NumPy's methods make of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from math import inf
from math import prod as product
from typing import Any

from arrayport.control.scanning import scan
from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.numpy import elementwise as logs
from arrayport.numpy.arguments import arrayed, axes_of, axis_of, no_out, restore_axes, together
from arrayport.numpy.cumulations import cumprod, cumsum
from arrayport.numpy.indexing import index_get, index_update
from arrayport.numpy.joins import concatenate
from arrayport.numpy.mappings import vectorize
from arrayport.numpy.reductions import max, min, prod, sum
from arrayport.numpy.shapes import broadcast_to, moveaxis, ravel
from arrayport.ops import elementwise as ops
from arrayport.ops.creation import iota_like
from arrayport.ops.elementwise import greater, less, not_equal, select
from arrayport.ops.promotion import broadcast_together
from arrayport.ops.reductions import reduce_and, reduce_or, reduce_xor
from arrayport.ops.structure import Shape, convert, full_like, reshape
from arrayport.transforms.inspection import eval_shape

__all__ = [
    "add",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "frompyfunc",
    "logaddexp",
    "logaddexp2",
    "logical_and",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "multiply",
    "negative",
    "subtract",
    "ufunc",
]


class ufunc:  # noqa: N801 - JAX's name
    """A function of scalars that broadcasts, with NumPy's ways to apply it along an axis.

    func         takes `nin` scalars and gives `nout`; `nargs` of its arguments are operands
    identity     what changes nothing: the start of a reduction; None if there is none
    call, reduce, accumulate, at, reduceat   quicker ways, where there are any

    Source: ``jax.numpy.ufunc``.

    >>> import arrayport.numpy as anp
    >>> anp.add.reduce(anp.arange(4)), anp.subtract.outer(anp.arange(2), anp.arange(2))
    (Array(6, dtype=int32), Array([[ 0, -1],
           [ 1,  0]], dtype=int32))
    """

    def __init__(
        self,
        func: Callable[..., Any],
        /,
        nin: int,
        nout: int,
        *,
        name: str | None = None,
        nargs: int | None = None,
        identity: Any = None,
        call: Callable[..., Any] | None = None,
        reduce: Callable[..., Any] | None = None,
        accumulate: Callable[..., Any] | None = None,
        at: Callable[..., Any] | None = None,
        reduceat: Callable[..., Any] | None = None,
    ) -> None:
        if not callable(func):
            raise TypeError(f"func of a ufunc must be a function, not {type(func).__name__}")
        update_wrapper(self, func)
        self.__name__: Any = name or getattr(func, "__name__", "function")
        self.nin, self.nout = nin, nout
        self.nargs = nin if nargs is None else nargs
        self.identity = identity
        self._call = vectorize(func) if call is None else call
        self._reduce, self._accumulate = reduce, accumulate
        self._at, self._reduceat = at, reduceat

    def __call__(self, *args: Any, out: None = None, where: None = None) -> Any:
        """Apply the function to arrays, elementwise; `out` and `where` are refused."""
        if out is not None or where is not None:
            self._refuse(out, where)
        return self._call(*args)

    def __repr__(self) -> str:
        return f"<jnp.ufunc '{self.__name__}'>"

    def _refuse(self, out: Any, where: Any) -> None:
        no_out(self.__name__, out)
        if where is not None:
            raise NotImplementedError(
                f"{self.__name__}: where= is for NumPy, which writes: use where(mask, "
                f"{self.__name__}(...), other)"
            )

    def _of_two(self, method: str) -> None:
        if (self.nin, self.nout) != (2, 1):
            raise ValueError(
                f"{method} is of functions of two operands with one answer: {self.__name__} has "
                f"{self.nin} and {self.nout}"
            )

    def reduce(
        self,
        a: Any,
        axis: Any = 0,
        dtype: Any = None,
        out: None = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = None,
    ) -> Array:
        """Join the elements along axes from left to right, all axes if None; `initial` is first.

        Elements where `where` is false are left out. Raises ValueError for no elements where there
        is no identity.
        """
        self._of_two("reduce")
        no_out(f"{self.__name__}.reduce", out)
        if where is not None and initial is None and self.identity is None:
            raise ValueError(
                f"{self.__name__} has no identity: where= needs initial=, to start with"
            )
        if self._reduce is not None:
            options = {"keepdims": keepdims, "initial": initial, "where": where}
            return self._reduce(a, axis=axis, dtype=dtype, **options)
        x = arrayed(a, "a")
        axes = axes_of(axis, len(x.shape))
        first, shape = _in_front(x, axes), x.shape
        kept = None if where is None else _in_front(broadcast_to(where, shape), axes)
        start = self.identity if initial is None else initial
        if start is None and not first.shape[0]:
            raise ValueError(f"{self.__name__}.reduce of no elements: give initial=, to start with")
        known = self._kind(x) if dtype is None else dtypes.canonicalize(dtype)
        if start is None:
            begin, rest = first[0], first[1:]
        else:
            begin = broadcast_to(arrayed(start, "initial"), first.shape[1:])
            rest = first

        def step(carry: Array, part: Any) -> tuple[Array, None]:
            joined = convert(self._call(carry, part[0]), known)
            return (joined if kept is None else select(part[1], joined, carry)), None

        out_, _ = scan(step, convert(begin, known), (rest, kept))
        return restore_axes(out_, shape, axes, keepdims)

    def _kind(self, x: Array) -> Any:
        """Return the dtype of the function's answer to x."""
        return eval_shape(self._call, x, x).dtype

    def accumulate(self, a: Any, axis: int = 0, dtype: Any = None, out: None = None) -> Array:
        """Give what `reduce` would of all elements up to each one, along an axis."""
        self._of_two("accumulate")
        no_out(f"{self.__name__}.accumulate", out)
        if self._accumulate is not None:
            return self._accumulate(a, axis=axis, dtype=dtype)
        if axis is None or isinstance(axis, tuple):
            raise ValueError(f"axis={axis} of accumulate must be one integer")
        x = arrayed(a, "a")
        axis = axis_of(axis, len(x.shape))
        known = self._kind(x) if dtype is None else dtypes.canonicalize(dtype)
        first = convert(moveaxis(x, axis, 0), known)
        if not first.shape[0]:
            return convert(x, known)

        def step(carry: Array, part: Array) -> tuple[Array, Array]:
            joined = convert(self._call(carry, part), known)
            return joined, joined

        _, later = scan(step, first[0], first[1:])
        return moveaxis(concatenate([first[:1], later]), 0, axis)

    def at(self, a: Any, indices: Any, b: Any = None, /, *, inplace: bool = True) -> Array:
        """Apply the function at places of an array, as often as each is named.

        `inplace` must be False, since arrays do not change.
        """
        if inplace:
            raise NotImplementedError(
                f"an Array cannot change: write x = {self.__name__}.at(x, indices, "
                f"{'b, ' if self.nin > 1 else ''}inplace=False)"
            )
        if self._at is not None:
            return self._at(a, indices, b)
        x = arrayed(a, "a")
        numbers = reshape(iota_like(x, dtypes.default_int(), 0, (x.size,)), x.shape)
        places = index_get(numbers, indices, mode="fill", fill_value=x.size)
        operands = [] if b is None else [broadcast_to(b, places.shape)]
        known = eval_shape(self._call, full_like(x, 0, places.shape), *operands).dtype

        def step(flat: Array, part: Any) -> tuple[Array, None]:
            place, *others = part
            new = convert(self._call(flat[place], *others), known)
            return index_update("set", flat, place, new), None

        flat, _ = scan(step, convert(ravel(x), known), [ravel(v) for v in (places, *operands)])
        return reshape(flat, x.shape)

    def reduceat(
        self, a: Any, indices: Any, axis: int = 0, dtype: Any = None, out: None = None
    ) -> Array:
        """Reduce the parts of an axis that begin at each index and end before the next one.

        Where the next index is no larger the part is that one element.
        """
        self._of_two("reduceat")
        no_out(f"{self.__name__}.reduceat", out)
        if self._reduceat is not None:
            return self._reduceat(a, indices, axis=axis, dtype=dtype)
        if axis is None or isinstance(axis, tuple):
            raise ValueError(f"axis={axis} of reduceat must be one integer")
        x, starts = together(a, indices)
        if len(starts.shape) != 1 or not dtypes.is_integer(starts.dtype):
            raise ValueError(
                f"indices of reduceat must be a vector of integers, not {starts.dtype} of shape "
                f"{starts.shape}"
            )
        axis = axis_of(axis, len(x.shape))
        x = moveaxis(x, axis, 0)
        known = self._kind(x) if dtype is None else dtypes.canonicalize(dtype)
        stops = concatenate([starts[1:], full_like(starts, x.shape[0], (1,))])

        def step(carry: Array, part: Any) -> tuple[Array, None]:
            place, element = part
            inside = ops.logical_and(greater(place, starts), less(place, stops))
            inside = reshape(inside, (starts.size, *(1,) * (len(x.shape) - 1)))
            return select(inside, convert(self._call(carry, element), known), carry), None

        parts = (iota_like(x, starts.dtype, 0, x.shape[:1]), x)
        found, _ = scan(step, convert(x[starts], known), parts)
        return moveaxis(found, 0, axis)

    def outer(self, A: Any, B: Any, /) -> Array:
        """Apply the function to all pairs of an element of A and one of B."""
        if self.nin != 2:
            raise ValueError(
                f"outer is of functions of two operands: {self.__name__} has {self.nin}"
            )
        x, y = together(A, B)
        return self._call(reshape(x, (*x.shape, *(1,) * len(y.shape))), y)


def _in_front(x: Array, axes: Shape) -> Array:
    """Make of some axes one, the first, in the order of the elements."""
    moved = moveaxis(x, axes, range(len(axes)))
    size = product([x.shape[i] for i in axes])
    return reshape(moved, (size, *moved.shape[len(axes) :]))


def frompyfunc(func: Callable[..., Any], /, nin: int, nout: int, *, identity: Any = None) -> ufunc:
    """Make a ufunc of a function of `nin` scalars with `nout` answers.

    Source: ``jax.numpy.frompyfunc``.

    >>> import arrayport.numpy as anp
    >>> larger = anp.frompyfunc(lambda x, y: anp.where(x > y, x, y), 2, 1)
    >>> larger.reduce(anp.array([3, 7, 5]))
    Array(7, dtype=int32)
    """
    return ufunc(func, nin, nout, identity=identity)


# ---- the ones that NumPy's names mean


def _updating(op: str) -> Callable[[Any, Any, Any], Array]:
    """Make `at` of what `.at[...]` does anyway."""

    def at(a: Any, indices: Any, b: Any) -> Array:
        return index_update(op, arrayed(a, "a"), indices, b)

    return at


def _subtracting(a: Any, indices: Any, b: Any) -> Array:
    return index_update("add", arrayed(a, "a"), indices, ops.neg(b))


def _extreme(reduce: Callable[..., Array]) -> Callable[..., Array]:
    def of(a: Any, *, dtype: Any, **options: Any) -> Array:
        x = arrayed(a, "a")
        return reduce(x if dtype is None else convert(x, dtypes.canonicalize(dtype)), **options)

    return of


def _bitwise(
    reduce: Callable[[Array, Shape], Array], join: Callable[[Any, Any], Array], *, logical: bool
) -> Callable[..., Array]:
    """Make `reduce` of a reduction of bits; where all of them are kept, ones change nothing."""

    def of(a: Any, *, axis: Any, dtype: Any, keepdims: bool, initial: Any, where: Any) -> Array:
        x = arrayed(a, "a")
        if logical:
            x = not_equal(x, 0)
        if dtype is not None:
            x = convert(x, dtypes.canonicalize(dtype))
        if where is not None:
            none = full_like(x, 0, ())
            kept, x = broadcast_together(arrayed(where, "where"), x)
            x = select(kept, x, ops.bitwise_not(none) if reduce is reduce_and else none)
        axes = axes_of(axis, len(x.shape))
        out = restore_axes(reduce(x, axes), x.shape, axes, keepdims)
        return out if initial is None else convert(join(initial, out), out.dtype)

    return of


add = ufunc(
    ops.add,
    2,
    1,
    identity=0,
    call=ops.add,
    reduce=sum,
    accumulate=cumsum,
    at=_updating("add"),
)
multiply = ufunc(
    ops.mul,
    2,
    1,
    identity=1,
    name="multiply",
    call=ops.mul,
    reduce=prod,
    accumulate=cumprod,
    at=_updating("multiply"),
)
subtract = ufunc(ops.sub, 2, 1, name="subtract", call=ops.sub, at=_subtracting)
negative = ufunc(ops.neg, 1, 1, name="negative", call=ops.neg)
maximum = ufunc(ops.maximum, 2, 1, call=ops.maximum, reduce=_extreme(max))
minimum = ufunc(ops.minimum, 2, 1, call=ops.minimum, reduce=_extreme(min))
logaddexp = ufunc(logs.logaddexp, 2, 1, identity=-inf, call=logs.logaddexp)
logaddexp2 = ufunc(logs.logaddexp2, 2, 1, identity=-inf, call=logs.logaddexp2)


def _of_bits(
    function: Callable[[Any, Any], Array], reduce: Callable[..., Array], identity: Any
) -> ufunc:
    quick = _bitwise(reduce, function, logical=isinstance(identity, bool))
    return ufunc(function, 2, 1, identity=identity, call=function, reduce=quick)


bitwise_and = _of_bits(ops.bitwise_and, reduce_and, -1)
bitwise_or = _of_bits(ops.bitwise_or, reduce_or, 0)
bitwise_xor = _of_bits(ops.bitwise_xor, reduce_xor, 0)
logical_and = _of_bits(ops.logical_and, reduce_and, True)
logical_or = _of_bits(ops.logical_or, reduce_or, False)
logical_xor = _of_bits(ops.logical_xor, reduce_xor, False)
