"""Matrices: stacks of small ones are factored and solved as many at once as a vector has lanes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import inf, nan, prod
from typing import Any

from arrayport.core.primitive import Primitive
from arrayport.core.program import Atom, Eqn
from arrayport.ops.elementwise import log_p
from arrayport.ops.linalg import cholesky_p, det_p, lu_p, slogdet_p, solve_p, triangular_solve_p
from arrayport.passes.indices import ZERO, Axis, Index
from arrayport_backends.ndarray.elements import bare
from arrayport_backends.ndarray.kernels import Kernel
from arrayport_backends.ndarray.mathematics.complexes import divide
from arrayport_backends.ndarray.scalars import PARTS, DType, Scalar
from arrayport_backends.numpy.codegen.emitters import LINE, Emitter, disjoint, room, shifted
from arrayport_backends.numpy.codegen.segments import Maker, Part, Translation
from arrayport_backends.numpy.codegen.values import WORD
from arrayport_backends.numpy.codegen.vectors import VectorBuilder, conjugate, counter, lanes
from arrayport_backends.numpy.llvm import ir

ROWS = 16  # of the largest matrix: beyond it LAPACK has enough to do
ELEMENTS = 1024  # of the largest matrix and its right-hand sides, which the cache holds

FEW = 3  # rows up to which the code of each is its own

Place = Index | int
Span = tuple["Matrix", Place, int]  # from a column to another


def small(eqn: Eqn) -> bool:
    """Whether the matrices of an equation are so small that LAPACK spends its time on beginning."""
    size = sum(prod(a.shape[-2:]) for a in eqn.ins)
    return max(eqn.ins[0].shape[-2:]) <= ROWS and size <= ELEMENTS


class StackEmitter(Emitter):
    """Emits a function of the pointers to stacks, to the answers, and to memory for vectors.

    Some matrices go through at a time; where they do not come out even, the last ones go through
    twice. Within, an element of all of them is one vector in memory.
    """

    def __init__(self, t: Translation, eqn: Eqn) -> None:
        pointers = len(eqn.ins) + len(eqn.outs) + 1
        self.begin(t.module, eqn.prim.name, bare(t.language), pointers)
        disjoint(self.function.args)
        *stacks, self.memory = self.function.args
        self.ins, self.outs = stacks[: len(eqn.ins)], stacks[len(eqn.ins) :]
        self.eqn = eqn
        self.dtype = eqn.outs[0].dtype
        self.number = prod(eqn.ins[0].shape[:-2])
        self.v = VectorBuilder(self.b.ir, lanes(self.dtype, self.number))
        self.used = 0

    def part(self) -> Part:
        """Finish."""
        self.end()
        eqn, rows = self.eqn, self.eqn.ins[0].shape[-1]
        cost = rows * prod(max(eqn.ins[-1].shape, eqn.outs[0].shape, key=prod))
        return Part(self.function, eqn.ins, eqn.outs, -(-self.used // LINE) * LINE, cost)

    @contextmanager
    def turns(self) -> Iterator[Any]:
        """A loop over the stack; gives the number of the first matrix of each turn."""
        b, word = self.b.ir, ir.IntType(WORD)
        with self.loop(0, -(-self.number // self.v.count)) as turn:
            first, last = self.values.code(turn * self.v.count), word(self.number - self.v.count)
            yield b.select(b.icmp_signed("<", first, last), first, last)

    def steps(self, n: int, *, back: bool = False) -> Iterator[Place]:
        """The rows of a matrix: a loop, or its body for each of few."""
        if n <= FEW:
            yield from reversed(range(n)) if back else range(n)
            return
        with self.loop(0, n) as k:
            yield k * -1 + (n - 1) if back else k

    def some(self, low: Place, end: Place) -> Iterator[Index]:
        """A loop that may be empty."""
        if isinstance(low, int) and isinstance(end, int):
            if low < end:
                with self.loop(low, end) as index:
                    yield index
            return
        first, last = (self.values.code(ZERO + k) for k in (low, end))
        most = (ZERO + end).bounds[1]
        with (
            self.b.ir.if_then(self.b.ir.icmp_signed("<", first, last)),
            self.counting(first, last, Axis(most)) as index,
        ):
            yield index

    # ---- elements

    def matrix(self, rows: int, columns: int, dtype: DType | None = None) -> Matrix:
        """Memory for matrices, of the answer's dtype if nothing is said."""
        made = Matrix(self, self.used, rows, columns, dtype or self.dtype)
        self.used += rows * columns * made.width
        return made

    def read(self, k: int, first: Any) -> Matrix:
        """An operand's matrices."""
        rows, columns = self.eqn.ins[k].shape[-2:]
        found = self.matrix(rows, columns)
        with self.loop(0, rows * columns) as e:
            place, stride = self.place(self.ins[k], self.eqn.ins[k], first, e)
            found.put(0, e, self.v.gather(place, stride, self.dtype))
        return found

    def write(self, first: Any, *found: Matrix) -> None:
        """Write the answers' matrices, vectors or numbers."""
        for pointer, answer, matrix in zip(self.outs, self.eqn.outs, found, strict=True):
            with self.loop(0, matrix.rows * matrix.columns) as e:
                place, stride = self.place(pointer, answer, first, e)
                self.v.scatter(place, stride, self.v.narrowed(matrix.get(0, e), answer.dtype))

    def place(self, pointer: Any, a: Atom, first: Any, e: Index) -> tuple[Any, int]:
        """Where an element of a matrix is in a stack, and how many bytes further the next one's."""
        stride = prod(a.shape) // self.number * a.dtype.itemsize
        start = self.b.ir.mul(first, ir.IntType(WORD)(stride))
        offset = self.values.code(e * a.dtype.itemsize)
        return shifted(self.b.ir, pointer, self.b.ir.add(start, offset)), stride

    # ---- arithmetic

    def less(self, x: Scalar, y: Scalar, z: Scalar) -> Scalar:
        """Take the product y z from x."""
        if x.kind == "c":
            (p, q), (r, s), (u, v) = x.code, y.code, z.code
            real = self.less(self.less(p, r, u), -s, v)
            return self.v.complex(real, self.less(self.less(q, r, v), s, u))
        return self.v.sub(x, self.v.mul(y, z, contract=True), contract=True)

    def size(self, x: Scalar) -> Scalar:
        """The size of a number as LAPACK compares it."""
        v = self.v
        return v.abs(v.real(x)) + v.abs(v.imag(x)) if x.kind == "c" else v.abs(x)

    def slot(self, x: Scalar) -> Any:
        """A place on the stack for a real vector, which has this one."""
        place = room(self.entry, self.v.kind(x.dtype), 1, LINE)
        self.v.store(place, x)
        return place


