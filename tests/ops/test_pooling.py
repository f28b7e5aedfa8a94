"""Sliding windows: values on every backend by their definition, derivatives against JAX's."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp
from arrayport import lax

# shape, window, strides, padding, base dilation, window dilation
CASES: dict[str, tuple[Any, ...]] = {
    "plain": ((5, 4), (2, 3)),
    "strided": ((2, 6, 7, 3), (1, 3, 2, 1), (1, 2, 2, 1), "SAME"),
    "all": ((5, 4), (2, 3), (2, 1), ((1, 2), (3, 0)), (2, 3), (3, 2)),
    "cut": ((6, 5), (2, 2), (2, 3), ((-1, 0), (0, -2))),
    "too small": ((2, 3), (3, 2)),
    "nothing": ((0, 3), (1, 2), (1, 1), ((0, 0), (1, 1))),
    "number": ((), ()),
}
MONOIDS = {"add": 0, "mul": 1, "max": -np.inf, "min": np.inf}


def numbers(case: str) -> np.ndarray:
    shape = CASES[case][0]
    return np.random.default_rng(0).permutation(int(np.prod(shape))).reshape(shape) - 7.0


@pytest.mark.parametrize("monoid", MONOIDS)
@pytest.mark.parametrize("case", CASES)
def test_derivatives_and_batches(case: str, monoid: str, same_as_jax: Callable[..., None]) -> None:
    jax = pytest.importorskip("jax", reason="JAX is the oracle")
    start = MONOIDS[monoid]

    def places(x: Any) -> Any:
        return jax.lax.reduce_window(x, float(start), getattr(jax.lax, monoid), *CASES[case][1:])

    def product_of_places(x: Any) -> Any:
        """Multiply shifted copies: JAX cannot differentiate windowed products backwards."""
        window, strides, padding, spread, steps = arguments
        config = [(lo, hi, d - 1) for (lo, hi), d in zip(padding, spread, strict=True)]
        x = jax.lax.pad(x, jax.numpy.ones((), x.dtype), config)
        reach = [(k - 1) * r for k, r in zip(window, steps, strict=True)]
        out = 1.0
        for offset in product(*map(range, window)):
            low = [o * r for o, r in zip(offset, steps, strict=True)]
            high = [n - q + a for n, q, a in zip(x.shape, reach, low, strict=True)]
            out = out * jax.lax.slice(x, low, high, strides)
        return out

    arguments = None
    if monoid == "mul" and case in {"plain", "all"}:
        rank = len(CASES[case][0])
        usual = ((1,) * rank, ((0, 0),) * rank, (1,) * rank, (1,) * rank)
        arguments = (CASES[case][1], *(CASES[case][2:] or usual))
    # Of extremes XLA has no gradient with dilation or negative padding, and aborts on a number's.
    untold = monoid in {"max", "min"} and case in {"all", "cut", "number"}
    same_as_jax(
        lambda x: lax.reduce_window(x, float(start), getattr(lax, monoid), *CASES[case][1:]),
        product_of_places if arguments else places,
        numbers(case) / 8,
        order=0 if untold or (monoid == "mul" and not arguments) else 2 if case == "all" else 1,
        batch=case in {"plain", "all"},
    )


@pytest.mark.parametrize("case", ["all", "cut"])
def test_extremes_move_as_differences_say(case: str) -> None:
    x = numbers(case)
    t = np.random.default_rng(1).normal(size=x.shape)

    def f(v: Any) -> Any:
        return lax.reduce_window(v, -np.inf, lax.max, *CASES[case][1:])

    out, pushed = ap.jvp(f, (anp.asarray(x),), (anp.asarray(t),))
    found = [np.asarray(f(anp.asarray(x + step * t))) for step in (0.01, -0.01)]
    known = np.isfinite(np.asarray(out))
    slope = (found[0][known] - found[1][known]) / 0.02
    np.testing.assert_allclose(np.asarray(pushed)[known], slope, rtol=1e-9, atol=1e-9)
    ct = np.where(known, np.random.default_rng(2).normal(size=out.shape), 0)
    (pulled,) = ap.vjp(f, anp.asarray(x))[1](anp.asarray(ct))
    np.testing.assert_allclose((np.asarray(pulled) * t).sum(), (ct * np.asarray(pushed)).sum())


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("dtype", ["int8", "uint8", "bool", "float16", "float32"])
@pytest.mark.parametrize("monoid", ["max", "min"])
def test_extremes(monoid: str, dtype: str) -> None:
    x = (np.arange(24).reshape(4, 6) * 7 % 11).astype(dtype)
    kind = np.dtype(dtype).kind
    worst = {"f": (-np.inf, np.inf), "b": (False, True)}.get(kind)
    start = (worst or (np.iinfo(dtype).min, np.iinfo(dtype).max))[monoid == "min"]
    found = lax.reduce_window(anp.asarray(x), start, getattr(lax, monoid), (2, 3), (1, 2), "VALID")
    views = np.lib.stride_tricks.sliding_window_view(x, (2, 3))[:, ::2]
    assert found.dtype == dtype
    np.testing.assert_array_equal(np.asarray(found), getattr(views, monoid)((-1, -2)))


@pytest.mark.usefixtures("backend")
def test_the_first_of_equals_moves_an_extreme() -> None:
    slope = ap.grad(lambda v: lax.reduce_window(v, -np.inf, lax.max, (2,)).sum())(anp.ones(5))
    np.testing.assert_array_equal(np.asarray(slope), [1, 1, 1, 1, 0])


@pytest.mark.usefixtures("backend")
def test_any_function_and_any_start() -> None:
    x = anp.asarray(np.arange(6.0))
    pads = [(1, 1)]
    found = lax.reduce_window(x, 1.0, lax.add, (3,), padding=pads)
    np.testing.assert_array_equal(np.asarray(found), [2, 4, 7, 10, 13, 10])
    found = lax.reduce_window(x, 2.5, lambda a, b: anp.maximum(b, a), (2,))
    np.testing.assert_array_equal(np.asarray(found), [2.5, 2.5, 3, 4, 5])
    total, most = lax.reduce_window(
        (x, x), (0.0, -np.inf), lambda a, b: (a[0] + b[0], lax.max(a[1], b[1])), (2,)
    )
    np.testing.assert_array_equal(np.asarray(total), [1, 3, 5, 7, 9])
    np.testing.assert_array_equal(np.asarray(most), [1, 2, 3, 4, 5])
    jitted = ap.jit(lambda v, s: lax.reduce_window(v, s, lax.add, (2,)))
    np.testing.assert_array_equal(np.asarray(jitted(x, 1.0)), [2, 4, 6, 8, 10])


@pytest.mark.usefixtures("backend")
def test_reductions_by_any_function() -> None:
    x = anp.asarray(np.arange(1, 7).reshape(2, 3))
    for fold, expected in (
        (lambda a, b: b | a, [5, 7, 7]),
        (lambda a, b: a ^ b, [5, 7, 5]),
        (lambda a, b: a * b, [4, 10, 18]),
        (lambda a, b: a + b - 1, [4, 6, 8]),
    ):
        start = {4: 1}.get(expected[0], 1 if expected[-1] == 8 else 0)
        assert np.asarray(lax.reduce(x, start, fold, (0,))).tolist() == expected


MISTAKES: dict[str, tuple[Callable[[Any], Any], type[Exception], str]] = {
    "window": (lambda x: lax.reduce_window(x, 0.0, lax.add, (2,)), TypeError, "2 positive"),
    "zero": (lambda x: lax.reduce_window(x, 0.0, lax.add, (0, 1)), TypeError, "window_dimensions"),
    "pairs": (
        lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 1), padding=[(0, 0)]),
        ValueError,
        "2 pairs",
    ),
    "cut": (
        lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 1), padding=[(-5, 0), (0, 0)]),
        ValueError,
        "takes away",
    ),
    "start": (lambda x: lax.reduce_window(x, x, lax.add, (1, 1)), TypeError, "initial value"),
    "tree": (lambda x: lax.reduce((x, x), 0.0, lax.add, (0,)), TypeError, "structure"),
    "shapes": (
        lambda x: lax.reduce((x, x[0]), (0.0, 0.0), lambda a, _: a, (0,)),
        TypeError,
        "one shape",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_messages(mistake: str) -> None:
    call, error, match = MISTAKES[mistake]
    with pytest.raises(error, match=match):
        call(anp.ones((3, 4)))
