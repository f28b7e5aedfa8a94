"""JAX's collectives, for arrayport's Arrays and in its Programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from jax import lax

from arrayport.core.backend import Refusal
from arrayport.core.errors import user_line
from arrayport.core.primitive import Primitive
from arrayport.ops.collectives import COLLECTIVES
from arrayport_backends.jax.faults import translating
from arrayport_backends.jax.leaves import rewrap, unwrap, wrap

untyped: Any = lax  # some of whose functions have no types


def _leafwise(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a collective of pytrees of raw values one of pytrees of Arrays."""

    @translating
    def call(x: Any, axis_name: Any, *args: Any, **options: Any) -> Any:
        raws, kinds = unwrap(x)
        try:
            return rewrap(function(raws, axis_name, *args, **options), kinds)
        except AssertionError as e:  # so JAX says of a name that it does not know, and of tuples
            names = axis_name if isinstance(axis_name, tuple | list) else (axis_name,)
            try:
                list(map(lax.axis_size, names))
            except (NameError, AssertionError):
                raise NameError(
                    f"unbound axis name in {axis_name!r} at {user_line()}: name an axis of the mesh"
                ) from e
            raise NotImplementedError(
                f"JAX's vmap has no {function.__name__} over several axes {names}, at "
                f"{user_line()}: map by shard_map, or over one axis after the other"
            ) from e

    return call


psum = _leafwise(lax.psum)
pmean = _leafwise(lax.pmean)
pmax = _leafwise(lax.pmax)
pmin = _leafwise(lax.pmin)
all_gather = _leafwise(lax.all_gather)
psum_scatter = _leafwise(lax.psum_scatter)
all_to_all = _leafwise(lax.all_to_all)
ppermute = _leafwise(lax.ppermute)
pbroadcast = _leafwise(lax.pbroadcast)
pcast = _leafwise(lax.pcast)


@translating
def ragged_all_to_all(*operands: Any, **options: Any) -> Any:
    """Send slices of rows between examples."""
    return wrap(untyped.ragged_all_to_all(*unwrap(operands)[0], **options))


@translating
def axis_index(axis_name: Any) -> Any:
    """Say where along a mapped axis an example stands."""
    return wrap(lax.axis_index(axis_name))


@translating
def axis_size(axis_name: Any) -> int:
    """Say how many examples stand along a mapped axis."""
    return lax.axis_size(axis_name)


MAPPED = Refusal("JAX's own transformations do it, by lax's function of that name")

ROWS: Mapping[Primitive, Callable[..., Any] | Refusal] = dict.fromkeys(COLLECTIVES, MAPPED)
