"""What holds Programs runs them on its own backend, which may have its library from another."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from arrayport_backends.cupy.backend import CupyBackend
from arrayport_backends.cupy.simulated import backend as model

import arrayport as ap
import arrayport.numpy as anp
from arrayport import lax
from arrayport.core.backend import Device
from arrayport.ops.elementwise import sin_p

HOLDERS = {
    "jit": ap.jit(anp.sin),
    "checkpoint": ap.checkpoint(anp.sin),
    "cond": lambda x: lax.cond(x[0] > 0, anp.sin, anp.cos, x),
    "while": lambda x: lax.while_loop(lambda c: c[0] < 2, anp.sin, x),
    "scan": lambda x: lax.scan(lambda c, _: (anp.sin(c), None), x, None, length=1)[0],
}


@pytest.mark.parametrize("name", HOLDERS)
def test_programs_run_on_the_backend_that_holds_them(name):
    mine = CupyBackend(replace(model.lib, name="mine"), model.raw_type, [Device("mine", "gpu")])
    mine.kernels[sin_p] = lambda x: x + x
    with ap.use_backend("cupy-sim"):
        x = anp.ones(3, "float32")
        program = ap.jit(HOLDERS[name]).trace(x).program
        (found,) = mine.compile(program).run(x.raw)
    np.testing.assert_array_equal(found.get(), [2, 2, 2])
