"""The catalogue is complete: every public callable has a row, or is excluded with a reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from types import ModuleType

import pytest
from arrayport_conformance import laws
from arrayport_conformance.catalogue import EXCLUDED, NEWER, ROWS

import arrayport as ap
from arrayport.core.names import NAMES, known


def public_callables() -> Iterator[str]:
    """Name every public function of a module that programs import."""
    for path in NAMES:
        try:
            module = laws.resolve(f"arrayport.{path}".rstrip("."))
        except (ImportError, AttributeError):
            continue
        for name in sorted({*known(path), *getattr(module, "__all__", ())}):
            value = getattr(module, name, None)
            error = isinstance(value, type) and issubclass(value, BaseException)
            if callable(value) and not isinstance(value, ModuleType) and not error:
                yield f"{path}.{name}".lstrip(".")


STATED = {row.function for row in ROWS}


def test_every_public_callable_has_a_row_or_a_reason():
    assert [name for name in public_callables() if name not in STATED | EXCLUDED.keys()] == []


def test_rows_and_exclusions_name_what_exists():
    known = set(public_callables())
    assert sorted((STATED | EXCLUDED.keys()) - known) == []


def test_no_callable_is_stated_twice():
    twice = [name for name, count in Counter(row.function for row in ROWS).items() if count > 1]
    assert twice + sorted(STATED & EXCLUDED.keys()) == []


def test_exclusions_have_reasons():
    assert [name for name, reason in EXCLUDED.items() if len(reason) < 10] == []


@pytest.mark.skipif(find_spec("jax") is None, reason="the names are JAX's")
def test_rows_without_a_reference_say_why():
    nameless = []
    for row in ROWS:
        try:
            found = laws.resolve(laws.reference_name(row)) if not row.no_reference else ap
        except AttributeError:
            found = None
        if found is None and row.function not in NEWER:
            nameless.append(row.function)
    assert nameless == []
