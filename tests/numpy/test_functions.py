"""arrayport.numpy's functions give jax.numpy's values, dtypes and weak types, on every backend.

Without jax, NumPy's values. Where we depart from JAX on purpose the contract's own tests say so.
"""

from __future__ import annotations

import warnings
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

import arrayport.numpy as anp

if find_spec("jax"):
    import jax.numpy as reference
else:
    reference = np  # type: ignore[assignment]

RNG = np.random.default_rng(0)
F = RNG.normal(size=(3, 4)).astype(np.float32)
G = RNG.normal(size=(4,)).astype(np.float32)
P = RNG.uniform(0.1, 2.0, (3, 4)).astype(np.float32)
H = RNG.normal(size=(3, 4)).astype(np.float16)
C = (F + 1j * RNG.normal(size=(3, 4))).astype(np.complex64)
I = RNG.integers(-9, 9, (3, 4)).astype(np.int32)
S = RNG.integers(-9, 9, (3, 4)).astype(np.int8)
U = RNG.integers(1, 9, (3, 4)).astype(np.uint8)
B = RNG.integers(0, 2, (3, 4)).astype(bool)
N = np.where(B, np.float32(np.nan), F)
T = RNG.normal(size=(2, 3, 4)).astype(np.float32)
V = np.sort(G)
Q = RNG.normal(size=(3, 3)).astype(np.float32)
SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan], np.float32)

UNARY_FLOAT = [
    "sin",
    "cos",
    "tan",
    "arcsinh",
    "arctan",
    "sinh",
    "cosh",
    "tanh",
    "exp",
    "exp2",
    "expm1",
    "cbrt",
    "sinc",
    "deg2rad",
    "rad2deg",
    "rint",
    "fabs",
]
UNARY_ANY = [
    "abs",
    "negative",
    "positive",
    "square",
    "sign",
    "conj",
    "real",
    "imag",
    "isnan",
    "isinf",
    "isfinite",
    "floor",
    "ceil",
    "trunc",
    "round",
    "reciprocal",
    "isreal",
    "iscomplex",
]
UNARY_POSITIVE = ["sqrt", "log", "log2", "log10", "log1p", "arccosh"]
BINARY = [
    "add",
    "subtract",
    "multiply",
    "divide",
    "maximum",
    "minimum",
    "fmax",
    "fmin",
    "equal",
    "not_equal",
    "less",
    "less_equal",
    "greater",
    "greater_equal",
    "logical_and",
    "logical_or",
    "logical_xor",
    "arctan2",
    "hypot",
    "logaddexp",
    "logaddexp2",
    "copysign",
    "nextafter",
    "heaviside",
    "fmod",
    "remainder",
    "floor_divide",
    "float_power",
    "isclose",
]
BINARY_INTEGER = [
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "floor_divide",
    "remainder",
    "left_shift",
]
REDUCTIONS = [
    "sum",
    "prod",
    "max",
    "min",
    "mean",
    "std",
    "var",
    "any",
    "all",
    "ptp",
]
NAN_REDUCTIONS = ["nansum", "nanprod", "nanmax", "nanmin", "nanmean", "nanstd", "nanvar"]

Case = tuple[str, tuple[Any, ...], dict[str, Any]]


def case(name: str, *args: Any, **kwargs: Any) -> Case:
    return name, args, kwargs


