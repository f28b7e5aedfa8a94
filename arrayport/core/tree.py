"""Pytrees: their structures, and how trees are taken apart, compared, mapped and rebuilt."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Self

from arrayport.core.nodes import (
    DICT,
    LIST,
    NONE,
    TUPLE,
    KeyPath,
    NodeType,
    keystr,
    node_types,
    register_pytree_node,
)

IsLeaf = Callable[..., bool] | None
_UNSET: Any = object()

# ---- structures

# A structure is a tuple (node type, aux, structures of the children), and None for a leaf: so
# Python compares and hashes whole trees by itself.
_Structure = Any
_LEAF: _Structure = None


class PyTreeDef:
    """The structure of a pytree: everything but its leaves. Source: JAX's ``PyTreeDef``.

    >>> import arrayport as ap
    >>> structure = ap.tree.structure([1, {"a": 2}])
    >>> structure, structure.num_leaves, structure.unflatten([5, 6])
    (PyTreeDef([*, {'a': *}]), 2, [5, {'a': 6}])
    """

    __slots__ = ("num_leaves", "structure")

    def __init__(self, structure: _Structure, num_leaves: int) -> None:
        self.structure = structure
        self.num_leaves = num_leaves

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PyTreeDef):
            return NotImplemented
        return bool(self.structure == other.structure)

    def __hash__(self) -> int:
        try:
            return hash(self.structure)
        except TypeError:  # what a node keeps beside its children may be compared alone
            return hash(self.num_leaves)

    def __repr__(self) -> str:
        return f"PyTreeDef({_show(self.structure)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return PyTreeDef, (self.structure, self.num_leaves)

    @property
    def num_nodes(self) -> int:
        """The number of nodes, leaves included."""
        return _count(self.structure, 1, 1)

    def children(self) -> list[PyTreeDef]:
        """Return the structures of the children of the root."""
        return [] if self.structure is _LEAF else [*map(_treedef, self.structure[2])]

    def node_data(self) -> tuple[type, Any] | None:
        """Return class and auxiliary data of the root, or None if it is a leaf."""
        if self.structure is _LEAF:
            return None
        node, aux, _ = self.structure
        return node.cls, list(aux) if node is DICT else aux

    def unflatten(self, leaves: Iterable[Any]) -> Any:
        """Return the tree of this structure with the given leaves."""
        return tree_unflatten(self, leaves)

    def compose(self, inner: PyTreeDef) -> PyTreeDef:
        """Return the structure that has `inner` in place of each leaf."""
        return _treedef(_replace_leaves(self.structure, inner.structure))

    def flatten_up_to(self, tree: Any) -> list[Any]:
        """Return the subtrees of `tree` where this structure has leaves.

        Raises ValueError, naming the path, where it has another node than `tree`.
        """
        return _up_to(self, tree, "the tree does not start with this structure")


_LEAF_DEF = PyTreeDef(_LEAF, 1)


def _treedef(structure: _Structure) -> PyTreeDef:
    return PyTreeDef(structure, _count(structure, 1, 0))


def _count(structure: _Structure, leaf: int, inner: int) -> int:
    if structure is _LEAF:
        return leaf
    return inner + sum(_count(child, leaf, inner) for child in structure[2])


def _replace_leaves(structure: _Structure, inner: _Structure) -> _Structure:
    if structure is _LEAF:
        return inner
    node, aux, children = structure
    return node, aux, tuple(_replace_leaves(child, inner) for child in children)


def _show(structure: _Structure) -> str:
    if structure is _LEAF:
        return "*"
    node, aux, children = structure
    shown = [*map(_show, children)]
    inside = ", ".join(shown)
    if node is NONE:
        return "None"
    if node is TUPLE:
        return f"({inside},)" if len(shown) == 1 else f"({inside})"
    if node is LIST:
        return f"[{inside}]"
    if node is DICT:
        return "{" + ", ".join(f"{k!r}: {s}" for k, s in zip(aux, shown, strict=True)) + "}"
    if hasattr(node.cls, "_fields") and issubclass(node.cls, tuple):
        return f"CustomNode(namedtuple[{node.cls.__name__}], [{inside}])"
    return f"CustomNode({node.cls.__name__}[{aux}], [{inside}])"


def _flatten_up_to(structure: _Structure, tree: Any, subtrees: list[Any]) -> bool:
    if structure is _LEAF:
        subtrees.append(tree)
        return True
    if structure[0] is not node_types[type(tree)]:
        return False
    node, aux, children = structure
    some, tree_aux = node.flatten(tree)
    found = tuple(some)
    if len(found) != len(children) or tree_aux != aux:
        return False
    for child, subtree in zip(children, found):  # noqa: B905 - hot, and counted before
        if child is _LEAF:
            subtrees.append(subtree)
        elif not _flatten_up_to(child, subtree, subtrees):
            return False
    return True


def _up_to(treedef: PyTreeDef, tree: Any, complaint: str) -> list[Any]:
    subtrees: list[Any] = []
    if not _flatten_up_to(treedef.structure, tree, subtrees):
        actual = tree_structure(tree).structure
        difference = _difference(treedef.structure, actual, (), prefix=True)
        raise ValueError(f"{complaint}: {difference}")
    return subtrees


def _difference(
    expected: _Structure, actual: _Structure, path: KeyPath, *, prefix: bool
) -> str | None:
    """Say where two structures first differ; with `prefix`, a leaf is expected to be anything."""
    if expected is _LEAF and (prefix or actual is _LEAF):
        return None
    if _root(expected) != _root(actual):
        where = keystr(path) or "the root"
        return f"at {where}, expected {_describe(expected)}, got {_describe(actual)}"
    node, aux, children = expected
    for key, child, other in zip(
        node.child_keys(aux, len(children)), children, actual[2], strict=True
    ):
        difference = _difference(child, other, (*path, key), prefix=prefix)
        if difference is not None:
            return difference
    return None


def _root(structure: _Structure) -> Any:
    return None if structure is _LEAF else (*structure[:2], len(structure[2]))


def _describe(structure: _Structure) -> str:
    if structure is _LEAF:
        return "a leaf"
    node, aux, children = structure
    if node is NONE:
        return "None"
    if node is DICT:
        return f"a dict with keys {list(aux)!r}"
    data = "" if aux is None else f" with {aux!r}"
    return f"a {node.cls.__name__} of {len(children)}{data}"


def structure_difference(expected: PyTreeDef, actual: PyTreeDef) -> str | None:
    """Say at which path two structures first differ and how, or return None if they are equal.

    >>> structure_difference(tree_structure({"a": [1, 2]}), tree_structure({"a": [1]}))
    "at ['a'], expected a list of 2, got a list of 1"
    """
    return _difference(expected.structure, actual.structure, (), prefix=False)


# ---- trees


def _flatten(node: NodeType, tree: Any, leaves: list[Any]) -> _Structure:
    children, aux = node.flatten(tree)
    structures: list[_Structure] = []
    for child in children:
        child_node = node_types[type(child)]
        if child_node:
            structures.append(_flatten(child_node, child, leaves))
        else:
            leaves.append(child)
            structures.append(_LEAF)
    return node, aux, tuple(structures)


def _flatten_until(is_leaf: Callable[[Any], bool], tree: Any, leaves: list[Any]) -> _Structure:
    node = node_types[type(tree)]
    if is_leaf(tree) or not node:
        leaves.append(tree)
        return _LEAF
    children, aux = node.flatten(tree)
    return node, aux, tuple([_flatten_until(is_leaf, child, leaves) for child in children])


def _flatten_with_path(
    is_leaf: Callable[[KeyPath, Any], bool],
    path: KeyPath,
    tree: Any,
    leaves: list[tuple[KeyPath, Any]],
) -> _Structure:
    node = node_types[type(tree)]
    if is_leaf(path, tree) or not node:
        leaves.append((path, tree))
        return _LEAF
    pairs, aux = node.flatten_keyed(tree)
    structures = [_flatten_with_path(is_leaf, (*path, key), child, leaves) for key, child in pairs]
    return node, aux, tuple(structures)


def _unflatten(structure: _Structure, leaves: Iterator[Any]) -> Any:
    node, aux, children = structure
    return node.unflatten(
        aux, [next(leaves) if c is _LEAF else _unflatten(c, leaves) for c in children]
    )


def tree_flatten(tree: Any, is_leaf: IsLeaf = None) -> tuple[list[Any], PyTreeDef]:
    """Return the leaves of a tree and its structure.

    Nodes are tuples, named tuples, lists, dicts (by sorted key), OrderedDicts, defaultdicts, None
    (without children) and registered classes; subclasses of these, and all else, are leaves, as is
    every node for which `is_leaf` is true. Source: ``jax.tree_util.tree_flatten``.

    >>> tree_flatten({"b": [1, None], "a": 2})
    ([2, 1], PyTreeDef({'a': *, 'b': [*, None]}))
    """
    leaves: list[Any] = []
    if is_leaf is not None:
        return leaves, PyTreeDef(_flatten_until(is_leaf, tree, leaves), len(leaves))
    node = node_types[type(tree)]
    if not node:
        return [tree], _LEAF_DEF
    structure = _flatten(node, tree, leaves)
    return leaves, PyTreeDef(structure, len(leaves))


def tree_unflatten(treedef: PyTreeDef, leaves: Iterable[Any]) -> Any:
    """Return the tree with a given structure and leaves; raises ValueError if their number differs.

    Source: ``jax.tree_util.tree_unflatten``.

    >>> tree_unflatten(tree_structure((0, [0])), "ab")
    ('a', ['b'])
    """
    if not isinstance(treedef, PyTreeDef):
        raise TypeError(
            f"tree_unflatten takes a PyTreeDef and then leaves, not {type(treedef).__name__} first"
        )
    if not isinstance(leaves, list):
        leaves = list(leaves)
    if len(leaves) != treedef.num_leaves:
        raise ValueError(f"{treedef!r} takes {treedef.num_leaves} leaves, got {len(leaves)}")
    if treedef.structure is _LEAF:
        return leaves[0]
    return _unflatten(treedef.structure, iter(leaves))


def tree_leaves(tree: Any, is_leaf: IsLeaf = None) -> list[Any]:
    """Return the leaves of a tree. Source: ``jax.tree_util.tree_leaves``.

    >>> tree_leaves({"a": 1, "b": (2, None)})
    [1, 2]
    """
    return tree_flatten(tree, is_leaf)[0]


def tree_structure(tree: Any, is_leaf: IsLeaf = None) -> PyTreeDef:
    """Return the structure of a tree. Source: ``jax.tree_util.tree_structure``.

    >>> tree_structure({"a": 1, "b": (2, None)})
    PyTreeDef({'a': *, 'b': (*, None)})
    """
    return tree_flatten(tree, is_leaf)[1]


def _columns(what: str, treedef: PyTreeDef, rest: Sequence[Any]) -> list[list[Any]]:
    """Return the subtrees of each further tree in the places of the first one's leaves."""
    complaint = f"{what}: tree number %d does not start with the structure of the first"
    return [_up_to(treedef, tree, complaint % n) for n, tree in enumerate(rest, start=2)]


