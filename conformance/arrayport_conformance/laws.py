"""The laws: what must hold of every callable of the catalogue, on every backend."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import import_module
from importlib.util import find_spec
from itertools import product
from typing import Any

import numpy as np
from hypothesis.errors import UnsatisfiedAssumption

import arrayport as ap
from arrayport.core import backend as backends
from arrayport.core import dtypes
from arrayport.core.array import Array, aval_of
from arrayport.core.primitive import Holder, Primitive
from arrayport.core.program import (
    Eqn,
    Literal,
    Program,
    Var,
    check_program,
    eval_program,
    inner_programs,
)
from arrayport.core.tree import tree_flatten, tree_leaves, tree_map, tree_unflatten
from arrayport.passes.fold import fold
from arrayport.passes.prune import prune
from arrayport.passes.share import share
from arrayport.testing.agreement import Ulps, compare
from arrayport_conformance.catalogue.rows import SIGNS, Call, Made, Operand, Row, fill

DIRECTIONS = 7  # of the random numbers that are drawn along: operands have a stream of their own
SPECIALS = (0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, np.inf, -np.inf, np.nan, 1e30, -1e30)
SPECIAL_PAIRS = (0.0, -0.0, 1.0, -1.5, 2.0, np.inf, -np.inf, np.nan)
STEP = 1e-5  # of central differences in float64


class Silent(UnsatisfiedAssumption):
    """A law has nothing to say of a call, which has no operand of the kind that it is about."""


@dataclass(frozen=True)
class Bound:
    """A call as a function of those of its arrays that laws batch and differentiate."""

    function: Callable[..., Any]
    operands: tuple[Any, ...]

    def smooth(self) -> Bound:
        """Make it a function of what has derivatives alone, operands and outputs."""
        places = [i for i, x in enumerate(self.operands) if dtypes.is_inexact(x.dtype)]

        def function(*ys: Any) -> list[Any]:
            xs = list(self.operands)
            for i, y in zip(places, ys, strict=True):
                xs[i] = y
            outs = tree_leaves(self.function(*xs))
            return [o for o in outs if dtypes.is_inexact(o.dtype)]

        return Bound(function, tuple(self.operands[i] for i in places))


def bind(call: Call, root: str, path: str, place: Callable[[Any], Any]) -> Bound:
    """Make a call of a library's function, its arrays where `place` brings them."""
    function = resolve(f"{root}.{path}")
    stated, tree = tree_flatten((call.case.args, call.case.kwargs), is_leaf=_atomic)
    leaves = tree_flatten((call.args, call.kwargs), is_leaf=_atomic)[0]
    leaves = [
        place(x)
        if isinstance(x, np.ndarray)
        else resolve(f"{root}.{x.path}")(*x.arguments)
        if isinstance(x, Made)
        else x
        for x in leaves
    ]
    free = [i for i, s in enumerate(stated) if isinstance(s, Operand) and not s.fixed]

    def bound(*xs: Any) -> Any:
        full = list(leaves)
        for i, x in zip(free, xs, strict=True):
            full[i] = x
        args, kwargs = tree_unflatten(tree, full)
        return function(*args, **kwargs)

    return Bound(bound, tuple(leaves[i] for i in free))


def _atomic(x: Any) -> bool:
    return not isinstance(x, list | tuple | dict)


@cache
def resolve(path: str) -> Any:
    """Import what a dotted path names."""
    names = path.split(".")
    for count in range(len(names), 0, -1):
        try:
            found = import_module(".".join(names[:count]))
        except ImportError:
            continue
        for name in names[count:]:
            found = getattr(found, name)
        return found
    raise ImportError(path)


def ours(row: Row, call: Call) -> Bound:
    """Make the call of arrayport's function, its arrays on the ambient backend."""
    return bind(call, "arrayport", row.function, ap.numpy.asarray)


# ---- references


