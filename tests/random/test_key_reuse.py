"""debug_key_reuse: what counts as drawing twice with a key, and what does not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import arrayport as ap
import arrayport.numpy as anp
from arrayport import errors, lax, random


@pytest.fixture(autouse=True)
def _watched(backend: str) -> Iterator[None]:  # noqa: ARG001 - the work is that backend's
    with ap.debug_key_reuse(True):
        yield


def draw(key: Any) -> Any:
    return random.uniform(key)


def in_step(key: Any) -> Any:
    def step(carry: Any, _: None) -> Any:
        left, total = carry
        left, now = random.split(left)
        return (left, total + draw(now)), None

    return lax.scan(step, (key, 0.0), None, 3)


JIT = ap.jit(draw)
GOOD = {
    "once": draw,
    "split": lambda key: [draw(k) for k in random.split(key)],
    "fold_in": lambda key: [draw(random.fold_in(key, i)) for i in range(2)],
    "clone": lambda key: (draw(key), draw(random.clone(key))),
    "looked at": lambda key: (draw(key), random.key_data(key)),
    "folded after": lambda key: (draw(key), random.fold_in(key, 1)),
    "split in every step": in_step,
    "keys to go through": lambda key: lax.map(draw, random.split(key, 3)),
    "mapped": lambda key: ap.vmap(draw)(random.split(key, 3)),
    "gradient": lambda key: ap.grad(lambda x: x * draw(key))(1.0),
    "gradient of jit": lambda key: ap.grad(ap.jit(lambda x, k: x * draw(k)))(1.0, key),
    "one of two branches": lambda key: ap.jit(lambda p, k: lax.cond(p, draw, random.normal, k))(
        True, key
    ),
    "raw": lambda _: [draw(random.PRNGKey(0)), draw(random.PRNGKey(0))],
    "the same seed": lambda _: [draw(random.key(0)), draw(random.key(0))],
}
BAD = {
    "twice": lambda key: (draw(key), draw(key)),
    "after split": lambda key: (random.split(key), draw(key)),
    "a part twice": lambda key: [draw(k[0]) for k in [random.split(key)] * 2],
    "jit twice": lambda key: (JIT(key), JIT(key)),
    "within jit": ap.jit(lambda key: draw(key) + random.normal(key)),
    "reshaped": ap.jit(lambda key: draw(key.reshape(1)[0]) + draw(key)),
    "after a branch": lambda key: (
        ap.jit(lambda p, k: lax.cond(p, draw, random.normal, k))(True, key),
        draw(key),
    ),
    "in every step": lambda key: lax.scan(lambda c, _: (c + draw(key), None), 0.0, None, 3),
    "in every step of a range": lambda key: lax.fori_loop(0, 3, lambda _, c: c + draw(key), 0.0),
    "in a while": lambda key: lax.while_loop(lambda c: c < 3, lambda c: c + 1 + draw(key), 0.0),
    "handed on by a step": lambda key: lax.scan(lambda c, _: (c, draw(c)), key, None, 3),
    "handed on in a while": lambda key: lax.while_loop(
        lambda c: c[1] < 3, lambda c: (c[0], c[1] + 1 + draw(c[0])), (key, 0.0)
    ),
    "mapped twice": lambda key: [ap.vmap(draw)(k) for k in [random.split(key, 3)] * 2],
    "a part, then all": lambda key: [f(k) for f, k in _part_then_all(random.split(key, 3))],
}


def _part_then_all(keys: Any) -> Any:
    yield draw, keys[1]
    yield ap.vmap(draw), keys


@pytest.mark.parametrize("name", GOOD)
def test_uses_that_are_right(name: str) -> None:
    GOOD[name](random.key(1))


@pytest.mark.parametrize("name", BAD)
def test_uses_that_are_not(name: str, backend: str) -> None:
    with pytest.raises(errors.KeyReuseError) as caught:
        BAD[name](random.key(1))
    assert "test_key_reuse.py" in str(caught.value)
    if backend != "jax":
        assert "split" in str(caught.value)
    with ap.debug_key_reuse(False):
        BAD[name](random.key(1))


def test_numbers_are_as_without() -> None:
    keys = random.split(random.key(7), 3)
    with_checks = anp.stack([draw(k) for k in keys])
    with ap.debug_key_reuse(False):
        assert (with_checks == ap.vmap(draw)(keys)).all()
