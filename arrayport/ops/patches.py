"""The patches that a convolution sees, and convolution with a kernel of its own at each place."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from arrayport.core.array import Array
from arrayport.ops.convolution import ConvDimensionNumbers, conv_dimension_numbers
from arrayport.ops.pooling import sliding, windows
from arrayport.ops.products import dot_general, preferred_dtype
from arrayport.ops.promotion import lift, promote_dtypes
from arrayport.ops.structure import constant, convert, reshape, transpose


def conv_general_dilated_patches(
    lhs: Any,
    filter_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: Any,
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: Any = None,
    precision: Any = None,  # noqa: ARG001 - nothing is multiplied
    preferred_element_type: Any = None,
) -> Array:
    """Give what a convolution's window sees at each place, as features.

    Each feature of lhs becomes as many as a window of `filter_shape` has places, next to each
    other; the other arguments are those of `conv_general_dilated`. Source:
    ``jax.lax.conv_general_dilated_patches``.

    >>> from arrayport import lax
    >>> import arrayport.numpy as anp
    >>> lax.conv_general_dilated_patches(anp.ones((1, 3, 6, 6)), (2, 2), (1, 1), "VALID").shape
    (1, 12, 5, 5)
    """
    x = lift(lhs, None, "lhs")
    numbers = _numbers(x, filter_shape, dimension_numbers)
    out = _patches(*(x, numbers, filter_shape, window_strides, padding, lhs_dilation, rhs_dilation))
    wanted = preferred_dtype(x.dtype, preferred_element_type)
    out = out if wanted is None else convert(out, wanted)
    return transpose(out, _inverse(numbers.out_spec))


def conv_general_dilated_local(
    lhs: Any,
    rhs: Any,
    window_strides: Sequence[int],
    padding: Any,
    filter_shape: Sequence[int],
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: Any = None,
    precision: Any = None,
) -> Array:
    """Convolve with a kernel of its own at each place.

    rhs has, in the layout of its dimension numbers, the output's features, `conv_general_dilated_
    patches`' features, and the output's places. Source: ``jax.lax.conv_general_dilated_local``.

    >>> from arrayport import lax
    >>> import arrayport.numpy as anp
    >>> x, w = anp.ones((1, 3, 6, 6)), anp.ones((7, 12, 5, 5))
    >>> lax.conv_general_dilated_local(x, w, (1, 1), "VALID", (2, 2)).shape
    (1, 7, 5, 5)
    """
    x, w = promote_dtypes((lhs, rhs), "conv_general_dilated_local")
    numbers = _numbers(x, filter_shape, dimension_numbers)
    seen = _patches(
        *(x, numbers, filter_shape, window_strides, padding, lhs_dilation, rhs_dilation)
    )
    w = transpose(w, numbers.rhs_spec)
    space = tuple(range(2, len(x.shape)))
    if w.shape[1:] != seen.shape[1:]:
        raise ValueError(
            f"conv_general_dilated_local: rhs must have {seen.shape[1]} input features at places "
            f"{seen.shape[2:]}, not {w.shape[1]} at {w.shape[2:]}"
        )
    out = dot_general(seen, w, (((1,), (1,)), (space, space)), precision)
    rank = len(space)
    return transpose(transpose(out, (rank, rank + 1, *range(rank))), _inverse(numbers.out_spec))


def _numbers(x: Array, filter_shape: Sequence[int], given: Any) -> ConvDimensionNumbers:
    return conv_dimension_numbers(x.shape, (1, 1, *filter_shape), given)


def _inverse(spec: Sequence[int]) -> list[int]:
    return [spec.index(i) for i in range(len(spec))]


def _patches(
    x: Array,
    numbers: ConvDimensionNumbers,
    window: Sequence[int],
    strides: Sequence[int],
    padding: Any,
    base: Sequence[int] | None,
    steps: Sequence[int] | None,
) -> Array:
    """The patches in the default layout: batch, features times window, places."""
    x = transpose(x, numbers.lhs_spec)
    ones = (1,) * len(window)
    pads = padding if isinstance(padding, str) else ((0, 0), (0, 0), *padding)
    at = sliding(
        x.shape,
        (1, 1, *window),
        (1, 1, *strides),
        pads,
        (1, 1, *(ones if base is None else base)),
        (1, 1, *(ones if steps is None else steps)),
    )
    seen = windows(x, constant(0, x), at)
    rank = len(window)
    places = range(2, 2 + rank)
    inner = range(4 + rank, 4 + 2 * rank)
    single = (2 + rank, 3 + rank)
    seen = transpose(seen, (0, 1, *inner, *places, *single))
    extents = [seen.shape[i] for i in range(2 + rank, 2 + 2 * rank)]
    return reshape(seen, (x.shape[0], x.shape[1] * prod(window), *extents))
