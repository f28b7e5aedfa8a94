"""Compose random programs: operands of every kind, and up to sixty equations over them."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import arrayport as ap
import arrayport.numpy as anp
from arrayport import lax, nn
from arrayport import random as draws
from arrayport.core import dtypes
from arrayport.core.program import Program

SHAPES = ((), (3,), (40,), (40, 3), (3, 40), (20, 30), (1, 40), (4, 20, 3), (1100,), (2, 600))
EMPTY = ((0,), (3, 0), (0, 40), (4, 0, 3))
SQUARE = ((4, 4), (5, 3, 3))
LARGEST = 20_000  # elements
LONGEST = 60  # equations
MODES = ("clip", "fill", "wrap")
FLOATS = ("float32", "float32", "float32", "float64", "float64", "bfloat16", "float16")
OTHERS = ("bool", "int8", "uint8", "int16", "uint32", "int64", "complex64", "complex128", "key")
SPECIAL = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40, 1.0)

# Of floats only what is continuous: where rounding differs, a jump would make it a difference.
UNARY = (
    lambda x: x * 2,
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
    lambda x: (anp.abs(x) + 0.125) ** 1.5,
    lambda x: x.astype("float64").astype(x.dtype),
    lambda x: (x + 1j * anp.cos(x)).imag.astype(x.dtype) + (x * (1 - 2j)).real.astype(x.dtype),
    ap.checkpoint(lambda x: anp.sin(x) * x),
    ap.grad(lambda x: anp.sum(anp.sin(x) * x * x)),
    lambda x: ap.jvp(anp.sin, (x,), (x * 0.5,))[1],
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
    lambda i: anp.where((i > 2) & (i != 5) | ~(i < 9), i, i * 2),
    lambda i: (i % 11).astype("float32").astype(i.dtype),
    lambda i: anp.clip(i, 2, 20),
    lax.population_count,
    lax.clz,
)
WHOLE_PAIRS = (
    lambda i, j: i + j,
    lambda i, j: i - j,
    lambda i, j: i * j,
    lambda i, j: i // (j | 1),
    lambda i, j: i % (j | 1),
    lambda i, j: i & j,
    lambda i, j: i ^ j,
    anp.maximum,
    anp.minimum,
    lambda i, j: anp.where(i < j, i, j + 1),
)
LOGICAL = (lambda c: ~c, lambda c: c.astype("int32").astype(bool))
LOGICAL_PAIRS = (anp.logical_and, anp.logical_or, anp.logical_xor, lambda c, d: c == d)
COMPLEX = (
    lambda z: -z,
    anp.conj,
    lambda z: z * z * 0.25,
    lambda z: z * (1 - 2j),
    lambda z: lax.complex(anp.imag(z), anp.real(z)),
    lambda z: z / (1 + anp.abs(z)),
    lambda z: anp.exp(1j * anp.real(z)).astype(z.dtype),
    lambda z: z.real * anp.cos(z.imag) + z,
)
COMPLEX_PAIRS = (
    lambda z, w: z + w,
    lambda z, w: z - w,
    lambda z, w: z * w * 0.5,
    lambda z, w: z / (1 + (w * anp.conj(w)).real),
)
KEYS = (
    lambda k: ap.vmap(lambda key: draws.fold_in(key, 7))(k.reshape(-1)).reshape(k.shape),
    lambda k: ap.vmap(lambda key: draws.split(key)[1])(k.reshape(-1)).reshape(k.shape),
)
KEY_PAIRS = (lambda k, q: anp.where(draws.key_data(k)[..., 0] % 2 == 0, k, q),)


def kind_of(x: Any) -> str:
    """Give the kind: that of NumPy, 'u' being 'i', or 'k' of keys."""
    if dtypes.issubdtype(x.dtype, dtypes.prng_key):
        return "k"
    return dtypes.kind(x.dtype).replace("u", "i")


def alike_in_dtype(y: Any, x: Any) -> Any:
    """Cast y to the dtype of x, unless both are keys."""
    return y if kind_of(x) == "k" else y.astype(x.dtype)


ONES = {"f": UNARY, "i": WHOLE, "b": LOGICAL, "c": COMPLEX, "k": KEYS}
PAIRS = {"f": BINARY, "i": WHOLE_PAIRS, "b": LOGICAL_PAIRS, "c": COMPLEX_PAIRS, "k": KEY_PAIRS}
REDUCTIONS = {
    "f": (anp.sum, anp.max, anp.min),
    "i": (anp.sum, anp.max, anp.min, anp.prod),
    "b": (anp.any, anp.all),
    "c": (anp.sum,),
}


# ---- operands


def operand(draw: np.random.Generator, r: random.Random, name: str, shape: Any) -> Any:
    """Draw an operand; of floats one in five has NaN, infinities and zeros of both signs."""
    if name == "key":
        return np.asarray(draws.split(draws.key(r.randrange(99)), shape).raw)
    if name == "bool":
        return np.asarray(draw.random(shape) < 0.5)
    dtype = dtypes.SUPPORTED[name]
    if dtypes.kind(dtype) in "iu":
        low = -50 if dtypes.kind(dtype) == "i" else 0
        return np.asarray(draw.integers(low, 50, shape)).astype(dtype)
    x = np.asarray(draw.standard_normal(shape) * 3)
    if dtype.kind == "c":
        return np.asarray(x + 1j * draw.standard_normal(shape)).astype(dtype)
    if r.random() < 0.2:
        x = np.where(draw.random(shape) < 0.05, draw.choice(SPECIAL, shape), x)
    return np.asarray(x).astype(dtype)


def cut(x: Any) -> list[Any]:
    """Make of an operand what jumps: no rounding comes before it, so that it jumps alike."""
    if not x.ndim or not x.size:
        return [x > 0.5, anp.isfinite(x)]
    axis = x.ndim - 1
    return [
        x > 0.5,
        anp.isnan(x),
        anp.signbit(x),
        anp.floor(x),
        anp.round(x),
        anp.trunc(x),
        anp.clip(anp.nan_to_num(x), -100, 100).astype("int32"),
        anp.argmax(x, axis).astype("int32"),
        anp.argsort(x, axis).astype("int32"),
        anp.sort(x, axis),
        anp.cumsum(x, axis) if x.dtype.itemsize > 2 else x,
    ]


# ---- what moves, folds, joins


def key_of(r: random.Random, shape: Sequence[int]) -> tuple[Any, ...]:
    """Choose a static key."""
    choices = [
        r.randrange,
        lambda _n: slice(None, None, -1),
        lambda n: slice(r.randrange(n), None, r.randint(1, 3)),
        lambda n: slice(0, r.randint(1, n)),
        lambda _n: slice(None),
    ]
    return tuple(r.choice(choices)(n) if n else slice(None) for n in shape)


def starts(r: random.Random, x: Any, values: Sequence[Any]) -> list[Any]:
    """Choose where a part begins: some of it known only when it runs."""
    known = [anp.asarray(r.randint(-2, d + 1), "int32") for d in x.shape]
    wholes = [v for v in values if kind_of(v) == "i" and v.size]
    if wholes and r.random() < 0.6:
        v = r.choice(wholes).reshape(-1)
        known[r.randrange(x.ndim)] = v[r.randrange(v.size)].astype("int32")
    return known


def numbers(r: random.Random, n: int, count: int, values: Sequence[Any]) -> Any:
    """Choose indices of an axis of n, some outside; some known only when it runs."""
    wholes = [v for v in values if kind_of(v) == "i" and v.size >= count and v.dtype.itemsize > 1]
    if not wholes or r.random() < 0.3:
        return anp.arange(0, 2 * count, 2) % (n + 1) - 1
    found = r.choice(wholes).reshape(-1)[:count].astype("int32")
    return found % r.choice([n, n, n + 3]) - r.choice([0, 0, 1])


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
    masks = [v for v in values if kind_of(v) == "b" and v.shape in {x.shape, ()}]
    alike = [v for v in values if v.dtype == x.dtype and v.shape == x.shape]
    parts = [d for d in (1, 2, 3, 20) if x.size % d == 0]
    n, kind = x.shape[axis], kind_of(x)
    choices = [
        lambda: anp.transpose(x, r.sample(range(x.ndim), x.ndim)),
        lambda: x[key_of(r, x.shape)],
        lambda: anp.roll(x, r.randint(-3, 5), axis),
        lambda: anp.concatenate([x, r.choice(beside), r.choice(beside)], axis),
        lambda: anp.stack([x, r.choice(alike)], axis),
        lambda: anp.broadcast_to(x, (2, *x.shape)),
        lambda: anp.flip(x, axis),
        lambda: anp.where(r.choice(masks), x, r.choice(alike)) if masks else x,
        lambda: anp.expand_dims(x, axis),
    ]
    if x.size:
        low = -1 if min(x.shape) > 2 else 0
        fill = x.reshape(-1)[0] if kind == "k" or r.random() < 0.3 else anp.asarray(1, x.dtype)
        pads = [(r.randint(low, 2), r.randint(low, 2), r.randint(0, 1))] * x.ndim
        choices += [
            lambda: anp.reshape(x, (r.choice(parts), -1)),
            lambda: lax.pad(x, fill, pads),
            lambda: anp.take(x, numbers(r, n, min(n + 2, 40), values), axis, mode=r.choice(MODES)),
            lambda: lax.dynamic_slice(x, starts(r, x, values), [max(d // 2, 1) for d in x.shape]),
        ]
    if kind != "k":
        choices += [lambda: folded(r, x)] * 3
    if kind in "fic" and x.size:
        choices += [
            lambda: x * anp.arange(x.shape[-1], dtype="int32").astype(x.dtype),
            lambda: anp.cumsum(x, axis).astype(x.dtype),
            lambda: producted(r, x),
        ]
    if kind == "i" and x.size:
        choices += [
            lambda: anp.sort(x, axis),
            lambda: anp.argsort(x, axis).astype("int32"),
            lambda: anp.argmin(x, axis).astype("int32"),
            lambda: lax.cummax(x, axis),
            lambda: lax.sort((x % 5, x), dimension=axis, num_keys=1, is_stable=True)[1],
        ]
    if kind == "k" and x.size:
        choices += [
            lambda: draws.key_data(x)[..., r.randrange(2)],
            lambda: draws.normal(x.reshape(-1)[0], (r.randint(1, 9), 3)),
            lambda: draws.uniform(x.reshape(-1)[-1], (40,), "float64"),
            lambda: draws.randint(x.reshape(-1)[0], (20, 30), -3, 60, "int32"),
            lambda: draws.split(x.reshape(-1)[0], 3),
        ]
    return r.choice(choices)()


def folded(r: random.Random, x: Any) -> Any:
    """Reduce over some axes; the greatest only where there is one."""
    axes = tuple(r.sample(range(x.ndim), r.randint(1, x.ndim)))
    empty = not all(x.shape[a] for a in axes)
    reduction = r.choice(REDUCTIONS[kind_of(x)])
    if empty and reduction in {anp.max, anp.min}:
        reduction = anp.sum
    return reduction(x, axis=axes, keepdims=r.random() < 0.5).astype(x.dtype)


def producted(r: random.Random, x: Any) -> Any:
    """Multiply a few rows as matrices."""
    rows = x.reshape(-1, x.shape[-1])[: r.choice([1, 3, 9])]
    if kind_of(x) == "f" and r.random() < 0.4:
        few = rows[:, :3]
        gram = few.T @ few
        positive = gram + (anp.sum(anp.abs(gram)) + 1) * anp.eye(gram.shape[0], dtype=x.dtype)
        if x.dtype.itemsize > 2:
            return anp.linalg.solve(positive, few.T)
    return r.choice([lambda: rows @ rows.T, lambda: anp.einsum("ij,ij->i", rows, rows)])()


def written(r: random.Random, x: Any, values: Sequence[Any]) -> Any:
    """Apply one update."""
    key = key_of(r, x.shape)
    part = x[key]
    n = x.shape[0]
    at = numbers(r, n, max(n // 2, 1), values)
    some = x[anp.arange(at.size) % n]
    choices = [
        lambda: x.at[key].set(part[::-1] if part.ndim else part),
        lambda: x.at[at].set(some[0], mode=r.choice(["drop", "clip"])),
        lambda: lax.dynamic_update_slice(x, x[: max(n // 3, 1)], starts(r, x, values)),
    ]
    if kind_of(x) in "fic":
        choices += [
            lambda: x.at[key].set(part * 3),
            lambda: x.at[key].add(part),
            lambda: x.at[at].add(some),
            lambda: (
                x.at[at, ..., -1].add(some[..., -1] if x.ndim > 1 else some)
                if x.ndim > 1
                else x.at[at].add(some)
            ),
        ]
    if kind_of(x) in "fi":
        choices += [lambda: x.at[at].max(some * 2), lambda: x.at[at].min(some)]
    if kind_of(x) == "i":
        choices.append(lambda: x.at[at].multiply(some))
    return r.choice(choices)()


# ---- loops and branches


def count_of(r: random.Random, values: Sequence[Any], most: int) -> Any:
    """Choose a number below `most`, mostly known only when it runs."""
    wholes = [v for v in values if kind_of(v) == "i" and v.size]
    if not wholes or r.random() < 0.3:
        return r.randrange(most)
    v = r.choice(wholes).reshape(-1)
    return (v[r.randrange(v.size)].astype("int32")) % most


def looped(r: random.Random, x: Any, values: Sequence[Any]) -> Any:
    """Run one loop or branch."""
    kind = kind_of(x)
    low, high = r.choice(ONES[kind]), r.choice(ONES[kind])
    length, n = r.randint(0, 6), x.shape[0]
    count = count_of(r, values, 5)
    alike = [v for v in values if v.dtype == x.dtype and v.shape == x.shape]
    other = r.choice(alike)
    both = r.choice(PAIRS[kind])

    def same(y: Any) -> Any:
        return alike_in_dtype(y, x)

    def step(c: Any, row: Any) -> Any:
        c = same(low(c))
        return c, (c[0], same(high(row)))

    def turned(i: Any, c: Any) -> Any:
        """Read a carry elsewhere than where it is written."""
        j = r.choice([lambda: (i + 1) % n, lambda: n - 1 - i, lambda: i])()
        return c.at[i].set(same(high(c[j])))

    def swapped(_i: Any, c: Any) -> Any:
        return c[1], same(both(*c))

    def inner(i: Any, c: Any) -> Any:
        return lax.fori_loop(0, i, lambda _j, d: same(low(d)), c)

    def halted(c: Any) -> Any:
        return (c[0] < count) & (c[1] < 4)

    choices = [
        lambda: lax.fori_loop(0, length, lambda _i, c: same(low(c)), x),
        lambda: lax.fori_loop(0, count, lambda _i, c: same(both(c, other)), x),
        lambda: lax.fori_loop(0, min(length, n), turned, x),
        lambda: lax.fori_loop(0, length, swapped, (x, x))[1],
        lambda: lax.fori_loop(0, length, swapped, (x, other))[0],
        lambda: lax.fori_loop(0, 3, inner, x),
        lambda: lax.scan(step, x, x)[1][r.randrange(2)],
        lambda: lax.scan(step, x, x[::-1], reverse=True)[0],
        lambda: lax.scan(step, other, x[:0])[1][1],
        lambda: lax.scan(lambda c, _: (anp.roll(c, 1, 0), c[-1]), x, None, length=length)[1],
        lambda: lax.while_loop(halted, lambda c: (c[0] + 1, c[1] + 2, same(low(c[2]))), (0, 0, x))[
            2
        ],
        lambda: lax.cond(anp.asarray(count) % 2 == 0, low, high, x),
        lambda: lax.switch(
            count, [lambda y: y, low, lambda y: same(both(y, other)), lambda _y: other], x
        ),
        lambda: ap.vmap(lambda row: lax.cond(count_of(r, values, 3) == 1, low, high, row))(x),
        lambda: lax.map(lambda row: same(both(row, row)), x),
        lambda: ap.jit(lambda y: same(low(same(high(y)))))(x),
    ]
    if kind == "f":
        choices += [
            lambda: ap.grad(
                lambda y: anp.sum(
                    lax.scan(lambda c, row: (anp.tanh(c + row), anp.sin(c)), y[0], y)[1]
                )
            )(x),
            lambda: ap.vmap(
                lambda row: lax.while_loop(
                    lambda c: c[1] < count + 0 * c[1], lambda c: (anp.sin(c[0]), c[1] + 1), (row, 0)
                )[0]
            )(x),
        ]
    if kind == "i":
        choices.append(
            lambda: ap.vmap(
                lambda row: lax.while_loop(
                    lambda c: anp.sum(c) % 5 > 1, lambda c: (c >> 1).astype(x.dtype), row
                )
            )(anp.abs(x) % 40)
        )
    return r.choice(choices)()


# ---- whole programs


def composed(seed: int) -> tuple[Program, list[np.ndarray]]:
    """Compose a Program, and make its operands."""
    rule = random.Random(seed)  # noqa: S311 - no secrets
    draw = np.random.default_rng(seed)
    name = rule.choice(FLOATS)
    shapes = [*SHAPES[1:], *SQUARE] if rule.random() < 0.85 else [*SHAPES[1:], *EMPTY]
    names = [*[name] * rule.randint(1, 3), "int32", *rule.sample(OTHERS, rule.randint(0, 2))]
    given = [
        operand(draw, rule, each, () if rule.random() < 0.05 else rule.choice(shapes))
        for each in names
    ]

    def steps(count: int) -> Callable[..., list[Any]]:
        def function(*xs: Any) -> list[Any]:
            r, values = random.Random(seed), list(xs)  # noqa: S311 - as above
            known = {v.dtype for v in xs}
            for x in xs:
                if kind_of(x) == "f" and r.random() < 0.4:
                    values += r.sample(cut(x), 2)
            for _ in range(count):
                y = stepped(r, values)
                if y.size < LARGEST and y.dtype in known:
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
    alike = [v for v in values if v.dtype == x.dtype and v.shape in {x.shape, ()}]
    chance = r.random()
    if chance < 0.45 or not x.ndim:
        one = alike_in_dtype(r.choice(ONES[kind_of(x)])(x), x)
        return r.choice(PAIRS[kind_of(x)])(one, r.choice(alike))
    if chance < 0.8 or not x.size:
        return moved(r, x, values)
    return written(r, x, values) if chance < 0.9 else looped(r, x, values)
