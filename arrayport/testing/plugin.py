"""The pytest plugin: the fixture `xp` over the backends present, an option and two markers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import pytest

from arrayport import numpy as anp
from arrayport.core import backend as backends
from arrayport.core import dtypes
from arrayport.core.errors import BackendNotFoundError
from arrayport.testing.equivalence import present

OPTION = "--arrayport-backends"
MARKERS = {
    "requires(dtype=..., backend=...)": "run only where the dtype exists, or on that backend",
    "xfail_on(backend, reason)": "the test must fail on that backend, for that reason",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Take the backends to run on."""
    parser.addoption(OPTION, metavar="NAME,...", help="run on these backends, not on all present")


def pytest_configure(config: pytest.Config) -> None:
    """Describe the markers."""
    for marker, meaning in MARKERS.items():
        config.addinivalue_line("markers", f"{marker}: {meaning}")


def _chosen(config: pytest.Config) -> list[str]:
    asked = [name for name in (config.getoption(OPTION) or "").split(",") if name]
    for name in asked:
        try:
            backends.get(name)
        except BackendNotFoundError as error:
            raise pytest.UsageError(f"{OPTION}: {error}") from None
    return asked or present()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that takes `xp` once on each backend."""
    if "xp" not in metafunc.fixturenames:
        return
    known = backends.entry_points()
    markers = list(metafunc.definition.iter_markers("xfail_on"))
    reasons = {_name(marker, known): marker for marker in markers}
    runs: list[Any] = []
    for name in _chosen(metafunc.config):
        skips = [
            pytest.mark.skip(reason=reason)
            for marker in metafunc.definition.iter_markers("requires")
            if (reason := _lacking(marker, name, known))
        ]
        fails = []
        if name in reasons:
            words = {
                **dict(zip(("backend", "reason"), reasons[name].args, strict=False)),
                **reasons[name].kwargs,
            }
            fails = [pytest.mark.xfail(reason=words["reason"], strict=True)]
        runs.append(pytest.param(name, marks=[*skips, *fails]))
    metafunc.parametrize("xp", runs, indirect=True, scope="session")


def _name(marker: pytest.Mark, known: Any) -> str:
    name = marker.args[0] if marker.args else marker.kwargs.get("backend", "")
    if name not in known or (len(marker.args) < 2 and "reason" not in marker.kwargs):
        raise pytest.UsageError(
            f"xfail_on needs a backend ({', '.join(sorted(known))}) and a reason, not "
            f"{marker.args} {marker.kwargs}"
        )
    return str(name)


def _lacking(marker: pytest.Mark, name: str, known: Any) -> str:
    """Say what a backend lacks that a test requires; empty if nothing."""
    wanted = dict(marker.kwargs)
    backend, dtype = wanted.pop("backend", None), wanted.pop("dtype", None)
    if marker.args or wanted or (backend is not None and backend not in known):
        raise pytest.UsageError(
            f"requires takes dtype= and backend= ({', '.join(sorted(known))}), not "
            f"{marker.args} {marker.kwargs}"
        )
    if backend is not None and name != backend:
        return f"it is about the backend {backend}"
    if dtype is not None and dtypes.canonicalize(dtype) != dtypes.promote_types(dtype, dtype):
        return f"{dtype} needs 64-bit types: config.update('enable_x64', True)"
    return ""


@pytest.fixture(scope="session")
def xp() -> Any:
    """Give `arrayport.numpy`, while the test's work goes to one backend after the other."""
    return anp


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Send the work of a test that takes `xp` to its backend, fixtures included."""
    parameters = getattr(getattr(item, "callspec", None), "params", {})
    name = parameters.get("xp")
    with backends.use_backend(name) if name else nullcontext():
        return (yield)
