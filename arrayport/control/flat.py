"""Functions of pytrees as functions of flat Arrays, and as Programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from arrayport.core.array import Array, Aval, Tracer, aval_of
from arrayport.core.dtypes import float0, promote
from arrayport.core.nodes import keystr, register_pytree_node
from arrayport.core.program import Program, eval_program
from arrayport.core.tree import tree_flatten, tree_flatten_with_path, tree_map, tree_unflatten
from arrayport.ops.promotion import lift
from arrayport.ops.structure import convert, in_front, mapped_in_front
from arrayport.transforms.derived import batch_program
from arrayport.transforms.staging import restage, stage

Counts = tuple[int, int]


def split(xs: Sequence[Any], counts: Counts) -> tuple[list[Any], list[Any], list[Any]]:
    """Part a loop's operands: `counts` says how many are of the first kind and of the second."""
    n, m = counts
    return list(xs[:n]), list(xs[n : n + m]), list(xs[n + m :])


class _Unmoved:
    """Zeros of float0 in a tree: no Array can be, so a node without leaves stands for them."""

    __slots__ = ("shape",)

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape


register_pytree_node(_Unmoved, lambda x: ((), x.shape), lambda shape, _: np.zeros(shape, float0))


def _is_float0(x: Any) -> bool:
    return type(x) is np.ndarray and x.dtype == float0


def _set_apart(x: Any) -> Any:
    return _Unmoved(x.shape) if _is_float0(x) else x


def flatten(tree: Any, name: str) -> tuple[list[Array], Any]:
    """The leaves of a pytree as Arrays, and its structure; `name` is for messages."""
    leaves, structure = tree_flatten(tree)
    if any(map(_is_float0, leaves)):
        leaves, structure = tree_flatten(tree_map(_set_apart, tree))
    return [x if isinstance(x, Array) else lift(x, None, name) for x in leaves], structure


class Staged:
    """A function staged for arguments of given types.

    `like`: types (of a carry) whose weakness the first outputs take on; `given` are the outputs'
    own types.
    """

    __slots__ = ("captured", "given", "out_tree", "program")

    def __init__(
        self,
        fun: Callable[..., Any],
        tree: Any,
        avals: Sequence[Any],
        name: str = "an output",
        like: Sequence[Aval] = (),
    ) -> None:
        out_tree: Any = None
        given: list[Aval] = []

        def flat(*xs: Array) -> list[Array]:
            nonlocal out_tree
            outs, out_tree = flatten(fun(*tree_unflatten(tree, xs)), name)
            given.extend(map(aval_of, outs))
            for i, (o, w) in enumerate(zip(outs, like, strict=False)):
                if o.dtype == w.dtype:
                    outs[i] = convert(o, w.dtype, w.weak)
            return outs

        self.program, self.captured = stage(flat, avals)
        self.out_tree = out_tree
        self.given = given

    @property
    def out_avals(self) -> list[Aval]:
        """Types of the outputs."""
        return self.program.out_avals


def trace_carry(
    carry: list[Array], trace: Callable[[list[Aval]], Staged]
) -> tuple[list[Array], Staged]:
    """Trace the body of a loop; weak parts of the carry take the types that the body gives."""
    while True:
        traced = trace([aval_of(x) for x in carry])
        settled = [_settled(x, o) for x, o in zip(carry, traced.given, strict=False)]
        if len(traced.given) < len(carry) or all(
            x is s for x, s in zip(carry, settled, strict=True)
        ):
            return carry, traced
        carry = settled


def _settled(x: Array, out: Aval) -> Array:
    if not x.weak or x.shape != out.shape or (x.dtype, x.weak) == (out.dtype, out.weak):
        return x
    return convert(x, promote(x.dtype, True, out.dtype, out.weak)[0])


def share_captures(traced: Sequence[Staged]) -> tuple[list[Tracer], list[Program]]:
    """Make several Programs take the same captured tracers first, in one order."""
    captured = {id(x): x for t in traced for x in t.captured}
    free = list(captured.values())
    if len(traced) == 1:
        return free, [t.program for t in traced]
    position = {key: i for i, key in enumerate(captured)}

    def widen(t: Staged) -> Program:
        own = [position[id(x)] for x in t.captured]

        def f(*xs: Array) -> list[Array]:
            return eval_program(t.program, [*[xs[i] for i in own], *xs[len(free) :]])

        return restage(f, [*map(aval_of, free), *t.program.ins[len(own) :]])

    return free, [widen(t) for t in traced]


def batched_programs(
    size: int, xs: Sequence[Array], dims: Sequence[int | None], free: int
) -> tuple[list[Array], Callable[[Program], Program]]:
    """Operands with the batch in front, and what batches a Program of them.

    Of the first `free` those are batched that were; of the others all, and what comes out.
    """
    marks = tuple([d is not None for d in dims[:free]])
    front = mapped_in_front(xs[:free], dims[:free]) + in_front(size, xs[free:], dims[free:])

    def whole(program: Program) -> Program:
        count = len(program.ins) - free
        forced = (True,) * len(program.outs)
        return batch_program(program, size, (*marks, *[True] * count), forced)[0]

    return front, whole


def check_same(
    what: str,
    got_tree: Any,
    got: Sequence[Any],
    want_tree: Any,
    want: Sequence[Any],
    advice: str,
    *,
    weak: bool = True,
) -> None:
    """Raise TypeError, naming the first leaf that differs, unless two outputs are alike."""
    if got_tree != want_tree:
        raise TypeError(f"{what}: the structures differ, {got_tree} against {want_tree}: {advice}")
    for i, (g, w) in enumerate(zip(got, want, strict=True)):
        if g.shape != w.shape or g.dtype != w.dtype or (weak and g.weak != w.weak):
            path = (
                keystr(tree_flatten_with_path(tree_unflatten(want_tree, list(want)))[0][i][0])
                or "the output"
            )
            raise TypeError(f"{what}: {path} is {aval_of(g)} against {aval_of(w)}: {advice}")
