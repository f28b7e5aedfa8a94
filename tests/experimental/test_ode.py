"""odeint against formulas, SciPy's DOP853 and, for gradients, closed forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import arrayport as ap
import arrayport.numpy as anp
from arrayport.experimental.ode import odeint

pytestmark = pytest.mark.usefixtures("wide", "backend")
TIMES = np.linspace(0.0, 6.0, 7)


def host(x: Any) -> Any:
    return np.asarray(x.__array__())


def damped(y: Any, t: Any, stiffness: Any, damping: Any) -> Any:  # noqa: ARG001 - a field takes t
    return {"x": y["v"], "v": -stiffness * y["x"] - damping * y["v"]}


@pytest.mark.parametrize("spelling", ["jax", "scipy"])
def test_damped_oscillator_is_scipys(spelling: str) -> None:
    start = {"x": 1.0, "v": 0.0}
    t = anp.asarray(TIMES)
    found = (
        odeint(damped, start, t, 2.0, 0.3)
        if spelling == "jax"
        else odeint(damped, start, t, args=(2.0, 0.3), rtol=1e-8, atol=1e-8)
    )
    want = solve_ivp(
        lambda _, y: [y[1], -2 * y[0] - 0.3 * y[1]],
        (0, 6),
        [1.0, 0.0],
        "DOP853",
        TIMES,
        rtol=1e-11,
        atol=1e-11,
    ).y
    np.testing.assert_allclose(host(found["x"]), want[0], atol=2e-7)
    np.testing.assert_allclose(host(found["v"]), want[1], atol=2e-7)


def test_a_field_of_time_alone() -> None:
    found = odeint(lambda _y, t: anp.cos(t), 0.0, anp.asarray(TIMES))
    np.testing.assert_allclose(host(found), np.sin(TIMES), atol=5e-7)


def test_gradients_in_start_rate_and_times() -> None:
    """Of y = y0 exp(-k t), in closed form; one run compiled."""

    def last(y0: Any, k: Any, t: Any) -> Any:
        return odeint(lambda y, _t, k: -k * y, y0, t, k)[-1]

    found = ap.jit(ap.grad(last, argnums=(0, 1, 2)))(2.0, 0.5, anp.array([1.0, 1.5, 3.0]))
    decay = np.exp(-0.5 * 2.0)
    np.testing.assert_allclose(float(found[0]), decay, rtol=1e-6)
    np.testing.assert_allclose(float(found[1]), -2.0 * 2.0 * decay, rtol=1e-6)
    np.testing.assert_allclose(host(found[2]), [decay, 0, -decay], atol=1e-6)


def test_gradient_of_what_the_field_captures() -> None:
    def last(k: Any) -> Any:
        return odeint(lambda y, _t: -k * y, 1.0, anp.array([0.0, 2.0]))[-1]

    np.testing.assert_allclose(float(ap.grad(last)(0.5)), -2 * np.exp(-1.0), rtol=1e-6)


def test_vmap_over_starts() -> None:
    t = anp.array([0.0, 1.0])
    found = ap.vmap(lambda y0: odeint(lambda y, _t: -y, y0, t))(anp.array([1.0, 2.0]))
    np.testing.assert_allclose(host(found), [[1, np.exp(-1)], [2, 2 * np.exp(-1)]], rtol=1e-7)


def test_few_and_small_steps() -> None:
    t = anp.array([0.0, 1.0])
    small = odeint(lambda y, _t: -y, 1.0, t, hmax=0.01, rtol=1e-3, atol=1e-3)
    assert float(small[1]) == pytest.approx(np.exp(-1), abs=1e-11)  # order 5 at a step of 0.01
    few = odeint(lambda y, _t: -y, 1.0, t, hmax=0.01, mxstep=3)
    assert abs(float(few[1]) - np.exp(-1)) > 1e-6


def test_one_time_gives_the_start() -> None:
    assert host(odeint(lambda y, _t: y, anp.ones(2), anp.array([3.0]))).tolist() == [[1, 1]]


def test_messages() -> None:
    with pytest.raises(TypeError, match="odeint: t must have one axis with the first time"):
        odeint(lambda y, _t: y, 1.0, 2.0)
    with pytest.raises(TypeError, match="odeint has no arguments full_output: it takes rtol"):
        odeint(lambda y, _t: y, 1.0, anp.array([0.0, 1.0]), full_output=True)
