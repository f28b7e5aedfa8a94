"""Products of arrays: dot, outer, einsum and their kin."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from itertools import count
from typing import Any

import numpy as np

from arrayport.core.array import Array
from arrayport.core.units import unit
from arrayport.numpy.arguments import arrayed, axis_of, dtype_or, no_out, strong
from arrayport.numpy.joins import stack, unstack
from arrayport.numpy.shapes import moveaxis, ravel
from arrayport.ops.elementwise import conj
from arrayport.ops.placement import no_sharding
from arrayport.ops.products import dot, dot_general, matmul, tensordot
from arrayport.ops.promotion import promote_dtypes
from arrayport.ops.shapes import expand_dims
from arrayport.ops.slices import slice_in_dim
from arrayport.ops.structure import Shape, convert, reduce_sum, reshape, transpose

__all__ = [
    "cross",
    "dot",
    "einsum",
    "einsum_path",
    "inner",
    "kron",
    "matmul",
    "matvec",
    "outer",
    "tensordot",
    "vdot",
    "vecdot",
    "vecmat",
]


def vdot(a: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None) -> Array:
    """Sum the products of the flat arrays' elements, a conjugated. Source: ``jax.numpy.vdot``.

    >>> import arrayport.numpy as anp
    >>> anp.vdot(anp.array([1j]), anp.array([1j]))
    Array(1.+0.j, dtype=complex64)
    """
    options = {"precision": precision, "preferred_element_type": preferred_element_type}
    return dot(conj(ravel(a)), ravel(b), **options)


def vecdot(
    x1: Any,
    x2: Any,
    /,
    *,
    axis: int = -1,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Array:
    """Sum products along an axis, x1 conjugated; the other axes broadcast. Source: the array API.

    >>> import arrayport.numpy as anp
    >>> anp.vecdot(anp.ones((2, 3)), anp.arange(3.0))
    Array([3., 3.], dtype=float32)
    """
    x, y = arrayed(x1, "x1"), arrayed(x2, "x2")
    x, y = (moveaxis(v, axis_of(axis, len(v.shape)), -1) for v in (x, y))
    if x.shape[-1] != y.shape[-1]:
        raise ValueError(f"vecdot: axis {axis} of the operands differs: {x.shape} and {y.shape}")
    options = {"precision": precision, "preferred_element_type": preferred_element_type}
    out = matmul(expand_dims(conj(x), (-2,)), expand_dims(y, (-1,)), **options)
    return reshape(out, out.shape[:-2])


@unit("x1", "x2")
def matvec(x1: Any, x2: Any, /) -> Array:
    """Multiply matrices (..., n, k) by vectors (..., k). Source: ``numpy.matvec``.

    >>> import arrayport.numpy as anp
    >>> anp.matvec(anp.ones((2, 3)), anp.arange(3.0))
    Array([3., 3.], dtype=float32)
    """
    out = matmul(arrayed(x1, "x1"), expand_dims(arrayed(x2, "x2"), (-1,)))
    return reshape(out, out.shape[:-1])


@unit("x1", "x2")
def vecmat(x1: Any, x2: Any, /) -> Array:
    """Multiply vectors (..., n), conjugated, by matrices (..., n, m). Source: ``numpy.vecmat``.

    >>> import arrayport.numpy as anp
    >>> anp.vecmat(anp.arange(2.0), anp.ones((2, 3)))
    Array([1., 1., 1.], dtype=float32)
    """
    out = matmul(expand_dims(conj(arrayed(x1, "x1")), (-2,)), arrayed(x2, "x2"))
    return reshape(out, (*out.shape[:-2], out.shape[-1]))


def inner(a: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None) -> Array:
    """Sum products over the last axes; a scalar multiplies. Source: ``jax.numpy.inner``.

    >>> import arrayport.numpy as anp
    >>> anp.inner(anp.ones((2, 3)), anp.arange(3.0))
    Array([3., 3.], dtype=float32)
    """
    x, y = arrayed(a, "a"), arrayed(b, "b")
    options = {"precision": precision, "preferred_element_type": preferred_element_type}
    axes: Any = ((-1,), (-1,)) if x.shape and y.shape else 0
    return tensordot(x, y, axes, **options)


@unit("a", "b")
def outer(a: Any, b: Any, out: None = None) -> Array:
    """Multiply every element of a by every one of b. Source: ``jax.numpy.outer``.

    >>> import arrayport.numpy as anp
    >>> anp.outer(anp.arange(2), anp.arange(2))
    Array([[0, 0],
           [0, 1]], dtype=int32)
    """
    no_out("outer", out)
    return ravel(a)[:, None] * ravel(b)[None, :]


@unit("a", "b")
def kron(a: Any, b: Any) -> Array:
    """Put a copy of b, multiplied, in the place of every element of a. Source: ``jax.numpy.kron``.

    >>> import arrayport.numpy as anp
    >>> anp.kron(anp.array([1, 2]), anp.array([1, 10]))
    Array([ 1, 10,  2, 20], dtype=int32)
    """
    x, y = arrayed(a, "a"), arrayed(b, "b")
    rank = max(len(x.shape), len(y.shape))
    x, y = (reshape(v, (1,) * (rank - len(v.shape)) + v.shape) for v in (x, y))
    big = expand_dims(x, tuple(range(1, 2 * rank, 2))) * expand_dims(
        y, tuple(range(0, 2 * rank, 2))
    )
    return reshape(big, [m * n for m, n in zip(x.shape, y.shape, strict=True)])


@unit("a", "b")
def cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Array:
    """Take the cross product of vectors of 3 components; ValueError for other vectors.

    Source: ``jax.numpy.cross``.

    >>> import arrayport.numpy as anp
    >>> anp.cross(anp.array([1, 0, 0]), anp.array([0, 1, 0]))
    Array([0, 0, 1], dtype=int32)
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = (strong(v) for v in promote_dtypes((a, b), "cross"))
    x, y = moveaxis(x, axisa, 0), moveaxis(y, axisb, 0)
    if x.shape[0] != 3 or y.shape[0] != 3:
        raise ValueError(f"cross takes vectors of 3 components, not {x.shape[0]} and {y.shape[0]}")
    (x0, x1, x2), (y0, y1, y2) = unstack(x), unstack(y)
    return stack([x1 * y2 - x2 * y1, x2 * y0 - x0 * y2, x0 * y1 - x1 * y0], axisc)


