"""The simulated CuPy array: CuPy's rules outside, a NumPy array inside."""
# ruff: noqa: SLF001  -- the functions here open the array's box

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from arrayport.core.quiet import quiet
from arrayport_backends.cupy import facts
from arrayport_backends.cupy.indices import Host, host_key, write_first

CUDA_DEVICE, CPU_DEVICE = (2, 0), (1, 0)  # as DLPack numbers them
SUPPORTED = facts.dtypes()
SCALARS: dict[type, Any] = {  # what CuPy takes as operands: the dtype or weak type they count as
    **{dtype.type: dtype for dtype in SUPPORTED},
    int: int,
    float: float,
    complex: complex,
    bool: np.dtype(bool),
}


@dataclass(frozen=True)
class SimCapsule:
    """Stands for a DLPack capsule of device memory: nobody can open it, for there is none."""

    array: Any


@dataclass(frozen=True)
class SimDevice:
    """The one simulated CUDA device."""

    id: int = 0


def wrap(host: Host) -> SimArray:
    """Make a simulated array of a host array, sharing its memory; CuPy must have the dtype."""
    if host.dtype not in SUPPORTED:
        raise ValueError(f"Unsupported dtype {host.dtype}")
    array = object.__new__(SimArray)
    array._host = host
    return array


def wrap_result(result: Any) -> Any:
    """Make simulated arrays of a NumPy function's results: scalars become 0-d, the rest stays."""
    kind = type(result)
    if kind is np.ndarray:
        return wrap(result)
    if isinstance(result, np.generic):
        return wrap(np.asarray(result))
    if isinstance(result, tuple):
        return getattr(kind, "_make", tuple)([wrap_result(r) for r in result])
    return [wrap_result(r) for r in result] if kind is list else result


def unwrap(value: Any) -> Any:
    """Give what a NumPy function needs for an argument; NumPy arrays are refused, as CuPy does."""
    kind = type(value)
    if kind is SimArray:
        return value._host
    if kind is tuple or kind is list:
        return kind(unwrap(v) for v in value)
    if isinstance(value, np.ndarray):
        raise TypeError(f"Unsupported type {kind}: CuPy takes no NumPy array here; use `asarray`")
    return value


def unwrap_key(key: Any) -> Any:
    """Give an indexing key with host arrays in place of simulated ones; lists become arrays."""
    kind = type(key)
    if kind is SimArray:
        return key._host
    if kind is tuple:
        return tuple([unwrap_key(k) for k in key])
    return np.asarray(unwrap(key)) if kind is list and key else key


@quiet  # a GPU has no floating-point warnings
def quietly(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Call a function of NumPy's as a GPU would run it."""
    return function(*args, **kwargs)


def _method(name: str) -> Callable[..., Any]:
    def method(self: SimArray, *args: Any, **kwargs: Any) -> Any:
        return getattr(self.spaces["cupy"], name)(self, *args, **kwargs)

    return method


def _operator(name: str) -> tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]:
    """The operator and its reflection."""

    def forward(self: SimArray, other: Any) -> Any:
        if type(other) is SimArray or type(other) in SCALARS:
            return getattr(self.spaces["cupy"], name)(self, other)
        # through NumPy's function, so that the other's own `__array_ufunc__` has its say
        return NotImplemented if _defers(other) else getattr(np, name)(self, other)

    def reflected(self: SimArray, other: Any) -> Any:
        if type(other) in SCALARS:
            return getattr(self.spaces["cupy"], name)(other, self)
        return NotImplemented if _defers(other) else getattr(np, name)(other, self)

    return forward, reflected


def _in_place(name: str) -> Callable[[Any, Any], Any]:
    def operator(self: SimArray, other: Any) -> Any:
        return getattr(self.spaces["cupy"], name)(self, other, self)

    return operator


def _defers(other: Any) -> bool:
    protocol = getattr(other, "__array_ufunc__", ...)
    if protocol is not ...:
        return protocol is None
    return bool(getattr(other, "__array_priority__", 0) > SimArray.__array_priority__)


