"""Functions of one and two numbers at zeros, infinities and the largest number, and their slopes.

The values are JAX's, but mpmath's and SciPy's where JAX's are NaN, have lost a subnormal number or
are not the limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import factorial
from typing import Any

import numpy as np
import pytest
from arrayport_backends.numpy import compiler

import arrayport as ap
import arrayport.numpy as anp
from arrayport import lax, nn, numpy
from arrayport.scipy import special

pytestmark = pytest.mark.usefixtures("own_backend")

MAX = float(np.finfo(np.float32).max)
NAMED = {"max": MAX, "-max": -MAX}
POINTS = np.float32([-np.inf, -0.0, 0.0, np.inf, MAX])
# A function; its values at these points; its derivatives there.
ONE: list[tuple[Any, str, str]] = [
    (numpy.acos, "nan 1.5708 1.5708 nan nan", "nan -1 -1 nan nan"),
    (numpy.acosh, "nan nan nan inf 89.416", "nan nan nan 0 0"),
    (numpy.asin, "nan -0 0 nan nan", "nan 1 1 nan nan"),
    (numpy.asinh, "-inf -0 0 inf 89.416", "0 1 1 0 0"),
    (numpy.atan, "-1.5708 -0 0 1.5708 1.5708", "0 1 1 0 0"),
    (numpy.atanh, "nan -0 0 nan nan", "0 1 1 0 0"),
    (numpy.cbrt, "-inf -0 0 inf 6.9815e+12", "0 inf inf 0 6.8389e-27"),
    (numpy.cos, "nan 1 1 nan 0.85302", "nan 0 0 nan 0.52188"),
    (numpy.cosh, "inf 1 1 inf inf", "-inf 0 0 inf inf"),
    (numpy.exp, "0 1 1 inf inf", "0 1 1 inf inf"),
    (numpy.exp2, "0 1 1 inf inf", "0 0.69315 0.69315 inf inf"),
    (numpy.expm1, "-1 -0 0 inf inf", "0 1 1 inf inf"),
    (numpy.log, "nan -inf -inf inf 88.723", "0 -inf inf 0 0"),
    (numpy.log10, "nan -inf -inf inf 38.532", "0 -inf inf 0 0"),
    (numpy.log1p, "nan -0 0 inf 88.723", "0 1 1 0 0"),
    (numpy.log2, "nan -inf -inf inf 128", "0 -inf inf 0 0"),
    (numpy.nan_to_num, "-max -0 0 max max", "0 1 1 0 1"),
    (numpy.reciprocal, "-0 -inf inf 0 0", "0 -inf -inf 0 0"),
    (numpy.sign, "-1 0 0 1 1", "0 0 0 0 0"),
    (numpy.sin, "nan -0 0 nan -0.52188", "nan 1 1 nan 0.85302"),
    (numpy.sinh, "-inf -0 0 inf inf", "inf 1 1 inf inf"),
    (numpy.sqrt, "nan -0 0 inf 1.8447e+19", "nan -inf inf 0 2.7105e-20"),
    (numpy.square, "inf 0 0 inf inf", "-inf 0 0 inf inf"),
    (numpy.tan, "nan -0 0 nan -0.6118", "nan 1 1 nan 1.3743"),
    (numpy.tanh, "-1 -0 0 1 1", "0 1 1 0 0"),
    (numpy.trunc, "-inf -0 0 inf max", "0 0 0 0 0"),
    (special.dawsn, "-0 -0 0 0 0", "0 1 1 0 0"),
    (special.digamma, "nan inf -inf inf 88.723", "inf inf inf 0 0"),
    (special.entr, "-inf 0 0 -inf -inf", "nan inf inf -inf -89.723"),
    (special.erf, "-1 -0 0 1 1", "0 1.1284 1.1284 0 0"),
    (special.erfc, "2 1 1 0 0", "0 -1.1284 -1.1284 0 0"),
    (special.erfcinv, "nan inf inf nan nan", "nan -inf -inf nan nan"),
    (special.erfcx, "inf 1 1 0 0", "-inf -1.1284 -1.1284 0 0"),
    (special.erfinv, "nan -0 0 nan nan", "nan 0.88623 0.88623 nan nan"),
    (special.exp1, "nan inf inf 0 0", "nan inf -inf 0 0"),
    (special.expi, "-0 -inf -inf inf inf", "0 -inf inf nan inf"),
    (special.gamma, "nan -inf inf inf inf", "nan -inf -inf inf inf"),
    (special.gammaln, "inf inf inf inf inf", "nan inf -inf inf 88.723"),
    (special.gammasgn, "nan -1 1 1 1", "0 0 0 0 0"),
    (special.i0e, "0 1 1 0 2.1627e-20", "0 0 0 0 0"),
    (special.i1e, "-0 -0 0 0 2.1627e-20", "0 0.5 0.5 0 0"),
    (special.log_ndtr, "-inf -0.69315 -0.69315 -0 -0", "inf 0.79788 0.79788 0 0"),
    (special.logit, "nan -inf -inf nan nan", "0 -inf inf 0 0"),
    (special.ndtr, "0 0.5 0.5 1 1", "0 0.39894 0.39894 0 0"),
    (special.ndtri, "nan -inf -inf nan nan", "nan inf inf nan nan"),
    (lax.one_minus_square, "-inf 1 1 -inf -inf", "inf 0 0 -inf -inf"),
    (lax.rsqrt, "nan -inf inf 0 5.421e-20", "nan -inf -inf 0 0"),
]
# The same of what is composed of several operations, so that jit makes other code of it.
COMPOSED: list[tuple[Any, str, str]] = [
    (numpy.sinc, "0 1 1 0 0", "0 0 0 0 0"),
    (nn.celu, "-1 0 0 inf max", "0 1 1 1 1"),
    (nn.elu, "-1 -0 0 inf max", "0 1 1 1 1"),
    (nn.hard_tanh, "-1 -0 0 1 1", "0 1 1 0 0"),
    (nn.leaky_relu, "-inf -0 0 inf max", "0.01 1 1 1 1"),
    (nn.log1mexp, "nan -inf -inf -0 -0", "nan -inf inf 0 0"),
    (nn.log_sigmoid, "-inf -0.69315 -0.69315 -0 -0", "1 0.5 0.5 0 0"),
    (nn.relu, "0 0 0 inf max", "0 0 0 1 1"),
    (nn.selu, "-1.7581 -0 0 inf inf", "0 1.7581 1.7581 1.0507 1.0507"),
    (nn.sigmoid, "0 0.5 0.5 1 1", "0 0.25 0.25 0 0"),
    (nn.softplus, "0 0.69315 0.69315 inf max", "0 0.5 0.5 1 1"),
    (nn.sparse_plus, "0 0.25 0.25 inf max", "nan 0.5 0.5 nan 1"),
    (nn.sparse_sigmoid, "0 0.5 0.5 1 1", "0 0.5 0.5 0 0"),
    (nn.squareplus, "nan 1 1 inf inf", "nan 0.5 0.5 nan 0.5"),
    (nn.mish, "nan -0 0 inf max", "nan 0.6 0.6 nan 1"),
]
# A function of two numbers: the numbers, its value, its derivatives, "-" where none is required.
TWO: dict[Any, Sequence[str]] = {
    **dict.fromkeys(
        (numpy.logaddexp, numpy.logaddexp2),
        (
            "0 inf inf 0 1",
            "inf 3 inf 1 0",
            "inf inf inf 0.5 0.5",
            "-inf -inf -inf 0.5 0.5",
            "inf -inf inf 1 0",
            "1 -inf 1 1 0",
            "max max max 0.5 0.5",
            "nan inf nan - -",
        ),
    ),
    numpy.hypot: [
        "0 -0 0 0 0",
        "2 inf inf 0 -",
        "-inf nan inf - -",
        "3 -4 5 0.6 -0.8",
        "max -max inf 0.707107 -0.707107",
    ],
    numpy.divide: ["inf max inf 0 -inf", "0 0 nan inf -"],
    numpy.power: ["0 0 1 0 0", "nan 0 1 0 -", "-0 -3 -inf - -", "max 2 inf inf inf"],
    numpy.remainder: ["-0 2 0 1 -", "0 -2 -0 1 -", "inf 2 nan 1 -"],
    numpy.arctan2: ["-0 -0 -3.14159 - -", "inf -inf 2.35619 - -"],
    nn.leaky_relu: ["nan -0.5 nan -0.5 -", "-inf 2 -inf 2 -inf"],
    special.boxcox: [
        "0 0 -inf inf -",
        "inf 0 inf 0 -",
        "inf -1 1 0 -",
        "0 -1 -inf inf -",
        "2 0 0.693147 0.5 0.240227",
    ],
    special.boxcox1p: ["-1 0 -inf inf -", "inf -1 1 0 -", "0 0 0 1 0"],
    special.kl_div: [
        "1 max max -88.7228 1",
        "max 0.5 inf 89.416 -inf",
        "-inf inf inf 0 0",
        "0 2 2 0 1",
        "nan -1 nan - -",
    ],
    special.rel_entr: ["1 max -88.7228 -87.7228 0", "inf -inf inf 0 0", "0 -0 0 0 0"],
    special.xlogy: ["0 0 0 -inf 0", "0 inf 0 inf 0"],
    special.gammainc: ["1 inf 1 0 0", "1 0 0 0 1"],
    special.beta: ["inf 2 0 - -", "0 3 inf -inf -"],
}


@pytest.fixture(autouse=True)
def _compiled(monkeypatch):
    """Let jit make machine code at once, where it is made."""
    monkeypatch.setattr(compiler, "COMPILING", 0)


def read(*words: str) -> Any:
    return np.float32([NAMED.get(word) or float(word) for word in words])


def agree(found: Any, wanted: Any, name: str, *, signs: bool = True) -> None:
    found = np.asarray(found)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-37, err_msg=name)
    if signs:
        zero = wanted == 0
        np.testing.assert_array_equal(np.signbit(found)[zero], np.signbit(wanted)[zero], name)


def slopes(f: Any, *xs: Any) -> Any:
    """Give the derivative in each operand."""
    out, pull = ap.vjp(f, *xs)
    return pull(anp.ones_like(out))


def eagerly(f: Any) -> Any:
    return f


RUNS = (eagerly, ap.jit)


@pytest.mark.parametrize(
    ("row", "run"),
    [*product(ONE, RUNS[:1]), *product(COMPOSED, RUNS)],
    ids=lambda x: x[0].__name__ if isinstance(x, tuple) else x.__name__,
)
def test_one_number(row: Any, run: Any) -> None:
    f, values, derivatives = row
    x = anp.asarray(POINTS)
    agree(run(f)(x), read(*values.split()), f.__name__)
    (found,) = run(lambda x: slopes(f, x))(x)
    agree(found, read(*derivatives.split()), f"{f.__name__}'", signs=False)


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("f", TWO, ids=lambda f: f.__name__)
def test_two_numbers(f: Any, run: Any) -> None:
    x, y, values, *derivatives = zip(*map(str.split, TWO[f]), strict=True)
    xs = [anp.asarray(read(*words)) for words in (x, y)]
    agree(run(f)(*xs), read(*values), f.__name__)
    for found, wanted in zip(run(lambda *xs: slopes(f, *xs))(*xs), derivatives, strict=True):
        known = [i for i, word in enumerate(wanted) if word != "-"]
        agree(
            np.asarray(found)[known],
            read(*[wanted[i] for i in known]),
            f"{f.__name__}'",
            signs=False,
        )


@pytest.mark.parametrize("x", [1e-3, 0.1, 0.159, 0.16, 0.3])
def test_the_slope_of_sinc_keeps_its_digits(x: float) -> None:
    a = np.pi * x
    series = sum((-1) ** k * 2 * k * a ** (2 * k - 1) / factorial(2 * k + 1) for k in range(1, 12))
    found = float(ap.grad(anp.sinc)(anp.asarray(x, "float32")))
    assert found == pytest.approx(np.pi * series, rel=2e-6)


@pytest.mark.parametrize("x", [1e-10, 1e-4, 0.01, 1e4])
def test_slopes_of_powers_keep_their_digits(x: float) -> None:
    """An exponential less 1 is near -1 where its slope is near 0."""
    for rate in (1.0, 2.0, -1.0):
        found = float(ap.grad(special.boxcox)(anp.asarray(x, "float32"), rate))
        assert found == pytest.approx(x ** (rate - 1), rel=2e-5)
    found = float(ap.grad(anp.expm1)(anp.asarray(np.log(x), "float32")))
    assert found == pytest.approx(x, rel=2e-5)


@pytest.mark.parametrize("run", RUNS)
def test_what_a_far_operand_leaves_of_a_sum_of_powers_keeps_its_digits(run: Any) -> None:
    far = np.float32([-100.37, -50.5, -20.1, -3, 0])
    found = run(numpy.logaddexp2)(anp.zeros(5), anp.asarray(far))
    np.testing.assert_allclose(found, np.log1p(2.0 ** far.astype(float)) / np.log(2), 3e-7)