class Matrix:
    """Matrices as vectors in memory: an element is one vector."""

    def __init__(
        self, stack: StackEmitter, start: int, rows: int, columns: int, dtype: DType
    ) -> None:
        self.stack = stack
        self.start = start
        self.rows, self.columns = rows, columns
        self.dtype = dtype
        self.width = stack.v.count * dtype.itemsize

    def pointer(self, i: Place, j: Place) -> Any:
        """Where an element is."""
        s = self.stack
        index = (ZERO + i) * self.columns + j
        return shifted(s.b.ir, s.memory, s.values.code(index * self.width + self.start))

    def get(self, i: Place, j: Place) -> Scalar:
        """An element."""
        return self.stack.v.load(self.pointer(i, j), self.dtype)

    def put(self, i: Place, j: Place, x: Scalar) -> None:
        """Change an element."""
        self.stack.v.store(self.pointer(i, j), x)


# ---- elimination


def solve(t: Translation, eqn: Eqn) -> Part:
    """Eliminate with partial pivoting, in the right-hand sides as well, and substitute."""
    s = StackEmitter(t, eqn)
    n, m = eqn.ins[1].shape[-2:]
    with s.turns() as first:
        a, x = s.read(0, first), s.read(1, first)
        for k in s.steps(n):
            exchange(s, k, n, (a, k, n), (x, 0, m))
            eliminate(s, k, n, (a, k + 1, n), (x, 0, m))
        for k in s.steps(n, back=True):
            for j in s.some(0, m):
                x.put(k, j, divide(s.v, x.get(k, j), a.get(k, k)))
            for i in s.some(0, k):
                for j in s.some(0, m):
                    x.put(i, j, s.less(x.get(i, j), a.get(i, k), x.get(k, j)))
        s.write(first, x)
    return s.part()


