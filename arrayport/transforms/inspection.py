"""Looking at a function without running it: the types of its outputs, and its Program."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np

from arrayport.core import dtypes
from arrayport.core.arguments import numbers_of, of_chosen
from arrayport.core.array import Array, Aval, aval_of
from arrayport.core.program import Program
from arrayport.core.trace import route
from arrayport.core.tree import tree_flatten, tree_leaves, tree_unflatten
from arrayport.ops.promotion import lift
from arrayport.transforms.batching import Extent, batch_trace
from arrayport.transforms.engines import by_engine
from arrayport.transforms.staging import stage


class ShapeDtypeStruct:
    """The type of an array that need not exist. Source: `jax.ShapeDtypeStruct`.

    >>> ShapeDtypeStruct((2, 3), "float32")
    ShapeDtypeStruct(shape=(2, 3), dtype=float32)
    """

    __slots__ = ("dtype", "shape", "sharding", "weak")

    def __init__(
        self, shape: Any, dtype: Any, *, sharding: Any = None, weak_type: bool = False
    ) -> None:
        self.shape = tuple(shape)
        self.dtype = dtypes.canonicalize(dtype)
        self.sharding = sharding
        self.weak = weak_type

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return int(np.prod(self.shape, dtype=int))

    @property
    def weak_type(self) -> bool:
        """Whether the dtype gives way in promotion."""
        return self.weak

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ShapeDtypeStruct) and aval_of(self) == aval_of(other)

    def __hash__(self) -> int:
        return hash(aval_of(self))

    def __repr__(self) -> str:
        weak = ", weak_type=True" if self.weak else ""
        return f"ShapeDtypeStruct(shape={self.shape}, dtype={self.dtype}{weak})"


def typed(x: Any) -> Aval:
    """The type of a leaf: an array, a number or anything with a shape and a dtype."""
    if isinstance(x, Array | ShapeDtypeStruct):
        return aval_of(x)
    if hasattr(x, "shape") and hasattr(x, "dtype") and not isinstance(x, np.ndarray | np.generic):
        return Aval(tuple(x.shape), np.dtype(x.dtype), bool(getattr(x, "weak_type", False)))
    return aval_of(lift(x))


def _staged(fun: Callable[..., Any], args: Any, kwargs: Any) -> tuple[Program, Any]:
    # A type is a tuple, and one leaf.
    leaves, tree = tree_flatten((args, kwargs), lambda x: isinstance(x, Aval))
    out_tree: Any = None

    def flat(*xs: Array) -> list[Array]:
        nonlocal out_tree
        full, named = tree_unflatten(tree, xs)
        outs, out_tree = tree_flatten(fun(*full, **named))
        return [lift(o) for o in outs]

    program, _ = stage(flat, [typed(x) for x in leaves])
    return program, out_tree


def eval_shape(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Types of a function's outputs, with nothing computed. Source: `jax.eval_shape`.

    >>> eval_shape(lambda x: x[:2] * 1.5, ShapeDtypeStruct((3, 4), "int32"))
    ShapeDtypeStruct(shape=(2, 4), dtype=float32, weak_type=True)
    """
    _, engine = route(tree_leaves((args, kwargs)))
    if engine is not None:
        return engine.eval_shape(fun, *args, **kwargs)
    program, out_tree = _staged(fun, args, kwargs)
    avals = [ShapeDtypeStruct(v.shape, v.dtype, weak_type=v.weak) for v in program.outs]
    return tree_unflatten(out_tree, avals)


def make_jaxpr(
    fun: Callable[..., Any],
    static_argnums: int | tuple[int, ...] = (),
    axis_env: Sequence[tuple[Hashable, int]] | None = None,
    return_shape: bool = False,
) -> Callable[..., Any]:
    """Make a function that gives the Program of `fun` for its arguments, to print.

    Source: `jax.make_jaxpr`.

    On the JAX backend it is JAX's own jaxpr. `axis_env`: names and sizes of mapped axes that
    collectives in `fun` may use.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> print(make_jaxpr(lambda x: anp.sin(x) * 2.0)(anp.ones(3)))
    lambda a:float32[3]:
      b:float32[3] = sin a
      c:float32[3] = mul b 2.0
      return c
    """
    numbers = numbers_of(static_argnums)

    def own(*args: Any, **kwargs: Any) -> Any:
        static = {n % len(args) for n in numbers}
        others = [i for i in range(len(args)) if i not in static]
        with ExitStack() as stack:
            for name, size in axis_env or ():
                stack.enter_context(batch_trace(Extent(size, name)).named())
            program, out_tree = _staged(
                of_chosen(fun, others, args), tuple([args[i] for i in others]), kwargs
            )
        if not return_shape:
            return program
        avals = [ShapeDtypeStruct(v.shape, v.dtype, weak_type=v.weak) for v in program.outs]
        return program, tree_unflatten(out_tree, avals)

    options = {
        "static_argnums": static_argnums,
        "axis_env": axis_env,
        "return_shape": return_shape,
    }
    return by_engine(own, "make_jaxpr", fun, **options)
