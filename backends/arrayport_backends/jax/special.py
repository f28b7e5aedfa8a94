"""JAX's kernels for special functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax.scipy.special as jsp
from jax import lax

from arrayport.core.primitive import Primitive
from arrayport.ops import special as ops

ROWS: Mapping[Primitive, Callable[..., Any]] = {
    ops.erf_p: lax.erf,
    ops.erfc_p: lax.erfc,
    ops.erf_inv_p: lax.erf_inv,
    ops.lgamma_p: lax.lgamma,
    ops.digamma_p: lax.digamma,
    ops.polygamma_p: lambda x, *, n: jsp.polygamma(n, x),
}
