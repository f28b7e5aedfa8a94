"""JAX's collectives, for arrayport's Arrays and in its Programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial, wraps
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.tree_util import tree_map

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
    @wraps(function)
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


def _with_derivative(extreme: Callable[..., Any]) -> Callable[..., Any]:
    """Give a maximum or minimum along axes the derivative that JAX has not: of those that tie."""

    @partial(jax.custom_jvp, nondiff_argnums=(1, 2))
    def one(x: Any, axis_name: Any, axis_index_groups: Any) -> Any:
        return extreme(x, axis_name, axis_index_groups=axis_index_groups)

    @one.defjvp
    def _(axis_name: Any, axis_index_groups: Any, primals: Any, tangents: Any) -> tuple[Any, Any]:
        (x,), (t,) = primals, tangents
        best = one(x, axis_name, axis_index_groups)
        sums = partial(lax.psum, axis_name=axis_name, axis_index_groups=axis_index_groups)
        attained = (x == best).astype(x.dtype)
        return best, sums(t * attained) / sums(attained)

    @wraps(extreme)
    def each(x: Any, axis_name: Any, *, axis_index_groups: Any = None) -> Any:
        def leaf(x: Any) -> Any:
            function = one if jnp.issubdtype(jnp.result_type(x), jnp.inexact) else one.fun
            return function(x, axis_name, axis_index_groups)

        return tree_map(leaf, x)

    return each


psum = _leafwise(lax.psum)
pmean = _leafwise(lax.pmean)
pmax = _leafwise(_with_derivative(lax.pmax))
pmin = _leafwise(_with_derivative(lax.pmin))
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
