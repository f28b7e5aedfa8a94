"""Vectors: the scalar language with one value for each lane, where loops are not left to LLVM."""

from __future__ import annotations

from typing import Any

from arrayport.core import dtypes
from arrayport_backends.ndarray.scalars import PARTS, Builder, DType, Scalar
from arrayport_backends.numpy.codegen.emitters import shifted
from arrayport_backends.numpy.llvm import INTRINSICS, LLVMBuilder, ir, register, vector_bytes


def lanes(dtype: DType, most: int) -> int:
    """How many numbers of a dtype, or parts of complex ones, go at once: no more than there are."""
    count = vector_bytes() // PARTS.get(dtype, dtype).itemsize
    while count > most:
        count //= 2
    return count


class VectorBuilder(LLVMBuilder):
    """Emits what is done to `count` values at once; it knows arithmetic and choices only."""

    def __init__(self, irbuilder: Any, count: int) -> None:
        super().__init__(irbuilder)
        self.count = count

    def kind(self, dtype: DType) -> Any:
        """The type of a real value."""
        return ir.VectorType(register(dtype), self.count)

    def literal(self, value: Any, dtype: DType) -> Scalar:
        one = super().literal(value, dtype).code
        return Scalar(dtype, ir.Constant(self.kind(dtype), one), self)

    def operate(self, name: str, dtype: DType, *xs: Scalar) -> Scalar:
        if name not in INTRINSICS:
            return super().operate(name, dtype, *xs)
        kind = self.kind(dtype)
        full = f"llvm.{INTRINSICS[name]}.v{self.count}{register(dtype).intrinsic_name}"
        function = self._declared(full, ir.FunctionType(kind, [kind] * len(xs)))
        return Scalar(dtype, self.ir.call(function, [x.code for x in xs]), self)

    def numbered(self, code: Any, dtype: DType) -> Scalar:
        """An index as a number of every lane."""
        kind = register(dtype)
        code = self.ir.trunc(code, kind) if kind.width < code.type.width else code
        return self.spread(Scalar(dtype, code, self))

    def spread(self, x: Scalar) -> Scalar:
        """A real number for every lane."""
        kind, word = self.kind(x.dtype), ir.IntType(32)
        one = self.ir.insert_element(ir.Constant(kind, ir.Undefined), x.code, word(0))
        first = ir.Constant(ir.VectorType(word, self.count), [0] * self.count)
        return Scalar(x.dtype, self.ir.shuffle_vector(one, one, first), self)

    def scaled(self, x: Scalar, y: Scalar) -> Scalar:
        """Divide by a real number."""
        if x.kind == "c":
            return self.complex(*[part / y for part in x.code])
        return x / y

    def narrowed(self, x: Scalar, dtype: DType) -> Scalar:
        """A vector as it is, or of integers of fewer bits."""
        if x.dtype == dtype:
            return x
        return Scalar(dtype, self.ir.trunc(x.code, self.kind(dtype)), self)

    def any(self, condition: Scalar) -> Any:
        """Whether a bool is true in some lane."""
        bits = ir.IntType(self.count)
        return self.ir.icmp_unsigned("!=", self.ir.bitcast(condition.code, bits), bits(0))

    def without(self, count: int, x: Scalar) -> Scalar:
        """A real vector whose first lanes are 0."""
        bits = [int(lane >= count) for lane in range(self.count)]
        kept = ir.Constant(ir.VectorType(ir.IntType(1), self.count), bits)
        code = self.ir.select(kept, x.code, ir.Constant(self.kind(x.dtype), None))
        return Scalar(x.dtype, code, self)

    def total(self, x: Scalar) -> Scalar:
        """The sum of a real vector's lanes, in any order."""
        kind, one = self.kind(x.dtype), register(x.dtype)
        name = f"llvm.vector.reduce.fadd.v{self.count}{one.intrinsic_name}"
        function = self._declared(name, ir.FunctionType(one, [one, kind]))
        code = self.ir.call(function, [one(0.0), x.code], fastmath=("reassoc",))
        return Scalar(x.dtype, code, self)

    # ---- memory

    def load(self, pointer: Any, dtype: DType) -> Scalar:
        """The vector at a pointer; of complex numbers first all real parts."""
        if dtype.kind == "c":
            part = PARTS[dtype]
            return self.complex(*[self.load(p, part) for p in self._halves(pointer, part)])
        code = self.ir.load(pointer, typ=self.kind(dtype), align=dtype.itemsize)
        return Scalar(dtype, code, self)

    def store(self, pointer: Any, x: Scalar) -> None:
        """Write a vector."""
        if x.kind == "c":
            for p, part in zip(self._halves(pointer, x.code[0].dtype), x.code, strict=True):
                self.store(p, part)
            return
        self.ir.store(x.code, pointer, align=x.dtype.itemsize)

    def gather(self, pointer: Any, stride: int, dtype: DType) -> Scalar:
        """Bring together values that are so many bytes apart."""
        if dtype.kind == "c":
            part = PARTS[dtype]
            pointers = self._parts(pointer, part)
            return self.complex(*[self.gather(p, stride, part) for p in pointers])
        kind = self.kind(dtype)
        code = ir.Constant(kind, ir.Undefined)
        for lane in range(self.count):
            one = self.ir.load(shifted(self.ir, pointer, lane * stride), typ=kind.element)
            code = self.ir.insert_element(code, one, ir.IntType(32)(lane))
        return Scalar(dtype, code, self)

    def scatter(self, pointer: Any, stride: int, x: Scalar) -> None:
        """Write values so many bytes apart."""
        if x.kind == "c":
            for p, part in zip(self._parts(pointer, x.code[0].dtype), x.code, strict=True):
                self.scatter(p, stride, part)
            return
        for lane in range(self.count):
            one = self.ir.extract_element(x.code, ir.IntType(32)(lane))
            self.ir.store(one, shifted(self.ir, pointer, lane * stride))

    def _halves(self, pointer: Any, part: DType) -> tuple[Any, Any]:
        return pointer, shifted(self.ir, pointer, self.count * part.itemsize)


def conjugate(b: Builder, x: Scalar) -> Scalar:
    """The conjugate; a real number is its own."""
    return b.complex(x.code[0], -x.code[1]) if x.kind == "c" else x


def counter(dtype: DType) -> DType:
    """The integers whose vectors are as wide as those of a dtype."""
    return dtypes.int64 if PARTS.get(dtype, dtype).itemsize == 8 else dtypes.int32
