"""Collectives under vmap: what they give, and how they transform with everything around them."""

from __future__ import annotations

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp
from arrayport import lax

N = 4
X = np.arange(N * N * 2, dtype=np.float32).reshape(N, N, 2) - 7.5
ROW = np.array([3.0, -1.0, 4.0, 1.5], np.float32)
OWN = "JAX's vmap has no such collective"


def mapped(f, x, **options):
    return np.asarray(ap.vmap(f, axis_name="i", **options)(anp.asarray(x)))


CASES = {
    "psum": (lambda a: lax.psum(a, "i"), X, lambda x: np.stack([x.sum(0)] * N)),
    "psum of an array axis": (
        lambda a: lax.psum(a, (0, "i")),
        X,
        lambda x: np.stack([x.sum((0, 1))] * N),
    ),
    "pmean": (lambda a: lax.pmean(a, "i"), X, lambda x: np.stack([x.mean(0)] * N)),
    "pmax": (lambda a: lax.pmax(a, "i"), X, lambda x: np.stack([x.max(0)] * N)),
    "pmin": (lambda a: lax.pmin(a, "i"), X, lambda x: np.stack([x.min(0)] * N)),
    "all_gather": (lambda a: lax.all_gather(a, "i", axis=1), X, lambda x: [x.swapaxes(0, 1)] * N),
    "all_gather tiled": (
        lambda a: lax.all_gather(a, "i", axis=-1, tiled=True),
        X,
        lambda x: [np.concatenate(list(x), 1)] * N,
    ),
    "all_to_all": (
        lambda a: lax.all_to_all(a, "i", 0, 1),
        X,
        lambda x: np.stack([np.stack([x[j, i] for j in range(N)], 1) for i in range(N)]),
    ),
    "all_to_all tiled": (
        lambda a: lax.all_to_all(a, "i", 0, 1, tiled=True),
        X,
        lambda x: [np.concatenate([x[j, i : i + 1] for j in range(N)], 1) for i in range(N)],
    ),
    "pswapaxes": (lambda a: lax.pswapaxes(a, "i", 0), X, lambda x: x.swapaxes(0, 1)),
    "psum_scatter": (lambda a: lax.psum_scatter(a, "i"), X, lambda x: x.sum(0)),
    "psum_scatter tiled": (
        lambda a: lax.psum_scatter(a, "i", tiled=True),
        X,
        lambda x: x.sum(0)[:, None],
    ),
    "ppermute": (
        lambda a: lax.ppermute(a, "i", [(0, 2), (2, 1), (1, 0), (3, 3)]),
        X,
        lambda x: x[[1, 2, 0, 3]],
    ),
    "pshuffle": (lambda a: lax.pshuffle(a, "i", [2, 0, 3, 1]), X, lambda x: x[[2, 0, 3, 1]]),
    "axis_index": (lambda a: a + lax.axis_index("i"), ROW, lambda x: x + np.arange(N)),
    "axis_size": (lambda a: a / lax.axis_size("i"), ROW, lambda x: x / N),
    "psum of a number": (lambda a: a / lax.psum(1, "i"), ROW, lambda x: x / N),
}


@pytest.mark.parametrize("wrap", [lambda f: f, ap.jit], ids=["eager", "jit inside"])
@pytest.mark.parametrize("name", CASES)
@pytest.mark.usefixtures("backend")
def test_values(name, wrap):
    f, x, expected = CASES[name]
    np.testing.assert_allclose(mapped(wrap(f), x), expected(x), rtol=1e-6)


