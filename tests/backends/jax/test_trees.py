"""Classes registered as pytree nodes with arrayport or with JAX are nodes for both."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
from arrayport_backends.jax import backend
from jax.tree_util import register_pytree_node

from arrayport.core import nodes, tree


class Pair:
    def __init__(self, left: Any, right: Any) -> None:
        self.left, self.right = left, right


def parts(x: Pair) -> tuple[Any, None]:
    return (x.left, x.right), None


def join(_: None, children: Any) -> Pair:
    return Pair(*children)


def test_jax_learns_what_is_registered_here() -> None:
    class Own(Pair): ...

    nodes.register_pytree_node(Own, parts, lambda _, c: Own(*c))
    assert jax.tree.leaves(Own(1, [2])) == [1, 2]
    out = backend.native.jit(lambda p: Own(p.right, p.left))(Own(1.0, np.ones(2)))
    assert type(out) is Own
    assert float(out.right) == 1.0


def test_classes_of_jax_are_learnt_when_met() -> None:
    class Theirs(Pair): ...

    register_pytree_node(Theirs, parts, lambda _, c: Theirs(*c))
    x = Theirs(1, {"a": None, "b": 2})
    assert tree.tree_leaves(x) == [1, 2]
    doubled = tree.tree_map(lambda v: 2 * v, x)
    assert type(doubled) is Theirs
    assert doubled.right == {"a": None, "b": 4}
    assert tree.tree_structure(x) == tree.tree_structure(doubled)


def test_partial_functions_of_both_are_nodes_for_both() -> None:
    for partial in (tree.Partial, jax.tree_util.Partial):
        assert tree.tree_leaves(partial(max, 1, 2)) == [1, 2]
        assert jax.tree.leaves(partial(max, 1, 2)) == [1, 2]


def test_jax_spells_paths_into_classes_registered_here() -> None:
    class Positional(Pair): ...

    class Named(Pair): ...

    nodes.register_pytree_node(Positional, parts, lambda _, c: Positional(*c))
    nodes.register_pytree_with_keys(
        Named,
        lambda x: (((nodes.GetAttrKey("left"), x.left), (nodes.DictKey("b"), x.right)), None),
        lambda _, c: Named(*c),
    )
    paths = [
        path for path, _ in jax.tree_util.tree_leaves_with_path((Positional(1, 2), Named(1, 2)))
    ]
    spelled = [jax.tree_util.keystr(path[1:], simple=True) for path in paths]
    assert spelled == ["0", "1", "left", "b"]
