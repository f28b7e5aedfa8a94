"""Measuring: results compared, then interleaved bursts of calls, of which the least time counts.

Time is the processor's for this process with all its threads, which others on the machine disturb
less than the wall's; a burst is long enough for its clock.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Sequence
from itertools import repeat
from math import ceil
from time import perf_counter, process_time
from typing import Any

import numpy as np

from benchmarks.rows import OURS, Contender, Finding, Row

BURST = 4e-3  # seconds: a colder interpreter is a quarter slower
ROUNDS = 3  # at least
NOTHING = 1e-9  # seconds: less than any call takes
SLOW = 0.1  # seconds: such a call is warm after its second
SHARE = 0.05  # seconds: who needs more in a round comes less often


class _Runner:
    """One contender in one row, ready to run."""

    def __init__(self, finding: Finding, name: str, contender: Contender) -> None:
        self.finding, self.name, self.contender = finding, name, contender
        self.clock = contender.clock or process_time
        self.loops = self.every = 1

    def start(self) -> Any:
        """Run for the first time, then until warm; choose how often to run; return the result."""
        started = self.clock()
        result = self.contender.call()
        if self.contender.wait:
            self.contender.wait(result)
        first = max(self.clock() - started, NOTHING)
        self.finding.first[self.name] = first
        if first >= SLOW:  # it compiled, or loaded a library
            first = self.burst()
        if first < SLOW:
            warm = [self.burst(max(1, int(BURST / 10 / first))) for _ in range(5)]
            first = min(*warm, self.burst(max(1, int(BURST / min(warm)))))
        self.loops = max(1, int(BURST / first))
        self.every = ceil(self.loops * first / SHARE)
        return result

    def burst(self, loops: int = 0) -> float:
        """Return seconds a call."""
        loops = loops or self.loops
        call, wait, clock = self.contender.call, self.contender.wait, self.clock
        started = clock()
        for _ in repeat(None, loops - 1):
            call()
        result = call()
        if wait:
            wait(result)
        return (clock() - started) / loops

    def keep(self, seconds: float) -> None:
        """Note a burst's time, the empty call's already taken off."""
        least = self.finding.least
        seconds = max(seconds / self.contender.per, NOTHING)
        least[self.name] = min(least.get(self.name, np.inf), seconds)


def measure(
    rows: Sequence[Row], seconds: float, told: Callable[[str], None] = lambda _: None
) -> list[Finding]:
    """Time rows for about so many seconds in all, after what their first calls need.

    A row that cannot be made, fails, or whose contenders differ in value has a `problem` and no
    times; where only a peer fails, that peer is left out.
    """
    findings = []
    runners: list[_Runner] = []
    for row in rows:
        told(row.id)
        finding = Finding(row)
        runners += _started(finding)
        findings.append(finding)
    empty = _Runner(Finding(rows[0]), "", Contender(_nothing))
    empty.loops = 5000
    nothing, rounds, end = np.inf, 0, perf_counter() + seconds
    gc.collect()
    gc.disable()
    try:
        while rounds < ROUNDS or perf_counter() < end:
            nothing = min(nothing, empty.burst())
            # Who comes first in a row finds the caches cold: take turns.
            for runner in runners[:: -1 if rounds % 2 else 1]:
                if rounds < ROUNDS or rounds % runner.every == 0:
                    runner.keep(runner.burst() - nothing)
            gc.collect()
            rounds += 1
    finally:
        gc.enable()
    return findings


def _nothing() -> None:
    pass


def _started(finding: Finding) -> list[_Runner]:
    row = finding.row
    try:
        contenders = row.make()
    except Exception as e:  # noqa: BLE001 - a row that cannot be made says why
        finding.problem = _said(e)
        return []
    runners, results = [], {}
    for name, contender in contenders.items():
        runner = _Runner(finding, name, contender)
        try:
            results[name] = runner.start()
        except Exception as e:  # noqa: BLE001 - a contender that fails says why
            if name == OURS:
                finding.problem = _said(e)
                return []
            finding.absent[name] = _said(e)
            continue
        runners.append(runner)
    if row.ulps is not None:
        for name, result in results.items():
            far = distance(results[OURS], result)
            if not far <= row.ulps:
                finding.problem = f"differs from {name} by {far:.3g} ulp of the largest element"
                return []
    return runners


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0]


def distance(left: Any, right: Any) -> float:
    """Return how far two results are apart, in ulps of their largest element, the coarser dtype's.

    >>> distance([np.float32(1), (np.zeros(2),)], [np.float32(1), (np.zeros(2),)])
    0.0
    """
    pairs = list(zip(leaves(left), leaves(right), strict=True))
    return max((_distance(a, b) for a, b in pairs), default=0.0)


def _distance(a: np.ndarray, b: np.ndarray) -> float:
    if a.shape != b.shape:
        return np.inf
    if a.size == 0 or np.array_equal(a, b):
        return 0.0
    inexact = [x.dtype for x in (a, b) if x.dtype.kind in "fc"]
    step = max((float(np.finfo(d).eps) for d in inexact), default=1.0)
    wide = np.complex128 if any(d.kind == "c" for d in inexact) else np.float64
    a, b = a.astype(wide), b.astype(wide)
    return float(np.max(np.abs(a - b)) / max(np.max(np.abs(a)), np.max(np.abs(b))) / step)


def leaves(result: Any) -> Iterable[np.ndarray]:
    """Yield the arrays of a result as NumPy's."""
    if isinstance(result, dict):
        result = [result[key] for key in sorted(result)]
    if isinstance(result, tuple | list):
        for part in result:
            yield from leaves(part)
    elif result is not None:
        yield np.asarray(result)
