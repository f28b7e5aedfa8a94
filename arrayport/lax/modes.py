"""The modes that JAX's lax names: precision, what out-of-range indices mean, how halves round."""

from __future__ import annotations

import enum

__all__ = ["GatherScatterMode", "Precision", "RoundingMethod"]


class Precision(enum.StrEnum):
    """How exactly accelerators multiply; elsewhere products are exact to the dtype."""

    DEFAULT = "default"
    HIGH = "high"
    HIGHEST = "highest"


class GatherScatterMode(enum.Enum):
    """What an index out of range means."""

    CLIP = enum.auto()
    FILL_OR_DROP = enum.auto()
    PROMISE_IN_BOUNDS = enum.auto()


class RoundingMethod(enum.IntEnum):
    """Where halves round to."""

    AWAY_FROM_ZERO = 0
    TO_NEAREST_EVEN = 1
