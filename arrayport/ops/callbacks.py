"""Callbacks: Python functions of concrete arrays, called when a Program runs."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from arrayport.core.array import Array, Aval
from arrayport.core.primitive import Callback
from arrayport.ops.structure import batch_to_front, in_front, reshape

# Parameters: `callback`, a function of flat Arrays that gives a list; `outs`, the types of what one
# call gives; `loops`, over how many leading axes of all operands it is called again; `method`, how
# vmap proceeds.
Host = np.ndarray[Any, Any]
METHODS = (
    "sequential",
    "sequential_unrolled",
    "expand_dims",
    "broadcast_all",
    "legacy_vectorized",
)


def call_each(
    callback: Callable[..., Sequence[Any]],
    outs: Sequence[Aval],
    loops: int,
    raws: Sequence[Any],
    wrap: Callable[[Any], Array],
) -> list[Host]:
    """Call it once, or for each place along the leading axes, the last of these the slowest."""
    sizes = tuple(raws[0].shape[:loops]) if loops else ()
    made = [np.empty((*sizes, *a.shape), a.dtype) for a in outs]
    for backwards in itertools.product(*map(range, reversed(sizes))):
        place = backwards[::-1]
        given = callback(*[wrap(r[place] if place else r) for r in raws])
        for i, (whole, one, a) in enumerate(zip(made, given, outs, strict=True)):
            if np.shape(one) != a.shape:
                raise ValueError(
                    f"a callback gave a result of shape {np.shape(one)} where result_shape_dtypes "
                    f"says {a.shape} (leaf {i})"
                )
            whole[place] = one
    return made


def _abstract(*xs: Any, outs: Sequence[Aval], loops: int, **_params: Any) -> list[Aval]:
    sizes = xs[0].shape[:loops] if loops else ()
    return [Aval((*sizes, *a.shape), a.dtype) for a in outs]


def _batch(prim: Callable[[], Callback]) -> Callable[..., Any]:
    """Make the rule that proceeds by `method`: call for each example, or once for all."""

    def rule(
        size: int,
        xs: Sequence[Array],
        dims: Sequence[int | None],
        /,
        outs: Sequence[Aval],
        loops: int,
        method: str | None,
        **params: Any,
    ) -> Any:
        if method is None:
            raise NotImplementedError(
                f"vmap of a pure_callback needs to know how: give vmap_method, one of {METHODS}"
            )
        if prim() is io_callback_p and params["ordered"]:
            raise ValueError("vmap cannot keep the order of an io_callback: leave ordered out")
        size = int(size)
        if method.startswith("sequential"):
            xs = in_front(size, xs, dims)
            loops += 1
        else:
            fill = {"expand_dims": 1, "broadcast_all": size}.get(method)
            xs = [_front(x, d, size, fill) for x, d in zip(xs, dims, strict=True)]
            outs = tuple([Aval((size, *a.shape), a.dtype) for a in outs])
        made = prim().bind(*xs, outs=outs, loops=loops, method=method, **params)
        return made, [0] * len(made)

    return rule


def _front(x: Array, dim: int | None, size: int, fill: int | None) -> Array:
    """The batch axis first; without one, an axis of extent 1 or `size`, or none at all."""
    if dim is None and fill == 1:
        return reshape(x, (1, *x.shape))
    return x if dim is None and fill is None else batch_to_front(size, x, dim)


pure_callback_p: Callback = Callback(
    "pure_callback",
    _abstract,
    _batch(lambda: pure_callback_p),
    effect=False,
    not_differentiable="a callback is Python, which has no derivative: wrap it in custom_jvp",
)
io_callback_p: Callback = Callback(
    "io_callback",
    _abstract,
    _batch(lambda: io_callback_p),
    effect=True,
    not_differentiable="a callback is Python, which has no derivative: wrap it in custom_jvp",
)
debug_callback_p: Callback = Callback(
    "debug_callback",
    _abstract,
    _batch(lambda: debug_callback_p),
    effect=True,
    not_differentiable="it has no outputs",
)
