"""The modes that JAX's lax names: accuracy, indices out of range, rounding, random algorithms."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from arrayport.ops.convolution import ConvDimensionNumbers

__all__ = [
    "AccuracyMode",
    "ConvGeneralDilatedDimensionNumbers",
    "DotDimensionNumbers",
    "GatherScatterMode",
    "RandomAlgorithm",
    "RoundingMethod",
    "Tolerance",
]

Axes: TypeAlias = tuple[Sequence[int], Sequence[int]]
DotDimensionNumbers: TypeAlias = tuple[Axes, Axes]
ConvGeneralDilatedDimensionNumbers: TypeAlias = tuple[str, str, str] | ConvDimensionNumbers | None


class AccuracyMode(enum.Enum):
    """How exactly accelerators compute functions; elsewhere they are exact to the dtype.

    Source: ``jax.lax.AccuracyMode``.
    """

    HIGHEST = 1
    DEFAULT = 2


@dataclass(frozen=True)
class Tolerance:
    """The error that an accelerator may make in a function. Source: ``jax.lax.Tolerance``."""

    atol: float = 0.0
    rtol: float = 0.0
    ulps: int = 0

    def __post_init__(self) -> None:
        if min(self.atol, self.rtol, self.ulps) < 0:
            raise ValueError(f"tolerances must not be negative: {self}")


class GatherScatterMode(enum.Enum):
    """What an index out of range means. Source: ``jax.lax.GatherScatterMode``."""

    CLIP = enum.auto()
    FILL_OR_DROP = enum.auto()
    PROMISE_IN_BOUNDS = enum.auto()


class RandomAlgorithm(enum.IntEnum):
    """What makes the bits of `rng_bit_generator`. Source: ``jax.lax.RandomAlgorithm``."""

    RNG_DEFAULT = 0
    RNG_THREE_FRY = 1
    RNG_PHILOX = 2


class RoundingMethod(enum.IntEnum):
    """Where halves round to. Source: ``jax.lax.RoundingMethod``."""

    AWAY_FROM_ZERO = 0
    TO_NEAREST_EVEN = 1
