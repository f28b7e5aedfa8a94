"""Array, the thin immutable class over every backend's raw array, and Tracer."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from arrayport.core import backend as backends
from arrayport.core import dtypes, hooks
from arrayport.core.at import IndexUpdateHelper
from arrayport.core.errors import (
    ConcretizationTypeError,
    TracerArrayConversionError,
    TracerBoolConversionError,
    TracerIntegerConversionError,
    user_line,
)
from arrayport.core.guards import transfer
from arrayport.core.meshes import AbstractMesh
from arrayport.core.methods import Methods
from arrayport.core.shardings import (
    NamedSharding,
    PartitionSpec,
    Shard,
    Sharding,
    SingleDeviceSharding,
)

if TYPE_CHECKING:
    from arrayport.core.trace import Trace

NO_MESH = AbstractMesh((), ())
new = tuple.__new__  # a NamedTuple's own constructor is twice as slow


class Aval(NamedTuple):
    """What is known of an array before its values; anything with these attributes will do."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    weak: bool = False

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return prod(self.shape)

    @property
    def weak_type(self) -> bool:
        """The same as `weak`, by JAX's name."""
        return self.weak

    @property
    def sharding(self) -> NamedSharding:
        """A division along no axis of no mesh: types say nothing here of where arrays are."""
        return NamedSharding(NO_MESH, PartitionSpec(*[None] * self.ndim))

    def __str__(self) -> str:
        shape = ",".join(map(str, self.shape))
        return f"{dtypes.name(self.dtype)}[{shape}]{'*' if self.weak else ''}"


def aval_of(x: Any) -> Aval:
    """Read shape, dtype and weakness off an Array, Tracer, Var or Aval."""
    return Aval(x.shape, x.dtype, x.weak)


