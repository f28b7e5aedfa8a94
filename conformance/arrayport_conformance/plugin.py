"""The pytest plugin: the fixture `xp` over the backends present, an option and two markers.

Every pytest of an environment with arrayport loads it, so it imports arrayport only for a test that
takes `xp`, and runs on older releases of pytest than arrayport's own tests do.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

OPTION = "--arrayport-backends"
MARKERS = {
    "requires(dtype=..., backend=...)": "run only where the dtype exists, or on that backend",
    "xfail_on(backend, reason)": "the test must fail on that backend, for that reason",
}


class BackendName(str):
    """A backend's name as the parameter of `xp`: no other plugin's parameter is one."""

    __slots__ = ()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Take the backends to run on."""
    group = parser.getgroup("arrayport")
    group.addoption(OPTION, metavar="NAME,...", help="run on these backends, not on all present")


def pytest_configure(config: pytest.Config) -> None:
    """Describe the markers."""
    for marker, meaning in MARKERS.items():
        config.addinivalue_line("markers", f"{marker}: {meaning}")


@pytest.hookimpl(trylast=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that takes this plugin's `xp` once on each backend."""
    found = metafunc._arg2fixturedefs.get("xp")  # noqa: SLF001 - nothing public says whose it is
    taken = any("xp" in call.params for call in metafunc._calls)  # noqa: SLF001 - nor that
    if taken or not found or found[-1].func.__module__ != __name__:
        return
    backend_runs = import_module("arrayport.testing.backend_runs")
    asked = (metafunc.config.getoption(OPTION) or "").split(",")
    try:
        runs = backend_runs.runs(
            [name.strip() for name in asked if name.strip()],
            list(metafunc.definition.iter_markers("requires")),
            list(metafunc.definition.iter_markers("xfail_on")),
        )
    except backend_runs.WrongCallError as error:
        raise pytest.UsageError(str(error)) from None
    metafunc.parametrize(
        "xp",
        [pytest.param(BackendName(run.name), marks=_marks(run), id=run.name) for run in runs],
        indirect=True,
        scope="session",
    )


def _marks(run: Any) -> list[pytest.MarkDecorator]:
    skips = [pytest.mark.skip(reason=run.lacks)] if run.lacks else []
    fails = [pytest.mark.xfail(reason=run.fails, strict=True)] if run.fails else []
    return [*skips, *fails]


@pytest.fixture(scope="session")
def xp() -> Any:
    """Give `arrayport.numpy`, while the test's work goes to one backend after the other."""
    return import_module("arrayport.numpy")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Send the work of a test that takes `xp` to its backend, fixtures included."""
    name = getattr(getattr(item, "callspec", None), "params", {}).get("xp")
    if not isinstance(name, BackendName):
        yield
        return
    with import_module("arrayport.core.backend").use_backend(str(name)):
        yield
