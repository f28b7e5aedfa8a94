"""linear_transpose: the transpose of a function that is linear, at no point in particular."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from arrayport.control.flat import Staged
from arrayport.control.jit import jit_p
from arrayport.core.array import Array, Aval, aval_of
from arrayport.core.dtypes import is_inexact
from arrayport.core.errors import user_line
from arrayport.core.primitive import Holder
from arrayport.core.program import Literal, Program
from arrayport.core.tree import tree_flatten, tree_unflatten
from arrayport.ops.promotion import lift
from arrayport.ops.structure import convert, zeros
from arrayport.transforms.derived import Linearized, linearize_program
from arrayport.transforms.engines import run_on_engine
from arrayport.transforms.inspection import typed


def linear_transpose(
    fun: Callable[..., Any],
    *primals: Any,
    reduce_axes: Sequence[Any] = (),  # noqa: ARG001 - JAX's signature
) -> Callable[[Any], Any]:
    """Transpose a linear function: the map from cotangents of its output to those of its inputs.

    Source: `jax.linear_transpose`.

    `primals`: arrays or their types (`ShapeDtypeStruct`), floating or complex; their values are not
    read. Raises TypeError for a function that is not linear, as far as that shows outside loops.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> pull = ap.linear_transpose(lambda x: x.sum() * 2.0, ap.ShapeDtypeStruct((3,), "float32"))
    >>> pull(1.0)
    (Array([2., 2., 2.], dtype=float32),)
    """
    return run_on_engine("linear_transpose", _linear_transpose, primals, fun, *primals)


def _linear_transpose(fun: Callable[..., Any], *primals: Any) -> Callable[[Any], Any]:
    leaves, tree = tree_flatten(primals)
    avals = [typed(x) for x in leaves]
    for a in avals:
        if not is_inexact(a.dtype):
            raise TypeError(f"linear_transpose needs floating or complex inputs, got {a}")
    traced = Staged(fun, tree, avals)
    program, captured = traced.program, traced.captured
    nonzero = (*[False] * len(captured), *[True] * len(avals))
    lin = linearize_program(program, nonzero, (False,) * len(program.outs))
    if _reads_inputs(lin, nonzero):
        raise TypeError(
            f"linear_transpose was given a function at {user_line()} that is not linear in its "
            "inputs: use vjp, which transposes its derivative at a point"
        )

    def transpose(ct: Any) -> Any:
        cts, ct_tree = tree_flatten(ct)
        if ct_tree != traced.out_tree:
            raise TypeError(
                f"the cotangent given to a linear_transpose has structure {ct_tree}, the output "
                f"has {traced.out_tree}"
            )
        pairs = zip(cts, program.out_avals, lin.nonzero_out, strict=True)
        given = [_typed_as(c, aval) for c, aval, nz in pairs if nz]
        xs: list[Array] = [*captured, *map(zeros, avals)]
        made = jit_p.bind(*xs, program=lin.first)
        found = jit_p.bind(*lin.residuals(xs, made), *given, program=lin.linear)
        return tree_unflatten(tree, found)

    return transpose


def _typed_as(ct: Any, aval: Aval) -> Array:
    ct = lift(ct, None, "a cotangent")
    if ct.shape != aval.shape or (ct.dtype != aval.dtype and not ct.weak):
        raise TypeError(
            f"the cotangent given to a linear_transpose is {aval_of(ct)}, the output {aval}"
        )
    return convert(ct, aval.dtype, aval.weak)


def _reads_inputs(lin: Linearized, nonzero: Sequence[bool]) -> bool:
    """Whether the linear half needs a value that depends on the inputs."""
    made = _dependent(lin.first, nonzero)[len(lin.nonzero_out) :]
    return any(made) or any(i is not None and nonzero[i] for i in lin.forwarded)


def _dependent(program: Program, marks: Sequence[bool]) -> list[bool]:
    """Which outputs depend on the marked inputs; those of loops and branches count as not."""
    known = {v for v, m in zip(program.ins, marks, strict=True) if m}
    for prim, ins, params, outs in program.eqns:
        reads = [type(a) is not Literal and a in known for a in ins]
        if prim is jit_p:
            found = zip(outs, _dependent(params["program"], reads), strict=True)
            known.update(v for v, m in found if m)
        elif any(reads) and not isinstance(prim, Holder):
            known.update(outs)
    return [a in known for a in program.outs]
