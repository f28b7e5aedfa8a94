"""Reductions by any associative function: over axes, windows, and all up to each place."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

from arrayport.control.scanning import scan
from arrayport.core.array import Array, Aval
from arrayport.core.errors import ConcretizationTypeError
from arrayport.core.primitive import Primitive
from arrayport.core.tree import tree_flatten, tree_leaves, tree_unflatten
from arrayport.lax.elementwise import NUMERIC, takes
from arrayport.ops import elementwise, pooling, reductions, structure
from arrayport.ops.placement import no_sharding
from arrayport.ops.promotion import home_of, lift, settle
from arrayport.ops.slices import slice_in_dim
from arrayport.transforms.batching import vmap
from arrayport.transforms.engines import run_on_engine
from arrayport.transforms.staging import stage

__all__ = [
    "associative_scan",
    "reduce",
    "reduce_sum",
    "reduce_window",
    "reduce_window_shape_tuple",
]

Computation = Callable[[Any, Any], Any]

WHOLE: Mapping[Primitive, Callable[..., Array]] = {
    elementwise.add_p: structure.reduce_sum,
    elementwise.mul_p: reductions.reduce_prod,
    elementwise.max_p: reductions.reduce_max,
    elementwise.min_p: reductions.reduce_min,
    elementwise.and_p: reductions.reduce_and,
    elementwise.or_p: reductions.reduce_or,
    elementwise.xor_p: reductions.reduce_xor,
}
SLIDING: Mapping[Primitive, str] = {
    elementwise.add_p: "add",
    elementwise.mul_p: "mul",
    elementwise.max_p: "max",
    elementwise.min_p: "min",
}


def reduce(
    operands: Any,
    init_values: Any,
    computation: Computation,
    dimensions: Sequence[int],
    out_sharding: Any = None,
) -> Any:
    """Combine over axes, from the initial values on, by an associative function of two scalars.

    `operands` and `init_values` are pytrees alike; `computation` takes and gives such trees of
    scalars. A function that is one operation (add, mul, max, min, and, or, xor) is recognised, and
    then quick. Source: ``jax.lax.reduce``.

    >>> from arrayport import lax
    >>> lax.reduce(lax.iota("int32", 4), 0, lax.add, (0,))
    Array(6, dtype=int32)
    """
    no_sharding(out_sharding, "reduce")
    xs, starts, tree = _together(operands, init_values)
    axes = [structure.axis_of(a, len(xs[0].shape), "dimensions") for a in dimensions]
    if not axes:
        return tree_unflatten(tree, xs)
    found = _operation(computation, xs, tree)
    if found in WHOLE and xs[0].size:
        return tree_unflatten(tree, [found.bind(WHOLE[found](xs[0], axes), starts[0])])
    options = (operands, init_values, computation, axes)
    return run_on_engine("reduce", _reduce, (operands, init_values), *options)


def _reduce(operands: Any, init_values: Any, computation: Computation, axes: Sequence[int]) -> Any:
    xs, starts, tree = _together(operands, init_values)

    def rows(x: Array) -> Array:
        """Give the reduced axes as one in front."""
        kept = [i for i in range(len(x.shape)) if i not in axes]
        x = structure.transpose(x, (*axes, *kept))
        return structure.reshape(x, (prod(x.shape[: len(axes)]), *x.shape[len(axes) :]))

    folded = [rows(x) for x in xs]
    first = [structure.broadcast_to(s, x.shape[1:]) for s, x in zip(starts, folded, strict=True)]
    combine = computation
    for _ in first[0].shape:
        combine = vmap(combine)
    carry, given = tree_unflatten(tree, first), tree_unflatten(tree, folded)
    return scan(lambda carry, x: (combine(carry, x), None), carry, given)[0]


def reduce_window(
    operand: Any,
    init_value: Any,
    computation: Computation,
    window_dimensions: Sequence[int],
    window_strides: Sequence[int] | None = None,
    padding: Any = "VALID",
    base_dilation: Sequence[int] | None = None,
    window_dilation: Sequence[int] | None = None,
) -> Any:
    """Combine within windows that slide over all axes, from the initial values on.

    `operand` and `init_value` are pytrees alike, of arrays of one shape; `computation` is as for
    `reduce`. `padding`, "SAME", "VALID", "SAME_LOWER" or a pair an axis, and `base_dilation` put
    the initial values around and between the elements. Raises TypeError or ValueError that names
    the argument. Source: ``jax.lax.reduce_window``.

    >>> from arrayport import lax
    >>> lax.reduce_window(lax.iota("float32", 5), 0.0, lax.add, (3,), (2,))
    Array([3., 9.], dtype=float32)
    """
    xs, starts, tree = _together(operand, init_value)
    at = pooling.sliding(
        *(xs[0].shape, window_dimensions, window_strides, padding, base_dilation, window_dilation)
    )
    found = _operation(computation, xs, tree)
    if found in SLIDING:
        out = pooling.reduce_window(xs[0], SLIDING[found], at)
        neutral = _is(starts[0], reductions.IDENTITIES[SLIDING[found]](out.dtype))
        return tree_unflatten(tree, [out if neutral else found.bind(out, starts[0])])
    options = (operand, init_value, computation, *vars(at).values())
    return run_on_engine("reduce_window", _reduce_window, (operand, init_value), *options)


def _reduce_window(operand: Any, init_value: Any, computation: Computation, *places: Any) -> Any:
    xs, starts, tree = _together(operand, init_value)
    at, rank = pooling.Sliding(*places), len(xs[0].shape)
    seen = [pooling.windows(x, s, at) for x, s in zip(xs, starts, strict=True)]
    inner = range(rank, 2 * rank)
    return _reduce(tree_unflatten(tree, seen), tree_unflatten(tree, starts), computation, inner)


def _together(operands: Any, init_values: Any) -> tuple[list[Array], list[Array], Any]:
    """Operands and initial values of their dtypes, and the structure of both."""
    leaves, tree = tree_flatten(operands)
    firsts, other = tree_flatten(init_values)
    if tree != other:
        raise TypeError(f"operands have structure {tree}, but their initial values {other}")
    home = home_of(*leaves, *firsts)
    xs = [lift(x, home, "operand") for x in leaves]
    if len({x.shape for x in xs}) != 1:
        raise TypeError(
            f"operands must be arrays of one shape, not {', '.join(str(x.shape) for x in xs)}"
        )
    starts = [lift(s, home, "init_value") for s in firsts]
    for x, s in zip(xs, starts, strict=True):
        if s.shape or (s.dtype != x.dtype and not s.weak):
            raise TypeError(
                f"the initial value of an operand of {x.dtype} must be a scalar of that dtype, not "
                f"{s.dtype}{list(s.shape)}"
            )
    beside = [settle([x, s])[1] for x, s in zip(xs, starts, strict=True)]
    return xs, [structure.convert(s, x.dtype) for x, s in zip(xs, beside, strict=True)], tree


def _operation(computation: Computation, xs: Sequence[Array], tree: Any) -> Any:
    """Name the primitive that a function of two scalars is; None if it is more than one."""
    if len(xs) > 1:
        return None

    def flat(a: Array, b: Array) -> list[Array]:
        pair = (tree_unflatten(tree, [v]) for v in (a, b))
        return [lift(v) for v in tree_leaves(computation(*pair))]

    program, captured = stage(flat, [Aval((), xs[0].dtype)] * 2)
    if captured or len(program.eqns) != 1 or len(program.outs) != 1:
        return None
    (eqn,) = program.eqns
    x, y = program.ins
    both = tuple(eqn.ins) in {(x, y), (y, x)}
    return eqn.prim if both and program.outs[0] is eqn.outs[0] else None


def _is(start: Array, value: Any) -> bool:
    """Whether an initial value is known, and a monoid's identity."""
    try:
        return bool(start.concrete() == value)
    except ConcretizationTypeError:
        return False


