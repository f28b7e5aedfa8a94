"""Random numbers against jax.random: bits equal, closed forms within three units."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

import arrayport as ap
from arrayport import random
from arrayport.ops.random import threefry2x32_p

jax = pytest.importorskip("jax", reason="jax.random is the oracle")

WIDTHS = ("float16", "bfloat16", "float32", "float64")
INTEGERS = tuple(f"{sign}int{n}" for sign in ("", "u") for n in (8, 16, 32, 64))
SHAPES = ((), (0, 3), (3, 5, 2), (300,))
SEEDS = (0, 42, -1, -(2**31), 2**31, 2**32 + 7, 2**63 - 1, -(2**63), True)


# For what is drawn otherwise with 64-bit types on; the rest has dtypes of its own.
@pytest.fixture(params=[False, True], ids=["x32", "x64"])
def x64(request: pytest.FixtureRequest) -> Any:
    with ap.config.override("enable_x64", request.param), jax.enable_x64(request.param):
        yield request.param


def keys(seed: int = 7) -> tuple[Any, Any]:
    return random.PRNGKey(seed), jax.random.PRNGKey(seed)


def same(ours: Any, theirs: Any, ulps: int = 0) -> None:
    """Equal in shape, dtype and bits, or within so many units of the result or of 1."""
    found, expected = np.asarray(ours), np.asarray(theirs)
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype
    assert not ours.weak_type
    if ulps:
        unit = float(jax.numpy.finfo(expected.dtype).eps)
        found, expected = found.astype(np.float64), expected.astype(np.float64)
        np.testing.assert_allclose(found, expected, rtol=ulps * unit, atol=ulps * unit)
    else:
        np.testing.assert_array_equal(found, expected)


# Of the paper that states threefry ("Parallel random numbers: as easy as 1, 2, 3", 2011).
KNOWN = {
    (0, 0, 0, 0): (0x6B200159, 0x99BA4EFE),
    (2**32 - 1,) * 4: (0x1CB996FC, 0xBB002BE7),
    (0x13198A2E, 0x03707344, 0x243F6A88, 0x85A308D3): (0xC4923A9C, 0x483DF7A0),
}


@pytest.mark.parametrize("words", KNOWN)
@pytest.mark.parametrize("size", [1, 3, 40000])
@pytest.mark.usefixtures("backend")
def test_known_answers(words: Any, size: int) -> None:
    first, second, high, low = (ap.numpy.full((size,), w, "uint32") for w in words)
    found = threefry2x32_p.bind(first[0], second[0], high, low)
    for half, expected in zip(found, KNOWN[words], strict=True):
        np.testing.assert_array_equal(np.asarray(half), np.full(size, expected, np.uint32))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.usefixtures("x64")
def test_keys(seed: int) -> None:
    ours, theirs = keys(seed)
    same(ours, theirs)
    same(random.split(ours), jax.random.split(theirs))
    same(random.split(ours, 5), jax.random.split(theirs, 5))
    same(random.split(ours, (2, 3)), jax.random.split(theirs, (2, 3)))
    for data in (0, 9, 2**32 - 1, np.int32(-1)):
        same(random.fold_in(ours, data), jax.random.fold_in(theirs, data))


@pytest.mark.parametrize("seed", [np.int64(-1), np.int32(-1), np.uint64(2**63 + 1), np.int8(-3)])
@pytest.mark.usefixtures("x64")
def test_seeds_of_numpy(seed: Any) -> None:
    same(random.PRNGKey(seed), jax.random.PRNGKey(seed))
    same(ap.jit(random.PRNGKey)(seed), jax.random.PRNGKey(seed))
    same(random.PRNGKey(np.asarray(seed)), jax.random.PRNGKey(seed))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [None, "uint8", "uint16", "uint32", "uint64"])
def test_bits(shape: Any, dtype: Any, x64: bool) -> None:
    if dtype == "uint64" and not x64:
        pytest.skip("jax warns that it has no uint64 while x64 is off")
    ours, theirs = keys()
    same(random.bits(ours, shape, dtype), jax.random.bits(theirs, shape, dtype))


@pytest.mark.parametrize("dtype", WIDTHS)
@pytest.mark.parametrize("bounds", [(), (-2, 3), (1e-3, 5e4), (1.0, 1.0)])
def test_uniform(dtype: Any, bounds: Any, x64: bool) -> None:
    if dtype == "float64" and not x64:
        dtype = None
    ours, theirs = keys()
    for shape in ((), (150, 2)):
        expected = jax.random.uniform(theirs, shape, dtype, *bounds)
        same(random.uniform(ours, shape, dtype, *bounds), expected)


def test_uniform_between_arrays() -> None:
    ours, theirs = keys()
    low, high = np.float32([[-1.0], [0.25]]), np.float32([1.5, 2.0, 99.0])
    expected = jax.random.uniform(theirs, (4, 2, 3), "float32", low, high)
    same(random.uniform(ours, (4, 2, 3), "float32", low, high), expected)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("bounds", ["few", "all", "none", "one", "end", "arrays"])
def test_randint(dtype: str, bounds: str, x64: bool) -> None:
    if dtype.endswith("64") and not x64:
        pytest.skip("jax warns that it has no 64-bit types while x64 is off")
    info = np.iinfo(dtype)
    low, high = {
        "few": (3, 100),
        "all": (int(info.min), int(info.max) + (info.bits < 32)),
        "none": (5, 2),
        "one": (7, 8),
        "end": (int(info.max) - 3, int(info.max)),
        "arrays": (np.asarray([[1], [2]], dtype), np.asarray([5, 90, 127], dtype)),
    }[bounds]
    ours, theirs = keys()
    limits = [np.asarray(v, dtype if np.all(v <= info.max) else None) for v in (low, high)]
    expected = jax.random.randint(theirs, (70, 2, 3), *limits, dtype)
    same(random.randint(ours, (70, 2, 3), low, high, dtype), expected)


def test_randint_over_the_whole_range() -> None:
    draws = np.asarray(random.randint(keys()[0], (2000,), -(2**31), 2**31, "int32"))
    assert draws.min() < -(2**30)
    assert draws.max() > 2**30


@pytest.mark.parametrize("size", [0, 1, 2, 10, 3000])
@pytest.mark.usefixtures("x64")
def test_permutation_of_numbers(size: int) -> None:
    ours, theirs = keys()
    same(random.permutation(ours, size), jax.random.permutation(theirs, size))


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("independent", [False, True])
def test_permutation_of_arrays(axis: int, independent: bool) -> None:
    ours, theirs = keys()
    x = np.arange(60, dtype=np.float32).reshape(3, 5, 4)
    expected = jax.random.permutation(theirs, x, axis, independent)
    same(random.permutation(ours, x, axis, independent), expected)


@pytest.mark.parametrize("p", [0.0, 0.3, 1.0, np.float16(0.6), np.float32([0.1, 0.9])])
@pytest.mark.parametrize("mode", ["low", "high"])
@pytest.mark.usefixtures("x64")
def test_bernoulli(p: Any, mode: str) -> None:
    ours, theirs = keys()
    for shape in ((50, 2),) if np.ndim(p) == 0 else (None, (50, 2)):
        expected = jax.random.bernoulli(theirs, p, shape, mode)
        same(random.bernoulli(ours, p, shape, mode), expected)


@pytest.mark.parametrize("dtype", [*WIDTHS, "complex64"])
@pytest.mark.parametrize("name", ["normal", "exponential", "gumbel"])
def test_closed_forms(name: str, dtype: Any, x64: bool) -> None:
    if (dtype == "float64" and not x64) or (dtype == "complex64" and name != "normal"):
        dtype = None
    if x64 and dtype in ("float64", None) and jax.__version_info__ < (0, 12):
        pytest.skip("JAX before 0.12 is up to 98 ulps off in float64: mpmath's test has the values")
    ours, theirs = keys()
    f, g = getattr(random, name), getattr(jax.random, name)
    for shape in ((), (250, 2)):
        found, expected = f(ours, shape, dtype), g(theirs, shape, dtype)
        if dtype == "complex64":
            for part in (np.real, np.imag):
                np.testing.assert_allclose(part(found), part(expected), rtol=5e-7)
        else:
            same(found, expected, ulps=3)


@pytest.mark.parametrize("mode", ["high", "highest"])
def test_fine_tails_of_gumbel(mode: str) -> None:
    ours, theirs = keys()
    expected = jax.random.gumbel(theirs, (3000,), "float32", mode)
    found = random.gumbel(ours, (3000,), "float32", mode)
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=2e-6, atol=1e-6)


def test_exponential_against_mpmath(backend: str, x64: bool) -> None:
    dtype = "float64" if x64 else "float32"
    key = random.PRNGKey(7)
    drawn, found = (np.asarray(f(key, (300,), dtype)) for f in (random.uniform, random.exponential))
    want = np.array([float(-mpmath.log1p(-mpmath.mpf(float(u)))) for u in drawn])
    # On the JAX backend it is JAX's logarithm, before 0.12 up to 98 ulps off in float64.
    old = backend == "jax" and x64 and jax.__version_info__ < (0, 12)
    ulps = np.abs(found - want) / np.spacing(want.astype(dtype))
    assert np.max(ulps) <= (128 if old else 2)


def test_truncated_normal() -> None:
    ours, theirs = keys()
    low = np.float32([-1.0, 0.5, -np.inf])
    for shape in (None, (400, 3)):
        expected = np.asarray(jax.random.truncated_normal(theirs, low, 2.0, shape, "float32"))
        found = np.asarray(random.truncated_normal(ours, low, 2.0, shape, "float32"))
        np.testing.assert_allclose(found, expected, rtol=2e-6)
        assert np.all((found > low) & (found < 2))


@pytest.mark.parametrize("replace", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.usefixtures("x64")
def test_choice(replace: bool, weighted: bool) -> None:
    ours, theirs = keys()
    p = np.float32([0.1, 0.2, 0.05, 0.4, 0.25]) if weighted else None
    x = np.arange(30, dtype=np.int32).reshape(2, 5, 3)
    for shape in ((), (2, 2)):
        same(
            random.choice(ours, 5, shape, replace, p),
            jax.random.choice(theirs, 5, shape, replace, p),
        )
        same(
            random.choice(ours, x, shape, replace, p, axis=1),
            jax.random.choice(theirs, x, shape, replace, p, axis=1),
        )


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("replace", [True, False])
def test_categorical(axis: int, replace: bool) -> None:
    ours, theirs = keys()
    logits = np.random.default_rng(0).normal(size=(4, 5, 6)).astype(np.float32)
    rest = np.delete(logits.shape, axis)
    for shape in (None, (2, 2, *rest)):
        expected = jax.random.categorical(theirs, logits, axis, shape, replace)
        same(random.categorical(ours, logits, axis, shape, replace), expected)


PROGRAMS: dict[str, Callable[[Any, Any], Any]] = {
    "split": lambda r, k: r.split(k, 3),
    "fold": lambda r, k: r.fold_in(k, 4),
    "uniform": lambda r, k: r.uniform(k, (3, 2)),
    "randint": lambda r, k: r.randint(k, (4,), 0, 50),
    "permutation": lambda r, k: r.permutation(k, 6),
    "bernoulli": lambda r, k: r.bernoulli(k, 0.4, (9,)),
    "choice": lambda r, k: r.choice(k, 9, (3,), replace=False),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.usefixtures("x64")
def test_every_backend(name: str, backend: str) -> None:
    f = PROGRAMS[name]
    key = random.PRNGKey(7)
    assert key.device.backend == backend
    expected = f(jax.random, jax.random.PRNGKey(7))
    same(f(random, key), expected)
    same(ap.jit(lambda k: f(random, k))(key), expected)


DRAWS: dict[str, Callable[[Any, Any], Any]] = {
    "normal": lambda r, k: r.normal(k, (300,), "float32"),
    "truncated": lambda r, k: r.truncated_normal(k, -1, np.ones(3, np.float32), (50, 3), "float32"),
    "between": lambda r, k: r.uniform(k, (2, 3), "float32", -1, np.ones(3, np.float32)),
    "categorical": lambda r, k: r.categorical(k, np.ones((4, 3), np.float32)),
    "chosen": lambda r, k: r.choice(k, np.arange(5, dtype=np.int32), (3,), p=np.ones(5) / 5),
    "bounded": lambda r, k: r.randint(k, (3,), 1, np.int32(7), "int32"),
}


@pytest.mark.parametrize("name", DRAWS)
def test_arguments_follow_the_key(name: str, backend: str) -> None:
    key = random.PRNGKey(7)
    with ap.use_backend("numpy" if backend == "jax" else "jax"):
        found = DRAWS[name](random, key)
    assert found.device.backend == backend
    same(
        found,
        DRAWS[name](jax.random, jax.random.PRNGKey(7)),
        ulps=3 if found.dtype.kind == "f" else 0,
    )


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.usefixtures("x64")
def test_jit_and_vmap_over_keys(name: str) -> None:
    ours, theirs = keys()
    f = PROGRAMS[name]
    expected = jax.vmap(lambda k: f(jax.random, k))(jax.random.split(theirs, 4))
    many = random.split(ours, 4)
    same(ap.vmap(lambda k: f(random, k))(many), expected)
    same(ap.jit(ap.vmap(lambda k: f(random, k)))(many), expected)
    same(ap.vmap(lambda k: f(random, k), in_axes=1)(many.T), expected)


def test_vmap_over_data() -> None:
    ours, theirs = keys()
    data = np.arange(5, dtype=np.uint32)
    expected = jax.vmap(lambda d: jax.random.fold_in(theirs, d))(data)
    same(ap.vmap(lambda d: random.fold_in(ours, d))(data), expected)
    seeds = np.arange(-2, 3, dtype=np.int32)
    same(ap.vmap(random.PRNGKey)(seeds), jax.vmap(jax.random.PRNGKey)(seeds))


def test_gradient_through_the_bounds() -> None:
    key = keys()[0]
    unit = np.asarray(random.uniform(key, (), "float32"))
    low, high = ap.grad(
        lambda low, high: random.uniform(key, (), "float32", low, high), argnums=(0, 1)
    )(np.float32(2), np.float32(6))
    np.testing.assert_allclose([np.asarray(low), np.asarray(high)], [1 - unit, unit], rtol=1e-6)


def test_distributions_have_their_moments() -> None:
    key = random.PRNGKey(1)
    draws = np.asarray(random.normal(key, (100_000,)), np.float64)
    assert abs(draws.mean()) < 0.02
    assert abs(draws.var() - 1) < 0.02
    assert abs(np.asarray(random.exponential(key, (100_000,)), np.float64).mean() - 1) < 0.02


KEY = np.array([0, 1], np.uint32)
MISTAKES = {
    "int32 key": (
        lambda: random.uniform(np.zeros(2, np.int32)),
        TypeError,
        "uint32 array of shape",
    ),
    "long key": (lambda: random.split(np.zeros(3, np.uint32)), TypeError, "shape \\(3,\\)"),
    "no key": (lambda: random.normal(5), TypeError, "PRNGKey"),
    "many keys": (lambda: random.normal(np.zeros((4, 2), np.uint32)), ValueError, "vmap"),
    "float seed": (lambda: random.PRNGKey(1.0), TypeError, "integer"),
    "wide seed": (lambda: random.PRNGKey(2**64), OverflowError, "64 bits"),
    "seeds": (lambda: random.PRNGKey(np.array([1, 2])), TypeError, "vmap"),
    "impl": (lambda: random.PRNGKey(0, impl="rbg"), ValueError, "threefry2x32"),
    "fold wide": (lambda: random.fold_in(KEY, 2**32), OverflowError, "uint32"),
    "fold array": (lambda: random.fold_in(KEY, np.arange(3)), TypeError, "vmap"),
    "shape": (
        lambda: random.uniform(KEY, (2.5,)),
        TypeError,
        "shape must be an integer or a sequence of integers",
    ),
    "negative": (lambda: random.uniform(KEY, (-1,)), ValueError, "negative"),
    "int uniform": (lambda: random.uniform(KEY, (), "int32"), ValueError, "float dtype"),
    "signed bits": (lambda: random.bits(KEY, (), "int32"), ValueError, "unsigned"),
    "float randint": (lambda: random.randint(KEY, (), 0, 1, "float32"), TypeError, "integer"),
    "bounds": (lambda: random.uniform(KEY, (2,), maxval=np.ones(3)), ValueError, "shape"),
    "int p": (lambda: random.bernoulli(KEY, 1), TypeError, "float"),
    "wide p": (lambda: random.bernoulli(KEY, np.ones(3), (2,)), ValueError, "shape"),
    "int normal": (lambda: random.normal(KEY, (), "int8"), ValueError, "float or complex"),
    "few": (lambda: random.choice(KEY, 5, (7,), replace=False), ValueError, "without replacement"),
    "none": (lambda: random.choice(KEY, np.zeros(0), (1,)), ValueError, "empty"),
    "p": (lambda: random.choice(KEY, 5, (1,), p=np.ones(4)), ValueError, "shape \\(5,\\)"),
    "scalar": (lambda: random.permutation(KEY, 3.5), TypeError, "array or an integer"),
    "axis": (lambda: random.permutation(KEY, np.ones(3), 1), ValueError, "out of bounds"),
    "mode": (lambda: random.gumbel(KEY, mode="fine"), ValueError, "low"),
    "logits": (lambda: random.categorical(KEY, np.ones((2, 3)), shape=(3,)), ValueError, "shape"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_messages(mistake: str) -> None:
    call, error, match = MISTAKES[mistake]
    with pytest.raises(error, match=match):
        call()
