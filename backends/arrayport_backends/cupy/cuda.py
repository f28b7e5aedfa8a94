"""CUDA C++ as a printer of the scalar language, and the source that its code becomes part of."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from math import isfinite
from typing import Any

import numpy as np

from arrayport.core import dtypes
from arrayport_backends.ndarray.scalars import (
    COMPARISONS,
    HALVES,
    PARTS,
    Builder,
    DType,
    Scalar,
    bits_of,
)

# With every fused product written out, compilers have none to make of their own; every operation
# is rounded once, and subnormal numbers are kept.
OPTIONS = ("-std=c++17", "--fmad=false", "--ftz=false", "--prec-div=true", "--prec-sqrt=true")

# Names of types; and what 16-bit floats are in memory, by an instruction that needs no header. A
# host that stands in for a device has functions of its own for that.
PRELUDE = """\
typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef float f32;
typedef double f64;
#ifndef HOST
static __device__ f32 from_half(u16 h) { f32 x; asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(h)); return x; }
static __device__ u16 to_half(f32 x) { u16 h; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(x)); return h; }
#endif
"""  # noqa: E501 - C++

INFIX = {"and": "&", "or": "|", "xor": "^", "shr": ">>"} | COMPARISONS
ARITHMETIC = {"add": "+", "sub": "-", "mul": "*", "div": "/", "rem": "%", "shl": "<<"}
FUNCTIONS = {
    "fma": "fma",
    "rem": "fmod",
    "sqrt": "sqrt",
    "floor": "floor",
    "ceil": "ceil",
    "rint": "rint",
    "trunc": "trunc",
    "abs": "fabs",
    "copysign": "copysign",
}
IDLE_ZEROS = re.compile(r"(\.0)?0*p")
COUNTS = {"clz": "__clz", "popcount": "__popc"}
# Of floats and of the integers that have their bits.
BITCASTS = {
    "i32 f32": "__float_as_int",
    "u32 f32": "__float_as_uint",
    "f32 i32": "__int_as_float",
    "f32 u32": "__uint_as_float",
    "i64 f64": "__double_as_longlong",
    "f64 i64": "__longlong_as_double",
}


def register(dtype: DType) -> str:
    """The type of a real value in a kernel: floats of 16 bits are held as 32, keys as integers."""
    if dtype == dtypes.bool_:
        return "bool"
    if dtype == dtypes.key:
        return "u64"
    return "f32" if dtype in HALVES else f"{dtypes.kind(dtype)}{8 * dtype.itemsize}"


def storage(dtype: DType) -> str:
    """The type of a value in memory: bool is a byte, a complex number two of its parts."""
    if dtype.kind == "c":
        return register(PARTS[dtype])
    if dtype == dtypes.bool_ or dtype in HALVES:
        return f"u{8 * dtype.itemsize}"
    return register(dtype)


class Source:
    """A text in the making: functions and tables of the device, then kernels."""

    def __init__(self) -> None:
        self.definitions: dict[str, str] = {}

    def __str__(self) -> str:
        return "\n".join([PRELUDE, *self.definitions.values()])


class CudaBuilder(Builder):
    """Prints statements, a value each; what a function or a kernel is around them others say.

    A contracted sum takes the product that was made last as part of an fma, in writing: so the
    numbers are the same from every compiler.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.lines: list[str] = []
        self.depth = 1
        self.count = 0
        self.products: dict[str, tuple[int, str, str]] = {}  # contracted: which they are, of what

    # ---- statements

    def line(self, text: str) -> None:
        """A line of code."""
        self.lines.append("  " * self.depth + text)

    def fresh(self) -> str:
        """A name for a value."""
        self.count += 1
        return f"v{self.count}"

    def named(self, dtype: DType, code: str) -> Scalar:
        """A value of its own name."""
        name = self.fresh()
        self.line(f"const {register(dtype)} {name} = {code};")
        return Scalar(dtype, name, self)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """A statement with a block, which the caller fills."""
        self.line(f"{head} {{")
        self.depth += 1
        yield
        self.depth -= 1
        self.line("}")

    # ---- the scalar language

    def literal(self, value: Any, dtype: DType) -> Scalar:
        if dtypes.kind(dtype) == "f":
            return Scalar(dtype, _float(float(dtype.type(value)), register(dtype)), self)
        if dtype == dtypes.bool_:
            return Scalar(dtype, "true" if value else "false", self)
        return Scalar(dtype, _integer(int(value), dtype), self)

    def operate(self, name: str, dtype: DType, *xs: Scalar) -> Scalar:
        contracted, name = name.startswith("contracted "), name.removeprefix("contracted ")
        codes = [x.code for x in xs]
        own = xs[0].kind
        if contracted and own == "f":
            return self._contracted(name, dtype, *codes)
        if name in ARITHMETIC or name == "neg":
            code = self._arithmetic(name, own, xs[0].dtype, codes)
        elif name in INFIX:
            code = f"{codes[0]} {INFIX[name]} {codes[1]}"
        elif name == "not":
            code = f"!{codes[0]}" if own == "b" else f"~{codes[0]}"
        elif name == "select":
            code = f"{codes[0]} ? {codes[1]} : {codes[2]}"
        elif name in FUNCTIONS:
            code = self._called(name, dtype, codes)
        elif name in COUNTS:
            code = _counted(name, xs[0].dtype, codes[0])
        elif name == "bitcast":
            code = _bitcast(register(dtype), register(xs[0].dtype), codes[0])
        elif name == "convert":
            code = codes[0]
        else:
            code = self._rounded(codes[0], dtype)
        cast = dtypes.kind(dtype) in "iu" or name == "convert"
        return self.named(dtype, f"({register(dtype)})({code})" if cast else code)

    def _arithmetic(self, name: str, own: str, dtype: DType, codes: Sequence[str]) -> str:
        """Sums and products of integers wrap around, as those of unsigned ones of a word do."""
        if own == "f":
            if name == "neg":
                return f"-{codes[0]}"
            if name == "rem":
                return self._called(name, dtype, codes)
        elif name not in {"div", "rem"}:
            word = "u64" if dtype.itemsize == 8 else "u32"
            codes = [f"({word}){code}" for code in codes]
            if name == "neg":
                return f"0 - {codes[0]}"
        return f"{codes[0]} {ARITHMETIC[name]} {codes[1]}"

    def _called(self, name: str, dtype: DType, codes: Sequence[str]) -> str:
        suffix = "" if dtype == dtypes.float64 else "f"
        return f"{FUNCTIONS[name]}{suffix}({', '.join(codes)})"

    def _contracted(self, name: str, dtype: DType, x: str, y: str) -> Scalar:
        """A product that may become part of an fma, or a sum that takes one in."""
        if name == "mul":
            made = self.named(dtype, f"{x} * {y}")
            self.products[made.code] = (self.count, x, y)
            return made
        found = [code for code in (x, y) if code in self.products]
        if not found:
            return self.named(dtype, f"{x} {ARITHMETIC[name]} {y}")
        last = max(found, key=self.products.__getitem__)
        _, one, other = self.products[last]
        rest = y if last == x else x
        if name == "sub":
            one, rest = (one, f"-{rest}") if last == x else (f"-{one}", rest)
        return self.named(dtype, self._called("fma", dtype, [one, other, rest]))

    def _rounded(self, code: str, dtype: DType) -> str:
        """A float32 rounded to what 16 bits hold, as a float32."""
        if dtype == dtypes.float16:
            return f"from_half(to_half({code}))"
        bits = self.named(dtypes.uint32, f"__float_as_uint({code})").code
        near = f"({bits} + 0x7fffu + ({bits} >> 16 & 1u)) & 0xffff0000u"
        # Of NaN a bit is set that the lower half, which is lost, may have had.
        return f"__uint_as_float({code} != {code} ? {bits} | 0x400000u : {near})"

    def rare(self, suspect: Scalar, slow: Callable[..., Scalar], y: Scalar, *xs: Scalar) -> Scalar:
        function = f"{slow.__name__}_{register(y.dtype)}"
        if function not in self.source.definitions:
            self.source.definitions[function] = self._function(function, slow, y.dtype, len(xs))
        name = self.fresh()
        self.line(f"{register(y.dtype)} {name} = {y.code};")
        self.line(f"if ({suspect.code}) {name} = {function}({', '.join(x.code for x in xs)});")
        return Scalar(y.dtype, name, self)

    def _function(self, name: str, body: Callable[..., Scalar], dtype: DType, count: int) -> str:
        """The definition of a function that is rarely called."""
        b, kind = CudaBuilder(self.source), register(dtype)
        made = body(b, *[Scalar(dtype, f"x{k}", b) for k in range(count)])
        args = ", ".join(f"const {kind} x{k}" for k in range(count))
        head = f"static __device__ __noinline__ {kind} {name}({args}) {{"
        return "\n".join([head, *b.lines, f"  return {made.code};", "}"])

    def table(self, values: np.ndarray[Any, Any], index: Scalar) -> Scalar:
        name = f"table_{sha256(values.tobytes()).hexdigest()[:16]}"
        if name not in self.source.definitions:
            items = ", ".join([self.literal(v, values.dtype).code for v in values.ravel()])
            kind = register(values.dtype)
            text = f"static __device__ const {kind} {name}[{values.size}] = {{{items}}};"
            self.source.definitions[name] = text
        return self.named(values.dtype, f"{name}[{index.code}]")

    # ---- memory

    def load(self, pointer: str, index: str, dtype: DType) -> Scalar:
        """The value of this dtype at an index."""
        if dtype.kind == "c":
            part, twice = PARTS[dtype], f"2 * ({index})"
            return self.complex(
                self.named(part, f"{pointer}[{twice}]"), self.named(part, f"{pointer}[{twice} + 1]")
            )
        code = f"{pointer}[{index}]"
        if dtype == dtypes.bool_:
            code = f"{code} != 0"
        elif dtype == dtypes.float16:
            code = f"from_half({code})"
        elif dtype == dtypes.bfloat16:
            code = f"__uint_as_float((u32){code} << 16)"
        return self.named(dtype, code)

    def store(self, pointer: str, index: str, x: Scalar) -> None:
        """Write a value to an index."""
        if x.kind == "c":
            for k, part in enumerate(x.code):
                self.line(f"{pointer}[2 * ({index}) + {k}] = {part.code};")
            return
        code = x.code
        if x.dtype == dtypes.float16:
            code = f"to_half({code})"
        elif x.dtype == dtypes.bfloat16:
            code = f"(u16)(__float_as_uint({code}) >> 16)"
        self.line(f"{pointer}[{index}] = {code};")


