"""What libraries take from JAX's own modules, as far as it means something here."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from itertools import accumulate
from types import ModuleType
from typing import Any, NamedTuple

from arrayport import dtypes
from arrayport.core.array import Array, Aval, Tracer, aval_of
from arrayport.core.names import VERSION
from arrayport.core.program import Eqn, Literal, Program, Var, eval_program
from arrayport.core.trace import staging
from arrayport.core.tree import tree_flatten, tree_structure, tree_unflatten, treedef_tuple
from arrayport.passes.prune import prune
from arrayport.testing.gradients import check_grads
from arrayport.transforms.staging import stage


class _Shaped(type):
    """The type of a type whose instances are all avals."""

    def __instancecheck__(cls, x: object) -> bool:
        return isinstance(x, Aval)


class ShapedArray(Aval, metaclass=_Shaped):
    """An aval, made as JAX makes its own; nothing is said of where it is."""

    def __new__(  # type: ignore[misc] # it is an Aval
        cls, shape: Sequence[int], dtype: Any, weak_type: bool = False, **_divided: Any
    ) -> Aval:
        """Leave out how it is divided."""
        return Aval(tuple(shape), dtype, weak_type)


def get_opaque_trace_state(**_named: Any) -> int:
    """Tell the Program under construction from others."""
    return id(staging.get())


class WrappedFun:
    """A function of flat operands, and the generators that its calls go through."""

    def __init__(self, call: Callable[..., Any]) -> None:
        self.call_wrapped = call


def wrap_init(f: Callable[..., Any], params: Any = None, **_named: Any) -> WrappedFun:
    """Begin a chain of transformations with a function."""
    return WrappedFun((lambda *args: f(*args, **params)) if params else f)


def transformation(gen: Callable[..., Generator[Any, Any, Any]]) -> Callable[..., WrappedFun]:
    """Make of a generator what wraps a function: operands out, results in, answer out."""

    def wrap(fun: WrappedFun, *fixed: Any) -> WrappedFun:
        def call(*args: Any) -> Any:
            steps = gen(*fixed, *args)
            operands, keywords = next(steps)
            return steps.send(fun.call_wrapped(*operands, **keywords))

        return WrappedFun(call)

    return wrap


def flatten_fun(fun: WrappedFun, in_tree: Any) -> tuple[WrappedFun, Callable[[], Any]]:
    """Let a function take and give leaves; the tree of what it gave is known after a call."""
    trees = []

    def flat(*leaves: Any) -> list[Any]:
        args, keywords = tree_unflatten(in_tree, leaves)
        outs, tree = tree_flatten(fun.call_wrapped(*args, **keywords))
        trees.append(tree)
        return outs

    return WrappedFun(flat), lambda: trees[-1]


def flatten_fun_nokwargs(fun: WrappedFun, in_tree: Any) -> tuple[WrappedFun, Callable[[], Any]]:
    """As `flatten_fun`, for a tree of positional arguments alone."""
    return flatten_fun(fun, treedef_tuple((in_tree, tree_structure({}))))


def trace_to_jaxpr_dynamic(
    fun: WrappedFun, avals: Sequence[Aval]
) -> tuple[Program, list[Aval], list[Tracer]]:
    """Give a Program, the types of what it gives, and what it captured: its first inputs."""
    program, captured = stage(fun.call_wrapped, avals)
    return program, program.out_avals, captured


def dce_jaxpr(program: Program, used: Sequence[bool]) -> tuple[Program, list[bool]]:
    """Leave out what the used outputs do not need; say which inputs they need."""
    outs = [out for out, use in zip(program.outs, used, strict=True) if use]
    pruned = prune(Program(program.ins, program.eqns, outs))
    read = {*pruned.outs, *[atom for eqn in pruned.eqns for atom in eqn.ins]}
    needed = [v in read for v in program.ins]
    ins = [v for v, need in zip(program.ins, needed, strict=True) if need]
    return Program(ins, pruned.eqns, pruned.outs), needed


class PartialVal(NamedTuple):
    """A type of what is not known, or what is."""

    aval: Aval | None
    const: Array | None

    @classmethod
    def unknown(cls, aval: Aval) -> PartialVal:
        """Make one of a type."""
        return cls(aval, None)


def trace_to_jaxpr_nounits(
    fun: WrappedFun, operands: Sequence[PartialVal], **_named: Any
) -> tuple[Program, list[PartialVal], list[Tracer]]:
    """Trace for operands that are not known; of the answers those are that need none of them."""
    avals = [x.aval for x in operands if x.aval is not None]
    program, types, captured = trace_to_jaxpr_dynamic(fun, avals)
    answers = []
    for out, aval in zip(program.outs, types, strict=True):
        own, needed = dce_jaxpr(Program(program.ins, program.eqns, [out]), [True])
        if any(needed[len(captured) :]):
            answers.append(PartialVal.unknown(aval))
        else:
            read = [x for x, need in zip(captured, needed, strict=False) if need]
            answers.append(PartialVal(None, eval_program(own, read)[0]))
    return program, answers, captured


def eval_jaxpr(program: Program, consts: Sequence[Array], *args: Array) -> list[Array]:
    """Run a Program on what it captured and its operands."""
    return eval_program(program, [*consts, *args])


def _boundary(f: Callable[..., Any], **_named: Any) -> Callable[..., Any]:
    """Frames of libraries stay in tracebacks."""
    return f


def _nothing(*_said: Any, **_named: Any) -> None:
    """Take and forget what only JAX has a use for."""


def _lacking(of: str, name: str) -> type:
    """Make a name to import, annotate with and derive from: to make one of it raises."""

    def refuse(_self: object, *_args: Any, **_named: Any) -> None:
        raise NotImplementedError(
            f"{of}.{name} is JAX's own: arrayport stands in for JAX here, and has none"
        )

    return type(name, (), {"__module__": of, "__init__": refuse})


_VERSION = {"__version__": VERSION, "__version_info__": tuple(map(int, VERSION.split(".")))}

_CORE = {
    "AbstractValue": Aval,
    "Atom": Var | Literal,
    "ClosedJaxpr": Program,
    "Jaxpr": Program,
    "JaxprEqn": Eqn,
    "Literal": Literal,
    "ShapedArray": ShapedArray,
    "Tracer": Tracer,
    "Var": Var,
    "eval_jaxpr": eval_jaxpr,
    "get_aval": aval_of,
    "get_opaque_trace_state": get_opaque_trace_state,
}

_CORE_LACKING = "DropVar Trace TraceTag set_current_trace take_current_trace"

# Modules by JAX's names: what they hold, and what can only be imported.
_HELD: dict[str, tuple[dict[str, Any], str]] = {
    "": (_VERSION, ""),
    "core": (_CORE, _CORE_LACKING),
    "_src.core": (_CORE, _CORE_LACKING),
    "extend.core": (_CORE, _CORE_LACKING),
    "extend.linear_util": (
        {"WrappedFun": WrappedFun, "transformation": transformation, "wrap_init": wrap_init},
        "",
    ),
    "extend.source_info_util": ({"register_exclusion": _nothing}, ""),
    "extend.core.primitives": ({}, "call_p closed_call_p jit_p"),
    "api_util": (
        {
            "debug_info": _nothing,
            "flatten_fun": flatten_fun,
            "flatten_fun_nokwargs": flatten_fun_nokwargs,
        },
        "",
    ),
    "interpreters.partial_eval": (
        {
            "PartialVal": PartialVal,
            "dce_jaxpr": dce_jaxpr,
            "trace_to_jaxpr_dynamic": trace_to_jaxpr_dynamic,
            "trace_to_jaxpr_nounits": trace_to_jaxpr_nounits,
        },
        "",
    ),
    "example_libraries.optimizers": (
        {},
        "Optimizer adagrad adam momentum rmsprop rmsprop_momentum sgd sm3",
    ),
    "example_libraries.stax": ({}, "Elu FanInSum FanOut Identity Relu parallel serial"),
    "experimental.layout": ({}, "Format Layout"),
    "experimental.sparse": ({}, "BCOO BCSR"),
    "test_util": ({"check_grads": check_grads}, ""),
    "version": (_VERSION, ""),
    "_src.compiler": ({}, "backend_compile"),
    "_src.dtypes": (
        {name: getattr(dtypes, name) for name in dtypes.__all__},
        "DType ExtendedDType TypePromotionError",
    ),
    "_src.traceback_util": (
        {"_exclude_paths": [], "api_boundary": _boundary, "register_exclusion": _nothing},
        "",
    ),
}


def add(found: dict[str, ModuleType]) -> None:
    """Add the modules, and the packages that they are in, to those found by their names."""
    for name, (held, lacking) in _HELD.items():
        path = f"jax.{name}".rstrip(".")
        for package in accumulate(path.split(".")[:-1], "{}.{}".format):
            found.setdefault(package, ModuleType(package))
        module = found[path] = ModuleType(path)
        vars(module).update(held)
        vars(module).update({k: _lacking(path, k) for k in lacking.split()})
