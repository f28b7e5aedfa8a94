"""The scalar language: what one element of a kernel computes, whatever prints it as code."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from arrayport.core import dtypes

DType = np.dtype[Any]
Number = complex  # a Python bool, int, float or complex

# What kernels hold: the narrower floats and integers of ml_dtypes stay with array libraries.
NUMBERS = frozenset(
    d for d in dtypes.SUPPORTED.values() if d.itemsize > 1 or d in {dtypes.int8, dtypes.uint8}
) | {dtypes.bool_}
DTYPES = NUMBERS | {dtypes.key}  # a typed key is held as an unsigned integer of all its bits
HALVES = frozenset({dtypes.float16, dtypes.bfloat16})  # held as float32, rounded by `cast`

COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}

# Unlike those of `dtypes`, these know 64-bit types while x64 is off.
PARTS = {dtypes.complex64: dtypes.float32, dtypes.complex128: dtypes.float64}
WHOLES = {part: whole for whole, part in PARTS.items()}


def bits_of(dtype: DType) -> DType:
    """Give the signed integer of a float's or integer's width."""
    return np.dtype(f"i{dtype.itemsize}")


def unsigned(dtype: DType) -> DType:
    """Give the unsigned integer of the width of a float, an integer or a key."""
    return np.dtype(f"u{dtype.itemsize}")


@dataclass(frozen=True, eq=False, slots=True)
class Scalar:
    """One value in a kernel; operators emit code, and Python numbers take the other's dtype.

    `code` is the printer's own; of a complex number it is a pair of Scalars. Operators mean what
    IEEE arithmetic or wrapping integers do, one rounding each; `>>` keeps the sign of signed
    integers; a shift, or a conversion by `Builder.convert`, must stay within its range.
    """

    dtype: DType
    code: Any
    builder: Builder

    def __add__(self, y: Scalar | Number) -> Scalar:
        return self.builder.add(self, self.like(y))

    def __radd__(self, x: Number) -> Scalar:
        return self.builder.add(self.like(x), self)

    def __sub__(self, y: Scalar | Number) -> Scalar:
        return self.builder.sub(self, self.like(y))

    def __rsub__(self, x: Number) -> Scalar:
        return self.builder.sub(self.like(x), self)

    def __mul__(self, y: Scalar | Number) -> Scalar:
        return self.builder.mul(self, self.like(y))

    def __rmul__(self, x: Number) -> Scalar:
        return self.builder.mul(self.like(x), self)

    def __truediv__(self, y: Scalar | Number) -> Scalar:
        return self.builder.operate("div", self.dtype, self, self.like(y))

    def __rtruediv__(self, x: Number) -> Scalar:
        return self.builder.operate("div", self.dtype, self.like(x), self)

    def __neg__(self) -> Scalar:
        return self.builder.neg(self)

    def __invert__(self) -> Scalar:
        return self.builder.operate("not", self.dtype, self)

    def __and__(self, y: Scalar | Number) -> Scalar:
        return self.builder.operate("and", self.dtype, self, self.like(y))

    def __or__(self, y: Scalar | Number) -> Scalar:
        return self.builder.operate("or", self.dtype, self, self.like(y))

    def __xor__(self, y: Scalar | Number) -> Scalar:
        return self.builder.operate("xor", self.dtype, self, self.like(y))

    def __lshift__(self, y: Scalar | Number) -> Scalar:
        return self.builder.operate("shl", self.dtype, self, self.like(y))

    def __rshift__(self, y: Scalar | Number) -> Scalar:
        return self.builder.operate("shr", self.dtype, self, self.like(y))

    def __lt__(self, y: Scalar | Number) -> Scalar:
        return self.builder.operate("lt", dtypes.bool_, self, self.like(y))

    def __le__(self, y: Scalar | Number) -> Scalar:
        return self.builder.operate("le", dtypes.bool_, self, self.like(y))

    def __gt__(self, y: Scalar | Number) -> Scalar:
        return self.builder.operate("gt", dtypes.bool_, self, self.like(y))

    def __ge__(self, y: Scalar | Number) -> Scalar:
        return self.builder.operate("ge", dtypes.bool_, self, self.like(y))

    def __eq__(self, y: object) -> Scalar:  # type: ignore[override]
        return self.builder.equal(self, self.like(y))

    def __ne__(self, y: object) -> Scalar:  # type: ignore[override]
        return ~(self == y) if self.kind == "c" else self.builder.differ(self, self.like(y))

    __hash__ = None  # type: ignore[assignment]

    def like(self, y: Any) -> Scalar:
        """Give y, a number as a constant of this dtype."""
        return y if isinstance(y, Scalar) else self.builder.constant(y, self.dtype)

    @property
    def kind(self) -> str:
        """The category of the dtype: 'b', 'i', 'u', 'f' or 'c'; 'k' for keys."""
        return dtypes.kind(self.dtype)


class Builder(ABC):
    """Emits the code of one element; a printer states the abstract methods."""

    contracts = True  # whether anything may become part of an fma: what is rounded to 16 bits not
    scales = False  # whether "scale", "exponent" and "significand" are instructions that it has

    @abstractmethod
    def operate(self, name: str, dtype: DType, *xs: Scalar) -> Scalar:
        """One instruction on real numbers, bool or integers, which gives `dtype`.

        Its names: add sub mul div rem neg; and or xor not shl shr; eq ne lt le gt ge; select; fma
        sqrt floor ceil rint trunc abs copysign; clz popcount; convert bitcast round; and of floats
        x >= 0 and a whole float n, if it `scales`: scale (x 2**n), exponent (the least whole n
        with x < 2**(n+1), -inf of 0 and inf of inf), significand (x 2**-n from 3/4 to 3/2, 1 of 0
        and inf, NaN of x < 0). With "contracted " in front of add, sub and mul, one of these and
        the next may be one fma.
        """

    @abstractmethod
    def literal(self, value: Any, dtype: DType) -> Scalar:
        """A real constant, which `dtype` holds."""

    @abstractmethod
    def rare(self, suspect: Scalar, slow: Callable[..., Scalar], y: Scalar, *xs: Scalar) -> Scalar:
        """Give y, but slow(b, *xs) where `suspect` holds, by a branch that costs little elsewhere.

        `slow` is a function of a module, whose name is the code's; y and all xs have one dtype.
        """

    def shared(self, _name: str, body: Callable[..., Scalar], _widest: int, *xs: Scalar) -> Scalar:
        """Give body(b, *xs), of floats and to one of their dtype, by a function of that name.

        `widest`: bytes of the widest element of what loops around it go through. A printer may have
        no functions.
        """
        return body(self, *xs)

    @abstractmethod
    def table(self, values: np.ndarray[Any, Any], index: Scalar) -> Scalar:
        """An element of a constant table; the int32 index must be within it."""

    # ---- constants, parts, choice

    def constant(self, value: Any, dtype: DType) -> Scalar:
        """A number as `dtype`; a key is one of NumPy's."""
        if dtype == dtypes.key:
            value = value.view(np.uint64)
        if dtype.kind != "c":
            return self.literal(value, dtype)
        value, part = complex(value), PARTS[dtype]
        return self.complex(self.literal(value.real, part), self.literal(value.imag, part))

    def complex(self, x: Scalar, y: Scalar) -> Scalar:
        """Join two real numbers to one complex."""
        return Scalar(WHOLES[x.dtype], (x, y), self)

    def real(self, x: Scalar) -> Scalar:
        """The real part; a real number is its own."""
        return x.code[0] if x.kind == "c" else x

    def imag(self, x: Scalar) -> Scalar:
        """The imaginary part."""
        return x.code[1] if x.kind == "c" else self.constant(0, x.dtype)

    def select(self, c: Scalar, x: Scalar | Number, y: Scalar | Number) -> Scalar:
        """Choose x where the bool c is true, else y; at least one of them is a Scalar."""
        x = x if isinstance(x, Scalar) else y.like(x)  # type: ignore[union-attr]
        y = x.like(y)
        if x.kind == "c":
            return self.complex(*(self.select(c, *pair) for pair in zip(x.code, y.code)))  # noqa: B905
        return self.operate("select", x.dtype, c, x, y)

    # ---- arithmetic

    def add(self, x: Scalar, y: Scalar, *, contract: bool = False) -> Scalar:
        """Add; `contract`: may become part of an fma. Of bools one of two is enough."""
        if x.kind == "b":
            return x | y
        return self._each("contracted add" if contract and self.contracts else "add", x, y)

    def sub(self, x: Scalar, y: Scalar, *, contract: bool = False) -> Scalar:
        """Subtract; `contract`: may become part of an fma."""
        return self._each("contracted sub" if contract and self.contracts else "sub", x, y)

    def mul(self, x: Scalar, y: Scalar, *, contract: bool = False) -> Scalar:
        """Multiply; `contract`: may become part of an fma. Of complex numbers the plain formula."""
        if x.kind != "c":
            name = "contracted mul" if contract and self.contracts else "mul"
            return self.operate(name, x.dtype, x, y)
        (a, b), (c, d) = x.code, y.code
        return self.complex(a * c - b * d, a * d + b * c)

    def neg(self, x: Scalar) -> Scalar:
        """Negate."""
        return self._each("neg", x)

    def _each(self, name: str, *xs: Scalar) -> Scalar:
        """An operation that takes complex numbers part by part."""
        if xs[0].kind != "c":
            return self.operate(name, xs[0].dtype, *xs)
        pairs = zip(*[x.code for x in xs], strict=True)
        return self.complex(*[self.operate(name, p[0].dtype, *p) for p in pairs])

    def equal(self, x: Scalar, y: Scalar) -> Scalar:
        """Whether x == y."""
        if x.kind == "c":
            (a, b), (c, d) = x.code, y.code
            return (a == c) & (b == d)
        return self.operate("eq", dtypes.bool_, x, y)

    def differ(self, x: Scalar, y: Scalar) -> Scalar:
        """Whether x != y; true of NaN and itself."""
        return self.operate("ne", dtypes.bool_, x, y)

    def isnan(self, x: Scalar) -> Scalar:
        """Whether a float is NaN."""
        return x != x  # noqa: PLR0124 - emits code

    def minimum(self, x: Scalar, y: Scalar | Number) -> Scalar:
        """The lesser, or y at a tie, as of NumPy's on x86; NaN if one of them is."""
        y = x.like(y)
        least = self.select(x < y, x, y)
        return self.select(self.isnan(x), x, least) if x.kind == "f" else least

    def maximum(self, x: Scalar, y: Scalar | Number) -> Scalar:
        """The greater, or y at a tie, as of NumPy's on x86; NaN if one of them is."""
        y = x.like(y)
        most = self.select(x > y, x, y)
        return self.select(self.isnan(x), x, most) if x.kind == "f" else most

    def remainder(self, x: Scalar, y: Scalar) -> Scalar:
        """What the division of integers towards zero leaves; y is not 0, nor x the least by -1."""
        return self.operate("rem", x.dtype, x, y)

    # ---- functions that processors have

    def fma(self, x: Scalar, y: Scalar | Number, z: Scalar | Number) -> Scalar:
        """Multiply and add, rounded once."""
        return self.operate("fma", x.dtype, x, x.like(y), x.like(z))

    def sqrt(self, x: Scalar) -> Scalar:
        """The square root, rounded once."""
        return self.operate("sqrt", x.dtype, x)

    def floor(self, x: Scalar) -> Scalar:
        """The nearest integer below, as a float."""
        return self.operate("floor", x.dtype, x)

    def ceil(self, x: Scalar) -> Scalar:
        """The nearest integer above, as a float."""
        return self.operate("ceil", x.dtype, x)

    def rint(self, x: Scalar) -> Scalar:
        """The nearest integer, of two the even one, as a float."""
        return self.operate("rint", x.dtype, x)

    def trunc(self, x: Scalar) -> Scalar:
        """The nearest integer towards zero, as a float."""
        return self.operate("trunc", x.dtype, x)

    def abs(self, x: Scalar) -> Scalar:
        """The absolute value of a real number; of the least integer itself."""
        if x.kind == "f":
            return self.operate("abs", x.dtype, x)
        return self.select(x < 0, -x, x) if x.kind == "i" else x

    def copysign(self, x: Scalar, sign: Scalar) -> Scalar:
        """The size of x with the sign of another."""
        return self.operate("copysign", x.dtype, x, sign)

    def leading_zeros(self, x: Scalar) -> Scalar:
        """How many bits above the highest set one are not."""
        return self.operate("clz", x.dtype, x)

    def population_count(self, x: Scalar) -> Scalar:
        """How many bits are set."""
        return self.operate("popcount", x.dtype, x)

    # ---- dtypes

    def bitcast(self, x: Scalar, dtype: DType) -> Scalar:
        """The same bits as another dtype of the width."""
        return x if x.dtype == dtype else self.operate("bitcast", dtype, x)

    def convert(self, x: Scalar, dtype: DType) -> Scalar:
        """Cast a real number: integers wrap, a float must be within an integer's range."""
        return x if x.dtype == dtype else self.operate("convert", dtype, x)

    def cast(self, x: Scalar, dtype: DType) -> Scalar:
        """Cast as the contract has it: floats saturate as integers, NaN becomes 0."""
        if x.dtype == dtype:
            return x
        if dtype == dtypes.bool_:
            return x != 0
        if dtype.kind == "c":
            part = PARTS[dtype]
            return self.complex(self.cast(self.real(x), part), self.cast(self.imag(x), part))
        if x.kind == "c":
            return self.cast(self.real(x), dtype)
        if x.dtype in HALVES and dtype != dtypes.float32:
            return self.cast(self.convert(x, dtypes.float32), dtype)
        if dtype in HALVES:
            return self.operate("round", dtype, self._narrowed(x))
        made = self.convert(x, dtype)
        if x.kind != "f" or dtypes.kind(dtype) == "f":
            return made
        limits = np.iinfo(dtype)
        made = self.select(x >= float(limits.max) + (dtype.itemsize < 8), limits.max, made)
        made = self.select(x <= float(limits.min), limits.min, made)
        return self.select(self.isnan(x), 0, made)

    def _narrowed(self, x: Scalar) -> Scalar:
        """A number as a float32 that rounds to 16 bits as the number itself does."""
        if x.dtype == dtypes.float32 or (x.kind != "f" and x.dtype.itemsize < 4):
            return self.convert(x, dtypes.float32)
        x = self.convert(x, dtypes.float64)
        near = self.convert(x, dtypes.float32)
        back = self.convert(near, dtypes.float64)
        code = self.bitcast(near, dtypes.int32)
        code = self.select(self.abs(back) > self.abs(x), code - 1, code)  # towards zero
        odd = self.select((back < x) | (back > x), code | 1, code)
        return self.bitcast(odd, dtypes.float32)
