"""Equivalence finds what differs, shrinks it, and prints a program that shows it again."""

from __future__ import annotations

import subprocess
import sys
from functools import partial, wraps
from importlib.util import find_spec

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp
from arrayport import testing
from arrayport.testing import equivalence, reproductions, strategies

NAMES = ["numpy", "cupy-sim"]


def smoother(x, y):
    return {"sum": anp.tanh(x) + y, "size": x.size}


def differs(x):
    """Is wrong on one backend, for numbers above 3/4."""
    wrong = not isinstance(x, ap.core.array.Tracer) and x.device.backend == "cupy-sim"
    return anp.where(x > 0.75, x * 2, x) if wrong else x


def branches(x):
    """Is another function while it is traced."""
    return x * 0 if isinstance(x, ap.core.array.Tracer) else x * 1


def test_what_is_equivalent_passes():
    shapes = strategies.mutually_broadcastable(2)
    pair = shapes.flatmap(
        lambda s: equivalence.st.tuples(*[strategies.arrays("float32", shape) for shape in s])
    )
    testing.assert_equivalent(lambda xy: smoother(*xy), pair, on=NAMES, max_examples=15)
    whole = strategies.dtypes("integral", "bool")
    testing.assert_equivalent(lambda x: anp.sum(x, -1), strategies.arrays(whole, (2, 3)), on=NAMES)


def test_static_arguments_stay_as_they_are():
    numbers = equivalence.st.integers(0, 3)
    matrices = strategies.arrays(shape=(2, 2))
    testing.assert_equivalent(anp.roll, matrices, numbers, on=NAMES, max_examples=10)
    testing.assert_equivalent(anp.zeros, numbers, on=NAMES, max_examples=5)


def test_what_is_no_strategy_is_itself_the_argument():
    x = np.float32([0.5, -2.0])
    testing.assert_equivalent(smoother, x, anp.asarray(x), on=NAMES)
    testing.assert_equivalent(anp.roll, strategies.arrays(shape=(3,)), 1, on=NAMES, max_examples=3)
    with pytest.raises(AssertionError, match="cupy-sim is not that on numpy"):
        testing.assert_equivalent(differs, np.float32([1.0]), on=NAMES, laws=["value"])


def test_whole_numbers_that_differ_do_not_agree():
    def counts(x):
        return anp.asarray(3) + (x.device.backend != "numpy")

    with pytest.raises(AssertionError, match="1 apart"):
        testing.assert_equivalent(counts, np.float32([1.0]), on=NAMES, laws=["value"])


@pytest.mark.skipif(find_spec("jax") is None, reason="it is XLA that flushes")
def test_quotients_that_xla_flushes_agree():
    reciprocal = lambda x: 1 / x
    floats = strategies.arrays(shape=(2,))
    testing.assert_equivalent(reciprocal, floats, on=["numpy", "jax"], laws=["value", "grad"])
    exact = testing.Ulps(64, of_largest=True)
    small = [np.float32([1e38, 2e38])]
    with pytest.raises(AssertionError, match="value on jax"):
        testing.check_equivalent(reciprocal, small, "value", "jax", tolerance=exact)


@pytest.mark.parametrize(
    ("function", "law", "says"),
    [(differs, "value", "cupy-sim"), (branches, "jit", "apart"), (branches, "vmap", "apart")],
)
def test_a_failure_is_shrunk_to_a_program(function, law, says):
    strategy = strategies.arrays(shape=strategies.shapes(min_dims=1))
    with pytest.raises(AssertionError, match=says) as caught:
        testing.assert_equivalent(function, strategy, on=NAMES, laws=[law])
    program = str(caught.value).partition("\n\n")[2]
    args = next(line for line in program.splitlines() if line.startswith("args = "))
    assert ".reshape((1,))" in args
    pasted(program, says)


