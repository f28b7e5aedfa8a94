"""SciPy on Arrays by its array API support: NumPy's results, or the refusal to assign."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp

pytestmark = pytest.mark.usefixtures("backend")
RNG = np.random.default_rng(0)
X, V, W = RNG.normal(size=(20, 4)), RNG.normal(size=32), RNG.normal(size=32)
P = np.abs(V) + 0.1


def rows(module, names, *args):
    return [(f"scipy.{module}.{name}", args) for name in names.split()]


WORKING = [
    *rows("special", "gammaln erf ndtr i0 expit log_ndtr softmax entr", P),
    *rows("special", "xlogy", P, P + 1),
    *rows("stats", "skew kurtosis moment gmean hmean sem circmean entropy rankdata", P),
    *rows("signal", "convolve fftconvolve", V, W[:5]),
    *rows("signal", "detrend", V),
    *rows("signal", "lfilter", np.array([1.0, 0.5]), np.array([1.0, 0.2]), V),
    *rows("cluster.vq", "vq", X, X[:3]),
    *rows("fft", "fft dct", V),
    *rows("fft", "rfftn", X),
    *rows("integrate", "trapezoid cumulative_trapezoid", V),
]
# What assigns to a part of its own array, which an Array refuses. Not to be had without a change
# in SciPy: it takes every library but JAX for one whose arrays change.
ASSIGNING = [
    *rows("special", "logsumexp log_softmax", P),
    *rows("stats", "zscore variation", P),
    *rows("stats", "pearsonr mannwhitneyu", V, W),
    *rows("cluster.vq", "whiten", X),
]


@pytest.fixture(autouse=True)
def wide():
    with ap.config.override("enable_x64", True):
        yield


def called(path, args):
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)(*args)


@pytest.mark.parametrize(("path", "args"), WORKING, ids=[path for path, _ in WORKING])
def test_functions(path, args, backend):
    expected, found = called(path, args), called(path, list(map(anp.asarray, args)))
    for a, b in zip(ap.tree.leaves(found), ap.tree.leaves(expected), strict=True):
        assert a.device.backend == backend
        np.testing.assert_allclose(np.asarray(a), b, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(("path", "args"), ASSIGNING, ids=[path for path, _ in ASSIGNING])
def test_assignments_are_refused(path, args):
    with pytest.raises(TypeError, match=r"an Array cannot change: write x = x\.at"):
        called(path, list(map(anp.asarray, args)))
