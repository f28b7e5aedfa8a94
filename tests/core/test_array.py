"""What an Array says of itself, and the arguments of its methods, which are JAX's."""

from __future__ import annotations

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp

pytestmark = pytest.mark.usefixtures("backend")


def test_what_an_array_says_of_itself():
    x = anp.ones((2, 3), "float32")
    assert x.aval == ap.typeof(x)
    assert x.committed
    assert x.block_until_ready().is_ready()
    assert x.on_device_size_in_bytes() == x.nbytes == 24
    assert x.copy_to_host_async() is None
    assert ap.jit(lambda v: v * len(v.aval.shape))(x).tolist() == [[2] * 3] * 2


def test_methods_take_jaxs_arguments():
    x = anp.asarray([1.0, 2.5, -1.0])
    for cast in (x.astype(dtype="int32", copy=True), x.astype("int32", False)):
        assert cast.tolist() == [1, 2, -1]
    assert x.view(dtype="int32", type=None).dtype == np.dtype("int32")
    with pytest.raises(NotImplementedError, match="view takes no type"):
        x.view("int32", np.matrix)
    assert x.clip(min=0, max=2).tolist() == [1, 2, 0]
    assert x.take(indices=anp.asarray([2, 0]), axis=0).tolist() == [-1, 1]
    assert x.repeat(repeats=2, total_repeat_length=4).tolist() == [1, 1, 2.5, 2.5]


def test_round_without_digits_gives_integers():
    x = anp.asarray([1.4, 2.5, 3.5])
    assert round(x).dtype == anp.arange(1).dtype
    assert round(x).tolist() == [1, 2, 4]
    assert round(x, 0).dtype == x.dtype
    assert round(x * 1.11, 1).tolist() == pytest.approx([1.6, 2.8, 3.9])
