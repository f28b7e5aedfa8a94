"""Solvers of systems of which only products with vectors are known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arrayport.core.lazy import Lazy

if TYPE_CHECKING:
    from arrayport.scipy.sparse import linalg as linalg
else:
    linalg = Lazy("arrayport.scipy.sparse.linalg")
