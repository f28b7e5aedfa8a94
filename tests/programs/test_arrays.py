"""Programs over arrays, as a user of JAX writes them: creation, updates, indexing, linalg, random.

NumPy says what they compute; gradients are held to formulas, random numbers to JAX's own.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import arrayport as jax
import arrayport.numpy as jnp
from arrayport import random

pytestmark = pytest.mark.usefixtures("backend")

RNG = np.random.default_rng(7)
MATRIX = RNG.normal(size=(4, 4)).astype(np.float32)
POSITIVE = MATRIX @ MATRIX.T + 4 * np.eye(4, dtype=np.float32)
GRID = np.arange(24, dtype=np.float32).reshape(4, 6)


# ---- 1. creation


def test_creation(run_heavy, close):
    def program(x):
        return {
            "list": jnp.array([[1, 2], [3, 4]]),
            "scalars": jnp.array([1.5, 2, True]),
            "scalar": jnp.array(3),
            "arrays": jnp.array([x[0], 2 * x[1]]),
            "numpy": jnp.array(GRID),
            "zeros": jnp.zeros((2, 3)),
            "ones": jnp.ones(3, dtype=jnp.int8),
            "full": jnp.full((2,), 7),
            "eye": jnp.eye(3),
            "arange": jnp.arange(10),
            "steps": jnp.arange(0, 1, 0.25),
            "linspace": jnp.linspace(0, 1, 5),
            "like": jnp.zeros_like(x),
            "complex": jnp.array([1 + 2j]),
        }

    made = run_heavy(program)(jnp.array([1.0, 2.0]))
    close(
        made,
        {
            "list": [[1, 2], [3, 4]],
            "scalars": [1.5, 2, 1],
            "scalar": 3,
            "arrays": [1, 4],
            "numpy": GRID,
            "zeros": np.zeros((2, 3)),
            "ones": np.ones(3),
            "full": [7, 7],
            "eye": np.eye(3),
            "arange": np.arange(10),
            "steps": [0, 0.25, 0.5, 0.75],
            "linspace": [0, 0.25, 0.5, 0.75, 1],
            "like": [0, 0],
            "complex": [1 + 2j],
        },
    )
    narrow = dict.fromkeys(("list", "scalar", "full", "arange"), "int32")
    dtypes = dict.fromkeys(made, "float32") | narrow | {"ones": "int8", "complex": "complex64"}
    assert {name: x.dtype.name for name, x in made.items()} == dtypes


TYPES = {"bool": "bool_"}
INTEGERS = [f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)]
FLOATS = ["float16", "bfloat16", "float32", "float64"]
DTYPES = ["bool", *INTEGERS, *FLOATS, "complex64", "complex128"]


@pytest.mark.parametrize("wide", [False, True], ids=["x32", "x64"])
def test_every_dtype(wide, run_heavy):
    """Without 64-bit types the wide names make the narrow ones; sums are NumPy's of that dtype."""

    def program(xs):
        return {name: (x + x, jnp.where(x == 1, x, x * x)) for name, x in xs.items()}

    narrow = {"int64": "int32", "uint64": "uint32", "float64": "float32", "complex128": "complex64"}
    jax.config.update("jax_enable_x64", wide)
    try:
        owns = {name: np.dtype(getattr(ml_dtypes, name, name)) for name in DTYPES}
        held = {n: own if wide else np.dtype(narrow.get(n, own)) for n, own in owns.items()}
        made = {n: jnp.array([0, 1, 1], dtype=getattr(jnp, TYPES.get(n, n))) for n in DTYPES}
        found = run_heavy(program)(made)
        for n in DTYPES:
            values = np.array([0, 1, 1], held[n])
            twice, same = found[n]
            assert {made[n].dtype, twice.dtype, same.dtype} == {held[n]}
            assert jnp.asarray(np.array([0, 1, 1], owns[n])).dtype == held[n]
            np.testing.assert_array_equal(np.asarray(twice), values + values)
            np.testing.assert_array_equal(np.asarray(same), values)
        assert jnp.arange(3).dtype == (np.int64 if wide else np.int32)
        assert jnp.ones(3).dtype == (np.float64 if wide else np.float32)
    finally:
        jax.config.update("jax_enable_x64", False)


def test_x64_by_environment(backend):
    program = (
        "import arrayport as jax, arrayport.numpy as jnp\n"
        "x = jax.jit(lambda x: x / 3)(jnp.arange(3))\n"
        "print(x.dtype, float(x[1]) == 1 / 3, x.device.backend)"
    )
    paths = [str(Path(jax.__file__).parents[1]), *filter(None, sys.path)]
    environment = os.environ | {
        "JAX_ENABLE_X64": "1",
        "ARRAYPORT_BACKEND": backend,
        "PYTHONPATH": os.pathsep.join(paths),
    }
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["float64", "True", backend]


