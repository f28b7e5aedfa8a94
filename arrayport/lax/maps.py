"""Maps over the leading axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from arrayport.control.scanning import scan
from arrayport.core.tree import tree_map
from arrayport.ops import structure
from arrayport.ops.promotion import lift
from arrayport.ops.shapes import concatenate
from arrayport.transforms.batching import vmap

__all__ = ["map"]


def map(f: Callable[[Any], Any], xs: Any, *, batch_size: int | None = None) -> Any:
    """Apply a function to the parts of the leading axis, one after the other, and stack.

    With `batch_size` so many at once, by `vmap`. Source: ``jax.lax.map``.

    >>> import arrayport.numpy as anp
    >>> from arrayport import lax
    >>> lax.map(lambda x: x + 1, anp.arange(3))
    Array([1, 2, 3], dtype=int32)
    """
    if batch_size is None:
        return scan(lambda _, x: (None, f(x)), None, xs)[1]
    xs = tree_map(lift, xs)
    sizes: list[int] = []
    tree_map(lambda x: sizes.append(x.shape[0]), xs)
    whole = sizes[0] // batch_size * batch_size
    head = tree_map(
        lambda x: structure.reshape(x[:whole], (whole // batch_size, batch_size, *x.shape[1:])), xs
    )
    done = scan(lambda _, x: (None, vmap(f)(x)), None, head)[1]
    done = tree_map(lambda y: structure.reshape(y, (whole, *y.shape[2:])), done)
    if whole == sizes[0]:
        return done
    rest = vmap(f)(tree_map(lambda x: x[whole:], xs))
    return tree_map(lambda a, b: concatenate([a, b], 0), done, rest)
