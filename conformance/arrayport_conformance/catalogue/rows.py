"""Row, the catalogue's statement about one public callable, and the arguments that it samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from arrayport.core import dtypes as types
from arrayport.core.tree import tree_leaves, tree_map

FLOATS = ("float32", "float64")
NARROW = ("float16", "bfloat16")
COMPLEX = ("complex64", "complex128")
INTEGERS = ("int32", "int8", "uint8")
INEXACT = (*FLOATS, *COMPLEX)
REALS = (*FLOATS, *INTEGERS)
NUMBERS = (*REALS, "complex64")
ANY = (*NUMBERS, "bool", "float16")

# Domains: what an operand's numbers may be.
REAL, POSITIVE, UNIT, FRACTION, BELOW_HALF, ABOVE_ONE, APART, NONZERO = (
    "real",
    "positive",
    "unit",
    "fraction",
    "below half",
    "above one",
    "apart",
    "nonzero",
)
SORTED, SYMMETRIC, DEFINITE, REGULAR, LOWER = (
    "sorted",
    "symmetric",
    "definite",
    "regular",
    "lower",
)

SIGNS = "the signs of vectors are free"  # why a row has no reference, and backends differ in it
MATRICES = (SYMMETRIC, DEFINITE, REGULAR, LOWER)  # of which the parts of a number are not apart


@dataclass(frozen=True)
class Operand:
    """An array that a sample fills with numbers.

    dtype   its own; else the one drawn for the call
    below   integers from 0 up to it, for indices
    fixed   not one of the operands that laws batch and differentiate
    """

    shape: tuple[int, ...]
    domain: str = REAL
    dtype: str = ""
    below: int = 0
    fixed: bool = False


@dataclass(frozen=True)
class Made:
    """An argument that each library makes by its own type or function of this name."""

    path: str
    arguments: tuple[Any, ...]


@dataclass(frozen=True)
class Case:
    """A call with Operands in the place of arrays; what is no Operand is passed as it is."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


@dataclass(frozen=True, eq=False)
class Call:
    """A call with NumPy arrays; another one is never equal to it."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    case: Case

    def __repr__(self) -> str:
        named = [f"{name}={value!r}" for name, value in self.kwargs.items()]
        return f"({', '.join([*map(repr, self.args), *named])})"


@dataclass(frozen=True, eq=False)
class Row:
    """What the laws must know of one public callable."""

    function: str  # below arrayport: "numpy.sin"
    cases: tuple[Case, ...]
    dtypes: tuple[str | tuple[str, ...], ...] = FLOATS
    ulps: float = 4
    of_largest: bool = False  # ulps of the largest element: sums, products
    not_differentiable: str = ""  # the reason
    forward_only: str = ""  # the reason why there is no reverse mode
    not_batchable: str = ""  # the reason
    order: int = 2  # of the derivatives that the laws look at
    reference: str = ""  # a function of NumPy's or SciPy's with these arguments, to use for JAX's
    contract: str = ""  # the contract's row by which JAX differs: then NumPy is the reference
    only_jax: bool = False  # NumPy has no function of this name with these arguments
    no_reference: str = ""  # the reason: what such a row gives is tested elsewhere
    special: bool = False  # elementwise, so that zeros, infinities and NaN can be tried
    heavy: bool = False  # JAX compiles it for seconds: of its laws there, only that of values
    open_zero: bool = False  # which of two zeros is its result is open

    @property
    def name(self) -> str:
        """Name of the function, and of what tests say of it."""
        return self.function

    @property
    def batchable(self) -> bool:
        """Tell whether it can be traced and a case has an operand to batch."""
        leaves = tree_leaves([(case.args, case.kwargs) for case in self.cases])
        free = any(isinstance(x, Operand) and not x.fixed for x in leaves)
        return free and not self.not_batchable


def case(*args: Any, **kwargs: Any) -> Case:
    """State a call with Operands in the place of arrays."""
    return Case(args, kwargs)


def X(*shape: int, domain: str = REAL, dtype: str = "", fixed: bool = False) -> Operand:
    """State an operand of the drawn dtype."""
    return Operand(shape, domain, dtype, 0, fixed)


def I(*shape: int, below: int) -> Operand:  # noqa: E743 - short, as rows must be
    """State an operand that holds indices."""
    return Operand(shape, dtype="int32", below=below, fixed=True)


def B(*shape: int) -> Operand:
    """State an operand that holds booleans."""
    return Operand(shape, dtype="bool", fixed=True)


def made(path: str, *arguments: Any) -> Made:
    """State an argument that each library makes for itself."""
    return Made(path, arguments)


def fill(stated: Case, dtype: str | tuple[str, ...], seed: int) -> Call:
    """Put numbers in the place of a case's Operands; a tuple gives each of them its own dtype."""
    rng = np.random.default_rng(seed)
    drawn = iter(dtype if isinstance(dtype, tuple) else ())

    def number(x: Any) -> Any:
        if not isinstance(x, Operand):
            return x
        return numbers(
            rng, x, x.dtype or next(drawn, dtype if isinstance(dtype, str) else "float32")
        )

    args = tree_map(number, stated.args, is_leaf=_is_operand)
    return Call(args, tree_map(number, stated.kwargs, is_leaf=_is_operand), stated)