CASES: list[Case] = [
    *[case(name, x) for name in UNARY_FLOAT for x in (I, H)],
    *[case(name, x) for name in UNARY_ANY for x in (I, 1.5)],
    *[case(name, x) for name in UNARY_POSITIVE for x in (U, SPECIAL)],
    *[case(name, x, y) for name in BINARY for x, y in ((I, P), (P, 2.0))],
    *[case(name, I, y) for name in BINARY_INTEGER for y in (U, 3)],
    *[case(name, x) for name in REDUCTIONS for x in (F, U)],
    *[case(name, F, axis=1, keepdims=True) for name in REDUCTIONS],
    *[case(name, T, axis=(0, -1)) for name in REDUCTIONS],
    *[case(name, N, axis=axis) for name in NAN_REDUCTIONS for axis in (None, 0)],
    # elementwise
    *[
        case(name, C)
        for name in [
            "abs",
            "conj",
            "real",
            "imag",
            "isnan",
            "isinf",
            "isfinite",
            "sign",
            "exp",
            "sin",
            "sqrt",
            "log",
        ]
    ],
    *[
        case(name, SPECIAL)
        for name in ["sin", "exp", "tanh", "arctan", "sign", "floor", "cbrt", "rint", "reciprocal"]
    ],
    case("arcsin", F / 9),
    case("arccos", F / 9),
    case("arctanh", F / 9),
    case("clip", I, -2, 3),
    case("clip", F, None, 0.5),
    case("clip", S, 0, 2.0),
    case("clip", F, min=G),
    case("nan_to_num", SPECIAL),
    case("nan_to_num", SPECIAL, nan=5.0, posinf=1.0, neginf=-1.0),
    case("round", F, 2),
    case("round", I, 1),
    case("round", C, 1),
    case("divmod", I, 4),
    case("modf", F),
    case("angle", C),
    case("angle", C, deg=True),
    case("angle", F),
    case("signbit", F),
    case("isposinf", SPECIAL),
    case("isneginf", SPECIAL),
    case("bitwise_count", U),
    case("invert", I),
    case("invert", B),
    case("logical_not", F),
    case("right_shift", S, 2),
    case("power", F, 2),
    case("power", P, F),
    case("power", I, 2),
    case("power", 2.0, F),
    case("isclose", F, F + 1e-7),
    case("isclose", SPECIAL, SPECIAL, equal_nan=True),
    case("logaddexp", SPECIAL, 1.0),
    case("hypot", 3e30, 4e30),
    case("heaviside", SPECIAL, 0.5),
    # reductions
    case("sum", S),
    case("sum", B),
    case("sum", F, where=B),
    case("sum", F, dtype="float16"),
    case("sum", F, initial=3.0),
    case("sum", H),
    case("prod", F, where=B, axis=0),
    case("sum", F, axis=()),
    case("sum", C),
    case("mean", C),
    case("var", C),
    case("std", F, ddof=1),
    case("var", F, correction=1),
    case("mean", F, where=B),
    case("mean", H),
    case("mean", S),
    case("max", F, where=B, initial=-9.0),
    case("max", F, initial=0.5),
    case("min", N),
    case("all", B, axis=0),
    case("any", F, where=B),
    case("argmax", F),
    case("argmax", F, axis=1),
    case("argmin", N, axis=0, keepdims=True),
    case("count_nonzero", I, axis=0),
    case("cumsum", F),
    case("cumsum", S, axis=1),
    case("cumsum", B),
    case("cumprod", F, axis=0),
    case("cumsum", F, axis=1, dtype="float16"),
    case("nancumsum", N),
    case("cumulative_sum", U, axis=1),
    case("cumulative_sum", F, axis=0, include_initial=True),
    case("nanargmax", np.where(np.isnan(N), 0, N)),
    case("diff", F),
    case("diff", F, 2, axis=0),
    case("diff", B),
    case("diff", G, prepend=0.0, append=G),
    case("ediff1d", F),
    case("trapezoid", F),
    case("trapezoid", G, V),
    case("minmax", F, axis=0),
    case("average", F),
    case("average", F, axis=1, weights=G),
    case("average", F, weights=P, returned=True),
    case("median", F),
    case("median", F, axis=1),
    case("quantile", F, 0.3),
    case("quantile", F, np.array([0.1, 0.9]), axis=0),
    case("quantile", N, 0.5, axis=1),
    case("quantile", F, 0.3, method="nearest"),
    case("percentile", F, 30, axis=1, keepdims=True),
    case("nanmedian", N, axis=1),
    case("nanquantile", N, 0.25),
    case("quantile", F, 0.3, method="lower"),
    # creation
    case("array", [1, 2.5]),
    case("array", [[1, 2], [3, 4]]),
    case("array", 3),
    case("array", True),
    case("array", [True, 2]),
    case("asarray", F),
    case("array", [F[0], G]),
    case("array", [1, 2j]),
    case("array", [np.float32(1), 2]),
    case("array", []),
    case("array", F, dtype="int32"),
    case("asarray", 1.5),
    case("array", [1, 2], ndmin=3),
    case("asarray", 2.5, dtype="int8"),
    case("array", np.arange(3)),
    case("zeros", (2, 3)),
    case("ones", 3, dtype="int16"),
    case("full", (2,), 7),
    case("full", (2, 2), G[:2]),
    case("full", (2,), 1.5, dtype="int32"),
    case("empty", (0, 2)),
    case("zeros_like", I),
    case("ones_like", 2.0),
    case("full_like", I, 2.7),
    case("full_like", F, 1, shape=(2,)),
    case("zeros_like", F, dtype="int8"),
    case("full_like", F, G),
    case("arange", 5),
    case("arange", 5.0),
    case("arange", 1, 9, 3),
    case("arange", 0, 1, 0.25),
    case("arange", 5, 0, -2),
    case("arange", 3, dtype="float16"),
    case("arange", -3),
    case("arange", 2, 2),
    case("linspace", 0, 1, 5),
    case("linspace", 0, 1, 5, endpoint=False),
    case("linspace", G, 2 * G, 3, axis=1),
    case("linspace", 0, 10, 4, dtype="int32"),
    case("linspace", 0, 1, 1),
    case("linspace", 0.0, 1.0, 3, retstep=True),
    case("logspace", 0, 2, 4),
    case("geomspace", 1.0, 100.0, 5),
    case("eye", 3),
    case("eye", 2, 4, 1, dtype="int32"),
    case("identity", 2),
    case("tri", 3, 4, 1),
    case("tril", F),
    case("triu", T, 1),
    case("tril", F, -1),
    case("meshgrid", G, V),
    case("meshgrid", G, V, indexing="ij", sparse=True),
    case("indices", (2, 3)),
    case("tril_indices", 3),
    case("triu_indices", 3, 1),
    case("diag", G),
    case("diag", G, -1),
    case("diag", F, 1),
    case("diagflat", F),
    case("diagonal", F),
    case("diagonal", T, 1, 0, 2),
    case("diagonal", F, -2),
    case("trace", F),
    case("trace", T, 1),
    case("trace", S),
    case("hanning", 5),
    case("hamming", 5),
    case("bartlett", 5),
    case("blackman", 5),
    case("hanning", 1),
    case("vander", G),
    case("diag_indices", 3),
    # shapes
    case("reshape", F, (2, -1)),
    case("reshape", F, 12),
    case("reshape", F, (4, 3), order="F"),
    case("ravel", F),
    case("ravel", F, order="F"),
    case("transpose", T),
    case("transpose", T, (1, -1, 0)),
    case("permute_dims", T, (2, 0, 1)),
    case("matrix_transpose", T),
    case("swapaxes", T, 0, -1),
    case("moveaxis", T, (0, 1), (-1, 0)),
    case("rollaxis", T, 2),
    case("rollaxis", T, 0, 3),
    case("expand_dims", F, (0, -1)),
    case("squeeze", F[None, :, None]),
    case("squeeze", F[None], 0),
    case("concatenate", [F, I]),
    case("concatenate", [F, F], axis=1),
    case("concatenate", [F, G], axis=None),
    case("stack", [G, V], axis=1),
    case("vstack", [G, V]),
    case("hstack", [G, V]),
    case("hstack", [F, F]),
    case("dstack", [F, F]),
    case("column_stack", [G, V]),
    case("append", G, 1.0),
    case("append", F, F, axis=0),
    case("block", [[F, F], [F, F]]),
    case("block", [1.0, G]),
    case("split", F, 2, axis=1),
    case("split", G, [1, 3]),
    case("array_split", np.arange(7), 3),
    case("hsplit", F, 2),
    case("vsplit", F, 3),
    case("dsplit", T, 2),
    case("tile", G, 2),
    case("tile", F, (2, 1)),
    case("tile", G, (2, 2)),
    case("repeat", G, 2),
    case("repeat", F, 2, axis=0),
    case("repeat", G, np.array([0, 1, 2, 1])),
    case("repeat", G, np.array([0, 1, 2, 1]), total_repeat_length=6),
    case("resize", G, (3, 3)),
    case("flip", T),
    case("flip", F, 1),
    case("fliplr", F),
    case("flipud", F),
    case("rot90", F),
    case("rot90", F, 3),
    case("rot90", F, 2),
    case("roll", F, 1),
    case("roll", F, (1, -2), axis=(0, 1)),
    case("roll", F, 5, axis=1),
    case("broadcast_to", G, (2, 4)),
    case("broadcast_arrays", G, F),
    case("atleast_1d", 1.0),
    case("atleast_2d", G),
    case("atleast_3d", F),
    case("atleast_3d", G),
    case("unstack", F),
    case("concat", [G, G]),
    case("size", F),
    case("shape", F),
    case("ndim", F),
    case("pad", F, 1),
    case("pad", F, ((1, 0), (0, 2)), constant_values=3.0),
    case("pad", G, 2, mode="edge"),
    case("pad", F, 2, mode="reflect"),
    case("pad", F, (1, 5), mode="symmetric"),
    case("pad", F, 5, mode="wrap"),
    case("pad", G, (2, 3), mode="linear_ramp"),
    case("pad", F, 1, mode="mean"),
    case("pad", F, 1, mode="maximum"),
    case("pad", I, 1, constant_values=((1, 2), (3, 4))),
    # products
    case("matmul", F, F.T),
    case("matmul", T, G),
    case("dot", F, G),
    case("dot", G, V),
    case("vdot", F, P),
    case("vdot", C, C),
    case("inner", F, T),
    case("inner", G, 2.0),
    case("outer", G, V),
    case("outer", F, G),
    case("tensordot", T, F, ((1, 2), (0, 1))),
    case("tensordot", F, F.T, 1),
    case("kron", F, G),
    case("kron", G, V),
    case("cross", Q, Q[::-1]),
    case("vecdot", T, F),
    case("vecdot", C, C),
    case("matvec", T, G),
    case("vecmat", G, F.T),
    case("einsum", "ij,jk->ik", F, F.T),
    case("einsum", "ij->ji", F),
    case("einsum", "ii", Q),
    case("einsum", "ii->i", Q),
    case("einsum", "ij,ij->", F, P),
    case("einsum", "...j,j", T, G),
    case("einsum", "bij,bjk->bik", T, T.transpose(0, 2, 1)),
    case("einsum", "ij,jk,kl->il", F, F.T, F),
    case("einsum", "i,j,k->kij", G, V, G),
    case("einsum", "ij", F),
    case("einsum", "ij,j->ij", F, G),
    case("einsum", "...i,...i->...", T, F),
    case("einsum", F, [0, 1], G, [1], [0]),
    case("einsum", "aij,bjk,akl->bil", T, T.transpose(0, 2, 1), T),
    case("einsum", "i->", G),
    case("einsum", "ij,kj", F, P),
    case("convolve", G, V[:2]),
    case("convolve", G, V[:3], mode="same"),
    case("convolve", V[:2], G, mode="valid"),
    case("correlate", G, V[:2]),
    case("correlate", V[:2], G, mode="full"),
    case("polyval", G, F),
    case("polyadd", G, V[:2]),
    case("polysub", V[:2], G),
    case("polymul", G, V),
    case("polyder", G),
    case("polyint", G, 2),
    case("cov", F),
    case("cov", F, rowvar=False),
    case("cov", G, V),
    case("corrcoef", F),
    case("cov", F, aweights=np.abs(G)),
    # searching, sorting, sets
    case("where", B, F, P),
    case("where", B, 1, 2.0),
    case("where", F > 0, F, 0),
    case("where", B),
    case("nonzero", I),
    case("nonzero", I, size=5),
    case("nonzero", I, size=20, fill_value=-1),
    case("flatnonzero", I),
    case("argwhere", B),
    case("sort", F),
    case("sort", F, axis=0, descending=True),
    case("sort", N, axis=None),
    case("argsort", F),
    case("argsort", I, axis=0, descending=True),
    case("lexsort", (I[0], S[1])),
    case("sort", C),
    case("searchsorted", V, F),
    case("searchsorted", V, V, side="right"),
    case("searchsorted", V, SPECIAL),
    case("digitize", F, V),
    case("digitize", F, V[::-1], right=True),
    case("isin", I, S),
    case("isin", I, S, invert=True),
    case("unique", I),
    case("unique", I, return_counts=True, return_inverse=True, return_index=True),
    case("unique", I, size=4),
    case("unique", I, size=20, fill_value=0),
    case("unique", np.array([[1, 2], [1, 2]]), axis=0),
    case("unique_values", I),
    case("unique_counts", I),
    case("union1d", I, S),
    case("intersect1d", I, S),
    case("setdiff1d", I, S),
    case("setxor1d", I, S),
    case("top_k", F, 2),
    case("sort_complex", G),
    case("select", [F > 1, F > 0], [F, 2 * F], -1.0),
    case("choose", np.array([0, 1, 1, 0]), [G, V]),
    case("choose", np.array([0, 5, -1, 0]), [G, V], mode="clip"),
    case("compress", np.array([True, False, True]), F, axis=0),
    case("extract", B, F),
    case("extract", B, F, size=3),
    case("delete", G, 1),
    case("delete", F, np.array([0, 2]), axis=0),
    case("take", F, np.array([0, 2, 5])),
    case("take", F, np.array([2, 0]), axis=1),
    case("take_along_axis", F, np.argsort(F), axis=1),
    case("bincount", U.ravel()),
    case("bincount", U.ravel(), F.ravel(), minlength=20),
    case("bincount", U.ravel(), length=4),
    case("histogram", F, 5),
    case("histogram", F, 5, density=True),
    case("histogram", F, V, weights=P),
    case("interp", F, V, G),
    case("interp", F, V, G, left=-1.0, right=1.0),
    case("interp", F, V, G, period=2.0),
    case("gradient", F),
    case("gradient", G, 0.5),
    case("gradient", G, V),
    case("array_equal", F, F),
    case("array_equal", F, G),
    case("array_equiv", F, F[None]),
    case("allclose", F, F * 1.000001),
    case("ptp", F, axis=0),
    case("fill_diagonal", F, 1.0, inplace=False),
    case("insert", G, 1, 9.0),
    case("insert", F, np.array([0, 2]), F[:2], axis=0),
    case("insert", F, 1, np.array([7.0, 8.0, 9.0], np.float32), axis=1),
    case("gcd", I, U),
    case("lcm", I, U),
    case("unwrap", 4 * F, axis=1),
    case("unwrap", I, period=5),
    case("unravel_index", I + 9, (4, 5)),
    case("ravel_multi_index", (I % 3, U % 4), (3, 4)),
    case("ravel_multi_index", (I, U), (3, 4), mode="clip"),
    case("ix_", I[0], I[1]),
    case("piecewise", F, [F > 0], [1.0, -1.0]),
]
# Weak here by our rule that an answer is weak if all operands are, strong in JAX.
STRONG_IN_JAX = {"log10"}
# Functions whose answer a library or an order of summation decides in the last places.
LOOSE = {"prod": 3e-6, "logaddexp2": 3e-6, "float_power": 3e-6, "power": 3e-6}


