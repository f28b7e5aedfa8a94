"""Hypothesis strategies for arrays and what goes with them, seeded with special values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from arrayport import numpy as anp
from arrayport.core import dtypes as types
from arrayport.core.array import Array
from arrayport.core.primitive import UNCOMMON

try:
    from hypothesis import strategies as st
    from hypothesis.extra import numpy as hnp
except ImportError as error:
    raise ImportError(
        'arrayport.testing.strategies needs hypothesis: pip install "arrayport[testing]"'
    ) from error

Strategy = st.SearchStrategy[Any]
SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.5, float("inf"), float("-inf"), float("nan"))


def dtypes(*kinds: str) -> Strategy:
    """Draw a dtype of these kinds, named as for `isdtype`; booleans and real numbers if none.

    64-bit types are among them while they are on.

    >>> from arrayport.testing import strategies
    >>> from hypothesis import find
    >>> find(strategies.dtypes("complex floating"), lambda dtype: True)
    dtype('complex64')
    """
    chosen = kinds or ("bool", "integral", "real floating")
    return st.deferred(
        lambda: st.sampled_from(list(anp.__array_namespace_info__().dtypes(kind=chosen).values()))
    )


def scalars(dtype: Any = "float32", *, special: bool = True, subnormals: bool = False) -> Strategy:
    """Draw a Python number that `dtype` holds exactly.

    `special`: now and then zeros of both signs, infinities, NaN, and the ends of the range; without
    it floats are finite. `subnormals`: floats below the smallest normal one too; XLA, and so JAX,
    takes them for zeros.

    >>> from arrayport.testing import strategies
    >>> from hypothesis import find
    >>> find(strategies.scalars("uint8", special=False), lambda number: number > 100)
    101
    """
    known = types.canonicalize(dtype)
    kind = types.kind(known)
    if kind == "b":
        return st.booleans()
    if kind in "iu":
        limits = types.iinfo(known)
        low, high = int(limits.min), int(limits.max)
        whole = st.integers(low, high)
        return st.sampled_from([0, 1, low, high]) | whole if special else whole
    if kind == "c":
        part = scalars(types.real_dtype(known), special=special, subnormals=subnormals)
        return st.builds(complex, part, part)
    info = types.finfo(known)
    plain = st.floats(
        info.min, info.max, allow_nan=False, width=64 if known.itemsize == 8 else 32
    ).map(lambda number: float(np.asarray(number).astype(known)))
    if not subnormals:
        plain = plain.map(lambda x: math.copysign(0.0, x) if abs(x) < info.smallest_normal else x)
    if not special:
        return plain.filter(np.isfinite)
    ends = (info.max, info.min, info.smallest_normal, info.eps)
    return st.sampled_from([*SPECIAL, *ends]) | plain


def shapes(
    *, min_dims: int = 0, max_dims: int = 3, min_side: int = 0, max_side: int = 4
) -> Strategy:
    """Draw a shape; those without axes and with axes of extent 0 are among them.

    >>> from arrayport.testing import strategies
    >>> from hypothesis import find
    >>> find(strategies.shapes(), lambda shape: len(shape) == 2 and 0 not in shape)
    (1, 1)
    """
    return hnp.array_shapes(
        min_dims=min_dims, max_dims=max_dims, min_side=min_side, max_side=max_side
    )


def mutually_broadcastable(count: int, *, max_dims: int = 3, max_side: int = 4) -> Strategy:
    """Draw so many shapes that broadcast together.

    >>> from arrayport.testing import strategies
    >>> from hypothesis import find
    >>> find(strategies.mutually_broadcastable(2), lambda shapes: () not in shapes)
    ((0,), (0,))
    """
    drawn = hnp.mutually_broadcastable_shapes(
        num_shapes=count, min_side=0, max_side=max_side, max_dims=max_dims
    )
    return drawn.map(lambda found: found.input_shapes)


def indices(shape: tuple[int, ...]) -> Strategy:
    """Draw a key of integers, slices, `...` and None that fits a shape.

    >>> from arrayport.testing import strategies
    >>> from hypothesis import find
    >>> find(strategies.indices((4,)), lambda key: True)
    (0,)
    """
    return hnp.basic_indices(shape, allow_newaxis=True)


@st.composite
def arrays(
    draw: st.DrawFn, dtype: Any = "float32", shape: Any = None, elements: Strategy | None = None
) -> Array:
    """Draw an Array of the ambient backend.

    `dtype`, `shape`: values or strategies; any of `shapes()` if None. `elements`: a strategy of
    numbers, else `scalars(dtype)`.

    >>> from arrayport.testing import strategies
    >>> from hypothesis import find
    >>> find(strategies.arrays("bool", (2,)), lambda x: bool(x.all()))
    Array([ True,  True], dtype=bool)
    """
    known = types.canonicalize(draw(dtype) if isinstance(dtype, st.SearchStrategy) else dtype)
    wanted = shapes() if shape is None else shape
    extents = draw(wanted) if isinstance(wanted, st.SearchStrategy) else wanted
    narrow = known.num >= UNCOMMON and types.is_inexact(known)
    drawn = hnp.arrays(
        np.float32 if narrow else known,
        extents,
        elements=scalars(known) if elements is None else elements,
    )
    return anp.asarray(draw(drawn).astype(known))
