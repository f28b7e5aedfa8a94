"""Functions that a native engine runs at once: one program, the same answers, the same errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp
from arrayport import random
from arrayport.core.units import unit
from arrayport.scipy.linalg import block_diag

jax = pytest.importorskip("jax", reason="JAX is the backend with an engine of its own")

X = np.linspace(0.5, 4.0, 12).reshape(3, 4)


@pytest.fixture
def programs() -> Iterator[list[str]]:
    """Collect a mark for each program that JAX compiles."""
    found: list[str] = []

    def listener(event: str, _seconds: float, **_: Any) -> None:
        if "backend_compile" in event:
            found.append(event)

    jax.monitoring.register_event_duration_secs_listener(listener)
    with ap.use_backend("jax"):
        yield found
    found.append("")  # the listener stays, the list is nobody's


@pytest.mark.parametrize(
    ("ours", "expected"),
    [
        (lambda x: anp.median(x, axis=0), lambda x: np.median(x, axis=0)),
        (lambda x: anp.percentile(x, 30.0), lambda x: np.percentile(x, 30.0)),
        (lambda x: anp.var(x, axis=1, keepdims=True), lambda x: np.var(x, axis=1, keepdims=True)),
        (lambda x: anp.searchsorted(x[0], x), lambda x: np.searchsorted(x[0], x)),
        (anp.cov, np.cov),
        (lambda x: anp.linalg.norm(x, 1), lambda x: np.linalg.norm(x, 1)),
        (lambda x: anp.gradient(x, 2.0, axis=1), lambda x: np.gradient(x, 2.0, axis=1)),
        (lambda x: anp.block([[x, x], [x, x]]), lambda x: np.block([[x, x], [x, x]])),
        (lambda x: block_diag(x, x), lambda x: np.kron(np.eye(2), x)),
        (lambda x: anp.pad(x, 2, "reflect"), lambda x: np.pad(x, 2, "reflect")),
    ],
    ids=[
        *("median", "percentile", "var", "searchsorted", "cov", "norm"),
        *("gradient", "block", "block_diag", "pad"),
    ],
)
def test_a_call_is_one_program(
    ours: Callable[..., Any], expected: Callable[..., Any], programs: list[str]
) -> None:
    x = anp.asarray(X)
    before = len(programs)
    found = ours(x)
    assert len(programs) - before <= 2  # x[0] within a case is another
    np.testing.assert_allclose(np.asarray(found), expected(X), rtol=1e-5)
    before = len(programs)
    ours(x)
    assert len(programs) == before


def test_operands_are_no_part_of_a_program(programs: list[str]) -> None:
    x, key = anp.asarray(X), random.key(0)
    for calls in (
        [lambda i=i: anp.quantile(x, i / 10) for i in range(4)],
        [lambda i=i: anp.linspace(0, i, 3) for i in range(1, 5)],
        [lambda i=i: anp.isclose(x, i) for i in range(4)],
        [lambda i=i: random.fold_in(key, i) for i in range(4)],
        [lambda i=i: random.randint(key, (3,), 0, i) for i in range(1, 5)],
    ):
        calls[0]()
        before = len(programs)
        for call in calls[1:]:
            call()
        assert len(programs) == before


@pytest.mark.usefixtures("programs")
def test_what_no_program_can_take_runs_step_by_step() -> None:
    x = anp.asarray(X)
    rows = np.linalg.norm(X, axis=1)
    np.testing.assert_allclose(np.asarray(anp.linalg.norm(x, axis=anp.asarray(1))), rows, 1e-6)
    np.testing.assert_allclose(np.asarray(anp.mean(X, axis=(0,))), X.mean(0), rtol=1e-6)
    with pytest.raises(TypeError, match="a must be an array or a number"):
        anp.mean(X.tolist())
    assert random.normal(random.key(0), [2, 3]).shape == (2, 3)
    with pytest.raises(TypeError):
        anp.median("x")
    with pytest.raises(ValueError, match="axis"):
        anp.median(x, axis=5)
    wide = np.asarray(random.key_data(random.fold_in(random.key(0), 2**32 - 1)))
    theirs = jax.random.key_data(jax.random.fold_in(jax.random.key(0), 2**32 - 1))
    np.testing.assert_array_equal(wide, np.asarray(theirs))


def test_within_a_trace_and_on_our_engine_it_is_the_function_itself() -> None:
    seen = []

    @unit("x")
    def doubled(x: Any, times: int = 2) -> Any:
        """Say how often."""
        seen.append(type(x).__name__)
        return x * times

    assert (doubled.__name__, doubled.__doc__) == ("doubled", "Say how often.")
    with ap.use_backend("numpy"):
        assert [float(doubled(anp.asarray(1.5))) for _ in range(3)] == [3.0] * 3
        assert float(ap.jit(doubled)(anp.asarray(1.5))) == 3.0
    assert len(seen) == 4
    with ap.use_backend("jax"):
        assert [float(doubled(anp.asarray(1.5))) for _ in range(3)] == [3.0] * 3
        assert len(seen) == 5
        assert float(ap.grad(lambda x: doubled(x, times=5))(anp.asarray(1.5))) == 5.0
        assert ap.vmap(doubled)(anp.arange(3)).tolist() == [0, 2, 4]
        with ap.disable_jit():
            assert float(doubled(anp.asarray(1.5))) == 3.0
    assert seen[-1] == "Array"


@pytest.mark.parametrize(
    ("operation", "other"),
    [
        (anp.add, np.arange(4)),  # broadcast and converted
        (anp.less, 2.0),
        (anp.divide, np.arange(12, dtype=np.int8).reshape(3, 4) + 1),
    ],
    ids=["add", "less", "divide"],
)
def test_a_binary_operation_is_one_program(
    operation: Callable[..., Any], other: Any, programs: list[str]
) -> None:
    x, y = anp.asarray(X), other if isinstance(other, float) else anp.asarray(other)
    jax.clear_caches()
    before = len(programs)
    left, right = operation(x, y), operation(y, x)
    assert len(programs) == before + 2
    expected = getattr(np, operation.__name__)
    np.testing.assert_allclose(np.asarray(left), expected(X, other), rtol=1e-6)
    np.testing.assert_allclose(np.asarray(right), expected(other, X), rtol=1e-6)


def test_an_integer_that_its_dtype_does_not_hold_raises_on_an_engine_too() -> None:
    with ap.use_backend("jax"):
        x = anp.arange(3, dtype="int8")
        with pytest.raises(OverflowError, match="300 does not fit int8"):
            x + 300
        np.testing.assert_array_equal(np.asarray(x - (-128)), np.int8([-128, -127, -126]))
        with pytest.raises(OverflowError, match="-1 does not fit uint8"):
            x.astype("uint8") + -1
