"""Every function of NumPy's that has a counterpart is reached from Arrays and tracers."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from arrayport_conformance.catalogue import ROWS, Row
from arrayport_conformance.catalogue.rows import Operand, fill
from arrayport_conformance.laws import Bound, bind

import arrayport as ap
import arrayport.numpy as anp
from arrayport.core.tree import tree_leaves
from arrayport.numpy.protocols import CONVERTERS, WRITERS

# What NumPy itself never asks an argument about, or asks only in a form that JAX refuses.
SILENT = {
    "numpy.bincount": "its dispatch refuses what the row gives",
    **dict.fromkeys(("numpy.geomspace", "numpy.logspace"), "their rows have numbers alone"),
    "numpy.lexsort": "of its keys NumPy asks a tuple alone, and the row has a list",
}


def dispatched(name: str) -> Any:
    """Find a function of NumPy's that asks its arguments' types; None for another, or a writer."""
    found: Any = np
    for part in name.split(".")[1:]:
        found = getattr(found, part, None)
    asks = isinstance(found, np.ufunc) or hasattr(found, "_implementation")
    return found if asks and name.removeprefix("numpy.") not in WRITERS else None


def call(row: Row, root: str) -> Bound | None:
    """Make the row's first call that NumPy's function takes as well, with arrays in it."""
    function = dispatched(row.function)
    for case in row.cases:
        made = fill(case, row.dtypes[0], 0)
        if not any(isinstance(x, Operand) for x in tree_leaves(case.args)):
            continue
        if isinstance(function, np.ufunc):
            if made.kwargs or len(made.args) != function.nin:
                continue
        else:
            try:
                inspect.signature(function).bind(*made.args, **made.kwargs)
            except TypeError:
                continue
        path = row.function if root == "arrayport" else row.function.removeprefix("numpy.")
        return bind(made, root, path, anp.asarray)
    return None


REACHED = [
    row
    for row in ROWS
    if row.function.startswith("numpy.")
    and row.function not in SILENT
    and dispatched(row.function)
    and call(row, "numpy")
]


def test_the_table_is_whole() -> None:
    """A counterpart whose row has no call that NumPy takes would be left out unseen."""
    names = {row.function for row in REACHED} | SILENT.keys()
    rows = {row.function for row in ROWS}
    missing = {n for n in rows if n.startswith("numpy.") and dispatched(n)} - names
    assert missing == set()
    assert len(REACHED) > 320


@pytest.mark.parametrize("row", REACHED, ids=lambda row: row.function)
def test_numpys_function_is_ours(row: Row) -> None:
    with ap.use_backend("cupy-sim"):  # whose arrays NumPy cannot read by itself
        asked, ours = call(row, "numpy"), call(row, "arrayport")
        assert asked is not None
        assert ours is not None
        eager = row.function.removeprefix("numpy.") not in CONVERTERS
        results = [asked.function(*asked.operands)] if eager else []
        if not row.not_batchable:  # else its answer's shape depends on values
            results.append(ap.jit(asked.function)(*asked.operands))
        wanted = tree_leaves(ours.function(*ours.operands))
        for found in map(tree_leaves, results):
            assert [type(x) for x in found] == [type(x) for x in wanted]
            for x, y in zip(found, wanted, strict=True):
                np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=1e-5, atol=1e-6)


def test_methods_of_ufuncs_that_are_no_ufuncs_here() -> None:
    x = anp.array([2.0, 3.0, 2.0])
    assert float(np.power.reduce(x)) == 64.0
    assert np.divide.outer(x, x).shape == (3, 3)
    assert np.hypot.accumulate(x).shape == (3,)
    np.testing.assert_allclose(np.asarray(ap.grad(np.power.reduce)(x))[0], 6 * 2.0**5, rtol=1e-5)
    assert np.add.reduceat(x, anp.array([0, 1])).tolist() == [2.0, 5.0]
    assert float(np.add.reduce(x, where=anp.array([True, False, True]))) == 4.0


def test_what_says_nothing_of_values_is_dropped_and_places_are_translated() -> None:
    x = anp.arange(4.0)
    assert np.zeros_like(x, order="F", subok=True).tolist() == [0.0] * 4
    counts, _ = np.histogram(x, 2, None, True)  # by place this is NumPy's `density`
    assert counts.tolist() == pytest.approx([1 / 3, 1 / 3])
    assert np.clip(x, 1, a_max=2).tolist() == [1, 1, 2, 2]
    assert np.array2string(x) == "[0. 1. 2. 3.]"
    assert np.min_scalar_type(x) == np.float32
