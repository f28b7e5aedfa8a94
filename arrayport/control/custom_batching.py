"""custom_vmap: a function that says itself how it is mapped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import update_wrapper
from typing import Any

from arrayport.control.custom_rules import Custom, plain
from arrayport.control.flat import Staged, check_same, flatten
from arrayport.control.jit import batch_held, jit_linearize, jit_p, jvp_held
from arrayport.control.scanning import scan
from arrayport.core.array import Array, aval_of
from arrayport.core.primitive import Holder
from arrayport.core.program import Program
from arrayport.core.trace import route
from arrayport.core.tree import (
    broadcast_prefix,
    tree_flatten,
    tree_leaves,
    tree_map,
    tree_unflatten,
)
from arrayport.ops.structure import mapped_in_front

# Operands: what the function captured (`free`), then its arguments. A derivative is that of the
# function, mapped as any other; only the function itself is mapped by its rule.


def _batch(
    size: int,
    xs: Sequence[Array],
    dims: Sequence[int | None],
    /,
    program: Program,
    rule: Callable[..., Any],
    free: int,
) -> tuple[list[Array], list[int | None]]:
    if any(d is not None for d in dims[:free]):
        return batch_held(jit_p, size, xs, dims, program)
    front = mapped_in_front(xs, dims)
    outs, mapped = rule(int(size), [d is not None for d in dims[free:]], front[free:])
    return outs, [0 if m else None for m in mapped]


custom_vmap_p: Holder = Holder(
    "custom_vmap",
    lambda *_xs, program, **_rule: program.out_avals,
    _batch,
    jvp=lambda ts, xs, params: jvp_held(jit_p, ts, xs, params["program"]),
    linearize=lambda nonzero, xs, params, forward: jit_linearize(
        nonzero, xs, {"program": params["program"]}, forward
    ),
    runs="program",
)


class custom_vmap(Custom):  # noqa: N801 - JAX's name
    """A function with its own rule for vmap. Source: `jax.custom_batching.custom_vmap`.

    The rule, given by `def_vmap`, maps (size, in_batched, *args), where `in_batched` says of each
    array whether it has a leading batch axis, to (output, out_batched).

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> @custom_vmap
    ... def f(x):
    ...     return anp.sin(x)
    >>> @f.def_vmap
    ... def rule(size, in_batched, x):
    ...     return x * 10, in_batched[0]
    >>> ap.vmap(f)(anp.ones(2))
    Array([10., 10.], dtype=float32)
    """

    rule: Callable[..., Any] | None = None

    def def_vmap(self, vmap_rule: Callable[..., Any]) -> Callable[..., Any]:
        """Set the rule; gives it back, to be used as a decorator."""
        self.rule = vmap_rule
        return vmap_rule

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        given = self.bound(args, kwargs)
        if self.rule is None:
            raise AttributeError(
                f"{self.__name__} is a custom_vmap function without a rule: give it one with "
                "def_vmap"
            )
        _, engine = route(tree_leaves(given))
        if engine is not None:
            return engine.custom_vmap_call(self.fun, self.rule, given)
        leaves, tree = flatten(given, f"an argument of {self.__name__}")
        if plain(leaves):
            return self.fun(*tree_unflatten(tree, leaves))
        traced = Staged(self.fun, tree, [aval_of(x) for x in leaves])

        def rule(size: int, batched: list[bool], xs: list[Array]) -> Any:
            flags = list(tree_unflatten(tree, batched))
            return self.checked(size, traced, self.rule(size, flags, *tree_unflatten(tree, xs)))  # type: ignore[misc]

        outs = custom_vmap_p.bind(
            *traced.captured,
            *leaves,
            program=traced.program,
            rule=rule,
            free=len(traced.captured),
        )
        return tree_unflatten(traced.out_tree, outs)

    def checked(self, size: int, traced: Staged, given: Any) -> tuple[list[Array], list[bool]]:
        """What the rule gave, flat."""
        if not isinstance(given, tuple | list) or len(given) != 2:
            raise TypeError(
                f"the vmap rule of {self.__name__} must give a pair (output, out_batched), not "
                f"{type(given).__name__}"
            )
        outs, tree = flatten(given[0], f"an output of {self.__name__}")
        mapped = broadcast_prefix(given[1], given[0], "out_batched")
        wanted = [
            a._replace(shape=(size, *a.shape)) if m else a
            for a, m in zip(traced.out_avals, mapped, strict=True)
        ]
        advice = "give what the function gives, with a leading axis where out_batched says so"
        what = f"the vmap rule of {self.__name__} does not fit the function"
        check_same(what, tree, outs, traced.out_tree, wanted, advice, weak=False)
        return outs, mapped


def sequential_vmap(f: Callable[..., Any]) -> custom_vmap:
    """Let vmap of a function call it for one example after the other.

    Source: `jax.custom_batching.sequential_vmap`.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> ap.vmap(sequential_vmap(lambda x: anp.sin(x) * 0 + 1))(anp.ones(2))
    Array([1., 1.], dtype=float32)
    """
    made = custom_vmap(f)
    update_wrapper(made, f)

    @made.def_vmap
    def rule(size: int, in_batched: Any, *args: Any) -> Any:
        leaves, tree = tree_flatten(args)
        marks = tree_leaves(in_batched)
        mapped = [x for x, m in zip(leaves, marks, strict=True) if m]

        def step(_: Any, xs: Any) -> Any:
            rest = iter(xs)
            full = [next(rest) if m else x for x, m in zip(leaves, marks, strict=True)]
            return None, f(*tree_unflatten(tree, full))

        _, out = scan(step, None, mapped, length=size)
        return out, tree_map(lambda _: True, out)

    return made
