"""What CuPy cannot do with random keys."""

from __future__ import annotations

from arrayport.core.backend import Refusal
from arrayport.ops.random import random_unwrap_p, random_wrap_p
from arrayport_backends.ndarray.kernels import Rows

NO_KEYS = Refusal(
    "CuPy has no element type for typed keys: use raw ones, random.PRNGKey for random.key"
)
ROWS: Rows = {random_wrap_p: NO_KEYS, random_unwrap_p: NO_KEYS}
