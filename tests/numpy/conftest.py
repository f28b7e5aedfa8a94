"""How a function of arrayport.numpy is held against jax.numpy's: value, dtype, weak type, backend.

Without jax, NumPy's values. Where we depart from JAX on purpose the contract's own tests say so.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import arrayport.numpy as anp
from tests.calls import converted, parts

if find_spec("jax"):
    import jax.numpy as reference
else:
    reference = np  # type: ignore[assignment]

# Weak here by our rule that an answer is weak if all operands are, strong in JAX.
STRONG_IN_JAX = {"log10"}
# Index dtypes are the standard's: the default integer, where JAX has int32 with 64 bits on too.
INDICES = {"searchsorted", "digitize", "unravel_index", "ravel_multi_index"}
# Functions whose answer a library or an order of summation decides in the last places.
LOOSE = {"prod": 3e-6, "float_power": 3e-6, "power": 3e-6}
PLAIN = {"dtype", "axis", "axes", "shape", "method", "mode", "q"}  # arguments that are no arrays

HERE = Path(__file__).parent
EVERY = int(os.environ.get("ARRAYPORT_TEST_EVERY", "4"))

_expected: dict[int, list[Any] | None] = {}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Take every fourth case on JAX, which compiles each primitive for each shape: for minutes.

    ARRAYPORT_TEST_EVERY=1 takes them all.
    """
    dropped = [
        item
        for item in items
        if item.path.parent == HERE
        and (found := re.search(r"test_equals_jax\[jax-\w+-(\d+)\]", item.name))
        and int(found[1]) % EVERY
    ]
    config.hook.pytest_deselected(items=dropped)
    gone = set(map(id, dropped))
    items[:] = [item for item in items if id(item) not in gone]


def expected(case: Any) -> list[Any] | None:
    """Ask the reference, once for all backends; None where NumPy stands in and cannot say."""
    name, args, kwargs = case
    if reference is not np and not hasattr(reference, name):
        pytest.skip(f"the installed jax.numpy has no {name}")
    if id(case) not in _expected:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                _expected[id(case)] = parts(getattr(reference, name)(*args, **kwargs))
            except (AttributeError, TypeError):
                if reference is not np:
                    raise
                _expected[id(case)] = None
    return _expected[id(case)]


@pytest.fixture
def equals_jax(backend: str) -> Callable[[Any], None]:
    def check(case: Any) -> None:
        name, args, kwargs = case
        wanted = expected(case)
        if wanted is None:
            pytest.skip("NumPy has no such function or argument, and jax is not installed")
        options = {k: v if k in PLAIN else converted(v) for k, v in kwargs.items()}
        found = parts(getattr(anp, name)(*converted(args), **options))
        assert len(found) == len(wanted)
        for ours, theirs in zip(found, wanted, strict=True):
            a, b = np.asarray(ours), np.asarray(theirs)
            assert a.shape == b.shape
            if hasattr(theirs, "weak_type"):
                assert ours.dtype == theirs.dtype or name in INDICES
                # A number stays neutral until it meets an array.
                assert ours.device.backend == backend or (ours.weak_type and not a.shape)
                if ours.dtype != bool and name not in STRONG_IN_JAX:
                    assert ours.weak_type == theirs.weak_type
            tolerance = 1e-3 if a.dtype == np.float16 else LOOSE.get(name, 2e-6)
            np.testing.assert_allclose(
                a.astype(b.dtype), b, rtol=tolerance, atol=tolerance if b.dtype.kind in "fc" else 0
            )

    return check