class Array(Methods):
    """An immutable array: a raw value of some backend, and whether its dtype is weak.

    Made by `arrayport.numpy.asarray` and every operation, not by calling this class. Source:
    ``jax.Array``.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> x = anp.asarray([1.0, 2.0])
    >>> isinstance(x, ap.Array), x.at[0].set(5.0)
    (True, Array([5., 2.], dtype=float32))
    """

    # No slots: CPython makes instances of a class without them half as fast again.
    __hash__ = None  # type: ignore[assignment]  # arrays compare elementwise
    __array_priority__ = 100

    placement: Sharding | None = None  # a PlacedArray's

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
        raw = self.raw
        if type(raw) is np.ndarray:
            return raw.dtype
        own = raw.dtype
        return own if isinstance(own, np.dtype) else dtypes.key  # else JAX's, of typed keys

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
        """The backend's own array or tracer; writing to it is the caller's own risk."""
        return self.concrete() if isinstance(self, Tracer) else self.raw

    @property
    def device(self) -> backends.Device:
        """Where it lives; of several devices the first."""
        if self.placement is not None:
            return self.placement.device_list[0]
        raw = self.concrete()
        return home(raw).device_of(raw)

    def devices(self) -> set[backends.Device]:
        """The set of devices it lives on."""
        return self.sharding.device_set

    @property
    def sharding(self) -> Sharding:
        """Which part of it is on which device."""
        if self.placement is not None:
            return self.placement
        raw = self.concrete()
        return home(raw).sharding(raw) or SingleDeviceSharding(self.device)

    @property
    def addressable_shards(self) -> list[Shard]:
        """Its parts, device by device."""
        raw = self.concrete()
        return home(raw).shards(raw) or [
            Shard(device, index, replica, self._part(index, device))
            for device, index, replica in self.sharding.parts(self.shape)
        ]

    def _part(self, index: tuple[slice, ...], device: backends.Device) -> Array:
        part = self.raw[index] if index else self.raw
        return PlacedArray(part, self.weak, SingleDeviceSharding(device))

    @property
    def global_shards(self) -> list[Shard]:
        """The same: all devices are this process's."""
        return self.addressable_shards

    @property
    def aval(self) -> Aval:
        """Shape, dtype and weakness alone."""
        return aval_of(self)

    @property
    def committed(self) -> bool:
        """Whether operations stay on the device that it is on: always."""
        return True

    @property
    def is_fully_addressable(self) -> bool:
        """Whether all of it is on devices of this process: always."""
        return True

    @property
    def is_fully_replicated(self) -> bool:
        """Whether every one of its devices holds all of it."""
        return self.sharding.is_fully_replicated

    def addressable_data(self, index: int) -> Array:
        """The part of it on one of its devices, by number."""
        return self.addressable_shards[index].data

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
        raw = self.raw
        value = raw if type(raw) is np.ndarray else home(raw).concrete(raw)
        if value is None:
            raise no_value(self, error, use)
        return value

    def block_until_ready(self) -> Array:
        """Wait for the value to be there, and give the array back."""
        raw = self.concrete()
        home(raw).wait(raw)
        return self

    def __setitem__(self, key: Any, value: Any) -> None:
        raise TypeError(
            f"an Array cannot change: write x = x.at[{_shown(key)}].set({_shown(value)}) "
            f"({user_line()})"
        )

    def __delitem__(self, key: Any) -> None:
        raise TypeError(
            f"an Array cannot change: build a new one without element {_shown(key)} ({user_line()})"
        )

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a 0-dimensional array: it has no axis, x.size is 1")
        return self.shape[0]

    def __iter__(self) -> Iterator[Array]:
        if not self.shape:
            raise TypeError("iteration over a 0-dimensional array: use x.reshape(1)")
        return (self[i] for i in range(self.shape[0]))

    def __contains__(self, item: Any) -> bool:
        return bool(hooks.operators.any(hooks.operators.equal(self, item)))

    def delete(self) -> None:
        """Give the memory up; every later use raises RuntimeError."""
        if not self.is_deleted():
            self.raw = Deleted(aval_of(self))

    def is_ready(self) -> bool:
        """Whether the value is there; where nobody can tell, it is."""
        ready = getattr(self.raw, "is_ready", None)
        return ready is None or bool(ready())

    def copy_to_host_async(self) -> None:
        """Begin to copy to the host, where that takes time."""
        begin = getattr(self.raw, "copy_to_host_async", None)
        if begin is not None:
            begin()

    def on_device_size_in_bytes(self) -> int:
        """Bytes in all."""
        return self.nbytes

    def is_deleted(self) -> bool:
        """Whether the array was deleted, or given away by a donating `jit`."""
        raw = self.raw
        if type(raw) is np.ndarray:
            return False
        return type(raw) is Deleted or bool(getattr(raw, "is_deleted", bool)())

    # ---- to Python, NumPy, others

    def __bool__(self) -> bool:
        return bool(
            _scalar(self, self.concrete(TracerBoolConversionError, "a truth value"), "bool")
        )

    def __int__(self) -> int:
        return int(_scalar(self, self.concrete(ConcretizationTypeError, "a Python int"), "int"))

    def __float__(self) -> float:
        return float(_scalar(self, _unwatched(self, "a Python float"), "float"))

    def __complex__(self) -> complex:
        return complex(_scalar(self, _unwatched(self, "a Python complex"), "complex"))

    def __index__(self) -> int:
        raw = self.concrete(TracerIntegerConversionError, "a Python integer")
        return on_host(self, raw).__index__()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        host = on_host(self, self.raw)
        if dtype is not None and host.dtype != dtype:
            if copy is False:
                raise ValueError(
                    f"a view of a {host.dtype} array as {np.dtype(dtype)} needs a copy; leave "
                    "copy=False out"
                )
            return host.astype(dtype)
        if copy:
            return host.copy()
        view = host.view()
        view.flags.writeable = False
        return view

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        return hooks.operators.numpy_ufunc(ufunc, method, inputs, options)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return hooks.operators.numpy_function(func, types, args, kwargs)

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        return hooks.operators.array_namespace(api_version)

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[Any, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        return hooks.operators.to_dlpack(self, stream, max_version, dl_device, copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.concrete().__dlpack_device__()

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return self.concrete().__cuda_array_interface__

    def __jax_array__(self) -> Any:
        return hooks.operators.to_jax(self)

    def __reduce__(self) -> tuple[Any, ...]:
        raw = self.concrete()
        return restore, (on_host(self, raw), self.weak, home(raw).name)

    def __copy__(self) -> Array:
        return self

    def __deepcopy__(self, memo: Any) -> Array:
        return self

    def __format__(self, spec: str) -> str:
        if spec and self.shape:
            raise TypeError(
                f"the format {spec!r} is of a number, this is {aval_of(self)}: format its elements "
                "(x.tolist()), or numpy.round(x, decimals)"
            )
        return format(self.item(), spec) if spec else str(self)

    def __str__(self) -> str:
        plain = traced(self) or dtypes.is_key(self.dtype)
        return repr(self) if plain else str(self.__array__())

    def __repr__(self) -> str:
        if traced(self):
            return f"Array<{aval_of(self)}>"
        if dtypes.is_key(self.dtype):
            words = self.__array__()["threefry2x32"]
            return f"Array({self.shape}, dtype={dtypes.name(self.dtype)}) overlaying:\n{words}"
        about = f"dtype={self.dtype}{', weak_type=True' if self.weak else ''})"
        if not self.size:
            return f"Array([], shape={self.shape}, {about}"
        body = np.array2string(self.__array__(), separator=", ", prefix="Array(", suffix=",")
        last = len(f"Array({body}, {about}".rsplit("\n", 1)[-1])
        gap = "\n      " if last > np.get_printoptions()["linewidth"] else " "
        return f"Array({body},{gap}{about}"

    def item(self, *args: int) -> Any:
        """The one element, or the one at an index, as a Python scalar."""
        return _known(self, "a Python number").item(*args)

    def tolist(self) -> Any:
        """Nested lists of Python scalars."""
        return _known(self, "a list").tolist()

    def tobytes(self, order: Any = "C") -> bytes:
        """The elements as bytes."""
        return self.__array__().tobytes(order)


class _Untraced:
    level = 0


class PlacedArray(Array):
    """An Array whose raw value does not know itself where it is: one buffer for all its devices.

    It is a class of its own so that quick ways, which ask for an Array, need not look for that.
    """

    owner = _Untraced()  # whatever is no plain Array is asked for its trace

    placement: Sharding

    def __init__(self, raw: Any, weak: bool, placement: Sharding) -> None:
        super().__init__(raw, weak)
        self.placement = placement


class Deleted:
    """Stands for the raw value of an Array that was deleted."""

    def __init__(self, aval: Aval) -> None:
        self._aval = aval

    def error(self) -> RuntimeError:
        """The error for any use."""
        return RuntimeError(
            f"an array of {self._aval} was used at {user_line()} after it was deleted or donated: "
            "keep a copy, or do not donate it (donate_argnums)"
        )

    def __getattr__(self, name: str) -> Any:
        raise self.error()


class Tracer(Array):
    """A value that some trace watches. Subclasses add what their trace needs to know."""

    __slots__ = ("dtype", "owner", "shape", "weak")

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    owner: Trace

    def concrete(
        self, error: type[Exception] = ConcretizationTypeError, use: str = "a value"
    ) -> Any:
        raise no_value(self, error, use)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        error, use = TracerArrayConversionError, "a NumPy array"
        raise error(
            f"a traced array of {aval_of(self)} was used as {use} at {user_line()}: {ADVICE[error]}"
        )

    def __str__(self) -> str:
        return repr(self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}<{aval_of(self)}>"


# NumPy asks for a number where one is assigned to an element, for an array where a part is.
FILLING = "what out[i] = x fills must be an Array, out = out.at[i].set(x)"

ADVICE: dict[type[Exception], str] = {
    TracerBoolConversionError: (
        "use lax.cond, lax.while_loop or numpy.where, or make the argument static (static_argnums)"
    ),
    TracerIntegerConversionError: (
        "make a size the argument of a static parameter (static_argnums), loop by lax.fori_loop, "
        "index with the array itself"
    ),
    TracerArrayConversionError: (
        "use the function of that name in arrayport.numpy or .random, or arrayport.pure_callback; "
        f"{FILLING}"
    ),
}


def no_value(x: Array, error: type[Exception], use: str) -> Exception:
    """The error for a use of a traced array that needs its value."""
    advice = ADVICE.get(
        error, "compute it outside the traced function, or make it a static argument"
    )
    if use in ("a Python float", "a Python complex"):
        advice = f"{advice}; {FILLING}"
    return error(
        f"a traced array of {aval_of(x)} was used as {use} at {user_line()}, but it has no "
        f"value yet: {advice}"
    )


def _unwatched(x: Array, use: str) -> Any:
    """The raw value for a number that no derivative could follow, so `x` must not be traced."""
    raw = x.concrete(ConcretizationTypeError, use)
    if traced(x):
        raise ConcretizationTypeError(
            f"a traced array of {aval_of(x)} was used as {use} at {user_line()}, which would lose "
            "its derivative: use arrayport.numpy's functions rather than math's, or take the float "
            f"of lax.stop_gradient(x); {FILLING}"
        )
    return raw


def home(raw: Any) -> backends.Backend:
    """The backend of a raw value."""
    found = backends.by_type(type(raw))
    if found is None:
        if type(raw) is Deleted:
            raise raw.error()
        raise TypeError(
            f"{type(raw).__module__}.{type(raw).__name__} is no backend's array: "
            "arrayport.numpy.asarray makes an Array"
        )
    return found


def traced(x: Array) -> bool:
    """Whether an Array has no value of its own: it is a tracer, ours or the backend's."""
    if isinstance(x, Tracer):
        return True
    return type(x.raw) is not np.ndarray and home(x.raw).concrete(x.raw) is not x.raw


def restore(host: np.ndarray[Any, Any], weak: bool, name: str) -> Array:
    """Rebuild a pickled Array on the backend it came from, else on the ambient one."""
    known = name in backends.entry_points()
    target = backends.get(name) if known else backends.ambient()
    return Array(target.asarray(host), weak)


def _known(x: Array, use: str) -> np.ndarray[Any, Any]:
    """The values on the host of an array that is not traced."""
    if traced(x):
        raise no_value(x, ConcretizationTypeError, use)
    return x.__array__()


def _scalar(x: Array, raw: Any, kind: str) -> Any:
    if x.size != 1 or (x.shape and kind != "bool"):
        msg = (
            f"only a 0-dimensional array converts to {kind}, this one is {aval_of(x)}: use .any(), "
            ".all() or .item()"
        )
        raise TypeError(msg) if kind != "bool" else ValueError(msg)
    if x.dtype.kind == "V" and dtypes.is_key(x.dtype):
        raise dtypes.no_number()
    return on_host(x, raw).item()


def on_host(x: Array, raw: Any) -> np.ndarray[Any, Any]:
    """The values on the host, if they are there or the guard lets them come."""
    if type(raw) is np.ndarray:
        return raw
    own = home(raw)
    transfer("device_to_host", own, aval_of(x))
    return own.to_numpy(raw)


def _shown(key: Any) -> str:
    return (
        repr(key) if isinstance(key, int | float | str | slice | tuple | type(Ellipsis)) else "..."
    )
