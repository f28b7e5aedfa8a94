"""The steps between a jitted function and its executor, for looking at them ahead of time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

from arrayport.control.flat import Staged, flatten
from arrayport.core.array import Aval, aval_of
from arrayport.core.backend import Backend, enter, leave
from arrayport.core.nodes import keystr
from arrayport.core.primitive import Primitive
from arrayport.core.program import Program, inner_programs
from arrayport.core.tree import tree_flatten_with_path, tree_unflatten
from arrayport.ops.convolution import conv_general_dilated_p
from arrayport.ops.products import dot_general_p
from arrayport.transforms.inspection import ShapeDtypeStruct

Bind = Callable[..., Any]
PROGRAMS = (None, "stablehlo", "hlo")  # what is printed as the Program
CODES = ("schedule", "llvm", "asm", "cuda")  # what our own compiler makes of it


@dataclass(frozen=True)
class ArgInfo:
    """What is known of one array among the arguments. Source: `jax.stages.ArgInfo`.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> (info,), _ = ap.jit(lambda x: 2 * x, donate_argnums=0).trace(anp.ones(3)).args_info
    >>> info.shape, info.donated
    ((3,), True)
    """

    aval: Aval
    donated: bool

    @property
    def shape(self) -> tuple[int, ...]:
        """Extent of each axis."""
        return self.aval.shape

    @property
    def dtype(self) -> Any:
        """Element type."""
        return self.aval.dtype


@dataclass(frozen=True)
class CompiledMemoryStats:
    """What a compiled function takes and gives. Source: `jax.stages.Compiled.memory_analysis`."""

    argument_size_in_bytes: int
    output_size_in_bytes: int


class Stage:
    """What the stages have in common: the types of arguments and results."""

    def __init__(
        self, staged: Staged, tree: Any, backend: Backend, name: str, donated: Any, bind: Bind
    ) -> None:
        self.staged = staged
        self.in_tree = tree
        self.backend = backend
        self.fun_name = name
        self.donate_argnums = donated
        self._bind = bind

    @property
    def program(self) -> Program:
        """The Program, whose first inputs are what the function captured."""
        return self.staged.program

    @property
    def out_tree(self) -> Any:
        """The structure of the results."""
        return self.staged.out_tree

    @property
    def in_avals(self) -> Any:
        """The types of the arguments, (positional, keyword)."""
        return tree_unflatten(self.in_tree, self.wanted())

    @property
    def args_info(self) -> Any:
        """The same as ArgInfos."""
        infos = [
            ArgInfo(a, path[0].idx == 0 and path[1].idx in self.donate_argnums)
            for path, a in zip(self.paths(), self.wanted(), strict=True)
        ]
        return tree_unflatten(self.in_tree, infos)

    @property
    def out_info(self) -> Any:
        """The types of the results."""
        types = [
            ShapeDtypeStruct(v.shape, v.dtype, weak_type=v.weak) for v in self.staged.out_avals
        ]
        return tree_unflatten(self.out_tree, types)

    def paths(self) -> list[Any]:
        """Where each array among the arguments is."""
        places = tree_unflatten(self.in_tree, list(range(self.in_tree.num_leaves)))
        return [path for path, _ in tree_flatten_with_path(places)[0]]

    def wanted(self) -> list[Aval]:
        """The types of the arguments, flat."""
        return self.program.in_avals[len(self.staged.captured) :]

    def then(self, stage: type[Any]) -> Any:
        """The next stage."""
        parts = self.staged, self.in_tree, self.backend, self.fun_name, self.donate_argnums
        return stage(*parts, self._bind)


class Traced(Stage):
    """A function traced for types of arguments. Source: `jax.stages.Traced`.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> ap.jit(lambda x: 2 * x).trace(anp.ones(3)).out_info
    ShapeDtypeStruct(shape=(3,), dtype=float32)
    """

    @property
    def jaxpr(self) -> Program:
        """The Program."""
        return self.program

    def lower(self, **_platforms: Any) -> Lowered:
        """Go on to the form that is compiled."""
        return self.then(Lowered)


class Lowered(Stage):
    """A function in the form that is compiled. Source: `jax.stages.Lowered`.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> print(ap.jit(lambda x: 2 * x).lower(anp.ones(3)).as_text())
    lambda a:float32[3]:
      b:float32[3] = mul 2.0 a
      return b
    """

    def as_text(self, dialect: str | None = None, *, debug_info: bool = False) -> str:
        """Print the Program, its "schedule", or its code: "llvm" or "asm" on NumPy, "cuda" on CuPy.

        XLA's dialects, "stablehlo" and "hlo", give the Program too. ValueError if the dialect is
        none of these, or the backend has none such.
        """
        del debug_info
        if dialect in PROGRAMS:
            return str(self.program)
        if dialect not in CODES:
            choices = ", ".join(map(repr, (*PROGRAMS, *CODES)))
            raise ValueError(f"dialect: {dialect!r} is not one of {choices}")
        return self.backend.text(self.program, str(dialect))

    def compiler_ir(self, dialect: str | None = None) -> Program:
        """Give the Program."""
        del dialect
        return self.program

    def cost_analysis(self) -> dict[str, float]:
        """Estimate floating-point operations and bytes read and written."""
        return cost(self.program)

    def compile(self, compiler_options: Any = None) -> Compiled:
        """Go on to what can be called."""
        del compiler_options
        token = enter(self.backend)
        try:
            self.program.run(self.backend)
        finally:
            leave(token)
        return self.then(Compiled)


class Compiled(Stage):
    """A function compiled for types of arguments, called without the static ones.

    Source: `jax.stages.Compiled`.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> double = ap.jit(lambda x: 2 * x).lower(anp.ones(3)).compile()
    >>> double(anp.array([1.0, 2.0, 3.0]))  # of these types only: nothing is traced any more
    Array([2., 4., 6.], dtype=float32)
    """

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        leaves, tree = flatten((args, kwargs), "an argument of a compiled function")
        wanted = self.wanted()
        if tree != self.in_tree or [aval_of(x)[:2] for x in leaves] != [a[:2] for a in wanted]:
            got = ", ".join(str(aval_of(x)) for x in leaves)
            pairs = zip(self.paths(), wanted, strict=True)
            need = ", ".join(f"{keystr(path[1:])}: {a}" for path, a in pairs)
            raise TypeError(
                f"this compiled {self.fun_name} takes ({need}), without static arguments; it was "
                f"called with ({got})"
            )
        outs = self._bind(*self.staged.captured, *leaves, program=self.program)
        return tree_unflatten(self.out_tree, outs)

    def as_text(self) -> str:
        """Print the Program."""
        return str(self.program)

    def cost_analysis(self) -> dict[str, float]:
        """Estimate floating-point operations and bytes read and written."""
        return cost(self.program)

    def memory_analysis(self) -> CompiledMemoryStats:
        """Count the bytes of arguments and results."""
        return CompiledMemoryStats(
            sum(map(_bytes, self.program.ins)), sum(map(_bytes, self.program.outs))
        )

    def runtime_executable(self) -> Any:
        """Give the backend's executor."""
        return self.program.run(self.backend)