def tree_map(f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: IsLeaf = None) -> Any:
    """Return the tree of the values of `f` at the leaves of `tree`.

    Further trees must start with the structure of the first; `f` gets their subtrees in the
    places of its leaves. Raises ValueError, naming the path, where they do not. Source:
    ``jax.tree_util.tree_map``.

    >>> tree_map(lambda x, y: x + y, {"a": 1, "b": (2,)}, {"a": 10, "b": (20,)})
    {'a': 11, 'b': (22,)}
    """
    leaves, treedef = tree_flatten(tree, is_leaf)
    values = [*map(f, leaves, *_columns("tree_map", treedef, rest))]
    return values[0] if treedef is _LEAF_DEF else tree_unflatten(treedef, values)


def tree_flatten_with_path(
    tree: Any, is_leaf: IsLeaf = None, is_leaf_takes_path: bool = False
) -> tuple[list[tuple[KeyPath, Any]], PyTreeDef]:
    """Return pairs (path, leaf) of a tree, and its structure.

    Source: ``jax.tree_util.tree_flatten_with_path``.

    >>> [keystr(path) for path, _ in tree_flatten_with_path({"a": (1, 2)})[0]]
    ["['a'][0]", "['a'][1]"]
    """
    leaves: list[tuple[KeyPath, Any]] = []

    def stops(path: KeyPath, x: Any) -> bool:
        if is_leaf is None:
            return False
        return is_leaf(path, x) if is_leaf_takes_path else is_leaf(x)

    return leaves, PyTreeDef(_flatten_with_path(stops, (), tree, leaves), len(leaves))