def reduce_window_shape_tuple(
    operand_shape: Sequence[int],
    window_dimensions: Sequence[int],
    window_strides: Sequence[int],
    padding: Any,
    base_dilation: Sequence[int] | None = None,
    window_dilation: Sequence[int] | None = None,
) -> tuple[int, ...]:
    """Give the shape of what `reduce_window` gives. Source: ``jax.lax``.

    >>> from arrayport import lax
    >>> lax.reduce_window_shape_tuple((6,), (3,), (2,), [(1, 1)])
    (3,)
    """
    shape = tuple(operand_shape)
    at = pooling.sliding(
        *(shape, window_dimensions, window_strides, padding, base_dilation, window_dilation)
    )
    return at.places(shape)


def reduce_sum(operand: Any, axes: Sequence[int], *, out_sharding: Any = None) -> Array:
    """Sum over axes, in the operand's dtype. Source: ``jax.lax.reduce_sum``.

    >>> from arrayport import lax
    >>> import arrayport.numpy as anp
    >>> lax.reduce_sum(anp.ones((2, 3)), (0,))
    Array([2., 2., 2.], dtype=float32)
    """
    no_sharding(out_sharding, "reduce_sum")
    x = takes(lift(operand, None, "operand"), NUMERIC, "reduce_sum")
    return structure.reduce_sum(x, [structure.axis_of(a, len(x.shape), "axes") for a in axes])


def associative_scan(
    fn: Callable[[Any, Any], Any], elems: Any, reverse: bool = False, axis: int = 0
) -> Any:
    """Combine all up to each place of an axis, in logarithmic depth; from it, if `reverse`.

    `fn` takes and gives pytrees like `elems`, works on any extent of the axis, and is associative.
    Source: ``jax.lax.associative_scan``.

    >>> import arrayport.numpy as anp
    >>> from arrayport import lax
    >>> lax.associative_scan(anp.multiply, anp.arange(1, 5))
    Array([ 1,  2,  6, 24], dtype=int32)
    """
    leaves, treedef = tree_flatten(elems)
    xs = [lift(x, home_of(*leaves), "elems") for x in leaves]
    axis = structure.axis_of(axis, len(xs[0].shape), "axis")
    step = -1 if reverse else 1
    if len({x.shape[axis] for x in xs}) > 1:
        raise ValueError(f"associative_scan: axis {axis} of the elements differs in extent")

    def turned(xs: Sequence[Array]) -> list[Array]:
        return [slice_in_dim(x, None, None, step, axis) for x in xs] if reverse else list(xs)

    def combine(a: Any, b: Any) -> Any:
        out = fn(tree_unflatten(treedef, a), tree_unflatten(treedef, b))
        return tuple([lift(x) for x in tree_leaves(out)])

    found = reductions.prefixes(combine, tuple(turned(xs)), axis)  # type: ignore[arg-type]
    return tree_unflatten(treedef, turned(found))
