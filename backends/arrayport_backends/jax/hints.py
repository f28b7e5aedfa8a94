"""JAX's own barriers, tokens, generators, and choices of its compiler, for arrayport's Arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from jax import lax

from arrayport_backends.jax.control import met
from arrayport_backends.jax.faults import translating
from arrayport_backends.jax.leaves import OURS, Seen, rewrap, unwrap

theirs: Any = lax  # of which some functions have no types
create_token, after_all = lax.create_token, lax.after_all


@translating
def optimization_barrier(operand: Any) -> Any:
    """Keep XLA from moving work across this point."""
    raws, kinds = unwrap(operand)
    return rewrap(theirs.optimization_barrier(raws), kinds)


def dce_sink(val: Any, **options: Any) -> None:
    """Have XLA compute a value that nothing uses."""
    lax.dce_sink(unwrap(val)[0], **options)


@translating
def platform_dependent(
    args: Sequence[Any],
    default: Callable[..., Any] | None,
    per_platform: Mapping[str, Callable[..., Any]],
) -> Any:
    """Choose a function where the program is compiled."""
    raws, kinds = unwrap(args)
    seen = {name: Seen(function, kinds) for name, function in per_platform.items()}
    otherwise = None if default is None else Seen(default, kinds)
    out = lax.platform_dependent(*raws, default=otherwise, **seen)
    return met([*seen.values(), *([otherwise] if otherwise else [])], out)


@translating
def composite(
    decomposition: Callable[..., Any],
    name: str,
    version: int,
    args: Sequence[Any],
    attributes: Mapping[str, Any],
) -> Any:
    """Call a function that XLA may replace."""
    raws, kinds = unwrap(args)
    seen = Seen(lambda *xs: decomposition(*xs, **attributes), kinds)
    called = lax.composite(lambda *xs, **_attributes: seen(*xs), name, version)
    return seen.wrap(called(*raws, **attributes))


@translating
def rng_bit_generator(key: Any, *arguments: Any, **options: Any) -> Any:
    """Give the next key and random bits of the device's own."""
    return rewrap(theirs.rng_bit_generator(unwrap(key)[0], *arguments, **options), OURS)


@translating
def rng_uniform(a: Any, b: Any, shape: Sequence[int]) -> Any:
    """Give random numbers of the device's own."""
    return rewrap(theirs.rng_uniform(*unwrap((a, b))[0], shape), OURS)