def reference_name(row: Row) -> str:
    """Name what a row is compared with; empty if nothing that is installed can say."""
    if row.no_reference:
        return ""
    if find_spec("jax") is not None and not row.contract and not row.reference:
        return f"jax.{row.function}"
    numpys = row.function.startswith("numpy.") and not row.only_jax
    return row.reference or (row.function if numpys else "")


def _reference(row: Row, call: Call) -> tuple[Bound, bool] | None:
    name = reference_name(row)
    if not name:
        return None
    exact = name.startswith("jax.")
    if exact:
        backends.get("jax")  # then its switch for 64-bit types is ours
    place = resolve("jax.numpy.asarray") if exact else lambda x: x
    root, _, path = name.partition(".")
    return bind(call, root, path, place), exact


# The laws of one row follow one another, on one backend after the other: JAX is asked once.
@lru_cache(maxsize=32)
def _expected(row: Row, call: Call) -> tuple[list[Any], bool] | None:
    """Give the reference's outputs, and whether they are JAX's."""
    known = _reference(row, call)
    return known and (tree_leaves(known[0].function(*known[0].operands)), known[1])


@lru_cache(maxsize=32)
def _expected_gradients(row: Row, call: Call) -> list[Any]:
    """Give what JAX pulls back of directions drawn for its outputs."""
    known = _reference(row, call)
    assert known is not None
    found = known[0].smooth()
    jax: Any = resolve("jax")

    def pull(xs: Any, ws: Any) -> Any:
        return jax.vjp(found.function, *xs)[1](ws)

    ws = [np.asarray(w) for w in _directions(found.function(*found.operands), 1)]
    # One compilation for each shape, where JAX's eager vjp compiles every operation.
    pull = pull if row.not_batchable else jax.jit(pull)
    return [np.asarray(x) for x in pull(found.operands, ws)]


def _at_once(row: Row, function: Callable[..., Any]) -> Callable[..., Any]:
    """Have JAX compile a whole function, which is faster than every operation by itself."""
    eager = backends.ambient().native is None or row.not_batchable
    return function if eager else ap.jit(function)


# ---- the laws of calls: each takes a row and a call, the backend being the ambient one


def value(row: Row, call: Call) -> None:
    """Require the reference's outputs: as many, their shapes, dtypes, weak types, values."""
    found = ours(row, call)
    _as_reference(row, call, found.function(*found.operands))


def compiled(row: Row, call: Call) -> None:
    """Require the reference's outputs of the compiled call, if the function can be traced."""
    found = ours(row, call)
    function = found.function if row.not_batchable else ap.jit(found.function)
    _as_reference(row, call, function(*found.operands))


def _as_reference(row: Row, call: Call, out: Any) -> None:
    known = _expected(row, call)
    if known is None:
        return
    expected, exact = known
    pairs = list(zip(tree_leaves(out), expected, strict=True))
    if exact:
        # Of booleans weakness has no meaning.
        assert all(a.weak_type == b.weak_type or b.dtype == bool for a, b in pairs), "weak types"
        _agree(row, tree_leaves(out), [np.asarray(x) for x in expected])
    else:
        # NumPy knows neither weak types nor 32-bit defaults: shapes and values are its word.
        _agree(row, tree_leaves(out), [np.asarray(e).astype(o.dtype) for o, e in pairs])


def same(row: Row, call: Call) -> None:
    """Require what the NumPy backend gives, in gradients too: the same engine, other arrays.

    Vectors whose signs are free, and may be other ones on a device, are compared without.
    """

    def results() -> list[Any]:
        found = ours(row, call)
        smooth = found.smooth()
        outs = tree_leaves(found.function(*found.operands))
        if row.no_reference == SIGNS:
            return list(map(abs, outs))
        if not smooth.operands or row.not_differentiable or row.forward_only:
            return outs
        made, pull = ap.vjp(smooth.function, *smooth.operands)
        return [*outs, *pull(_directions(made, 1))]

    found = results()
    assert {x.device.backend for x in found} <= {backends.ambient().name}, "it left its backend"
    with ap.use_backend("numpy"):
        expected = results()
    assert [aval_of(x) for x in found] == [aval_of(x) for x in expected]
    difference = compare(found, expected, Ulps(max(row.ulps, 4), of_largest=True))
    assert difference.agrees, f"{row.function}: {difference}\n{found}\n{expected}"


