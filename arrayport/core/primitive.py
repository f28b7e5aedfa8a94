"""Primitive: one operation with all its rules, stated once, and the registry that lists them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import cache, reduce
from operator import itemgetter, or_
from struct import pack
from typing import Any

import numpy as np
from numpy import ndarray

from arrayport.core.array import Array, Aval
from arrayport.core.errors import NotDifferentiableError
from arrayport.core.following import alike
from arrayport.core.quiet import QUIET, error_state, reset_errors, set_errors
from arrayport.core.trace import EVAL, axis_trace, current_stage, named_axes

Rule = Callable[..., Any]
Quick = dict[np.dtype[Any], Rule]


class Primitive:
    """One operation with all its rules, none of which may be added later.

    Kernels on raw values stand in the backends' tables; every rule here works on Arrays, and an
    argument that a rule spells with a leading underscore is one it does not read.

    Four ways to differentiate:

    partials
        Elementwise: one `(g, ans, *xs, **params) -> g` an operand. It is diagonal, so the same
        rule pushes tangents and pulls cotangents. None: the derivative is zero.
    transposes
        Linear in each operand apart: one `(ct, *operands, **params) -> ct` an operand, whose own
        place holds an Aval; or, for a variadic primitive, one function that takes the operand's
        number first. A primitive linear in several operands together (add) states a `jvp` as
        well; so does one linear in some only (solve), with None for the others.
    jvp
        Anything: `(ts, ans, *xs, **params) -> t`, where ts and t may hold None for zero; with
        several outputs ans and t are lists. Reverse mode transposes this rule.
    not_differentiable
        The reason why there is no derivative.

    And what every primitive has:

    abstract
        `(*xs, **params) -> Aval`, or a list of them if `many`; xs are anything with a shape, a
        dtype and weakness.
    batch
        `(size, xs, dims, /, **params) -> (out, dim)`, lists if `many`; dim None: not batched.
    divide
        `(entries, xs, outs, /, **params) -> entries`: along which axes of a mesh the outputs are
        divided where some operands are, the others' entries being None (`core/following.py`).
    keeps_weak
        Whether the output is weak when all operands are; else only a parameter `weak` says so.
    takes
        The kinds of dtypes (`dtypes.kind`; V is NumPy's for keys) that `abstract` accepts of the
        last operand: eager calls ask this, to be quick.
    """

    __slots__ = (
        "abstract",
        "batch",
        "divide",
        "jvp",
        "keeps_weak",
        "linear",
        "many",
        "name",
        "needs",
        "not_differentiable",
        "numpy_kernel",
        "partials",
        "quick",
        "slopes",
        "smooth",
        "source",
        "takes",
        "transposes",
    )

    def __init__(
        self,
        name: str,
        abstract: Rule,
        batch: Rule,
        *,
        partials: Sequence[Rule | None] = (),
        transposes: Sequence[Rule | None] | Rule = (),
        jvp: Rule | None = None,
        not_differentiable: str = "",
        many: bool = False,
        divide: Rule = alike,
        keeps_weak: bool = True,
        takes: str = "biufckV",
    ) -> None:
        self.name = name
        self.abstract = abstract
        self.batch = batch
        self.partials = tuple(partials)
        self.transposes = transposes
        self.jvp = jvp
        self.not_differentiable = not_differentiable
        self.many = many
        self.divide = divide
        self.keeps_weak = keeps_weak
        self.takes = takes
        self.linear = isinstance(transposes, tuple) and len(transposes) == 1 and jvp is None
        self.needs = tuple(read_arguments(rule) for rule in self.partials)
        self.smooth = sum(1 << i for i, rule in enumerate(self.partials) if rule is not None)
        # The NumPy backend's, once that is loaded, and the same by the dtypes that need no more;
        # what looks at every operation takes it away.
        self.numpy_kernel: Rule | None = None
        self.quick: Quick = {}
        self.slopes = Slopes(self)
        self.source = _caller()
        if not (partials or transposes or jvp or not_differentiable or isinstance(self, Holder)):
            raise TypeError(
                f"primitive {name!r} states neither a derivative nor why it has none "
                "(not_differentiable=...)"
            )
        REGISTRY[name] = self

    def offer(self, kernel: Rule | None) -> None:
        """Let eager calls on NumPy arrays run this kernel at once, or none."""
        self.numpy_kernel = kernel
        self.quick.clear()
        for slope in self.slopes.values():
            slope.lines.clear()
        if kernel is not None:
            self.quick.update(dict.fromkeys(common(self.takes), kernel))

    def bind(self, *args: Array, **params: Any) -> Any:
        """Apply to Arrays, in the innermost of their traces and the Program being staged."""
        return _trace_of(args).process(self, args, params)

    def transposable(self, parents: Sequence[Any]) -> bool:
        """Whether there is a transpose for each operand that has a parent (is not None)."""
        rules = self.transposes
        return callable(rules) or all(
            p is None or r is not None for p, r in zip(parents, rules, strict=True)
        )

    def transpose_rule(self, i: int) -> Rule:
        """The transpose with respect to operand i."""
        rules = self.transposes
        if callable(rules):
            return lambda *args, **params: rules(i, *args, **params)
        rule = rules[i] if i < len(rules) else None
        if rule is None:
            raise NotDifferentiableError(
                f"{self.name} has no derivative with respect to operand {i}"
            )
        return rule

    def __repr__(self) -> str:
        return self.name


class Slope:
    """The partials of an elementwise primitive for those operands that are differentiated.

    `keep` gives of (None, the answer, *operands) what the rules read, None in the others' places.
    `lines` has them by dtype as one function of raw NumPy arrays too, the cotangent and what is
    kept: beside kernels of small arrays, what Arrays and traces ask takes many times as long.
    """

    __slots__ = ("keep", "lines", "params", "prim", "rules", "uses")

    def __init__(self, prim: Primitive, traced: int, params: dict[str, Any]) -> None:
        chosen = [i for i in range(len(prim.partials)) if traced >> i & 1]
        self.prim = prim
        self.params = params
        self.rules: list[Any] = [prim.partials[i] for i in chosen]
        need = reduce(or_, [prim.needs[i] for i in chosen], 0)
        places = range(len(prim.partials) + 1)
        self.keep = itemgetter(*[i + 1 if need >> i & 1 else 0 for i in places])
        self.lines: dict[np.dtype[Any], Rule | None] = {}
        self.uses = 0

    def pulled(self, g: Any, kept: Sequence[Any]) -> list[Any]:
        """The cotangents of the operands by the rules."""
        params = self.params
        return [rule(g, *kept, **params) for rule in self.rules]


class Slopes(dict[Any, Slope]):
    """A primitive's slopes by the bits of the operands that are differentiated."""

    def __init__(self, prim: Primitive) -> None:
        self.prim = prim

    def __missing__(self, traced: int) -> Slope:
        made = self[traced] = Slope(self.prim, traced, NO_PARAMS)
        return made

    def at(self, traced: int, params: dict[str, Any]) -> Slope:
        """The slope at certain parameters."""
        if not params:
            return self[traced]
        key = traced, params_key(params)
        if key not in self:
            self[key] = Slope(self.prim, traced, params)
        return self[key]


class Unary(Primitive):
    """A primitive of one operand: the same `bind`, quicker."""

    __slots__ = ()

    def bind(self, x: Array, **params: Any) -> Any:  # type: ignore[override]
        """Apply to an Array."""
        return self.apply(x, params)

    def apply(self, x: Array, params: dict[str, Any]) -> Any:
        """Apply to an Array, parameters as one dictionary."""
        top = current_stage()
        if type(x) is not Array:
            if x.owner.level > top.level:  # type: ignore[attr-defined]
                top = x.owner  # type: ignore[attr-defined]
        elif top is EVAL and self.keeps_weak:
            raw = x.raw
            kernel = self.quick.get(raw.dtype) if type(raw) is ndarray else None
            if kernel is not None:
                token = None if error_state() is QUIET else set_errors(QUIET)
                try:
                    out = kernel(raw, **params) if params else kernel(raw)
                except ERRORS:
                    self.abstract(x, **params)  # says what is wrong with the operand, if anything
                    raise
                finally:
                    if token is not None:
                        reset_errors(token)
                # a number that becomes an array is no longer neutral: the ambient backend makes it
                if not (x.weak and out.shape and not raw.shape):
                    return Array(out if type(out) is ndarray else np.asarray(out), x.weak)
        return top.process_unary(self, x, params)


class Binary(Primitive):
    """A primitive of two operands: the same `bind`, quicker."""

    __slots__ = ()

    def bind(self, x: Array, y: Array, **params: Any) -> Any:  # type: ignore[override]
        """Apply to two Arrays."""
        return self.apply(x, y, params)

    def apply(self, x: Array, y: Array, params: dict[str, Any]) -> Any:
        """Apply to two Arrays, parameters as one dictionary."""
        top = current_stage()
        if type(x) is Array and type(y) is Array and top is EVAL:
            a, b = x.raw, y.raw
            if type(a) is ndarray and type(b) is ndarray and self.keeps_weak:
                kernel = self.quick.get(b.dtype)
                if kernel is not None:
                    token = None if error_state() is QUIET else set_errors(QUIET)
                    try:
                        out = kernel(a, b, **params) if params else kernel(a, b)
                    except ERRORS:
                        self.abstract(x, y, **params)
                        raise
                    finally:
                        if token is not None:
                            reset_errors(token)
                    return Array(
                        out if type(out) is ndarray else np.asarray(out), x.weak and y.weak
                    )
        if type(x) is not Array and x.owner.level > top.level:  # type: ignore[attr-defined]
            top = x.owner  # type: ignore[attr-defined]
        if type(y) is not Array and y.owner is not top and y.owner.level > top.level:  # type: ignore[attr-defined]
            top = y.owner  # type: ignore[attr-defined]
        return top.process_binary(self, x, y, params)


class Holder(Primitive):
    """A primitive that holds Programs: it has many outputs, and transforms as a whole.

    jvp
        `(ts, xs, params) -> outs, ts_out`, None for zero.
    linearize
        `(nonzero, xs, params, forward) -> outs, nonzero_out, linear`, where `linear` maps
        cotangents of the outputs to those of the nonzero operands or, if `forward`, tangents of
        the nonzero operands to those of the outputs.
    stage
        `(trace, xs, params) -> outs`, for a holder whose callables become Programs when staged.
    runs
        The name of the parameter that is applied to all operands and gives the outputs, if to
        evaluate the primitive is just that: a Program, or a callable that was not staged.
    """

    __slots__ = ("linearize", "runs", "stage")

    def __init__(
        self,
        name: str,
        abstract: Rule,
        batch: Rule,
        *,
        jvp: Rule,
        linearize: Rule,
        divide: Rule = alike,
        stage: Rule | None = None,
        runs: str = "",
    ) -> None:
        super().__init__(name, abstract, batch, jvp=jvp, many=True, divide=divide, keeps_weak=False)
        self.linearize = linearize
        self.runs = runs
        self.stage = stage

    def bind(self, *args: Array, **params: Any) -> Any:
        """Apply to Arrays; Programs with collectives run in the traces of the axes they name."""
        top = _trace_of(args)
        if named_axes.get():
            top = _innermost(top, axes_named(params))
        return top.process(self, args, params)


class Collective(Primitive):
    """A primitive that meets all examples along the mapped axes whose names are in `axes`.

    across
        `(size, x, **params) -> out, mapped`: what it gives when its one named axis, of that size,
        stands first in x, and whether that axis stands first in the answer too; `x` is None if
        there are no operands.
    """

    __slots__ = ("across",)

    def __init__(self, name: str, abstract: Rule, batch: Rule, *, across: Rule, **how: Any) -> None:
        super().__init__(name, abstract, batch, **how)
        self.across = across

    def bind(self, *args: Array, **params: Any) -> Any:
        """Apply to at most one Array, in the innermost of its trace and those of its axes."""
        return _innermost(_trace_of(args), params["axes"]).process(self, args, params)


class Callback(Primitive):
    """A primitive that calls Python: it runs when its Program does, never while that is made.

    effect
        Whether the call matters by itself: then it is kept, once, in order, its result used or not.
    """

    __slots__ = ("effect",)

    def __init__(self, name: str, abstract: Rule, batch: Rule, *, effect: bool, **how: Any) -> None:
        super().__init__(name, abstract, batch, many=True, keeps_weak=False, **how)
        self.effect = effect


def _trace_of(args: Sequence[Array]) -> Any:
    top = current_stage()
    for a in args:
        if type(a) is not Array and a.owner.level > top.level:  # type: ignore[attr-defined]
            top = a.owner  # type: ignore[attr-defined]
    return top


def _innermost(top: Any, names: Iterable[Any]) -> Any:
    for name in names:
        trace = axis_trace(name)
        if trace.level > top.level:
            top = trace
    return top


def axes_named(params: dict[str, Any]) -> frozenset[Any]:
    """The names of mapped axes that the Programs among parameters use."""
    found: set[Any] = set()
    for value in params.values():
        for program in value if isinstance(value, tuple) else (value,):
            found.update(getattr(program, "axes", ()))
    return frozenset(found)


# From here on, dtypes that NumPy computes through wider ones, or not at all: half floats, keys.
UNCOMMON = np.dtype(object).num
COMMON = [np.dtype(character) for character in "?bBhHiIlLqQfdgFDG"]
ERRORS = (TypeError, ValueError, IndexError)  # that kernels raise for operands that do not fit
NUMBERS = (int, float, complex)
REGISTRY: dict[str, Primitive] = {}
NO_PARAMS: dict[str, Any] = {}


@cache
def common(kinds: str) -> list[np.dtype[Any]]:
    """NumPy's own dtypes of these kinds, in which it computes without our help."""
    return [dtype for dtype in COMMON if dtype.kind in kinds]


def params_key(params: dict[str, Any]) -> tuple[Any, ...]:
    """Give parameters as a key: 0.0 and -0.0 are equal, as 1 and True are, but not in this use."""
    return tuple(
        [(k, type(v), _bits(v)) if isinstance(v, NUMBERS) else (k, v) for k, v in params.items()]
    )


def _bits(number: complex) -> Any:
    return number if isinstance(number, int) else pack("dd", number.real, number.imag)


def read_arguments(rule: Rule | None) -> int:
    """Bits of the arguments after the tangent that a rule reads: those without an underscore."""
    if rule is None:
        return 0
    code = getattr(rule, "__code__", None)
    if code is None:
        names = list(inspect.signature(rule).parameters)
    else:  # a plain function tells without making a signature
        names = list(code.co_varnames[: code.co_argcount])
    return sum(1 << i for i, name in enumerate(names[1:]) if not name.startswith("_"))


def _caller() -> str:
    """Where the primitive is stated: the innermost frame that is no maker's."""
    frame = inspect.currentframe()
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name != __name__ and not name.endswith("._families"):
            return f"{name}:{frame.f_lineno}"
        frame = frame.f_back
    return "?"


def out_avals(prim: Primitive, args: Sequence[Any], params: dict[str, Any]) -> list[Aval]:
    """What a primitive will give, as a list."""
    out = prim.abstract(*args, **params)
    return list(out) if prim.many else [out]
