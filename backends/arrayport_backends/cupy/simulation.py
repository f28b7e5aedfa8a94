"""Simulated CuPy with no GPU: the modules `xp`, `special` and `scipy_linalg` of `SimArray`s.

Whatever CuPy refuses for its *kind* of argument is refused here: NumPy operands and implicit
conversion to NumPy; functions, parameters, dtypes and ufunc loops that CuPy lacks (see facts.py).
Results have CuPy's dtypes and stay arrays when 0-d; array indices out of range wrap around; a
matrix that cannot be factorised raises nothing; and of repeated indices in `x[i] = v` the *first*
write stays, since CuPy promises none and NumPy's last must not be relied on.

What this cannot show: speed, memory, streams and missed synchronisation; CUDA's rounding, order of
summation and fused multiply-adds; casts of floats that do not fit an integer (CUDA saturates, NumPy
wraps) and shifts past the width; kernels compiled by hand (`RawKernel`, `fuse`, `cuda`), `random`,
files, and functions that call back into Python. Refused though CuPy computes: negative powers of
integers, and complex loops such as `hypot`'s that NumPy lacks.
"""
# ruff: noqa: SLF001  -- the host array inside is this file's business too

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np

from arrayport_backends.cupy import departures, facts
from arrayport_backends.cupy.indices import host_key
from arrayport_backends.cupy.loops import Loop, parse, pick, pick_by_result
from arrayport_backends.cupy.simulated_arrays import (
    SCALARS,
    SimArray,
    quietly,
    unwrap,
    unwrap_key,
    wrap,
    wrap_result,
)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# parameters that are host values: CuPy takes no array for them
HOST_PARAMETERS = _words("""
    axis axes axis1 axis2 axisa axisb axisc shape newshape new_shape dims dimensions dtype order
    kind ndmin keepdims source destination n k N num reps shift pad_width constant_values end_values
    stat_length offset decimals ddof side mode bitorder indexing UPLO norm s minlength deg
    full_matrices compute_uv indices_or_sections casting return_index return_inverse return_counts
""")
# names of a function's first parameter if only an array will do, and functions that take more
ARRAY_PARAMETERS = _words("""
    a x m arr ary array v p f filt y prototype x1 a1 ar ar1 arr1
""")
TAKES_ANYTHING = _words("""
    shape ndim size isclose allclose array_equal array_equiv isscalar iscomplexobj isrealobj
    result_type interp polyadd polysub polymul polyval
""")
TAKES_LISTS = _words("broadcast_shapes einsum percentile quantile nanpercentile repeat delete")
# what NumPy gives as Python scalars and CuPy as 0-d arrays
GIVES_ARRAYS = _words("allclose array_equal array_equiv count_nonzero")
NOT_SIMULATED = _words("""
    random cuda testing typing polynomial exceptions vectorize poly1d broadcast flatiter c_ r_
    mgrid ogrid apply_along_axis apply_over_axes fromfunction fromfile fromiter fromstring
    frombuffer genfromtxt loadtxt load save savez savez_compressed savetxt piecewise mask_indices
    ndindex show_config printoptions set_printoptions get_printoptions require
""")
# the dtypes that `ufunc.at` has atomic operations for
SCATTERS: Mapping[str, frozenset[str]] = {
    "add": _words("int32 int64 float16 float32 float64 uint32 uint64"),
    "subtract": _words("int32 uint32"),
    "maximum": _words("int32 int64 float32 float64 uint32 uint64"),
    "minimum": _words("int32 int64 float32 float64 uint32 uint64"),
    "bitwise_and": _words("int32 int64 uint32 uint64"),
    "bitwise_or": _words("int32 int64 uint32 uint64"),
    "bitwise_xor": _words("int32 int64 uint32 uint64"),
}


