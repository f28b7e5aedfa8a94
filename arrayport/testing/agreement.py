"""How far one tree of arrays is from another: in structure, shape, dtype, and value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from arrayport.core import dtypes
from arrayport.core.tree import tree_flatten, tree_structure

TELLING = 1e6  # ulps: beyond them the difference itself says more


@dataclass(frozen=True)
class Tolerance:
    """The largest error that is no disagreement: |found - expected| <= atol + rtol |expected|."""

    rtol: float = 0.0
    atol: float = 0.0


@dataclass(frozen=True)
class Ulps:
    """The largest error in units in the last place; integers and booleans must be equal.

    They are each element's own, or with `of_largest` those of the largest element of its array:
    sums and products round relative to what they add up. With `flush` numbers below the smallest
    normal one count as zeros, which XLA makes of them.
    """

    limit: float
    of_largest: bool = False
    flush: bool = False


@dataclass(frozen=True)
class Difference:
    """What was found: a difference in kind, or the largest error beside its limit."""

    problem: str = ""
    error: float = 0.0  # in ulps, or as a share of the tolerance
    absolute: float = 0.0
    unit: str = "ulp"
    limit: float = 0.0

    @property
    def agrees(self) -> bool:
        """Whether the two trees agree."""
        return not self.problem and self.error <= self.limit

    def __str__(self) -> str:
        if self.problem:
            return self.problem
        if not self.error:
            return "equal"
        if self.unit == "tolerance":
            return f"{self.absolute:.2g} ({self.error:.0%} of the tolerance)"
        if self.error > TELLING:
            return f"{self.absolute:.3g} apart"
        return f"{self.error:.3g} {self.unit}"


def ulps(found: np.ndarray[Any, Any], expected: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return each element's distance in units in the last place of the expected one.

    Equal elements, infinities and NaN included, are 0 apart; a finite one is infinitely far from
    one that is not, and so are different integers and booleans. Of complex numbers the unit is the
    modulus's.

    >>> ulps(np.float32([1, 2]), np.float32([1, 2 + 2**-21]))
    array([0., 2.])
    """
    return _shares(*_errors(found, expected, Ulps(0)))


def _shares(errors: Any, unit: Any) -> Any:
    """Divide errors by what measures them: no error is none of nothing, too."""
    with np.errstate(all="ignore"):
        return np.where(errors == 0, 0.0, errors / unit)


def _errors(found: Any, expected: Any, limit: Ulps) -> tuple[Any, Any]:
    """Return absolute errors, and the unit in the last place that measures them."""
    dtype = expected.dtype
    wide = np.complex128 if dtypes.is_complex(dtype) else np.float64
    a, b = found.astype(wide), expected.astype(wide)
    if not dtypes.is_inexact(dtype):  # wide ones may differ by less than float64 shows
        return np.where(found == expected, 0.0, np.maximum(np.abs(a - b), 1)), np.float64(0)
    limits = dtypes.finfo(dtype)
    if limit.flush:
        for x in (a, b):
            for part in (x.real, x.imag) if wide is np.complex128 else (x,):
                part[np.abs(part) < limits.smallest_normal] = 0
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(all="ignore"):
        error = np.where(same, 0, np.abs(a - b))
        error = np.where(np.isnan(error), np.inf, error)
        size = np.abs(np.where(np.isfinite(b), b, 0))
        if limit.of_largest:
            size = np.max(size, initial=0)
    _, exponent = np.frexp(size)
    unit = np.where(size > 0, np.ldexp(limits.eps, exponent - 1), 0)
    return error, np.maximum(unit, limits.smallest_subnormal)


def compare(found: Any, expected: Any, limit: Tolerance | Ulps) -> Difference:
    """Compare two pytrees of arrays, leaf by leaf; any array that NumPy can read will do.

    >>> print(compare(np.float32([1, 2.5]), np.float32([1, 2]), Tolerance(atol=1.0)))
    0.5 (50% of the tolerance)
    >>> print(compare(np.float32([1, 2]), np.float32([1]), Ulps(2)))
    shape (2,), not (1,)
    """
    pairs, problem = _leaves(found, expected)
    if problem:
        return Difference(problem)
    worst = Difference(limit=1.0 if isinstance(limit, Tolerance) else limit.limit)
    for number, (a, b) in enumerate(pairs):
        where = f" (output {number})" if len(pairs) > 1 else ""
        if a.shape != b.shape:
            return Difference(f"shape {a.shape}, not {b.shape}{where}")
        if a.dtype != b.dtype:
            return Difference(f"dtype {a.dtype}, not {b.dtype}{where}")
        here = _difference(a, b, limit)
        if here.error > worst.error:
            worst = here
    return worst


def _difference(found: Any, expected: Any, limit: Tolerance | Ulps) -> Difference:
    errors, unit = _errors(found, expected, limit if isinstance(limit, Ulps) else Ulps(0))
    absolute = float(np.max(errors, initial=0))
    if isinstance(limit, Ulps):
        name = "ulp of the largest" if limit.of_largest else "ulp"
        error = float(np.max(_shares(errors, unit), initial=0))
        return Difference("", error, absolute, name, limit.limit)
    magnitude = np.abs(expected.astype(np.complex128))
    known = limit.atol + limit.rtol * np.where(np.isfinite(magnitude), magnitude, 0)
    return Difference(
        "", float(np.max(_shares(errors, known), initial=0)), absolute, "tolerance", 1.0
    )


def _leaves(found: Any, expected: Any) -> tuple[list[tuple[Any, Any]], str]:
    ours, theirs = tree_flatten(found), tree_flatten(expected)
    if ours[1] != theirs[1]:
        return [], f"structure {tree_structure(found)}, not {tree_structure(expected)}"
    pairs = zip(ours[0], theirs[0], strict=True)
    return [(np.asarray(a), np.asarray(b)) for a, b in pairs], ""
