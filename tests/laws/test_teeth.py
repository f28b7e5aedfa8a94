"""The laws can fail: each of them finds a rule or a kernel that was made wrong on purpose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from arrayport_conformance import laws
from arrayport_conformance.catalogue import ROWS, Row
from arrayport_conformance.catalogue.rows import Call
from hypothesis.errors import UnsatisfiedAssumption

import arrayport as ap
from arrayport.core import backend as backends
from arrayport.core.array import Aval
from arrayport.core.errors import ProgramError
from arrayport.core.primitive import REGISTRY

KNOWN = {row.name: row for row in ROWS}


def breaks(law: Callable[[Row, Call], None], name: str) -> bool:
    """Tell whether a law fails for any example of a row."""
    with ap.use_backend("numpy"):
        for call in laws.examples(KNOWN[name]):
            try:
                law(KNOWN[name], call)
            except UnsatisfiedAssumption:
                continue  # of integers, where the law is of derivatives
            except (AssertionError, ProgramError, TypeError, ValueError):
                return True
    return False


def test_nothing_is_wrong_yet():
    for law in (laws.jit, laws.vmap, laws.forward, laws.reverse, laws.second, laws.abstract):
        assert not breaks(law, "numpy.tanh")
        assert not breaks(law, "numpy.cumsum")
        assert not breaks(law, "numpy.matmul")


@pytest.mark.parametrize("law", [laws.forward, laws.second], ids=lambda law: law.__name__)
def test_a_wrong_partial(law: Any, replace_partials: Callable[..., None]):
    assert not breaks(law, "numpy.tanh")
    replace_partials("tanh", lambda g, ans, x: g * (1 - ans * x), needs=(0b11,))
    assert breaks(law, "numpy.tanh")


def test_a_wrong_transpose(monkeypatch: pytest.MonkeyPatch):
    cumsum = REGISTRY["cumsum"]
    monkeypatch.setattr(cumsum, "transposes", (lambda g, _x, **_axis: g,))
    assert breaks(laws.reverse, "numpy.cumsum")


def test_a_wrong_batch_rule(monkeypatch: pytest.MonkeyPatch):
    tanh = REGISTRY["tanh"]
    monkeypatch.setattr(tanh, "batch", lambda _size, xs, dims, /: (tanh.bind(xs[0]) * 1.5, dims[0]))
    assert breaks(laws.vmap, "numpy.tanh")


def test_a_wrong_abstract_rule(monkeypatch: pytest.MonkeyPatch):
    tanh = REGISTRY["tanh"]
    monkeypatch.setattr(tanh, "abstract", lambda x: Aval(x.shape, np.dtype(np.float32)))
    assert breaks(laws.abstract, "numpy.tanh")


@pytest.mark.parametrize(
    "wrong",
    [lambda x: np.tanh(x) * x.dtype.type(1.001), lambda x: np.tanh(x).astype("float16")],
    ids=["value", "dtype"],
)
def test_a_wrong_kernel(wrong: Any, replace_kernel: Callable[..., None]):
    pytest.importorskip("jax", reason="JAX is the reference of values")
    replace_kernel("tanh", wrong)
    assert breaks(laws.value, "numpy.tanh")


def test_a_kernel_that_writes_to_its_operand(replace_kernel: Callable[..., None]):
    def wrong(x: Any) -> Any:
        return np.tanh(x, out=x)

    replace_kernel("tanh", wrong)
    assert breaks(laws.inputs, "numpy.tanh")


def test_a_wrong_gradient(replace_partials: Callable[..., None]):
    pytest.importorskip("jax", reason="JAX is the reference of gradients")
    assert not breaks(laws.gradients, "numpy.fabs")
    replace_partials("abs", lambda g, _ans, _x: g, needs=(0,))
    assert breaks(laws.gradients, "numpy.fabs")


def test_a_compiled_program_that_differs(monkeypatch: pytest.MonkeyPatch):
    kernels = backends.get("numpy").kernels
    monkeypatch.setitem(kernels, REGISTRY["tanh"], lambda x: np.tanh(x) + x.dtype.type(1))
    assert breaks(laws.programs, "numpy.tanh")