class SimUfunc:
    """A ufunc of CuPy's: its loops decide what is taken and given, NumPy's function computes.

    >>> x = xp.asarray(np.ones(2, np.float32))
    >>> xp.add(x, 1.5).dtype, xp.add.reduce(x)
    (dtype('float32'), array(2., dtype=float32))
    >>> xp.maximum.reduce(x)
    Traceback (most recent call last):
    NotImplementedError: `cupy_maximum.reduce` is not supported yet
    """

    __slots__ = ("__name__", "_host", "_loops", "_picked", "nin", "nout", "types")

    def __init__(self, name: str, loops: tuple[str, ...], host: Callable[..., Any]) -> None:
        self.__name__ = name
        self.types = list(loops)
        self._loops = [parse(text) for text in loops]
        self._host = host
        self._picked: dict[Any, Loop] = {}
        self.nin, self.nout = len(self._loops[0].ins), len(self._loops[0].outs)

    def __repr__(self) -> str:
        return f"<ufunc 'cupy_{self.__name__}'>"

    def __call__(
        self, *args: Any, out: Any = None, dtype: Any = None, casting: Any = "same_kind"
    ) -> Any:
        if len(args) != self.nin:
            args, out = self._split(args, out)
        hosts, kinds = [], [dtype]
        for arg in args:
            if type(arg) is SimArray:
                host = arg._host
                kinds.append(host.dtype)
                hosts.append(host)
            else:
                kind = SCALARS.get(type(arg))
                if kind is None:
                    raise TypeError(f"Unsupported type {type(arg)} for cupy.{self.__name__}")
                kinds.append(kind)
                hosts.append(arg)
        key = tuple(kinds)
        loop = self._picked.get(key) or self._pick(key)
        results = quietly(self._host, hosts, {} if dtype is None else self._typed(loop))
        if out is None and self.nout == 1:
            return _cast(results, loop.outs[0])
        arrays = [results] if self.nout == 1 else results
        given = out if isinstance(out, tuple) else (out,) * self.nout
        stored = [
            _store(o, _cast(r, d), casting)
            for o, r, d in zip(given, arrays, loop.outs, strict=True)
        ]
        return stored[0] if self.nout == 1 else tuple(stored)

    def _split(self, args: tuple[Any, ...], out: Any) -> tuple[tuple[Any, ...], Any]:
        outs = args[self.nin :]
        if not self.nin <= len(args) <= self.nin + self.nout:
            raise TypeError(f"Wrong number of arguments for 'cupy_{self.__name__}': {len(args)}")
        if out is not None:
            raise ValueError("Cannot specify 'out' as both a positional and keyword argument")
        return args[: self.nin], outs[0] if self.nout == 1 else outs

    def _pick(self, key: tuple[Any, ...]) -> Loop:
        dtype, *kinds = key
        if dtype is None:
            loop = pick(self.__name__, self._loops, kinds)
        else:
            loop = pick_by_result(self._loops, np.dtype(dtype))
        if loop is None:
            wrong = dtype or ", ".join(str(getattr(k, "__name__", k)) for k in kinds)
            raise TypeError(f"Wrong type ({wrong}) of arguments for cupy_{self.__name__}")
        return self._picked.setdefault(key, loop)

    def _typed(self, loop: Loop) -> dict[str, Any]:
        # a function of NumPy's that is no ufunc has no `dtype`; its result is cast
        return {"dtype": loop.outs[0]} if isinstance(self._host, np.ufunc) else {}

    def reduce(
        self,
        array: SimArray,
        axis: Any = 0,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
    ) -> Any:
        """Reduce along axes; CuPy has it for `add` and `multiply` alone."""
        return self._method("reduce", add="sum", multiply="prod")(array, axis, dtype, out, keepdims)

    def accumulate(self, array: SimArray, axis: Any = 0, dtype: Any = None, out: Any = None) -> Any:
        """Accumulate along an axis; CuPy has it for `add` and `multiply` alone."""
        return self._method("accumulate", add="cumsum", multiply="cumprod")(array, axis, dtype, out)

    def reduceat(
        self, array: SimArray, indices: Any, axis: Any = 0, dtype: Any = None, out: Any = None
    ) -> Any:
        """Reduce slices; CuPy has it for `add` alone."""
        self._method("reduceat", add="sum")
        host = None if out is None else out._host
        return wrap(np.add.reduceat(array._host, unwrap(indices), axis, dtype, host))

    def outer(self, A: SimArray, B: SimArray, **kwargs: Any) -> Any:
        """Apply to all pairs of elements."""
        ones = (1,) * xp.ndim(B)
        return self(xp.asarray(A).reshape(*xp.shape(A), *ones), xp.asarray(B), **kwargs)

    def at(self, a: SimArray, indices: Any, b: Any = None) -> None:
        """Apply in place, repeated indices again and again; few ufuncs and dtypes have it."""
        dtypes = SCATTERS.get(self.__name__)
        if dtypes is None:
            raise NotImplementedError(f"`cupy_{self.__name__}.at` is not supported yet")
        key, kind = host_key(a.shape, unwrap_key(indices))
        value = unwrap(b) if kind == "basic" else np.asarray(unwrap(b)).astype(a.dtype)
        if kind == "arrays" and a.dtype.name not in dtypes:
            raise TypeError(f"cupy.{self.__name__}.at only supports {sorted(dtypes)} as data type")
        if kind == "arrays":
            quietly(self._host.at, (a._host, key, value), {})  # type: ignore[attr-defined]
        else:
            part = wrap(a._host[key])
            a._host[key] = self(part, b if kind == "basic" else wrap(value), part)._host

    def _method(self, method: str, **names: str) -> Callable[..., Any]:
        if self.__name__ not in names:
            raise NotImplementedError(f"`cupy_{self.__name__}.{method}` is not supported yet")
        return getattr(xp, names[self.__name__])


