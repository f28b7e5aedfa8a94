"""Fusion keeps the order of what is read: every unit finds what it needs, and stores it once."""

from __future__ import annotations

import numpy as np
import pytest
from arrayport_backends.ndarray.language import KernelLanguage

import arrayport as ap
import arrayport.numpy as anp
from arrayport import lax
from arrayport.core.backend import get
from arrayport.core.program import Var
from arrayport.passes.fuse import Nest, fuse
from arrayport.passes.indices import Axis, Index, of, reshaped
from arrayport.passes.optimise import optimise

X = np.ones((40, 30), np.float32)


def units(function, *args):
    """Fuse a function's Program for NumPy, and check that the units can run in their order."""
    backend = get("numpy")
    with ap.use_backend("numpy"):
        traced = ap.jit(function).trace(*map(anp.asarray, args))
    program = optimise(traced.program, backend)
    found = fuse(program, KernelLanguage(backend.rows))
    known = set(program.ins)
    for unit in found:
        reads = unit.reads if isinstance(unit, Nest) else set(unit.ins)
        makes = unit.stored if isinstance(unit, Nest) else list(unit.outs)
        assert {a for a in reads if isinstance(a, Var)} <= known | set(makes)
        assert known.isdisjoint(makes)
        known.update(makes)
    assert set(program.outs) <= known
    return found


def nests(found):
    return [(u.lanes, u.reduced, len(u.stored)) for u in found]


def test_a_chain_is_one_nest():
    assert nests(units(lambda x: anp.maximum(x * 2 + 1, 0) - x.T.T, X)) == [((40, 30), (), 1)]


def test_several_outputs_of_one_shape_share_their_nest():
    assert nests(units(lambda x: (x + 1, x * 2, x - 3), X)) == [((40, 30), (), 3)]


def test_a_reduction_and_what_it_reduces_share_their_nest():
    def f(x):
        y = x * x + 1
        return y, anp.sum(y, 1)

    assert nests(units(f, X)) == [((40, 30), (1,), 2)]


def test_what_is_read_elsewhere_and_costs_is_stored_before():
    def f(x):
        y = ((x + 1) * x + 2) * x + 3
        return anp.roll(y, 1, 0) + y

    assert nests(units(f, X)) == [((40, 30), (), 1), ((40, 30), (), 1)]


def test_short_axes_are_unrolled_so_that_stacked_parts_share_a_nest():
    def f(x):
        a, b = x[:, 0], x[:, 1]
        return anp.stack([a + b, a * b], 1)

    assert nests(units(f, np.ones((100, 2), np.float32))) == [((100,), (), 1)]


def test_libraries_stand_between():
    found = units(lambda x: anp.sum((x + 1) @ (x.T * 2)), X)
    assert [isinstance(u, Nest) for u in found][-1]
    assert sum(not isinstance(u, Nest) for u in found) == 1


def test_a_long_chain_is_cut():
    def f(x):
        for _ in range(1500):
            x = x * 0.5 + 1
        return x

    costs = [u.cost for u in units(f, X)]
    assert len(costs) > 3
    assert max(costs) <= 1000


@pytest.mark.parametrize("seed", range(8))
def test_random_programs_are_legal(seed):
    draw = np.random.default_rng(seed)

    def f(x):
        values = [x, x * 2]
        for _ in range(25):
            a, b = (values[i] for i in draw.integers(len(values), size=2))
            y = [
                lambda a: anp.sum(a, 0, keepdims=True) + a,
                lambda a: a[::-1],
                lambda a: anp.roll(a, 2, 1),
                lambda a: anp.sqrt(anp.abs(a)) + 1,
                lambda a: a - anp.max(a, 1, keepdims=True),
                lambda a: lax.cumsum(a, 0),
                lambda a: a.T.reshape(a.shape),
            ][draw.integers(7)](a)
            values.append(y * b)
        return values[-3:]

    units(f, X)


def test_indices_divide_exactly_where_their_bounds_say_so():
    i, j = of(Axis(40)), of(Axis(30))
    assert reshaped((i, j), (40, 30), (40, 5, 6))[0] == i
    assert reshaped((i, j), (40, 30), (1200,)) == (i * 30 + j,)
    quotient, rest = (i * 30 + j + 60).divide(30)
    assert (quotient, rest) == (i + 2, j)
    assert (j + -1).bounds == (-1, 28)
    assert Index(7).divide(3) == (Index(2), Index(1))
