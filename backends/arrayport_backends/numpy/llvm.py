"""LLVM as a printer of the scalar language, and the way from its text to machine code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from itertools import count
from types import MappingProxyType
from typing import Any

import numpy as np

from arrayport.core import dtypes
from arrayport.core.lazy import Lazy
from arrayport_backends.ndarray.scalars import HALVES, PARTS, Builder, DType, Scalar

ir: Any = Lazy("llvmlite.ir")
binding: Any = Lazy("llvmlite.binding")

WIDTH = 64  # bytes of the widest vector


@cache
def available() -> bool:
    """Whether LLVM is installed and the processor fuses a product and a sum: else NumPy runs."""
    if find_spec("llvmlite") is None:
        return False
    features = binding.get_host_cpu_features()
    needed = ("fma", "f16c") if binding.get_process_triple().startswith("x86") else ()
    return all(features.get(name) for name in needed)


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

SAME = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
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
            code = getattr(self.ir, chosen)(*codes, **flags)
        elif name in SAME:
            if own != "f":
                compare = self.ir.icmp_signed if own == "i" else self.ir.icmp_unsigned
            else:
                compare = self.ir.fcmp_unordered if name == "ne" else self.ir.fcmp_ordered
            code = compare(SAME[name], *codes)
        elif name == "select":
            code = self.ir.select(*codes)
        elif name in INTRINSICS:
            code = self._intrinsic(INTRINSICS[name], register(dtype), codes)
        elif name == "bitcast":
            code = self.ir.bitcast(*codes, register(dtype))
        elif name == "convert":
            code = self._converted(codes[0], own, xs[0].dtype, dtype)
        else:
            code = self._rounded(codes[0], dtype)
        return Scalar(dtype, code, self)

    def _intrinsic(self, name: str, kind: Any, codes: list[Any]) -> Any:
        if name == "ctlz":
            codes = [*codes, ir.Constant(ir.IntType(1), 0)]
        signature = ir.FunctionType(kind, [c.type for c in codes])
        return self.ir.call(self._declared(f"llvm.{name}.{kind.intrinsic_name}", signature), codes)

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
        nan = self.ir.fcmp_unordered("uno", code, code)
        return self.ir.select(nan, code, self.ir.bitcast(near, ir.FloatType()))

    def rare(self, suspect: Scalar, slow: Callable[..., Scalar], y: Scalar, *xs: Scalar) -> Scalar:
        name = f"rare_{slow.__name__}_{y.dtype}"
        if name not in DEFINITIONS:
            DEFINITIONS[name] = _definition(name, slow, y.dtype, len(xs))
        if name not in self.ir.module.globals:
            kind = register(y.dtype)
            self._declare_forms(name, [register(suspect.dtype), *[kind] * len(xs), kind])
        codes = [v.code for v in (suspect, *xs, y)]
        return Scalar(y.dtype, self.ir.call(self.ir.module.globals[name], codes), self)

    def _declare_forms(self, name: str, kinds: list[Any]) -> None:
        """Declare a rare case's forms, and keep them until loops are vectorised."""
        module = self.ir.module
        declared = ir.Function(module, ir.FunctionType(kinds[-1], kinds), name)
        forms = []
        for n in LANES:
            vectors = [ir.VectorType(kind, n) for kind in kinds]
            forms.append(ir.Function(module, ir.FunctionType(vectors[-1], vectors), f"{name}_{n}"))
        variants = ",".join(f"_ZGV_LLVM_N{n}{'v' * len(kinds)}_{name}({name}_{n})" for n in LANES)
        for attribute in (*PURE, f'"vector-function-abi-variant"="{variants}"'):
            set.add(declared.attributes, attribute)  # its own `add` knows few
        kept = ir.ArrayType(forms[0].type, len(forms))
        ir.GlobalVariable(module, kept, f"{name}_kept").initializer = ir.Constant(kept, forms)

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
        code = self.ir.load(pointer, typ=kind, align=dtype.itemsize)
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
            code = self._bfloat_bits(code)
        self.ir.store(code, pointer, align=x.dtype.itemsize)

    def _bfloat_bits(self, code: Any) -> Any:
        """The upper half of a float32; of NaN a bit that the lower half may have had is set."""
        word = ir.IntType(32)
        bits = self.ir.lshr(self.ir.bitcast(code, word), word(16))
        nan = self.ir.fcmp_unordered("uno", code, code)
        quiet = self.ir.select(nan, self.ir.or_(bits, word(0x40)), bits)
        return self.ir.trunc(quiet, ir.IntType(16))

    def _parts(self, pointer: Any, part: DType) -> tuple[Any, Any]:
        index = ir.IntType(32)(1)
        return pointer, self.ir.gep(pointer, [index], source_etype=register(part), inbounds=True)


# ---- rare branches

# A branch would keep a loop from being vectorised. So while LLVM's passes run, a rare case is a
# call of a function that has vector forms; only then are their definitions linked in and inlined:
# one test of a whole vector, and behind it a call for each element that needs it.
LANES = (2, 4, 8, 16, 32, 64)
PURE = ("memory(none)", "nounwind", "willreturn")
DEFINITIONS: dict[str, str] = {}

