"""Generated kernels beside CuPy's own functions: the same numbers, and how long both take."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from arrayport_backends.cupy import compiler

import arrayport as ap
import arrayport.numpy as anp
from tests import cuda_host

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "chain of ten": lambda x: anp.tanh(x * 2 + 1) * anp.exp(-x * x) + anp.sin(x) / (1 + x * x),
    "softmax": lambda x: ap.nn.softmax(x, axis=1),
    "layer norm": lambda x: (x - anp.mean(x, axis=1, keepdims=True)) / anp.std(x),
    "sum of all": lambda x: anp.sum(x * x),
    "sums of columns": lambda x: anp.sum(anp.abs(x), axis=0),
    "gradient": ap.grad(lambda x: anp.sum(anp.log1p(anp.exp(x)) * x)),
}
REPEATS = 20


def microseconds(function: Callable[[Any], Any], x: Any) -> float:
    """Time a call, the device done."""
    best = float("inf")
    for _ in range(REPEATS):
        start = time.perf_counter()
        ap.block_until_ready(function(x))
        best = min(best, time.perf_counter() - start)
    return best * 1e6


def main(backend: str, rows: int) -> int:
    """Print a table; 1 if a kernel's numbers are not CuPy's."""
    patch, bad = pytest.MonkeyPatch(), 0
    patch.setattr(compiler, "COMPILING", 0)
    if backend == "cupy-sim":
        cuda_host.switch_on(patch)
    print(f"{'kernels':<18}{'CuPy us':>10}{'kernel us':>11}{'times':>7}")
    with ap.use_backend(backend):
        x = anp.asarray(np.random.default_rng(0).standard_normal((rows, 1024)), "float32")
        for name, function in FUNCTIONS.items():
            fused = ap.jit(function)
            got, want = np.asarray(fused(x)), np.asarray(function(x))
            same = np.allclose(got, want, rtol=1e-4, atol=1e-5 * np.max(np.abs(want)))
            bad += not same
            plain, kernel = microseconds(function, x), microseconds(fused, x)
            note = "" if same else "  other numbers"
            print(f"{name:<18}{plain:>10.0f}{kernel:>11.0f}{plain / kernel:>7.1f}{note}")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
