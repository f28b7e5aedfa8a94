"""debug_key_reuse: random keys that are drawn with twice, found as programs run."""

from __future__ import annotations

import weakref
from collections.abc import Container, Mapping, Sequence
from typing import Any

import numpy as np

from arrayport.control.checkpoint import checkpoint_p
from arrayport.control.conditionals import cond_p
from arrayport.control.loops import while_p
from arrayport.control.scanning import scan_p
from arrayport.core import watch
from arrayport.core.array import Array
from arrayport.core.config import config, setting
from arrayport.core.dtypes import is_key
from arrayport.core.errors import KeyReuseError, user_line
from arrayport.core.primitive import Holder, Primitive
from arrayport.core.program import Literal, PlacedEqn, Program, inner_programs
from arrayport.core.trace import common_backend
from arrayport.ops.random import random_unwrap_p
from arrayport.ops.slices import basic, slice_p
from arrayport.ops.structure import broadcast_in_dim_p, convert_p, reshape_p, transpose_p

# A use: of which operand, or which array that a Program holds; of which of its elements, as NumPy
# indexes; at which line.
Use = tuple[int | Array, Any, str]
SAME = frozenset({reshape_p, transpose_p, convert_p, broadcast_in_dim_p})  # keys stay those keys


class Used:
    """Which elements of arrays of keys were drawn with, and where."""

    def __init__(self) -> None:
        self.masks: dict[Any, np.ndarray[Any, Any]] = {}
        self.lines: dict[Any, str] = {}

    def use(self, key: Any, shape: tuple[int, ...], part: Any, line: str) -> None:
        """Note a use; raise KeyReuseError if it is not the first."""
        mask = self.masks.setdefault(key, np.zeros(shape, bool))
        if mask[part].any():
            raise KeyReuseError(
                f"a random key is used at {line} that was used at {self.lines[key]} already: make "
                "new ones with random.split, or say by random.clone that it is meant"
            )
        mask[part] = True
        self.lines[key] = line

    def forget(self, key: Any) -> None:
        """The array is gone."""
        self.masks.pop(key, None)
        self.lines.pop(key, None)


def uses(prim: Primitive, params: Mapping[str, Any], line: str) -> list[Use]:
    """What an operation draws with."""
    if prim is random_unwrap_p:
        return [(0, ..., line)] if params["consumes"] else []
    if prim is slice_p:  # what is cut out is a key of its own
        return [(0, basic(params["key"]), line)]
    if not isinstance(prim, Holder):
        return []
    found = [program_uses(program) for program in inner_programs(dict(params))]
    if prim is cond_p:
        return [_moved(1, use) for own in found for use in own]
    if prim is scan_p:
        (own,) = found
        fixed, carried = params["counts"][:2]
        if params["length"] > 1:
            kept = {*range(fixed), *_handed_on(params["body"], carried)}
            _refuse(own, kept, "scan or fori_loop")
        return own
    if prim is while_p:
        n, m = params["counts"]
        cond, body = (program_uses(params[name]) for name in ("cond", "body"))
        _refuse(cond, range(n), "while_loop")
        _refuse(body, {*range(m), *_handed_on(params["body"], None)}, "while_loop")
        return [_moved(n, use) for use in body]
    if prim is checkpoint_p:  # it draws again on purpose, the same
        return []
    return found[0] if found else []


def _moved(places: int, use: Use) -> Use:
    """A use of an operand that stands later among those of the holder."""
    where, part, line = use
    return where + places if isinstance(where, int) else where, part, line


def _refuse(own: Sequence[Use], kept: Container[int], loop: str) -> None:
    """Refuse uses of what is the same in every step: `kept` operands, and what a Program holds."""
    for i, _, line in own:
        if not isinstance(i, int) or i in kept:
            raise KeyReuseError(
                f"every step of a {loop} uses the same random key at {line}: carry a key along and "
                "split it in each step, or give the loop keys to go through"
            )


def _handed_on(program: Program, carried: int | None) -> set[int]:
    """Which inputs of a step come out of it as they are, among so many outputs."""
    number = {v: i for i, v in enumerate(program.ins)}
    same = _same_keys(program)
    outs = [same.get(v, v) for v in program.outs[:carried]]
    return {number[v] for v in outs if v in number}


def _same_keys(program: Program) -> dict[Any, Any]:
    """Which values are the keys of an earlier one, in another shape perhaps."""
    same: dict[Any, Any] = {}
    for eqn in program.eqns:
        if eqn.prim in SAME and is_key(eqn.ins[0].dtype):
            same[eqn.outs[0]] = same.get(eqn.ins[0], eqn.ins[0])
    return same


def program_uses(program: Program) -> list[Use]:
    """What a Program draws with; raises KeyReuseError if it does so twice."""
    return program.derive("key uses", lambda: (_found(program),))[0]


def _found(program: Program) -> list[Use]:
    number = {v: i for i, v in enumerate(program.ins)}
    same = _same_keys(program)
    used = Used()
    found: list[Use] = []
    for eqn in program.eqns:
        if eqn.outs and eqn.outs[0] in same:
            continue
        line = eqn.line if isinstance(eqn, PlacedEqn) else user_line()
        for i, part, at in _distinct(uses(eqn.prim, eqn.params, line)):
            atom = eqn.ins[i] if isinstance(i, int) else i
            root = same.get(atom, atom) if isinstance(i, int) else i
            root = root.value if type(root) is Literal else root
            if not is_key(root.dtype):
                continue
            whole = part if root is atom or type(atom) is Literal else ...
            used.use(_identity(root), root.shape, whole, at)
            if isinstance(root, Array):
                found.append((root, whole, at))
            elif root in number:
                found.append((number[root], whole, at))
    return found


def _identity(x: Any) -> Any:
    return id(x.raw) if isinstance(x, Array) else x


def _distinct(found: Sequence[Use]) -> list[Use]:
    """One of the uses of an operand by several branches, of which one is taken."""
    return list({(_identity(use[0]), repr(use[1])): use for use in found}.values())


_used = Used()


def _look(prim: Primitive, args: Sequence[Array], params: Mapping[str, Any]) -> None:
    """Look at an operation that is about to run."""
    if not config.debug_key_reuse:
        return
    if common_backend(prim.name, args).native is not None:
        return  # JAX looks itself
    for i, part, line in _distinct(uses(prim, params, user_line())):
        x = args[i] if isinstance(i, int) else i
        if is_key(x.dtype):
            if id(x.raw) not in _used.masks:
                weakref.finalize(x.raw, _used.forget, id(x.raw))
            _used.use(id(x.raw), x.shape, part, line)


watch.before.append(_look)
debug_key_reuse = setting(
    "debug_key_reuse", "Raise KeyReuseError where a typed random key is drawn with twice,"
)
