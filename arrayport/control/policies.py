"""What a checkpointed function may keep: policies over the operations of its forward pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from arrayport.core.array import Array, Aval
from arrayport.core.primitive import Primitive, Unary
from arrayport.core.program import Atom, Program, Var
from arrayport.core.tree import tree_map
from arrayport.ops.convolution import conv_general_dilated_p
from arrayport.ops.products import dot_general_p
from arrayport.ops.promotion import lift
from arrayport.passes.prune import prune
from arrayport.transforms.derived import Linearized

name_p: Unary = Unary(
    "name",
    lambda x, name: Aval(x.shape, x.dtype, x.weak),  # noqa: ARG005 - all of its parameters
    lambda _size, xs, dims, /, name: (name_p.bind(xs[0], name=name), dims[0]),
    partials=(lambda g, _ans, _x, name: g,),  # noqa: ARG005 - all of its parameters
)


def checkpoint_name(x: Any, name: str) -> Any:
    """Name values, for the policies of `checkpoint` that save by name.

    Source: `jax.ad_checkpoint.checkpoint_name`.

    >>> import arrayport.numpy as anp
    >>> checkpoint_name(anp.arange(2), "count")
    Array([0, 1], dtype=int32)
    """
    return tree_map(lambda v: name_p.bind(lift(v, None, "x"), name=name), x)


@dataclass(frozen=True)
class Policy:
    """A rule that says of an operation whether its results are kept; JAX's of the same name.

    It is called as JAX calls one: `policy(primitive, *types, **parameters)`.
    """

    name: str
    arguments: tuple[Any, ...] = ()
    named: tuple[tuple[str, Any], ...] = ()

    def __call__(self, prim: Primitive, *types: Any, **params: Any) -> bool:
        if self.name == "save_from_both_policies":
            return any(policy(prim, *types, **params) for policy in self.arguments)
        return bool(RULES[self.name](prim, params, self.arguments, dict(self.named)))


def _plain_dot(prim: Primitive, params: dict[str, Any], *_arguments: Any) -> bool:
    return prim is dot_general_p and not any(params["batch"])


PRODUCTS = (dot_general_p, conv_general_dilated_p)
Rule = Callable[[Primitive, dict[str, Any], tuple[Any, ...], dict[str, Any]], bool]
# An offloaded value is kept: there is one kind of memory.
RULES: dict[str, Rule] = {
    "everything_saveable": lambda *_: True,
    "nothing_saveable": lambda *_: False,
    "dots_saveable": lambda prim, *_: prim in PRODUCTS,
    "dots_with_no_batch_dims_saveable": _plain_dot,
    "offload_dot_with_no_batch_dims": _plain_dot,
    "save_anything_except_these_names": lambda prim, params, names, _: (
        prim is not name_p or params["name"] not in names
    ),
    "save_any_names_but_these": lambda prim, params, names, _: (
        prim is name_p and params["name"] not in names
    ),
    "save_only_these_names": lambda prim, params, names, _: (
        prim is name_p and params["name"] in names
    ),
    "save_and_offload_only_these_names": lambda prim, params, _, named: (
        prim is name_p
        and params["name"]
        in (*named["names_which_can_be_saved"], *named["names_which_can_be_offloaded"])
    ),
}


class CheckpointPolicies:
    """The policies for `checkpoint(policy=...)`. Source: `jax.checkpoint_policies`.

    >>> checkpoint_policies.save_only_these_names("a")
    Policy(name='save_only_these_names', arguments=('a',), named=())
    """

    everything_saveable = Policy("everything_saveable")
    nothing_saveable = Policy("nothing_saveable")
    dots_saveable = checkpoint_dots = Policy("dots_saveable")
    dots_with_no_batch_dims_saveable = checkpoint_dots_with_no_batch_dims = Policy(
        "dots_with_no_batch_dims_saveable"
    )

    @staticmethod
    def offload_dot_with_no_batch_dims(offload_src: str, offload_dst: str) -> Policy:
        """Keep products without batch dimensions, elsewhere on JAX."""
        return Policy("offload_dot_with_no_batch_dims", (offload_src, offload_dst))

    @staticmethod
    def save_anything_except_these_names(*names_not_to_save: str) -> Policy:
        """Keep everything but values of these names."""
        return Policy("save_anything_except_these_names", names_not_to_save)

    @staticmethod
    def save_any_names_but_these(*names_not_to_save: str) -> Policy:
        """Keep values with a name, but of none of these."""
        return Policy("save_any_names_but_these", names_not_to_save)

    @staticmethod
    def save_only_these_names(*names_which_can_be_saved: str) -> Policy:
        """Keep values of these names."""
        return Policy("save_only_these_names", names_which_can_be_saved)

    @staticmethod
    def save_from_both_policies(
        policy_1: Callable[..., bool], policy_2: Callable[..., bool]
    ) -> Policy:
        """Keep what either policy keeps."""
        return Policy("save_from_both_policies", (policy_1, policy_2))

    @staticmethod
    def save_and_offload_only_these_names(
        *,
        names_which_can_be_saved: Sequence[str],
        names_which_can_be_offloaded: Sequence[str],
        offload_src: str,
        offload_dst: str,
    ) -> Policy:
        """Keep values of these names, some of them elsewhere on JAX."""
        named = {
            "names_which_can_be_saved": tuple(names_which_can_be_saved),
            "names_which_can_be_offloaded": tuple(names_which_can_be_offloaded),
            "offload_src": offload_src,
            "offload_dst": offload_dst,
        }
        return Policy("save_and_offload_only_these_names", (), tuple(named.items()))


checkpoint_policies = CheckpointPolicies()


def parted(lin: Linearized, policy: Callable[..., bool] | None) -> tuple[Program, Program, int]:
    """The forward pass that keeps what a policy says, and the one that finds the residuals again.

    The first gives outputs, then what is kept; the second takes the inputs, then what was kept.
    """
    first, n = lin.first, len(lin.nonzero_out)
    kept: list[Var] = []
    needed: set[Atom] = set(first.outs[n:])
    for prim, ins, params, outs in reversed(first.eqns):
        wanted = [v for v in outs if v in needed]
        if wanted and policy is not None and policy(prim, *ins, **params):
            kept += wanted
        elif wanted:
            needed.update(ins)
    saving = Program(first.ins, first.eqns, [*first.outs[:n], *kept])
    known = set(kept)
    again = [e for e in first.eqns if known.isdisjoint(e.outs)]
    return saving, prune(Program([*first.ins, *kept], again, first.outs[n:])), len(kept)


def residuals_of(lin: Linearized, xs: Sequence[Array], found: Sequence[Array]) -> list[Array]:
    """What the linear half takes first, from what the second pass found."""
    made = iter(found)
    return [next(made) if i is None else xs[i] for i in lin.forwarded]