def _cast(host: Any, dtype: Any) -> SimArray:
    array = np.asarray(host)
    return wrap(array if array.dtype is dtype else array.astype(dtype, copy=False))


def _store(out: SimArray | None, result: SimArray, casting: Any) -> SimArray:
    if out is None:
        return result
    if type(out) is not SimArray:
        raise TypeError(f"Unsupported type {type(out)} for out")
    if out.shape != result.shape:
        raise ValueError(f"Output shape {out.shape} does not match the result's {result.shape}")
    np.copyto(out._host, result._host, casting=casting)
    return out


def _function(space: str, name: str, host: Callable[..., Any], found: facts.Fact) -> Any:
    """Make CuPy's function of NumPy's: its parameters and loops, arrays where it needs them."""
    params = found.parameters
    assert params is not None
    positional = params.positional
    limit = None if params.any_positional else len(positional)
    arrays = {p for i, p in enumerate(positional) if _needs_array(name, i, p)}
    renamed = _renamed(positional, host)
    plain_tuples = space.endswith("linalg")  # where NumPy has named ones

    def check(parameter: str | None, value: Any) -> Any:
        kind = type(value)
        if parameter in HOST_PARAMETERS:
            if kind is SimArray:
                raise TypeError(f"{space}.{name}: {parameter} must be a host value, not an array")
            return value
        if parameter in arrays and kind is not SimArray:
            raise TypeError(f"{space}.{name}: {parameter} must be a CuPy array, not {kind}")
        if (kind is list or kind is tuple) and name not in TAKES_LISTS:
            _check_arrays(f"{space}.{name}", value)
        return unwrap(value)

    def call(*args: Any, **kwargs: Any) -> Any:
        if limit is not None and len(args) > limit:
            raise TypeError(f"{space}.{name}() takes {limit} arguments but {len(args)} were given")
        names = (*positional, *(None,) * (len(args) - len(positional)))
        hosts = [check(p, a) for p, a in zip(names, args, strict=False)]
        named = {}
        for key, value in kwargs.items():
            if key not in params.keywords and not params.any_keyword:
                raise TypeError(f"{space}.{name}() got an unexpected keyword argument {key!r}")
            named[renamed.get(key, key)] = check(key, value)
        result = quietly(host, hosts, named)
        if name in GIVES_ARRAYS:
            return wrap(np.asarray(result))
        if plain_tuples and isinstance(result, tuple):
            result = tuple(result)
        return wrap_result(result)

    call.__name__ = call.__qualname__ = name
    return call


