"""Random numbers from explicit keys: the same bits as jax.random's, on every backend."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arrayport.core.names import absent
from arrayport.random.counts import *
from arrayport.random.distributions import *
from arrayport.random.gammas import *
from arrayport.random.keys import *
from arrayport.random.normals import *
from arrayport.random.permutations import *
from arrayport.random.uniforms import *

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise absent("random", name)
