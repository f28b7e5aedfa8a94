"""Instructions that AVX-512 has and LLVM's language has no name for, in forms of every width."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arrayport_backends.numpy.outlines import WIDTHS

# By the scalar language's names: LLVM's, how many operands, and what follows these.
INSTRUCTIONS = {
    "scale": ("scalef", 2, []),
    "exponent": ("getexp", 1, []),
    "significand": ("getmant", 1, ["i32 15"]),  # from 3/4 to 3/2; NaN of what is negative
}
LEAST, MOST = 16, 64  # bytes of the vectors that they take

SCALAR = """
define linkonce_odr {one} @{name}({ins}) alwaysinline {{
  {parts}
  %r = call {kind} @{name}_{n}({outs})
  %s = extractelement {kind} %r, i32 0
  ret {one} %s
}}
"""
NATIVE = """
declare {kind} @{intrinsic}({kinds})
define linkonce_odr {kind} @{name}_{n}({ins}) alwaysinline {{
  %r = call {kind} @{intrinsic}({outs})
  ret {kind} %r
}}
"""
WIDENED = """
define linkonce_odr {kind} @{name}_{n}({ins}) alwaysinline {{
  {parts}
  %w = call {whole} @{name}_{least}({outs})
  %r = shufflevector {whole} %w, {whole} poison, {first}
  ret {kind} %r
}}
"""
HALVED = """
define linkonce_odr {kind} @{name}_{n}({ins}) alwaysinline {{
  {parts}
  %r0 = call {half} @{name}_{h}({lows})
  %r1 = call {half} @{name}_{h}({highs})
  %r = shufflevector {half} %r0, {half} %r1, {both}
  ret {kind} %r
}}
"""


def forms(name: str, instruction: str, one: Any) -> str:
    """The text of the forms of an instruction on floats or doubles, under a name."""
    intrinsic, count, constant = INSTRUCTIONS[instruction]
    size, letter = (4, "s") if str(one) == "float" else (8, "d")
    least, most = LEAST // size, MOST // size
    numbers = range(count)

    def vector(n: int) -> str:
        return f"<{n} x {one}>"

    def listed(kind: str, prefix: str) -> str:
        return ", ".join(f"{kind} %{prefix}{k}" for k in numbers)

    def shuffled(prefix: str, places: Sequence[int]) -> list[str]:
        parts = f"{kind} %x{{}}, {kind} poison, {shuffle(places)}"
        return [f"%{prefix}{k} = shufflevector {parts.format(k)}" for k in numbers]

    kind = vector(least)
    first = "\n  ".join(f"%v{k} = insertelement {kind} poison, {one} %x{k}, i32 0" for k in numbers)
    ins, outs = listed(str(one), "x"), listed(kind, "v")
    made = [SCALAR.format(name=name, one=one, kind=kind, n=least, ins=ins, outs=outs, parts=first)]
    for n in WIDTHS:
        kind = vector(n)
        known = {"name": name, "kind": kind, "n": n, "ins": listed(kind, "x")}
        if n < least:
            known |= {"whole": vector(least), "least": least, "outs": listed(vector(least), "v")}
            known |= {"parts": "\n  ".join(shuffled("v", [*range(n), *[0] * (least - n)]))}
            made.append(WIDENED.format(**known, first=shuffle(range(n))))
        elif n > most:
            h = n // 2
            known |= {"half": vector(h), "h": h, "both": shuffle(range(n))}
            known |= {"lows": listed(vector(h), "l"), "highs": listed(vector(h), "h")}
            halves = [*shuffled("l", range(h)), *shuffled("h", range(h, n))]
            made.append(HALVED.format(**known, parts="\n  ".join(halves)))
        else:
            rounding = ["i32 4"] * (n == most)  # as the processor is set to
            known |= {"intrinsic": f"llvm.x86.avx512.mask.{intrinsic}.p{letter}.{8 * n * size}"}
            bits = f"i{max(n, 8)}"
            kinds = [kind] * count + ["i32"] * len(constant) + [kind, bits]
            kinds += ["i32"] * len(rounding)
            given = [listed(kind, "x"), *constant, f"{kind} poison", f"{bits} -1", *rounding]
            made.append(NATIVE.format(**known, kinds=", ".join(kinds), outs=", ".join(given)))
    return "\n".join(made)


def shuffle(places: Sequence[int]) -> str:
    """Which elements a shuffle takes."""
    return f"<{len(places)} x i32> <{', '.join(f'i32 {k}' for k in places)}>"