# ---- 2. updates


def test_assignment_says_what_to_write(close):
    arr = jnp.zeros(3)
    with pytest.raises(TypeError, match=r"\.at\[0\]\.set\(5\)"):
        arr[0] = 5
    close(arr, np.zeros(3))
    close(arr.at[0].set(5), [5, 0, 0])


def updated(key, value, how):
    """Give what NumPy's ufunc.at makes of the grid."""
    out = GRID.copy()
    if how == "set":
        out[key] = value
    else:
        getattr(np, {"min": "minimum", "max": "maximum"}.get(how, how)).at(out, key, value)
    return out


KEYS = {
    "one": (1, 2),
    "slices": (slice(1, 3), slice(None, None, 2)),
    "negative step": (slice(None, None, -1), slice(4, 1, -2)),
    "ellipsis": (Ellipsis, 0),
    "newaxis": (None, slice(2), 3),
    "array": (np.array([0, 2, 2]),),
    "two arrays": (np.array([[0], [3]]), np.array([1, 1, 5])),
    "mixed": (slice(1, None), np.array([5, 0])),
    "mask": (GRID > 11,),
}


@pytest.mark.parametrize("name", KEYS)
def test_updates(name, run_heavy, close):
    key = KEYS[name]
    methods = ["set", "add", "subtract", "multiply", "divide", "power", "min", "max"]
    value = 2.0 if name == "mask" else np.full(GRID[key].shape, 2.0, np.float32)

    def program(x, value):
        made = {how: getattr(x.at[key], how)(value) for how in methods}
        return made | {"apply": x.at[key].apply(jnp.square)}

    found = run_heavy(program)(jnp.array(GRID), value)
    expected = {how: updated(key, value, how) for how in methods}
    times = updated(key, 1, "add") - GRID  # an element that is named twice is squared twice
    close(found, expected | {"apply": np.where(times, GRID ** (2.0**times), GRID)}, rtol=1e-4)
    if name != "mask":
        close(run_heavy(lambda x: x.at[key].get())(jnp.array(GRID)), GRID[key])


def test_update_modes(run_heavy, close):
    def program(x):
        beyond = jnp.array([1, 7, -9])
        return [
            x.at[beyond].set(9.0),
            x.at[beyond].set(9.0, mode="drop"),
            x.at[beyond].set(9.0, mode="clip"),
            x.at[beyond].get(mode="fill", fill_value=-1),
            x.at[beyond].get(mode="clip"),
            x.at[jnp.array([0, 3])].add(1.0, unique_indices=True, indices_are_sorted=True),
            x.at[jnp.array([3, 0])].add(1.0, mode="promise_in_bounds"),
        ]

    dropped = [0, 9, 2, 3]
    expected = [dropped, dropped, [9, 9, 2, 9], [1, -1, -1], [1, 3, 0], [1, 1, 2, 4], [1, 1, 2, 4]]
    close(run_heavy(program)(jnp.arange(4.0)), list(map(np.array, expected)))


# ---- 3. indexing


def test_indexing(run_heavy, close):
    rows, columns = np.array([3, 0, 3]), np.array([[1, 2], [5, 0]])

    def program(x, rows, library=jnp):
        return [
            x[1],
            x[-1, 2],
            x[1:3, ::-2],
            x[..., None, 1],
            x[rows],
            x[rows, 1:4],
            x[rows[:, None], columns[0]],
            x[:, columns],
            x[0, columns],
            library.take(x, columns, axis=1),
            library.take_along_axis(x, rows[None, :] + 1, axis=1),
            library.where(x > 7, x, -x),
            x[:, :1] + x[:1, :],
        ]

    close(run_heavy(program)(jnp.array(GRID), rows), program(GRID, rows, library=np))


def test_masks_outside_jit(close):
    x = jnp.array(GRID)
    close([x[x > 11], x[x[:, 0] > 5, 1]], [GRID[GRID > 11], GRID[GRID[:, 0] > 5, 1]])
    close(jnp.nonzero(x[0] > 3)[0], [4, 5])
    with pytest.raises(jax.errors.NonConcreteBooleanIndexError, match=r"numpy\.where"):
        jax.jit(lambda x: x[x > 11])(x)


