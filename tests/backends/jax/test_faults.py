"""Errors met under JAX's transformations: arrayport's classes, the user's line, what to write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from arrayport_backends.jax import backend

import arrayport as ap
import arrayport.numpy as anp

native = backend.native
errors = ap.errors
X = np.array([1, 2, 3], np.int32)

USES = [
    (lambda x: 1 if x[0] > 0 else 2, errors.TracerBoolConversionError, "lax.cond"),
    (lambda x: [10, 20, 30][x[0]], errors.TracerIntegerConversionError, "static_argnums"),
    (lambda x: range(x[0]), errors.TracerIntegerConversionError, "static_argnums"),
    (lambda x: float(x[0]), errors.ConcretizationTypeError, "static argument"),
    (np.asarray, errors.TracerArrayConversionError, "arrayport.numpy"),
]


@pytest.mark.parametrize(
    ("use", "error", "advice"), USES, ids=["if", "list", "range", "float", "numpy"]
)
@pytest.mark.parametrize("raw", [False, True], ids=["ours", "raw"])
def test_a_value_that_is_not_there(
    use: Callable[[Any], Any], error: type[Exception], advice: str, raw: bool
) -> None:
    x = jnp.array(X) if raw else ap.Array(jnp.array(X))
    with pytest.raises(error, match=r"test_faults\.py:\d+") as caught:
        native.jit(lambda a: use(a) is None or a)(x)
    assert advice in str(caught.value)
    assert isinstance(caught.value.__cause__, jax.errors.JAXTypeError) is raw


def test_a_mask_has_no_static_shape() -> None:
    x = jnp.arange(3.0)
    for given in (x, ap.Array(x)):
        with pytest.raises(errors.NonConcreteBooleanIndexError, match="test_faults"):
            native.jit(lambda a: a[a > 1])(given)


def test_a_leaked_tracer() -> None:
    kept: list[Any] = []
    native.jit(lambda x: kept.append(x) or x)(ap.Array(jnp.ones(2)))
    with pytest.raises(errors.UnexpectedTracerError, match="return it"):
        kept[0] + 1.0
    native.jit(lambda x: kept.append(x) or x)(jnp.ones(2))
    with pytest.raises(errors.UnexpectedTracerError, match="return it"):
        native.jit(lambda y: y + kept[1])(jnp.ones(2))


def test_values_are_there_while_only_derivatives_are_traced() -> None:
    def f(x: Any) -> Any:
        steps = int(x)
        return x**steps if x > 2 else x

    x = ap.Array(jnp.asarray(3.0))
    assert float(native.grad(f)(x)) == 27.0
    with pytest.raises(errors.TracerArrayConversionError, match="test_faults"):
        native.grad(lambda v: anp.sum(anp.asarray(np.sin(np.asarray(v)))))(x)


def test_traced_arrays_print_their_type() -> None:
    shown: list[str] = []
    native.jit(lambda x: shown.extend([repr(x), str(x), f"{x}"]) or x)(ap.Array(jnp.ones(2)))
    assert shown == ["Array<float32[2]>"] * 3


def test_bad_arguments_are_named() -> None:
    with pytest.raises(TypeError, match=r"argnums=1.*1 positional"):
        native.grad(lambda x: x, argnums=1)(1.0)
    with pytest.raises(TypeError, match="grad requires real- or complex-valued"):
        native.grad(lambda x: x)(3)
    with pytest.raises(TypeError, match="scalar-output"):
        native.grad(lambda x: x)(ap.Array(jnp.ones(2)))
    with pytest.raises(ValueError, match="Non-hashable static"):
        native.jit(lambda x, n: x * n, static_argnums=1)(1.0, [1])
