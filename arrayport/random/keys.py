"""Keys: raw ones, two uint32 words, and typed ones, whose element type says what they are."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NewType

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.core.config import config
from arrayport.core.errors import user_line
from arrayport.core.trace import backend_of
from arrayport.core.units import unit
from arrayport.numpy.arguments import shape_of
from arrayport.ops import random as bits_of
from arrayport.ops.promotion import lift, scalar
from arrayport.ops.structure import convert
from arrayport.random.arguments import DType

__all__ = [
    "Key",
    "PRNGKey",
    "clone",
    "fold_in",
    "key",
    "key_data",
    "key_dtype",
    "key_impl",
    "split",
    "wrap_key_data",
]

Key = NewType("Key", Array)
IMPL = "threefry2x32"


def PRNGKey(seed: Any, *, impl: Any = None) -> Array:
    """Make a raw key, a uint32 array of shape (2,), from an integer, which may be traced.

    Seeds of 64 bits count in full while x64 is on, else their lower 32 bits do. `impl`: None or
    "threefry2x32". While `enable_custom_prng` is on it is a typed key, as `key` gives. Raises
    TypeError for what is no integer scalar, OverflowError beyond 64 bits.
    Source: ``jax.random.PRNGKey``.

    >>> from arrayport import random
    >>> random.PRNGKey(42)
    Array([ 0, 42], dtype=uint32)
    """
    _check_impl(impl)
    words = bits_of.seed_key(seed)
    return bits_of.random_wrap_p.bind(words) if config.enable_custom_prng else words


def key(seed: Any, *, impl: Any = None, dtype: Any = None) -> Array:
    """Make a typed key, an array of shape () whose dtype says that it is one, as `PRNGKey` does.

    Its words are no axis of it: `split(key, 3)` has shape (3,).
    Source: ``jax.random.key``.

    >>> from arrayport import random
    >>> random.split(random.key(42), 3).shape
    (3,)
    """
    _check_impl(impl if dtype is None else dtype)
    return bits_of.random_wrap_p.bind(bits_of.seed_key(seed))


def key_data(keys: Any) -> Array:
    """Give the words of keys, a uint32 array with an axis of 2 at the end.

    Source: ``jax.random.key_data``.

    >>> from arrayport import random
    >>> random.key_data(random.key(42))
    Array([ 0, 42], dtype=uint32)
    """
    return _words(keys, "key_data")[0]


def wrap_key_data(key_bits_array: Any, *, impl: Any = None, dtype: Any = None) -> Array:
    """Make typed keys of their words, a uint32 array with an axis of 2 at the end.

    Raises TypeError for other words. Source: ``jax.random.wrap_key_data``.

    >>> from arrayport import random
    >>> random.wrap_key_data(random.PRNGKey(0)).shape
    ()
    """
    _check_impl(impl if dtype is None else dtype)
    words, typed = _words(key_bits_array, "wrap_key_data")
    if typed:
        raise TypeError(
            "wrap_key_data takes the words of keys, not typed keys: pass key_data(keys)"
        )
    return bits_of.random_wrap_p.bind(words)


def key_dtype(impl_spec: Any = None) -> DType:
    """Give the dtype of typed keys. Source: ``jax.random.key_dtype``.

    >>> from arrayport import random
    >>> random.key_dtype() == random.key(0).dtype
    True
    """
    _check_impl(impl_spec)
    return dtypes.key


def key_impl(keys: Any) -> str:
    """Name the generator of keys. Source: ``jax.random.key_impl``.

    >>> from arrayport import random
    >>> random.key_impl(random.key(0))
    'threefry2x32'
    """
    _words(keys, "key_impl")
    return IMPL


def clone(key: Any) -> Array:
    """Give a key that may be used as well as the first. Source: ``jax.random.clone``.

    >>> from arrayport import random
    >>> random.clone(random.PRNGKey(3))
    Array([0, 3], dtype=uint32)
    """
    words, typed = _words(key, "clone")
    return bits_of.random_wrap_p.bind(words) if typed else words


@unit("key")
def split(key: Any, num: int | Sequence[int] = 2) -> Array:
    """Make `num` new keys of one, of shape (num, 2), typed ones (num,); a tuple gives (*num, 2).

    Raises TypeError or ValueError for what is not one key. Source: ``jax.random.split``.

    >>> from arrayport import random
    >>> first, second = random.split(random.PRNGKey(0))
    >>> first
    Array([1797259609, 2579123966], dtype=uint32)
    """
    made = bits_of.split_key(one_key(key, "split"), shape_of(num, "num"))
    return bits_of.random_wrap_p.bind(made) if dtypes.is_key(key.dtype) else made


@unit("key", "data")
def fold_in(key: Any, data: Any) -> Array:
    """Make the new key that belongs to a key and an integer, which may be traced.

    Raises TypeError for data that is no scalar, OverflowError for a Python int beyond uint32.
    Source: ``jax.random.fold_in``.

    >>> from arrayport import random
    >>> random.fold_in(random.PRNGKey(3), 5)
    Array([2464363587,  131619366], dtype=uint32)
    """
    words = one_key(key, "fold_in")
    word = (
        scalar(data, dtypes.uint32) if type(data) is int else lift(data, backend_of(words), "data")
    )
    if word.shape:
        raise TypeError(f"fold_in takes a scalar, not of shape {word.shape}: use vmap for several")
    made = bits_of.fold_word(words, convert(word, dtypes.uint32))
    return bits_of.random_wrap_p.bind(made) if dtypes.is_key(key.dtype) else made


def one_key(key: Any, name: str) -> Array:
    """Give the two words of one key, raw or typed; else TypeError or ValueError with the cure."""
    words, typed = _words(key, name, consumes=name != "fold_in")
    if not typed and config.legacy_prng_key != "allow":
        advice = (
            f"random.{name} was given a raw key at {user_line()} while legacy_prng_key is "
            f"{config.legacy_prng_key!r}: make keys with random.key"
        )
        if config.legacy_prng_key == "error":
            raise ValueError(advice)
        warnings.warn(advice, stacklevel=3)
    if len(words.shape) > 1:
        shape = words.shape[:-1] if typed else words.shape
        raise ValueError(
            f"{name} takes a single key, but got an array of them, of shape {shape}: "
            "use vmap to map over keys"
        )
    return words


def _words(keys: Any, name: str, *, consumes: bool = False) -> tuple[Array, bool]:
    """Give the words of keys, and whether they are typed."""
    need = (
        f"{name} needs a key, as random.key(0) gives, or a uint32 array of shape (2,), as "
        "random.PRNGKey(0) gives"
    )
    if not hasattr(keys, "dtype") or not hasattr(keys, "shape"):
        raise TypeError(f"{need}, not {keys!r}")
    if dtypes.is_key(keys.dtype):
        return bits_of.random_unwrap_p.bind(lift(keys), consumes=consumes), True
    if keys.dtype != dtypes.uint32 or keys.shape[-1:] != (2,):
        raise TypeError(f"{need}, not {keys.dtype} of shape {keys.shape}")
    return lift(keys), False


def _check_impl(impl: Any) -> None:
    if impl is not None and impl != IMPL and not dtypes.is_key(impl):
        raise ValueError(f"impl={impl!r} is not available: the one generator here is {IMPL}")
