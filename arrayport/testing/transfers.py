"""Whether arrays stay on their device: each one that leaves it makes the host wait."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from arrayport.core.guards import noted

SHOWN = 5


@contextmanager
def assert_no_transfer() -> Iterator[None]:
    """Require that no Array's values reach the host in a `with` block, or a decorated function.

    They do by `float`, `if`, `np.asarray`, printing, `.item()`, `device_get` and `device_put` to
    another backend. On NumPy the host is the device, so nothing moves: run it on "jax", "cupy" or
    "cupy-sim". Raises AssertionError at the end that names the lines.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> with ap.use_backend("cupy-sim"), assert_no_transfer():
    ...     y = anp.sum(anp.ones(3)) * 2
    >>> @assert_no_transfer()
    ... def clipped(x):
    ...     return anp.where(anp.max(x) > 1, x / anp.max(x), x)
    """
    with noted() as moves:
        yield
    if moves:
        more = f" and {len(moves) - SHOWN} more" if len(moves) > SHOWN else ""
        raise AssertionError(f"arrays moved to the host: {'; '.join(moves[:SHOWN])}{more}")