def jit(row: Row, call: Call) -> None:
    """Require of the compiled call what the eager one gives: types, values, signs of zero.

    It leaves its inputs as they are.
    """
    found = ours(row, call)
    eager = found.function(*found.operands)
    with _kept(found.operands):
        jitted = ap.jit(found.function)(*found.operands)
    assert [aval_of(x) for x in tree_leaves(jitted)] == [aval_of(x) for x in tree_leaves(eager)]
    _agree(row, jitted, eager)
    _same_zeros(jitted, eager)


def _same_zeros(found: Any, expected: Any) -> None:
    for a, b in zip(tree_leaves(found), tree_leaves(expected), strict=True):
        if dtypes.is_floating(a.dtype):
            x, y = np.asarray(a), np.asarray(b)
            np.testing.assert_array_equal(np.signbit(x)[(x == 0) & (y == 0)], np.signbit(y)[y == 0])


def vmap(row: Row, call: Call) -> None:
    """Require of the batched call a loop's results: all operands along axis 0, then one."""
    found = ours(row, call)
    if not found.operands:
        raise Silent("no operand is batched")
    other = tuple(_reversed(x) for x in found.operands)
    pairs = list(zip(found.operands, other, strict=True))
    expected = [_stacked(found.function, found.operands, other)]
    batches = [tuple(_stack(p, 0) for p in pairs)]
    axes: list[tuple[int | None, ...]] = [(0,) * len(pairs)]
    if len(pairs) > 1:
        *first, last = found.operands
        expected.append(_stacked(found.function, found.operands, (*first, other[-1])))
        batches.append((*first, _stack(pairs[-1], last.ndim)))
        axes.append((*[None] * len(first), last.ndim))

    def batched(batches: Any) -> list[Any]:
        pairs = zip(axes, batches, strict=True)
        return [ap.vmap(found.function, in_axes=along)(*xs) for along, xs in pairs]

    for out, wanted in zip(_at_once(row, batched)(batches), expected, strict=True):
        _agree(row, out, wanted)


def _reversed(x: Any) -> Any:
    """Another operand of the same domain: its elements in opposite order."""
    host = np.asarray(x)
    return ap.numpy.asarray(host.reshape(-1)[::-1].reshape(host.shape))


def _stack(pair: Sequence[Any], axis: int) -> Any:
    return ap.numpy.asarray(np.stack([np.asarray(x) for x in pair], axis))


def _stacked(function: Callable[..., Any], *calls: Sequence[Any]) -> Any:
    outs = [function(*xs) for xs in calls]
    return tree_map(lambda *xs: np.stack([np.asarray(x) for x in xs]), *outs)


def inputs(row: Row, call: Call) -> None:
    """Require that no input changes, eagerly and in reverse mode; compiled, `jit` requires it."""
    found = ours(row, call)
    with _kept(found.operands):
        found.function(*found.operands)
        smooth = found.smooth()
        if smooth.operands and not (row.not_differentiable or row.forward_only):
            outs, pull = ap.vjp(smooth.function, *smooth.operands)
            pull([ap.numpy.ones_like(o) for o in outs])


@contextmanager
def _kept(operands: Sequence[Any]) -> Iterator[None]:
    before = [np.array(x) for x in operands]
    yield
    for x, copy in zip(operands, before, strict=True):
        np.testing.assert_array_equal(np.asarray(x), copy)


# ---- derivatives