def test_broadcasting(run, close):
    def program(x, y):
        return x + y, x * y, x < y, jnp.broadcast_to(y, (3, 4)), list(jnp.broadcast_arrays(x, y))

    x, y = np.arange(3.0).reshape(3, 1), np.arange(4.0).reshape(1, 4)
    expected = (x + y, x * y, x < y, np.broadcast_to(y, (3, 4)), [*np.broadcast_arrays(x, y)])
    close(run(program)(jnp.array(x), jnp.array(y)), expected)


# ---- 4. linear algebra, Fourier transforms


def test_linear_algebra(run_heavy, close):
    def program(a, p, b):
        values, vectors = jnp.linalg.eigh(p)
        u, s, vt = jnp.linalg.svd(a, full_matrices=False)
        q, r = jnp.linalg.qr(a)
        return {
            "inv": jnp.linalg.inv(p),
            "det": jnp.linalg.det(p),
            "slogdet": tuple(jnp.linalg.slogdet(a)),
            "solve": jnp.linalg.solve(a, b),
            "cholesky": jnp.linalg.cholesky(p),
            "eigh": (values, vectors * values @ vectors.T),
            "eigvalsh": jnp.linalg.eigvalsh(p),
            "svd": (s, u * s @ vt),
            "qr": (q @ r, q.T @ q, abs(jnp.diagonal(r))),
            "norms": [jnp.linalg.norm(a), jnp.linalg.norm(a, 1), jnp.linalg.norm(a, 2)],
            "pinv": jnp.linalg.pinv(a[:, :2]),
            "power": jnp.linalg.matrix_power(a, 3),
            "lstsq": jnp.linalg.lstsq(a[:, :2], b)[0],
            "rank": jnp.linalg.matrix_rank(p),
            "cond": jnp.linalg.cond(p),
        }

    a, p, b = MATRIX, POSITIVE, MATRIX[0]
    expected = {
        "inv": np.linalg.inv(p),
        "det": np.linalg.det(p),
        "slogdet": tuple(np.linalg.slogdet(a)),
        "solve": np.linalg.solve(a, b),
        "cholesky": np.linalg.cholesky(p),
        "eigh": (np.linalg.eigvalsh(p), p),
        "eigvalsh": np.linalg.eigvalsh(p),
        "svd": (np.linalg.svd(a, compute_uv=False), a),
        "qr": (a, np.eye(4), abs(np.diagonal(np.linalg.qr(a).R))),
        "norms": [np.linalg.norm(a), np.linalg.norm(a, 1), np.linalg.norm(a, 2)],
        "pinv": np.linalg.pinv(a[:, :2]),
        "power": np.linalg.matrix_power(a, 3),
        "lstsq": np.linalg.lstsq(a[:, :2], b)[0],
        "rank": 4,
        "cond": np.linalg.cond(p),
    }
    found = run_heavy(program)(jnp.array(a), jnp.array(p), jnp.array(b))
    close(found, expected, rtol=1e-4, atol=1e-4)


