"""Special functions: mpmath's values over wide ranges, awkward derivatives, JAX's types."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from fractions import Fraction
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp
from arrayport import lax
from arrayport.core.names import known
from arrayport.errors import NotDifferentiableError, UnsupportedOnBackendError
from arrayport.scipy import special

mp = pytest.importorskip("mpmath", reason="the values are mpmath's")

INF, NAN = np.inf, np.nan
SMALL = (1e-3, 0.2, 0.9, 1.1, 2.5, 7.0)
BOTH = (-7.0, -2.5, -0.3, 1e-3, 0.2, 1.1, 2.5, 7.0)
WIDE = (1e-8, 1e-3, 0.3, 1.0, 2.0, 5.5, 30.0, 80.0)
CHANCES = (1e-10, 1e-3, 0.2, 0.5, 0.7, 0.999)
PAIRS = [(a, x) for a in (0.1, 1.0, 3.5, 40.0) for x in (0.01, 0.7, 3.0, 35.0)]
OWN = pytest.mark.usefixtures("own_backend")


def each(*xs: float) -> list[tuple[float]]:
    return [(x,) for x in xs]


def bessel(x: float, v: int) -> Any:
    return special.bessel_jn(x, v=v)[v]


def sine_integral(x: float) -> Any:
    return special.sici(x)[0]


def cosine_integral(x: float) -> Any:
    return special.sici(x)[1]


def fresnel_sine(x: float) -> Any:
    return special.fresnel(x)[0]


def fresnel_cosine(x: float) -> Any:
    return special.fresnel(x)[1]


def owens(h: Any, a: Any) -> Any:
    integral = mp.quad(lambda t: mp.exp(-h * h * (1 + t * t) / 2) / (1 + t * t), [0, a])
    return integral / (2 * mp.pi)


def faddeeva(z: Any) -> Any:
    return mp.exp(-z * z) * mp.erfc(-1j * z)


VALUES: list[tuple[Callable[..., Any], Callable[..., Any], list[tuple[Any, ...]]]] = [
    (special.erf, mp.erf, each(*BOTH)),
    (special.erfc, mp.erfc, each(*BOTH)),
    (special.erfinv, mp.erfinv, each(-0.999, -0.3, 1e-9, 0.5, 0.9999)),
    (special.erfcinv, lambda y: mp.erfinv(1 - y), each(*CHANCES, 1.5)),
    (special.erfcx, lambda x: mp.exp(x * x) * mp.erfc(x), each(-3.0, -0.5, 0.5, 6.0, 500.0)),
    (special.dawsn, lambda x: faddeeva(x).imag * mp.sqrt(mp.pi) / 2, each(*BOTH, 40.0)),
    (special.wofz, faddeeva, each(0.5 + 0.5j, -3 + 1j, 2 - 1j, 6 + 0.1j, 0.1 + 8j, 30 - 0.2j)),
    (special.ndtr, mp.ncdf, each(*BOTH)),
    (special.log_ndtr, lambda x: mp.log(mp.ncdf(x)), each(-30.0, *BOTH)),
    (special.ndtri, lambda p: mp.sqrt(2) * mp.erfinv(2 * p - 1), each(*CHANCES)),
    (
        special.owens_t,
        owens,
        [(h, a) for h in (0.0, 0.3, -2.0, 5.0) for a in (-3.0, 0.1, 1.0, 9.0)],
    ),
    (special.gamma, mp.gamma, each(-2.5, -0.1, *SMALL, 30.0)),
    (special.gammaln, lambda x: mp.log(abs(mp.gamma(x))), each(-2.5, -0.1, *SMALL, 300.0)),
    (special.loggamma, mp.loggamma, each(*SMALL, 300.0)),
    (special.digamma, mp.digamma, each(-2.3, *SMALL, 300.0)),
    (special.polygamma, mp.polygamma, [(n, x) for n in (0, 1, 2, 5) for x in (0.1, 1.0, 30.0)]),
    (special.zeta, mp.zeta, [(s, q) for s in (1.1, 2.0, 6.5) for q in (0.1, 1.0, 20.0)]),
    (special.poch, mp.rf, [(0.5, 2.0), (3.0, 1.5), (20.0, 0.3), (0.1, 0.7)]),
    (
        special.multigammaln,
        lambda a, d: (
            mp.log(mp.pi) * d * (d - 1) / 4 + sum(mp.loggamma(a - mp.mpf(j) / 2) for j in range(d))
        ),
        [(3.5, 1), (3.5, 3)],
    ),
    (special.gammainc, lambda a, x: mp.gammainc(a, 0, x, regularized=True), PAIRS),
    (special.gammaincc, lambda a, x: mp.gammainc(a, x, regularized=True), PAIRS),
    (special.beta, mp.beta, [(0.1, 3.0), (2.5, 2.5), (-0.5, 2.25), (30.0, 4.0)]),
    (special.betaln, lambda a, b: mp.log(mp.beta(a, b)), [(0.1, 3.0), (2.5, 2.5), (300.0, 4.0)]),
    (
        special.betainc,
        lambda a, b, x: mp.betainc(a, b, 0, x, regularized=True),
        [(a, b, x) for a in (0.3, 2.0, 20.0) for b in (0.5, 5.0) for x in (0.01, 0.5, 0.9)],
    ),
    (special.factorial, mp.factorial, each(0.0, 0.5, 5.0, 30.0)),
    (special.comb, mp.binomial, [(5, 2), (30, 15), (7.5, 2.25), (100, 3)]),
    (special.exp1, mp.e1, each(*WIDE)),
    (special.expi, mp.ei, each(-30.0, -1.0, *WIDE)),
    (special.expn, mp.expint, [(n, x) for n in (0, 1, 2, 5) for x in (0.1, 1.0, 30.0)]),
    (sine_integral, mp.si, each(-3.0, *WIDE)),
    (cosine_integral, mp.ci, each(*WIDE)),
    (fresnel_sine, mp.fresnels, each(-3.0, 0.1, 1.1, 1.4, 5.5)),
    (fresnel_cosine, mp.fresnelc, each(-3.0, 0.1, 1.1, 1.4, 5.5)),
    (special.spence, lambda x: mp.polylog(2, 1 - x).real, each(0.0, 0.3, 0.6, 1.3, 2.5, 1e5)),
    (special.i0, lambda x: mp.besseli(0, x), each(-7.0, *WIDE)),
    (special.i1, lambda x: mp.besseli(1, x), each(-7.0, *WIDE)),
    (special.i0e, lambda x: mp.besseli(0, x) * mp.exp(-abs(x)), each(-7.0, *WIDE, 1e4)),
    (special.i1e, lambda x: mp.besseli(1, x) * mp.exp(-abs(x)), each(-7.0, *WIDE, 1e4)),
    (bessel, lambda x, v: mp.besselj(v, x), [(x, v) for x in WIDE for v in (0, 1, 6)]),
    (
        special.hyp1f1,
        mp.hyp1f1,
        [(a, b, x) for a in (0.3, 2.5) for b in (0.5, 4.0) for x in (-20.0, 0.5, 9.0)],
    ),
    (
        special.hyp2f1,
        mp.hyp2f1,
        [(a, b, 2.5, x) for a in (0.3, 2.5) for b in (-0.5, 1.5) for x in (-3.0, 0.5, 0.9)],
    ),
    (special.entr, lambda x: -x * mp.log(x), each(*SMALL)),
    (special.rel_entr, lambda p, q: p * mp.log(p / q), [(0.3, 0.2), (2.0, 1.5)]),
    (special.kl_div, lambda p, q: p * mp.log(p / q) - p + q, [(0.3, 0.2), (2.0, 1.5)]),
    (special.xlogy, lambda x, y: x * mp.log(y), [(0.3, 0.2), (-2.0, 1.5)]),
    (special.xlog1py, lambda x, y: x * mp.log1p(y), [(0.3, 1e-9), (-2.0, 1.5)]),
    (special.logit, lambda x: mp.log(x / (1 - x)), each(*CHANCES)),
    (special.expit, lambda x: 1 / (1 + mp.exp(-x)), each(*BOTH)),
    (special.boxcox, lambda x, r: (x**r - 1) / r if r else mp.log(x), [(2.0, 0.0), (3.0, -1.5)]),
    (special.boxcox1p, lambda x, r: mp.expm1(r * mp.log1p(x)) / r, [(1e-9, 0.5), (3.0, -1.5)]),
]
NAMES = [row[0].__name__ for row in VALUES]


@OWN
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("row", VALUES, ids=NAMES)
def test_values_are_mpmaths(row: Any, dtype: str) -> None:
    function, exact, points = row
    with ap.config.override("enable_x64", True), mp.workdps(30):
        for point in points:
            dtypes = {float: dtype, complex: {"float32": "complex64"}.get(dtype, "complex128")}
            xs = [anp.asarray(x, dtypes[type(x)]) if type(x) in dtypes else x for x in point]
            rounded = [x if type(x) is int else x.item() for x in xs]
            try:
                found = np.asarray(function(*xs)).item()
            except UnsupportedOnBackendError as refusal:
                pytest.skip(str(refusal))
            numbers = [x if type(x) is int else mp.mpmathify(x) for x in rounded]
            wanted = complex(exact(*numbers))
            wide = dtype == "float64" and not isinstance(point[0], complex)
            limits = {"rel": 3e-12, "abs": 1e-290} if wide else {"rel": 2e-5, "abs": 1e-37}
            assert found == pytest.approx(wanted, **limits), point


# ---- derivatives

POINTS: list[tuple[Callable[..., Any], tuple[Any, ...], int, float]] = [
    (special.xlogy, (0.0, 2.0), 0, np.log(2.0)),
    (special.xlogy, (0.0, 0.0), 1, 0.0),
    (special.xlogy, (2.0, 0.0), 1, INF),
    (special.xlog1py, (0.0, -1.0), 1, 0.0),
    (special.entr, (0.0,), 0, INF),
    (special.kl_div, (0.0, 0.5), 1, 1.0),
    (special.rel_entr, (0.0, 0.5), 1, 0.0),
    (special.logit, (0.0,), 0, INF),
    (special.logit, (0.5,), 0, 4.0),
    (special.boxcox, (2.0, 0.0), 1, np.log(2.0) ** 2 / 2),
    (special.boxcox1p, (0.0, 0.0), 0, 1.0),
    (special.i0, (0.0,), 0, 0.0),
    (ap.grad(special.i0), (0.0,), 0, 0.5),
    (ap.grad(ap.grad(special.i1)), (0.0,), 0, 0.375),
    (special.i1e, (0.0,), 0, 0.5),
    (special.spence, (1.0,), 0, -1.0),
    (ap.grad(special.spence), (1.0,), 0, 0.5),
    (ap.grad(ap.grad(sine_integral)), (0.0,), 0, -1 / 3),
    (special.gammainc, (1.0, 0.0), 1, 1.0),
    (special.gammainc, (2.0, 0.0), 1, 0.0),
    (special.gammainc, (1.0, 0.0), 0, 0.0),
    (special.betainc, (1.0, 1.0, 0.0), 2, 1.0),
    (special.betainc, (1.0, 2.0, 1.0), 2, 0.0),
    (special.log_ndtr, (-1e3,), 0, 1000.000999998),
    (special.log_ndtr, (1e3,), 0, 0.0),
    (ap.grad(special.log_ndtr), (-50.0,), 0, -0.99960095744),
    (special.erfcx, (1e3,), 0, -5.6418873740e-7),
    (special.dawsn, (1e3,), 0, -5.0000075000e-7),
    (special.factorial, (0.0,), 0, -np.euler_gamma),
    (special.expn, (0.0, 1.0), 1, -2 / np.e),
    (ap.grad(special.expn, 1), (1.0, 1.0), 1, 2 / np.e),
    (ap.grad(special.digamma), (1.5,), 0, -0.8287966442343199),
    (lambda x: special.bessel_jn(x, v=1)[1], (0.0,), 0, 0.5),
    (
        lambda b: special.logsumexp(
            anp.array([0.0, 1.0]), b=b * anp.array([1.0, 0.0]) + anp.array([0.0, 1.0])
        ),
        (0.0,),
        0,
        np.exp(-1),
    ),
    (
        lambda x: special.logsumexp(x * anp.array([1.0, 0.0]) + anp.array([0.0, -INF])),
        (2.0,),
        0,
        1.0,
    ),
]


@OWN
@pytest.mark.parametrize("row", POINTS)
def test_derivatives_at_awkward_points(row: Any) -> None:
    function, point, place, wanted = row
    with ap.config.override("enable_x64", True):
        found = ap.grad(function, place)(*map(anp.asarray, point))
        assert float(found) == pytest.approx(wanted, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("name", ["hyp1f1", "hyp2f1"])
def test_derivatives_in_parameters(name: str) -> None:
    """Check derivatives in a, b and c against mpmath's own numerical ones."""
    function, exact = getattr(special, name), getattr(mp, name)
    point = (1.5, 0.25, 0.75, -0.5)[-len(inspect.signature(function).parameters) :]
    with ap.config.override("enable_x64", True):
        for i in range(len(point)):
            wanted = mp.diff(exact, point, tuple(int(i == j) for j in range(len(point))))
            found = ap.grad(function, i)(*map(anp.asarray, point))
            assert float(found) == pytest.approx(float(wanted), rel=1e-9)


