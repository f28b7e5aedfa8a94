"""Distributions and statistics of samples: SciPy's values, finite derivatives, JAX's types."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp
from arrayport.core.names import NAMES, known
from arrayport.scipy import stats

scipy: Any = pytest.importorskip("scipy.stats", reason="the values are SciPy's")

NAN, INF = np.nan, np.inf
REAL = (-30.0, -2.0, -0.5, 0.0, 0.3, 1.0, 1.7, 40.0, NAN)
PART = (-1.0, 0.0, 1e-9, 0.1, 0.25, 0.9, 1.0, 2.0, NAN)
COUNT = (-1, 0, 1, 2, 4, 5, 9)
MOVED = (0.25, 1.5)  # loc, scale
# Arguments after the first, and numbers for it: by the distribution, else by the function.
SHAPES: dict[str, tuple[Any, tuple[float, ...]]] = {
    "bernoulli": (COUNT, (0.3,)),
    "beta": (PART, (2.0, 0.5)),
    "betabinom": (COUNT, (5, 2.0, 0.5)),
    "binom": (COUNT, (5, 0.3)),
    "cauchy": ((*REAL, 1e9, -1e9), MOVED),
    "chi2": (REAL, (3.0, *MOVED)),
    "expon": (REAL, MOVED),
    "gamma": (REAL, (1.5, *MOVED)),
    "gennorm": (REAL, (1.5,)),
    "geom": (COUNT, (0.3,)),
    "gumbel_l": (REAL[:-2], MOVED),
    "gumbel_r": (REAL, MOVED),
    "laplace": (REAL, MOVED),
    "logistic": (REAL, MOVED),
    "nbinom": (COUNT, (5, 0.3)),
    "norm": (REAL, MOVED),
    "pareto": (REAL, (2.5, -0.5, 1.25)),
    "poisson": (COUNT, (2.5,)),
    "t": (REAL, (2.5, *MOVED)),
    "truncnorm": (REAL, (-0.5, 1.5, *MOVED)),
    "uniform": (REAL, MOVED),
    "vonmises": ((-3.0, -0.5, 0.0, 0.3, 3.0), (2.5,)),
    "wrapcauchy": ((0.0, 0.3, 6.0), (0.4,)),
}
SPECIAL = {"dirichlet", "multinomial", "multivariate_normal"}
CASES = [
    (name, function)
    for module in NAMES
    if module.startswith("scipy.stats.") and (name := module.split(".")[-1]) not in SPECIAL
    for function in known(module)
    if function != "entropy"  # SciPy's own sum does not converge: its test is below
]


def arguments(name: str, function: str) -> list[Any]:
    xs, shape = SHAPES[name]
    if function in {"ppf", "isf"}:
        xs = PART[2:] if name == "bernoulli" else PART  # SciPy has a -1 below its 0 and 1
    return [np.array(xs, np.float64), *shape]


@pytest.mark.usefixtures("own_backend")
@pytest.mark.parametrize(("name", "function"), CASES)
def test_values_are_scipys(name: str, function: str) -> None:
    x, *rest = arguments(name, function)
    with np.errstate(all="ignore"):
        wanted = getattr(getattr(scipy, name), function)(x, *rest)
    ours = getattr(getattr(stats, name), function)
    with ap.config.override("enable_x64", True):
        found = np.asarray(ours(anp.asarray(x), *rest))
    np.testing.assert_allclose(found, wanted, rtol=2e-11, atol=1e-15)
    narrow = np.asarray(ours(anp.asarray(x), *rest))
    assert narrow.dtype == np.float32
    kept = np.isfinite(wanted) & (np.abs(np.nan_to_num(wanted)) < 1e6)
    np.testing.assert_allclose(narrow[kept], wanted[kept], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", sorted(SHAPES))
def test_derivatives_are_scipys_differences(name: str) -> None:
    """Compare inside the support; outside and at the ends they are no NaN."""
    function = "logpdf" if hasattr(getattr(stats, name), "logpdf") else "logpmf"
    x, *rest = arguments(name, function)
    ours, theirs = (getattr(getattr(m, name), function) for m in (stats, scipy))
    steps = [i for i, r in enumerate([0.5, *rest]) if isinstance(r, float)]
    steps = steps[1:] if function == "logpmf" else steps
    with ap.config.override("enable_x64", True):
        for value in x[~np.isnan(x)].tolist():
            point = [value, *rest]
            for i in steps:
                found = float(ap.grad(ours, i)(*[anp.asarray(p) for p in point]))
                moved = [[p + h * (i == j) for j, p in enumerate(point)] for h in (1e-5, -1e-5)]
                with np.errstate(all="ignore"):
                    ends = [theirs(*m) for m in (*moved, point)]
                if np.all(np.isfinite(ends)):
                    middle = pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-5, abs=1e-5)
                    sides = [(e - ends[2]) / h for e, h in zip(ends, (1e-5, -1e-5), strict=False)]
                    smooth = np.isclose(*sides, rtol=1e-2, atol=1e-2)
                    assert not smooth or found == middle, (point, i)
                assert not np.isnan(found), (point, i)


def test_vectors() -> None:
    rng = np.random.default_rng(0)
    with ap.config.override("enable_x64", True):
        alpha, x = np.array([1.0, 2.5, 0.5]), rng.dirichlet([1, 2, 3], 4).T
        wanted = scipy.dirichlet.logpdf(x, alpha)
        for part in (x, x[:2]):
            found = stats.dirichlet.logpdf(anp.asarray(part), anp.asarray(alpha))
            np.testing.assert_allclose(found, wanted)
        assert float(stats.dirichlet.pdf(anp.array([0.5, 0.9]), anp.array([1.0, 2.0]))) == 0
        counts, p = np.array([[1, 2, 1], [0, 4, 0], [2, 2, 2]]), np.array([0.2, 0.3, 0.5])
        for name in ("logpmf", "pmf"):
            found = getattr(stats.multinomial, name)(anp.asarray(counts), 4, anp.asarray(p))
            np.testing.assert_allclose(found, getattr(scipy.multinomial, name)(counts, 4, p))
        y, mean = rng.normal(size=(5, 3)), rng.normal(size=3)
        half = rng.normal(size=(3, 3))
        for cov in (half @ half.T + np.eye(3), 2.0):
            wanted = scipy.multivariate_normal.logpdf(y, mean, cov)
            found = stats.multivariate_normal.logpdf(*map(anp.asarray, (y, mean, cov)))
            np.testing.assert_allclose(found, wanted)
        found = stats.multivariate_normal.pdf(1.0, 0.5, 2.0)
        np.testing.assert_allclose(found, scipy.norm.pdf(1.0, 0.5, np.sqrt(2)))
        several = np.stack([np.eye(3), 2 * np.eye(3)])
        found = stats.multivariate_normal.logpdf(*map(anp.asarray, (y[:2], mean, several)))
        wanted = [
            scipy.multivariate_normal.logpdf(v, mean, c)
            for v, c in zip(y[:2], several, strict=True)
        ]
        np.testing.assert_allclose(found, wanted)


def test_entropies() -> None:
    means = np.array([0.0, 0.5, 5.0, 99.0, 101.0, 500.0])
    with ap.config.override("enable_x64", True):
        found = stats.poisson.entropy(anp.asarray(means))
        slope = ap.grad(stats.poisson.entropy)(anp.asarray(120.0))
    wanted = scipy.entropy(scipy.poisson.pmf(np.arange(2000)[:, None], means))
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-15)
    assert float(slope) == pytest.approx(0.5 / 120, rel=0.01)
    assert np.isnan(float(stats.poisson.entropy(-1.0)))


# ---- samples


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("method", ["average", "min", "max", "dense", "ordinal"])
def test_ranks(method: str) -> None:
    x = np.array([[3, 1, 1, 2, 2, 2], [0, 0, 0, 5, 1, 0]])
    for axis in (None, 0, 1, -1):
        found = stats.rankdata(anp.asarray(x), method, axis=axis)
        wanted = scipy.rankdata(x, method, axis=axis)
        np.testing.assert_array_equal(np.asarray(found).reshape(-1), wanted.reshape(-1))
    assert np.isnan(np.asarray(stats.rankdata(anp.array([1.0, NAN])))).all()
    assert stats.rankdata(anp.zeros((0,)), method).shape == (0,)


@pytest.mark.usefixtures("backend")
def test_modes() -> None:
    x = np.array([[1, 2, 2, 3], [1, 1, 3, 3], [2, 2, 2, 0]])
    for axis in (None, 0, 1):
        for keep in (False, True):
            found = stats.mode(anp.asarray(x), axis=axis, keepdims=keep)
            wanted = scipy.mode(x, axis=axis, keepdims=keep)
            for a, b in zip(found, wanted, strict=True):
                np.testing.assert_array_equal(a, b)
                assert np.shape(a) == np.shape(b)
    assert np.asarray(stats.mode(anp.array([1.0, NAN, NAN])).count) == 2
    assert np.asarray(stats.mode(3).mode) == 3


@pytest.mark.usefixtures("backend")
def test_standard_errors() -> None:
    x = np.array([[1.0, 2.0, 4.0], [3.0, NAN, 1.0], [0.0, 1.0, 1.5]], np.float32)
    for axis in (0, 1, None):
        for policy in ("propagate", "omit"):
            found = stats.sem(anp.asarray(x), axis, nan_policy=policy)
            wanted = scipy.sem(x, axis, nan_policy=policy)
            np.testing.assert_allclose(found, wanted, rtol=1e-6)
    assert stats.sem(anp.asarray(x), keepdims=True, ddof=0).shape == (1, 3)


@pytest.mark.parametrize("weights", [None, np.array([1.0, 2.0, 0.5, 1.0])])
@pytest.mark.parametrize("width", [None, "silverman", 0.4])
def test_kernel_densities(width: Any, weights: Any) -> None:
    rng = np.random.default_rng(0)
    with ap.config.override("enable_x64", True):
        for data, points in (
            (rng.normal(size=4), rng.normal(size=6)),
            (rng.normal(size=(2, 4)), rng.normal(size=(2, 6))),
        ):
            given = None if weights is None else anp.asarray(weights)
            ours = stats.gaussian_kde(anp.asarray(data), width, given)
            theirs = scipy.gaussian_kde(data, width, weights)
            np.testing.assert_allclose(ours(anp.asarray(points)), theirs(points))
            np.testing.assert_allclose(ours.logpdf(anp.asarray(points)), theirs.logpdf(points))
            mean, cov = np.zeros(theirs.d), np.eye(theirs.d)
            found = ours.integrate_gaussian(anp.asarray(mean), anp.asarray(cov))
            np.testing.assert_allclose(found, theirs.integrate_gaussian(mean, cov))
            np.testing.assert_allclose(ours.integrate_kde(ours), theirs.integrate_kde(theirs))
            np.testing.assert_allclose(ours.inv_cov, theirs.inv_cov)
            if theirs.d == 1:
                wanted = theirs.integrate_box_1d(-0.5, INF)
                np.testing.assert_allclose(ours.integrate_box_1d(-0.5, INF), wanted)


def test_kernel_densities_are_pytrees_that_draw() -> None:
    data = anp.asarray(np.random.default_rng(0).normal(size=(2, 50)).astype(np.float32))
    density = stats.gaussian_kde(data, 0.1)
    drawn = ap.jit(lambda d, key: d.resample(key, (4000,)))(density, ap.random.PRNGKey(0))
    assert drawn.shape == (2, 4000)
    np.testing.assert_allclose(np.cov(drawn), np.cov(np.asarray(data)), rtol=0.1, atol=0.1)
    assert np.isfinite(
        np.asarray(ap.grad(lambda d: d.pdf(anp.zeros(2)).sum())(density).dataset)
    ).all()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: stats.mode(anp.ones(2), nan_policy="omit"), NotImplementedError, "propagate"),
        (lambda: stats.rankdata(anp.ones(2), "best"), ValueError, "average, min, max"),
        (lambda: stats.rankdata(anp.ones(2), nan_policy="x"), ValueError, "must be one of"),
        (lambda: stats.sem(anp.ones(2), nan_policy="raise"), ValueError, "isnan"),
        (lambda: stats.gaussian_kde(anp.ones(1)), ValueError, "more than one"),
        (lambda: stats.gaussian_kde(anp.ones(3), "wide"), ValueError, "'scott', 'silverman'"),
        (
            lambda: stats.gaussian_kde(anp.arange(3.0)).pdf(anp.ones((2, 3))),
            ValueError,
            r"\(1, m\)",
        ),
        (lambda: stats.dirichlet.pdf(anp.ones(3), anp.ones(2)), ValueError, "2 parts"),
        (lambda: stats.multinomial.pmf(anp.ones(2), 2, anp.ones(2)), TypeError, "integers"),
        (
            lambda: stats.multivariate_normal.pdf(anp.ones(2), anp.ones(2), anp.ones(2)),
            ValueError,
            r"\(\.\.\., 2, 2\)",
        ),
        (lambda: stats.norm.pdf(1j), TypeError, r"norm\.logpdf takes real numbers"),
    ],
)
def test_bad_arguments_are_named(call: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_types_are_jaxs() -> None:
    """Let JAX trace each function, without computing, and compare shapes and dtypes."""
    jax = pytest.importorskip("jax", reason="the types are jax's")
    for name, function in CASES:
        theirs = getattr(import_module(f"jax.scipy.stats.{name}"), function, None)
        if theirs is None:
            continue
        ours = getattr(getattr(stats, name), function)
        count = sum(p.default is p.empty for p in inspect.signature(ours).parameters.values())
        for dtype in ("float32", "int32"):
            xs = [np.full((2, 1), 1, dtype), *[np.full(3, 1, dtype)] * (count - 1)]
            try:
                wanted = jax.eval_shape(theirs, *xs)
            except TypeError:
                assert dtype == "int32"  # of which JAX makes floats in some functions only
                continue
            found = ours(*map(anp.asarray, xs))
            assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype), (name, function)


def test_cauchy_quantiles_beside_the_median() -> None:
    q = np.array([0.5, 0.5 + 2.0**-20, 0.25, 0.75, 0.125, 0.0, 1.0], np.float32)
    found = np.asarray(stats.cauchy.ppf(anp.asarray(q)))
    known = [0.0, np.tan(np.pi * 2.0**-20), -1, 1, -1 - 2**0.5, -np.inf, np.inf]
    np.testing.assert_allclose(found, known, rtol=4e-7)
    slope = ap.grad(stats.cauchy.ppf)(anp.float32(0.5))
    np.testing.assert_allclose(slope, np.pi, rtol=1e-6)
