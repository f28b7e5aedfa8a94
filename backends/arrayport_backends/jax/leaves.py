"""The flat convention: JAX's transformations see raw leaves, the user's functions see Arrays.

A leaf that is a raw JAX value stays one on both sides. An Array is handed to JAX raw and wrapped
again; so is what is neutral (NumPy's arrays, Python's numbers) where JAX makes a value from it.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax.tree_util import default_registry, tree_structure, tree_unflatten

from arrayport.core import backend as backends
from arrayport.core import dtypes
from arrayport.core.array import Array, home
from arrayport.core.errors import BackendMismatchError, user_line
from arrayport.core.trace import neutral

NEUTRAL = frozenset({np.ndarray, bool, int, float, complex})  # which JAX takes as they are
Kinds = tuple[bool, ...]  # of the leaves of a pytree, in order: whether each is a raw JAX value
OURS: Kinds = (False,)


class _Classes(dict[type, bool]):
    """Whether a class is one of JAX's arrays or tracers, found once for each class."""

    def __missing__(self, cls: type) -> bool:
        found = self[cls] = issubclass(cls, jax.Array | jax.core.Tracer)
        return found


class _Concrete(dict[type, bool]):
    """Whether a class is one of JAX's arrays of numbers, which have their values and a weakness."""

    def __missing__(self, cls: type) -> bool:
        traced = issubclass(cls, jax.core.Tracer)
        found = self[cls] = RAW[cls] and not traced and hasattr(cls, "weak_type")
        return found


class _Sequences(dict[type, "Callable[..., Any] | None"]):
    """How a sequence that is a pytree of this class is made of its parts; None: it is another."""

    def __missing__(self, cls: Any) -> Callable[..., Any] | None:
        named = issubclass(cls, tuple) and hasattr(cls, "_fields")
        found = self[cls] = cls._make if named else None
        return found


SEQUENCES = _Sequences({tuple: tuple, list: list})
RAW = _Classes()  # RAW[type(x)]: whether x is a raw JAX value
CONCRETE = _Concrete()


flatten = default_registry.flatten  # `jax.tree_util.tree_flatten` without a step in Python

# Whether x is an Array, which ends a pytree here: `isinstance`, as a function in C.
is_array = Array.__instancecheck__


def wrap(raw: Any) -> Any:
    """Make an Array of a raw JAX value; anything else stays as it is."""
    return Array(raw, getattr(raw, "weak_type", False)) if RAW[type(raw)] else raw


def bare(x: Any) -> Any:
    """Give a leaf as JAX takes it: an Array's raw value, anything else as it is."""
    if type(x) is not Array:
        if isinstance(x, Array):
            raise BackendMismatchError(
                f"{x!r}, traced by arrayport's own engine, was handed to JAX at {user_line()}: "
                "apply the outer transformation to arrays of backend 'jax' (arrayport.device_put)"
            )
        return x
    raw = x.raw
    if RAW[type(raw)]:
        return raw
    return raw if backends.by_type(type(raw)) is None else host(x)


def host(x: Array) -> Any:
    """Give a NumPy-backed weak scalar as JAX takes it: as the number that it came from."""
    raw = x.raw
    if not neutral(x):
        own = home(raw)
        raise BackendMismatchError(
            f"a computation on 'jax' was given an array of {own.name!r} at {user_line()}: "
            "move it with arrayport.device_put(x, device)"
        )
    number = raw.item()
    return number if dtypes.scalar_dtype(number)[0] == raw.dtype else raw[()]


def unwrap(tree: Any) -> tuple[Any, Kinds]:
    """Replace the Arrays in a pytree by raw values, and note which leaves were raw already."""
    leaves, structure = flatten(tree, is_array)
    kinds = tuple([RAW[type(x)] for x in leaves])
    return tree_unflatten(structure, [bare(x) for x in leaves]), kinds