def _wide(call: Call) -> Call:
    """Cast a call's arrays to 64-bit floats."""

    def wide(x: Any) -> Any:
        if not isinstance(x, np.ndarray) or not dtypes.is_inexact(x.dtype):
            return x
        return x.astype(np.complex128 if dtypes.is_complex(x.dtype) else np.float64)

    args, kwargs = tree_map(wide, (call.args, call.kwargs), is_leaf=_atomic)
    return Call(args, kwargs, call.case)


def _differentiable(bound: Bound) -> Bound:
    found = bound.smooth()
    if not found.operands:
        raise Silent("no operand has a derivative")
    return found


def _directions(xs: Sequence[Any], seed: int = 0) -> list[Any]:
    rng = np.random.default_rng((seed, DIRECTIONS))
    made = []
    for x in xs:
        drawn = rng.normal(size=x.shape)
        if dtypes.is_complex(x.dtype):
            drawn = drawn + 1j * rng.normal(size=x.shape)
        made.append(ap.numpy.asarray(np.asarray(drawn).astype(x.dtype)))
    return made


def _dot(xs: Sequence[Any], ys: Sequence[Any]) -> float:
    pairs = zip(xs, ys, strict=True)
    return float(sum(np.sum(np.asarray(x) * np.asarray(y)).real for x, y in pairs))


def _differences(function: Callable[..., Any], xs: Sequence[Any], ts: Sequence[Any]) -> list[Any]:
    """Central differences along a direction; a call whose two step sizes differ is at a kink."""

    def at(step: float) -> list[Any]:
        moved = [
            [
                ap.numpy.asarray(np.asarray(x) + s * np.asarray(t))
                for x, t in zip(xs, ts, strict=True)
            ]
            for s in (step, -step)
        ]
        ahead, behind = (function(*m) for m in moved)
        with np.errstate(all="ignore"):  # infinities on both sides: there is no difference
            return [
                (np.asarray(a) - np.asarray(b)) / (2 * step)
                for a, b in zip(ahead, behind, strict=True)
            ]

    fine, coarse = at(STEP), at(3 * STEP)
    if any(dtypes.finfo(a.dtype).eps > STEP**2 for a in fine):
        raise UnsatisfiedAssumption("the call rounds what it gives: no digits are left of the step")
    for a, b in zip(fine, coarse, strict=True):
        if not np.all(np.isfinite(a)) or not np.allclose(a, b, rtol=1e-4, atol=1e-4 * _scale(a)):
            raise UnsatisfiedAssumption("the call is at a kink")
    return fine


def _scale(x: Any) -> float:
    return float(np.max(np.abs(x), initial=1e-3))


def forward(row: Row, call: Call) -> None:
    """Require that the jvp agrees with finite differences."""
    found = _differentiable(ours(row, _wide(call)))
    ts = _directions(found.operands)
    _, pushed = _push(row, found, ts)
    function = _at_once(row, found.function)
    for a, b in zip(pushed, _differences(function, found.operands, ts), strict=True):
        np.testing.assert_allclose(np.asarray(a), b, rtol=1e-5, atol=1e-6 * max(1.0, _scale(b)))


def _push(row: Row, found: Bound, ts: Sequence[Any]) -> Any:
    """Push tangents forward: outputs and their tangents."""

    def push(xs: Any, ts: Any) -> Any:
        return ap.jvp(found.function, xs, ts)

    return _at_once(row, push)(found.operands, tuple(ts))


def _pull(row: Row, found: Bound, ws: Sequence[Any]) -> Any:
    """Pull cotangents of the outputs back."""

    def pull(xs: Any, ws: Any) -> Any:
        return ap.vjp(found.function, *xs)[1](ws)

    return _at_once(row, pull)(found.operands, list(ws))