@OWN
def test_derivatives_in_the_exponent_of_gamma() -> None:
    """Check both functions, each side of x = a, and exponents small and large."""
    with ap.config.override("enable_x64", True), mp.workdps(50):
        for a in (1e-3, 0.5, 1.0, 7.0, 19.9, 20.1, 300.0):
            for x in (1e-6 * a, 0.5 * a, a, 1.1 * a, 4 * a + 2):
                low = x <= a
                end = (0, x) if low else (x, mp.inf)
                slope = mp.diff(lambda a, end=end: mp.gammainc(a, *end, regularized=True), a)
                slope = slope if low else -slope
                density = mp.exp((a - 1) * mp.log(x) - x - mp.loggamma(a))
                args = anp.asarray(a), anp.asarray(x)
                if abs(slope) > 1e-280:
                    assert float(lax.igamma_grad_a(*args)) == pytest.approx(float(slope), rel=1e-11)
                wanted = pytest.approx(float(-slope / density), rel=1e-11)
                assert float(lax.random_gamma_grad(*args)) == wanted


@OWN
def test_the_exponent_of_gamma_at_the_ends() -> None:
    a, x = anp.array([1.5, 1.5, 1.5, 0.0, -1.0, NAN]), anp.array([0.0, INF, -1.0, 1.0, 1.0, 1.0])
    found = np.asarray(lax.igamma_grad_a(a, x))
    np.testing.assert_array_equal(found, np.array([0, 0, NAN, NAN, NAN, NAN], np.float32))


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (special.betainc, (1.5, 2.5, 0.3)),
        (special.zeta, (1.5, 2.5)),
        (special.polygamma, (1.0, 2.5)),
        (special.expn, (1.0, 2.5)),
        (lax.igamma_grad_a, (1.5, 2.5)),
    ],
)
def test_derivatives_that_there_are_not(function: Any, arguments: Any) -> None:
    with pytest.raises(NotDifferentiableError, match="there is no derivative with respect to"):
        ap.grad(function)(*arguments)
    assert np.isfinite(float(ap.grad(function, len(arguments) - 1)(*arguments)))


