"""Collectives on NumPy and CuPy: the trace of their axis does them, so no kernel is left to run."""

from __future__ import annotations

from arrayport.core.backend import Refusal
from arrayport.ops import collectives as prims
from arrayport_backends.ndarray.kernels import Rows

MAPPED = Refusal("it works on a whole mapped axis, within the vmap that names it")

ROWS: Rows = {
    prims.psum_p: MAPPED,
    prims.psum_invariant_p: MAPPED,
    prims.pcast_p: MAPPED,
    prims.apart_p: MAPPED,
    prims.settle_p: MAPPED,
    prims.pmax_p: MAPPED,
    prims.pmin_p: MAPPED,
    prims.ppermute_p: MAPPED,
    prims.pbroadcast_p: MAPPED,
    prims.all_gather_p: MAPPED,
    prims.psum_scatter_p: MAPPED,
    prims.all_to_all_p: MAPPED,
    prims.axis_index_p: MAPPED,
}
