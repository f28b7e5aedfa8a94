"""The registry of pytree nodes as JAX hands it out: one object whose methods are functions here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from arrayport.core import nodes
from arrayport.core.tree import tree_flatten


class PyTreeRegistry:
    """What classes are nodes. There is one, `default_registry`.

    Source: ``jax.tree_util.default_registry``.

    >>> default_registry.flatten_one_level({"a": 1, "b": (2,)}), default_registry.is_node(int)
    (((1, (2,)), ('a', 'b')), False)
    """

    __slots__ = ()

    flatten = staticmethod(tree_flatten)
    is_node = staticmethod(nodes.is_tree_node)
    register_dataclass_node = staticmethod(nodes.register_dataclass)
    register_node = staticmethod(nodes.register_pytree_node)

    def flatten_one_level(self, tree: Any) -> tuple[Iterable[Any], Any] | None:
        """Give the children of a node, and what else it is made of; None for a leaf."""
        return nodes.flatten_one_level(tree) if self.is_node(type(tree)) else None

    def flatten_one_level_with_keys(
        self, tree: Any
    ) -> tuple[Iterable[tuple[nodes.KeyEntry, Any]], Any] | None:
        """Give the children of a node with their keys, and what else; None for a leaf."""
        return nodes.flatten_one_level_with_keys(tree) if self.is_node(type(tree)) else None


default_registry = PyTreeRegistry()
