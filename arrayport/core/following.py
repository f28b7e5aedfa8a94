"""How what an operation gives is divided over devices, by how its operands are.

An answer of the shape of an operand is divided as that. Transposing, broadcasting, indexing by
slices, dropping axes of one element, reducing and multiplying matrices keep the parts of the axes
that they keep whole. Anything else is whole on every device of the mesh.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from arrayport.core.array import Array, PlacedArray
from arrayport.core.shardings import NamedSharding, PartitionSpec, Sharding, SingleDeviceSharding

Entries = tuple[tuple[Any, ...], ...]  # for each axis of an array the mesh's axes that divide it
Shape = tuple[int, ...]


def follow(prim: Any, args: Sequence[Array], params: dict[str, Any], out: Any) -> Any:
    """Place what an operation gave, of whose operands some are placed."""
    outs = list(out) if prim.many else [out]
    placed = [
        o if s is None else PlacedArray(o.raw, o.weak, s)
        for o, s in zip(outs, _divided(prim, args, params, outs), strict=True)
    ]
    return placed if prim.many else placed[0]


def _divided(
    prim: Any, args: Sequence[Array], params: dict[str, Any], outs: Sequence[Array]
) -> Sequence[Sharding | None]:
    given = [s for s in (a.placement for a in args) if s is not None]
    first = given[0]
    if isinstance(first, SingleDeviceSharding) and all(s == first for s in given):
        return [first] * len(outs)
    if not isinstance(first, NamedSharding):
        return [None] * len(outs)
    entries: list[Entries | None] = []
    for a in args:
        own = a.placement
        if own is not None and not (isinstance(own, NamedSharding) and own.mesh == first.mesh):
            return [None] * len(outs)
        if own is None:
            entries.append(None)
        else:
            entries.append(tuple([own.spec.axes(i) for i in range(len(a.shape))]))
    found = _through(prim.name, args, entries, params, outs)
    sizes = first.mesh.shape
    return [
        None if e is None else NamedSharding(first.mesh, _spec(e, o.shape, sizes))
        for e, o in zip(found, outs, strict=True)
    ]


def _spec(entries: Entries, shape: Shape, sizes: Any) -> PartitionSpec:
    """A spec: of each mesh axis the first use, where it divides, and no more than is said."""
    used: set[Any] = set()
    kept: list[Any] = []
    for axes, extent in zip(entries, shape, strict=True):
        parts = prod([sizes[name] for name in axes])
        fits = not used & {*axes} and extent % parts == 0
        kept.append(axes if fits else None)
        used |= {*axes} if fits else set()
    while kept and not kept[-1]:
        kept.pop()
    return PartitionSpec(*kept)


def _through(
    name: str,
    ins: Sequence[Any],
    entries: Sequence[Entries | None],
    params: dict[str, Any],
    outs: Sequence[Any],
) -> list[Entries | None]:
    """The entries of an operation's answers; None for what comes of no placed operand."""
    if all(e is None for e in entries):
        return [None] * len(outs)
    if name == "jit":
        return _through_program(params["program"], entries)
    return [_of_one(name, ins, entries, params, out.shape) for out in outs]


def _through_program(program: Any, entries: Sequence[Entries | None]) -> list[Entries | None]:
    known: dict[Any, Entries | None] = dict(zip(program.ins, entries, strict=True))
    for prim, ins, params, outs in program.eqns:
        given = [known.get(a) for a in ins]
        known.update(zip(outs, _through(prim.name, ins, given, params, outs), strict=True))
    return [known.get(a) for a in program.outs]


def _sliced(key: Sequence[Any], own: Entries, extents: Shape) -> Entries:
    """The entries of the axes that are kept whole, of new ones and those cut none."""
    found: list[tuple[Any, ...]] = []
    axes = iter(zip(own, extents, strict=True))
    for k in key:
        entry, extent = ((), 0) if k is None else next(axes)
        if k is None or isinstance(k, tuple):
            found.append(entry if k == (0, extent, 1) else ())
    return tuple(found)


def _of_one(
    name: str,
    ins: Sequence[Any],
    entries: Sequence[Entries | None],
    params: dict[str, Any],
    shape: Shape,
) -> Entries:
    whole: Entries = ((),) * len(shape)
    own, extents = entries[0], ins[0].shape
    if name == "dot_general":
        (cx, cy), (bx, by) = params["contract"], params["batch"]
        left, right = (
            ((),) * len(x.shape) if e is None else e for x, e in zip(ins, entries, strict=True)
        )
        rows = [e for i, e in enumerate(left) if i not in (*cx, *bx)]
        columns = [e for i, e in enumerate(right) if i not in (*cy, *by)]
        return (*[left[i] for i in bx], *rows, *columns)
    if name == "transpose" and own is not None:
        return tuple([own[i] for i in params["perm"]])
    if name.startswith("reduce_") and "axes" in params and own is not None:
        return tuple([e for i, e in enumerate(own) if i not in params["axes"]])
    if name == "broadcast_in_dim" and own is not None:
        at = dict(zip(params["dims"], own, strict=True))
        return tuple([at.get(i, ()) for i in range(len(shape))])
    if name == "slice" and own is not None:
        return _sliced(params["key"], own, extents)
    if name == "reshape" and own is not None and shape != extents:
        long = [(n, e) for n, e in zip(extents, own, strict=True) if n != 1]
        if [n for n, _ in long] != [n for n in shape if n != 1]:
            return whole
        rest = iter(long)
        return tuple([() if n == 1 else next(rest)[1] for n in shape])
    alike = [e for x, e in zip(ins, entries, strict=True) if e and x.shape == shape]
    each = [{e for e in along if e} for along in zip(*alike, strict=True)]
    if not alike or any(len(found) > 1 for found in each):
        return whole  # for nothing is alike, or two divide an axis in two ways
    return tuple([found.pop() if found else () for found in each])
