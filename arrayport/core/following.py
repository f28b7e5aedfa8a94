"""How what an operation gives is divided over devices, by how its operands are.

Each primitive states it as its rule `divide`. Transposing, broadcasting, indexing by slices,
dropping axes of one element, reducing and multiplying matrices keep the parts of the axes that they
keep whole. Of all others an answer of the shape of an operand is divided as that, and anything else
is whole on every device of the mesh.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from arrayport.core.array import Array, PlacedArray
from arrayport.core.shardings import NamedSharding, PartitionSpec, Sharding, SingleDeviceSharding

Entries = tuple[tuple[Any, ...], ...]  # for each axis of an array the mesh's axes that divide it


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
    found = entries_of(prim, args, entries, params, outs)
    sizes = first.mesh.shape
    return [
        None if e is None else NamedSharding(first.mesh, _spec(e, o.shape, sizes))
        for e, o in zip(found, outs, strict=True)
    ]


def _spec(entries: Entries, shape: tuple[int, ...], sizes: Any) -> PartitionSpec:
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


def entries_of(
    prim: Any,
    xs: Sequence[Any],
    entries: Sequence[Entries | None],
    params: dict[str, Any],
    outs: Sequence[Any],
) -> Sequence[Entries | None]:
    """The entries of an operation's answers; None for what comes of no placed operand."""
    if all(e is None for e in entries):
        return [None] * len(outs)
    return prim.divide(entries, xs, outs, **params)


# ---- rules, those that no family of operations has to itself


def alike(
    entries: Sequence[Entries | None], xs: Sequence[Any], outs: Sequence[Any], /, **_params: Any
) -> list[Entries]:
    """Divide answers as the operands of their shape, where these agree; else they are whole."""
    return [_as_operands(entries, xs, out.shape) for out in outs]


def _as_operands(
    entries: Sequence[Entries | None], xs: Sequence[Any], shape: tuple[int, ...]
) -> Entries:
    found = [e for x, e in zip(xs, entries, strict=True) if e is not None and x.shape == shape]
    each = [{e for e in along if e} for along in zip(*found, strict=True)]
    if not found or any(len(ways) > 1 for ways in each):
        return ((),) * len(shape)
    return tuple([ways.pop() if ways else () for ways in each])


def through(
    entries: Sequence[Entries | None], _xs: Sequence[Any], _outs: Sequence[Any], program: Any
) -> list[Entries | None]:
    """Divide a Program's answers by its equations, which are walked once for such operands."""

    def walked() -> list[Entries | None]:
        known: dict[Any, Entries | None] = dict(zip(program.ins, entries, strict=True))
        for prim, ins, params, outs in program.eqns:
            given = [known.get(a) for a in ins]
            known.update(zip(outs, entries_of(prim, ins, given, params, outs), strict=True))
        return [known.get(a) for a in program.outs]

    return program.derive(("divided", *entries), walked)
