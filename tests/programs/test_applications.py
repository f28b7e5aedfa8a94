"""Applications, as a user of JAX writes them, held to NumPy's loops, SciPy and formulas."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy import integrate, signal

import arrayport as jax
import arrayport.numpy as jnp
from arrayport import grad, jit, lax, random, vmap
from arrayport.experimental.ode import odeint

pytestmark = pytest.mark.usefixtures("backend")

RNG = np.random.default_rng(5)


# ---- 15. images


IMAGES = RNG.integers(0, 256, (2, 3, 8, 6)).astype(np.uint8)
KERNEL = RNG.normal(size=(4, 3, 3, 3)).astype(np.float32)


def correlated(images, kernel, stride=1, dilation=1, groups=1):
    """Correlate with what is zero outside, by SciPy; the answer starts as "SAME" does."""
    wide = np.zeros((*kernel.shape[:2], *(dilation * (np.array(kernel.shape[2:]) - 1) + 1)))
    wide[:, :, ::dilation, ::dilation] = kernel
    inputs, outputs = images.shape[1] // groups, len(kernel) // groups
    out = []
    for image in images:
        maps = []
        for o, filters in enumerate(wide):
            mine = image[o // outputs * inputs :][:inputs]
            pairs = zip(mine, filters, strict=True)
            maps.append(sum(signal.correlate2d(x, f, mode="same") for x, f in pairs))
        out.append(maps)
    return np.array(out)[:, :, ::stride, ::stride]


def test_image_pipeline(run, close):
    def program(images, kernel):
        x = vmap(lambda image: image / 255)(images)
        x = vmap(lambda image: image - image.mean())(x)
        return x, lax.conv(x, kernel, (1, 1), "SAME")

    scaled = IMAGES / 255
    scaled = scaled - scaled.mean(axis=(1, 2, 3), keepdims=True)
    expected = scaled, correlated(scaled, KERNEL)
    close(run(program)(jnp.array(IMAGES), KERNEL), expected, rtol=1e-4, atol=1e-4)


ODD = IMAGES[:, :, :7, :5].astype(np.float32)  # of odd extents "SAME" with strides starts at 0


@pytest.mark.parametrize("options", [{"stride": 2}, {"dilation": 2}, {"groups": 3}, {}], ids=str)
def test_general_convolutions(options, close):
    groups = options.get("groups", 1)
    kernel = np.tile(KERNEL, (2, 1, 1, 1))[:6, : 3 // groups]
    window = (options.get("stride", 1),) * 2

    def nchw(x, k):
        return lax.conv_general_dilated(
            x,
            k,
            window,
            "SAME",
            rhs_dilation=(options.get("dilation", 1),) * 2,
            feature_group_count=groups,
        )

    def nhwc(x, k):
        return lax.conv_general_dilated(
            jnp.transpose(x, (0, 2, 3, 1)),
            jnp.transpose(k, (2, 3, 1, 0)),
            window,
            "SAME",
            rhs_dilation=(options.get("dilation", 1),) * 2,
            dimension_numbers=("NHWC", "HWIO", "NHWC"),
            feature_group_count=groups,
        )

    expected = correlated(ODD / 255, kernel, **options)
    close(jit(nchw)(ODD / 255, kernel), expected, rtol=1e-4, atol=1e-4)
    found = jit(nhwc)(ODD / 255, kernel)
    close(found, expected.transpose(0, 2, 3, 1), rtol=1e-4, atol=1e-4)

    # It is linear in the kernel, and in the image: <conv(x, k), c> = <k, d/dk> = <x, d/dx>.
    weight = RNG.normal(size=expected.shape).astype(np.float32)
    by_image, by_kernel = jit(grad(lambda x, k: (nchw(x, k) * weight).sum(), (0, 1)))(
        ODD / 255, kernel
    )
    total = (expected * weight).sum()
    close([(by_image * ODD / 255).sum(), (by_kernel * kernel).sum()], [total] * 2, rtol=1e-3)
    nudge = np.zeros_like(kernel)
    nudge[1, 0, 2, 1] = 1
    close(by_kernel[1, 0, 2, 1], (correlated(ODD / 255, nudge, **options) * weight).sum(), 1e-3)


# ---- 16. diffusion


def test_diffusion(close, run):
    @partial(jit, static_argnums=(1,))
    def simulate(field, steps):
        def step(u, _):
            around = sum(jnp.roll(u, shift, axis) for shift in (1, -1) for axis in (0, 1))
            u = u + 0.2 * (around - 4 * u)
            return u, u.max()

        return lax.scan(step, field, None, length=steps)

    start = RNG.normal(size=(9, 7)).astype(np.float32)
    # each Fourier mode decays by its own factor
    factor = 1 - 0.8 * sum(
        np.sin(np.pi * np.fft.fftfreq(n)).reshape(shape) ** 2
        for n, shape in ((9, (9, 1)), (7, (1, 7)))
    )
    for steps in (1, 25):
        final, highest = run(partial(simulate, steps=steps))(start)
        expected = np.fft.ifft2(np.fft.fft2(start) * factor**steps).real
        close(final, expected, rtol=1e-4)
        close(highest[-1], expected.max(), rtol=1e-4)
        assert highest.shape == (steps,)


# ---- 17. a perceptron


def initial(key, sizes):
    keys = random.split(key, len(sizes) - 1)
    return [
        (random.normal(k, (n, m)) * jnp.sqrt(2 / m), jnp.zeros(n))
        for k, m, n in zip(keys, sizes[:-1], sizes[1:], strict=True)
    ]


def mlp(params, x):
    for w, b in params[:-1]:
        x = jax.nn.relu(jnp.dot(w, x) + b)
    w, b = params[-1]
    return jnp.dot(w, x) + b


def mse(params, x, y):
    return jnp.mean((vmap(mlp, in_axes=(None, 0))(params, x) - y) ** 2)


def test_perceptron_learns_digits(digits, close):
    """A list of (w, b), mean squared error, jit of grad, Adam: over 95 % of unseen digits."""
    images, labels, test_images, test_labels = digits
    targets = np.eye(10, dtype=np.float32)[labels]
    gradient, batched = jit(grad(mse)), jit(vmap(mlp, in_axes=(None, 0)))

    @jit
    def update(params, mean, square, count, x, y):
        grads = gradient(params, x, y)
        mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, mean, grads)
        square = jax.tree.map(lambda s, g: 0.99 * s + 0.01 * g**2, square, grads)
        rate = 0.01 * jnp.sqrt(1 - 0.99**count) / (1 - 0.9**count)
        step = lambda p, m, s: p - rate * m / (jnp.sqrt(s) + 1e-6)
        return jax.tree.map(step, params, mean, square), mean, square

    params = initial(random.PRNGKey(1), [64, 128, 10])
    # the gradient in the last bias by hand: twice the mean residual, over ten outputs
    residual = np.asarray(batched(params, images[:128])) - targets[:128]
    slope = gradient(params, images[:128], targets[:128])[-1][1]
    close(slope, 2 * np.mean(residual, axis=0) / 10, rtol=1e-4)
    mean = square = jax.tree.map(jnp.zeros_like, params)
    for count in range(1, 151):
        rows = np.random.default_rng(count).choice(len(images), 128, replace=False)
        params, mean, square = update(
            params, mean, square, np.float32(count), images[rows], targets[rows]
        )
    best = np.argmax(np.asarray(batched(params, test_images)), axis=1)
    assert np.mean(best == test_labels) > 0.95


# ---- 18. an oscillator


def test_harmonic_oscillator(close):
    @jit
    def simulate(x, v, dt, steps):
        def leapfrog(_, state):
            x, v = state
            v = v - 0.5 * dt * x
            x = x + dt * v
            return x, v - 0.5 * dt * x

        return lax.fori_loop(0, steps, leapfrog, (x, v))

    for steps in (0, 10, 500):
        # leapfrog turns by an angle whose cosine is 1 - dt^2 / 2
        angle = steps * np.arccos(1 - 0.01**2 / 2)
        x, v = simulate(1.0, 0.0, 0.01, steps)
        close(x, np.cos(angle), rtol=1e-4, atol=1e-4)
        close(v, -np.sin(angle) * np.sqrt(1 - 0.01**2 / 4), rtol=1e-4, atol=1e-4)
    assert simulate._cache_size() == 1


# ---- 19. learning to learn


def test_maml(run_heavy, close):
    """A step down the gradient of a quadratic, then the gradient through that step, by hand."""
    rate = 0.1

    def loss(params, x, y):
        return jnp.mean((params["w"] * x + params["b"] - y) ** 2)

    def adapted(params, x, y):
        return jax.tree_map(lambda p, g: p - rate * g, params, grad(loss)(params, x, y))

    def meta(params, xs, ys):
        return vmap(lambda x, y: loss(adapted(params, x[:4], y[:4]), x[4:], y[4:]))(xs, ys).mean()

    xs = RNG.normal(size=(3, 8)).astype(np.float32)
    ys = (np.array([[1.0], [-2.0], [0.5]]) * xs + 1).astype(np.float32)
    params = {"w": np.float32(0.3), "b": np.float32(-0.2)}
    expected = np.zeros(2)
    for x, y in zip(xs.astype(float), ys.astype(float), strict=True):
        first, second = (np.stack([part, np.ones(4)], 1) for part in (x[:4], x[4:]))
        theta = np.array([0.3, -0.2])
        inner = theta - rate * 2 / 4 * first.T @ (first @ theta - y[:4])
        outer = 2 / 4 * second.T @ (second @ inner - y[4:])
        expected += (np.eye(2) - rate * 2 / 4 * first.T @ first) @ outer / 3
    close(run_heavy(grad(meta))(params, xs, ys), {"w": expected[0], "b": expected[1]}, rtol=1e-4)
    for tree_map in (jax.tree_map, jax.tree_util.tree_map, jax.tree.map):
        assert tree_map(lambda a, b: a + b, {"w": [1, (2, None)]}, {"w": [3, (4, None)]}) == {
            "w": [4, (6, None)]
        }


# ---- 20. a quantum circuit


@pytest.mark.parametrize("wide", [False, True], ids=["complex64", "complex128"])
def test_quantum_circuit(wide, run_heavy, close):
    h = np.array([[1, 1], [1, -1]]) / np.sqrt(2)
    gates = np.stack([h, np.diag([1, 1j]), h, np.array([[0, 1], [1, 0]])])
    gates = gates.astype(np.complex128 if wide else np.complex64)

    def circuit(gates, state):
        def apply(i, state):
            state = jnp.tensordot(gates[i], state, axes=([1], [0]))
            return jnp.moveaxis(state, 0, -1)  # the next gate meets the next qubit

        return lax.fori_loop(0, len(gates), apply, state)

    def excited(angle, gates, state):
        turn = jnp.stack(
            [jnp.cos(angle), -1j * jnp.sin(angle), -1j * jnp.sin(angle), jnp.cos(angle)]
        )
        gates = gates.at[3].set(turn.reshape(2, 2).astype(gates.dtype))
        out = circuit(gates, state)
        return (abs(out[..., 1]) ** 2).sum()

    start = np.zeros((2, 2), gates.dtype)
    start[0, 0] = 1
    with jax.config.override("enable_x64", wide):
        found = run_heavy(circuit)(jnp.array(gates), jnp.array(start))
        assert found.dtype == gates.dtype
        first, second = gates[2] @ gates[0], gates[3] @ gates[1]
        tight = 1e-12 if wide else 1e-5
        close(found, (np.kron(first, second) @ start.ravel()).reshape(2, 2), tight, tight)
        # The second qubit starts at |0> and turns: sin^2(angle), whose slope is sin(2 angle).
        angle = jnp.asarray(0.3, jnp.float64 if wide else jnp.float32)
        value, slope = run_heavy(jax.value_and_grad(excited))(
            angle, jnp.array(gates), jnp.array(start)
        )
        close([value, slope], [np.sin(0.3) ** 2, np.sin(0.6)], tight, tight)


# ---- 21. an ordinary differential equation


def slope(y, _t, damping, stiffness):
    return jnp.stack([y[1], -damping * y[1] - stiffness * y[0]])


def test_damped_oscillator(run_heavy, close):
    y0, times = np.array([1.0, 0.0], np.float32), np.linspace(0, 5, 6, dtype=np.float32)

    def expected(damping=0.3, stiffness=2.0, start=1.0):
        return integrate.odeint(
            lambda y, _: [y[1], -damping * y[1] - stiffness * y[0]],
            [start, 0.0],
            times.astype(float),
            rtol=1e-10,
            atol=1e-10,
        )

    program = run_heavy(lambda d, k: odeint(slope, y0, times, d, k))
    close(program(0.3, 2.0), expected(), rtol=1e-3, atol=1e-4)
    again = run_heavy(lambda d, k: odeint(slope, y0, times, args=(d, k)))
    close(again(0.3, 2.0), program(0.3, 2.0), rtol=1e-6)

    def loss(start, d, k):
        return (odeint(slope, y0 * start, times, d, k) ** 2).sum()

    def difference(name, value, step=1e-4):
        sides = [(expected(**{name: value + s}) ** 2).sum() for s in (step, -step)]
        return (sides[0] - sides[1]) / (2 * step)

    found = run_heavy(grad(loss, (0, 1, 2)))(1.0, 0.3, 2.0)
    wanted = difference("start", 1.0), difference("damping", 0.3), difference("stiffness", 2.0)
    close(found, wanted, rtol=1e-3, atol=1e-3)