def rewrap(tree: Any, kinds: Sequence[bool]) -> Any:
    """Make Arrays of the leaves of a pytree that are not raw in `kinds`, which repeat as needed."""
    leaves, structure = flatten(tree)
    if not leaves:
        return tree
    repeated = tuple(kinds) * (len(leaves) // len(kinds))
    wrapped = [x if raw else wrap(x) for x, raw in zip(leaves, repeated, strict=True)]
    return tree_unflatten(structure, wrapped)


def call(fun: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Run a user's function with JAX as the ambient backend."""
    token = backends.enter(backends.get("jax"))
    try:
        return fun(*args, **kwargs)
    finally:
        backends.leave(token)


class Seen:
    """A user's function as JAX calls it: raw leaves in and out.

    `kinds` are those of its arguments. Those of its results are kept by their structure, since JAX
    does not call again what it has traced; with `has_aux` the value is part 0, the rest part 1.
    """

    def __init__(self, fun: Callable[..., Any], kinds: Kinds, *, has_aux: bool = False) -> None:
        self.fun = fun
        self.kinds = kinds
        self.has_aux = has_aux
        self.outs: dict[Any, Kinds] = {}
        self.__name__ = getattr(fun, "__name__", type(fun).__name__)
        self.__wrapped__ = fun  # by which JAX's messages name the function and its arguments

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        args, kwargs = rewrap((args, kwargs), self.kinds)
        out = call(self.fun, args, kwargs)
        if self.has_aux and isinstance(out, tuple) and len(out) == 2:
            return self.note(out[0]), self.note(out[1], 1)
        return self.note(out)

    def note(self, out: Any, part: int = 0) -> Any:
        """Unwrap a result, and remember its leaves' kinds."""
        raws, kinds = unwrap(out)
        self.outs[part, tree_structure(raws)] = kinds
        return raws

    def wrap(self, out: Any, part: int = 0) -> Any:
        """Wrap what JAX gives back of a result as the function returned it."""
        return rewrap(out, self.outs.get((part, tree_structure(out)), OURS))


_kept: weakref.WeakKeyDictionary[Any, dict[Kinds, Seen]] = weakref.WeakKeyDictionary()


def kept(fun: Callable[..., Any], kinds: Kinds) -> Seen:
    """Give the one Seen of a function and kinds, by which JAX caches its traces."""
    try:
        made = _kept.setdefault(fun, {})
        found = made.get(kinds)
        if found is None:
            found = made[kinds] = Seen(weakref.proxy(fun), kinds)
            found.__name__ = getattr(fun, "__name__", type(fun).__name__)
    except TypeError:  # it cannot be hashed, or not be referred to weakly
        return Seen(fun, kinds)
    return found


# ---- whole arguments, for jit and checkpoint: JAX sees their own structure


class Raw:
    """Marks a leaf that was raw already: a bare one means an Array."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


def encode(x: Any) -> Any:
    """Give an argument or a result as JAX sees it: Arrays bare, raw leaves in a Raw."""
    cls = type(x)
    if cls is Array:
        return x.raw if RAW[type(x.raw)] else bare(x)
    if RAW[cls]:
        return Raw(x)
    # The usual leaves of the usual containers are seen to at once: a call each would take as long.
    make = SEQUENCES[cls]
    if make:
        return make([e.raw if type(e) is Array and RAW[type(e.raw)] else encode(e) for e in x])
    if cls is dict:
        return {
            k: e.raw if type(e) is Array and RAW[type(e.raw)] else encode(e) for k, e in x.items()
        }
    if cls in NEUTRAL:
        return x
    leaves, structure = flatten(x, is_array)
    return structure.unflatten([Raw(e) if RAW[type(e)] else bare(e) for e in leaves])


def decode(x: Any) -> Any:
    """Undo `encode`, on whichever side of JAX."""
    cls = type(x)
    if RAW[cls]:
        return Array(x, getattr(x, "weak_type", False))
    make = SEQUENCES[cls]
    if make:
        return make([Array(e, e.weak_type) if CONCRETE[type(e)] else decode(e) for e in x])
    if cls is dict:
        return {k: Array(e, e.weak_type) if CONCRETE[type(e)] else decode(e) for k, e in x.items()}
    leaves, structure = flatten(x, is_raw)
    return structure.unflatten([e.value if type(e) is Raw else wrap(e) for e in leaves])


def noded(x: Any) -> Any:
    """Give a result as JAX sees it where raw leaves stay raw: others are in Arrays, as nodes."""
    leaves, structure = flatten(x, is_array)
    return structure.unflatten([e if RAW[type(e)] else Array(bare(e)) for e in leaves])


# Whether x is a Raw, as a function in C.
is_raw = Raw.__instancecheck__


def _unflatten(_: None, children: Sequence[Any]) -> Array:
    """Rebuild an Array around anything: JAX puts sentinels, axes and shapes where values were."""
    (child,) = children
    return child if type(child) is Array else Array(child, getattr(child, "weak_type", False))


jax.tree_util.register_pytree_node(Array, lambda x: ((x.raw,), None), _unflatten)
jax.tree_util.register_dataclass(Raw, ["value"], [])