def pasted(program, *says):
    """Run a program as whoever pastes it does, in a process that knows nothing of this file."""
    command = [sys.executable, "-P", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")
    assert "AssertionError" in done.stderr, program + done.stderr
    assert all(words in done.stderr for words in says), done.stderr


FACTOR = 2.0


def helper(x):
    return x * FACTOR


def test_what_a_function_uses_is_pasted_with_it():
    shift, table = np.float32([0.25]), {"a": [1, (2.0,)]}

    def nested(y: ap.Array, scale: float = 3.0) -> ap.Array:
        wrong = y.device.backend == "cupy-sim"
        return helper(y) * scale + shift + (table["a"][0] if wrong else 0)

    with pytest.raises(AssertionError) as caught:
        testing.assert_equivalent(nested, strategies.arrays(shape=(1,)), on=NAMES, laws=["value"])
    pasted(str(caught.value).partition("\n\n")[2], "value on cupy-sim is not that on numpy")


def test_lambdas_partials_and_wide_types_are_pasted():
    first = lambda x: x, lambda x, n: x * anp.asarray(1 + 1e-9 * (x.device.backend != "numpy")) * n
    with ap.config.override("enable_x64", True), pytest.raises(AssertionError) as caught:
        testing.assert_equivalent(
            partial(first[1], n=3),
            strategies.arrays("float64", shape=(2,)),
            on=NAMES,
            laws=["value"],
        )
    program = str(caught.value).partition("\n\n")[2]
    assert "enable_x64" in program
    pasted(program, "value on cupy-sim")


def test_helpers_of_any_name_and_wrapped_functions_are_pasted():
    def f(x):
        return x + (x.device.backend != "numpy")

    def twice(inner):
        @wraps(inner)
        def both(x):
            return inner(inner(x))

        return both

    for function in (lambda x: f(x) * 2, twice(f)):
        with pytest.raises(AssertionError) as caught:
            testing.assert_equivalent(
                function, strategies.arrays(shape=()), on=NAMES, laws=["value"]
            )
        pasted(str(caught.value).partition("\n\n")[2], "value on cupy-sim is not that on numpy")


def test_what_is_installed_is_imported():
    text = reproductions.reproduction(anp.linalg.norm, (np.float32([3, 4]),), "subject(*args)")
    assert "\nsubject = norm" in text
    names = {}
    exec(text, names)  # noqa: S102 - it is what is tested
    assert names["subject"] is anp.linalg.norm


def test_what_cannot_be_written_is_said():
    class Odd:
        def __call__(self, x):
            return x

    text = reproductions.reproduction(Odd(), (), "")
    assert "subject = ...  # <" in text


def test_gradients_are_compared(monkeypatch):
    seen = []
    kept = equivalence._gradient
    monkeypatch.setattr(equivalence, "_gradient", lambda f, a: seen.append(a) or kept(f, a))
    testing.check_equivalent(anp.sin, [np.float32([0.5])], "grad", "cupy-sim")
    assert len(seen) == 3  # one to see whether there is any, then two to compare
    testing.check_equivalent(anp.sin, [np.float32([np.inf])], "grad", "cupy-sim")
    testing.check_equivalent(anp.argmax, [np.float32([1, 2])], "grad", "cupy-sim")
    assert len(seen) == 3


def test_arguments_are_written_to_the_last_bit():
    args = (
        np.array([[1 / 3, -0.0], [np.nan, -np.inf]]),
        np.array(complex(np.nan, -np.inf), np.complex64),
        np.array([1.5], "bfloat16"),
        {"a": [np.array(True), 2, "x"]},
        np.zeros((0, 2), np.int8),
    )
    names = {"np": np, "inf": np.inf, "nan": np.nan}
    again = eval(reproductions.literal(args), names)  # noqa: S307 - it is what is tested
    for x, y in zip(args[:3], again[:3], strict=True):
        assert (x.dtype, x.shape, x.tobytes()) == (y.dtype, y.shape, y.tobytes())
    assert again[3]["a"][0].dtype == bool
    assert again[3]["a"][1:] == [2, "x"]
    assert again[4].shape == (0, 2)


def test_wrong_laws_are_named():
    with pytest.raises(ValueError, match="'vjp' is unknown"):
        testing.assert_equivalent(anp.sin, strategies.arrays(), laws=["vjp"])
    with pytest.raises(ap.errors.BackendNotFoundError, match="'nonsense' is unknown"):
        testing.assert_equivalent(anp.sin, strategies.arrays(), on=["numpy", "nonsense"])


def test_traces_are_counted():
    f = ap.jit(testing.assert_max_traces(lambda x: x + 1, 1))
    for _ in range(3):
        f(anp.zeros(2))
    with pytest.raises(AssertionError, match="traced 2 times"):
        f(anp.zeros(3))