GRADIENTS = {
    # d det = det inv^T, d log det = inv^T, d tr(inv) = -(inv inv)^T, d norm = a / norm,
    # the sum of eigenvalues is the trace, that of squared singular values the squared norm
    "det": (jnp.linalg.det, lambda p: np.linalg.det(p) * np.linalg.inv(p).T),
    "slogdet": (lambda p: jnp.linalg.slogdet(p)[1], lambda p: np.linalg.inv(p).T),
    "inv": (lambda p: jnp.trace(jnp.linalg.inv(p)), lambda p: -np.linalg.matrix_power(p, -2).T),
    "norm": (jnp.linalg.norm, lambda p: p / np.linalg.norm(p)),
    "eigh": (lambda p: (jnp.linalg.eigh(p)[0] ** 2).sum(), lambda p: 2 * p),
    "svd": (lambda p: (jnp.linalg.svd(p, compute_uv=False) ** 2).sum(), lambda p: 2 * p),
    "qr": (lambda p: jnp.log(abs(jnp.diagonal(jnp.linalg.qr(p)[1]))).sum(), "slogdet"),
    "cholesky": (lambda p: 2 * jnp.log(jnp.diagonal(jnp.linalg.cholesky(p))).sum(), "slogdet"),
    "solve": (
        lambda p: jnp.linalg.solve(p, MATRIX[0]).sum(),
        lambda p: -np.outer(np.linalg.inv(p).T @ np.ones(4), np.linalg.solve(p, MATRIX[0])),
    ),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_of_linear_algebra(name, close):
    function, formula = GRADIENTS[name]
    formula = GRADIENTS[formula][1] if isinstance(formula, str) else formula
    found = jax.jit(jax.grad(function))(jnp.array(POSITIVE))
    expected = formula(POSITIVE.astype(np.float64))
    if name == "cholesky":  # which symmetrises what it is given
        found, expected = found + found.T, expected + expected.T
    close(found, expected, rtol=1e-3, atol=1e-4)


def test_eigenvalues_of_any_matrix(backend, run, close):
    def program(a):
        values, vectors = jnp.linalg.eig(a)
        return values, vectors * values @ jnp.linalg.inv(vectors)

    values, again = run(program)(jnp.array(MATRIX))
    assert values.device.backend == backend
    np.testing.assert_allclose(
        np.sort_complex(np.asarray(values)), np.sort_complex(np.linalg.eigvals(MATRIX)), rtol=1e-4
    )
    close(again, MATRIX, atol=1e-4)


def test_fourier_transforms(run_heavy, close):
    def program(x):
        return {
            "fft": jnp.fft.fft(x),
            "ifft": jnp.fft.ifft(jnp.fft.fft(x)).real,
            "rfft": jnp.fft.rfft(x),
            "irfft": jnp.fft.irfft(jnp.fft.rfft(x)),
            "fft2": jnp.fft.fft2(x),
            "fftn": jnp.fft.fftn(x, axes=(0,)),
            "freq": jnp.fft.fftfreq(6),
            "shift": jnp.fft.fftshift(x),
            "energy": jax.grad(lambda x: (abs(jnp.fft.fft(x)) ** 2).sum())(x),
        }

    expected = {
        "fft": np.fft.fft(GRID),
        "ifft": GRID,
        "rfft": np.fft.rfft(GRID),
        "irfft": GRID,
        "fft2": np.fft.fft2(GRID),
        "fftn": np.fft.fft(GRID, axis=0),
        "freq": np.fft.fftfreq(6),
        "shift": np.fft.fftshift(GRID),
        "energy": 2 * 6 * GRID,  # Parseval
    }
    close(run_heavy(program)(jnp.array(GRID)), expected, rtol=1e-4, atol=1e-3)


# ---- 5. random numbers

# What JAX 0.10 and 0.12 draw from these keys.
DRAWN = {
    "split": [[1832780943, 270669613], [64467757, 2916123636], [2465931498, 255383827]],
    "fold_in": [2547012911, 1371500959],
    "bits": [2098992034, 2919706841],
    "normal": [0.075925536, -0.48634264, 1.2903206],
    "uniform": [0.45532846, 0.57573509, -0.63661146],
    "randint": [4, 4, 1, 9, 9],
    "permutation": [4, 2, 5, 3, 0, 1],
    "choice": [1, 3, 9, 5],
    "categorical": [2, 2, 2, 2, 1, 2],
    "bernoulli": [False, False, True, True, True, True],
}


def drawn(key):
    first, second = random.split(key)
    return {
        "split": random.key_data(random.split(key, 3)),
        "fold_in": random.key_data(random.fold_in(key, 7)),
        "bits": random.bits(key, (2,)),
        "normal": random.normal(first, (3,)),
        "uniform": random.uniform(second, (3,), minval=-1, maxval=1),
        "randint": random.randint(key, (5,), 0, 10),
        "permutation": random.permutation(key, 6),
        "choice": random.choice(first, 10, (4,), replace=False),
        "categorical": random.categorical(key, jnp.log(jnp.array([0.1, 0.2, 0.7])), shape=(6,)),
        "bernoulli": random.bernoulli(second, 0.3, (6,)),
    }


def test_random_numbers(run_heavy, close):
    found = run_heavy(drawn)(random.PRNGKey(42))
    assert found.keys() == DRAWN.keys()
    for name, expected in DRAWN.items():
        exact = np.asarray(expected).dtype.kind in "iub"
        close(found[name], expected, rtol=0 if exact else 2e-6, atol=0 if exact else 1e-6)


def test_typed_keys(run_heavy, close):
    def program(key):
        first, second = random.split(key)
        several = jnp.stack([key, random.fold_in(key, 7)]).reshape(2, 1)[:, 0]
        return {
            "fold_in": random.key_data(several[1]),
            "normal": random.normal(first, (3,)),
            "uniform": random.uniform(second, (3,), minval=-1, maxval=1),
            "split": jax.vmap(random.key_data)(random.split(key, 3)),
        }

    key = random.key(42)
    assert (key.shape, jnp.issubdtype(key.dtype, jax.dtypes.prng_key)) == ((), True)
    found = run_heavy(program)(key)
    close(found, {name: DRAWN[name] for name in found}, rtol=2e-6, atol=1e-6)
