"""The error function and its complement."""

from __future__ import annotations

from math import inf

from arrayport.core import dtypes
from arrayport_backends.ndarray.mathematics.exponentials import EXP, exp, reduced
from arrayport_backends.ndarray.mathematics.formats import (
    horner,
    levelled,
    polynomial,
    power_of_two,
    scale,
    two_sum,
    within,
)
from arrayport_backends.ndarray.mathematics.logarithms import log
from arrayport_backends.ndarray.scalars import Builder, Scalar

HALF_ROOT_PI = 0.886226925452758

# erf(x) / x - 1 in x**2 for |x| <= 1: minimax (Remez), relative to erf(x) / x.
SMALL = {
    dtypes.float32: (
        0.128379166,
        -0.376126289,
        0.112836182,
        -0.0268551223,
        0.00519071706,
        -0.000803052098,
        7.91925922e-05,
    ),
    dtypes.float64: (
        0.12837916709551256,
        -0.37612638903183543,
        0.11283791670945159,
        -0.026866170643260228,
        0.005223977607285964,
        -0.0008548325982835525,
        0.00012055295108036458,
        -1.492474045529406e-05,
        1.6447464325008739e-06,
        -1.620875717682691e-07,
        1.372112417974431e-08,
        -7.797660094432367e-10,
    ),
}
# -log(erfc(a)) for a from 0.9 to 6, whose error counts as much as erfc(a) does in erf(a).
TAIL = (
    7.039232877389799e-08,
    1.1283784194075663,
    0.6366234194159536,
    0.10276184402122311,
    -0.01910728114888114,
    -0.00023768508994149654,
    0.0017210099682243183,
    -0.0005992067786731187,
    1.581086963024453e-05,
    8.63390582774558e-05,
    -5.20566016034567e-05,
    1.897018473063232e-05,
    -5.0063528701937405e-06,
    9.970428888030504e-07,
    -1.4978431180000854e-07,
    1.6539241401880838e-08,
    -1.2697896094906724e-09,
    6.060907718116598e-11,
    -1.3546668709402837e-12,
)
# s / x - 1 in x**2, where erf(x) = s - 4/27 s**3, up to END: minimax, relative to erf(x).
LEVELLED = (
    0.128379166,
    -0.163282245,
    0.0204384495,
    -0.00192874426,
    0.000139369004,
    -7.83459473e-06,
    3.4357964e-07,
    -1.13909069e-08,
    2.55511168e-10,
    -2.84576277e-12,
)
END = 3.92  # from here on erf is 1 as a float32, and so is this one's
# (1 + 2 a) exp(a**2) erfc(a) in (a - CENTRE) / (a + CENTRE) for a from 1/2 to the last a with
# erfc(a) > 0: minimax, relative.
CENTRE = {dtypes.float32: 4.0, dtypes.float64: 3.0}
SCALED = {
    dtypes.float32: (
        1.23299515,
        -0.139621079,
        0.015379604,
        0.0680947378,
        -0.101039074,
        0.0937707573,
        -0.0663036257,
        0.0369346738,
        -0.0164904837,
        0.0054794699,
        0.000106135951,
    ),
    dtypes.float64: (
        1.2530080582697296,
        -0.13562110612458103,
        -0.04756229435343364,
        0.12964515870274068,
        -0.11927366341639634,
        0.06830802734485153,
        -0.023770514891764467,
        0.002529391797902554,
        0.0018886900199157539,
        -0.0007798320603672245,
        -0.00010515731934071238,
        0.0001250978564911403,
        4.938308409959116e-06,
        -2.009393112204555e-05,
        -6.997368647493803e-07,
        3.4538240714375184e-06,
        3.00314631922783e-07,
        -5.846623817717596e-07,
        -8.150542538166765e-08,
        7.068566869807785e-08,
        7.485444735395427e-09,
        5.506987983659927e-10,
    ),
}
BREAK = 0.95
# erf_inv(x) / x in x**2 for |x| <= 3/4, and erf_inv(x) / w in w - 5/2, where w**2 is
# -log(1 - x**2), from there to the last x below 1: minimax, to 2**-24 and 2**-19 or 2**-30.
CENTRAL = (
    0.886226952,
    0.232005611,
    0.1279241,
    0.080209285,
    0.118776672,
    -0.198597759,
    0.699870408,
    -0.892834127,
    0.609615326,
)
OUTER = {
    dtypes.float32: (
        0.933475852,
        0.0236615036,
        -0.0038942697,
        -0.000898294442,
        0.000833120255,
        -0.00013234136,
        -7.57733433e-05,
        2.05539582e-05,
        2.73705086e-06,
    ),
    dtypes.float64: (
        0.933475823174,
        0.0236532948855,
        -0.00389333732166,
        -0.000853982614873,
        0.000827446188275,
        -0.000198566238858,
        -6.34314662018e-05,
        5.96898297093e-05,
        -8.31636833321e-06,
        -9.24237163051e-06,
        4.55331946196e-06,
        3.79083691322e-07,
        -8.89401261942e-07,
        1.80887495317e-07,
        7.15143970911e-08,
        -3.86289240014e-08,
        3.08775967787e-09,
        2.07170668142e-09,
        -6.85709214176e-10,
        8.69328188697e-11,
        -4.20192845702e-12,
    ),
}


