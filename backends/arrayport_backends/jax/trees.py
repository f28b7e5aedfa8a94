"""One registry of pytree nodes: a class that arrayport or JAX knows is known to the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jax import tree_util as theirs

from arrayport.core import nodes as ours
from arrayport.core.array import Array

# JAX's `keystr` and comparisons know its own classes of keys only.
KEYS = {
    ours.SequenceKey: theirs.SequenceKey,
    ours.DictKey: theirs.DictKey,
    ours.GetAttrKey: theirs.GetAttrKey,
    ours.FlattenedIndexKey: theirs.FlattenedIndexKey,
}


def link() -> None:
    """Tell JAX of our node types, those to come too, and ask it about unknown classes."""
    ours.on_register(_tell)
    ours.on_unknown(_ask)


def _tell(node: Any) -> None:
    def flatten_keyed(x: Any) -> tuple[list[tuple[Any, Any]], Any]:
        pairs, aux = node.flatten_keyed(x)
        return [(_their_key(key), child) for key, child in pairs], aux

    if not theirs.is_tree_node(node.cls):
        theirs.register_pytree_with_keys(node.cls, flatten_keyed, node.unflatten, node.flatten)


def _their_key(key: Any) -> Any:
    made = KEYS.get(type(key))
    return key if made is None else made(*vars(key).values())


def _ask(cls: type) -> None:
    if cls is not Array and theirs.is_tree_node(cls):
        ours.adopt(cls, _flatten, _unflatten, _flatten_keyed)


def _flatten(x: Any) -> tuple[list[Any], Any]:
    return theirs.tree_flatten(x, is_leaf=lambda part: part is not x)


def _flatten_keyed(x: Any) -> tuple[list[tuple[Any, Any]], Any]:
    pairs, _ = theirs.default_registry.flatten_one_level_with_keys(x)
    return pairs, _flatten(x)[1]


def _unflatten(structure: Any, children: Sequence[Any]) -> Any:
    return structure.unflatten(children)
