"""Tools with which other libraries test that they are right on every backend.

`pip install "arrayport[testing]"` brings what they need. `pytest_plugins =
["arrayport.testing.plugin"]` in a conftest.py gives the fixture `xp`.
"""

from __future__ import annotations

from arrayport.testing.agreement import Tolerance, Ulps
from arrayport.testing.equivalence import assert_equivalent, check_equivalent, present
from arrayport.testing.gradients import check_grads
from arrayport.testing.tracing import assert_max_traces

__all__ = [
    "Tolerance",
    "Ulps",
    "assert_equivalent",
    "assert_max_traces",
    "check_equivalent",
    "check_grads",
    "present",
]