SCALAR_FORM = """
define linkonce_odr {kind} @{name}({ins}, {kind} %y) alwaysinline {{
  br i1 %c, label %slow, label %end, !prof !0
slow:
  %s = call {kind} @{name}_slow({outs})
  br label %end
end:
  %r = phi {kind} [ %y, %0 ], [ %s, %slow ]
  ret {kind} %r
}}
!0 = !{{!"branch_weights", i32 1, i32 100000}}
"""
VECTOR_FORM = """
define linkonce_odr {kind} @{name}_{n}({ins}, {kind} %y) alwaysinline {{
  %m = bitcast <{n} x i1> %c to i{n}
  %any = icmp ne i{n} %m, 0
  br i1 %any, label %slow, label %end, !prof !0
slow:
  %s = call {kind} @{name}_each_{n}({ins}, {kind} %y)
  br label %end
end:
  %r = phi {kind} [ %y, %0 ], [ %s, %slow ]
  ret {kind} %r
}}
define linkonce_odr {kind} @{name}_each_{n}({ins}, {kind} %y) noinline cold {{
  br label %test
test:
  %i = phi i32 [ 0, %0 ], [ %j, %next ]
  %r = phi {kind} [ %y, %0 ], [ %q, %next ]
  %ci = extractelement <{n} x i1> %c, i32 %i
  br i1 %ci, label %slow, label %next
slow:
  {parts}
  %si = call {one} @{name}_slow({outs})
  %s = insertelement {kind} %r, {one} %si, i32 %i
  br label %next
next:
  %q = phi {kind} [ %r, %test ], [ %s, %slow ]
  %j = add i32 %i, 1
  %more = icmp slt i32 %j, {n}
  br i1 %more, label %test, label %end
end:
  ret {kind} %q
}}
"""


class _SlowBuilder(LLVMBuilder):
    """Emits the code of a rare case, in which another one is computed in any case."""

    def rare(self, suspect: Scalar, slow: Callable[..., Scalar], y: Scalar, *xs: Scalar) -> Scalar:
        return self.select(suspect, slow(self, *xs), y)


def _definition(name: str, slow: Callable[..., Scalar], dtype: DType, count: int) -> str:
    """The module that defines a rare case: a number's form and the vectors'."""
    one, numbers = register(dtype), range(count)
    module = ir.Module()
    function = ir.Function(module, ir.FunctionType(one, [one] * count), f"{name}_slow")
    function.linkage = "linkonce_odr"
    for attribute in ("noinline", "cold"):
        function.attributes.add(attribute)
    b = _SlowBuilder(ir.IRBuilder(function.append_basic_block()))
    b.ir.ret(slow(b, *[Scalar(dtype, a, b) for a in function.args]).code)
    ins = ", ".join(["i1 %c", *[f"{one} %x{k}" for k in numbers]])
    outs = ", ".join(f"{one} %x{k}" for k in numbers)
    forms = [SCALAR_FORM.format(name=name, kind=one, ins=ins, outs=outs)]
    outs = ", ".join(f"{one} %e{k}" for k in numbers)
    for n in LANES:
        kind = f"<{n} x {one}>"
        ins = ", ".join([f"<{n} x i1> %c", *[f"{kind} %x{k}" for k in numbers]])
        parts = "\n  ".join(f"%e{k} = extractelement {kind} %x{k}, i32 %i" for k in numbers)
        forms.append(
            VECTOR_FORM.format(name=name, kind=kind, one=one, n=n, ins=ins, outs=outs, parts=parts)
        )
    return "\n".join([str(module), *forms])


# ---- machine code


def _machine() -> Any:
    """Describe this computer as LLVM's target, with vectors as wide as it has them."""
    features = binding.get_host_cpu_features()
    flat = features.flatten() + (",-prefer-256-bit" if features.get("avx512f") else "")
    return binding.Target.from_default_triple().create_target_machine(
        cpu=binding.get_host_cpu_name(), features=flat, opt=2, reloc="pic", codemodel="small"
    )


@cache
def machine() -> Any:
    """The target that compiles."""
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return _machine()


@cache
def _linker() -> Any:
    """The linker of code in memory, which takes a target for its own."""
    machine()
    return binding.create_lljit_compiler(_machine())


_libraries = count()


@dataclass(frozen=True)
class Library:
    """Machine code in memory, which stays as long as this does."""

    tracker: Any

    def address(self, name: str) -> int:
        """Where a function begins."""
        return int(self.tracker[name])


def optimised(text: str) -> Any:
    """LLVM's module of a text, after its passes."""
    host = machine()
    context = binding.create_context()
    module = binding.parse_assembly(text, context)
    module.triple = host.triple
    module.data_layout = str(host.target_data)
    module.verify()
    tuning = binding.create_pipeline_tuning_options(speed_level=1)
    tuning.loop_vectorization = tuning.slp_vectorization = True
    tuning.loop_interleaving = tuning.loop_unrolling = True
    passes = binding.create_pass_builder(host, tuning)
    passes.getModulePassManager().run(module, passes)
    rare = [name for name in DEFINITIONS if _holds(module, f"{name}_kept")]
    if rare:
        clean = binding.create_new_module_pass_manager()
        clean.add_global_dead_code_eliminate_pass()
        for name in rare:
            module.get_global_variable(f"{name}_kept").linkage = "internal"
        clean.run(module, passes)
        for name in rare:
            module.link_in(binding.parse_assembly(DEFINITIONS[name], context))
        late = binding.create_new_module_pass_manager()
        late.add_always_inliner_pass()
        late.add_simplify_cfg_pass()
        late.add_global_dead_code_eliminate_pass()
        late.run(module, passes)
    return module


def _holds(module: Any, name: str) -> bool:
    try:
        module.get_global_variable(name)
    except NameError:
        return False
    return True


def assemble(text: str) -> bytes:
    """Compile a module's text to an object file's bytes, which `load` takes on such a machine."""
    return bytes(machine().emit_object(optimised(text)))


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
    return Library(builder.link(_linker(), f"library{next(_libraries)}"))


def compile(text: str) -> Library:
    """Compile a module's text into memory."""
    module = optimised(text)
    names = [f.name for f in module.functions if not f.is_declaration]
    return load(bytes(machine().emit_object(module)), names)
