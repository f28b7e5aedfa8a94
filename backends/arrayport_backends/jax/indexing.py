"""Reading and writing parts of arrays on JAX: one primitive, one call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jax import lax

from arrayport.ops import indexing as ops

STATIC = {"indices_are_sorted": True, "unique_indices": True}


def gather(x: Any, indices: Any, dimension_numbers: Any, mode: str, **params: Any) -> Any:
    """Read windows at index vectors."""
    numbers = lax.GatherDimensionNumbers(*dimension_numbers)
    return lax.gather(x, indices, numbers, mode=lax.GatherScatterMode.from_any(mode), **params)


def scatter(write: Callable[..., Any]) -> Callable[..., Any]:
    """Make the row that writes windows at index vectors."""

    def run(
        x: Any, indices: Any, updates: Any, dimension_numbers: Any, mode: str, **flags: Any
    ) -> Any:
        numbers = lax.ScatterDimensionNumbers(*dimension_numbers)
        known = lax.GatherScatterMode.from_any(mode)
        return write(x, indices, updates, numbers, mode=known, **flags)

    return run


def dynamic_slice_add(x: Any, *rest: Any) -> Any:
    """Add to a window."""
    *starts, value = rest
    window = lax.dynamic_slice(x, starts, value.shape)
    return lax.dynamic_update_slice(x, window + value, starts)


def scatter_all(x: Any, *args: Any, entries: Any) -> Any:
    """Add parts one by one: XLA does so in place."""
    for write, own, params in ops.split(args, entries):
        x = ROWS[write](x, *own, **params)
    return x


ROWS: dict[Any, Callable[..., Any]] = {
    ops.slice_p: lambda x, key: x[ops.basic(key)],
    ops.slice_add_p: lambda x, value, key: x.at[ops.basic(key)].add(value, **STATIC),
    ops.slice_set_p: lambda x, value, key: x.at[ops.basic(key)].set(value, **STATIC),
    ops.gather_p: gather,
    ops.scatter_set_p: scatter(lax.scatter),
    ops.scatter_add_p: scatter(lax.scatter_add),
    ops.scatter_mul_p: scatter(lax.scatter_mul),
    ops.scatter_min_p: scatter(lax.scatter_min),
    ops.scatter_max_p: scatter(lax.scatter_max),
    ops.dynamic_slice_p: lambda x, *starts, sizes: lax.dynamic_slice(x, starts, sizes),
    ops.dynamic_update_slice_p: lambda x, update, *starts: lax.dynamic_update_slice(
        x, update, starts
    ),
    ops.dynamic_slice_add_p: dynamic_slice_add,
    ops.scatter_all_p: scatter_all,
}
