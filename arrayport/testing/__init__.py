"""Tools with which other libraries test that they are right on every backend.

`pip install "arrayport[testing]"` brings what they need. Where arrayport is installed, pytest has
its plugin: the fixture `xp` runs a test on every backend present, or on those that the option
`--arrayport-backends=NAME,...` names; the marker `requires(dtype=, backend=)` skips it elsewhere,
and `xfail_on(backend, reason)` says where it must fail.
"""

from __future__ import annotations

from arrayport.testing.agreement import Tolerance, Ulps
from arrayport.testing.equivalence import assert_equivalent, check_equivalent, present
from arrayport.testing.gradients import check_grads
from arrayport.testing.suites import backend_suite
from arrayport.testing.tracing import assert_max_traces
from arrayport.testing.transfers import assert_no_transfer

__all__ = [
    "Tolerance",
    "Ulps",
    "assert_equivalent",
    "assert_max_traces",
    "assert_no_transfer",
    "backend_suite",
    "check_equivalent",
    "check_grads",
    "present",
]