def _needs_array(name: str, position: int, parameter: str) -> bool:
    if name in TAKES_ANYTHING:
        return False
    return (position == 0 and parameter in ARRAY_PARAMETERS) or parameter == "b"


def _renamed(positional: tuple[str, ...], host: Callable[..., Any]) -> dict[str, str]:
    """NumPy's names of the parameters that CuPy calls something else."""
    try:
        names = list(inspect.signature(host).parameters)
    except ValueError:
        return {}
    return {p: n for p, n in zip(positional, names, strict=False) if p not in names}


def _check_arrays(name: str, values: Any) -> None:
    for value in values:
        if type(value) is list or type(value) is tuple:
            _check_arrays(name, value)
        elif type(value) is not SimArray:
            raise TypeError(f"{name} takes CuPy arrays in a sequence, not {type(value)}")


def array(
    obj: Any,
    dtype: Any = None,
    copy: Any = True,
    order: Any = "K",
    subok: bool = False,
    ndmin: int = 0,
    **_blocking: bool,
) -> SimArray:
    """Make an array of one, of a NumPy array, or of nested sequences of arrays or of scalars."""
    if subok:
        raise NotImplementedError("CuPy's array() has no subok")
    if type(obj) is SimArray:
        host = np.array(obj._host, dtype, copy=copy, order=order, ndmin=ndmin)
        return obj if host is obj._host else wrap(host)
    leaves = unwrap(obj) if isinstance(obj, (list, tuple)) and _holds_array(obj) else obj
    return wrap(np.array(leaves, dtype, order=order, ndmin=ndmin))


def asarray(
    a: Any, dtype: Any = None, order: Any = None, *, copy: Any = None, **_blocking: bool
) -> SimArray:
    """Make an array, of a host array by copying it to the device."""
    return array(a, dtype, copy, order or "K")


def ascontiguousarray(a: Any, dtype: Any = None) -> SimArray:
    """Make a C-contiguous array of at least one axis."""
    return array(a, dtype, None, "C", ndmin=1)


def asfortranarray(a: Any, dtype: Any = None) -> SimArray:
    """Make a Fortran-contiguous array."""
    return array(a, dtype, None, "F")


def asnumpy(
    a: Any, stream: Any = None, order: Any = "C", out: Any = None, **_blocking: bool
) -> np.ndarray[Any, Any]:
    """Copy an array to the host."""
    return a.get(stream, order, out) if type(a) is SimArray else np.asarray(a, order=order)


def from_dlpack(array: Any, *, copy: Any = None) -> SimArray:
    """Take an array of the same device; host arrays are refused."""
    if type(array) is SimArray:
        return wrap(array._host.copy() if copy else array._host)
    raise TypeError(
        "CPU arrays cannot be directly imported to CuPy. Use `asarray` of a NumPy array."
    )


def get_array_module(*args: Any) -> Any:
    """`xp` if an argument is an array of its, else numpy."""
    return xp if any(type(a) is SimArray for a in args) else np


def where(condition: SimArray, x: Any = None, y: Any = None) -> Any:
    """Choose by a condition, which is an array; with it alone, the indices of what is true."""
    if (x is None) != (y is None):
        raise ValueError("Must provide both 'x' and 'y' or neither.")
    if type(condition) is not SimArray:
        raise TypeError(f"cupy.where: condition must be a CuPy array, not {type(condition)}")
    if x is None:
        return condition.nonzero()
    return WHERE(condition.astype(bool, copy=False), x, y)


