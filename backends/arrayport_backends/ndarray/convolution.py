"""The kernel of convolution on NumPy and CuPy: windows gathered into a matrix, then a product."""

from __future__ import annotations

from math import prod
from typing import Any

from arrayport.ops.convolution import Convolution, conv_general_dilated_p, dilated
from arrayport_backends.ndarray.kernels import Kernel, Lib, Rows

BLOCK = 1 << 22  # bytes of gathered windows at a time, which a core's cache holds


def convolve(lib: Lib, lhs: Any, rhs: Any, **params: Any) -> Any:
    """Bring both to batch, groups, features, space; multiply; bring the answer to its layout."""
    conv = Convolution(**params)
    xp, numbers = lib.xp, conv.dimension_numbers
    if conv.preferred_element_type is not None:
        lhs, rhs = (a.astype(conv.preferred_element_type) for a in (lhs, rhs))
    dtype, boolean = lhs.dtype, lhs.dtype.kind == "b"
    if boolean:
        lhs, rhs = lhs.astype(xp.float32), rhs.astype(xp.float32)
    lhs, rhs = lhs.transpose(numbers.lhs_spec), rhs.transpose(numbers.rhs_spec)
    groups = conv.groups
    batch, features, *space = lhs.shape
    outs, ins, *window = rhs.shape
    if conv.batch_group_count > 1:
        lhs = lhs.reshape(groups, batch // groups, features, *space).swapaxes(0, 1)
        batch //= groups
    else:
        lhs = lhs.reshape(batch, groups, ins, *space)
    places = conv.places(space, window)
    out = xp.zeros((batch, groups, outs // groups, prod(places)), lhs.dtype)
    if out.size and rhs.size:
        weights = rhs.reshape(groups, outs // groups, -1)
        seen = _windows(lib, _spread(lib, lhs, conv), window, places, conv)
        step = max(1, BLOCK // (lhs.itemsize * prod(seen.shape[1:])))
        for i in range(0, batch, step):
            part = seen[i : i + step]
            columns = part.reshape(len(part), groups, weights.shape[-1], out.shape[-1])
            xp.matmul(weights, columns, out=out[i : i + step])
    out = out.reshape(batch, outs, *places).astype(dtype, copy=False)
    if boolean:
        out = out > 0
    spec = numbers.out_spec
    return out.transpose([spec.index(i) for i in range(len(spec))])


def _spread(lib: Lib, lhs: Any, conv: Convolution) -> Any:
    """Put the zeros of dilation and padding around the elements; negative padding cuts."""
    space = lhs.shape[3:]
    full = [dilated(n, d) for n, d in zip(space, conv.lhs_dilation, strict=True)]
    if full != list(space):
        wide = lib.xp.zeros((*lhs.shape[:3], *full), lhs.dtype)
        wide[(..., *[slice(None, None, d) for d in conv.lhs_dilation])] = lhs
        lhs = wide
    if any(lo or hi for lo, hi in conv.padding):
        total = [n + lo + hi for n, (lo, hi) in zip(full, conv.padding, strict=True)]
        wide = lib.xp.zeros((*lhs.shape[:3], *total), lhs.dtype)
        target, source = [], []
        for n, (lo, hi) in zip(full, conv.padding, strict=True):
            target.append(slice(max(lo, 0), max(n + lo + min(hi, 0), 0)))
            source.append(slice(max(-lo, 0), max(n + min(hi, 0), 0)))
        wide[(..., *target)] = lhs[(..., *source)]
        lhs = wide
    return lhs


def _windows(lib: Lib, lhs: Any, window: Any, places: Any, conv: Convolution) -> Any:
    """View lhs as batch, groups, features, window, places."""
    lead, steps = lhs.strides[:3], lhs.strides[3:]
    return lib.xp.lib.stride_tricks.as_strided(
        lhs,
        (*lhs.shape[:3], *window, *places),
        (
            *lead,
            *[s * r for s, r in zip(steps, conv.rhs_dilation, strict=True)],
            *[s * w for s, w in zip(steps, conv.window_strides, strict=True)],
        ),
    )


ROWS: Rows = {conv_general_dilated_p: Kernel(convolve, price=7.0)}
