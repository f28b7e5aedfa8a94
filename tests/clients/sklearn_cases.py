"""scikit-learn on Arrays by its array API support: NumPy's results, or the refusal to assign."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp

pytestmark = pytest.mark.usefixtures("backend")
RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 4))
NEAR = np.abs(X[:7]) + 0.1
SEEN, GUESSED = (X[:, 0] > 0).astype(np.int64), (X[:, 0] + X[:, 1] > 0).astype(np.int64)
Y, Z = X[:, 2], X[:, 2] + 0.1 * X[:, 3]

CLASSES = "accuracy_score zero_one_loss confusion_matrix balanced_accuracy_score hamming_loss"
ERRORS = "mean_squared_error mean_absolute_error mean_absolute_percentage_error max_error"
PAIRS = "euclidean_distances linear_kernel polynomial_kernel rbf_kernel chi2_kernel"


def rows(module, names, *args):
    return [(f"sklearn.{module}.{name}", args) for name in names.split()]


METRICS = [
    *rows("metrics", CLASSES, SEEN, GUESSED),
    *rows("metrics", ERRORS, Y, Z),
    *rows("metrics.pairwise", PAIRS, np.abs(X), NEAR),
]
# What assigns to a part of its own array, which an Array refuses. Not to be had without a change
# in scikit-learn: it takes every library but JAX for one whose arrays change.
ASSIGNING = [
    *rows("metrics", "f1_score cohen_kappa_score", SEEN, GUESSED),
    *rows("metrics", "r2_score explained_variance_score", Y, Z),
    *rows("preprocessing", "minmax_scale normalize", X),
]


@pytest.fixture(autouse=True)
def wide():
    with ap.config.override("enable_x64", True):
        yield


def called(path, args):
    module, _, name = path.rpartition(".")
    with import_module("sklearn").config_context(array_api_dispatch=True):
        return getattr(import_module(module), name)(*map(anp.asarray, args))


def host(x):
    return np.asarray(x)


@pytest.mark.parametrize(("path", "args"), METRICS, ids=[path for path, _ in METRICS])
def test_metrics(path, args):
    module, _, name = path.rpartition(".")
    expected = getattr(import_module(module), name)(*args)
    np.testing.assert_allclose(host(called(path, args)), expected, rtol=1e-6, atol=1e-9)


def test_principal_components(backend):
    made = import_module("sklearn.decomposition").PCA
    expected = made(2, svd_solver="full").fit(X)
    with import_module("sklearn").config_context(array_api_dispatch=True):
        found = made(2, svd_solver="full").fit(anp.asarray(X))
        projected = found.transform(anp.asarray(X))
    assert projected.device.backend == backend
    np.testing.assert_allclose(host(found.explained_variance_), expected.explained_variance_)
    np.testing.assert_allclose(abs(host(projected)), abs(expected.transform(X)), atol=1e-9)


@pytest.mark.parametrize(("path", "args"), ASSIGNING, ids=[path for path, _ in ASSIGNING])
def test_assignments_are_refused(path, args):
    with pytest.raises(TypeError, match=r"an Array cannot change: write x = x\.at"):
        called(path, args)
