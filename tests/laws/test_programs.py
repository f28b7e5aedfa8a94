"""Laws of Programs and primitives, over what the calls of the catalogue bind."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from arrayport_conformance import laws
from arrayport_conformance.catalogue import ROWS, Row
from arrayport_conformance.catalogue.rows import Call

import arrayport as ap
from arrayport.core.errors import NotDifferentiableError
from arrayport.core.primitive import REGISTRY, Holder
from arrayport.core.program import Eqn

# Primitives that no catalogued call binds, and where they are tested instead.
REACHED_ELSEWHERE = {
    "checkpoint": "tests/transforms/test_compositions.py",
    "custom_vjp": "tests/transforms/test_compositions.py",
    "dynamic_slice_add": "scatter_all applies it: it is never bound alone",
    "window_reduce": "tests/ops/test_pooling.py",
    **dict.fromkeys(("custom_linear_solve", "custom_root"), "tests/lax/test_solves.py"),
    **dict.fromkeys(("custom_vmap", "name"), "tests/control/test_closures.py"),
    **dict.fromkeys(
        ("debug_callback", "io_callback", "pure_callback"), "tests/control/test_callbacks.py"
    ),
    **dict.fromkeys(("random_unwrap", "random_wrap"), "tests/random/test_keys.py"),
    **dict.fromkeys(
        ("all_gather", "all_to_all", "axis_index", "pbroadcast", "pmax", "pmin", "ppermute"),
        "tests/parallel/test_collectives.py",
    ),
    **dict.fromkeys(("psum", "psum_scatter"), "tests/parallel/test_collectives.py"),
    **dict.fromkeys(
        ("apart", "pcast", "psum_invariant", "settle"), "tests/parallel/test_varying.py"
    ),
    "geqrf": "tests/numpy/test_linalg.py",
    "check": "tests/experimental/test_checkify.py",
    "linear_call": "tests/control/test_linear_calls.py",
}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_programs_keep_their_meaning(row: Row):
    if row.not_batchable:
        pytest.skip(row.not_batchable)
    for call in laws.examples(row):
        laws.programs(row, call)


def _derived(row: Row, call: Call) -> list[Eqn]:
    """List the equations of a call, of its jvp and of its vjp."""
    found = laws.ours(row, call)
    eqns = list(laws.equations(laws.staged(found.function, found.operands)))
    smooth = found.smooth()
    if not smooth.operands or row.not_differentiable:
        return eqns

    def pushed(xs: Any) -> Any:
        return ap.jvp(smooth.function, tuple(xs), tuple(xs))

    def pulled(xs: Any) -> Any:
        outs, pull = ap.vjp(smooth.function, *xs)
        return pull(outs)

    for function in (pushed,) if row.forward_only else (pushed, pulled):
        program = laws.staged(lambda *xs, f=function: f(xs), smooth.operands)
        eqns += laws.equations(program)
    return eqns


@cache
def bound() -> dict[str, Eqn]:
    """Find one equation for each primitive that catalogued calls and their derivatives bind."""
    found: dict[str, Eqn] = {}
    with ap.use_backend("numpy"):
        for row in ROWS:
            if row.not_batchable:
                continue
            for call in laws.examples(row):
                for eqn in _derived(row, call):
                    if laws.smooth(eqn) or eqn.prim.name not in found:
                        found[eqn.prim.name] = eqn
    return found


def test_every_primitive_is_reached():
    assert sorted(REGISTRY.keys() - bound().keys() - REACHED_ELSEWHERE.keys()) == []
    assert sorted(REACHED_ELSEWHERE.keys() & bound().keys()) == []


def test_no_jvp_rule_binds_its_own_primitive():
    recursive = []
    for name, eqn in bound().items():
        if laws.smooth(eqn):
            try:
                if laws.recursive(eqn.prim, eqn):
                    recursive.append(name)
            except NotDifferentiableError:
                continue
    assert recursive == []


def test_holders_state_how_they_transform():
    holders = [p for p in REGISTRY.values() if isinstance(p, Holder)]
    assert holders
    assert [p.name for p in holders if not (p.jvp and p.linearize and p.batch)] == []
