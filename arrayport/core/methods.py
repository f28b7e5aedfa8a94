"""The operators and methods of Array: each calls the function of that name by the hook."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from arrayport.core import hooks
from arrayport.core.errors import ForeignOperandError

if TYPE_CHECKING:
    from arrayport.core.array import Array


# What Python's own containers do with an operand on their left is to repeat themselves.
REPEATING = (Sequence, memoryview)


def reflected(x: Any, name: str, other: Any, error: Exception) -> Any:
    """What the operator of another library's class makes of `x` on its left, else the error."""
    method = getattr(type(other), name, None)
    if method is None or isinstance(other, REPEATING):
        raise error
    out = method(other, x)
    if out is NotImplemented:
        raise error
    return out


class Methods:  # noqa: PLW1641 - Array says that it has no hash
    """What Array inherits: NumPy's operators and methods, without a word about how they work."""

    __slots__ = ()

    # ---- operators

    def __add__(self, other: Any) -> Array:
        try:
            return hooks.operators.add(self, other)
        except ForeignOperandError as error:
            return reflected(self, "__radd__", other, error)

    def __radd__(self, other: Any) -> Array:
        return hooks.operators.add(other, self)

    def __sub__(self, other: Any) -> Array:
        try:
            return hooks.operators.subtract(self, other)
        except ForeignOperandError as error:
            return reflected(self, "__rsub__", other, error)

    def __rsub__(self, other: Any) -> Array:
        return hooks.operators.subtract(other, self)

    def __mul__(self, other: Any) -> Array:
        try:
            return hooks.operators.multiply(self, other)
        except ForeignOperandError as error:
            return reflected(self, "__rmul__", other, error)

    def __rmul__(self, other: Any) -> Array:
        return hooks.operators.multiply(other, self)

    def __truediv__(self, other: Any) -> Array:
        try:
            return hooks.operators.true_divide(self, other)
        except ForeignOperandError as error:
            return reflected(self, "__rtruediv__", other, error)

    def __rtruediv__(self, other: Any) -> Array:
        return hooks.operators.true_divide(other, self)

    def __floordiv__(self, other: Any) -> Array:
        try:
            return hooks.operators.floor_divide(self, other)
        except ForeignOperandError as error:
            return reflected(self, "__rfloordiv__", other, error)

    def __rfloordiv__(self, other: Any) -> Array:
        return hooks.operators.floor_divide(other, self)

    def __mod__(self, other: Any) -> Array:
        try:
            return hooks.operators.remainder(self, other)
        except ForeignOperandError as error:
            return reflected(self, "__rmod__", other, error)

    def __rmod__(self, other: Any) -> Array:
        return hooks.operators.remainder(other, self)

    def __divmod__(self, other: Any) -> Array:
        try:
            return hooks.operators.divmod(self, other)
        except ForeignOperandError as error:
            return reflected(self, "__rdivmod__", other, error)

    def __rdivmod__(self, other: Any) -> Array:
        return hooks.operators.divmod(other, self)

    def __pow__(self, other: Any) -> Array:
        try:
            return hooks.operators.power(self, other)
        except ForeignOperandError as error:
            return reflected(self, "__rpow__", other, error)

    def __rpow__(self, other: Any) -> Array:
        return hooks.operators.power(other, self)

    def __matmul__(self, other: Any) -> Array:
        try:
            return hooks.operators.matmul(self, other)
        except ForeignOperandError as error:
            return reflected(self, "__rmatmul__", other, error)

    def __rmatmul__(self, other: Any) -> Array:
        return hooks.operators.matmul(other, self)

    def __and__(self, other: Any) -> Array:
        try:
            return hooks.operators.bitwise_and(self, other)
        except ForeignOperandError as error:
            return reflected(self, "__rand__", other, error)

    def __rand__(self, other: Any) -> Array:
        return hooks.operators.bitwise_and(other, self)

    def __or__(self, other: Any) -> Array:
        try:
            return hooks.operators.bitwise_or(self, other)
        except ForeignOperandError as error:
            return reflected(self, "__ror__", other, error)

    def __ror__(self, other: Any) -> Array:
        return hooks.operators.bitwise_or(other, self)

    def __xor__(self, other: Any) -> Array:
        try:
            return hooks.operators.bitwise_xor(self, other)
        except ForeignOperandError as error:
            return reflected(self, "__rxor__", other, error)

    def __rxor__(self, other: Any) -> Array:
        return hooks.operators.bitwise_xor(other, self)

    def __lshift__(self, other: Any) -> Array:
        try:
            return hooks.operators.left_shift(self, other)
        except ForeignOperandError as error:
            return reflected(self, "__rlshift__", other, error)

    def __rlshift__(self, other: Any) -> Array:
        return hooks.operators.left_shift(other, self)

    def __rshift__(self, other: Any) -> Array:
        try:
            return hooks.operators.right_shift(self, other)
        except ForeignOperandError as error:
            return reflected(self, "__rrshift__", other, error)

    def __rrshift__(self, other: Any) -> Array:
        return hooks.operators.right_shift(other, self)

    def __eq__(self, other: object) -> Array:  # type: ignore[override]
        if other is None or type(other) is str:
            return NotImplemented  # so that Python answers False, as for JAX's arrays
        try:
            return hooks.operators.equal(self, other)
        except ForeignOperandError as error:
            return reflected(self, "__eq__", other, error)

    def __ne__(self, other: object) -> Array:  # type: ignore[override]
        if other is None or type(other) is str:
            return NotImplemented
        try:
            return hooks.operators.not_equal(self, other)
        except ForeignOperandError as error:
            return reflected(self, "__ne__", other, error)

    def __lt__(self, other: Any) -> Array:
        try:
            return hooks.operators.less(self, other)
        except ForeignOperandError as error:
            return reflected(self, "__gt__", other, error)

    def __le__(self, other: Any) -> Array:
        try:
            return hooks.operators.less_equal(self, other)
        except ForeignOperandError as error:
            return reflected(self, "__ge__", other, error)

    def __gt__(self, other: Any) -> Array:
        try:
            return hooks.operators.greater(self, other)
        except ForeignOperandError as error:
            return reflected(self, "__lt__", other, error)

    def __ge__(self, other: Any) -> Array:
        try:
            return hooks.operators.greater_equal(self, other)
        except ForeignOperandError as error:
            return reflected(self, "__le__", other, error)

    def __neg__(self) -> Array:
        return hooks.operators.negative(self)

    def __pos__(self) -> Array:
        return hooks.operators.positive(self)

    def __abs__(self) -> Array:
        return hooks.operators.abs(self)

    def __invert__(self) -> Array:
        return hooks.operators.invert(self)

    def __round__(self, ndigits: int | None = None) -> Array:
        rounded = hooks.operators.round(self, ndigits or 0)
        return hooks.operators.astype(rounded, int) if ndigits is None else rounded

    def __getitem__(self, key: Any) -> Array:
        return hooks.operators.getitem(self, key)

    # ---- methods

    def all(self, *args: Any, **kwargs: Any) -> Array:
        """`arrayport.numpy.all` of this array."""
        return hooks.operators.all(self, *args, **kwargs)

    def any(self, *args: Any, **kwargs: Any) -> Array:
        """`arrayport.numpy.any` of this array."""
        return hooks.operators.any(self, *args, **kwargs)

    def argmax(self, *args: Any, **kwargs: Any) -> Array:
        """`arrayport.numpy.argmax` of this array."""
        return hooks.operators.argmax(self, *args, **kwargs)

    def argmin(self, *args: Any, **kwargs: Any) -> Array:
        """`arrayport.numpy.argmin` of this array."""
        return hooks.operators.argmin(self, *args, **kwargs)

    def argpartition(self, *args: Any, **kwargs: Any) -> Array:
        """`arrayport.numpy.argpartition` of this array."""
        return hooks.operators.argpartition(self, *args, **kwargs)

    def argsort(self, *args: Any, **kwargs: Any) -> Array:
        """`arrayport.numpy.argsort` of this array."""
        return hooks.operators.argsort(self, *args, **kwargs)

    def astype(self, dtype: Any, copy: bool = False, device: Any = None) -> Array:
        """`arrayport.numpy.astype` of this array."""
        return hooks.operators.astype(self, dtype, copy=copy, device=device)

    def byteswap(self) -> Array:
        """Reverse the bytes of each element. Source: `jax.Array.byteswap`."""
        return hooks.operators.byteswap(self)

    def choose(self, *args: Any, **kwargs: Any) -> Array:
        """`arrayport.numpy.choose` of this array."""
        return hooks.operators.choose(self, *args, **kwargs)

    def clip(self, *args: Any, **kwargs: Any) -> Array:
        """`arrayport.numpy.clip` of this array."""
        return hooks.operators.clip(self, *args, **kwargs)

    def compress(self, condition: Any, *args: Any, **kwargs: Any) -> Array:
        """`arrayport.numpy.compress` of this array."""
        return hooks.operators.compress(condition, self, *args, **kwargs)

    def conj(self, *args: Any, **kwargs: Any) -> Array:
        """`arrayport.numpy.conj` of this array."""
        return hooks.operators.conj(self, *args, **kwargs)

    def conjugate(self, *args: Any, **kwargs: Any) -> Array:
        """`arrayport.numpy.conjugate` of this array."""
        return hooks.operators.conjugate(self, *args, **kwargs)

    def copy(self, *args: Any, **kwargs: Any) -> Array:
        """`arrayport.numpy.copy` of this array."""
        return hooks.operators.copy(self, *args, **kwargs)

    def cumprod(self, *args: Any, **kwargs: Any) -> Array:
        """`arrayport.numpy.cumprod` of this array."""
        return hooks.operators.cumprod(self, *args, **kwargs)

    def cumsum(self, *args: Any, **kwargs: Any) -> Array:
        """`arrayport.numpy.cumsum` of this array."""
        return hooks.operators.cumsum(self, *args, **kwargs)

    def diagonal(self, *args: Any, **kwargs: Any) -> Array:
        """`arrayport.numpy.diagonal` of this array."""
        return hooks.operators.diagonal(self, *args, **kwargs)

    def dot(self, *args: Any, **kwargs: Any) -> Array:
        """`arrayport.numpy.dot` of this array."""
        return hooks.operators.dot(self, *args, **kwargs)

    def flatten(self, *args: Any, **kwargs: Any) -> Array:
        """`arrayport.numpy.flatten` of this array."""
        return hooks.operators.flatten(self, *args, **kwargs)

    def max(self, *args: Any, **kwargs: Any) -> Array:
        """`arrayport.numpy.max` of this array."""
        return hooks.operators.max(self, *args, **kwargs)

    def mean(self, *args: Any, **kwargs: Any) -> Array:
        """`arrayport.numpy.mean` of this array."""
        return hooks.operators.mean(self, *args, **kwargs)

    def min(self, *args: Any, **kwargs: Any) -> Array:
        """`arrayport.numpy.min` of this array."""
        return hooks.operators.min(self, *args, **kwargs)

    def nonzero(self, *args: Any, **kwargs: Any) -> Array:
        """`arrayport.numpy.nonzero` of this array."""
        return hooks.operators.nonzero(self, *args, **kwargs)

    def prod(self, *args: Any, **kwargs: Any) -> Array:
        """`arrayport.numpy.prod` of this array."""
        return hooks.operators.prod(self, *args, **kwargs)

    def ptp(self, *args: Any, **kwargs: Any) -> Array:
        """`arrayport.numpy.ptp` of this array."""
        return hooks.operators.ptp(self, *args, **kwargs)

    def ravel(self, *args: Any, **kwargs: Any) -> Array:
        """`arrayport.numpy.ravel` of this array."""
        return hooks.operators.ravel(self, *args, **kwargs)

    def repeat(self, *args: Any, **kwargs: Any) -> Array:
        """`arrayport.numpy.repeat` of this array."""
        return hooks.operators.repeat(self, *args, **kwargs)

    def round(self, *args: Any, **kwargs: Any) -> Array:
        """`arrayport.numpy.round` of this array."""
        return hooks.operators.round(self, *args, **kwargs)

    def searchsorted(self, *args: Any, **kwargs: Any) -> Array:
        """`arrayport.numpy.searchsorted` of this array."""
        return hooks.operators.searchsorted(self, *args, **kwargs)

    def sort(self, *args: Any, **kwargs: Any) -> Array:
        """`arrayport.numpy.sort` of this array."""
        return hooks.operators.sort(self, *args, **kwargs)

    def squeeze(self, *args: Any, **kwargs: Any) -> Array:
        """`arrayport.numpy.squeeze` of this array."""
        return hooks.operators.squeeze(self, *args, **kwargs)

    def std(self, *args: Any, **kwargs: Any) -> Array:
        """`arrayport.numpy.std` of this array."""
        return hooks.operators.std(self, *args, **kwargs)

    def sum(self, *args: Any, **kwargs: Any) -> Array:
        """`arrayport.numpy.sum` of this array."""
        return hooks.operators.sum(self, *args, **kwargs)

    def swapaxes(self, *args: Any, **kwargs: Any) -> Array:
        """`arrayport.numpy.swapaxes` of this array."""
        return hooks.operators.swapaxes(self, *args, **kwargs)

    def take(self, *args: Any, **kwargs: Any) -> Array:
        """`arrayport.numpy.take` of this array."""
        return hooks.operators.take(self, *args, **kwargs)

    def trace(self, *args: Any, **kwargs: Any) -> Array:
        """`arrayport.numpy.trace` of this array."""
        return hooks.operators.trace(self, *args, **kwargs)

    def var(self, *args: Any, **kwargs: Any) -> Array:
        """`arrayport.numpy.var` of this array."""
        return hooks.operators.var(self, *args, **kwargs)

    def view(self, dtype: Any = None, type: None = None) -> Array:
        """`arrayport.numpy.view` of this array; there is no other `type` that it could have."""
        if type is not None:
            raise NotImplementedError(f"view takes no type, got {type!r}: give dtype alone")
        return hooks.operators.view(self, dtype)

    def to_device(self, device: Any, /, *, stream: Any = None) -> Array:
        """Move to a device. Source: the array API's ``to_device``."""
        return hooks.operators.to_device(self, device, stream=stream)

    def reshape(self, *shape: Any, order: str = "C") -> Array:
        """`arrayport.numpy.reshape`; the shape may be given as several integers."""
        return hooks.operators.reshape(self, shape[0] if len(shape) == 1 else shape, order)

    def transpose(self, *axes: Any) -> Array:
        """`arrayport.numpy.transpose`; the axes may be given as several integers."""
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes or None
        return hooks.operators.transpose(self, order)