def reverse(row: Row, call: Call) -> None:
    """Require that the vjp is the jvp transposed: <w, J t> = <J' w, t>."""
    found = _differentiable(ours(row, _wide(call)))
    ts = _directions(found.operands)
    outs, pushed = _push(row, found, ts)
    ws = _directions(outs, 1)
    pulled = _pull(row, found, ws)
    assert [x.shape for x in pulled] == [x.shape for x in found.operands]
    a, b = _dot(ws, pushed), _dot(pulled, ts)
    size = sum(float(np.sum(np.abs(np.asarray(x)))) for x in pushed) + abs(a)
    # A cast to float32 rounds tangents and cotangents apart.
    rounding = max(dtypes.finfo(x.dtype).eps for x in [*outs, *found.operands])
    np.testing.assert_allclose(a, b, rtol=0, atol=max(1e-10, 4 * rounding) * max(1.0, size))


def second(row: Row, call: Call) -> None:
    """Require that the jvp of the vjp agrees with the vjp's finite differences."""
    found = _differentiable(ours(row, _wide(call)))
    outs = found.function(*found.operands)
    ws, ts = _directions(outs, 1), _directions(found.operands)

    def gradient(*xs: Any) -> list[Any]:
        return list(ap.vjp(found.function, *xs)[1](ws))

    _, pushed = ap.jvp(gradient, found.operands, tuple(ts))
    for a, b in zip(pushed, _differences(gradient, found.operands, ts), strict=True):
        np.testing.assert_allclose(np.asarray(a), b, rtol=1e-5, atol=1e-6 * max(1.0, _scale(b)))


def gradients(row: Row, call: Call) -> None:
    """Require that the vjp is JAX's, with its dtypes."""
    if not reference_name(row).startswith("jax."):
        return
    found = _differentiable(ours(row, call))
    ws = _directions(found.function(*found.operands), 1)
    pulled = _pull(row, found, ws)
    wanted = _expected_gradients(row, call)
    assert [x.dtype for x in pulled] == [x.dtype for x in wanted]
    for a, b in zip(pulled, wanted, strict=True):
        if np.all(np.isfinite(b)):
            difference = compare(a, b, Ulps(8 * max(row.ulps, 4), of_largest=True))
            assert difference.agrees, f"{difference}:\n{a}\n{b}"


# ---- special values


def special(row: Row, dtype: str) -> None:
    """Require of zeros, infinities and NaN what the reference gives, signs of zero included."""
    count = sum(isinstance(x, Operand) for x in row.cases[0].args)
    values = SPECIALS if count == 1 else SPECIAL_PAIRS
    grids = np.meshgrid(*[np.array(values, dtype)] * count, indexing="ij")
    rest = [x for x in row.cases[0].args if not isinstance(x, Operand)]
    call = Call((*[g.reshape(-1) for g in grids], *rest), row.cases[0].kwargs, row.cases[0])
    known = _reference(row, call)
    if known is None:
        return
    found = ours(row, call)
    a = np.asarray(tree_leaves(found.function(*found.operands))[0])
    with np.errstate(all="ignore"):
        b = np.asarray(tree_leaves(known[0].function(*known[0].operands))[0])
    _agree(row, a, b.astype(a.dtype))
    if dtypes.is_floating(a.dtype) and not row.open_zero:
        wrong = (a == 0) & (b == 0) & (np.signbit(a) != np.signbit(b))
        assert not wrong.any(), f"signs of zero at {[g.reshape(-1)[wrong] for g in grids]}"


def _agree(row: Row, found: Any, expected: Any) -> None:
    difference = compare(found, expected, Ulps(row.ulps, row.of_largest))
    assert difference.agrees, f"{row.function}: {difference}\n{found}\n{expected}"


# ---- Programs and primitives


def staged(function: Callable[..., Any], operands: Sequence[Any]) -> Program:
    """Make the Program of a function, by our own engine."""
    with ap.use_backend("numpy"):
        hosts = [ap.ShapeDtypeStruct(x.shape, x.dtype) for x in operands]
        made = ap.make_jaxpr(function)(*hosts)
    assert isinstance(made, Program)
    return made


