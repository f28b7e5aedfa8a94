"""Kernels of products on NumPy and CuPy: reshaped to matrices, so that BLAS does the work."""

from __future__ import annotations

from math import prod
from typing import Any

from arrayport.core import dtypes
from arrayport.ops.products import COLUMNS_ROWS, NO_AXES, dot_general_p, free_axes
from arrayport_backends.ndarray.kernels import Kernel, Lib, Rows
from arrayport_backends.ndarray.scalars import Builder, DType, Scalar

Axes = tuple[int, ...]


def dot_general(
    lib: Lib,
    x: Any,
    y: Any,
    contract: tuple[Axes, Axes],
    batch: tuple[Axes, Axes],
    preferred_element_type: Any,
    precision: Any = None,  # noqa: ARG001 - these libraries always compute in full
) -> Any:
    """Bring both operands to stacks of matrices, multiply, and unfold the axes."""
    if preferred_element_type is not None:
        x, y = (_cast(a, preferred_element_type) for a in (x, y))
    if contract == COLUMNS_ROWS and batch == NO_AXES and x.ndim == y.ndim == 2:
        return x.dot(y)
    (cx, cy), (bx, by) = contract, batch
    if len(cx) == 1 and not bx and x.ndim == y.ndim == 2 and x.shape[cx[0]] > 1:
        return (x if cx[0] else x.T).dot(y.T if cy[0] else y)
    own, other = x.shape, y.shape
    fx, fy = free_axes(len(own), cx, bx), free_axes(len(other), cy, by)
    lead, rows, columns = [own[i] for i in bx], [own[i] for i in fx], [other[i] for i in fy]
    inner = prod([own[i] for i in cx])
    if not y.size and [own[i] for i in cx + bx] != [other[i] for i in cy + by]:
        raise ValueError  # reshaping would not notice: the abstract rule says what is wrong
    shape = (*lead, *rows, *columns)
    if x.dtype.kind == "b":
        # A sum of booleans is whether any is true, which not every library's matmul gives.
        wide = lib.xp.float32
        x, y = x.astype(wide), y.astype(wide)
        return dot_general(lib, x, y, contract, batch, None) > 0
    x = x.transpose(*bx, *fx, *cx)
    y = y.transpose(*by, *cy, *fy)
    if inner == 1 or not x.shape:
        # One product each: no sum, and the zeros keep their signs.
        return lib.xp.multiply(
            x.reshape((*lead, *rows, *[1] * len(columns))),
            y.reshape((*lead, *[1] * len(rows), *columns)),
        )
    x = x.reshape(*lead, prod(rows), inner)
    y = y.reshape(*lead, inner, prod(columns))
    if lead:
        return lib.xp.matmul(_dense(lib, x), _dense(lib, y)).reshape(shape)
    return lib.xp.dot(x, y).reshape(shape)


def sum_of_products(
    b: Builder, *xs: Scalar, preferred_element_type: DType | None, **_params: Any
) -> Scalar:
    """One element of a product from the pairs of elements that it sums, in the scalar language."""
    dtype = preferred_element_type or xs[0].dtype
    total = b.constant(0, dtype)
    for pair in zip(xs[::2], xs[1::2], strict=True):
        x, y = (b.cast(v, dtype) for v in pair)
        if dtype == dtypes.bool_:
            total = total | (x & y)
        elif dtype.kind != "c":
            total = _with_product(b, total, x, y)
        else:
            (p, q), (r, s), (u, v) = total.code, x.code, y.code
            real = _with_product(b, _with_product(b, p, r, u), -s, v)
            total = b.complex(real, _with_product(b, _with_product(b, q, r, v), s, u))
    return total


def _with_product(b: Builder, total: Scalar, x: Scalar, y: Scalar) -> Scalar:
    return b.add(total, b.mul(x, y, contract=True), contract=True)


def _cast(x: Any, dtype: Any) -> Any:
    """Cast to the dtype of the sum; of a complex operand the real part, as XLA does."""
    if x.dtype.kind == "c" and not dtypes.is_complex(dtype):
        x = x.real
    return x.astype(dtype, copy=False)


def _dense(lib: Lib, x: Any) -> Any:
    """A stack of matrices that BLAS can read: one of the last two axes has unit stride."""
    if x.itemsize in x.strides[-2:] or x.dtype.kind not in "fc":
        return x
    return lib.xp.ascontiguousarray(x)


ROWS: Rows = {dot_general_p: Kernel(dot_general, scalar=sum_of_products, price=1.0)}