def tree_leaves_with_path(
    tree: Any, is_leaf: IsLeaf = None, is_leaf_takes_path: bool = False
) -> list[tuple[KeyPath, Any]]:
    """Return pairs (path, leaf) of a tree. Source: ``jax.tree_util.tree_leaves_with_path``.

    >>> tree_leaves_with_path({"a": [1]})
    [((DictKey(key='a'), SequenceKey(idx=0)), 1)]
    """
    return tree_flatten_with_path(tree, is_leaf, is_leaf_takes_path)[0]


def tree_map_with_path(
    f: Callable[..., Any],
    tree: Any,
    *rest: Any,
    is_leaf: IsLeaf = None,
    is_leaf_takes_path: bool = False,
) -> Any:
    """Map as `tree_map` does, with the path of each leaf as the first argument of `f`.

    Source: ``jax.tree_util.tree_map_with_path``.

    >>> tree_map_with_path(lambda path, x: f"{keystr(path)}={x}", [5, {"a": 6}])
    ['[0]=5', {'a': "[1]['a']=6"}]
    """
    pairs, treedef = tree_flatten_with_path(tree, is_leaf, is_leaf_takes_path)
    columns = _columns("tree_map_with_path", treedef, rest)
    paths, leaves = [path for path, _ in pairs], [leaf for _, leaf in pairs]
    return tree_unflatten(treedef, [*map(f, paths, leaves, *columns)])


