"""The facts table against hand-read facts, and against the installed CuPy where there is one."""

import itertools
import json
from importlib.util import find_spec

import ml_dtypes
import numpy as np
import pytest
from arrayport_backends.cupy import facts
from arrayport_backends.cupy.loops import STRONG, parse, pick

needs_cupy = pytest.mark.skipif(find_spec("cupy") is None, reason="no CuPy to compare with")
OPERANDS = [*(np.dtype(c) for c in "?bBhHiIlLefdFD"), np.dtype(ml_dtypes.bfloat16), *STRONG]


def test_dtypes_are_those_of_cuda_and_bfloat16():
    letters = "?bBhHiIlLefdFD"
    assert facts.dtypes() == {np.dtype(c) for c in letters} | {np.dtype(ml_dtypes.bfloat16)}


@pytest.mark.parametrize(
    "name", ["block", "unstack", "vecdot", "nanquantile", "geomspace", "errstate", "insert"]
)
def test_names_of_numpy_that_cupy_lacks(name):
    assert hasattr(np, name)
    assert facts.fact("cupy", name) is None


def test_parameters():
    total = facts.fact("cupy", "sum").parameters
    assert total.positional == ("a", "axis", "dtype", "out", "keepdims")
    assert "where" not in total.keywords
    joined = facts.fact("cupy", "concatenate").parameters
    assert joined.positional == ("tup", "axis", "out")
    assert joined.keywords == {"tup", "axis", "out", "dtype", "casting"}
    assert facts.fact("cupy", "einsum").parameters.any_positional


def test_a_function_of_a_hidden_ufunc_has_both():
    found = facts.fact("cupy", "where")
    assert found.parameters.positional == ("condition", "x", "y")
    assert "?ff->f" in found.loops
    assert not any("E" in loop for loop in found.loops)  # no bfloat16


@pytest.mark.parametrize(
    ("name", "kinds", "result"),
    [
        ("add", "f d", "float64"),
        ("add", "f int", "float32"),
        ("add", "b float", "float64"),
        ("sin", "b", "float16"),
        ("sin", "i", "float64"),
        ("true_divide", "b b", "float64"),
        ("logical_and", "F F", None),
        ("less", "b int", "bool"),
    ],
)
def test_loops_picked(name, kinds, result):
    words = {"int": int, "float": float}
    operands = [words.get(k) or np.dtype(k) for k in kinds.split()]
    loop = pick(name, [parse(t) for t in facts.fact("cupy", name).loops], operands)
    assert (None if loop is None else loop.outs[0].name) == result


def test_without_cupy_the_command_says_so(monkeypatch, capsys):
    def missing(_name):
        raise ImportError("No module named 'cupy'")

    monkeypatch.setattr(facts, "import_module", missing)
    assert facts.main([]) == 1
    assert "No module named 'cupy'" in capsys.readouterr().err


@needs_cupy
def test_the_table_is_the_installed_one(capsys):
    assert facts.main([]) == 0
    assert json.loads(capsys.readouterr().out) == facts.table()


@needs_cupy
def test_loops_are_picked_as_cupy_picks_them():
    import cupy  # noqa: PLC0415 - only where it is installed

    names = [n for n, e in facts.table()["cupy"].items() if "->" in e and not e.startswith("(")]
    for name in names:
        ufunc = getattr(cupy, name)
        loops = [parse(t) for t in facts.fact("cupy", name).loops]
        for kinds in itertools.product(OPERANDS, repeat=ufunc.nin):
            if all(k in STRONG for k in kinds):
                continue
            mine = pick(name, loops, kinds)
            assert (mine and list(map(str, mine.outs))) == _cupys(ufunc, kinds), (name, kinds)


def _cupys(ufunc, kinds):
    """Ask CuPy's own resolution, whose choice of weak scalars is compiled and so stated here."""
    dtypes = tuple(STRONG.get(k, k) for k in kinds)
    weak = tuple(k if k in STRONG else False for k in kinds)
    ranks = {"b": 0, "i": 1, "u": 1}
    high = max(ranks.get(np.dtype(k).kind, 2) for k in kinds if k in STRONG) if any(weak) else 0
    arrays = max(ranks.get(k.kind, 2) for k in kinds if k not in STRONG)
    op = ufunc._ops._guess_routine_from_in_types(dtypes, weak if arrays >= high else None)
    return op and [str(np.dtype(t)) for t in op.out_types]
