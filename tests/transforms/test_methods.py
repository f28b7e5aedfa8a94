"""A traced array has every method of a concrete one: no state of a trace may hide one."""

from __future__ import annotations

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp
from arrayport.core.methods import Methods
from arrayport.transforms.batching import BatchTracer
from arrayport.transforms.forward import JVPTracer
from arrayport.transforms.graph import GradTracer
from arrayport.transforms.staging import StagingTracer

X = np.array([[0.5, 2.0], [-1.0, 0.25]], np.float32)


@pytest.mark.parametrize("tracer", [BatchTracer, GradTracer, JVPTracer, StagingTracer])
def test_no_slot_of_a_tracer_hides_a_method(tracer):
    slots = {name for cls in tracer.__mro__ for name in vars(cls).get("__slots__", ())}
    assert not slots & set(vars(Methods))


@pytest.mark.parametrize("name", ["trace", "var", "std", "sum", "ptp", "cumsum", "ravel", "max"])
@pytest.mark.usefixtures("backend")
def test_methods_of_traced_arrays(name):
    def method(x):
        return getattr(x, name)()

    want = np.ptp(X) if name == "ptp" else getattr(X, name)()
    x = anp.asarray(X)
    for got in (
        method(x),
        ap.jit(method)(x),
        ap.vmap(method)(x[None])[0],
        ap.jvp(method, (x,), (x,))[0],
        ap.vjp(method, x)[0],
    ):
        np.testing.assert_allclose(np.asarray(got), want, rtol=1e-6)
