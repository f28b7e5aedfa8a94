"""The errors that JAX documents: raised here for the same faults, with the line and the cure."""

from __future__ import annotations

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp
from arrayport import errors, lax
from arrayport.experimental import checkify, io_callback


def leaked(x):
    kept = []
    ap.jit(lambda v: kept.append(v * 2) or v)(x)
    return kept[0] + 1


def reused(_):
    with ap.debug_key_reuse(True):
        key = ap.random.key(0)
        return ap.random.normal(key) + ap.random.normal(key)


def failed(x):
    checkify.check((x > 0).all(), "{} is not positive", x)


# name: the error, what does it, the cure that is named
FAULTS = {
    "a size": ("ConcretizationTypeError", ap.jit(anp.arange), "static"),
    "a float": ("ConcretizationTypeError", ap.jit(lambda v: float(v[0])), "static"),
    "item": ("ConcretizationTypeError", ap.jit(lambda v: v[0].item()), "static"),
    "tolist": ("ConcretizationTypeError", ap.jit(lambda v: v.tolist()), "static"),
    "nonzero": ("ConcretizationTypeError", ap.jit(anp.nonzero), "size="),
    "if": ("TracerBoolConversionError", ap.jit(lambda v: 1 if v[0] > 0 else 2), "lax.cond"),
    "while": (
        "TracerBoolConversionError",
        lambda v: lax.scan(lambda c, a: (c, 0 if a else 1), 0, v),
        "lax.while_loop",
    ),
    "range": ("TracerIntegerConversionError", ap.jit(lambda v: range(v[0])), "fori_loop"),
    "a list's index": (
        "TracerIntegerConversionError",
        ap.jit(lambda v: [1, 2][v[0]]),
        "index with",
    ),
    "asarray": ("TracerArrayConversionError", ap.jit(np.asarray), "arrayport.numpy"),
    "a mask": ("NonConcreteBooleanIndexError", ap.jit(lambda v: v[v > 1]), "numpy.where"),
    "a leak": ("UnexpectedTracerError", leaked, "return it"),
    "a key": ("KeyReuseError", reused, "random.split"),
    "a check": ("JaxRuntimeError", failed, ""),
}
BASES = {
    "ConcretizationTypeError": errors.JAXTypeError,
    "TracerBoolConversionError": errors.ConcretizationTypeError,
    "TracerIntegerConversionError": errors.JAXTypeError,
    "TracerArrayConversionError": errors.JAXTypeError,
    "NonConcreteBooleanIndexError": IndexError,
    "UnexpectedTracerError": errors.JAXTypeError,
    "KeyReuseError": errors.JAXTypeError,
    "JaxRuntimeError": RuntimeError,
    "JaxprTypeError": TypeError,
}


@pytest.mark.parametrize("name", FAULTS)
def test_errors_that_jax_documents(name, backend):
    if (name, backend) == ("a key", "cupy-sim"):
        pytest.skip("CuPy has no element type for keys")
    kind, fault, cure = FAULTS[name]
    with pytest.raises(getattr(errors, kind)) as caught:
        fault(anp.array([2, 0]))
    message = str(caught.value)
    assert cure in message
    assert "test_errors.py:" in message or "See https" in message


@pytest.mark.parametrize("name", BASES)
def test_bases_are_jaxs(name):
    assert issubclass(getattr(errors, name), BASES[name])
    jax = pytest.importorskip("jax", reason="the classes are jax's")
    theirs = {c.__name__ for c in getattr(jax.errors, name).__mro__} - {"_JAXErrorMixin"}
    assert theirs <= {c.__name__ for c in getattr(errors, name).__mro__}


@pytest.mark.usefixtures("backend")
def test_what_a_callback_raises():
    def run():
        ap.jit(lambda v: io_callback(lambda _: 1 / 0, None, v))(anp.ones(2))
        ap.effects_barrier()

    with pytest.raises(errors.JaxRuntimeError, match="ZeroDivisionError"):
        run()
