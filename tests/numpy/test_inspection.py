"""What the namespace says of itself, and that it is the standard's in each version."""

from __future__ import annotations

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp
from arrayport.numpy import standard_2024

pytestmark = pytest.mark.usefixtures("backend")


def test_namespaces_by_version():
    x = anp.ones(2)
    assert x.__array_namespace__() is anp
    assert x.__array_namespace__(api_version="2025.12") is anp
    older = x.__array_namespace__(api_version="2024.12")
    assert older is standard_2024
    assert (anp.__array_api_version__, older.__array_api_version__) == ("2025.12", "2024.12")
    assert older.sin is anp.sin
    assert "sin" in dir(older)
    with pytest.raises(ValueError, match=r"2023\.06.*2025\.12"):
        x.__array_namespace__(api_version="2023.06")
    with pytest.raises(AttributeError, match="no_such"):
        older.no_such  # noqa: B018 - the look-up is the test


def test_devices(backend):
    info = anp.__array_namespace_info__()
    assert info.default_device() == anp.ones(2).device == ap.devices(backend)[0]
    assert info.devices()[: ap.device_count()] == tuple(ap.devices())
    assert type(standard_2024.__array_namespace_info__().devices()) is list
    for device in info.devices():
        assert anp.empty(2, device=device).device == device
        assert anp.from_dlpack(anp.ones(2), device=device).device == device


def test_capabilities():
    found = anp.__array_namespace_info__().capabilities()
    assert (found["boolean indexing"], found["data-dependent shapes"]) == (True, True)
    assert anp.zeros((1,) * found["max dimensions"]).ndim == found["max dimensions"]


@pytest.mark.parametrize("wide", [False, True])
def test_dtypes(wide):
    info = anp.__array_namespace_info__()
    with ap.config.override("enable_x64", wide):
        made = [anp.asarray(v).dtype for v in (1.0, 1j, 1)] + [anp.argmax(anp.ones(2)).dtype]
        assert list(info.default_dtypes().values()) == made
        assert ("float64" in info.dtypes()) is wide
        for name, dtype in info.dtypes().items():
            assert anp.zeros(1, dtype=dtype).dtype == np.dtype(name)
        kinds = info.dtypes(kind=("bool", "unsigned integer"))
        assert list(kinds) == ["bool", "uint8", "uint16", "uint32"] + ["uint64"] * wide
        assert list(info.dtypes(kind="real floating")) == ["float32"] + ["float64"] * wide
    with pytest.raises(ValueError, match="unknown"):
        info.dtypes(kind="numbers")


@pytest.mark.parametrize("options", [{}, {"copy": True}, {"copy": False}], ids=str)
@pytest.mark.parametrize("version", [None, (0, 8), (1, 0)])
def test_dlpack_options(backend, options, version):
    x = anp.arange(3)
    own = "SimCapsule" if backend == "cupy-sim" else "PyCapsule"
    assert type(x.__dlpack__(max_version=version, **options)).__name__ == own
    capsule = x.__dlpack__(dl_device=(1, 0), max_version=version, **options)
    assert type(capsule).__name__ == "PyCapsule"


def test_dtypes_are_not_none():
    assert anp.float64 != None  # noqa: E711 - NumPy reads None as float64
    assert anp.result_type(anp.bool, True) == np.dtype(bool)
    assert anp.result_type(anp.int8, True) == np.dtype("int8")


def test_dtypes_of_arrays():
    host, scalar = np.zeros(2, "int8"), np.float16(1)
    assert anp.result_type(host) == anp.result_type(host, 1) == np.dtype("int8")
    assert anp.result_type(host, scalar, anp.ones(2, "float16")) == np.dtype("float16")
    assert ap.dtypes.result_type(host, 1.0, return_weak_type_flag=True) == (anp.float32, True)
    assert anp.issubdtype(host, anp.integer)
    assert not anp.issubdtype(anp.ones(2), anp.integer)
    key = ap.random.key(0)
    assert anp.result_type(key, key) == key.dtype
    with pytest.raises(TypeError, match="key"):
        anp.result_type(key, 1.0)
    for x in (np.dtype("int8"), "int8", np.int8, host):
        assert ap.lax.dtype(x) == np.dtype("int8")
    with pytest.raises(TypeError, match="not a supported dtype"):
        anp.result_type([1.0])


def test_diagonals_far_away():
    for k in (2**40, -(2**40)):
        np.testing.assert_array_equal(np.asarray(anp.eye(2, k=k)), np.zeros((2, 2)))
        for name in ("tril", "triu"):
            x = anp.ones((2, 3))
            expected = getattr(np, name)(np.ones((2, 3)), k)
            np.testing.assert_array_equal(np.asarray(getattr(anp, name)(x, k=k)), expected)
        np.testing.assert_array_equal(np.asarray(anp.tri(2, 2, k)), np.tri(2, 2, k))


def test_products_of_nothing_are_checked():
    for a, b in (((0,), (2, 0)), ((3, 1), (0, 0)), ((2, 1, 0), (2, 2, 0)), ((0, 0), (0, 1, 0))):
        with pytest.raises(TypeError, match="do not fit"):
            anp.matmul(anp.ones(a), anp.ones(b))


def test_nonzero_needs_axes():
    for options in ({}, {"size": 1}):
        with pytest.raises(ValueError, match="atleast_1d"):
            anp.nonzero(anp.asarray(3), **options)
    assert anp.argwhere(anp.asarray(3)).shape == (1, 0)
