"""Entry: a segment as a builtin function of NumPy arrays, which it checks, and which it makes.

What the function needs of Python and NumPy it finds in a table that is filled when it is loaded, so
that its machine code holds no address and may be kept on disk.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from arrayport.core import dtypes
from arrayport.core.program import Atom, Var
from arrayport_backends.ndarray.scalars import DType
from arrayport_backends.numpy.codegen.emitters import as_it_stands, nbytes, room
from arrayport_backends.numpy.codegen.segments import Part
from arrayport_backends.numpy.llvm import Library, address_in_python, ir
from arrayport_backends.numpy.pool import LARGE, empty

ARRAY_API = "_ARRAY_API"
EMPTY = 184  # the place of PyArray_Empty in NumPy's table of functions
FLAGS = 0x101  # rows are contiguous, elements aligned
FASTCALL = 0x80
LONG = 100_000  # instructions from which other threads may run meanwhile

# The fields of an array after its object header: pointer, rank, extents, strides, base, dtype,
# flags.
HEADER = object.__basicsize__
FLAGS_AT = HEADER + 48
PYTHON = (
    "PyObject_Vectorcall",
    "Py_IncRef",
    "Py_DecRef",
    "PyList_New",
    "PyList_SetItem",
    "PyEval_SaveThread",
    "PyEval_RestoreThread",
)


class Layout:
    """The arrays that a segment stores, scratch among them, and which of them it is given."""

    def __init__(self, stores: Sequence[Atom], scratch: int) -> None:
        self.scratch = [Var((scratch,), dtypes.uint8)] if scratch else []
        self.stored = [*stores, *self.scratch]
        self.large = [v for v in self.stored if nbytes(v) >= LARGE]
        self.dtypes = list(dict.fromkeys(v.dtype for v in self.stored if v not in self.large))


class Entry:
    """Emits the function `(arrays read..., large arrays to be stored...) -> list of arrays stored`.

    An array that is not as the code needs it is left to a Python function, which is the builtin
    function's `self`. Scratch is stored for nobody.
    """

    def __init__(self, module: Any, segment: Part) -> None:
        ins, outs, long = segment.reads, segment.stores, segment.cost > LONG
        layout = self.layout = Layout(outs, segment.scratch)
        self.pointer, self.word = ir.PointerType(), ir.IntType(64)
        self.int = ir.IntType(32)
        size = len(PYTHON) + 2 + len(layout.dtypes)
        self.table = ir.GlobalVariable(module, ir.ArrayType(self.word, size), "table")
        self.table.initializer = ir.Constant(self.table.value_type, [0] * size)
        kind = ir.FunctionType(self.pointer, [self.pointer, self.pointer, self.word])
        self.function = ir.Function(module, kind, "entry")
        as_it_stands(self.function)
        block = self.function.append_basic_block
        b = self.b = ir.IRBuilder(block("entry"))
        me, args, count = self.function.args
        slow, failed = block("slow"), block("failed")
        b.position_at_end(slow)
        b.ret(self.call("PyObject_Vectorcall", self.pointer, [me, args, count, self.pointer(None)]))
        b.position_at_start(self.function.entry_basic_block)
        given = [self.read(args, 8 * i, self.pointer) for i in range(len(ins) + len(layout.large))]
        arrays, flags = self.known(len(PYTHON) + 1), self.int(FLAGS)
        self.unless([(self.read(a, 8, self.word), arrays) for a in given[: len(ins)]], slow)
        found = [self.read(a, FLAGS_AT, self.int) for a in given[: len(ins)]]
        self.unless([(b.and_(own, flags), flags) for own in found], slow)
        large = dict(zip(layout.large, given[len(ins) :], strict=True))
        made = [large.get(v) or self.empty(v) for v in layout.stored]
        answer = self.call("PyList_New", self.pointer, [self.word(len(outs))])
        own = [answer, *[a for v, a in zip(layout.stored, made, strict=True) if v not in large]]
        nulls = [b.icmp_unsigned("!=", b.ptrtoint(p, self.word), self.word(0)) for p in own]
        self.go_on(reduce(b.and_, nulls), failed)
        for i, (v, array) in enumerate(zip(outs, made, strict=False)):
            if v in large:
                self.call("Py_IncRef", ir.VoidType(), [array])
            self.call("PyList_SetItem", self.int, [answer, self.word(i), array])
        pointers = [self.read(a, HEADER, self.pointer) for a in (*given[: len(ins)], *made)]
        state = self.call("PyEval_SaveThread", self.pointer, []) if long else None
        b.call(segment.function, pointers)
        if long:
            self.call("PyEval_RestoreThread", ir.VoidType(), [state])
        for v in layout.scratch:
            if v not in large:
                self.call("Py_DecRef", ir.VoidType(), [made[-1]])
        b.ret(answer)
        b.position_at_end(failed)
        b.ret(self.pointer(None))

    def read(self, base: Any, offset: int, kind: Any) -> Any:
        """A field of a structure."""
        place = self.b.gep(base, [self.word(offset)], source_etype=ir.IntType(8))
        return self.b.load(place, typ=kind)

    def known(self, index: int) -> Any:
        """An address of the table."""
        place = self.b.gep(self.table, [self.word(index)], source_etype=self.word, inbounds=True)
        return self.b.load(place, typ=self.word)

    def call(self, name: str, result: Any, args: Sequence[Any]) -> Any:
        """Call a function of Python, or of NumPy, by the table."""
        index = PYTHON.index(name) if name in PYTHON else len(PYTHON)
        kind = ir.FunctionType(result, [a.type for a in args])
        function = self.b.inttoptr(self.known(index), kind.as_pointer())
        return self.b.call(function, args)

    def unless(self, alike: Sequence[tuple[Any, Any]], otherwise: Any) -> None:
        """Go on if each of these words is as the other one."""
        if not alike:
            return
        same = [self.b.icmp_unsigned("==", found, wanted) for found, wanted in alike]
        self.go_on(reduce(self.b.and_, same), otherwise)

    def go_on(self, when: Any, otherwise: Any) -> None:
        """Go on under a condition: to few blocks, for each takes long to compile."""
        rest = self.function.append_basic_block("rest")
        self.b.cbranch(when, rest, otherwise)
        self.b.position_at_end(rest)

    def empty(self, v: Atom) -> Any:
        """A new array."""
        b = self.b
        dims = room(b, self.word, max(len(v.shape), 1))
        for i, n in enumerate(v.shape):
            b.store(self.word(n), b.gep(dims, [self.word(i)], source_etype=self.word))
        dtype = b.inttoptr(
            self.known(len(PYTHON) + 2 + self.layout.dtypes.index(v.dtype)), self.pointer
        )
        self.call("Py_IncRef", ir.VoidType(), [dtype])
        args = [self.int(len(v.shape)), dims, dtype, self.int(0)]
        return self.call("PyArray_Empty", self.pointer, args)


class Method(ctypes.Structure):
    """Python's description of a builtin function."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def array_functions() -> Any:
    """NumPy's table of functions for C."""
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    capsule = getattr(sys.modules["numpy._core._multiarray_umath"], ARRAY_API)
    return ctypes.cast(get(capsule, None), ctypes.POINTER(ctypes.c_void_p))


