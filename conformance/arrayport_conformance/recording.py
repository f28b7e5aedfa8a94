"""The pytest plugin by which a run of the standard's suite notes each test's outcome."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from arrayport_conformance.standard import FINISHED, RECORD


def note(**entry: Any) -> None:
    """Add a line to the record: by the one process that hears of every test."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        with Path(os.environ[RECORD]).open("a", encoding="utf-8") as record:
            record.write(json.dumps(entry) + "\n")


@pytest.hookimpl(trylast=True)
def pytest_configure() -> None:
    """Let drawing take its time: that a machine is busy, or compiles, is no failure."""
    patient = settings(suppress_health_check=[HealthCheck.too_slow])
    settings.register_profile("patient", patient)
    settings.load_profile("patient")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what an earlier run has finished."""
    finished = set(Path(os.environ[FINISHED]).read_text("utf-8").splitlines())
    note(collected=[item.nodeid for item in items])
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid in finished])
    items[:] = [item for item in items if item.nodeid not in finished]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node: Any, ids: list[str]) -> None:
    """Note what a worker of pytest-xdist has found, for the main process collects nothing."""
    del node
    note(collected=list(ids))


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Note a file that cannot be read."""
    if report.failed:
        note(test=report.nodeid, outcome="error", detail=_last_line(report.longreprtext))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note how a test ended."""
    if report.skipped:
        expected = hasattr(report, "wasxfail")
        detail = report.wasxfail if expected else report.longrepr[-1]  # type: ignore[index]
        outcome = "xfailed" if expected else "skipped"
        note(test=report.nodeid, outcome=outcome, detail=str(detail).removeprefix("Skipped: "))
    elif report.failed:
        outcome = "failed" if report.when == "call" else "error"
        note(test=report.nodeid, outcome=outcome, detail=_last_line(report.longreprtext))
    elif report.when == "call":
        note(test=report.nodeid, outcome="passed", detail="")


def _last_line(text: str) -> str:
    """Give the line that names the error, of a traceback as pytest prints it."""
    lines = [line[1:].strip() for line in text.splitlines() if line.startswith("E ")]
    return (lines or text.strip().splitlines() or [""])[0][:300]