def tree_reduce(
    function: Callable[[Any, Any], Any],
    tree: Any,
    initializer: Any = _UNSET,
    is_leaf: IsLeaf = None,
) -> Any:
    """Combine the leaves from the left, as ``functools.reduce`` does.

    Source: ``jax.tree_util.tree_reduce``.

    >>> tree_reduce(lambda x, y: x + y, (1, [2, 3]), 10)
    16
    """
    leaves = tree_leaves(tree, is_leaf)
    if initializer is _UNSET:
        return functools.reduce(function, leaves)
    return functools.reduce(function, leaves, initializer)


def tree_reduce_associative(
    operation: Callable[[Any, Any], Any],
    tree: Any,
    *,
    identity: Any = _UNSET,
    is_leaf: IsLeaf = None,
) -> Any:
    """Combine the leaves by halves, in a chain of logarithmic depth.

    Raises TypeError for a tree without leaves if there is no `identity`. Source:
    ``jax.tree_util.tree_reduce_associative``.

    >>> tree_reduce_associative(lambda x, y: f"({x}{y})", list("abcd"))
    '((ab)(cd))'
    """

    def combine(leaves: list[Any]) -> Any:
        if len(leaves) == 1:
            return leaves[0]
        middle = len(leaves) // 2
        return operation(combine(leaves[:middle]), combine(leaves[middle:]))

    leaves = tree_leaves(tree, is_leaf)
    if leaves:
        return combine(leaves)
    if identity is _UNSET:
        raise TypeError("tree_reduce_associative of a tree without leaves needs identity=")
    return identity


def tree_all(tree: Any, *, is_leaf: IsLeaf = None) -> bool:
    """Return whether all leaves are true. Source: ``jax.tree_util.tree_all``.

    >>> tree_all((True, [1, {}]))
    True
    """
    return all(tree_leaves(tree, is_leaf))


def tree_transpose(
    outer_treedef: PyTreeDef, inner_treedef: PyTreeDef | None, pytree_to_transpose: Any
) -> Any:
    """Turn a tree of structure outer, with trees of structure inner as leaves, inside out.

    Without `inner_treedef` it is that of the first inner tree. Raises TypeError if the structure
    is another, ValueError if one has no leaves. Source: ``jax.tree_util.tree_transpose``.

    >>> tree_transpose(tree_structure({"a": 0, "b": 0}), None, {"a": [1, 2], "b": [3, 4]})
    [{'a': 1, 'b': 3}, {'a': 2, 'b': 4}]
    """
    leaves, treedef = tree_flatten(pytree_to_transpose)
    if inner_treedef is None:
        inner_treedef = tree_structure(outer_treedef.flatten_up_to(pytree_to_transpose)[0])
    if not (outer_treedef.num_leaves and inner_treedef.num_leaves):
        raise ValueError("tree_transpose needs outer and inner structures that have leaves")
    difference = structure_difference(outer_treedef.compose(inner_treedef), treedef)
    if difference is not None:
        raise TypeError(f"tree_transpose: pytree_to_transpose is not outer of inner: {difference}")
    width = inner_treedef.num_leaves
    columns = [outer_treedef.unflatten(leaves[start::width]) for start in range(width)]
    return inner_treedef.unflatten(columns)


