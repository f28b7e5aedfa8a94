"""Calling Python from traced functions: for a result, for an effect, or for both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from arrayport.control.flat import flatten
from arrayport.core import backend as backends
from arrayport.core import dtypes
from arrayport.core.array import Array, Aval
from arrayport.core.config import x64
from arrayport.core.tree import tree_flatten, tree_leaves, tree_structure, tree_unflatten
from arrayport.ops.callbacks import METHODS, debug_callback_p, io_callback_p, pure_callback_p


def pure_callback(
    callback: Callable[..., Any],
    result_shape_dtypes: Any,
    *args: Any,
    sharding: Any = None,
    vmap_method: str | None = None,
    **kwargs: Any,
) -> Any:
    """Call a Python function without side effects on concrete Arrays. Source: `jax.pure_callback`.

    `result_shape_dtypes`: a pytree of types (`ShapeDtypeStruct`, arrays) of what it gives. What it
    raises comes as JaxRuntimeError, and so does another structure or shape. It may be called again
    or not at all. `vmap_method` says how vmap calls it: "sequential" (for each example),
    "expand_dims" or "broadcast_all" (once, with a leading axis). It has no derivative but by
    `custom_jvp`. `sharding` is a hint to JAX.

    >>> import arrayport as ap, arrayport.numpy as anp, numpy as np
    >>> x = anp.arange(3.0)
    >>> ap.jit(lambda x: ap.pure_callback(np.cumsum, x, x))(x)
    Array([0., 1., 3.], dtype=float32)
    """
    del sharding
    if vmap_method is not None and vmap_method not in METHODS:
        raise ValueError(f"vmap_method must be one of {METHODS} or None, not {vmap_method!r}")
    flat = _Flat(callback, "pure_callback", result_shape_dtypes, args, kwargs)
    made = pure_callback_p.bind(
        *flat.leaves, callback=flat, outs=flat.outs, loops=0, method=vmap_method
    )
    return tree_unflatten(flat.out_tree, made)


def io_callback(
    callback: Callable[..., Any],
    result_shape_dtypes: Any,
    *args: Any,
    sharding: Any = None,
    ordered: bool = False,
    **kwargs: Any,
) -> Any:
    """Call a Python function with side effects on concrete Arrays, once each time.

    Source: `jax.experimental.io_callback`.

    See `pure_callback` for the result. Own engines call in the program's order in any case; under
    vmap it is called for each example (ValueError if `ordered`). `sharding` is a hint to JAX.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> seen = []
    >>> ap.jit(lambda x: io_callback(lambda v: seen.append(float(v)), None, x))(2.0)
    >>> ap.effects_barrier()
    >>> seen
    [2.0]
    """
    del sharding
    flat = _Flat(callback, "io_callback", result_shape_dtypes, args, kwargs)
    made = io_callback_p.bind(
        *flat.leaves, callback=flat, outs=flat.outs, loops=0, ordered=ordered, method="sequential"
    )
    return tree_unflatten(flat.out_tree, made)


def debug_callback(
    callback: Callable[..., Any],
    args: Any,
    kwargs: dict[str, Any],
    *,
    ordered: bool,
    numbers: bool = True,
) -> None:
    """Call a Python function for its effect alone; Python's numbers become Arrays if `numbers`."""
    _check_callable(callback, "debug.callback")

    def effect(*given: Any, **named: Any) -> None:
        callback(*given, **named)

    flat = _Flat(effect, "debug.callback", None, args, kwargs, numbers)
    debug_callback_p.bind(
        *flat.leaves, callback=flat, outs=(), loops=0, ordered=ordered, method="sequential"
    )


def effects_barrier() -> None:
    """Wait until all effects of what was called so far have happened.

    Source: `jax.effects_barrier`.

    >>> effects_barrier()
    """
    for backend in backends.loaded():
        if backend.native is not None:
            backend.native.effects_barrier()


class _Flat:
    """A callback as a function of flat Arrays; what is no array among its arguments is kept."""

    def __init__(
        self,
        callback: Callable[..., Any],
        name: str,
        result: Any,
        args: Any,
        kwargs: dict[str, Any],
        numbers: bool = True,
    ) -> None:
        _check_callable(callback, name)
        self.callback = callback
        self.name = name
        given, self.tree = tree_flatten((args, kwargs))
        self.traced = [_is_array(x, numbers) for x in given]
        self.static = [None if t else x for x, t in zip(given, self.traced, strict=True)]
        arrays = [x for x, t in zip(given, self.traced, strict=True) if t]
        self.leaves, _ = flatten(arrays, f"an argument of {name}")
        types, self.out_tree = tree_flatten(result)
        self.outs = tuple([_result(t, name) for t in types])

    def __call__(self, *xs: Array) -> list[np.ndarray[Any, Any]]:
        arrays = iter(xs)
        leaves = [next(arrays) if t else x for x, t in zip(self.static, self.traced, strict=True)]
        args, kwargs = tree_unflatten(self.tree, leaves)
        given = self.callback(*args, **kwargs)
        if tree_structure(given) != self.out_tree:
            raise TypeError(
                f"{self.name}: the function gave a result of structure {tree_structure(given)}, "
                f"result_shape_dtypes says {self.out_tree}"
            )
        return [np.asarray(x) for x in tree_leaves(given)]


def _check_callable(callback: Any, name: str) -> None:
    if not callable(callback):
        raise TypeError(f"{name} needs a function to call, not {type(callback).__name__}")


def _is_array(x: Any, numbers: bool) -> bool:
    if isinstance(x, Array | np.ndarray | np.generic):
        return True
    if isinstance(x, bool | int | float | complex):
        return numbers
    return backends.by_type(type(x)) is not None


def _result(x: Any, name: str) -> Aval:
    """The type of one result."""
    if not (hasattr(x, "shape") and hasattr(x, "dtype")):
        raise TypeError(
            f"{name} needs result_shape_dtypes of leaves with a shape and a dtype, such as "
            f"ShapeDtypeStruct, not {x!r}"
        )
    dtype = np.dtype(x.dtype)
    if not x64() and dtypes.canonicalize(dtype) != dtype:
        raise ValueError(
            f"{name}: result_shape_dtypes has {dtype}, but 64-bit types are off (enable_x64)"
        )
    return Aval(tuple(x.shape), dtype)
