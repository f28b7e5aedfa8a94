"""What each operation means, a file a family; under JAX's names the reductions by segments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arrayport.core.names import absent
from arrayport.ops.segments import segment_max as segment_max
from arrayport.ops.segments import segment_min as segment_min
from arrayport.ops.segments import segment_prod as segment_prod
from arrayport.ops.segments import segment_sum as segment_sum

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise absent("ops", name)
