"""JAX's experimental: what programs written for JAX import from there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arrayport.control.callbacks import io_callback as io_callback
from arrayport.core.names import absent
from arrayport.experimental import checkify as checkify
from arrayport.experimental import mesh_utils as mesh_utils
from arrayport.experimental import ode as ode
from arrayport.experimental import shard_map as shard_map

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise absent("experimental", name)
