"""How arrays are printed: NumPy's options, which Arrays follow, and options for once."""

from __future__ import annotations

from typing import Any

from numpy import get_printoptions, printoptions, set_printoptions

from arrayport.numpy.arguments import arrayed

__all__ = ["array_repr", "array_str", "get_printoptions", "printoptions", "set_printoptions"]


def _options(max_line_width: Any, precision: Any, suppress_small: Any) -> Any:
    """Set the given options for a while; None leaves one as it is."""
    given = {"linewidth": max_line_width, "precision": precision, "suppress": suppress_small}
    return printoptions(**{name: value for name, value in given.items() if value is not None})


def array_repr(
    arr: Any, max_line_width: Any = None, precision: Any = None, suppress_small: Any = None
) -> str:
    """Give `repr` of an array, with printing options for this once.

    Source: ``jax.numpy.array_repr``.

    >>> import arrayport.numpy as anp
    >>> anp.array_repr(anp.array([1 / 3, 2.0]), precision=2)
    'Array([0.33, 2.  ], dtype=float32)'
    """
    with _options(max_line_width, precision, suppress_small):
        return repr(arrayed(arr, "arr"))


def array_str(
    a: Any, max_line_width: Any = None, precision: Any = None, suppress_small: Any = None
) -> str:
    """Give `str` of an array, with printing options for this once.

    Source: ``jax.numpy.array_str``.

    >>> import arrayport.numpy as anp
    >>> anp.array_str(anp.array([1 / 3, 2.0]), precision=2)
    '[0.33 2.  ]'
    """
    with _options(max_line_width, precision, suppress_small):
        return str(arrayed(a, "a"))