OURS = {
    "ppermute of some": (
        lambda a: lax.ppermute(a, "i", [(0, 1), (3, 0)]),
        ROW,
        lambda x: [x[3], x[0], 0, 0],
    ),
    "pbroadcast": (lambda a: lax.pbroadcast(a, "i", 2), ROW, lambda x: [x[2]] * N),
    "psum in groups": (
        lambda a: lax.psum(a, "i", axis_index_groups=[[0, 3, 1], [2]]),
        ROW,
        lambda x: [x[[0, 1, 3]].sum()] * 2 + [x[2], x[[0, 1, 3]].sum()],
    ),
    "pmean in groups": (
        lambda a: lax.pmean(a, "i", axis_index_groups=[[0, 3], [1, 2]]),
        ROW,
        lambda x: np.array([x[0] + x[3], x[1] + x[2], x[1] + x[2], x[0] + x[3]]) / 2,
    ),
    "all_gather in groups": (
        lambda a: lax.all_gather(a, "i", axis_index_groups=[[0, 3], [1, 2]]),
        ROW,
        lambda x: [x[[0, 3]], x[[1, 2]], x[[1, 2]], x[[0, 3]]],
    ),
    "psum_scatter in groups": (
        lambda a: lax.psum_scatter(a[:2, 0], "i", axis_index_groups=[[0, 3], [1, 2]]),
        X,
        lambda x: [
            (x[0] + x[3])[0, 0],
            (x[1] + x[2])[0, 0],
            (x[1] + x[2])[1, 0],
            (x[0] + x[3])[1, 0],
        ],
    ),
    "all_to_all in groups": (
        lambda a: lax.all_to_all(a[:2, 0], "i", 0, 0, axis_index_groups=[[0, 3], [1, 2]]),
        X,
        lambda x: [x[[0, 3], 0, 0], x[[1, 2], 0, 0], x[[1, 2], 1, 0], x[[0, 3], 1, 0]],
    ),
}


SEVERAL = {
    "all_to_all": lambda v, n: lax.all_to_all(v, n, 1, 0),
    "all_to_all tiled": lambda v, n: lax.all_to_all(v, n, 1, 0, tiled=True),
    "psum_scatter": lambda v, n: lax.psum_scatter(v, n, scatter_dimension=1),
    "psum_scatter tiled": lambda v, n: lax.psum_scatter(v, n, scatter_dimension=1, tiled=True),
    "all_gather": lambda v, n: lax.all_gather(v, n, axis=1),
    "ppermute": lambda v, n: lax.ppermute(v, n, [(0, 3), (1, 5), (5, 0), (4, 4)]),
    "pshuffle": lambda v, n: lax.pshuffle(v, n, [4, 2, 0, 5, 3, 1]),
    "pbroadcast": lambda v, n: lax.pbroadcast(v, n, 4),
    "axis_index": lambda v, n: v * lax.axis_index(n) / lax.axis_size(n),
}


