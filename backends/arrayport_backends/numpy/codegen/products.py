"""Products of matrices whose right side stays in the cache: calls of BLAS, some rows at a time.

Such a product takes turns with the nests before and after it, which find its rows in the cache. A
call does so little that BLAS does it in one thread, so that several threads can call; which rows
a call computes depends on the shapes alone, so the digits do not depend on the threads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from math import prod
from typing import Any

from arrayport.core.program import Atom, Eqn, Var
from arrayport.ops.products import NO_AXES
from arrayport_backends.numpy import blas
from arrayport_backends.numpy.codegen.emitters import as_it_stands, internal, shifted, whole
from arrayport_backends.numpy.codegen.values import WORD
from arrayport_backends.numpy.llvm import ir, register

ROW_MAJOR, AS_IT_IS, TRANSPOSED = 101, 111, 112  # as BLAS numbers them
ALONE = 1 << 18  # products of numbers up to which BLAS uses one thread
TILE = 16  # rows that BLAS computes at once
LEAST = 2 * TILE  # rows from which a call is worth it
EACH = 2  # instructions of a product of two numbers


class ProductEmitter:
    """Emits one product as a function of pointers to both sides, to the answer, and of rows."""

    by_rows = True
    lane = 0
    scratch = 0
    taken: Mapping[Atom, Var] = {}

    def __init__(self, module: Any, eqn: Eqn) -> None:
        self.module = module
        self.left, self.right = eqn.ins
        (self.out,) = eqn.outs
        ((x,), (y,)) = eqn.params["contract"]
        self.turned = (x != len(self.left.shape) - 1, y == 1)
        self.inner, self.columns = self.right.shape[y], self.right.shape[1 - y]
        self.extent = self.out.shape[0]
        self.rows = prod(self.out.shape[1:-1])  # that BLAS knows for each of ours
        self.reads: Sequence[Atom] = list(dict.fromkeys(eqn.ins))
        self.stores: Sequence[Var] = eqn.outs
        self.local: AbstractSet[Atom] = set() if self.turned[0] else {self.left}
        self.length = EACH * self.inner
        self.cost = self.length * prod(self.out.shape)

    @cached_property
    def unit(self) -> int:
        """How many of our rows a call takes."""
        most = ALONE // (self.rows * self.columns * self.inner)
        return self.extent if self.extent <= most else most // TILE * TILE or most

    def build(self, lane: int | None = None, unit: int = 1, *, single: bool = False) -> Any:
        """The function; without a lane, of all rows."""
        del unit, single  # BLAS takes any number of rows
        word, pointer, number = ir.IntType(WORD), ir.PointerType(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [pointer] * 3 + [word] * 2)
        function = internal(self.module, "product", kind)
        as_it_stands(function)
        b = ir.IRBuilder(function.append_basic_block("entry"))
        x, y, out, start, stop = function.args
        size, inner, columns = self.out.dtype.itemsize, self.inner, self.columns
        stride = size if self.turned[0] else size * self.rows * inner
        x = shifted(b, x, b.mul(start, word(stride)))
        out = shifted(b, out, b.mul(start, word(size * self.rows * columns)))
        name = blas.NAMES[self.out.dtype]
        integer, real = ir.IntType(blas.bits(name)), register(self.out.dtype)
        sides = [number(TRANSPOSED if turned else AS_IT_IS) for turned in self.turned]
        count = b.mul(b.sub(stop, start), word(self.rows))
        count = b.trunc(count, integer) if integer.width < WORD else count
        steps = (self.extent if self.turned[0] else inner, inner if self.turned[1] else columns)
        args = [number(ROW_MAJOR), *sides, count, integer(columns), integer(inner), real(1)]
        args += [x, integer(steps[0]), y, integer(steps[1]), real(0), out, integer(columns)]
        gemm = self.module.globals.get(name) or ir.Function(
            self.module, ir.FunctionType(ir.VoidType(), [a.type for a in args]), name
        )
        b.call(gemm, args)
        b.ret_void()
        return function if lane is not None else whole(function, self.extent)


def blocked(eqn: Eqn) -> bool:
    """Whether a product is done some rows at a time: they follow one another, by a matrix."""
    (x, y), (out,), (axes, _) = eqn.ins, eqn.outs, eqn.params["contract"]
    name = blas.NAMES.get(out.dtype)
    plain = x.dtype == y.dtype == out.dtype and eqn.params["batch"] == NO_AXES and len(axes) == 1
    last = axes == (len(x.shape) - 1,) or len(x.shape) == 2
    if name is None or not (plain and last and len(y.shape) == 2 <= len(x.shape)):
        return False
    if x is y or not blas.symbol(name):  # of a matrix with itself BLAS computes half
        return False
    made = ProductEmitter(None, eqn)
    return made.unit * made.rows >= min(LEAST, made.extent * made.rows)
