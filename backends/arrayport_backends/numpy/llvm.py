"""LLVM as a printer of the scalar language, and the way from its text to machine code."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import sha256
from importlib.util import find_spec
from itertools import count
from types import MappingProxyType
from typing import Any

import numpy as np

from arrayport.core import dtypes
from arrayport.core.lazy import Lazy
from arrayport_backends.ndarray.scalars import (
    COMPARISONS,
    HALVES,
    PARTS,
    Builder,
    DType,
    Scalar,
)
from arrayport_backends.numpy import instructions, outlines
from arrayport_backends.numpy.outlines import Widths

ir: Any = Lazy("llvmlite.ir")
binding: Any = Lazy("llvmlite.binding")


@cache
def installed() -> bool:
    """Whether LLVM is there; it is not loaded for that."""
    return find_spec("llvmlite") is not None


@cache
def available() -> bool:
    """Whether LLVM is installed and the processor fuses a product and a sum: else NumPy runs."""
    if not installed():
        return False
    features = binding.get_host_cpu_features()
    needed = ("fma", "f16c") if binding.get_process_triple().startswith("x86") else ()
    return all(features.get(name) for name in needed)


@cache
def vector_bytes() -> int:
    """How much a vector holds."""
    features = binding.get_host_cpu_features()
    return 64 if features.get("avx512f") else 32 if features.get("avx2") else 16


@cache
def scales() -> bool:
    """Whether the processor has the instructions of AVX-512 for vectors of any width."""
    features = binding.get_host_cpu_features()
    return vector_bytes() == 64 and bool(features.get("avx512vl"))


# ---- types


@cache
def register(dtype: DType) -> Any:
    """The type of a real value in a kernel: bool is a bit, floats of 16 bits are held as 32."""
    if dtypes.kind(dtype) == "f":
        return ir.DoubleType() if dtype == dtypes.float64 else ir.FloatType()
    return ir.IntType(1 if dtype == dtypes.bool_ else 8 * dtype.itemsize)


@cache
def storage(dtype: DType) -> Any:
    """The type of a value in memory: bool is a byte, a complex number an array of two."""
    if dtype.kind == "c":
        return ir.ArrayType(register(PARTS[dtype]), 2)
    if dtype == dtypes.bool_ or dtype in HALVES:
        return ir.IntType(8 * dtype.itemsize)
    return register(dtype)


# ---- the printer

# Instructions on integers and on floats, by llvmlite's names.
PLAIN = {
    "add": ("add", "fadd"),
    "sub": ("sub", "fsub"),
    "mul": ("mul", "fmul"),
    "div": ("sdiv", "fdiv"),
    "rem": ("srem", "frem"),
    "and": ("and_", ""),
    "or": ("or_", ""),
    "xor": ("xor", ""),
    "shl": ("shl", ""),
    "shr": ("ashr", ""),
    "neg": ("neg", "fneg"),
    "not": ("not_", ""),
}
OF_UNSIGNED = {"sdiv": "udiv", "srem": "urem", "ashr": "lshr"}
INTRINSICS = {
    "fma": "fma",
    "sqrt": "sqrt",
    "floor": "floor",
    "ceil": "ceil",
    "rint": "rint",
    "trunc": "trunc",
    "abs": "fabs",
    "copysign": "copysign",
    "clz": "ctlz",
    "popcount": "ctpop",
}


class LLVMBuilder(Builder):
    """Emits through an llvmlite IRBuilder, which stands where the code is to go."""

    def __init__(self, irbuilder: Any) -> None:
        self.ir = irbuilder
        self.scales = scales()
        self.depths: dict[int, int] = {}  # by identity: how many instructions it waits for

    def literal(self, value: Any, dtype: DType) -> Scalar:
        value = float(dtype.type(value)) if dtypes.kind(dtype) == "f" else int(value)
        return Scalar(dtype, ir.Constant(register(dtype), value), self)

    def operate(self, name: str, dtype: DType, *xs: Scalar) -> Scalar:
        contracted, name = name.startswith("contracted "), name.removeprefix("contracted ")
        codes = [x.code for x in xs]
        own = xs[0].kind
        if name in PLAIN:
            chosen = PLAIN[name][own == "f"]
            chosen = chosen if own == "i" else OF_UNSIGNED.get(chosen, chosen)
            flags = {"flags": ("contract",)} if contracted and own == "f" else {}
            if flags and chosen != "fmul":
                self._fuse_later(*codes)
            code = getattr(self.ir, chosen)(*codes, **flags)
        elif name in COMPARISONS:
            if own != "f":
                compare = self.ir.icmp_signed if own == "i" else self.ir.icmp_unsigned
            else:
                compare = self.ir.fcmp_unordered if name == "ne" else self.ir.fcmp_ordered
            code = compare(COMPARISONS[name], *codes)
        elif name == "select":
            code = self.ir.select(*codes)
        elif name in INTRINSICS:
            code = self._intrinsic(INTRINSICS[name], register(dtype), codes)
        elif name in instructions.INSTRUCTIONS:
            code = self._instruction(name, *xs)
        elif name == "bitcast":
            code = self.ir.bitcast(*codes, register(dtype))
        elif name == "convert":
            code = self._converted(codes[0], own, xs[0].dtype, dtype)
        else:
            code = self._rounded(codes[0], dtype)
        self.depths[id(code)] = 1 + max(self._depth(c) for c in codes)
        return Scalar(dtype, code, self)

    def _depth(self, code: Any) -> int:
        return self.depths.get(id(code), 0)

    def _fuse_later(self, x: Any, y: Any) -> None:
        """Of two products whose sum makes one of them an fma, have it be the one known later."""
        if all(getattr(code, "opname", "") == "fmul" for code in (x, y)):
            first, last = sorted((x, y), key=self._depth)
            if self._depth(first) < self._depth(last):
                first.flags = [flag for flag in first.flags if flag != "contract"]

    def _intrinsic(self, name: str, kind: Any, codes: list[Any]) -> Any:
        if name == "ctlz":
            codes = [*codes, ir.Constant(ir.IntType(1), 0)]
        signature = ir.FunctionType(kind, [c.type for c in codes])
        return self.ir.call(self._declared(f"llvm.{name}.{kind.intrinsic_name}", signature), codes)

    def _instruction(self, instruction: str, *xs: Scalar) -> Any:
        dtype = xs[0].dtype
        name = f"{instruction}_{dtype}"
        if name not in outlines.DEFINITIONS:
            text = instructions.forms(name, instruction, register(dtype))
            outlines.DEFINITIONS[name] = text
        return self._outside(name, outlines.WIDTHS, dtype, *xs).code

    def _declared(self, name: str, signature: Any) -> Any:
        module = self.ir.module
        return module.globals.get(name) or ir.Function(module, signature, name)

    def _converted(self, code: Any, own: str, old: DType, new: DType) -> Any:
        kind, target = dtypes.kind(new), register(new)
        if kind == "f":
            if own == "f":
                if code.type == target:
                    return code
                return (self.ir.fpext if target == register(dtypes.float64) else self.ir.fptrunc)(
                    code, target
                )
            return (self.ir.sitofp if own == "i" else self.ir.uitofp)(code, target)
        if own == "f":
            return (self.ir.fptosi if kind == "i" else self.ir.fptoui)(code, target)
        if target.width == code.type.width:
            return code
        if target.width < code.type.width:
            return self.ir.trunc(code, target)
        return (self.ir.sext if own == "i" else self.ir.zext)(code, target)

    def _rounded(self, code: Any, dtype: DType) -> Any:
        """A float32 rounded to what 16 bits hold, as a float32."""
        if dtype == dtypes.float16:
            half = self.ir.fptrunc(code, ir.HalfType())
            return self.ir.fpext(half, ir.FloatType())
        word = ir.IntType(32)
        bits = self.ir.bitcast(code, word)
        odd = self.ir.and_(self.ir.lshr(bits, word(16)), word(1))
        near = self.ir.and_(self.ir.add(self.ir.add(bits, word(0x7FFF)), odd), word(0xFFFF0000))
        # Of NaN a bit is set that the lower half, which is lost, may have had.
        quiet = self.ir.or_(bits, word(0x400000))
        nan = self.ir.fcmp_unordered("uno", code, code)
        return self.ir.bitcast(self.ir.select(nan, quiet, near), ir.FloatType())

    def rare(self, suspect: Scalar, slow: Callable[..., Scalar], y: Scalar, *xs: Scalar) -> Scalar:
        name = f"rare_{slow.__name__}_{y.dtype}"
        if name not in outlines.DEFINITIONS:
            outlines.DEFINITIONS[name] = _rare(name, slow, y.dtype, len(xs))
        return self._outside(name, outlines.WIDTHS, y.dtype, suspect, *xs, y)

    def shared(self, name: str, body: Callable[..., Scalar], widest: int, *xs: Scalar) -> Scalar:
        dtype = xs[0].dtype
        widths = tuple({vector_bytes() // max(size, dtype.itemsize) for size in (1, widest)})
        key = f"{name}_{'_'.join(map(str, widths))}"
        if key not in outlines.DEFINITIONS:
            outlines.DEFINITIONS[key] = _shared(key, body, dtype, len(xs), widths)
        return self._outside(key, widths, dtype, *xs)

    def _outside(self, name: str, widths: Widths, out: DType, *xs: Scalar) -> Scalar:
        """Call a function that is defined elsewhere."""
        module = self.ir.module
        if name not in module.globals:
            outlines.declare(module, name, [register(x.dtype) for x in xs], register(out), widths)
        return Scalar(out, self.ir.call(module.globals[name], [x.code for x in xs]), self)

    def table(self, values: np.ndarray[Any, Any], index: Scalar) -> Scalar:
        module, kind = self.ir.module, register(values.dtype)
        name = f"table_{sha256(values.tobytes()).hexdigest()[:16]}"  # the same in every process
        if name not in module.globals:
            made = ir.GlobalVariable(module, ir.ArrayType(kind, values.size), name)
            made.initializer = ir.Constant(made.value_type, values.ravel().tolist())
            made.global_constant, made.linkage = True, "internal"
        place = self.ir.gep(module.globals[name], [ir.IntType(32)(0), index.code], inbounds=True)
        return Scalar(values.dtype, self.ir.load(place, typ=kind), self)

    # ---- memory

    def load(self, pointer: Any, dtype: DType) -> Scalar:
        """The value of this dtype at a pointer."""
        if dtype.kind == "c":
            part = PARTS[dtype]
            return self.complex(*[self.load(p, part) for p in self._parts(pointer, part)])
        kind = storage(dtype)
        code = self.ir.load(pointer, typ=kind, align=dtype.alignment)
        if dtype == dtypes.bool_:
            code = self.ir.icmp_unsigned("!=", code, kind(0))
        elif dtype == dtypes.float16:
            code = self.ir.fpext(self.ir.bitcast(code, ir.HalfType()), ir.FloatType())
        elif dtype == dtypes.bfloat16:
            word = self.ir.shl(self.ir.zext(code, ir.IntType(32)), ir.IntType(32)(16))
            code = self.ir.bitcast(word, ir.FloatType())
        return Scalar(dtype, code, self)

    def store(self, pointer: Any, x: Scalar) -> None:
        """Write a value to where a pointer points."""
        if x.kind == "c":
            part = PARTS[x.dtype]
            for p, value in zip(self._parts(pointer, part), x.code, strict=True):
                self.store(p, value)
            return
        code, kind = x.code, storage(x.dtype)
        if x.dtype == dtypes.bool_:
            code = self.ir.zext(code, kind)
        elif x.dtype == dtypes.float16:
            code = self.ir.bitcast(self.ir.fptrunc(code, ir.HalfType()), kind)
        elif x.dtype == dtypes.bfloat16:
            code = self.ir.lshr(self.ir.bitcast(code, ir.IntType(32)), ir.IntType(32)(16))
            code = self.ir.trunc(code, kind)
        self.ir.store(code, pointer, align=x.dtype.alignment)

    def _parts(self, pointer: Any, part: DType) -> tuple[Any, Any]:
        index = ir.IntType(32)(1)
        return pointer, self.ir.gep(pointer, [index], source_etype=register(part), inbounds=True)


# ---- functions outside of loops


class _SlowBuilder(LLVMBuilder):
    """Emits the code of a rare case, in which another one is computed in any case."""

    def __init__(self, irbuilder: Any) -> None:
        super().__init__(irbuilder)
        self.scales = False  # what is outside of loops is not linked into what is so itself

    def rare(self, suspect: Scalar, slow: Callable[..., Scalar], y: Scalar, *xs: Scalar) -> Scalar:
        return self.select(suspect, slow(self, *xs), y)


def _rare(name: str, slow: Callable[..., Scalar], dtype: DType, count: int) -> str:
    """The definition of a rare case."""
    one = register(dtype)
    module = ir.Module()
    function = ir.Function(module, ir.FunctionType(one, [one] * count), f"{name}_slow")
    function.linkage = "linkonce_odr"
    for attribute in ("noinline", "cold", "optnone"):  # so that it is compiled quickly
        function.attributes.add(attribute)
    b = _SlowBuilder(ir.IRBuilder(function.append_basic_block()))
    b.ir.ret(slow(b, *[Scalar(dtype, a, b) for a in function.args]).code)
    return "\n".join([str(module), outlines.rare(name, one, count)])


def _shared(
    name: str, body: Callable[..., Scalar], dtype: DType, count: int, widths: Widths
) -> str:
    """The definition of a shared function, passes done."""
    one = register(dtype)
    module = ir.Module()
    function = ir.Function(module, ir.FunctionType(one, [one] * count), f"{name}_body")
    function.linkage = "internal"
    function.attributes.add("alwaysinline")
    b = LLVMBuilder(ir.IRBuilder(function.append_basic_block()))
    b.ir.ret(body(b, *[Scalar(dtype, a, b) for a in function.args]).code)
    text = "\n".join([str(module), outlines.shared(name, one, count, widths)])
    return outlines.merging(str(optimised(text)))


# ---- machine code


def _machine(level: int = 2) -> Any:
    """Describe this computer as LLVM's target, with vectors as wide as it has them."""
    features = binding.get_host_cpu_features()
    flat = features.flatten() + (",-prefer-256-bit" if features.get("avx512f") else "")
    return binding.Target.from_default_triple().create_target_machine(
        cpu=binding.get_host_cpu_name(), features=flat, opt=level, reloc="pic", codemodel="small"
    )


