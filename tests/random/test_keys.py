"""Typed keys: an element type that arrays, loops and transformations carry like any other."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp
from arrayport import lax, random

pytestmark = pytest.mark.usefixtures("backend")


def words(keys: Any) -> Any:
    return random.key_data(keys).tolist()


def test_a_key_is_a_scalar_of_its_own_type() -> None:
    key = random.key(42)
    assert (key.shape, key.ndim, key.size) == ((), 0, 1)
    assert key.dtype == random.key_dtype()
    assert anp.issubdtype(key.dtype, ap.core.dtypes.prng_key)
    assert not anp.issubdtype(key.dtype, np.number)
    assert repr(key) == "Array((), dtype=key<fry>) overlaying:\n[ 0 42]"
    assert words(key) == [0, 42]
    assert random.key_impl(key) == "threefry2x32"


def test_the_same_draws_as_from_a_raw_key() -> None:
    typed, raw = random.key(7), random.PRNGKey(7)
    assert words(random.split(typed, 3)) == random.split(raw, 3).tolist()
    assert words(random.fold_in(typed, 5)) == random.fold_in(raw, 5).tolist()
    assert words(random.clone(typed)) == [0, 7]
    assert words(random.wrap_key_data(raw)) == [0, 7]
    for draw in (random.bits, random.normal, random.uniform):
        assert draw(typed, (3,)).tolist() == draw(raw, (3,)).tolist()


def test_keys_move_as_elements_do() -> None:
    keys = random.split(random.key(0), 3)
    data = np.asarray(random.key_data(keys))
    assert keys.shape == (3,)
    assert words(keys[1]) == data[1].tolist()
    assert words(keys[::-1]) == data[::-1].tolist()
    assert words(keys[anp.array([2, 0])]) == data[[2, 0]].tolist()
    assert words(anp.stack([keys[0], keys[2]])) == data[[0, 2]].tolist()
    assert words(anp.concatenate([keys, keys[:1]])) == data[[0, 1, 2, 0]].tolist()
    assert words(keys.reshape(3, 1).T) == data[None].tolist()
    assert words(anp.where(anp.array([True, False, True]), keys, keys[0])) == [
        data[0].tolist(),
        data[0].tolist(),
        data[2].tolist(),
    ]
    assert words(keys.at[0].set(keys[1])) == data[[1, 1, 2]].tolist()
    assert words(keys[anp.array([False, True, True])]) == data[1:].tolist()
    assert words(keys[:0][anp.zeros((0,), int)]) == []
    assert words(anp.take(keys, anp.array([2, 9]))) == [data[2].tolist(), [2**32 - 1] * 2]
    assert words(random.wrap_key_data(anp.asarray(data.ravel()[1:5]).reshape(2, 2))) == [
        data.ravel()[1:3].tolist(),
        data.ravel()[3:5].tolist(),
    ]
    assert ap.tree.map(lambda k: k.shape, {"a": keys}) == {"a": (3,)}


def test_transformations_carry_keys() -> None:
    key = random.key(0)
    keys = random.split(key, 3)
    draws = [float(random.uniform(k)) for k in keys]
    assert ap.vmap(random.uniform)(keys).tolist() == draws
    assert ap.vmap(random.split, out_axes=1)(keys).shape == (2, 3)
    assert words(ap.jit(random.split)(key)) == words(random.split(key))
    total, folded = lax.scan(lambda c, k: (c + random.uniform(k), random.fold_in(k, 1)), 0.0, keys)
    assert float(total) == pytest.approx(sum(draws))
    assert words(folded) == [words(random.fold_in(k, 1)) for k in keys]
    last, _ = lax.scan(lambda k, _: (random.split(k)[0], None), key, None, length=2)
    assert words(last) == words(random.split(random.split(key)[0])[0])
    _, count = lax.while_loop(
        lambda s: s[1] < 2, lambda s: (random.split(s[0])[0], s[1] + 1), (key, 0)
    )
    assert int(count) == 2
    assert words(lax.cond(True, lambda: key, lambda: keys[0])) == [0, 0]
    slope = ap.grad(lambda x, k: x * random.uniform(k))(2.0, keys[0])
    assert float(slope) == pytest.approx(draws[0])
    assert ap.eval_shape(random.split, key).shape == (2,)


def test_keys_can_be_kept() -> None:
    keys = random.split(random.key(1), 2)
    assert words(pickle.loads(pickle.dumps(keys))) == words(keys)
    moved = ap.device_put(keys, ap.devices("numpy")[0])
    assert words(moved) == words(keys)
    assert words(ap.device_put(moved, keys.device)) == words(keys)
    assert words(np.asarray(keys)) == words(keys)


def test_code_for_many_runs_takes_keys(backend: str) -> None:
    keys = random.split(random.key(1), 3)
    swap = ap.jit(lambda a, i: (a.at[0].set(a[i]), a == a[i], random.fold_in(a[i], 1)))
    first = swap(keys, 2)
    for _ in range(30):
        last = swap(keys, 2)
    assert all((a == b).all() for a, b in zip(first, last, strict=True))
    assert first[0].device.backend == backend


def test_callbacks_take_keys_and_dlpack_does_not(backend: str) -> None:
    keys = random.split(random.key(1), 3)
    with pytest.raises(BufferError, match="key_data"):
        np.from_dlpack(keys)
    if backend == "jax":
        pytest.skip("JAX's callbacks take no typed keys")
    asked = ap.pure_callback(lambda a: a[::-1], ap.ShapeDtypeStruct((3,), keys.dtype), keys)
    assert words(asked) == words(keys[::-1])


@pytest.mark.parametrize("use", [anp.sin, anp.float32, anp.arange(2).__add__])
def test_a_key_is_no_number(use: Any) -> None:
    with pytest.raises(TypeError, match="a typed random key is no number: draw with it by"):
        use(random.key(0))


def test_many_keys_are_not_one() -> None:
    with pytest.raises(ValueError, match=r"of shape \(2,\): use vmap to map over keys"):
        random.normal(random.split(random.key(0)))
    with pytest.raises(TypeError, match="takes the words of keys, not typed keys"):
        random.wrap_key_data(random.key(0))
    with pytest.raises(ValueError, match="the one generator here is threefry2x32"):
        random.key(0, impl="rbg")


def test_keys_compare_and_choose_and_are_no_numbers() -> None:
    keys = random.split(random.key(0), 3)
    same = [True, True, True]
    assert (keys == keys.copy()).tolist() == same
    assert (keys != keys[0]).tolist() == [False, True, True]
    assert ap.jit(lambda a: a == a.copy())(keys).tolist() == same
    assert ap.vmap(lambda a: a == keys[1])(keys).tolist() == [False, True, False]
    assert lax.eq(keys, keys).tolist() == same
    turned = anp.where(anp.array([True, False, False]), keys, keys[::-1])
    assert (turned == keys).tolist() == [True, True, False]
    for wrong in (
        lambda: keys < keys[0],
        lambda: keys + keys,
        lambda: keys + 1,
        lambda: -keys,
        lambda: keys == 3,
        lambda: keys & keys,
        lambda: abs(keys),
        keys.sum,
        lambda: anp.sort(keys),
        lambda: bool(keys[0]),
        lambda: float(keys[0]),
        lambda: anp.zeros_like(keys),
    ):
        with pytest.raises(TypeError, match="a typed random key is no number"):
            wrong()
    for wrong in (lambda a: a + a, anp.sort):
        with pytest.raises(TypeError, match="key"):
            ap.jit(wrong)(keys)
