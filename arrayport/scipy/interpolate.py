"""Interpolation on grids."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.core.names import absent
from arrayport.numpy import (
    asarray,
    broadcast_arrays,
    can_cast,
    clip,
    searchsorted,
    stack,
    where,
)
from arrayport.ops.promotion import inexact, lift

__all__ = ["RegularGridInterpolator"]

METHODS = ("linear", "nearest")


class RegularGridInterpolator:
    """A function from values on a rectangular grid, whose axes may be uneven.

    `points` holds the ascending coordinates of each axis, `values` an array whose first axes are
    the grid's. `method` is "linear" or "nearest". Outside the grid it gives `fill_value`, or where
    that is None, extrapolates. Raises ValueError for what does not fit, NotImplementedError for
    `bounds_error`, since values decide at run time. Source:
    ``jax.scipy.interpolate.RegularGridInterpolator``.

    >>> import arrayport.numpy as anp
    >>> f = RegularGridInterpolator((anp.arange(3.0),), anp.array([0.0, 1.0, 4.0]))
    >>> f(anp.array([[0.5], [1.5]]))
    Array([0.5, 2.5], dtype=float32)
    """

    def __init__(
        self,
        points: Sequence[Any],
        values: Any,
        method: str = "linear",
        bounds_error: bool = False,
        fill_value: Any = float("nan"),
    ) -> None:
        if method not in METHODS:
            raise ValueError(f"method {method!r} must be one of {', '.join(METHODS)}")
        if bounds_error:
            raise NotImplementedError(
                "bounds_error=True would have to look at values: leave it out, and look for NaN"
            )
        self.method = method
        self.bounds_error = bounds_error
        self.grid = tuple([asarray(p) for p in points])
        self.values = inexact(lift(asarray(values)))
        shape = tuple([g.shape[0] if g.shape else 0 for g in self.grid])
        if len(shape) > len(self.values.shape) or self.values.shape[: len(shape)] != shape:
            raise ValueError(
                f"there are {shape} points, but values of shape {self.values.shape}: their first "
                "axes must be the grid"
            )
        if min(shape, default=0) < 2:
            raise ValueError(f"an axis needs 2 points at least, not {shape}")
        self.fill_value = fill_value
        if fill_value is not None:
            self.fill_value = asarray(fill_value)
            if not can_cast(self.fill_value.dtype, self.values.dtype, casting="same_kind"):
                raise ValueError(
                    f"fill_value of {self.fill_value.dtype} does not fit values of "
                    f"{self.values.dtype}: use a number, or None to extrapolate"
                )

    def __call__(self, xi: Any, method: str | None = None) -> Array:
        """Evaluate at points along the last axis of `xi`, or at a tuple of coordinates."""
        method = self.method if method is None else method
        if method not in METHODS:
            raise ValueError(f"method {method!r} must be one of {', '.join(METHODS)}")
        at = self._points(xi)
        rank = len(self.grid)
        if at.shape[-1] != rank:
            raise ValueError(f"xi has points of {at.shape[-1]} coordinates, the grid has {rank}")
        sides: list[Any] = []
        outside: Any = False
        for axis, grid in enumerate(self.grid):
            x = at[..., axis]
            i = clip(searchsorted(grid, x) - 1, 0, grid.shape[0] - 2)
            part = (x - grid[i]) / (grid[i + 1] - grid[i])
            if method == "linear":
                sides.append([(i, 1 - part), (i + 1, part)])
            else:
                sides.append([(where(part <= 0.5, i, i + 1), None)])
            outside = (x < grid[0]) | (x > grid[-1]) | outside
        more = (None,) * (len(self.values.shape) - rank)
        total: Any = 0
        for corner in product(*sides):
            term = self.values[tuple([i for i, _ in corner])]
            for _, weight in corner:
                term = term if weight is None else term * weight[(..., *more)]
            total = total + term
        if self.fill_value is not None:
            total = where(outside[(..., *more)], self.fill_value.astype(self.values.dtype), total)
        return total

    def _points(self, xi: Any) -> Array:
        """Give an array of points, whatever `xi` is."""
        if isinstance(xi, tuple) and len(xi) == 1:
            xi = xi[0]
        if isinstance(xi, tuple):
            return stack(broadcast_arrays(*[inexact(asarray(x)) for x in xi]), axis=-1)
        at = asarray(xi)
        at = at if dtypes.is_inexact(at.dtype) else inexact(at)
        return at[:, None] if len(at.shape) == 1 and len(self.grid) == 1 else at


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise absent("scipy.interpolate", name)
