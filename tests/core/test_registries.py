"""Tests of two registries of node types that tell each other what they know: ours and JAX's."""

from __future__ import annotations

import contextlib

import pytest

from arrayport.core import nodes, tree

jtu = pytest.importorskip("jax.tree_util", reason="the other registry is JAX's")


class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b


@pytest.fixture
def no_hooks(monkeypatch):
    monkeypatch.setattr(nodes, "_listeners", [])
    monkeypatch.setattr(nodes, "_finders", [])


@pytest.mark.usefixtures("no_hooks")
def test_registrations_are_told_to_jax():
    class Before(Pair):
        pass

    class After(Pair):
        pass

    def register(cls):
        nodes.register_pytree_with_keys(
            cls,
            lambda p: (((nodes.GetAttrKey("a"), p.a), (nodes.GetAttrKey("b"), p.b)), None),
            lambda _, ab: cls(*ab),
        )

    def tell(node):
        with contextlib.suppress(ValueError):
            jtu.register_pytree_with_keys(
                node.cls, node.flatten_keyed, node.unflatten, node.flatten
            )

    register(Before)
    assert jtu.all_leaves([Before(1, 2)])
    nodes.on_register(tell)
    register(After)
    for cls in (Before, After):
        assert jtu.tree_leaves([cls(1, (2, 3))]) == [1, 2, 3]
        path, _ = jtu.tree_leaves_with_path(cls(1, 2))[1]
        assert jtu.keystr(path) == ".b"
        assert type(jtu.tree_map(lambda x: x, cls(1, 2))) is cls
    assert jtu.tree_leaves(tree.Partial(max, 1)) == [1]


@pytest.mark.usefixtures("no_hooks")
def test_jax_s_node_types_are_adopted_when_first_met():
    class Foreign(Pair):
        pass

    jtu.register_pytree_node(Foreign, lambda p: ((p.a, p.b), "aux"), lambda _, ab: Foreign(*ab))
    assert tree.all_leaves([Foreign(1, 2)])
    told = []
    nodes.on_register(lambda node: told.append(node.cls))

    def find(cls):
        if jtu.default_registry.is_node(cls):
            nodes.adopt(
                cls,
                lambda x: jtu.tree_flatten(x, is_leaf=lambda y: y is not x),
                lambda treedef, children: treedef.unflatten(children),
            )

    nodes.on_unknown(find)
    assert tree.tree_leaves((Foreign(1, [2, None]), jtu.Partial(max, 3))) == [1, 2, 3]
    doubled = tree.tree_map(lambda x: 2 * x, Foreign(1, [2]))
    assert (type(doubled), doubled.a, doubled.b) == (Foreign, 2, [4])
    assert tree.tree_structure(Foreign(1, 2)) == tree.tree_structure(Foreign(3, 4))
    assert tree.all_leaves([Pair(1, 2), 1.0])
    assert Foreign not in told