def broadcast_prefix(
    prefix: Any,
    tree: Any,
    name: str = "prefix",
    is_leaf: IsLeaf = None,
    *,
    none_is_leaf: bool = False,
) -> list[Any]:
    """Return for each leaf of `tree` the leaf of `prefix` above it.

    With `none_is_leaf`, a None in `prefix` is such a leaf (as in ``in_axes``), otherwise an empty
    node. Raises ValueError, with the argument's `name` and the path, if `prefix` is no prefix.

    >>> broadcast_prefix((0, None), ((1, 2), {"a": 3}), none_is_leaf=True)
    [0, 0, None]
    """
    if none_is_leaf:
        stop = is_leaf
        is_leaf = lambda x: x is None or (stop is not None and stop(x))
    values, treedef = tree_flatten(prefix, is_leaf)
    subtrees = _up_to(treedef, tree, f"{name} is not a prefix of the tree that it describes")
    counts = [len(tree_leaves(subtree)) for subtree in subtrees]
    return [value for value, count in zip(values, counts, strict=True) for _ in range(count)]


def tree_broadcast(prefix_tree: Any, full_tree: Any, is_leaf: IsLeaf = None) -> Any:
    """Return the tree of the structure of `full_tree` with the leaves of `prefix_tree` above it.

    Source: ``jax.tree_util.tree_broadcast``.

    >>> tree_broadcast([1, 2], [(0, 0), {"a": 0}])
    [(1, 1), {'a': 2}]
    """
    values = broadcast_prefix(prefix_tree, full_tree, "prefix_tree", is_leaf)
    return tree_unflatten(tree_structure(full_tree), values)


def is_none(x: Any) -> bool:
    """Whether a subtree is None, for `is_leaf`."""
    return x is None


def all_leaves(iterable: Iterable[Any], is_leaf: IsLeaf = None) -> bool:
    """Return whether all of some objects are leaves. Source: ``jax.tree_util.all_leaves``.

    >>> all_leaves([1, "a"]), all_leaves([(1,)])
    (True, False)
    """
    return all(tree_structure(x, is_leaf).structure is _LEAF for x in iterable)


def treedef_children(treedef: PyTreeDef) -> list[PyTreeDef]:
    """Return the structures below a root. Source: ``jax.tree_util.treedef_children``.

    >>> treedef_children(tree_structure((1, [2])))
    [PyTreeDef(*), PyTreeDef([*])]
    """
    return treedef.children()


def treedef_is_leaf(treedef: PyTreeDef) -> bool:
    """Return whether a structure is one node. Source: ``jax.tree_util.treedef_is_leaf``.

    >>> treedef_is_leaf(tree_structure(1))
    True
    """
    return treedef.num_nodes == 1


def treedef_tuple(treedefs: Iterable[PyTreeDef]) -> PyTreeDef:
    """Return the structure of a tuple of trees. Source: ``jax.tree_util.treedef_tuple``.

    >>> treedef_tuple([tree_structure(1), tree_structure([2])])
    PyTreeDef((*, [*]))
    """
    return _treedef((TUPLE, None, tuple(treedef.structure for treedef in treedefs)))


# ---- partial application


@dataclasses.dataclass(frozen=True)
class _Opaque:
    """A partial function as one function: ``functools.partial`` would merge its arguments in."""

    function: Callable[..., Any]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)


class Partial(functools.partial[Any]):
    """A ``functools.partial`` that is a pytree: its arguments are children, its function static.

    Source: ``jax.tree_util.Partial``.

    >>> tree_map(lambda x: 10 * x, Partial(max, 1))(3)
    10
    """

    def __new__(cls, func: Callable[..., Any], *args: Any, **kw: Any) -> Self:
        """Bind arguments to a function; those bound by an inner partial stay with it."""
        held = _Opaque(func) if isinstance(func, functools.partial) else func
        return super().__new__(cls, held, *args, **kw)


register_pytree_node(
    Partial,
    lambda p: ((p.args, p.keywords), p.func),
    lambda func, children: Partial(func, *children[0], **children[1]),
)
