"""Pytrees under JAX's short names: `tree.map`, `tree.leaves` and their kin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arrayport.core.names import absent
from arrayport.core.nodes import static
from arrayport.core.tree import tree_all as all
from arrayport.core.tree import tree_broadcast as broadcast
from arrayport.core.tree import tree_flatten as flatten
from arrayport.core.tree import tree_flatten_with_path as flatten_with_path
from arrayport.core.tree import tree_leaves as leaves
from arrayport.core.tree import tree_leaves_with_path as leaves_with_path
from arrayport.core.tree import tree_map as map
from arrayport.core.tree import tree_map_with_path as map_with_path
from arrayport.core.tree import tree_reduce as reduce
from arrayport.core.tree import tree_reduce_associative as reduce_associative
from arrayport.core.tree import tree_structure as structure
from arrayport.core.tree import tree_transpose as transpose
from arrayport.core.tree import tree_unflatten as unflatten

__all__ = [
    "all",
    "broadcast",
    "flatten",
    "flatten_with_path",
    "leaves",
    "leaves_with_path",
    "map",
    "map_with_path",
    "reduce",
    "reduce_associative",
    "static",
    "structure",
    "transpose",
    "unflatten",
]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise absent("tree", name)
