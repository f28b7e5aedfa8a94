"""Products of several matrices, in the order that takes the fewest multiplications."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arrayport.core.array import Array
from arrayport.numpy.arguments import arrayed
from arrayport.numpy.products import dot


def multi_dot(arrays: Sequence[Any], *, precision: Any = None) -> Array:
    """Multiply several matrices in the cheapest order; the first and last may be vectors.

    Raises ValueError for fewer than two. Source: ``jax.numpy.linalg.multi_dot``.

    >>> import arrayport.numpy as anp
    >>> anp.linalg.multi_dot([anp.ones((2, 3)), anp.ones((3, 1)), anp.ones((1, 4))]).shape
    (2, 4)
    """
    xs = [arrayed(x, "arrays") for x in arrays]
    if len(xs) < 2:
        raise ValueError("multi_dot needs two arrays or more")
    ranks = [len(x.shape) for x in xs]
    if set(ranks[1:-1]) - {2} or ranks[0] not in {1, 2} or ranks[-1] not in {1, 2}:
        raise ValueError(f"multi_dot needs matrices (vectors at the ends), not of ranks {ranks}")
    first, last = (x.shape[k] if len(x.shape) == 2 else 1 for x, k in ((xs[0], 0), (xs[-1], 1)))
    sizes = [first, *[x.shape[0] for x in xs[1:]], last]
    return _chain(xs, sizes, precision)


def _chain(xs: Sequence[Array], sizes: Sequence[int], precision: Any) -> Array:
    """Multiply where the fewest products are needed; `sizes` are rows, inner extents, columns."""
    cost: dict[tuple[int, int], tuple[int, int]] = {(i, i): (0, i) for i in range(len(xs))}
    for length in range(1, len(xs)):
        for i in range(len(xs) - length):
            j = i + length
            cost[i, j] = min(
                (cost[i, k][0] + cost[k + 1, j][0] + sizes[i] * sizes[k + 1] * sizes[j + 1], k)
                for k in range(i, j)
            )

    def product(i: int, j: int) -> Array:
        k = cost[i, j][1]
        return xs[i] if i == j else dot(product(i, k), product(k + 1, j), precision=precision)

    return product(0, len(xs) - 1)