def add(x: Any, y: Any) -> Any:
    """Add: for rows that take a function."""
    return x + y


def double(x: Any) -> Any:
    """Double: for rows that take a function."""
    return x * 2


def _is_operand(x: Any) -> bool:
    return isinstance(x, Operand) or not isinstance(x, list | tuple | dict)


def numbers(rng: np.random.Generator, operand: Operand, name: str) -> np.ndarray[Any, Any]:
    """Draw an operand's numbers."""
    dtype = types.SUPPORTED[name]
    shape, kind = operand.shape, types.kind(dtype)
    if operand.below:
        return rng.integers(0, operand.below, shape).astype(dtype)
    if kind == "b":
        return rng.integers(0, 2, shape).astype(dtype)
    if kind in "iu":
        low = 1 if operand.domain in {NONZERO, POSITIVE} else -9 if kind == "i" else 0
        drawn = rng.integers(low, 10, shape)
        return np.sort(drawn).astype(dtype) if operand.domain == SORTED else drawn.astype(dtype)
    domain, real = operand.domain, rng.normal(size=shape) * 2
    if kind != "c":
        return np.asarray(_domain(real, domain)).astype(dtype)
    imag = rng.normal(size=shape) * 2
    if domain in MATRICES:
        return np.asarray(_domain(real + 1j * imag, domain)).astype(dtype)
    return np.asarray(_domain(real, domain) + 1j * _domain(imag, domain)).astype(dtype)


def _domain(x: Any, domain: str) -> Any:
    if domain == POSITIVE:
        return np.abs(x) + 0.125
    if domain == UNIT:
        return np.tanh(x) * 0.9
    if domain == FRACTION:
        return np.tanh(x) * 0.45 + 0.5
    if domain == BELOW_HALF:
        return np.tanh(x) * 0.2 + 0.25
    if domain == ABOVE_ONE:
        return np.abs(x) + 1.125
    if domain == NONZERO:
        return np.where(np.abs(x) < 0.25, x + 1, x)
    if domain == SORTED:
        return np.sort(x)
    if domain == APART:
        return x + np.arange(np.size(x)).reshape(np.shape(x)) * 0.01
    if domain == SYMMETRIC:
        return (x + np.swapaxes(np.conj(x), -1, -2)) / 2
    if domain == DEFINITE:
        n = x.shape[-1]
        return x @ np.swapaxes(np.conj(x), -1, -2) / 4 + n * np.eye(n)
    if domain == REGULAR:
        return x + 6 * np.eye(x.shape[-1])
    if domain == LOWER:
        return np.tril(x) + 6 * np.eye(x.shape[-1])
    return x


def rows(names: str, cases: Sequence[Case], **about: Any) -> list[Row]:
    """State rows that differ only in their function's name: "numpy.sin numpy.cos"."""
    return [Row(name, tuple(cases), **about) for name in names.split()]