def erf(b: Builder, x: Scalar) -> Scalar:
    """Error function, within 2 ulp."""
    if x.dtype == dtypes.float32:
        t = within(b, x, -END, END)
        return levelled(b, b.fma(horner(b, t * t, LEVELLED), t, t))
    a = b.abs(x)
    small = b.fma(polynomial(b, x * x, SMALL[x.dtype]), a, a)
    power = polynomial(b, b.select(a > 6.0, 6.0, a), TAIL)
    n, r, _ = reduced(b, -power)
    y = b.fma(polynomial(b, r, EXP[x.dtype]), r * r, r) + 1.0
    large = b.fma(-y, power_of_two(b, n[1], x.dtype), 1.0)
    return b.copysign(b.select(a < BREAK, small, large), x)


def erfc(b: Builder, x: Scalar) -> Scalar:
    """Complement of the error function, within 2 ulp where it is very small too."""
    a = b.abs(x)
    end = {dtypes.float32: 10.1, dtypes.float64: 27.3}[x.dtype]
    a = b.select(a > end, end, a)
    small = polynomial(b, x * x, SMALL[x.dtype]) * x
    # 1 - x - small; from 1/4 on x - 1/2 is exact and leaves less to round
    close = b.select(x < 0.25, 1.0 - (x + small), 0.5 - ((x - 0.5) + small))
    centre = CENTRE[x.dtype]
    first, *others = SCALED[x.dtype]
    t = (a - centre) / (a + centre)
    scaled, scaled_low = two_sum(t.like(first), polynomial(b, t, others) * t)
    # over 1 + 2 a, and times exp(-a**2), with what rounding takes from each
    below = b.fma(a, 2.0, 1.0)
    inverse = 1.0 / below
    ratio = scaled * inverse
    left = b.fma(-ratio, below, scaled) - b.fma(ratio, (a * 2.0 - below) + 1.0, -scaled_low)
    square = a * a
    n, r, rest = reduced(b, -square)
    y, y_low = two_sum(r.like(1.0), b.fma(polynomial(b, r, EXP[x.dtype]), r * r, r))
    y_low = b.fma(rest - b.fma(a, a, -square), y, y_low)
    y = scale(b, b.fma(y, ratio, b.fma(y, left * inverse, y_low * ratio)), *n)
    far = b.select(x < 0, 2.0 - y, y)
    return b.select(b.isnan(x), x, b.select(b.abs(x) < 0.5, close, far))


def erf_inv(b: Builder, x: Scalar) -> Scalar:
    """Inverse of erf, within 2 ulp; infinite at 1 and -1, NaN beyond."""
    a = b.abs(x)
    inner = a < 0.75
    w = b.sqrt(-log(b, (1.0 - a) * (a + 1.0)))
    start = b.select(
        inner,
        polynomial(b, a * a, CENTRAL) * a,
        polynomial(b, w - 2.5, OUTER[x.dtype]) * w,
    )
    # One step of Halley's, by that one of erf and erfc which is not near 1.
    square = start * start
    near = b.fma(polynomial(b, square, SMALL[x.dtype]), start, start) - a
    off = b.select(inner, near, (1.0 - a) - erfc(b, start))
    step = off * (exp(b, square) * HALF_ROOT_PI)
    y = start - step / b.fma(start, step, 1.0)
    return b.copysign(b.select(a == 1.0, inf, y), x)
