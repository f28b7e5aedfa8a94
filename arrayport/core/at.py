"""The `.at` property: functional updates and reads of parts of an immutable array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arrayport.core import hooks

if TYPE_CHECKING:
    from collections.abc import Callable

    from arrayport.core.array import Array


class IndexUpdateHelper:
    """What `x.at` gives: `x.at[key]` names the part to update. The array itself never changes."""

    __slots__ = ("array",)

    def __init__(self, array: Array) -> None:
        self.array = array

    def __getitem__(self, key: Any) -> IndexUpdateRef:
        return IndexUpdateRef(self.array, key)

    def __repr__(self) -> str:
        return f"IndexUpdateHelper({self.array!r})"


class IndexUpdateRef:
    """One part of an array; each method gives a new array in which that part is changed.

    Source: `jax.numpy.ndarray.at`. Every method takes `indices_are_sorted`, `unique_indices`,
    `mode` ("clip", "drop", "fill", "promise_in_bounds") and, for `get`, `fill_value`.
    """

    __slots__ = ("array", "key")

    def __init__(self, array: Array, key: Any) -> None:
        self.array = array
        self.key = key

    def get(self, **options: Any) -> Array:
        """Read the part; out of range elements follow `mode` and `fill_value`."""
        return hooks.operators.index_get(self.array, self.key, **options)

    def set(self, values: Any, **options: Any) -> Array:
        """Replace the part by `values`."""
        return hooks.operators.index_update("set", self.array, self.key, values, **options)

    def add(self, values: Any, **options: Any) -> Array:
        """Add `values`; repeated indices accumulate."""
        return hooks.operators.index_update("add", self.array, self.key, values, **options)

    def subtract(self, values: Any, **options: Any) -> Array:
        """Subtract `values`; repeated indices accumulate."""
        return hooks.operators.index_update("subtract", self.array, self.key, values, **options)

    def multiply(self, values: Any, **options: Any) -> Array:
        """Multiply by `values`; repeated indices accumulate."""
        return hooks.operators.index_update("multiply", self.array, self.key, values, **options)

    mul = multiply

    def divide(self, values: Any, **options: Any) -> Array:
        """Divide by `values`; repeated indices accumulate."""
        return hooks.operators.index_update("divide", self.array, self.key, values, **options)

    def power(self, values: Any, **options: Any) -> Array:
        """Raise to the power `values`."""
        return hooks.operators.index_update("power", self.array, self.key, values, **options)

    def min(self, values: Any, **options: Any) -> Array:
        """Take the smaller of the part and `values`."""
        return hooks.operators.index_update("min", self.array, self.key, values, **options)

    def max(self, values: Any, **options: Any) -> Array:
        """Take the larger of the part and `values`."""
        return hooks.operators.index_update("max", self.array, self.key, values, **options)

    def apply(self, func: Callable[[Array], Any], **options: Any) -> Array:
        """Apply a scalar function to the part."""
        return hooks.operators.index_update("apply", self.array, self.key, func, **options)

    def __repr__(self) -> str:
        return f"IndexUpdateRef({self.array!r}, {self.key!r})"
