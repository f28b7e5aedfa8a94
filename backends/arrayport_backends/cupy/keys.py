"""Typed random keys on a device: elements of CuPy are numbers, the 64 bits of a key's words."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayport.core import dtypes


class Keys:
    """An array of keys, which moves as its bits do; every kernel takes and gives those."""

    dtype = dtypes.key

    def __init__(self, bits: Any) -> None:
        self.bits = bits

    @property
    def shape(self) -> tuple[int, ...]:
        """Extent of each axis."""
        return self.bits.shape

    @property
    def device(self) -> Any:
        """Where they are."""
        return self.bits.device

    def __getitem__(self, key: Any) -> Keys:
        return type(self)(self.bits[key])

    def __setitem__(self, key: Any, value: Keys) -> None:
        self.bits[key] = value.bits

    def copy(self) -> Keys:
        """The same keys in memory of their own."""
        return type(self)(self.bits.copy())

    def view(self, dtype: Any) -> Any:
        """Their bits, as unsigned integers of 64."""
        return self.bits.view(dtype)

    def get(self) -> np.ndarray[Any, Any]:
        """The keys on the host, as NumPy holds them."""
        return self.bits.get().view(dtypes.key)
