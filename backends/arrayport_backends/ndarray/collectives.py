"""Collectives on NumPy and CuPy: the trace of their axis does them, so no kernel is left to run."""

from __future__ import annotations

from arrayport.core.backend import Refusal
from arrayport.ops.collectives import COLLECTIVES
from arrayport_backends.ndarray.kernels import Rows

MAPPED = Refusal("it works on a whole mapped axis, within the vmap that names it")

ROWS: Rows = dict.fromkeys(COLLECTIVES, MAPPED)
