"""The decorator by which a library's function serves callers who hold NumPy, CuPy or JAX arrays."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import wraps
from typing import Any, TypeVar

import numpy as np

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.core.backend import Backend, by_type, get, use_backend
from arrayport.core.config import widened
from arrayport.core.errors import BackendMismatchError, user_line
from arrayport.core.trace import backend_of
from arrayport.core.tree import tree_flatten, tree_unflatten
from arrayport.ops.promotion import lift

F = TypeVar("F", bound=Callable[..., Any])


def agnostic(fun: F) -> F:
    """Let a function's callers pass NumPy, CuPy or JAX arrays and get the same kind back.

    Inside, every array, also within pytrees, is an Array on the backend that the caller's arrays
    belong to, and new ones are made there. NumPy's follow CuPy's, JAX's and Arrays, as everywhere.
    NumPy's and CuPy's of 64 bits are computed so, whatever `enable_x64` says; JAX's and Arrays obey
    it. Arrays, traced or not, and what is no array pass through; where the caller gives an Array,
    all that comes back are Arrays. Raises BackendMismatchError for arrays of two libraries.

    >>> import numpy as np
    >>> import arrayport as ap, arrayport.numpy as anp
    >>> @ap.agnostic
    ... def norm(x):
    ...     return anp.sqrt(anp.sum(x * x))
    >>> norm(np.array([3.0, 4.0])), norm(np.array([3.0, 4.0], np.float32))
    (array(5.), array(5., dtype=float32))
    """

    @wraps(fun)
    def call(*args: Any, **kwargs: Any) -> Any:
        leaves, treedef = tree_flatten((args, kwargs))
        ours, owner = _owner(leaves, fun)
        if owner is None:
            return fun(*args, **kwargs)
        wide = not ours and owner.native is None and any(map(_narrowed, leaves))
        with widened() if wide else nullcontext(), use_backend(owner):
            lifted = [lift(x, owner) if _foreign(x) is not None else x for x in leaves]
            args, kwargs = tree_unflatten(treedef, lifted)
            out = fun(*args, **kwargs)
        if ours:
            return out
        outs, out_tree = tree_flatten(out)
        return tree_unflatten(out_tree, [_given_back(x, owner) for x in outs])

    return call  # type: ignore[return-value]


def _narrowed(x: Any) -> bool:
    """Whether another library's array has 64 bits where 32 are the most."""
    return _foreign(x) is not None and dtypes.canonicalize(x.dtype) != x.dtype


def _foreign(x: Any) -> Backend | None:
    """The backend of another library's array."""
    if isinstance(x, Array | bool | int | float | complex | str) and not isinstance(x, np.generic):
        return None
    return get("numpy") if isinstance(x, np.ndarray | np.generic) else by_type(type(x))


def _owner(leaves: list[Any], fun: Callable[..., Any]) -> tuple[bool, Backend | None]:
    """Whether an Array was given, and the backend of the foreign arrays; None if there are none."""
    ours = any(isinstance(x, Array) for x in leaves)
    own = {b for x in leaves if isinstance(x, Array) and (b := backend_of(x)) is not None}
    arrays = [x for x in leaves if not (ours and isinstance(x, np.generic))]
    foreign = {b for x in arrays if (b := _foreign(x)) is not None}
    # Beside others NumPy's arrays are neutral; its scalars are beside Arrays.
    homes = own | {b for b in foreign if b.name != "numpy"} or foreign
    if len(homes) > 1:
        names = " and ".join(sorted(b.name for b in homes))
        raise BackendMismatchError(
            f"{getattr(fun, '__name__', 'the function')} was given arrays of {names} at "
            f"{user_line()}: convert them to one kind"
        )
    return ours, next(iter(homes), None)


def _given_back(x: Any, owner: Backend) -> Any:
    """An Array as its owner's array, which the caller may write to."""
    if not isinstance(x, Array):
        return x
    raw = x.native
    if by_type(type(raw)) is not owner:
        raw = owner.asarray(by_type(type(raw)).to_numpy(raw))  # type: ignore[union-attr]
    return raw if owner.native is not None else raw.copy()