class Slow:
    """What surrounds an entry: it brings arrays into the form that its code reads."""

    def __init__(self, library: Library, layout: Layout, ins: Sequence[DType]) -> None:
        self.library = library
        self.kinds = layout.dtypes
        self.ins = ins
        self.stored = [(v.shape, v.dtype) for v in layout.stored]
        self.large = [(v.shape, v.dtype) for v in layout.large]
        self.over: dict[int, int] = {}  # of what is large: the number of what is read there
        self.run: Callable[..., list[Any]]

    def __call__(self, *raws: Any) -> list[Any]:
        """Run on arrays of any layout; large answers are given, or not yet."""
        pairs = zip(raws, self.ins, strict=False)
        given = [np.require(raw, dtype, ("C", "A", "E")) for raw, dtype in pairs]
        return self.run(*given, *raws[len(given) :])

    def pooled(self, *raws: Any) -> list[Any]:
        """Run, the memory of large answers coming from the pool."""
        return self.run(*raws, *[empty(shape, dtype) for shape, dtype in self.large])

    def overwriting(self, *raws: Any) -> list[Any]:
        """Run, large answers being written over what is read, else into memory of the pool."""
        given = list(raws)
        for k in self.over.values():
            if not (given[k].flags.carray and given[k].dtype == self.ins[k]):
                given[k] = np.array(given[k], self.ins[k], order="C")
        made = [
            given[self.over[i]] if i in self.over else empty(shape, dtype)
            for i, (shape, dtype) in enumerate(self.large)
        ]
        return self.run(*given, *made)

    def call(self, pointers: Sequence[int]) -> None:
        """Run on memory given by its addresses: what is read, what is stored, scratch."""
        kind = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(pointers))
        kind(self.library.address("segment"))(*pointers)


def builtin(
    library: Library, layout: Layout, ins: Sequence[DType], over: Sequence[tuple[int, int]] = ()
) -> Callable[..., list[Any]]:
    """The entry of a loaded module as a function of what it reads, some of which it overwrites.

    `over`: numbers of what is read, and of what is stored in its place.
    """
    kinds = layout.dtypes
    values = [*map(address_in_python, PYTHON), array_functions()[EMPTY]]
    values += [id(np.ndarray), *map(id, kinds)]
    table = (ctypes.c_int64 * len(values)).from_address(library.address("table"))
    table[:] = values
    method = Method(b"segment", library.address("entry"), FASTCALL, None)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(method))  # Python reads it while freeing a function
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype = ctypes.py_object
    make.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    slow = Slow(library, layout, ins)
    slow.run = make(ctypes.addressof(method), slow, None)
    if over:
        slow.over = {layout.large.index(layout.stored[j]): k for k, j in over}
        return slow.overwriting
    return slow.pooled if slow.large else slow.run
