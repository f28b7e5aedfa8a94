"""Integrate a damped oscillator by `fori_loop`, and differentiate where it ends by its damping.

Run `python examples/oscillator.py`; compare backends by `arrayport verify examples/oscillator.py`.
"""

from __future__ import annotations

import math

import numpy as np

import arrayport as ap
import arrayport.numpy as anp

FREQUENCY, DAMPING = 2.0, 0.3
STEP, STEPS = 0.01, 500

# The integrator's own error is near 1e-9; what remains is hundreds of roundings of float32.
TOLERANCE = {"rtol": 1e-4, "atol": 1e-5}

State = tuple[ap.Array, ap.Array]


def advance(state: State, damping: ap.Array) -> State:
    """Take one Runge-Kutta step, of fourth order, of x'' = -damping x' - FREQUENCY^2 x."""

    def slope(state: State) -> State:
        position, velocity = state
        return velocity, -damping * velocity - FREQUENCY**2 * position

    def ahead(slopes: State, time: float) -> State:
        return ap.tree.map(lambda value, rate: value + time * rate, state, slopes)

    first = slope(state)
    second = slope(ahead(first, STEP / 2))
    third = slope(ahead(second, STEP / 2))
    fourth = slope(ahead(third, STEP))
    return ahead(
        ap.tree.map(lambda a, b, c, d: (a + 2 * b + 2 * c + d) / 6, first, second, third, fourth),
        STEP,
    )


def position(damping: ap.Array, steps: int | ap.Array) -> ap.Array:
    """Return where the oscillator, let go at 1, is after the steps."""
    start = anp.ones_like(damping), anp.zeros_like(damping)
    end, _ = ap.lax.fori_loop(0, steps, lambda _, state: advance(state, damping), start)
    return end


def oscillator(damping: ap.Array) -> ap.Array:
    """Return where the oscillator is after `STEPS` steps."""
    return position(damping, STEPS)


def example_inputs() -> tuple[np.ndarray]:
    """Return the damping."""
    return (np.array(DAMPING, np.float32),)


def exact(damping: float, time: float) -> float:
    """Return the position by the formula of the underdamped oscillator."""
    decay = damping / 2
    turn = math.sqrt(FREQUENCY**2 - decay**2)
    return math.exp(-decay * time) * (math.cos(turn * time) + decay / turn * math.sin(turn * time))


def main() -> None:
    """Print positions beside the formula's, and the last one's derivative in both modes."""
    damping = anp.array(DAMPING)

    # Under jit the count is traced: one compilation serves every count.
    compiled = ap.jit(position)
    for steps in (100, 250, STEPS):
        found, formula = float(compiled(damping, steps)), exact(DAMPING, steps * STEP)
        print(f"x({steps * STEP:.1f}) = {found:+.6f}, exactly {formula:+.6f}")

    # Forward mode follows a loop of any length; reverse mode needs a count known when traced.
    _, forward = ap.jvp(lambda d: compiled(d, STEPS), (damping,), (anp.ones_like(damping),))
    reverse = ap.grad(position)(damping, STEPS)
    print(f"dx/d(damping): forward {float(forward):+.6f}, reverse {float(reverse):+.6f}")


if __name__ == "__main__":
    main()
