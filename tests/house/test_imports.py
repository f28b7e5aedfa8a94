"""Who imports whom: the contracts between rooms, and what `import arrayport` loads."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

import arrayport

LINT = "from importlinter.cli import lint_imports_command; lint_imports_command()"
LOADED = "import sys, arrayport, arrayport.numpy; print(*sys.modules)"
LATE = [f"arrayport.{name}" for name in ("lax", "nn", "image", "random", "scipy", "experimental")]


def test_contracts_are_kept(passes: Callable[..., str]):
    passes("-c", LINT, "--no-cache")


@pytest.fixture(scope="module")
def loaded(passes: Callable[..., str]) -> set[str]:
    return set(passes("-c", LOADED).split())


@pytest.mark.parametrize("library", ["jax", "jaxlib", "cupy", "scipy", *LATE])
def test_importing_arrayport_leaves_alone(library: str, loaded: set[str]):
    assert "arrayport" in loaded
    assert library not in loaded


def test_modules_that_few_need_are_loaded_when_asked_for():
    assert {"lax", "image", "grad"} <= set(dir(arrayport))
    for name in LATE:
        assert getattr(arrayport, name.partition(".")[2]) is sys.modules[name]
    with pytest.raises(AttributeError, match="laxx"):
        arrayport.laxx  # noqa: B018 - it is to be refused


def test_the_command_needs_no_testing_library(passes: Callable[..., str]):
    """The README's first line installs neither."""
    hidden = "import sys; sys.modules.update(pytest=None, hypothesis=None, mpmath=None); "
    passes("-c", f"{hidden}from arrayport_conformance.cli import main; main(['doctor'])")
