"""JAX's scipy.special: the functions of mathematical physics, of probability and of entropy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arrayport.core.names import absent
from arrayport.scipy.exponentials import logsumexp as logsumexp
from arrayport.scipy.special.bessels import *
from arrayport.scipy.special.entropies import *
from arrayport.scipy.special.errors import *
from arrayport.scipy.special.gammas import *
from arrayport.scipy.special.hypergeometrics import *
from arrayport.scipy.special.integrals import *

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise absent("scipy.special", name)
