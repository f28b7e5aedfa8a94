"""array-api-extra on arrayport's namespace: every public function, against the same on NumPy's."""

from __future__ import annotations

import array_api_extra as xpx
import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp

pytestmark = [
    pytest.mark.usefixtures("backend", "wide"),
    pytest.mark.filterwarnings("ignore:.* is deprecated:DeprecationWarning"),
]
RNG = np.random.default_rng(0)
X, V, Z = RNG.normal(size=(3, 4)), RNG.normal(size=6), np.array([1 + 2j, -1j])
N = np.where(V > 0, np.nan, V)
I, J = np.array([3, 1, 1, 5]), np.array([1, 5, 7])

# A call of each.
CALLS = {
    "angle": ([Z], {"deg": True}),
    "argpartition": ([V[:2], 1], {}),
    "atleast_nd": ([V], {"ndim": 3}),
    "cov": ([X], {}),
    "deg2rad": ([V], {}),
    "diag_indices": ([3], {}),
    "expand_dims": ([V], {"axis": (0, 2)}),
    "isin": ([I, J], {}),
    "kron": ([X, V], {}),
    "lazy_apply": ([np.cbrt, V], {"as_numpy": True}),
    "nan_to_num": ([N], {"fill_value": 2.0}),
    "nanmax": ([N], {}),
    "nanmean": ([N], {}),
    "nanmin": ([N], {}),
    "nansum": ([N], {}),
    "nunique": ([I], {}),
    "one_hot": ([J, 8], {}),
    "partition": ([V[:2], 1], {}),
    "rad2deg": ([V], {}),
    "searchsorted": ([J, I], {"side": "right"}),
    "setdiff1d": ([I, J], {}),
    "sinc": ([V], {}),
    "tril_indices": ([3], {}),
    "triu_indices": ([3], {"offset": 1}),
    "union1d": ([I, J], {}),
    "unravel_index": ([I, (2, 3)], {}),
}
# What assigns to a part of its own array, which an Array refuses. Not to be had without a change
# there: it takes every library but JAX for one whose arrays change.
ASSIGNING = {
    "apply_where": lambda a: xpx.apply_where(a(V > 0), a(V), anp.log, fill_value=7.0),
    "at": lambda a: xpx.at(a(V), 1).set(2.0),
    "create_diagonal": lambda a: xpx.create_diagonal(a(V), offset=1),
    "isclose": lambda a: xpx.isclose(a(N), a(N + 1e-12), equal_nan=True),
    "pad": lambda a: xpx.pad(a(X), ((1, 0), (0, 2)), constant_values=3),
}
WITHOUT_ARRAYS = {"__version__", "broadcast_shapes", "default_dtype", "testing"}


def test_the_table_is_whole():
    missing = set(xpx.__all__) - CALLS.keys() - ASSIGNING.keys() - WITHOUT_ARRAYS
    assert not missing


def called(name, xp):
    args, options = CALLS[name]
    given = [xp.asarray(x) if isinstance(x, np.ndarray) else x for x in args]
    return ap.tree.leaves(getattr(xpx, name)(*given, **options, xp=xp))


@pytest.mark.parametrize("name", CALLS)
def test_functions(name, backend):
    for x, y in zip(called(name, anp), called(name, np), strict=True):
        assert x.device.backend == backend
        assert x.dtype == y.dtype
        np.testing.assert_allclose(np.asarray(x), y, rtol=1e-12)


@pytest.mark.parametrize("name", ASSIGNING)
def test_assignments_are_refused(name):
    with pytest.raises(TypeError, match=r"an Array cannot change: write x = x\.at"):
        ASSIGNING[name](anp.asarray)


def test_default_dtypes():
    for kind in ("real floating", "complex floating", "integral", "indexing"):
        assert xpx.default_dtype(anp, kind) == xpx.default_dtype(np, kind)