# ---- other laws


def test_bernoulli_is_made_of_fractions() -> None:
    exact = [Fraction(1, 1), Fraction(-1, 2), Fraction(1, 6), 0, Fraction(-1, 30), 0]
    np.testing.assert_array_equal(special.bernoulli(5), np.array(exact, np.float32))
    with ap.config.override("enable_x64", True):
        found = np.asarray(special.bernoulli(300))
    assert found[40] == pytest.approx(float(mp.bernoulli(40)), rel=1e-13)
    assert found[258] == pytest.approx(float(mp.bernoulli(258)), rel=1e-12)
    assert found[300] == -INF


def test_counts_outside_are_zero() -> None:
    n, k = anp.array([5, 5, -1, 4]), anp.array([2, 6, 1, -1])
    np.testing.assert_array_equal(special.comb(n, k), [10, 0, 0, 0])
    np.testing.assert_allclose(special.comb(5, 3, repetition=True), 35)
    np.testing.assert_array_equal(special.comb(0, 0, repetition=True), 1)
    np.testing.assert_array_equal(special.factorial(anp.array([-1.0, 3.0, NAN])), [0, 6, NAN])


def test_spherical_harmonics_are_scipys() -> None:
    scipy = pytest.importorskip("scipy.special")
    n, m = (v.reshape(-1) for v in np.meshgrid(np.arange(5), np.arange(-5, 6)))
    theta, phi = np.linspace(0, np.pi, n.size), np.linspace(-3, 9, n.size)
    with ap.config.override("enable_x64", True):
        found = special.sph_harm_y(*map(anp.asarray, (n, m, theta, phi)))
        short = special.sph_harm_y(*map(anp.asarray, (n, m, theta, phi)), n_max=4)
    np.testing.assert_allclose(found, scipy.sph_harm_y(n, m, theta, phi), atol=1e-14)
    np.testing.assert_array_equal(short, found)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: special.zeta(2.0), NotImplementedError, r"zeta\(x, 1\.0\)"),
        (lambda: special.factorial(3, exact=True), NotImplementedError, r"math\.factorial"),
        (lambda: special.bernoulli(-1), ValueError, "n >= 0"),
        (lambda: special.bessel_jn(1.0, v=-1), ValueError, "v >= 0"),
        (lambda: special.log_ndtr(1.0, series_order=40), ValueError, "from 0 to 30"),
        (lambda: special.log_ndtr(1.0, series_order=1.5), TypeError, "must be an integer"),
        (lambda: special.erf(1j), TypeError, "erf takes real numbers, not complex64"),
        (lambda: special.gammainc([1.0], 2.0), TypeError, r"not list.*asarray"),
        (lambda: special.xlogy(anp.ones(2), anp.ones(3)), ValueError, "do not broadcast"),
        (lambda: special.sph_harm_y(1, 1, 0.0, 0.0, diff_n=1), NotImplementedError, "diff_n"),
    ],
)
def test_bad_arguments_are_named(call: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_types_are_jaxs() -> None:
    """Let JAX trace each function, without computing, and compare dtypes and weakness."""
    jax = pytest.importorskip("jax", reason="the types are jax's")
    theirs: Any = import_module("jax.scipy.special")
    # what takes arguments of other kinds
    skipped = {"bernoulli", "bessel_jn", "multigammaln", "polygamma", "sph_harm_y"}
    for name in sorted(set(known("scipy.special")) - skipped):
        if not hasattr(theirs, name):
            continue
        required = inspect.signature(getattr(special, name)).parameters.values()
        count = sum(p.default is p.empty for p in required) + (name == "zeta")
        for dtype in ("float32", "int32"):
            xs = [np.full(3, 1, dtype)] * count
            try:
                with np.errstate(all="ignore"):  # JAX's own constants
                    wanted = jax.tree.leaves(jax.eval_shape(getattr(theirs, name), *xs))
            except TypeError:
                assert dtype == "int32"  # of which JAX makes floats in some functions only
                continue
            found = getattr(special, name)(*map(anp.asarray, xs))
            found = found if isinstance(found, tuple) else (found,)
            assert [(x.shape, x.dtype) for x in found] == [(x.shape, x.dtype) for x in wanted], name
