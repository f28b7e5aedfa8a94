"""Calls of functions that another library has too: their arrays, and how both are called."""

from __future__ import annotations

from typing import Any

import numpy as np

import arrayport.numpy as anp

RNG = np.random.default_rng(0)
F = RNG.normal(size=(3, 4)).astype(np.float32)
G = RNG.normal(size=(4,)).astype(np.float32)
P = RNG.uniform(0.1, 2.0, (3, 4)).astype(np.float32)
H = RNG.normal(size=(3, 4)).astype(np.float16)
C = (F + 1j * RNG.normal(size=(3, 4))).astype(np.complex64)
I = RNG.integers(-9, 9, (3, 4)).astype(np.int32)
S = RNG.integers(-9, 9, (3, 4)).astype(np.int8)
U = RNG.integers(1, 9, (3, 4)).astype(np.uint8)
B = RNG.integers(0, 2, (3, 4)).astype(bool)
N = np.where(B, np.float32(np.nan), F)
T = RNG.normal(size=(2, 3, 4)).astype(np.float32)
V = np.sort(G)
Q = RNG.normal(size=(3, 3)).astype(np.float32)
SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan], np.float32)

Case = tuple[str, tuple[Any, ...], dict[str, Any]]


def case(name: str, *args: Any, **kwargs: Any) -> Case:
    return name, args, kwargs


def parts(x: Any) -> list[Any]:
    """Flatten what a function gives."""
    return [p for item in x for p in parts(item)] if isinstance(x, tuple | list) else [x]


def converted(args: Any) -> Any:
    """Give NumPy's arrays as ours."""
    if isinstance(args, np.ndarray):
        return anp.asarray(args)
    return type(args)(map(converted, args)) if isinstance(args, tuple | list) else args