def _incomparable(other: Any) -> bool:
    return other is None or getattr(type(other), "__eq__", None) is object.__eq__


class SimArray:
    """An array on the simulated device; made by `xp.asarray(host)` and read back by `.get()`.

    >>> from arrayport_backends.cupy.simulation import xp
    >>> x = xp.asarray(np.arange(3.0))
    >>> (x + 1).get()
    array([1., 2., 3.])
    >>> x.sum()
    array(3.)
    >>> np.asarray(x)
    Traceback (most recent call last):
    TypeError: Implicit conversion to a NumPy array is not allowed. Please use `.get()` ...
    """

    __slots__ = ("__weakref__", "_host")
    __array_priority__ = 100
    __hash__ = None  # type: ignore[assignment]
    _host: Host
    # CuPy's modules by name; simulation.py, which stands above, gives them
    spaces: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, shape: Any, dtype: Any = float, order: str = "C") -> None:
        self._host = wrap(np.empty(shape, dtype, order))._host  # type: ignore[call-overload]

    # -- what it is

    dtype = property(lambda self: self._host.dtype)
    ndim = property(lambda self: self._host.ndim)
    size = property(lambda self: self._host.size)
    itemsize = property(lambda self: self._host.itemsize)
    nbytes = property(lambda self: self._host.nbytes)
    strides = property(lambda self: self._host.strides)
    flags = property(lambda self: self._host.flags)
    device = SimDevice()
    T = property(lambda self: wrap(self._host.T))
    mT = property(lambda self: wrap(self._host.mT))

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes; assigning reshapes in place."""
        return self._host.shape

    @shape.setter
    def shape(self, shape: Any) -> None:
        self._host = self._host.reshape(shape, copy=False)

    @property
    def real(self) -> SimArray:
        """The real part, a view; assigning writes it."""
        return wrap(self._host.real)

    @real.setter
    def real(self, value: Any) -> None:
        wrap(self._host.real)[...] = value

    @property
    def imag(self) -> SimArray:
        """The imaginary part, a view where the dtype is complex; assigning writes it."""
        return wrap(self._host.imag)

    @imag.setter
    def imag(self, value: Any) -> None:
        wrap(self._host.imag)[...] = value

    # -- to and from the host

    def get(
        self, stream: Any = None, order: str = "C", out: Any = None, blocking: bool = True
    ) -> Host:
        """Copy to a NumPy array."""
        if out is not None:
            np.copyto(out, self._host)
            return out
        return np.array(self._host, order=order)  # type: ignore[call-overload,no-any-return]

    def set(self, arr: Host, stream: Any = None) -> None:
        """Copy from a NumPy array of the same shape and dtype."""
        if not isinstance(arr, np.ndarray) or arr.shape != self.shape or arr.dtype != self.dtype:
            raise ValueError(
                f"set() needs a numpy.ndarray of shape {self.shape} and dtype {self.dtype}"
            )
        self._host[...] = arr

    def item(self) -> Any:
        """The single element as a Python scalar."""
        if self.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        return self._host.item()

    def __array__(self, dtype: Any = None, copy: Any = None) -> Host:
        raise TypeError(
            "Implicit conversion to a NumPy array is not allowed. "
            "Please use `.get()` to construct a NumPy array explicitly."
        )

    def __getattr__(self, name: str) -> Any:
        if name in ("__cuda_array_interface__", "data", "cstruct", "mdspan"):
            msg = f"{name}: a simulated CuPy array has no device memory to point to"
        elif name in facts.table()["ndarray"].split():
            msg = f"{name}: cupy.ndarray has this, but the simulation does not"
        else:
            msg = f"'cupy.ndarray' object has no attribute {name!r}"
        raise AttributeError(msg)

    def __dlpack_device__(self) -> tuple[int, int]:
        return CUDA_DEVICE

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: Any = None,
        dl_device: Any = None,
        copy: Any = None,
    ) -> Any:
        if dl_device in {None, CUDA_DEVICE}:
            return SimCapsule(self)
        if dl_device != CPU_DEVICE:
            raise BufferError(f"no array of device {CUDA_DEVICE} is exported to {dl_device}")
        if copy is False:
            raise ValueError("GPU memory cannot be exported to CPU without copy.")
        return self._host.copy().__dlpack__(max_version=max_version)

    def __reduce__(self) -> tuple[Any, ...]:
        return wrap, (self.get(order="A"),)

    def __copy__(self) -> SimArray:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> SimArray:
        return self.copy()

    def __bool__(self) -> bool:
        if self.size == 0:
            empty = "The truth value of an empty array is ambiguous. Use `array.size > 0` instead."
            warnings.warn(empty, DeprecationWarning, stacklevel=2)
            return False
        return bool(self._host)

    def __int__(self) -> int:
        return int(self._host)

    def __float__(self) -> float:
        return float(self._host)

    def __complex__(self) -> complex:
        return complex(self._host)

    def __repr__(self) -> str:
        return repr(self._host)

    def __str__(self) -> str:
        return str(self._host)

    def __format__(self, spec: str) -> str:
        return format(self._host, spec)

    def tolist(self) -> Any:
        """The elements as nested Python lists."""
        return self._host.tolist()

    def tobytes(self, order: Any = "C") -> bytes:
        """The elements' bytes."""
        return self._host.tobytes(order)

    # -- elements

    def __len__(self) -> int:
        return len(self._host)

    def __iter__(self) -> Iterator[SimArray]:
        if self.ndim == 0:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(len(self)))

    def __getitem__(self, key: Any) -> SimArray:
        place, kind = host_key(self._host.shape, unwrap_key(key))
        found = self._host[place]
        return wrap(found if kind == "basic" or found.base is None else found.copy())

    def __setitem__(self, key: Any, value: Any) -> None:
        place, kind = host_key(self._host.shape, unwrap_key(key))
        host = value._host if type(value) is SimArray else np.asarray(value, self.dtype)
        if kind == "basic" and host.ndim and type(value) is not SimArray:
            raise ValueError(f"CuPy assigns a scalar or its own array here, not a {type(value)}")
        if kind == "arrays":
            write_first(self._host, place, host)
        else:
            self._host[place] = host

    def fill(self, value: Any) -> None:
        """Write one scalar everywhere."""
        if np.ndim(value):
            raise ValueError("an array with axes cannot be used for fill")
        self[...] = value

    # -- shape and order

    def reshape(self, *shape: Any, order: str = "C", copy: Any = None) -> SimArray:
        """Give the same elements another shape, a view where that is possible."""
        return wrap(self._host.reshape(*shape, order=order, copy=copy))  # type: ignore[call-overload]

    def transpose(self, *axes: Any) -> SimArray:
        """Permute the axes, a view."""
        return wrap(self._host.transpose(*axes))

    def astype(
        self, dtype: Any, order: Any = "K", casting: Any = None, subok: Any = None, copy: Any = True
    ) -> Any:
        """Convert the elements; CuPy has no `casting`."""
        if casting is not None or subok is not None:
            raise TypeError(f"{'casting' if casting is not None else 'subok'} is not supported yet")
        host = quietly(self._host.astype, (dtype, order, "unsafe", True, bool(copy)), {})
        return self if host is self._host else wrap(host)

    def copy(self, order: Any = "C") -> SimArray:
        """Copy on the device."""
        return wrap(self._host.copy(order))

    def flatten(self, order: Any = "C") -> SimArray:
        """Copy to one dimension."""
        return wrap(self._host.flatten(order))

    def view(self, dtype: Any = None) -> SimArray:
        """Look at the same memory, with another dtype if asked."""
        return wrap(self._host.view() if dtype is None else self._host.view(dtype))

    def sort(self, axis: int = -1, kind: Any = None) -> None:
        """Sort in place; always stable."""
        self._host[...] = self.spaces["cupy"].sort(self, axis, kind)._host

    def partition(self, kth: Any, axis: int = -1) -> None:
        """Partition in place."""
        self._host.partition(kth, axis)

    all = _method("all")
    any = _method("any")
    argmax = _method("argmax")
    argmin = _method("argmin")
    argpartition = _method("argpartition")
    argsort = _method("argsort")
    choose = _method("choose")
    clip = _method("clip")
    conj = _method("conj")
    conjugate = _method("conjugate")
    cumprod = _method("cumprod")
    cumsum = _method("cumsum")
    diagonal = _method("diagonal")
    dot = _method("dot")
    max = _method("max")
    mean = _method("mean")
    min = _method("min")
    nonzero = _method("nonzero")
    prod = _method("prod")
    ptp = _method("ptp")
    put = _method("put")
    ravel = _method("ravel")
    repeat = _method("repeat")
    round = _method("round")
    searchsorted = _method("searchsorted")
    squeeze = _method("squeeze")
    std = _method("std")
    sum = _method("sum")
    swapaxes = _method("swapaxes")
    take = _method("take")
    trace = _method("trace")
    var = _method("var")

    # -- operators

    __neg__ = _method("negative")
    __abs__ = _method("absolute")
    __invert__ = _method("invert")
    __pos__ = _method("positive")
    __add__, __radd__ = _operator("add")
    __sub__, __rsub__ = _operator("subtract")
    __mul__, __rmul__ = _operator("multiply")
    __truediv__, __rtruediv__ = _operator("true_divide")
    __floordiv__, __rfloordiv__ = _operator("floor_divide")
    __mod__, __rmod__ = _operator("remainder")
    __divmod__, __rdivmod__ = _operator("divmod")
    __pow__, __rpow__ = _operator("power")
    __matmul__, __rmatmul__ = _operator("matmul")
    __and__, __rand__ = _operator("bitwise_and")
    __or__, __ror__ = _operator("bitwise_or")
    __xor__, __rxor__ = _operator("bitwise_xor")
    __lshift__, __rlshift__ = _operator("left_shift")
    __rshift__, __rrshift__ = _operator("right_shift")
    __iadd__ = _in_place("add")
    __isub__ = _in_place("subtract")
    __imul__ = _in_place("multiply")
    __itruediv__ = _in_place("true_divide")
    __ifloordiv__ = _in_place("floor_divide")
    __imod__ = _in_place("remainder")
    __ipow__ = _in_place("power")
    __iand__ = _in_place("bitwise_and")
    __ior__ = _in_place("bitwise_or")
    __ixor__ = _in_place("bitwise_xor")
    __ilshift__ = _in_place("left_shift")
    __irshift__ = _in_place("right_shift")
    __lt__, __gt__ = _operator("less")[0], _operator("greater")[0]
    __le__, __ge__ = _operator("less_equal")[0], _operator("greater_equal")[0]
    _equal, _not_equal = _operator("equal")[0], _operator("not_equal")[0]

    def __eq__(self, other: object) -> Any:
        return (
            self.spaces["cupy"].zeros(self.shape, bool)
            if _incomparable(other)
            else self._equal(other)
        )

    def __ne__(self, other: object) -> Any:
        return (
            self.spaces["cupy"].ones(self.shape, bool)
            if _incomparable(other)
            else self._not_equal(other)
        )

    # -- NumPy's functions called on it

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        out = kwargs.pop("out", ())
        known = all(
            type(x) in SCALARS or isinstance(x, (SimArray, np.ndarray)) for x in inputs + out
        )
        name = ufunc.__name__
        function = getattr(self.spaces["cupy"], name, None)
        function = function or getattr(self.spaces["cupyx.scipy.special"], name, None)
        if not known or function is None:
            return NotImplemented
        if out:
            kwargs["out"] = out[0] if len(out) == 1 else out
        call = function if method == "__call__" else getattr(function, method)
        return call(*inputs, **kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        space = self.spaces.get(func.__module__.replace("numpy", "cupy"))
        function = getattr(space, func.__name__, None)
        if function is None or not all(issubclass(t, (SimArray, np.ndarray)) for t in types):
            return NotImplemented
        return function(*args, **kwargs)