@pytest.mark.parametrize("name", SEVERAL)
def test_several_axes_are_as_one(name, backend):
    """Of their product, the last counting quickest: values, and gradients within and around."""
    if backend == "jax":
        pytest.skip("JAX's vmap has them of one axis only; tests/parallel/test_shard_map.py")
    f = SEVERAL[name]
    x = anp.asarray(np.random.default_rng(0).normal(size=(6, 2, 6)).astype(np.float32))
    weights = anp.asarray(np.random.default_rng(1).normal(size=6).astype(np.float32))

    def one(g):
        return ap.vmap(lambda v, w: g(v, w, "i"), axis_name="i")(x, weights)

    def several(g):
        def outer(v, w):
            return ap.vmap(lambda v, w: g(v, w, ("a", "b")), axis_name="b")(v, w)

        out = ap.vmap(outer, axis_name="a")(x.reshape(2, 3, 2, 6), weights.reshape(2, 3))
        return out.reshape(6, *out.shape[2:])

    def value(v, _w, n):
        return f(v, n)

    def within(v, w, n):
        return ap.grad(lambda v: w * (f(v, n) ** 2).sum())(v)

    for g in (value, within, ap.jit(within, static_argnums=2)):
        np.testing.assert_allclose(np.asarray(several(g)), np.asarray(one(g)), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", OURS)
def test_values_on_own_engines(name, backend):
    if backend == "jax":
        pytest.skip(OWN)
    f, x, expected = OURS[name]
    np.testing.assert_allclose(mapped(f, x), expected(x), rtol=1e-6)


@pytest.mark.usefixtures("backend")
def test_dtypes():
    counted = ap.vmap(lambda a: lax.psum(a > 0, "i"), axis_name="i")(anp.asarray(ROW))
    np.testing.assert_array_equal(np.asarray(counted), [3] * N)
    assert counted.dtype == "int32"
    mean = ap.vmap(lambda a: lax.pmean(a, "i"), axis_name="i")(anp.arange(N))
    np.testing.assert_allclose(np.asarray(mean), [1.5] * N)
    half = ap.vmap(lambda a: lax.psum(a, "i"), axis_name="i")(anp.ones(3, "bfloat16"))
    assert half.dtype == "bfloat16"
    tree = ap.vmap(lambda a: lax.psum({"a": a, "b": (a * 1j, 2)}, "i"), axis_name="i")
    found = tree(anp.asarray(ROW))
    np.testing.assert_allclose(np.asarray(found["b"][0]), [7.5j] * N)
    np.testing.assert_array_equal(np.asarray(found["b"][1]), [8] * N)


@pytest.mark.usefixtures("backend")
def test_an_output_that_is_the_same_for_all():
    total = ap.vmap(lambda a: lax.psum(a, "i"), axis_name="i", out_axes=None)(anp.asarray(ROW))
    assert float(total) == 7.5


@pytest.mark.usefixtures("backend")
def test_nested_names():
    x = np.arange(6, dtype=np.float32).reshape(2, 3)

    def both(f):
        return np.asarray(ap.vmap(ap.vmap(f, axis_name="j"), axis_name="i")(anp.asarray(x)))

    np.testing.assert_allclose(both(lambda a: lax.psum(a, "i")), np.stack([x.sum(0)] * 2))
    np.testing.assert_allclose(both(lambda a: lax.psum(a, ("i", "j"))), np.full((2, 3), 15.0))
    np.testing.assert_allclose(
        both(lambda a: lax.axis_index(("i", "j")) + 0 * a), np.arange(6).reshape(2, 3)
    )
    np.testing.assert_allclose(both(lambda a: lax.ppermute(a, "i", [(0, 1), (1, 0)])), x[::-1])
    gathered = both(lambda a: lax.all_gather(a, "i"))
    np.testing.assert_allclose(gathered, np.stack([x.T] * 2))
    hidden = ap.vmap(ap.vmap(lambda a: lax.psum(a, "i"), axis_name="i"), axis_name="i")
    np.testing.assert_allclose(
        np.asarray(hidden(anp.asarray(x))), np.broadcast_to(x.sum(1, keepdims=True), (2, 3))
    )
    plain = ap.vmap(ap.vmap(lambda a: lax.psum(a, "i")), axis_name="i")
    np.testing.assert_allclose(np.asarray(plain(anp.asarray(x))), np.stack([x.sum(0)] * 2))


WEIGHTS = np.array([1.0, -2.0, 0.5, 3.0], np.float32)
LINEAR = {
    "psum": lambda a: lax.psum(a, "i"),
    "pmean": lambda a: lax.pmean(a, "i"),
    "all_gather": lambda a: (lax.all_gather(a, "i") * anp.arange(1.0, N + 1)).sum(),
    "ppermute": lambda a: lax.ppermute(a, "i", [(0, 1), (1, 2), (2, 3), (3, 0)]),
    "psum_scatter": lambda a: lax.psum_scatter(a * anp.arange(1.0, N + 1), "i"),
    "all_to_all": lambda a: lax.all_to_all(a * anp.arange(1.0, N + 1), "i", 0, 0).sum(),
}


@pytest.mark.parametrize("name", LINEAR)
@pytest.mark.usefixtures("backend")
def test_derivatives_of_the_whole_batch(name):
    """The gradient of all examples' sum is the transpose of the matrix of the map."""
    f = LINEAR[name]

    def whole(x):
        return ap.vmap(f, axis_name="i")(x)

    columns = np.stack([mapped(f, row) for row in np.eye(N, dtype=np.float32)], 1)
    x, w = anp.asarray(ROW), anp.asarray(WEIGHTS)
    np.testing.assert_allclose(
        np.asarray(ap.grad(lambda x: (whole(x) ** 2 * w).sum())(x)),
        columns.T @ (2 * WEIGHTS * (columns @ ROW)),
        rtol=1e-5,
    )
    _, t = ap.jvp(whole, (x,), (w,))
    np.testing.assert_allclose(np.asarray(t), columns @ WEIGHTS, rtol=1e-5)


@pytest.mark.parametrize("name", LINEAR)
@pytest.mark.usefixtures("backend")
def test_derivatives_of_each_example(name):
    """Inside vmap a collective is transposed as a collective, as in JAX: all examples' gradient."""
    f = LINEAR[name]
    columns = np.stack([mapped(f, row) for row in np.eye(N, dtype=np.float32)], 1)
    inside = mapped(ap.grad(lambda a: f(a) ** 2), ROW)
    np.testing.assert_allclose(inside, columns.T @ (2 * columns @ ROW), rtol=1e-5)
    staged = mapped(ap.grad(ap.jit(lambda a: f(a) ** 2)), ROW)
    np.testing.assert_allclose(staged, inside, rtol=1e-6)


@pytest.mark.usefixtures("backend")
def test_the_derivative_of_an_extreme():
    x = np.array([2.0, 5.0, 5.0, 1.0], np.float32)
    found = ap.grad(lambda x: ap.vmap(lambda a: lax.pmax(a, "i"), axis_name="i")(x).sum())(
        anp.asarray(x)
    )
    np.testing.assert_allclose(np.asarray(found), [0, 2, 2, 0])
    inside = mapped(ap.grad(lambda a: lax.pmin(a, "i")), x)
    np.testing.assert_allclose(inside, [0, 0, 0, 4])


@pytest.mark.usefixtures("backend")
def test_within_control_flow():
    def walk(a):
        def step(c, _):
            c = 0.5 * c + 0.5 * lax.pmean(c, "i")
            return c, lax.psum(c, "i")

        return lax.scan(step, a, None, length=3)

    last, sums = ap.vmap(walk, axis_name="i")(anp.asarray(ROW))
    mean = ROW.mean()
    np.testing.assert_allclose(np.asarray(last), mean + (ROW - mean) / 8, rtol=1e-5)
    np.testing.assert_allclose(np.asarray(sums), np.full((N, 3), ROW.sum()), rtol=1e-5)
    slope = ap.grad(lambda x: (ap.vmap(walk, axis_name="i")(x)[0] ** 2).sum())(anp.asarray(ROW))
    matrix = np.full((N, N), 7 / 8 / N) + np.eye(N) / 8
    np.testing.assert_allclose(np.asarray(slope), 2 * matrix @ matrix @ ROW, rtol=1e-5)

    def branch(a):
        return lax.cond(a > 0, lambda b: b + lax.psum(1.0, "i"), lambda b: b * 2, a)

    np.testing.assert_allclose(mapped(branch, ROW), np.where(ROW > 0, ROW + N, ROW * 2))


@pytest.mark.usefixtures("backend")
def test_a_whole_program_under_jit():
    @ap.jit
    def normalise(x):
        return ap.vmap(lambda a: (a - lax.pmean(a, "i")) / lax.pmax(a, "i"), axis_name="i")(x)

    for _ in range(2):
        np.testing.assert_allclose(
            np.asarray(normalise(anp.asarray(ROW))), (ROW - ROW.mean()) / 4.0, rtol=1e-6
        )


@pytest.mark.usefixtures("backend")
def test_operands_that_are_not_mapped():
    one = ap.jit(lambda b: lax.psum(b, "i"))  # no operand of this Program is mapped
    for size in (3, 5):
        found = ap.vmap(lambda a: a + one(anp.float32(2)), axis_name="i")(anp.zeros(size))
        np.testing.assert_allclose(np.asarray(found), [2.0 * size] * size)
    sized = ap.vmap(lambda a: lax.axis_index("i") * a, in_axes=None, axis_size=3, axis_name="i")
    np.testing.assert_allclose(np.asarray(sized(anp.float32(2))), [0, 2, 4])


@ap.custom_vjp
def total(x):
    return lax.psum(x, "i")


total.defvjp(lambda x: (lax.psum(x, "i"), None), lambda _, g: (g * 10,))


@pytest.mark.usefixtures("backend")
def test_within_a_custom_rule():
    def whole(x):
        return (ap.vmap(lambda a: total(a * a), axis_name="i")(x) * anp.asarray(WEIGHTS)).sum()

    for f in (whole, ap.jit(whole)):
        np.testing.assert_allclose(
            np.asarray(ap.grad(f)(anp.asarray(ROW))), 2 * ROW * WEIGHTS.sum() * 10, rtol=1e-6
        )


def test_errors_name_the_argument(backend):
    with pytest.raises(NameError, match="q"):
        lax.psum(anp.float32(1), "q")
    with pytest.raises(NameError, match="q"):
        mapped(lambda a: a + lax.axis_index("q"), ROW)
    with pytest.raises(ValueError, match="permutation"):
        mapped(lambda a: lax.pshuffle(a, "i", [0, 0, 1, 2]), ROW)
    with pytest.raises(ValueError, match="split_axis"):
        mapped(lambda a: lax.all_to_all(a, "i", 0, 0), X[:, :2])
    if backend != "jax":
        with pytest.raises(ValueError, match="scatter_dimension"):
            mapped(lambda a: lax.psum_scatter(a, "i"), X[:, :2])
        with pytest.raises(ValueError, match="once"):
            mapped(lambda a: lax.ppermute(a, "i", [(0, 1), (0, 2)]), ROW)
        with pytest.raises(ValueError, match="axis_index_groups"):
            mapped(lambda a: lax.psum(a, "i", axis_index_groups=[[0, 1]]), ROW)


def test_ragged_all_to_all(backend):
    if backend == "jax":
        pytest.skip("XLA has none for CPUs")
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(3, 8, 2)).astype(np.float32)
    sizes = np.array([[2, 0, 3, 1, 1, 0], [1, 1, 0, 2, 2, 2], [0, 3, 1, 1, 0, 2]])  # two each
    starts = np.cumsum(sizes, 1) - sizes
    arriving = sizes.reshape(3, 3, 2)  # sender, receiver, slice
    places = np.zeros_like(arriving)
    expected = np.full((3, 9, 2), -1, np.float32)
    for receiver in range(3):
        at = 0
        for sender in range(3):
            for i in range(2):
                count, start = arriving[sender, receiver, i], starts[sender, 2 * receiver + i]
                places[sender, receiver, i] = at
                expected[receiver, at : at + count] = rows[sender, start : start + count]
                at += count

    def exchange(r, start, size, place):
        out = anp.full((9, 2), -1.0)
        return lax.ragged_all_to_all(r, out, start, size, place, size, axis_name="i")

    given = [anp.asarray(a) for a in (rows, starts, sizes, places.reshape(3, 6))]
    found = ap.vmap(exchange, axis_name="i")(*given)
    np.testing.assert_array_equal(np.asarray(found), expected)
    gradient = ap.grad(lambda r: ap.vmap(exchange, axis_name="i")(r, *given[1:]).sum())(given[0])
    sent = np.arange(8) < sizes.sum(1)[:, None]
    np.testing.assert_array_equal(np.asarray(gradient)[..., 0], sent)
    with pytest.raises(ValueError, match="multiple of the 3 examples"):
        ap.vmap(lambda r: exchange(r, *anp.zeros((3, 4), int)), axis_name="i")(given[0])