def programs(row: Row, call: Call) -> None:
    """Require a well-formed Program, one meaning to interpreter, executor and passes."""
    with ap.use_backend("numpy"):
        found = ours(row, call)
        program = check_program(staged(found.function, found.operands))
        expected = eval_program(program, found.operands)
        home = backends.get("numpy")
        run = program.run(home)
        with np.errstate(all="ignore"):
            raw = run(*[x.raw for x in found.operands])
        _agree(row, [Array(x) for x in raw], expected)
        _same_zeros([Array(x) for x in raw], expected)
        for changed in (prune(program), share(program), fold(program, home)):
            check_program(changed)
            assert changed.in_avals == program.in_avals
            assert changed.out_avals == program.out_avals
            _agree(row, eval_program(changed, found.operands), expected)


def equations(program: Program) -> Iterator[Eqn]:
    """Go through a Program's equations, those of inner Programs included."""
    for eqn in program.eqns:
        yield eqn
        for inner in inner_programs(eqn.params):
            yield from equations(inner)


def abstract(row: Row, call: Call) -> None:
    """Require that every primitive that a call binds gives the type that it states."""
    home = backends.ambient()
    with ap.use_backend("numpy"):
        call_here = ours(row, call)
        program = staged(call_here.function, call_here.operands)
    env: dict[Any, Array] = {
        v: Array(home.asarray(np.asarray(x)))
        for v, x in zip(program.ins, call_here.operands, strict=True)
    }

    def read(atom: Var | Literal) -> Array:
        if isinstance(atom, Var):
            return env[atom]
        value = atom.value
        return value if value.weak else Array(home.asarray(np.asarray(value)))

    for prim, ins, params, outs in program.eqns:
        made = home.execute(prim, [read(a) for a in ins], params)
        made = list(made) if prim.many else [made]
        for var, array in zip(outs, made, strict=True):
            stated, found_type = aval_of(var), aval_of(array)
            assert stated[:2] == found_type[:2], f"{prim} states {stated}: {found_type}"
            # JAX calls some booleans weak, and some answers of which one operand is; it has no
            # public way to make a strong number weak.
            free = home.native and (
                stated.dtype == bool or stated.weak or any(read(a).weak for a in ins)
            )
            assert free or stated.weak == found_type.weak, f"{prim} states {stated}: {found_type}"
        env.update(zip(outs, made, strict=True))


def smooth(eqn: Eqn) -> bool:
    """Tell whether all operands of an equation have derivatives."""
    return all(dtypes.is_inexact(a.dtype) for a in eqn.ins)


def recursive(prim: Primitive, eqn: Eqn) -> bool:
    """Tell whether a jvp rule without transposes binds its own primitive to a tangent."""
    if isinstance(prim, Holder) or prim.jvp is None or prim.transposes:
        return False
    smooth = [dtypes.is_inexact(a.dtype) for a in eqn.ins]

    def push(ts: list[Any], xs: list[Any]) -> Any:
        given = iter(ts)
        full = [next(given) if s else None for s in smooth]
        ans = prim.bind(*xs, **eqn.params)
        assert prim.jvp is not None
        out = prim.jvp(full, ans, *xs, **eqn.params)
        return [t for t in (out if prim.many else [out]) if t is not None]

    types = [ap.ShapeDtypeStruct(a.shape, a.dtype) for a in eqn.ins]
    tangents = [t for t, s in zip(types, smooth, strict=True) if s]
    with ap.use_backend("numpy"):
        program = ap.make_jaxpr(push)(tangents, types)
    moving = set(program.ins[: len(tangents)])
    for inner, ins, _, outs in program.eqns:
        if any(a in moving for a in ins):
            if inner is prim:
                return True
            moving.update(outs)
    return False


def examples(row: Row) -> Iterator[Call]:
    """Make one call for each case and dtype of a row."""
    for stated, dtype in product(row.cases, row.dtypes):
        yield fill(stated, dtype, 0)
