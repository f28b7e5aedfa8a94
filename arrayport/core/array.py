"""Array, the one thin immutable class over every backend's raw array, and Tracer, its traced "
"form."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from arrayport.core import backend as backends
from arrayport.core import hooks
from arrayport.core.at import IndexUpdateHelper
from arrayport.core.errors import (
    ConcretizationTypeError,
    TracerArrayConversionError,
    TracerBoolConversionError,
    TracerIntegerConversionError,
    user_line,
)

if TYPE_CHECKING:
    from arrayport.core.trace import Trace


class Aval(NamedTuple):
    """What is known of an array before its values are: anything with these three attributes will "
    "do."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    weak: bool = False

    def __str__(self) -> str:
        return f"{self.dtype}[{','.join(map(str, self.shape))}]{'*' if self.weak else ''}"


def aval_of(x: Any) -> Aval:
    """Read shape, dtype and weakness off an Array, Tracer, Var or Aval."""
    return Aval(x.shape, x.dtype, x.weak)


class Array:
    """An immutable array: a raw value of some backend, and whether its dtype is weak.

    Made by `arrayport.numpy.asarray` and every operation, not by calling this class.
    """

    __slots__ = ("raw", "weak")
    __hash__ = None  # type: ignore[assignment]  # arrays compare elementwise
    __array_priority__ = 100

    def __init__(self, raw: Any, weak: bool = False) -> None:
        self.raw = raw
        self.weak = weak

    # ---- what it is

    @property
    def shape(self) -> tuple[int, ...]:
        """Extent of each axis."""
        return self.raw.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Element type, a NumPy dtype."""
        return self.raw.dtype

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return prod(self.shape)

    @property
    def itemsize(self) -> int:
        """Bytes an element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes in all."""
        return self.size * self.dtype.itemsize

    @property
    def weak_type(self) -> bool:
        """Whether the dtype gives way to others in promotion, as a Python scalar's does."""
        return self.weak

    @property
    def native(self) -> Any:
        """The backend's own array; writing to it is the caller's own risk."""
        return self.concrete()

    @property
    def device(self) -> backends.Device:
        """Where it lives."""
        raw = self.concrete()
        return home(raw).device_of(raw)

    def devices(self) -> set[backends.Device]:
        """The set of devices it lives on."""
        return {self.device}

    @property
    def at(self) -> IndexUpdateHelper:
        """Functional updates: `x.at[key].set(values)` is a new array."""
        return IndexUpdateHelper(self)

    @property
    def T(self) -> Array:
        """All axes reversed."""
        return hooks.operators.transpose(self)

    @property
    def mT(self) -> Array:
        """The last two axes exchanged."""
        return hooks.operators.matrix_transpose(self)

    @property
    def real(self) -> Array:
        """The real part."""
        return hooks.operators.real(self)

    @property
    def imag(self) -> Array:
        """The imaginary part."""
        return hooks.operators.imag(self)

    def concrete(
        self, error: type[Exception] = ConcretizationTypeError, use: str = "a value"
    ) -> Any:
        """The raw value; a tracer that has none raises `error`, naming the `use`."""
        return self.raw

    def block_until_ready(self) -> Array:
        """Wait for the value to be there, and give the array back."""
        raw = self.concrete()
        home(raw).wait(raw)
        return self

    # ------------------------------------------------------------------------------------ operators

    def __add__(self, other: Any) -> Array:
        return hooks.operators.add(self, other)

    def __radd__(self, other: Any) -> Array:
        return hooks.operators.add(other, self)

    def __sub__(self, other: Any) -> Array:
        return hooks.operators.subtract(self, other)

    def __rsub__(self, other: Any) -> Array:
        return hooks.operators.subtract(other, self)

    def __mul__(self, other: Any) -> Array:
        return hooks.operators.multiply(self, other)

    def __rmul__(self, other: Any) -> Array:
        return hooks.operators.multiply(other, self)

    def __truediv__(self, other: Any) -> Array:
        return hooks.operators.true_divide(self, other)

    def __rtruediv__(self, other: Any) -> Array:
        return hooks.operators.true_divide(other, self)

    def __floordiv__(self, other: Any) -> Array:
        return hooks.operators.floor_divide(self, other)

    def __rfloordiv__(self, other: Any) -> Array:
        return hooks.operators.floor_divide(other, self)

    def __mod__(self, other: Any) -> Array:
        return hooks.operators.remainder(self, other)

    def __rmod__(self, other: Any) -> Array:
        return hooks.operators.remainder(other, self)

    def __divmod__(self, other: Any) -> Array:
        return hooks.operators.divmod(self, other)

    def __rdivmod__(self, other: Any) -> Array:
        return hooks.operators.divmod(other, self)

    def __pow__(self, other: Any) -> Array:
        return hooks.operators.power(self, other)

    def __rpow__(self, other: Any) -> Array:
        return hooks.operators.power(other, self)

    def __matmul__(self, other: Any) -> Array:
        return hooks.operators.matmul(self, other)

    def __rmatmul__(self, other: Any) -> Array:
        return hooks.operators.matmul(other, self)

    def __and__(self, other: Any) -> Array:
        return hooks.operators.bitwise_and(self, other)

    def __rand__(self, other: Any) -> Array:
        return hooks.operators.bitwise_and(other, self)

    def __or__(self, other: Any) -> Array:
        return hooks.operators.bitwise_or(self, other)

    def __ror__(self, other: Any) -> Array:
        return hooks.operators.bitwise_or(other, self)

    def __xor__(self, other: Any) -> Array:
        return hooks.operators.bitwise_xor(self, other)

    def __rxor__(self, other: Any) -> Array:
        return hooks.operators.bitwise_xor(other, self)

    def __lshift__(self, other: Any) -> Array:
        return hooks.operators.left_shift(self, other)

    def __rlshift__(self, other: Any) -> Array:
        return hooks.operators.left_shift(other, self)

    def __rshift__(self, other: Any) -> Array:
        return hooks.operators.right_shift(self, other)

    def __rrshift__(self, other: Any) -> Array:
        return hooks.operators.right_shift(other, self)

    def __eq__(self, other: object) -> Array:  # type: ignore[override]
        return hooks.operators.equal(self, other)

    def __ne__(self, other: object) -> Array:  # type: ignore[override]
        return hooks.operators.not_equal(self, other)

    def __lt__(self, other: Any) -> Array:
        return hooks.operators.less(self, other)

    def __le__(self, other: Any) -> Array:
        return hooks.operators.less_equal(self, other)

    def __gt__(self, other: Any) -> Array:
        return hooks.operators.greater(self, other)

    def __ge__(self, other: Any) -> Array:
        return hooks.operators.greater_equal(self, other)

    def __neg__(self) -> Array:
        return hooks.operators.negative(self)

    def __pos__(self) -> Array:
        return hooks.operators.positive(self)

    def __abs__(self) -> Array:
        return hooks.operators.abs(self)

    def __invert__(self) -> Array:
        return hooks.operators.invert(self)

    def __round__(self, ndigits: int | None = None) -> Array:
        return hooks.operators.round(self, ndigits or 0)

    def __getitem__(self, key: Any) -> Array:
        return hooks.operators.getitem(self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        msg = f"an Array cannot change: write x = x.at[{_shown(key)}].set(...) ({user_line()})"
        raise TypeError(msg)

    def __delitem__(self, key: Any) -> None:
        msg = (
            f"an Array cannot change: build a new one without element {_shown(key)} ({user_line()})"
        )
        raise TypeError(msg)

    def __len__(self) -> int:
        if not self.shape:
            msg = "len() of a 0-dimensional array"
            raise TypeError(msg)
        return self.shape[0]

    def __iter__(self) -> Iterator[Array]:
        if not self.shape:
            msg = "iteration over a 0-dimensional array"
            raise TypeError(msg)
        return (self[i] for i in range(self.shape[0]))

    def __contains__(self, item: Any) -> bool:
        return bool(hooks.operators.any(hooks.operators.equal(self, item)))

    # ---- to Python, NumPy, others

    def __bool__(self) -> bool:
        return bool(
            _scalar(self, self.concrete(TracerBoolConversionError, "a truth value"), "bool")
        )

    def __int__(self) -> int:
        return int(_scalar(self, self.concrete(ConcretizationTypeError, "a Python int"), "int"))

    def __float__(self) -> float:
        return float(
            _scalar(self, self.concrete(ConcretizationTypeError, "a Python float"), "float")
        )

    def __complex__(self) -> complex:
        return complex(
            _scalar(self, self.concrete(ConcretizationTypeError, "a Python complex"), "complex")
        )

    def __index__(self) -> int:
        raw = self.concrete(TracerIntegerConversionError, "a Python index")
        return home(raw).to_numpy(raw).__index__()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        raw = self.concrete(TracerArrayConversionError, "a NumPy array")
        host = home(raw).to_numpy(raw)
        if dtype is not None and host.dtype != dtype:
            if copy is False:
                msg = (
                    f"a view of a {host.dtype} array as {np.dtype(dtype)} needs a copy; leave "
                    "copy=False out"
                )
                raise ValueError(msg)
            return host.astype(dtype)
        if copy:
            return host.copy()
        view = host.view()
        view.flags.writeable = False
        return view

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        return hooks.operators.numpy_ufunc(ufunc, method, inputs, options)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return hooks.operators.numpy_function(func, args, kwargs)

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        return hooks.operators.array_namespace(api_version)

    def __dlpack__(self, **options: Any) -> Any:
        return hooks.operators.to_dlpack(self, **options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.concrete().__dlpack_device__()

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return self.concrete().__cuda_array_interface__

    def __jax_array__(self) -> Any:
        return hooks.operators.to_jax(self)

    def __reduce__(self) -> tuple[Any, ...]:
        raw = self.concrete()
        return restore, (home(raw).to_numpy(raw), self.weak, home(raw).name)

    def __copy__(self) -> Array:
        return self

    def __deepcopy__(self, memo: Any) -> Array:
        return self

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if spec and not self.shape else str(self)

    def __str__(self) -> str:
        return str(self.__array__())

    def __repr__(self) -> str:
        body = np.array2string(self.__array__(), separator=", ", prefix="Array(")
        return f"Array({body}, dtype={self.dtype}{', weak_type=True' if self.weak else ''})"

    def item(self, *args: int) -> Any:
        """The one element, or the one at an index, as a Python scalar."""
        return self.__array__().item(*args)

    def tolist(self) -> Any:
        """Nested lists of Python scalars."""
        return self.__array__().tolist()

    def tobytes(self, order: Any = "C") -> bytes:
        """The elements as bytes."""
        return self.__array__().tobytes(order)

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

    def astype(self, *args: Any, **kwargs: Any) -> Array:
        """`arrayport.numpy.astype` of this array."""
        return hooks.operators.astype(self, *args, **kwargs)

    def choose(self, *args: Any, **kwargs: Any) -> Array:
        """`arrayport.numpy.choose` of this array."""
        return hooks.operators.choose(self, *args, **kwargs)

    def clip(self, *args: Any, **kwargs: Any) -> Array:
        """`arrayport.numpy.clip` of this array."""
        return hooks.operators.clip(self, *args, **kwargs)

    def compress(self, *args: Any, **kwargs: Any) -> Array:
        """`arrayport.numpy.compress` of this array."""
        return hooks.operators.compress(self, *args, **kwargs)

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

    def view(self, *args: Any, **kwargs: Any) -> Array:
        """`arrayport.numpy.view` of this array."""
        return hooks.operators.view(self, *args, **kwargs)

    def to_device(self, *args: Any, **kwargs: Any) -> Array:
        """`arrayport.numpy.to_device` of this array."""
        return hooks.operators.to_device(self, *args, **kwargs)

    def reshape(self, *shape: Any, order: str = "C") -> Array:
        """`arrayport.numpy.reshape`; the shape may be given as several integers."""
        return hooks.operators.reshape(self, shape[0] if len(shape) == 1 else shape, order)

    def transpose(self, *axes: Any) -> Array:
        """`arrayport.numpy.transpose`; the axes may be given as several integers."""
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes or None
        return hooks.operators.transpose(self, order)


class Tracer(Array):
    """A value that some trace watches. Subclasses add what their trace needs to know."""

    __slots__ = ("dtype", "shape", "trace")

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    trace: Trace

    def concrete(
        self, error: type[Exception] = ConcretizationTypeError, use: str = "a value"
    ) -> Any:
        advice = ADVICE.get(
            error, "compute it outside the traced function, or make it a static argument"
        )
        msg = (
            f"a traced array of {aval_of(self)} was used as {use} at {user_line()}, but it has no "
            f"value yet: {advice}"
        )
        raise error(msg)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        error, use = TracerArrayConversionError, "a NumPy array"
        msg = (
            f"a traced array of {aval_of(self)} was used as {use} at {user_line()}: {ADVICE[error]}"
        )
        raise error(msg)

    def __str__(self) -> str:
        return repr(self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}<{aval_of(self)}>"


ADVICE: dict[type[Exception], str] = {
    TracerBoolConversionError: "use lax.cond, lax.while_loop or numpy.where, or make the argument static (static_argnums)",
    TracerIntegerConversionError: "index with the array itself, or make the argument static (static_argnums)",
    TracerArrayConversionError: "use the function of the same name in arrayport.numpy, or arrayport.pure_callback",
}


def home(raw: Any) -> backends.Backend:
    """The backend of a raw value."""
    found = backends.by_type(type(raw))
    if found is None:
        msg = f"{type(raw).__module__}.{type(raw).__name__} is no backend's array"
        raise TypeError(msg)
    return found


def restore(host: np.ndarray[Any, Any], weak: bool, name: str) -> Array:
    """Rebuild a pickled Array on the backend it came from, else on the ambient one."""
    known = name in backends.entry_points()
    target = backends.get(name) if known else backends.ambient()
    return Array(target.asarray(host), weak)


def _scalar(x: Array, raw: Any, kind: str) -> Any:
    if x.size != 1 or (x.shape and kind != "bool"):
        msg = (
            f"only a 0-dimensional array converts to {kind}, this one is {aval_of(x)}: use .any(), "
            ".all() or .item()"
        )
        raise TypeError(msg) if kind != "bool" else ValueError(msg)
    return home(raw).to_numpy(raw).item()


def _shown(key: Any) -> str:
    return repr(key) if isinstance(key, int | str | slice | tuple | type(Ellipsis)) else "..."
