"""Gradients within a shard_map that tells what is equal along its axes from what varies.

There a value that does not depend on an axis is one for all its places, and so is its cotangent:
the sum of what the places give. A gradient therefore begins each meeting of such a value with one
that varies by `pcast`, whose transpose is that sum. In a body that is traced by types alone nothing
tells them apart: a scan that needs it runs step by step, other holders are refused.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Any

from arrayport.core.array import Array, Tracer
from arrayport.core.primitive import Binary, Collective, Holder, Primitive, axes_named
from arrayport.core.trace import Trace, current_stage, named_axes
from arrayport.ops.collectives import pcast_p
from arrayport.transforms.batching import BatchTracer, NamedBatchTrace
from arrayport.transforms.graph import GradTrace


class UntoldError(NotImplementedError):
    """Raised for a gradient where the values that meet do not tell what varies."""


class TellingTrace(NamedBatchTrace):
    """The trace of an axis along which what is equal is told from what varies."""


def told(names: Any = None) -> tuple[Hashable, ...]:
    """Those of the axes, or of all, along which it is told."""
    axes = named_axes.get()
    return tuple(
        [n for n in (axes if names is None else names) if type(axes.get(n)) is TellingTrace]
    )


def layers(x: Any) -> Iterator[tuple[Trace, Tracer]]:
    """The traces that watch a value, the innermost first, each with what it sees."""
    while isinstance(x, Tracer):
        yield x.owner, x
        x = getattr(x, "value", None)


def varies(x: Any) -> set[Hashable]:
    """The axes along which a value varies."""
    return {
        owner.size.name
        for owner, seen in layers(x)
        if type(owner) is TellingTrace and type(seen) is BatchTracer
    }


def asked(xs: Sequence[Any]) -> bool:
    """Whether a gradient is taken that asks it of one of these values."""
    return any(type(owner) is VaryingGradTrace for x in xs for owner, _ in layers(x))


def varied(x: Array, names: Sequence[Hashable]) -> Array:
    """A value as one that varies along the axes."""
    own = varies(x)
    for name in names:
        if name not in own:
            x = pcast_p.bind(x, axes=(name,))
    return x


def grad_trace(forward: bool = False) -> GradTrace:
    """A trace for gradients, here."""
    if not named_axes.get() or not (names := told()):
        return GradTrace(forward)
    if current_stage().level > min(named_axes.get()[n].level for n in names):
        raise UntoldError(
            "a gradient is taken within the body of a while_loop, a branch or the like, within a "
            "shard_map that tells what varies: take the gradient around that, or pass "
            "check_vma=False to shard_map and sum the gradients yourself (lax.psum)"
        )
    return VaryingGradTrace(forward)


class VaryingGradTrace(GradTrace):
    """Records nodes where all operands vary along the same axes."""

    def process(self, prim: Primitive, args: Sequence[Array], params: dict[str, Any]) -> Any:
        if isinstance(prim, Holder) and told(axes_named(params)):
            raise UntoldError(
                f"{prim.name} with a collective in its body has no gradient within a shard_map "
                "that tells what varies: take the gradient around the shard_map, or pass "
                "check_vma=False to it and sum the gradients yourself (lax.psum)"
            )
        if not isinstance(prim, Collective):
            args = self.met(args)
        return super().process(prim, args, params)

    def process_binary(self, prim: Binary, x: Array, y: Array, params: dict[str, Any]) -> Any:
        x, y = self.met((x, y))
        return super().process_binary(prim, x, y, params)

    def met(self, args: Sequence[Array]) -> list[Array]:
        """Operands, those with a gradient made to vary as all together do."""
        names = sorted(set().union(*map(varies, args)), key=str)
        return [varied(a, names) if names and self.owns(a) else a for a in args]
