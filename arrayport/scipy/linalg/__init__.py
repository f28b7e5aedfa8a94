"""JAX's scipy.linalg: decompositions, equations, functions of matrices, and special matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arrayport.core.names import absent
from arrayport.scipy.linalg.constructions import *
from arrayport.scipy.linalg.decompositions import *
from arrayport.scipy.linalg.equations import *
from arrayport.scipy.linalg.functions import *

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise absent("scipy.linalg", name)
