"""JAX's small modules: dtypes, typing, dlpack, flatten_util and ops answer as JAX's do."""

from __future__ import annotations

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp
from arrayport.core.dtypes import SUPPORTED

pytestmark = pytest.mark.usefixtures("backend")


def test_dtypes() -> None:
    d = ap.dtypes
    assert [d.canonicalize_dtype(t) for t in ("float64", int, bool)] == ["float32", "int32", "bool"]
    assert [d.itemsize_bits(t) for t in ("int4", "uint2", bool, "float64")] == [4, 2, 8, 64]
    assert d.result_type(1, anp.float32) == "float32"
    assert d.result_type(1, 2.0, return_weak_type_flag=True) == (np.dtype("float32"), True)
    kinds = [anp.ones(2), 1, np.zeros(1, "complex64"), anp.ones(1, bool), anp.ones(1, "bfloat16")]
    assert [d.scalar_type_of(x) for x in kinds] == [float, int, complex, bool, float]
    with pytest.raises(d.TypePromotionError, match="promot"):
        d.result_type("int4", "float8_e4m3fn")
    with pytest.raises(TypeError):
        d.canonicalize_dtype("foo")
    names = [n for n in SUPPORTED if ap.dlpack.is_supported_dtype(n)]
    assert {"bool", "bfloat16", "complex64", "uint64"} <= {*names}
    assert not {"int4", "float8_e4m3fn", "float4_e2m1fn"} & {*names}
    assert isinstance(anp.ones(2), ap.typing.ArrayLike)
    assert ap.dlpack.from_dlpack(np.arange(3)).shape == (3,)


def test_trees_as_vectors() -> None:
    tree = {"a": anp.asarray([[1.5, 2.0]]), "b": 3, "c": anp.asarray([1, 2], dtype="int8")}
    vector, unravel = ap.flatten_util.ravel_pytree(tree)
    np.testing.assert_array_equal(np.asarray(vector), [1.5, 2, 3, 1, 2])
    back = unravel(vector * 2)
    assert {k: (v.dtype, v.shape) for k, v in back.items()} == {
        "a": (np.float32, (1, 2)),
        "b": (np.int32, ()),
        "c": (np.int8, (2,)),
    }
    slope = ap.grad(lambda v: (unravel(v)["a"] ** 2).sum())(vector)
    np.testing.assert_array_equal(np.asarray(slope), [3, 4, 0, 0, 0])
    assert ap.flatten_util.ravel_pytree({})[0].shape == (0,)
    with pytest.raises(TypeError, match="float32"):
        unravel(anp.ones(5, dtype="int32"))
    with pytest.raises(ValueError, match="shape"):
        unravel(vector[1:])


def test_segments() -> None:
    data = anp.asarray([[1, 2], [3, 4], [5, 6], [7, 8]], dtype="int32")
    ids = anp.asarray([0, 2, 2, 9])
    ops = ap.ops
    for name, expected in (
        ("sum", [[1, 2], [0, 0], [8, 10]]),
        ("prod", [[1, 2], [1, 1], [15, 24]]),
        ("max", [[1, 2], [-(2**31)] * 2, [5, 6]]),
        ("min", [[1, 2], [2**31 - 1] * 2, [3, 4]]),
    ):
        found = getattr(ops, f"segment_{name}")(data, ids, 3, bucket_size=2)
        np.testing.assert_array_equal(np.asarray(found), expected)
    assert ops.segment_sum(data, ids).shape == (10, 2)
    assert ap.jit(lambda d, i: ops.segment_sum(d, i, 3, mode="clip"))(data, ids)[2, 0] == 15
    np.testing.assert_array_equal(np.asarray(ops.segment_sum(1, ids, 3)), [1, 0, 2])
    np.testing.assert_array_equal(np.asarray(ops.segment_sum(data[:1], ids, 2)), [[1, 2], [0, 0]])
    tables = ops.segment_max(data[:2, 0], anp.asarray([[0, 1], [1, 0]]), 2)
    np.testing.assert_array_equal(np.asarray(tables), [3, 3])
    for few in (ids[:2], ids[0]):
        with pytest.raises(ValueError, match="segment_sum needs an id for each row"):
            ops.segment_sum(data, few, 3)
    with pytest.raises(TypeError, match="segment_prod has no meaning for booleans"):
        ops.segment_prod(data > 1, ids, 3)
    with pytest.raises(ap.errors.ConcretizationTypeError):
        ap.jit(ops.segment_sum)(data, ids)
    assert not hasattr(ops, "segment_mean")
