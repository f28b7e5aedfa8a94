"""Arrays from files, text and iterators, and into files; NumPy reads and writes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.numpy.arguments import arrayed
from arrayport.numpy.creation import asarray

__all__ = ["fromfile", "fromiter", "fromstring", "load", "save", "savez"]


def fromfile(*args: Any, **kwargs: Any) -> Array:
    """Read a file's numbers as a vector; the arguments are NumPy's. Source: ``numpy.fromfile``.

    >>> import arrayport.numpy as anp, tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     file.write(bytes([1, 0, 255])), file.flush()
    ...     anp.fromfile(file.name, "uint8")
    (3, None)
    Array([  1,   0, 255], dtype=uint8)
    """
    return asarray(np.fromfile(*args, **kwargs))


def fromiter(*args: Any, **kwargs: Any) -> Array:
    """Make a vector of an iterator's numbers; the arguments are NumPy's.

    Source: ``numpy.fromiter``.

    >>> import arrayport.numpy as anp
    >>> anp.fromiter((n * n for n in range(4)), dtype=int)
    Array([0, 1, 4, 9], dtype=int32)
    """
    return asarray(np.fromiter(*args, **kwargs))


def fromstring(string: str, dtype: Any = float, count: int = -1, *, sep: str) -> Array:
    """Read the numbers of a text, `sep` between them, as a vector. Source: ``numpy.fromstring``.

    >>> import arrayport.numpy as anp
    >>> anp.fromstring("1, 2, 3", dtype=int, sep=",")
    Array([1, 2, 3], dtype=int32)
    """
    return asarray(np.fromstring(string, dtypes.canonicalize(dtype), count, sep=sep))


def load(file: Any, *args: Any, **kwargs: Any) -> Any:
    """Read an array that `save` wrote; of several, as `savez` writes them, NumPy's mapping.

    The other arguments are NumPy's. Source: ``numpy.load``; see `save` for an example.

    >>> import arrayport.numpy as anp, tempfile
    >>> with tempfile.TemporaryFile() as file:
    ...     anp.savez(file, a=anp.arange(3))
    ...     _ = file.seek(0)
    ...     anp.load(file)["a"]
    array([0, 1, 2], dtype=int32)
    """
    found = np.load(file, *args, **kwargs)
    if not isinstance(found, np.ndarray):
        return found
    # The format has no name for bfloat16, and calls it two bytes of nothing.
    return asarray(found.view(dtypes.bfloat16) if found.dtype.str == "|V2" else found)


def save(file: Any, arr: Any, allow_pickle: bool = True) -> None:
    """Write an array to a file, in NumPy's format. Source: ``numpy.save``.

    >>> import io, arrayport.numpy as anp
    >>> file = io.BytesIO()
    >>> anp.save(file, anp.arange(3))
    >>> anp.load(io.BytesIO(file.getvalue()))
    Array([0, 1, 2], dtype=int32)
    """
    np.save(file, arrayed(arr, "arr").__array__(), allow_pickle)


def savez(file: Any, *args: Any, allow_pickle: bool = True, **kwds: Any) -> None:
    """Write several arrays, by position or by name, to one file. Source: ``numpy.savez``.

    >>> import io, arrayport.numpy as anp
    >>> file = io.BytesIO()
    >>> anp.savez(file, anp.arange(2), weights=anp.ones(3))
    >>> sorted(anp.load(io.BytesIO(file.getvalue())))
    ['arr_0', 'weights']
    """
    parts = [arrayed(x, "args").__array__() for x in args]
    named: dict[str, Any] = {name: arrayed(x, name).__array__() for name, x in kwds.items()}
    np.savez(file, *parts, allow_pickle=allow_pickle, **named)
