"""Creation and changes of shape: jax.numpy's answers on every backend."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

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


CASES: list[Case] = [
    # creation
    case("array", [1, 2.5]),
    case("array", [[1, 2], [3, 4]]),
    case("array", 3),
    case("array", True),
    case("array", [True, 2]),
    case("asarray", F),
    case("array", [F[0], G]),
    case("array", [1, 2j]),
    case("array", [np.float32(1), 2]),
    case("array", []),
    case("array", F, dtype="int32"),
    case("asarray", 1.5),
    case("array", [1, 2], ndmin=3),
    case("asarray", 2.5, dtype="int8"),
    case("array", np.arange(3)),
    case("zeros", (2, 3)),
    case("ones", 3, dtype="int16"),
    case("full", (2,), 7),
    case("full", (2, 2), G[:2]),
    case("full", (2,), 1.5, dtype="int32"),
    case("empty", (0, 2)),
    case("zeros_like", I),
    case("ones_like", 2.0),
    case("full_like", I, 2.7),
    case("full_like", F, 1, shape=(2,)),
    case("zeros_like", F, dtype="int8"),
    case("full_like", F, G),
    case("arange", 5),
    case("arange", 5.0),
    case("arange", 1, 9, 3),
    case("arange", 0, 1, 0.25),
    case("arange", 5, 0, -2),
    case("arange", 3, dtype="float16"),
    case("arange", -3),
    case("arange", 2, 2),
    case("linspace", 0, 1, 5),
    case("linspace", 0, 1, 5, endpoint=False),
    case("linspace", G, 2 * G, 3, axis=1),
    case("linspace", 0, 10, 4, dtype="int32"),
    case("linspace", 0, 1, 1),
    case("linspace", 0.0, 1.0, 3, retstep=True),
    case("logspace", 0, 2, 4),
    case("geomspace", 1.0, 100.0, 5),
    case("eye", 3),
    case("eye", 2, 4, 1, dtype="int32"),
    case("identity", 2),
    case("tri", 3, 4, 1),
    case("tril", F),
    case("triu", T, 1),
    case("tril", F, -1),
    case("meshgrid", G, V),
    case("meshgrid", G, V, indexing="ij", sparse=True),
    case("indices", (2, 3)),
    case("tril_indices", 3),
    case("triu_indices", 3, 1),
    case("diag", G),
    case("diag", G, -1),
    case("diag", F, 1),
    case("diagflat", F),
    case("diagonal", F),
    case("diagonal", T, 1, 0, 2),
    case("diagonal", F, -2),
    case("trace", F),
    case("trace", T, 1),
    case("trace", S),
    case("hanning", 5),
    case("hamming", 5),
    case("bartlett", 5),
    case("blackman", 5),
    case("hanning", 1),
    case("vander", G),
    case("vander", np.array([3, 200], np.uint8), 6),
    case("diag_indices", 3),
    # shapes
    case("reshape", F, (2, -1)),
    case("reshape", F, 12),
    case("reshape", F, (4, 3), order="F"),
    case("ravel", F),
    case("ravel", F, order="F"),
    case("transpose", T),
    case("transpose", T, (1, -1, 0)),
    case("permute_dims", T, (2, 0, 1)),
    case("matrix_transpose", T),
    case("swapaxes", T, 0, -1),
    case("moveaxis", T, (0, 1), (-1, 0)),
    case("rollaxis", T, 2),
    case("rollaxis", T, 0, 3),
    case("expand_dims", F, (0, -1)),
    case("squeeze", F[None, :, None]),
    case("squeeze", F[None], 0),
    case("concatenate", [F, I]),
    case("concatenate", [F, F], axis=1),
    case("concatenate", [F, G], axis=None),
    case("stack", [G, V], axis=1),
    case("vstack", [G, V]),
    case("hstack", [G, V]),
    case("hstack", [F, F]),
    case("dstack", [F, F]),
    case("column_stack", [G, V]),
    case("append", G, 1.0),
    case("append", F, F, axis=0),
    case("block", [[F, F], [F, F]]),
    case("block", [1.0, G]),
    case("split", F, 2, axis=1),
    case("split", G, [1, 3]),
    case("array_split", np.arange(7), 3),
    case("hsplit", F, 2),
    case("vsplit", F, 3),
    case("dsplit", T, 2),
    case("tile", G, 2),
    case("tile", F, (2, 1)),
    case("tile", G, (2, 2)),
    case("repeat", G, 2),
    case("repeat", F, 2, axis=0),
    case("repeat", G, np.array([0, 1, 2, 1])),
    case("repeat", G, np.array([0, 1, 2, 1]), total_repeat_length=6),
    case("resize", G, (3, 3)),
    case("flip", T),
    case("flip", F, 1),
    case("fliplr", F),
    case("flipud", F),
    case("rot90", F),
    case("rot90", F, 3),
    case("rot90", F, 2),
    case("roll", F, 1),
    case("roll", F, (1, -2), axis=(0, 1)),
    case("roll", F, 5, axis=1),
    case("broadcast_to", G, (2, 4)),
    case("broadcast_arrays", G, F),
    case("atleast_1d", 1.0),
    case("atleast_2d", G),
    case("atleast_3d", F),
    case("atleast_3d", G),
    case("unstack", F),
    case("concat", [G, G]),
    case("size", F),
    case("shape", F),
    case("ndim", F),
    case("pad", F, 1),
    case("pad", F, ((1, 0), (0, 2)), constant_values=3.0),
    case("pad", G, 2, mode="edge"),
    case("pad", F, 2, mode="reflect"),
    case("pad", F, (1, 5), mode="symmetric"),
    case("pad", F, (1, 7), mode="reflect", reflect_type="odd"),
    case("pad", I, ((5, 0), (2, 1)), mode="symmetric", reflect_type="odd"),
    case("pad", F, 5, mode="wrap"),
    case("pad", G, (2, 3), mode="linear_ramp"),
    case("pad", F, 1, mode="mean"),
    case("pad", F, 1, mode="maximum"),
    case("pad", I, 1, constant_values=((1, 2), (3, 4))),
]


@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda i: f"{CASES[i][0]}-{i}")
def test_equals_jax(number: int, equals_jax: Callable[[Any], None]) -> None:
    equals_jax(CASES[number])