PLAIN = {"dtype", "axis", "axes", "shape", "method", "mode", "q"}  # arguments that are no arrays


def parts(x: Any) -> list[Any]:
    return [p for item in x for p in parts(item)] if isinstance(x, tuple | list) else [x]


def converted(args: Any) -> Any:
    """NumPy's arrays as ours."""
    if isinstance(args, np.ndarray):
        return anp.asarray(args)
    return type(args)(map(converted, args)) if isinstance(args, tuple | list) else args


@cache
def expected(number: int) -> list[Any] | None:
    """Ask the reference, once for all backends; None where NumPy stands in and cannot say."""
    name, args, kwargs = CASES[number]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return parts(getattr(reference, name)(*args, **kwargs))
        except (AttributeError, TypeError):
            if reference is not np:
                raise
            return None


@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda i: f"{CASES[i][0]}-{i}")
def test_equals_jax(number: int, backend: str) -> None:
    name, args, kwargs = CASES[number]
    wanted = expected(number)
    if wanted is None:
        pytest.skip("NumPy has no such function or argument, and jax is not installed")
    options = {k: v if k in PLAIN else converted(v) for k, v in kwargs.items()}
    found = parts(getattr(anp, name)(*converted(args), **options))
    assert len(found) == len(wanted)
    for ours, theirs in zip(found, wanted, strict=True):
        a, b = np.asarray(ours), np.asarray(theirs)
        assert a.shape == b.shape
        if hasattr(theirs, "weak_type"):
            assert ours.dtype == theirs.dtype
            # A number stays neutral until it meets an array.
            assert ours.device.backend == backend or (ours.weak_type and not a.shape)
            if ours.dtype != bool and name not in STRONG_IN_JAX:
                assert ours.weak_type == theirs.weak_type
        tolerance = 1e-3 if a.dtype == np.float16 else LOOSE.get(name, 2e-6)
        np.testing.assert_allclose(
            a.astype(b.dtype), b, rtol=tolerance, atol=tolerance if b.dtype.kind in "fc" else 0
        )


def test_two_names_of_one_function() -> None:
    aliases = {
        "abs": ["absolute"],
        "acos": ["arccos"],
        "acosh": ["arccosh"],
        "asin": ["arcsin"],
        "asinh": ["arcsinh"],
        "atan": ["arctan"],
        "atan2": ["arctan2"],
        "atanh": ["arctanh"],
        "bitwise_not": ["invert", "bitwise_invert"],
        "conj": ["conjugate"],
        "deg2rad": ["radians"],
        "divide": ["true_divide"],
        "left_shift": ["bitwise_left_shift"],
        "max": ["amax"],
        "min": ["amin"],
        "power": ["pow"],
        "rad2deg": ["degrees"],
        "remainder": ["mod"],
        "right_shift": ["bitwise_right_shift"],
        "round": ["around"],
    }
    for name, others in aliases.items():
        assert all(getattr(anp, other) is getattr(anp, name) for other in others), name
