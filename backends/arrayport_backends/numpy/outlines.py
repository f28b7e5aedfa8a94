"""Outlines: functions outside of the loops that call them, with forms that LLVM's vectoriser takes.

While LLVM's passes run they are only declared, and pure; their definitions are linked in after
loops have become loops over vectors. There are two kinds. What is *rare* is one test of a whole
vector and behind it, where a branch would have kept the loop from being vectorised, a call for each
element that needs it. What is *shared* by many places of a large program is compiled once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arrayport.core.lazy import Lazy

ir: Any = Lazy("llvmlite.ir")
binding: Any = Lazy("llvmlite.binding")
newpassmanagers: Any = Lazy("llvmlite.binding.newpassmanagers")

Widths = tuple[int, ...]
WIDTHS: Widths = (2, 4, 8, 16, 32, 64)
PURE = ("memory(none)", "nounwind", "willreturn")
KEPT = "_kept"
DEFINITIONS: dict[str, str] = {}

RARE = """
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
RARE_VECTORS = """
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
define linkonce_odr {kind} @{name}_each_{n}({ins}, {kind} %y) noinline optnone cold {{
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
SHARED = """
define weak_odr {kind} @{name}({ins}) noinline {{
  %r = call {kind} @{name}_body({ins})
  ret {kind} %r
}}
"""
SHARED_VECTORS = """
define weak_odr {kind} @{name}_{n}({ins}) noinline {{
  {places}
  %to = alloca {kind}
  br label %loop
loop:
  %i = phi i64 [ 0, %0 ], [ %j, %loop ]
  {parts}
  %r = call {one} @{name}_body({outs})
  %q = getelementptr inbounds {one}, ptr %to, i64 %i
  store {one} %r, ptr %q
  %j = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %j, {n}
  br i1 %more, label %loop, label %end, !llvm.loop !{n}
end:
  %v = load {kind}, ptr %to
  ret {kind} %v
}}
!{n} = !{{ !{n}, !{n}0 }}
!{n}0 = !{{!"llvm.loop.vectorize.width", i32 {n}}}
"""


def declare(module: Any, name: str, ins: Sequence[Any], out: Any, widths: Widths) -> None:
    """Declare a function and its forms, and keep these until loops are vectorised."""
    declared = ir.Function(module, ir.FunctionType(out, ins), name)
    forms = []
    for n in widths:
        vectors = [ir.VectorType(kind, n) for kind in (*ins, out)]
        forms.append(ir.Function(module, ir.FunctionType(vectors[-1], vectors[:-1]), f"{name}_{n}"))
    variants = ",".join(f"_ZGV_LLVM_N{n}{'v' * len(ins)}_{name}({name}_{n})" for n in widths)
    for attribute in (*PURE, f'"vector-function-abi-variant"="{variants}"'):
        set.add(declared.attributes, attribute)  # its own `add` knows few
    kept = ir.ArrayType(ir.PointerType(), len(forms))
    ir.GlobalVariable(module, kept, name + KEPT).initializer = ir.Constant(kept, forms)


def rare(name: str, one: Any, count: int) -> str:
    """The text of the forms of a rare case of so many operands."""
    numbers = range(count)
    ins = ", ".join(["i1 %c", *[f"{one} %x{k}" for k in numbers]])
    outs = ", ".join(f"{one} %x{k}" for k in numbers)
    forms = [RARE.format(name=name, kind=one, ins=ins, outs=outs)]
    outs = ", ".join(f"{one} %e{k}" for k in numbers)
    for n in WIDTHS:
        kind = f"<{n} x {one}>"
        ins = ", ".join([f"<{n} x i1> %c", *[f"{kind} %x{k}" for k in numbers]])
        parts = "\n  ".join(f"%e{k} = extractelement {kind} %x{k}, i32 %i" for k in numbers)
        forms.append(
            RARE_VECTORS.format(name=name, kind=kind, one=one, n=n, ins=ins, outs=outs, parts=parts)
        )
    return "\n".join(forms)


def shared(name: str, one: Any, count: int, widths: Widths) -> str:
    """The text of the forms of a function of so many operands, whose body is there."""
    numbers = range(count)
    ins = ", ".join(f"{one} %x{k}" for k in numbers)
    outs = ", ".join(f"{one} %e{k}" for k in numbers)
    forms = [SHARED.format(name=name, kind=one, ins=ins)]
    for n in widths:
        kind = f"<{n} x {one}>"
        ins = ", ".join(f"{kind} %x{k}" for k in numbers)
        places = "\n  ".join(
            f"%a{k} = alloca {kind}\n  store {kind} %x{k}, ptr %a{k}" for k in numbers
        )
        parts = "\n  ".join(
            f"%p{k} = getelementptr inbounds {one}, ptr %a{k}, i64 %i\n"
            f"  %e{k} = load {one}, ptr %p{k}"
            for k in numbers
        )
        forms.append(
            SHARED_VECTORS.format(
                name=name, kind=kind, one=one, n=n, ins=ins, outs=outs, places=places, parts=parts
            )
        )
    return "\n".join(forms)


def merging(text: str) -> str:
    """A definition of which those forms that a module uses become part of it."""
    return text.replace("define weak_odr", "define linkonce_odr")


def link(module: Any, context: Any, passes: Any) -> None:
    """Define what a module uses, its loops being vectorised."""
    kept = [g for g in module.global_variables if g.name.endswith(KEPT)]
    if not kept:
        return
    clean = binding.create_new_module_pass_manager()
    clean.add_global_dead_code_eliminate_pass()
    names = []
    for variable in kept:
        names.append(variable.name.removesuffix(KEPT))
        variable.linkage = "internal"
    transform(module, clean, passes)
    for name in names:
        module.link_in(binding.parse_assembly(DEFINITIONS[name], context))
    late = binding.create_new_module_pass_manager()
    late.add_always_inliner_pass()
    late.add_simplify_cfg_pass()
    late.add_global_dead_code_eliminate_pass()
    transform(module, late, passes)


def transform(module: Any, manager: Any, passes: Any) -> None:
    """Run a pass manager once, and free it: llvmlite 0.50 itself never does (70 KB each)."""
    manager.run(module, passes)
    newpassmanagers.NewPassManager._dispose(manager)  # noqa: SLF001 - its `close` finds another
    manager.detach()