# ---- einsum

Operand = tuple[Array, str]

KNOWN = 256  # formulas, with their operands' shapes, that are looked at once


def einsum(
    subscripts: Any,
    /,
    *operands: Any,
    out: None = None,
    optimize: Any = "auto",
    precision: Any = None,
    preferred_element_type: Any = None,
    _dot_general: Callable[..., Array] = dot_general,
    out_sharding: Any = None,
) -> Array:
    """Sum products over the indices that a formula names: "ij,jk->ik".

    Letters are axes; those after "->" (or, without it, those named once, sorted) stay. "..." stands
    for axes that broadcast. Also `einsum(x, axes, y, axes, ..., out_axes)` with lists of integers.
    More than two operands are multiplied in the order that `optimize` finds, False from the left.
    Raises ValueError for a formula that does not fit. Source: ``jax.numpy.einsum``.

    >>> import arrayport.numpy as anp
    >>> anp.einsum("ij,j->i", anp.ones((2, 3)), anp.arange(3.0))
    Array([3., 3.], dtype=float32)
    """
    no_sharding(out_sharding, "einsum")
    no_out("einsum", out)
    formula, given = _formula(subscripts, operands)
    xs = promote_dtypes(given, "einsum")
    if len(xs) == 1 and preferred_element_type is not None:  # else products see to it
        xs = [convert(xs[0], dtype_or(preferred_element_type, xs[0].dtype))]
    inputs, output = _labels(formula, tuple([x.shape for x in xs]))
    terms: list[Operand] = [_diagonals(x, labels) for x, labels in zip(xs, inputs, strict=True)]
    product = partial(
        _dot_general, precision=precision, preferred_element_type=preferred_element_type
    )
    for pair in _order(terms, output, optimize):
        first, second = (terms[i] for i in pair)
        terms = [term for i, term in enumerate(terms) if i not in pair]
        kept = set(output).union(*[labels for _, labels in terms])
        first, second = (
            _summed(*first, kept.union(second[1])),
            _summed(*second, kept.union(first[1])),
        )
        terms.append(_contract(first, second, kept, product))
    x, labels = _summed(*terms[0], set(output))
    return transpose(x, [labels.index(c) for c in output])


