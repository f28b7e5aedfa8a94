"""The methods of universal functions: NumPy's answers, and their derivatives and batches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp

UFUNCS = [name for name in dir(anp) if isinstance(getattr(anp, name), anp.ufunc)]
BINARY = sorted({"negative", *UFUNCS} - {"negative"})
BITS = {"bitwise_and", "bitwise_or", "bitwise_xor"}
X = np.array([[3, 1, 2], [0, 5, 4]], np.int32)


def number(name: str, x: Any) -> Any:
    return x if name in BITS else x.astype(np.float32) / 2


def test_jax_has_the_same_ones() -> None:
    jax = pytest.importorskip("jax", reason="which functions are ufuncs is for jax.numpy to say")
    theirs = jax.numpy
    assert {n for n in dir(theirs) if isinstance(getattr(theirs, n), theirs.ufunc)} == set(UFUNCS)
    for name in UFUNCS:
        a, b = getattr(anp, name), getattr(theirs, name)
        assert (a.nin, a.nout, a.nargs, a.identity) == (b.nin, b.nout, b.nargs, b.identity)


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.usefixtures("backend")
def test_methods_are_numpys(name: str) -> None:
    ours, theirs, host = getattr(anp, name), getattr(np, name), number(name, X)
    x = anp.asarray(host)

    def same(found: Any, wanted: Any) -> None:
        np.testing.assert_allclose(np.asarray(found), wanted, rtol=2e-6)

    same(ours.reduce(x), theirs.reduce(host))
    same(ours.reduce(x, axis=1, keepdims=True), theirs.reduce(host, axis=1, keepdims=True))
    start = number(name, np.array([6, 7, 9]))
    same(
        ours.reduce(x, initial=anp.asarray(start)),
        theirs(start, theirs.reduce(host)) if (name != "subtract") else start - host.sum(0),
    )
    same(ours.accumulate(x, axis=1), theirs.accumulate(host, axis=1))
    same(ours.outer(x[0], x), theirs.outer(host[0], host))
    same(ours.reduceat(x, anp.array([0, 2, 1]), axis=1), theirs.reduceat(host, [0, 2, 1], axis=1))
    if name not in {"logical_and", "logical_or", "logical_xor"}:  # whose answers are no floats
        written = host.copy()
        theirs.at(written, ([0, 0, 1], [1, 1, 2]), host[1])
        same(ours.at(x, (anp.array([0, 0, 1]), anp.array([1, 1, 2])), x[1], inplace=False), written)


@pytest.mark.usefixtures("backend")
def test_derivative_batch_and_compilation_of_a_function_of_ones_own() -> None:
    scaled = anp.frompyfunc(lambda x, y: x * y + x, 2, 1)
    x = anp.array([1.0, 2.0, 3.0])
    # ((1 * 2 + 1) * 3 + 3) = x0 (1 + x1) (1 + x2)
    assert float(scaled.reduce(x)) == 12.0
    np.testing.assert_allclose(np.asarray(ap.grad(scaled.reduce)(x)), [12.0, 4.0, 3.0])
    rows = anp.stack([x, 2 * x])
    found = ap.jit(ap.vmap(scaled.accumulate))(rows)
    np.testing.assert_allclose(np.asarray(found), [[1, 3, 12], [2, 10, 70]])
    pairs = anp.frompyfunc(lambda x, y: (x + y, x - y), 2, 2)(anp.arange(2), 1)
    assert [p.tolist() for p in pairs] == [[1, 2], [-1, 0]]


@pytest.mark.usefixtures("backend")
def test_masks_and_no_elements() -> None:
    x, mask = anp.asarray(X), anp.asarray(X > 1)
    assert anp.add.reduce(x, axis=None, where=mask).tolist() == 14
    assert anp.bitwise_and.reduce(x, where=mask).tolist() == [3, 5, 6 & 4 & 2 | (2 & 4)]
    assert anp.logaddexp.reduce(anp.zeros((0, 2))).tolist() == [-np.inf, -np.inf]
    with pytest.raises(ValueError, match=r"subtract\.reduce of no elements: give initial="):
        anp.subtract.reduce(anp.zeros(0))
    with pytest.raises(ValueError, match=r"subtract has no identity: where= needs initial="):
        anp.subtract.reduce(x, where=mask)
    with pytest.raises(ValueError, match=r"reduce is of functions of two operands"):
        anp.negative.reduce(x)
    with pytest.raises(NotImplementedError, match=r"write x = add\.at\(x, indices, b, inplace=F"):
        anp.add.at(x, 0, 1)
    with pytest.raises(NotImplementedError, match=r"use where\(mask, add"):
        anp.add(x, 1, where=mask)
