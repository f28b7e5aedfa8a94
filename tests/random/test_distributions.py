"""Distributions against jax.random: closed forms within units, rejection alike in the mass."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import arrayport as ap
import arrayport.numpy as anp
from arrayport import random

COV = np.float32([[2.0, 0.3], [0.3, 0.5]])
CLOSED: dict[str, tuple[Any, ...]] = {
    "cauchy": ((50,),),
    "double_sided_maxwell": (1.0, 2.0, (50,)),
    "geometric": (0.3, (50,)),
    "laplace": ((50,),),
    "logistic": ((50,),),
    "lognormal": (0.5, (50,)),
    "maxwell": ((50,),),
    "multivariate_normal": (np.float32([1.0, -2.0]), COV, (50,)),
    "orthogonal": (3, (4,)),
    "pareto": (np.float32([1.0, 2.5]), (50, 2)),
    "rademacher": ((50,),),
    "rayleigh": (2.0, (50,)),
    "triangular": (-1.0, 0.5, 2.0, (50,)),
    "wald": (1.5, (50,)),
    "weibull_min": (2.0, 1.5, (50,)),
}
REJECTED: dict[str, tuple[Any, ...]] = {
    "ball": (3, 1.5, (100,)),
    "beta": (0.5, 2.0, (100,)),
    "binomial": (np.float32([[5.0, 40.0, 100.0]]), np.float32([[0.3, 0.7, 0.5]]), (100, 3)),
    "chisquare": (3.0, (100,)),
    "dirichlet": (np.float32([0.5, 1.0, 3.0]), (100,)),
    "f": (3.0, 4.0, (100,)),
    "gamma": (np.float32([0.3, 1.0, 20.0]), (100, 3)),
    "generalized_normal": (1.5, (100,)),
    "loggamma": (np.float32([1e-3, 1.0, 20.0]), (100, 3)),
    "multinomial": (20.0, np.float32([0.2, 0.5, 0.3])),
    "poisson": (np.float32([0.0, 3.0, 12.0, 1e4]), (100, 4)),
    "t": (3.0, (100,)),
}


def oracle() -> Any:
    return pytest.importorskip("jax", reason="jax.random is the oracle")


def both(name: str, *args: Any, **options: Any) -> tuple[np.ndarray[Any, Any], Any]:
    jax = oracle()
    ours = getattr(random, name)(random.PRNGKey(3), *args, **options)
    theirs = getattr(jax.random, name)(jax.random.PRNGKey(3), *args, **options)
    assert ours.shape == theirs.shape
    assert ours.dtype == theirs.dtype
    return np.asarray(ours), np.asarray(theirs)


@pytest.mark.parametrize("name", CLOSED)
@pytest.mark.usefixtures("backend")
def test_closed_forms(name: str) -> None:
    # wald subtracts nearly equal numbers, which brings out JAX's other last bits.
    rtol = 2e-5 if name == "wald" else 1e-6
    np.testing.assert_allclose(*both(name, *CLOSED[name]), rtol=rtol, atol=1e-6)


@pytest.mark.parametrize("name", REJECTED)
def test_rejected_draws_are_nearly_all_the_same(name: str) -> None:
    ours, theirs = both(name, *REJECTED[name])
    whole = name in {"binomial", "multinomial", "poisson"}  # counts, in floats
    same = ours == theirs if whole else np.isclose(ours, theirs, rtol=2e-5, atol=1e-37)
    assert np.mean(same) > 0.98


@pytest.mark.parametrize("backend", ["cupy-sim"])
@pytest.mark.parametrize("name", ["gamma", "poisson", "binomial"])
def test_rejection_on_cupy(name: str, backend: str) -> None:
    args = REJECTED[name]
    expected = getattr(random, name)(random.PRNGKey(3), *args)
    with ap.use_backend(backend):
        found = getattr(random, name)(random.PRNGKey(3), *args)
    np.testing.assert_allclose(found.__array__(), np.asarray(expected), rtol=1e-4)


DISTRIBUTIONS = {
    "gamma": ((2.5,), stats.gamma(2.5)),
    "loggamma": ((0.7,), stats.loggamma(0.7)),
    "beta": ((0.5, 2.0), stats.beta(0.5, 2.0)),
    "chisquare": ((3.0,), stats.chi2(3)),
    "f": ((3.0, 4.0), stats.f(3, 4)),
    "t": ((3.0,), stats.t(3)),
    "generalized_normal": ((1.5,), stats.gennorm(1.5)),
    "wald": ((1.5,), stats.invgauss(1.5)),
}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_distribution(name: str) -> None:
    """The distance from the distribution function is that of 2,000 draws (Kolmogorov, 1e-4)."""
    parameters, expected = DISTRIBUTIONS[name]
    draws = np.asarray(getattr(random, name)(random.PRNGKey(1), *parameters, (2000,)), np.float64)
    assert stats.kstest(draws, expected.cdf).pvalue > 1e-4


@pytest.mark.parametrize(
    ("name", "parameters", "expected"),
    [
        ("poisson", (3.0,), stats.poisson(3)),
        ("poisson", (25.0,), stats.poisson(25)),
        ("binomial", (10, 0.8), stats.binom(10, 0.8)),
        ("binomial", (100, 0.4), stats.binom(100, 0.4)),
        ("geometric", (0.3,), stats.geom(0.3)),
    ],
)
def test_counts(name: str, parameters: Any, expected: Any) -> None:
    draws = np.asarray(getattr(random, name)(random.PRNGKey(1), *parameters, (4000,)))
    low, high = int(expected.ppf(0.01)), int(expected.ppf(0.99))
    found = [np.sum(draws <= low), *[np.sum(draws == k) for k in range(low + 1, high)]]
    wanted = [expected.cdf(low), *[expected.pmf(k) for k in range(low + 1, high)]]
    found, wanted = [*found, 4000 - sum(found)], [*wanted, 1 - sum(wanted)]
    assert stats.chisquare(found, 4000 * np.asarray(wanted)).pvalue > 1e-4


def test_binomial_of_what_is_no_number_of_trials() -> None:
    n, p = np.float32([-1, np.nan, 3, np.inf, 4]), np.float32([0.5, 0.5, np.nan, 0.5, 1.0])
    np.testing.assert_array_equal(*both("binomial", n, p))
    np.testing.assert_array_equal(
        random.binomial(random.PRNGKey(0), n, p), [np.nan, np.nan, np.nan, np.inf, 4]
    )


@pytest.mark.parametrize("name", ["gamma", "loggamma"])
def test_derivative_in_the_shape(name: str) -> None:
    jax, a = oracle(), np.float32([0.3, 2.0, 15.0])
    ours = ap.grad(lambda a: getattr(random, name)(random.PRNGKey(3), a).sum())(anp.asarray(a))
    theirs = jax.grad(lambda a: getattr(jax.random, name)(jax.random.PRNGKey(3), a).sum())(a)
    np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), rtol=2e-3)


def test_vmap_draws_as_a_loop_does() -> None:
    keys = random.split(random.PRNGKey(0), 4)
    rates = anp.array([0.5, 2.0, 11.0, 50.0])
    for draw in (random.gamma, random.poisson):
        mapped = ap.vmap(draw)(keys, rates)
        looped = [draw(k, r) for k, r in zip(keys, rates, strict=True)]
        np.testing.assert_allclose(np.asarray(mapped), np.asarray(anp.stack(looped)), rtol=1e-6)


@pytest.mark.parametrize("name", ["gamma", "loggamma", "beta", "chisquare", "poisson"])
def test_other_methods_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"method='quick' is not available, only 'exact'"):
        getattr(random, name)(random.PRNGKey(0), *REJECTED[name], method="quick")
