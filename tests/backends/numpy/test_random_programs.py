"""Random programs of up to sixty equations, as machine code and by their interpreter.

ARRAYPORT_TEST_PROGRAMS says how many, and which is the first: `10000` or `10000:500`.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import random
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np
import pytest
from arrayport_backends.ndarray.executor import Compiled
from arrayport_backends.numpy import compiler, llvm
from arrayport_backends.numpy.codegen import entry, sharing
from arrayport_backends.numpy.codegen.entry import Slow

import arrayport as ap
import arrayport.numpy as anp
from arrayport import lax, nn
from arrayport.core import dtypes
from arrayport.core.backend import get
from arrayport.core.program import Program, eval_program

pytestmark = [
    pytest.mark.skipif(not llvm.available(), reason="there is nothing to test without LLVM"),
    pytest.mark.usefixtures("at_once"),
]

COUNT, _, FIRST = os.environ.get("ARRAYPORT_TEST_PROGRAMS", "40").partition(":")
SEEDS = range(int(FIRST or 0), int(FIRST or 0) + int(COUNT))
GUARDED = 5  # one in so many runs between pages that may not be touched
SHARED = 3  # one in so many shares every loop among threads
DONATED = 4  # one in so many runs over its operands as well

SHAPES = ((), (3,), (40,), (40, 3), (3, 40), (20, 30), (1, 40), (4, 20, 3), (1100,), (2, 600))
LARGEST = 20_000  # elements
LONGEST = 60  # equations
ULPS = 200  # of the largest value
MODES = ("clip", "fill", "wrap")

# Of floats only what is continuous: where rounding differs, a jump would make it a difference.
UNARY = (
    lambda x: x * 2.0,
    lambda x: -x,
    anp.abs,
    lambda x: x * x * 0.25,
    lambda x: anp.sqrt(anp.abs(x) + 1),
    lambda x: anp.where(x > 0, x, 0.5 * x),
    anp.tanh,
    anp.sin,
    anp.cos,
    lambda x: anp.exp(-anp.abs(x)),
    lambda x: anp.log1p(anp.abs(x)),
    anp.arctan,
    nn.sigmoid,
    lambda x: x / (1 + x * x),
    lax.erf,
    lambda x: anp.clip(x, -2.0, 3.0),
    lambda x: anp.abs(x) ** 1.5,
    lambda x: x.astype("float64").astype(x.dtype),
    lambda x: (x + 1j * anp.cos(x)).imag + (x * (1 - 2j)).real,
)
BINARY = (
    lambda a, b: a + b,
    lambda a, b: a - b,
    lambda a, b: a * b * 0.5,
    anp.maximum,
    anp.minimum,
    lambda a, b: a / (1 + b * b),
    anp.hypot,
)
WHOLE = (
    lambda i: i + 3,
    lambda i: i * 5,
    lambda i: i // 3,
    lambda i: i % 7,
    lambda i: i ^ 21,
    lambda i: i << 2,
    lambda i: i >> 1,
    lambda i: anp.sign(i) + anp.abs(i),
    lambda i: i.astype("int8").astype(i.dtype),
    lambda i: i.astype("uint16").astype(i.dtype),
    lambda i: anp.where((i > 2) & (i != 5) | ~(i < 9), i, -i),
    lax.population_count,
)


def key_of(r: random.Random, shape: Sequence[int]) -> tuple[Any, ...]:
    """Choose a static key."""
    choices = [
        r.randrange,
        lambda _n: slice(None, None, -1),
        lambda n: slice(r.randrange(n), None, r.randint(1, 3)),
        lambda n: slice(0, r.randint(1, n)),
        lambda _n: slice(None),
    ]
    return tuple(r.choice(choices)(n) for n in shape)


def moved(r: random.Random, x: Any, values: Sequence[Any]) -> Any:
    """Apply one operation that moves, folds or joins."""
    axis = r.randrange(x.ndim)
    beside = [
        v
        for v in values
        if v.ndim == x.ndim
        and v.dtype == x.dtype
        and (*v.shape[:axis], *v.shape[axis + 1 :]) == (*x.shape[:axis], *x.shape[axis + 1 :])
    ]
    parts = [d for d in (1, 2, 3, 20) if x.size % d == 0]
    low = -1 if min(x.shape) > 2 else 0
    n = x.shape[axis]
    return r.choice(
        [
            lambda: r.choice([anp.sum, anp.max, anp.min])(
                x,
                axis=tuple(r.sample(range(x.ndim), r.randint(1, x.ndim))),
                keepdims=r.random() < 0.5,
            ),
            lambda: anp.transpose(x, r.sample(range(x.ndim), x.ndim)),
            lambda: anp.reshape(x, (r.choice(parts), -1)),
            lambda: x[key_of(r, x.shape)],
            lambda: anp.roll(x, r.randint(-3, 5), axis),
            lambda: anp.concatenate([x, r.choice(beside)], axis),
            lambda: lax.pad(
                x,
                anp.asarray(2, x.dtype),
                [(r.randint(low, 2), r.randint(low, 2), r.randint(0, 1))] * x.ndim,
            ),
            lambda: anp.broadcast_to(x, (2, *x.shape)),
            lambda: x * anp.arange(x.shape[-1], dtype=x.dtype),
            lambda: anp.take(x, anp.arange(0, 2 * n, 3) % (n + 1), axis, mode=r.choice(MODES)),
            lambda: anp.cumsum(x, axis) * anp.asarray(1, x.dtype),
            lambda: anp.flip(x, axis),
        ]
    )()


def written(r: random.Random, x: Any) -> Any:
    """Apply one update."""
    key = key_of(r, x.shape)
    part = x[key]
    n = x.shape[0]
    at = anp.arange(0, 3 * n, 2)[: max(n // 2, 1)] % (n + 1) - 1
    start = [anp.asarray(r.randint(-2, d + 1), "int32") for d in x.shape]
    return r.choice(
        [
            lambda: x.at[key].set(part * 3),
            lambda: x.at[key].add(part),
            lambda: x.at[at].add(x[: at.shape[0]]),
            lambda: x.at[at].max(x[: at.shape[0]] * 2),
            lambda: lax.dynamic_update_slice(x, x[: max(n // 3, 1)] + 1, start),
            lambda: lax.dynamic_slice(x, start, [max(d // 2, 1) for d in x.shape]),
        ]
    )()


def looped(r: random.Random, x: Any) -> Any:
    """Run one loop or branch."""
    low, high = r.sample(UNARY, 2) if x.dtype.kind == "f" else r.sample(WHOLE, 2)
    length = r.randint(1, 6)

    def step(c: Any, row: Any) -> Any:
        c = low(c)
        return c, anp.sum(c) + high(row)

    return r.choice(
        [
            lambda: lax.fori_loop(0, length, lambda i, c: low(c) + i.astype(c.dtype), x),
            lambda: lax.fori_loop(
                0, min(length, x.shape[0]), lambda i, c: c.at[i].set(high(c[i])), x
            ),
            lambda: lax.scan(step, x, x)[1],
            lambda: lax.scan(step, x, x[::-1], reverse=True)[0],
            lambda: lax.while_loop(
                lambda c: c[0] < length, lambda c: (c[0] + 1, low(c[1])), (0, x)
            )[1],
            lambda: lax.cond(anp.asarray(length % 2 == 0), low, high, x),
        ]
    )()


def composed(seed: int) -> tuple[Program, list[np.ndarray]]:
    """Compose a Program, and make its operands."""
    rule = random.Random(seed)  # noqa: S311 - no secrets
    draw = np.random.default_rng(seed)
    shapes = [rule.choice(SHAPES) for _ in range(rule.randint(1, 3))]
    name = rule.choice(["float32", "float32", "float64"])
    given = [np.asarray(draw.standard_normal(s) * 3).astype(name) for s in shapes]
    given.append(draw.integers(-50, 50, rule.choice(SHAPES[1:])).astype("int32"))

    def steps(count: int) -> Callable[..., list[Any]]:
        def function(*xs: Any) -> list[Any]:
            r, values = random.Random(seed), list(xs)  # noqa: S311 - as above
            for _ in range(count):
                y = stepped(r, values)
                if 0 < y.size < LARGEST and y.dtype in {v.dtype for v in xs}:
                    values.append(y)
            return values[-3:]

        return function

    count = rule.randint(2, 25)
    while True:
        program = ap.jit(steps(count)).trace(*given).program
        if len(program.eqns) <= LONGEST:
            return program, given
        count -= 1


def stepped(r: random.Random, values: Sequence[Any]) -> Any:
    """Apply one operation, or a few."""
    x = r.choice(values)
    smooth = x.dtype.kind == "f"
    alike = [v for v in values if v.dtype == x.dtype and v.shape in {x.shape, ()}]
    chance = r.random()
    if chance < 0.45 or not x.ndim:
        one, other = (UNARY, BINARY) if smooth else (WHOLE, BINARY[:2])
        return r.choice(other)(r.choice(one)(x), r.choice(alike))
    if chance < 0.85:
        return moved(r, x, values)
    return written(r, x) if chance < 0.94 else looped(r, x)


# ---- how they are compared


def shaken(seed: int, raws: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Move floats by a unit in the last place, to see how far that carries."""
    draw = np.random.default_rng(seed)
    return [
        x if x.dtype.kind != "f" else np.nextafter(x, np.inf * draw.choice([-1, 1], x.shape))
        for x in raws
    ]