def einsum_path(subscripts: Any, /, *operands: Any, optimize: Any = "auto") -> tuple[Any, str]:
    """Say which operands `einsum` multiplies, step by step, and what that costs, as text.

    `optimize` is "optimal", "greedy", False for one step, a path of one's own, or "auto", which is
    optimal for few operands. Source: ``jax.numpy.einsum_path``.

    >>> import arrayport.numpy as anp
    >>> x = anp.ones((2, 2))
    >>> anp.einsum_path("ij,jk,kl->il", x, x, x)[0]
    [(0, 1), (0, 1)]
    """
    formula, given = _formula(subscripts, operands)
    shapes = [arrayed(x, "operands").shape for x in given]
    _labels(formula, tuple(shapes))
    if optimize in ("auto", True):
        optimize = "optimal" if len(shapes) < 6 else "greedy"
    elif isinstance(optimize, list | tuple):
        optimize = ["einsum_path", *optimize]
    hollow = [np.broadcast_to(np.float32(0), shape) for shape in shapes]
    (_, *path), text = np.einsum_path(formula, *hollow, optimize=optimize)
    return path, text


def _formula(subscripts: Any, operands: Sequence[Any]) -> tuple[str, Sequence[Any]]:
    """Give the formula as text; lists of integers become letters."""
    if isinstance(subscripts, str):
        return subscripts.replace(" ", ""), operands
    parts = [subscripts, *operands]
    axes = parts[1::2]
    named = sorted({i for one in axes for i in one if i is not Ellipsis})
    letter = {i: chr(ord("a") + n) for n, i in enumerate(named)} | {Ellipsis: "..."}
    texts = ["".join(letter[i] for i in one) for one in axes]
    if len(parts) % 2:
        out = "".join(letter[i] for i in parts[-1])
        return f"{','.join(texts)}->{out}", parts[:-1:2]
    return ",".join(texts), parts[::2]


@lru_cache(KNOWN)
def _labels(formula: str, shapes: tuple[Shape, ...]) -> tuple[list[str], str]:
    """Name the axes of each operand and of the answer by letters, "..." by letters not used."""
    left, arrow, right = formula.partition("->")
    inputs = left.split(",")
    if len(inputs) != len(shapes):
        raise ValueError(f"einsum {formula!r} names {len(inputs)} operands, but got {len(shapes)}")
    free = (chr(c) for c in count(0x100) if chr(c) not in formula)
    ranks = [
        len(shape) - len(text.replace("...", ""))
        for text, shape in zip(inputs, shapes, strict=True)
        if "..." in text
    ]
    dots = "".join(next(free) for _ in range(max(ranks, default=0)))
    full = []
    for text, shape in zip(inputs, shapes, strict=True):
        own = len(shape) - len(text.replace("...", ""))
        if own < 0 or (own and "..." not in text):
            raise ValueError(
                f"einsum {formula!r}: {text!r} does not fit an operand of shape {shape}"
            )
        full.append(text.replace("...", dots[len(dots) - own :]))
    if not arrow:
        letters = "".join(full)
        right = dots + "".join(
            sorted(c for c in set(letters) if letters.count(c) == 1 and c not in dots)
        )
    right = right.replace("...", dots)
    if any(c not in "".join(full) for c in right) or len(set(right)) != len(right):
        raise ValueError(f"einsum {formula!r}: each index of the answer must be an operand's, once")
    sizes: dict[str, int] = {}
    for labels, shape in zip(full, shapes, strict=True):
        for c, n in zip(labels, shape, strict=True):
            if n != 1 and sizes.setdefault(c, n) != n:
                raise ValueError(f"einsum {formula!r}: index {c!r} has extents {sizes[c]} and {n}")
    return full, right