def exchange(s: StackEmitter, k: Place, n: int, *spans: Span) -> Scalar:
    """Bring the row with the largest element of column k to the k-th place; gives its number."""
    v, kind, a = s.v, counter(s.dtype), spans[0][0]
    start = s.size(a.get(k, k))
    largest, where = s.slot(start), s.slot(v.numbered(s.values.code(ZERO + k), kind))
    for i in s.some(k + 1, n):
        found, known = s.size(a.get(i, k)), v.load(largest, start.dtype)
        more = found > known
        v.store(largest, v.select(more, found, known))
        v.store(where, v.select(more, v.numbered(s.values.code(i), kind), v.load(where, kind)))
    for i in s.some(k + 1, n):
        swapped = v.load(where, kind) == v.numbered(s.values.code(i), kind)
        with v.ir.if_then(v.any(swapped)):
            for matrix, low, end in spans:
                for j in s.some(low, end):
                    upper, lower = matrix.get(k, j), matrix.get(i, j)
                    matrix.put(k, j, v.select(swapped, lower, upper))
                    matrix.put(i, j, v.select(swapped, upper, lower))
    return v.load(where, kind)


def eliminate(s: StackEmitter, k: Place, n: int, *spans: Span) -> None:
    """Take multiples of row k from those below, and leave the factors in column k.

    Under a pivot of 0 there are but zeros.
    """
    v, a = s.v, spans[0][0]
    for i in s.some(k + 1, n):
        pivot, below = a.get(k, k), a.get(i, k)
        factor = v.select(pivot == 0, below, divide(v, below, pivot))
        for matrix, low, end in spans:
            for j in s.some(low, end):
                matrix.put(i, j, s.less(matrix.get(i, j), factor, matrix.get(k, j)))
        a.put(i, k, factor)


def lu(t: Translation, eqn: Eqn) -> Part:
    """Factor with partial pivoting; also the pivots, and the order of rows that they make."""
    s, kind = StackEmitter(t, eqn), counter(eqn.outs[0].dtype)
    m, n = eqn.ins[0].shape[-2:]
    with s.turns() as first:
        a = s.read(0, first)
        pivots, order = s.matrix(min(m, n), 1, kind), s.matrix(m, 1, kind)
        for i in s.some(0, m):
            order.put(i, 0, s.v.numbered(s.values.code(i), kind))
        for k in s.steps(min(m, n)):
            pivots.put(k, 0, exchange(s, k, m, (a, 0, n), (order, 0, 1)))
            eliminate(s, k, m, (a, k + 1, n))
        s.write(first, a, pivots, order)
    return s.part()


def factors(s: StackEmitter, first: Any) -> Iterator[tuple[Place, Scalar]]:
    """The factors of determinants, numbered: pivots, negated where rows change places."""
    n = s.eqn.ins[0].shape[-1]
    a = s.read(0, first)
    for k in s.steps(n):
        where = exchange(s, k, n, (a, k, n))
        stays = where == s.v.numbered(s.values.code(ZERO + k), where.dtype)
        yield k, s.v.select(stays, a.get(k, k), -a.get(k, k))
        eliminate(s, k, n, (a, k + 1, n))


def det(t: Translation, eqn: Eqn) -> Part:
    """Eliminate, and multiply the pivots."""
    s = StackEmitter(t, eqn)
    with s.turns() as first:
        total = s.matrix(1, 1)
        total.put(0, 0, s.v.constant(1, s.dtype))
        for _, found in factors(s, first):
            factor = found if found.kind == "f" else finite(s, found)
            total.put(0, 0, total.get(0, 0) * factor)
        s.write(first, total)
    return s.part()


def finite(s: StackEmitter, x: Scalar) -> Scalar:
    """A complex number, or NaN in the place of an infinite one, which has no sign in LAPACK."""
    return s.v.select(s.size(x) < inf, x, s.v.constant(nan, s.dtype))


