"""Attention by scaled products of queries and keys."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.ops.creation import iota_like
from arrayport.ops.elementwise import logical_and, select, stop_gradient
from arrayport.ops.products import dot_general
from arrayport.ops.promotion import home_of, lift
from arrayport.ops.structure import broadcast_in_dim, constant, convert, reshape, transpose
from arrayport.scipy.exponentials import logsumexp, softmax

__all__ = ["dot_product_attention"]

# Letters of shapes: B batch, T queries, S keys and values, K their heads, G query heads for each,
# H features.


def dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    bias: Any = None,
    mask: Any = None,
    *,
    scale: float | None = None,
    is_causal: bool = False,
    query_seq_lengths: Any = None,
    key_value_seq_lengths: Any = None,
    local_window_size: int | tuple[int, int] | None = None,
    implementation: str | None = None,
    return_residual: bool = False,
) -> Any:
    """Mix values by the softmax of scaled products of queries with keys.

    `query` has shape (B, T, N, H), `key` and `value` (B, S, K, H), where K divides the N heads of
    queries; the batch may be left out. `bias` is added to the products and `mask` (bool) chooses
    among them: both broadcast to (B, N, T, S). `scale` is 1 / sqrt(H) unless given. With
    `is_causal` no query sees a later key, with `local_window_size` only so many before and behind,
    and the lengths (int32, of shape (B,)) cut what is padding. Products are summed in float32 at
    least. `return_residual` adds the logarithms of the sums, (B, T, N). Raises ValueError that
    names the argument, and for `implementation="cudnn"`, which only JAX has. Source:
    ``jax.nn.dot_product_attention``.

    >>> import arrayport.numpy as anp
    >>> from arrayport import nn
    >>> nn.dot_product_attention(*[anp.ones((1, 4, 2, 8))] * 3, is_causal=True).shape
    (1, 4, 2, 8)
    """
    if implementation not in {None, "xla"}:
        raise ValueError(
            f"implementation={implementation!r} is not here: leave it out, or call jax.nn's"
        )
    home = home_of(query, key, value, bias, mask)
    q, k, v = (
        _of_rank_4(lift(x, home, name), name)
        for x, name in ((query, "query"), (key, "key"), (value, "value"))
    )
    _check(q, k, v)
    logits = _logits(q, k, scale)
    if bias is not None:
        wide = logits.dtype
        logits = convert(logits + _grouped(lift(bias, home, "bias"), "bias", logits), wide)
    lengths = [
        None if x is None else _length(lift(x, home, name), q.shape[0], name)
        for x, name in (
            (query_seq_lengths, "query_seq_lengths"),
            (key_value_seq_lengths, "key_value_seq_lengths"),
        )
    ]
    chosen = _chosen(logits, is_causal, local_window_size, lengths)
    if mask is not None:
        chosen.append(_grouped(_bool(lift(mask, home, "mask")), "mask", logits))
    low = constant(-0.7 * float(dtypes.finfo(dtypes.float32).max), logits)
    for each in chosen:
        logits = select(broadcast_to_logits(each, logits), logits, low)
    logits = convert(logits, dtypes.float32)
    weights = convert(softmax(logits, axis=-1), k.dtype)
    mixed = dot_general(weights, v, (((4,), (1,)), ((0, 1), (0, 2))))  # (B, K, G, T, H)
    out = reshape(transpose(mixed, (0, 3, 1, 2, 4)), q.shape)
    if lengths[0] is not None:
        inside = iota_like(out, dtypes.int32, 1) < broadcast_in_dim(lengths[0], out.shape, (0,))
        out = select(inside, out, constant(0, out))
    out = reshape(out, lift(query).shape)
    if not return_residual:
        return out
    sums = convert(logsumexp(logits, axis=-1), k.dtype)
    sums = reshape(transpose(sums, (0, 3, 1, 2)), out.shape[:-1])
    return out, stop_gradient(sums)


def _of_rank_4(x: Array, name: str) -> Array:
    if not 3 <= len(x.shape) <= 4:
        raise ValueError(f"{name} must have 4 axes, or 3 without a batch, not shape {x.shape}")
    return x if len(x.shape) == 4 else reshape(x, (1, *x.shape))


def _check(q: Array, k: Array, v: Array) -> None:
    if v.shape != k.shape or not q.dtype == k.dtype == v.dtype:
        raise ValueError(
            "key and value must have one shape, and the query their dtype, not "
            f"{k.dtype}{list(k.shape)}, {v.dtype}{list(v.shape)} and {q.dtype}{list(q.shape)}"
        )
    if q.shape[0] != k.shape[0] or q.shape[3] != k.shape[3]:
        raise ValueError(f"query {q.shape} and key {k.shape} differ in batch or in features")
    if not k.shape[2] or q.shape[2] % k.shape[2]:
        raise ValueError(
            f"the query's {q.shape[2]} heads must be a multiple of the key's {k.shape[2]}"
        )


def _logits(q: Array, k: Array, scale: float | None) -> Array:
    """Scaled products of queries and keys, (B, K, G, T, S): heads as bias and mask order them."""
    b, t, n, h = q.shape
    heads = k.shape[2]
    seen = dot_general(
        reshape(q, (b, t, heads, n // heads, h)),
        k,
        (((4,), (3,)), ((0, 2), (0, 2))),
        preferred_element_type=dtypes.promote_types(q.dtype, dtypes.float32),
    )  # (B, K, T, G, S)
    return transpose(seen, (0, 1, 3, 2, 4)) * (1 / sqrt(h) if scale is None else scale)


def _bool(mask: Array) -> Array:
    if mask.dtype != dtypes.bool_:
        raise ValueError(f"mask must be bool, not {mask.dtype}: an additive one is a bias")
    return mask


def _grouped(x: Array, name: str, logits: Array) -> Array:
    """Give a bias or mask as (B, K, G, T, S), of which extents may be 1."""
    shape = (1,) * (4 - len(x.shape)) + x.shape
    heads, groups = logits.shape[1:3]
    if len(shape) != 4 or shape[1] not in {1, heads * groups}:
        raise ValueError(
            f"{name} of shape {x.shape} does not broadcast to (B, N, T, S) with {heads * groups} "
            "heads"
        )
    split = (1, 1) if shape[1] == 1 else (heads, groups)
    return reshape(x, (shape[0], *split, *shape[2:]))


def _length(x: Array, batch: int, name: str) -> Array:
    if x.shape != (batch,) or x.dtype != dtypes.int32:
        raise ValueError(f"{name} must be int32 of shape ({batch},), not {x.dtype}{list(x.shape)}")
    return x


def _chosen(
    logits: Array,
    is_causal: bool,
    window: int | tuple[int, int] | None,
    lengths: Sequence[Array | None],
) -> list[Array]:
    """Which of the logits (B, K, G, T, S) count: each test apart."""
    found = []
    shape = logits.shape[3:]
    t, s = (iota_like(logits, dtypes.int32, axis, shape) for axis in (0, 1))
    if is_causal:
        found.append(s <= t)
    if window is not None:
        before, behind = (window, window) if isinstance(window, int) else window
        found.append(logical_and(t <= s + before, t >= s - behind))
    for axis, length in zip((3, 4), lengths, strict=True):
        if length is not None:
            place = iota_like(logits, dtypes.int32, axis)
            found.append(place < broadcast_in_dim(length, logits.shape, (0,)))
    return found


def broadcast_to_logits(x: Array, logits: Array) -> Array:
    """Stretch what has the last axes of the logits."""
    rank = len(logits.shape)
    return broadcast_in_dim(x, logits.shape, range(rank - len(x.shape), rank))