def _diagonals(x: Array, labels: str) -> Operand:
    """Keep the diagonal of axes that share a letter."""
    for c in dict.fromkeys(labels):
        while labels.count(c) > 1:
            i = labels.index(c)
            j = labels.index(c, i + 1)
            n = x.shape[i]
            rest = [k for k in range(len(labels)) if k not in (i, j)]
            x = transpose(x, [i, j, *rest])
            x = reshape(x, (n * n, *x.shape[2:]))
            x = slice_in_dim(x, 0, None, n + 1) if n else reshape(x, (0, *x.shape[1:]))
            labels = c + "".join(labels[k] for k in rest)
    return x, labels


def _summed(x: Array, labels: str, kept: set[str]) -> Operand:
    """Sum over the indices that nobody else needs."""
    axes = tuple(i for i, c in enumerate(labels) if c not in kept)
    return reduce_sum(x, axes), "".join(c for c in labels if c in kept)


def _order(terms: Sequence[Operand], output: str, optimize: Any) -> list[tuple[int, int]]:
    """Which two operands to multiply, step by step; the product comes last."""
    if len(terms) < 3 or optimize is False:
        return [(0, 1)] + [(0, n) for n in range(len(terms) - 2, 0, -1)] if len(terms) > 1 else []
    if isinstance(optimize, list | tuple):
        path = [tuple(step) for step in optimize if not isinstance(step, str)]
    else:
        table = {c: chr(97 + n) for n, c in enumerate(dict.fromkeys("".join(t for _, t in terms)))}
        names = ["".join(table[c] for c in labels) for _, labels in terms]
        text = f"{','.join(names)}->{''.join(table[c] for c in output)}"
        path = _greedy(text, tuple([x.shape for x, _ in terms]))
    steps: list[tuple[int, int]] = []
    for step in path:
        # A step over several operands is taken two at a time, the product being the last operand.
        size = len(terms) - len(steps)
        left = sorted(step)
        if len(left) == 1:
            continue
        steps.append((left[0], left[1]))
        for k, i in enumerate(left[2:], start=1):
            steps.append((i - k - 1, size - k - 1))
    return steps


@lru_cache(KNOWN)
def _greedy(formula: str, shapes: tuple[Shape, ...]) -> list[tuple[int, ...]]:
    """Find a good order by what each step costs."""
    hollow = [np.broadcast_to(np.float32(0), shape) for shape in shapes]
    path: list[tuple[int, ...]] = np.einsum_path(formula, *hollow, optimize="greedy")[0][1:]
    return path


def _contract(
    first: Operand, second: Operand, kept: set[str], product: Callable[..., Array]
) -> Operand:
    """Multiply two operands and sum over what both have and nobody else needs."""
    (x, a), (y, b) = first, second
    # An extent of 1 beside another extent stretches: it is no shared axis.
    for c in [c for c in a if c in b]:
        m, n = x.shape[a.index(c)], y.shape[b.index(c)]
        if m != n and m == 1:
            x, a = reduce_sum(x, (a.index(c),)), a.replace(c, "")
        elif m != n:
            y, b = reduce_sum(y, (b.index(c),)), b.replace(c, "")
    batch = [c for c in a if c in b and c in kept]
    summed = [c for c in a if c in b and c not in kept]
    dims = (
        ([a.index(c) for c in summed], [b.index(c) for c in summed]),
        ([a.index(c) for c in batch], [b.index(c) for c in batch]),
    )
    z = product(x, y, dims)
    free = [c for c in a if c not in b] + [c for c in b if c not in a]
    z_labels = "".join([*batch, *free])
    drop = {c for c in free if c not in kept}
    return _summed(z, z_labels, set(z_labels) - drop)