def _float(value: float, kind: str) -> str:
    """A constant, digit for digit."""
    if isfinite(value):
        code = IDLE_ZEROS.sub("p", value.hex()) + ("f" if kind == "f32" else "")
    else:
        bits = np.array(value, np.float32 if kind == "f32" else np.float64)
        word = bits.view(bits_of(bits.dtype)).item()
        code = f"__int_as_float({word:#x})" if kind == "f32" else f"__longlong_as_double({word:#x})"
        if word < 0:
            code = f"-{_float(-value, kind)}"
    return f"({code})" if code.startswith("-") else code


def _integer(value: int, dtype: DType) -> str:
    """A constant; the least integer is not the negative of one."""
    suffix = ("u" if dtype.kind != "i" else "") + ("ll" if dtype.itemsize == 8 else "")
    if dtype.kind == "i" and value == np.iinfo(dtype).min:
        return f"({value + 1}{suffix} - 1)"
    return f"({value}{suffix})" if value < 0 else f"{value}{suffix}"


def _bitcast(new: str, old: str, code: str) -> str:
    """The same bits; between floats and integers by way of signed ones."""
    if "f" not in new + old:
        return code
    function = BITCASTS.get(f"{new} {old}")
    if function:
        return f"{function}({code})"
    if old.startswith("f"):
        return f"{BITCASTS[f'i{old[1:]} {old}']}({code})"
    return f"{BITCASTS[f'{new} i{new[1:]}']}((i{new[1:]}){code})"


def _counted(name: str, dtype: DType, code: str) -> str:
    """Bits counted in a word, in which short integers are the lowest."""
    if dtype.itemsize == 8:
        return f"{COUNTS[name]}ll((i64){code})"
    width = 8 * dtype.itemsize
    word = f"{COUNTS[name]}((i32)(u{width}){code})"
    return f"{word} - {32 - width}" if name == "clz" else word
