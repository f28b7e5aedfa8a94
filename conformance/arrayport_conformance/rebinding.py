"""The array API's namespace for the suite's in-place tests: `x[key] = v` is `x.at[key].set(v)`.

In a process in which the suite tests this module (ARRAY_API_TESTS_MODULE names it), an assignment
gives the very same Array the updated values, so that whoever holds it sees them. That is what the
tests look at; nothing else in such a process may rely on arrays that never change.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from arrayport import numpy
from arrayport.core.array import Array

__array_api_version__ = numpy.__array_api_version__


def _assign(x: Array, key: Any, value: Any) -> None:
    x.raw = x.at[key].set(value).raw


if os.environ.get("ARRAY_API_TESTS_MODULE") == __name__:
    Array.__setitem__ = _assign  # type: ignore[method-assign]


def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: Any = None) -> Array:
    """Make an Array; `copy=True` makes another one, for two names of one would change together."""
    x = numpy.asarray(obj, dtype=dtype, device=device, copy=copy)
    return Array(x.raw, x.weak) if copy else x


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        return getattr(numpy, name)