@cache
def machine() -> Any:
    """The target that compiles."""
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return _machine()


@lru_cache(maxsize=1)
def _linker(_number: int) -> Any:
    """The linker of code in memory, which takes a target for its own.

    It never quite forgets a library (9 KB), so after some another takes over, and it goes with the
    last of its own. JITLink puts a library's sections side by side: the older linker lets each go
    where memory is free, and aborts where that is farther than such code reaches (2 GB).
    """
    machine()
    return binding.create_lljit_compiler(_machine(), use_jit_link=True)


LIBRARIES = 64  # of one linker
_libraries = count()


@dataclass(frozen=True)
class Library:
    """Machine code in memory, which stays as long as this does."""

    tracker: Any

    def address(self, name: str) -> int:
        """Where a function begins."""
        return int(self.tracker[name])


def address_in_python(name: str) -> int:
    """Where a function of Python's own begins."""
    return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0


def parsed(text: str, context: Any) -> Any:
    """LLVM's module of a text."""
    host = machine()
    module = binding.parse_assembly(text, context)
    module.triple = host.triple
    module.data_layout = str(host.target_data)
    module.verify()
    return module


def optimised(text: str) -> Any:
    """LLVM's module of a text, after its passes."""
    host = machine()
    context = binding.create_context()
    module = parsed(text, context)
    tuning = binding.create_pipeline_tuning_options(speed_level=1)
    tuning.loop_vectorization = tuning.slp_vectorization = True
    tuning.loop_interleaving = tuning.loop_unrolling = True
    passes = binding.create_pass_builder(host, tuning)
    outlines.transform(module, passes.getModulePassManager(), passes)
    outlines.link(module, context, passes)
    return module


def assemble(text: str) -> bytes:
    """Compile a module's text to an object file's bytes, which `load` takes on such a machine."""
    return bytes(machine().emit_object(optimised(text)))


def translate(text: str) -> bytes:
    """Compile a module's text as it stands, which is quick: for code whose time is elsewhere."""
    module = parsed(text, binding.create_context())
    return bytes(_machine(0).emit_object(module))


def load(
    code: bytes, names: Iterable[str], known: Mapping[str, int] = MappingProxyType({})
) -> Library:
    """Bring an object file's bytes into memory.

    `names`: the functions to be found; `known`: where functions are that it calls.
    """
    builder = binding.JITLibraryBuilder().add_object_img(code).add_current_process()
    for name, address in known.items():
        builder.import_symbol(name, address)
    for name in names:
        builder.export_symbol(name)
    number = next(_libraries)
    return Library(builder.link(_linker(number // LIBRARIES), f"library{number}"))