def _bytes(x: Any) -> int:
    return prod(x.shape) * x.dtype.itemsize


def cost(program: Program) -> dict[str, float]:
    """Operations as arithmetic counts them: a product is two, a loop's body counts once a step."""
    total = {"flops": 0.0, "bytes accessed": 0.0}
    for prim, ins, params, outs in program.eqns:
        inner = inner_programs(params)
        times = params.get("length", 1)
        for part in map(cost, inner):
            for key, count in part.items():
                total[key] += times * count
        if not inner:
            total["flops"] += _operations(prim, ins, params, outs)
            total["bytes accessed"] += sum(map(_bytes, (*ins, *outs)))
    return total


def _operations(prim: Primitive, ins: Any, params: dict[str, Any], outs: Any) -> float:
    size = sum(prod(v.shape) for v in outs)
    if prim is dot_general_p:
        return 2.0 * size * prod(ins[0].shape[i] for i in params["contract"][0])
    if prim is conv_general_dilated_p:
        features = ins[1].shape[params["dimension_numbers"].rhs_spec[0]]
        return 2.0 * size * prod(ins[1].shape) / max(features, 1)
    if prim.name.startswith(("reduce_", "cum")):
        return float(prod(ins[0].shape))
    return float(size) if prim.partials else 0.0