def values_of(program: Program, raws: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Interpret a Program."""
    with np.errstate(all="ignore"):
        return [np.asarray(y) for y in eval_program(program, [anp.asarray(x) for x in raws])]


def agreed(seed: int, program: Program, raws: Sequence[np.ndarray], got: Sequence[Any]) -> None:
    """Compare: some units of the last place of the largest value, more where that is unstable."""
    want = values_of(program, raws)
    others = [values_of(program, shaken(seed + k, raws)) for k in range(2)]
    for g, w, *moved_ones in zip(got, want, *others, strict=True):
        assert (g.shape, g.dtype) == (w.shape, w.dtype)
        if w.dtype.kind != "f":
            np.testing.assert_array_equal(g, w)
            continue
        eps = float(dtypes.finfo(w.dtype).eps)
        w = w.astype(np.float64)  # noqa: PLW2901 - what is allowed may be more than float32 holds
        scale = float(np.max(np.abs(w), initial=1, where=np.isfinite(w)))
        with np.errstate(all="ignore"):
            spread = max(float(np.max(np.nan_to_num(np.abs(m - w)))) for m in moved_ones)
            allowed = min(ULPS * (eps * scale + spread), float(np.finfo(np.float64).max))
            np.testing.assert_allclose(g.astype(np.float64), w, rtol=ULPS * eps, atol=allowed)


@pytest.mark.parametrize("seed", SEEDS)
def test_random_programs(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if seed % SHARED == 0:
        monkeypatch.setattr(sharing, "GRAIN", 0)
        monkeypatch.setattr(sharing, "PIECE", 1)
    with ap.config.override("enable_x64", True):
        program, raws = composed(seed)
        executor = get("numpy").compile(program)
        first = executor.run(*raws)
        kinds = [isinstance(e.prim, Compiled) for e in executor.program.eqns]
        assert any(kinds) or not kinds
        agreed(seed, program, raws, first)
        again = guarded(seed, executor, raws) if seed % GUARDED == 0 else executor.run(*raws)
        for x, y in zip(first, again, strict=True):
            np.testing.assert_array_equal(x, y)
        if seed % DONATED == 0:
            for module in (compiler, entry):
                monkeypatch.setattr(module, "LARGE", 0)
            owner = get("numpy").compile(program, program.ins)
            agreed(seed, program, raws, owner.run(*[x.copy() for x in raws]))


# ---- pages that may not be touched

libc = ctypes.CDLL(None)
FORBIDDEN = 0  # a page's protection: nothing may be done


class Page:
    """Memory that ends, or begins, where a page may not be touched."""

    def __init__(self, size: int, *, first: bool) -> None:
        page = mmap.PAGESIZE
        whole = -(-max(size, 1) // page) * page
        self.map = mmap.mmap(-1, whole + 2 * page)
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.map))
        for forbidden in (self.address, self.address + page + whole):
            assert libc.mprotect(ctypes.c_void_p(forbidden), page, FORBIDDEN) == 0
        self.at = page if first else page + whole - size

    def array(self, shape: Sequence[int], dtype: Any) -> np.ndarray:
        """Lay an array there."""
        return np.ndarray(shape, dtype, self.map, self.at)


def guarded(seed: int, executor: Any, raws: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Run a compiled Program, what its code reads and stores lying beside forbidden pages."""
    first, slots = bool(seed % (2 * GUARDED)), dict(enumerate(raws)) | executor.literals
    for step in executor.steps:
        args = [slots[i] for i in step.ins]
        slow = getattr(step.kernel, "__self__", None)
        if isinstance(slow, Slow):
            made = between_pages(slow, args, first=first)
        else:
            made = step.kernel(*args, **step.params)
        slots |= zip(step.outs, made if step.many else [made], strict=False)
    return [np.asarray(slots[i]) for i in executor.outs]


def between_pages(slow: Slow, args: Sequence[Any], *, first: bool) -> list[np.ndarray]:
    """Run machine code on copies of its operands."""
    places = [*[(x.shape, x.dtype) for x in args], *slow.stored]
    pages = [Page(prod(shape) * dtype.itemsize, first=first) for shape, dtype in places]
    arrays = [page.array(*place) for page, place in zip(pages, places, strict=True)]
    for copy, x in zip(arrays, args, strict=False):
        copy[...] = x
    slow.call([array.ctypes.data for array in arrays])
    for copy, x in zip(arrays, args, strict=False):
        np.testing.assert_array_equal(copy, x)
    return arrays[len(args) :]
