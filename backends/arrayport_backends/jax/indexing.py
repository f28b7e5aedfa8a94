"""Reading and writing parts of arrays on JAX: one primitive, one call."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from jax import lax

from arrayport.ops import indexing, slices, windows

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


# The starts of our primitives count from the front.
dynamic_slice = partial(lax.dynamic_slice, allow_negative_indices=False)
dynamic_update_slice = partial(lax.dynamic_update_slice, allow_negative_indices=False)


def dynamic_slice_add(x: Any, *rest: Any) -> Any:
    """Add to a window."""
    *starts, value = rest
    window = dynamic_slice(x, starts, value.shape)
    return dynamic_update_slice(x, window + value, starts)


def scatter_all(x: Any, *args: Any, entries: Any) -> Any:
    """Add parts one by one: XLA does so in place."""
    for write, own, params in windows.split(args, entries):
        x = ROWS[write](x, *own, **params)
    return x


ROWS: dict[Any, Callable[..., Any]] = {
    slices.slice_p: lambda x, key: x[slices.basic(key)],
    slices.slice_add_p: lambda x, value, key: x.at[slices.basic(key)].add(value, **STATIC),
    slices.slice_set_p: lambda x, value, key: x.at[slices.basic(key)].set(value, **STATIC),
    indexing.gather_p: gather,
    indexing.scatter_set_p: scatter(lax.scatter),
    indexing.scatter_add_p: scatter(lax.scatter_add),
    indexing.scatter_mul_p: scatter(lax.scatter_mul),
    indexing.scatter_min_p: scatter(lax.scatter_min),
    indexing.scatter_max_p: scatter(lax.scatter_max),
    windows.dynamic_slice_p: lambda x, *starts, sizes: dynamic_slice(x, starts, sizes),
    windows.dynamic_update_slice_p: lambda x, update, *starts: dynamic_update_slice(
        x, update, starts
    ),
    windows.dynamic_slice_add_p: dynamic_slice_add,
    windows.scatter_all_p: scatter_all,
}
