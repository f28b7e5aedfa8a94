"""Let heat spread over a periodic plate: a 5-point Laplacian by `roll`, its time steps by `scan`.

Run `python examples/diffusion.py`; compare backends by `arrayport verify examples/diffusion.py`.
"""

from __future__ import annotations

from functools import partial

import numpy as np

import arrayport as ap
import arrayport.numpy as anp

# Diffusivity x time step / spacing squared; the explicit scheme is stable up to 1/4.
RATE = 0.2
SIDE, STEPS = 64, 200

# Many steps of float32 add up their rounding.
TOLERANCE = {"rtol": 1e-5, "atol": 1e-6}


def laplacian(field: ap.Array) -> ap.Array:
    """Return the sum of each cell's four neighbours less four times the cell."""
    vertical = anp.roll(field, 1, axis=0) + anp.roll(field, -1, axis=0)
    horizontal = anp.roll(field, 1, axis=1) + anp.roll(field, -1, axis=1)
    return vertical + horizontal - 4 * field


@partial(ap.jit, static_argnums=(1,))
def simulate(field: ap.Array, steps: int) -> tuple[ap.Array, ap.Array]:
    """Return the field after the steps, and its hottest cell's temperature after each of them."""

    def step(field: ap.Array, _: None) -> tuple[ap.Array, ap.Array]:
        field = field + RATE * laplacian(field)
        return field, anp.max(field)

    return ap.lax.scan(step, field, None, length=steps)


def diffusion(field: ap.Array) -> tuple[ap.Array, ap.Array]:
    """Let the field spread for `STEPS` steps."""
    return simulate(field, STEPS)


def example_inputs() -> tuple[np.ndarray]:
    """Return a cold plate, (64, 64), with a hot square."""
    field = np.zeros((SIDE, SIDE), np.float32)
    field[24:36, 20:40] = 1
    return (field,)


def main() -> None:
    """Print the cooling of the hottest cell, and the heat, which no step creates or destroys."""
    (field,) = example_inputs()
    final, hottest = simulate(field, STEPS)
    for step in (1, 10, 50, STEPS):
        print(f"step {step:3d}: hottest cell {float(hottest[step - 1]):.4f}")
    print(f"heat before {field.sum():.3f}, after {float(final.sum()):.3f}")


if __name__ == "__main__":
    main()
