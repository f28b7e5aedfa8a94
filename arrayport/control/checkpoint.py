"""checkpoint: intermediate values computed again in the backward pass instead of kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from arrayport.control.flat import Staged, flatten
from arrayport.control.jit import batch_held, jvp_held, linear_held, resolve_arguments
from arrayport.control.policies import parted, residuals_of
from arrayport.core.array import Array, aval_of
from arrayport.core.primitive import Holder
from arrayport.core.tree import tree_unflatten
from arrayport.transforms.derived import linearize_program, marked
from arrayport.transforms.engines import by_engine
from arrayport.transforms.varying import told


def _checkpoint_linearize(
    nonzero: Sequence[bool], xs: Sequence[Array], params: dict[str, Any], forward: bool
) -> Any:
    """Only operands and what the policy says are kept; the rest of the residuals is made again."""
    program, policy = params["program"], params["policy"]
    lin = linearize_program(
        program, tuple(nonzero), (False,) * len(program.outs), forward_mode=forward
    )
    saving, again, count = lin.first.derive(("parted", policy), lambda: parted(lin, policy))
    made = checkpoint_p.bind(*xs, program=saving, policy=policy)
    outs, kept = made[: len(made) - count], made[len(made) - count :]

    def residuals() -> list[Array]:
        found = checkpoint_p.bind(*xs, *kept, program=again, policy=policy)
        return residuals_of(lin, xs, found)

    linear = linear_held(lin, residuals, marked(xs, nonzero), program.out_avals, forward)
    return outs, lin.nonzero_out, linear


checkpoint_p: Holder = Holder(
    "checkpoint",
    lambda *_xs, program, policy: program.out_avals,  # noqa: ARG005 - all of its parameters
    lambda size, xs, dims, /, program, policy: batch_held(
        checkpoint_p, size, xs, dims, program, policy=policy
    ),
    jvp=lambda ts, xs, params: jvp_held(checkpoint_p, ts, xs, **params),
    linearize=_checkpoint_linearize,
    runs="program",
)


def checkpoint(
    fun: Callable[..., Any] | None = None,
    *,
    prevent_cse: bool = True,
    policy: Callable[..., bool] | None = None,
    static_argnums: int | tuple[int, ...] = (),
    static_argnames: str | Iterable[str] = (),
) -> Any:
    """Make a function keep nothing for its backward pass but its arguments.

    Source: `jax.checkpoint`.

    Arguments named by `static_argnums` or `static_argnames` keep their Python value. `prevent_cse`
    is always kept to. `policy` says which operations' results are kept all the same: one of
    `checkpoint_policies`.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> ap.grad(ap.checkpoint(lambda x: anp.sin(anp.sin(x))))(0.0)
    Array(1., dtype=float32, weak_type=True)
    """
    if fun is None:
        return partial(
            checkpoint,
            prevent_cse=prevent_cse,
            policy=policy,
            static_argnums=static_argnums,
            static_argnames=static_argnames,
        )
    options: dict[str, Any] = {
        "static_argnums": static_argnums,
        "static_argnames": static_argnames,
    }
    numbers, names = resolve_arguments(fun, options, "static")

    def own(*args: Any, **kwargs: Any) -> Any:
        if told():
            return fun(*args, **kwargs)
        static = {
            n % len(args): args[n % len(args)] for n in numbers if -len(args) <= n < len(args)
        }
        fixed = {k: v for k, v in kwargs.items() if k in names}
        traced_kwargs = {k: v for k, v in kwargs.items() if k not in names}
        leaves, tree = flatten(
            (tuple([a for i, a in enumerate(args) if i not in static]), traced_kwargs),
            "an argument of a checkpointed function",
        )

        def dynamic(given: Any, named: Any) -> Any:
            rest = iter(given)
            full = [static[i] if i in static else next(rest) for i in range(len(args))]
            return fun(*full, **named, **fixed)

        traced = Staged(dynamic, tree, [aval_of(x) for x in leaves])
        outs = checkpoint_p.bind(*traced.captured, *leaves, program=traced.program, policy=policy)
        return tree_unflatten(traced.out_tree, outs)

    options |= {"prevent_cse": prevent_cse, "policy": policy}
    return by_engine(own, "checkpoint", fun, **options)
