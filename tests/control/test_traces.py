"""What is kept of a traced function: where it stays, and until when."""

from __future__ import annotations

import gc
import pickle
import weakref
from copy import deepcopy

import pytest

import arrayport as ap
import arrayport.numpy as anp
from arrayport.errors import UnexpectedTracerError


def tripled(x):
    return x * 3


def test_it_stays_in_its_process():
    x = anp.ones(2)
    jitted = ap.jit(tripled)
    assert jitted(x).tolist() == [3, 3]
    assert all(not kept for kept in pickle.loads(pickle.dumps(vars(tripled))).values())
    for copied in (pickle.loads(pickle.dumps(jitted)), deepcopy(jitted)):
        assert copied(x).tolist() == [3, 3]


def test_it_goes_with_its_function():
    """Counting references is enough, so that what a loop's functions captured goes at once."""
    captured = anp.ones(3)

    def f(x):
        return x + captured

    seen = weakref.ref(f)
    assert ap.jit(f)(captured).tolist() == [2, 2, 2]
    gc.disable()
    try:
        del f
        assert seen() is None
    finally:
        gc.enable()


def test_leaks_are_looked_for_in_what_was_traced_before():
    left = []

    def leaking(x):
        left.append(x)
        return x + 1

    x = anp.ones(2)
    assert ap.jit(leaking)(x).tolist() == [2, 2]
    left.clear()
    with ap.checking_leaks(), pytest.raises(UnexpectedTracerError, match="left traced"):
        ap.jit(leaking)(x)