def slogdet(t: Translation, eqn: Eqn) -> Part:
    """Eliminate, multiply the pivots' signs and add their logarithms, those of all at once."""
    s = StackEmitter(t, eqn)
    v, b, row = s.v, s.b, t.language.rows[log_p]
    assert isinstance(row, Kernel)
    n, sizes = eqn.ins[0].shape[-1], s.memory  # of the pivots: first those of every first row
    s.used = n * s.number * s.dtype.itemsize
    with s.turns() as first:
        sign = s.matrix(1, 1)
        sign.put(0, 0, v.constant(1, s.dtype))
        for k, x in factors(s, first):
            sign.put(0, 0, sign.get(0, 0) * v.select(x > 0, 1, v.select(x < 0, -1, x)))
            pivots, _ = s.place(sizes, eqn.outs[1], first, (ZERO + k) * s.number)
            v.store(pivots, v.abs(x))
        v.store(s.place(s.outs[0], eqn.outs[0], first, ZERO)[0], sign.get(0, 0))
    with s.loop(0, s.number) as i:
        b.store(s.values.at(s.outs[1], i, s.dtype), b.constant(0, s.dtype))
    with s.loop(0, n) as k, s.loop(0, s.number) as i:
        size = b.load(s.values.at(sizes, k * s.number + i, s.dtype), s.dtype)
        (found,) = row.emit(b, [size], [s.dtype])
        total = s.values.at(s.outs[1], i, s.dtype)
        b.store(total, b.load(total, s.dtype) + found)
    with s.loop(0, s.number) as i:
        sign, log = (s.values.at(p, i, s.dtype) for p in s.outs)
        found = b.load(log, s.dtype)
        b.store(sign, b.select(b.isnan(found), nan, b.load(sign, s.dtype)))
    return s.part()


# ---- triangles


def triangular_solve(t: Translation, eqn: Eqn) -> Part:
    """Substitute, from the end of the triangle that has one element."""
    s, params = StackEmitter(t, eqn), eqn.params
    rows, columns = eqn.outs[0].shape[-2:]
    left, turned = params["left_side"], params["transpose_a"]
    n, m = (rows, columns) if left else (columns, rows)
    with s.turns() as first:
        a, x = s.read(0, first), s.read(1, first)

        def factor(i: Place, k: Place) -> Scalar:
            found = a.get(k, i) if turned == left else a.get(i, k)
            return conjugate(s.v, found) if params["conjugate_a"] else found

        def place(i: Place, j: Place) -> tuple[Place, Place]:
            return (i, j) if left else (j, i)

        forward = params["lower"] == (turned != left)
        for k in s.steps(n, back=not forward):
            if not params["unit_diagonal"]:
                for j in s.some(0, m):
                    x.put(*place(k, j), divide(s.v, x.get(*place(k, j)), factor(k, k)))
            for i in s.some(k + 1, n) if forward else s.some(0, k):
                for j in s.some(0, m):
                    old, known = x.get(*place(i, j)), x.get(*place(k, j))
                    x.put(*place(i, j), s.less(old, factor(i, k), known))
        s.write(first, x)
    return s.part()


def cholesky(t: Translation, eqn: Eqn) -> Part:
    """Factor; of a matrix that is not positive definite the lower triangle is NaN."""
    s = StackEmitter(t, eqn)
    v, n = s.v, eqn.outs[0].shape[-1]
    with s.turns() as first:
        a = s.read(0, first)
        real = PARTS.get(s.dtype, s.dtype)
        lost = s.slot(v.constant(0, real))  # NaN where a pivot is not positive
        for k in s.steps(n):
            pivot = v.real(a.get(k, k))
            root = v.sqrt(pivot)
            v.store(lost, v.select(pivot > 0, v.load(lost, real), nan))
            a.put(k, k, v.cast(root, s.dtype))
            for i in s.some(k + 1, n):
                a.put(i, k, v.scaled(a.get(i, k), root))
            for j in s.some(k + 1, n):
                for i in s.some(j, n):
                    other = conjugate(v, a.get(j, k))
                    a.put(i, j, s.less(a.get(i, j), a.get(i, k), other))
        for k in s.steps(n):
            for j in s.some(0, k + 1):
                sound = v.load(lost, real) == 0
                a.put(k, j, v.select(sound, a.get(k, j), v.constant(nan, s.dtype)))
            for j in s.some(k + 1, n):
                a.put(k, j, v.constant(0, s.dtype))
        s.write(first, a)
    return s.part()


def small_and_real(eqn: Eqn) -> bool:
    """Whether the matrices are small, and of real numbers."""
    return small(eqn) and eqn.ins[0].dtype.kind == "f"


STACKS: Mapping[Primitive, Maker] = {
    lu_p: Maker(lu, small),
    det_p: Maker(det, small),
    slogdet_p: Maker(slogdet, small_and_real),
    solve_p: Maker(solve, small),
    triangular_solve_p: Maker(triangular_solve, small),
    cholesky_p: Maker(cholesky, small),
}