def clip(a: SimArray, a_min: Any, a_max: Any, out: Any = None) -> Any:
    """Limit to a range."""
    if type(a) is not SimArray:
        raise TypeError(f"cupy.clip: a must be a CuPy array, not {type(a)}")
    kind = a.dtype.kind
    limits: Any = np.iinfo(a.dtype) if kind in "iu" else None
    low = -np.inf if kind == "f" else getattr(limits, "min", None)
    high = np.inf if kind == "f" else getattr(limits, "max", None)
    return CLIP(a, low if a_min is None else a_min, high if a_max is None else a_max, out=out)


def as_strided(x: SimArray, shape: Any = None, strides: Any = None) -> SimArray:
    """Give the view that CuPy's `lib.stride_tricks.as_strided` gives."""
    _check_arrays("as_strided", (x,))
    return wrap(np.lib.stride_tricks.as_strided(unwrap(x), shape, strides))


def _hidden(name: str, host: Callable[..., Any]) -> SimUfunc:
    found = facts.fact("cupy", name)
    assert found is not None
    return SimUfunc(name, found.loops, host)


def _holds_array(values: Any) -> bool:
    return any(
        _holds_array(v) if isinstance(v, (list, tuple)) else type(v) is SimArray for v in values
    )


class Namespace:
    """A module of CuPy's: what the facts say it has, computed by a module of the host's.

    >>> xp.block
    Traceback (most recent call last):
    AttributeError: module 'cupy' has no attribute 'block': numpy has it and CuPy lacks it
    """

    def __init__(self, name: str, host: str, own: Mapping[str, Any]) -> None:
        self.__name__ = name
        self._host = host
        self._own = own

    def __getattr__(self, name: str) -> Any:
        value = self.__dict__[name] = self._make(name)
        return value

    def __dir__(self) -> list[str]:
        return [name for name in facts.table()[self.__name__] if hasattr(self, name)]

    def __repr__(self) -> str:
        return f"<simulated module {self.__name__!r}>"

    def _make(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = facts.fact(self.__name__, name)
        host = import_module(self._host)
        if found is None:
            where = (
                f"{host.__name__} has it and CuPy lacks it" if hasattr(host, name) else "unknown"
            )
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}: {where}")
        own = self._own.get(name, getattr(host, name, NOT_SIMULATED))
        if own is NOT_SIMULATED or name in NOT_SIMULATED:
            raise AttributeError(f"{self.__name__}.{name}: CuPy has it, the simulation does not")
        if not callable(own) or isinstance(own, type) or name in MADE:
            return own
        if found.parameters is None:
            return SimUfunc(name, found.loops, own)
        return _function(self.__name__, name, own, found)


WHERE, CLIP = _hidden("where", np.where), _hidden("clip", np.clip)
MADE: Mapping[str, Any] = {
    "ndarray": SimArray,
    "ufunc": SimUfunc,
    "array": array,
    "asarray": asarray,
    "asanyarray": asarray,
    "ascontiguousarray": ascontiguousarray,
    "asfortranarray": asfortranarray,
    "asnumpy": asnumpy,
    "clip": clip,
    "from_dlpack": from_dlpack,
    "get_array_module": get_array_module,
    "lib": SimpleNamespace(stride_tricks=SimpleNamespace(as_strided=as_strided)),
    "where": where,
}
special = Namespace("cupyx.scipy.special", "scipy.special", {})
linalg = Namespace("cupy.linalg", "numpy.linalg", departures.LINALG)
fft = Namespace("cupy.fft", "numpy.fft", {})
xp = Namespace("cupy", "numpy", {**departures.NUMPY, **MADE, "linalg": linalg, "fft": fft})
scipy_linalg = Namespace("cupyx.scipy.linalg", "scipy.linalg", departures.SCIPY_LINALG)
SimArray.spaces = {space.__name__: space for space in (xp, linalg, fft, special)}
