"""The node types of pytrees: classes with children, the keys of these, and their registration."""

from __future__ import annotations

import collections
import dataclasses
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, TypeVar

T = TypeVar("T")
Flatten = Callable[[Any], tuple[Iterable[Any], Any]]
Unflatten = Callable[[Any, Sequence[Any]], Any]

# ---- keys


@dataclasses.dataclass(frozen=True)
class DictKey:
    """The key of a mapping's child. Source: ``jax.tree_util.DictKey``.

    >>> import arrayport as ap
    >>> ap.tree.flatten_with_path({"a": 1})[0]
    [((DictKey(key='a'),), 1)]
    """

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"


@dataclasses.dataclass(frozen=True)
class SequenceKey:
    """The position of a list's or tuple's child. Source: ``jax.tree_util.SequenceKey``.

    >>> import arrayport as ap
    >>> ap.tree.flatten_with_path([7])[0]
    [((SequenceKey(idx=0),), 7)]
    """

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"


@dataclasses.dataclass(frozen=True)
class GetAttrKey:
    """The attribute that holds an object's child. Source: ``jax.tree_util.GetAttrKey``.

    >>> import arrayport as ap
    >>> ap.tree_util.keystr((ap.tree_util.GetAttrKey("weights"), ap.tree_util.SequenceKey(0)))
    '.weights[0]'
    """

    name: str

    def __str__(self) -> str:
        return f".{self.name}"


@dataclasses.dataclass(frozen=True)
class FlattenedIndexKey:
    """The position of a child among those of a class that was registered without keys.

    Source: ``jax.tree_util.FlattenedIndexKey``.
    """

    key: int

    def __str__(self) -> str:
        return f"[<flat index {self.key}>]"


KeyEntry = Any
KeyPath = tuple[KeyEntry, ...]
FlattenWithKeys = Callable[[Any], tuple[Iterable[tuple[KeyEntry, Any]], Any]]


def keystr(keys: KeyPath, *, simple: bool = False, separator: str = "") -> str:
    """Return a path as text, by default as Python would spell the access.

    Source: ``jax.tree_util.keystr``.

    >>> keystr((DictKey("w"), SequenceKey(0)))
    "['w'][0]"
    >>> keystr((DictKey("w"), SequenceKey(0)), simple=True, separator="/")
    'w/0'
    """
    return separator.join(map(_simple_name if simple else str, keys))


def _simple_name(entry: KeyEntry) -> str:
    for attribute in ("key", "idx", "name"):
        if hasattr(entry, attribute):
            return str(getattr(entry, attribute))
    return str(entry)


# ---- node types


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class NodeType:
    """How objects of one class are taken apart, ``flatten(x) -> (children, aux)``, and rebuilt.

    The children's keys come from `flatten_with_keys`, which gives (key, child) pairs, or from
    `keys(aux, count)`; without either they are the positions.
    """

    cls: type
    flatten: Flatten
    unflatten: Unflatten
    flatten_with_keys: FlattenWithKeys | None = None
    keys: Callable[[Any, int], Iterable[KeyEntry]] | None = None

    def child_keys(self, aux: Any, count: int) -> list[KeyEntry]:
        """Return the keys as far as they are known without the object."""
        return (
            [*map(FlattenedIndexKey, range(count))]
            if self.keys is None
            else [*self.keys(aux, count)]
        )

    def flatten_keyed(self, x: Any) -> tuple[list[tuple[KeyEntry, Any]], Any]:
        """Return (key, child) pairs and aux of an object."""
        if self.flatten_with_keys is not None:
            pairs, aux = self.flatten_with_keys(x)
            return list(pairs), aux
        some, aux = self.flatten(x)
        children = tuple(some)
        return list(zip(self.child_keys(aux, len(children)), children, strict=True)), aux

    def __reduce__(self) -> tuple[Any, ...]:
        return _node_type, (self.cls,)


def _sorted_keys(x: dict[Any, Any]) -> tuple[Any, ...]:
    try:
        return tuple(sorted(x))
    except TypeError:
        raise ValueError(
            f"a dict is a pytree only if its keys can be sorted, and {list(x)!r} cannot: "
            "use keys of one type, or a collections.OrderedDict"
        ) from None


def _flatten_dict(x: dict[Any, Any]) -> tuple[list[Any], Any]:
    keys = _sorted_keys(x)
    return [x[key] for key in keys], keys


def _flatten_defaultdict(x: collections.defaultdict[Any, Any]) -> tuple[list[Any], Any]:
    keys = _sorted_keys(x)
    return [x[key] for key in keys], (x.default_factory, keys)


def _unflatten_defaultdict(aux: Any, children: Sequence[Any]) -> Any:
    factory, keys = aux
    return collections.defaultdict(factory, zip(keys, children, strict=True))


def _sequence_keys(_aux: Any, count: int) -> Iterator[KeyEntry]:
    return map(SequenceKey, range(count))


NONE = NodeType(type(None), lambda _x: ((), None), lambda _aux, _children: None)
TUPLE = NodeType(
    tuple, lambda x: (x, None), lambda _aux, children: tuple(children), keys=_sequence_keys
)
LIST = NodeType(list, lambda x: (x, None), lambda _aux, children: children, keys=_sequence_keys)
DICT = NodeType(
    dict,
    _flatten_dict,
    lambda aux, children: dict(zip(aux, children)),  # noqa: B905 - hot, and counted before
    keys=lambda aux, _count: map(DictKey, aux),
)
_ORDERED_DICT = NodeType(
    collections.OrderedDict,
    lambda x: (list(x.values()), tuple(x)),
    lambda aux, children: collections.OrderedDict(zip(aux, children, strict=True)),
    keys=lambda aux, _count: map(DictKey, aux),
)
_DEFAULTDICT = NodeType(
    collections.defaultdict,
    _flatten_defaultdict,
    _unflatten_defaultdict,
    keys=lambda aux, _count: map(DictKey, aux[1]),
)
_BUILT_IN = (NONE, TUPLE, LIST, DICT, _ORDERED_DICT, _DEFAULTDICT)

_registered: list[NodeType] = []
_listeners: list[Callable[[NodeType], None]] = []
_finders: list[Callable[[type], None]] = []


class _Classes(dict[type, "NodeType | Literal[False]"]):
    """Every class that was met so far: its node type, or False if its objects are leaves."""

    def __missing__(self, cls: Any) -> NodeType | Literal[False]:
        if issubclass(cls, tuple) and hasattr(cls, "_fields"):
            self[cls] = NodeType(
                cls,
                lambda x: (x, None),
                lambda _aux, children: cls(*children),
                keys=lambda _aux, _count: map(GetAttrKey, cls._fields),
            )
        else:
            for find in _finders:
                find(cls)
            self.setdefault(cls, False)
        return self[cls]


node_types = _Classes({node.cls: node for node in _BUILT_IN})


def _node_type(cls: type) -> NodeType:
    node = node_types[cls]
    if not node:
        raise ValueError(f"{cls.__name__} is not registered as a pytree node in this process")
    return node


def is_tree_node(typ: type) -> bool:
    """Whether objects of a class are nodes. Source: ``jax.tree_util.is_tree_node``.

    >>> is_tree_node(dict), is_tree_node(int)
    (True, False)
    """
    return bool(node_types[typ])


def flatten_one_level(tree: Any) -> tuple[Iterable[Any], Any]:
    """Give the children of a node, and what else it is made of; ValueError for a leaf.

    Source: ``jax.tree_util.flatten_one_level``.

    >>> flatten_one_level({"a": 1, "b": (2,)})
    ((1, (2,)), ('a', 'b'))
    """
    children, aux = _node_of(tree).flatten(tree)
    return tuple(children), aux


def flatten_one_level_with_keys(tree: Any) -> tuple[Iterable[tuple[KeyEntry, Any]], Any]:
    """Give the children of a node with their keys, and what else it is made of.

    Source: ``jax.tree_util.flatten_one_level_with_keys``.

    >>> flatten_one_level_with_keys([5])
    (((SequenceKey(idx=0), 5),), None)
    """
    pairs, aux = _node_of(tree).flatten_keyed(tree)
    return tuple(pairs), aux


def _node_of(tree: Any) -> NodeType:
    found = node_types[type(tree)]
    if not found:
        raise ValueError(f"a {type(tree).__name__} is a leaf: it has no children")
    return found


def _add(node: NodeType) -> NodeType:
    if not isinstance(node.cls, type):
        raise TypeError(f"a pytree node type is a class, not {node.cls!r}")
    if node_types.get(node.cls):
        raise ValueError(f"{node.cls.__name__} is registered as a pytree node already")
    node_types[node.cls] = node
    return node


def _of_tuple(unflatten: Unflatten) -> Unflatten:
    """Give a user's function the children as a tuple, as JAX does."""
    return lambda aux, children: unflatten(aux, tuple(children))


def adopt(
    cls: type,
    flatten: Flatten,
    unflatten: Unflatten,
    flatten_with_keys: FlattenWithKeys | None = None,
) -> None:
    """Make a node type of another library's registry known here, without telling it back."""
    _add(NodeType(cls, flatten, _of_tuple(unflatten), flatten_with_keys))


def on_register(callback: Callable[[NodeType], None]) -> None:
    """Call `callback` with each node type registered so far by users, and with each later one."""
    _listeners.append(callback)
    for node in _registered:
        callback(node)


def on_unknown(callback: Callable[[type], None]) -> None:
    """Call `callback` with each class when it is first met, so that it can `adopt` it.

    Classes that were taken for leaves before are asked about again.
    """
    _finders.append(callback)
    for cls in [cls for cls, node in node_types.items() if node is False]:
        del node_types[cls]


def _register(node: NodeType) -> None:
    _registered.append(_add(node))
    for tell in _listeners:
        tell(node)


def register_pytree_node(
    nodetype: type,
    flatten_func: Flatten,
    unflatten_func: Unflatten,
    flatten_with_keys_func: FlattenWithKeys | None = None,
) -> None:
    """Make objects of a class inner nodes of pytrees, here and in JAX where that is loaded.

    `flatten_func(x)` gives the children and hashable auxiliary data, `unflatten_func(aux,
    children)` the object again; the latter must take any objects as children. Raises ValueError
    for a class that is registered already. Source: ``jax.tree_util.register_pytree_node``.

    >>> import arrayport as ap
    >>> class Bag:
    ...     def __init__(self, *items):
    ...         self.items = items
    >>> ap.tree_util.register_pytree_node(Bag, lambda x: (x.items, None), lambda _, xs: Bag(*xs))
    >>> ap.tree.map(lambda x: 2 * x, Bag(1, 2)).items
    (2, 4)
    """
    unflatten = _of_tuple(unflatten_func)
    _register(NodeType(nodetype, flatten_func, unflatten, flatten_with_keys_func))


def register_pytree_node_class(cls: type[T]) -> type[T]:
    """Register a class by its methods ``tree_flatten`` and (class method) ``tree_unflatten``.

    Source: ``jax.tree_util.register_pytree_node_class``.

    >>> import arrayport as ap
    >>> @ap.tree_util.register_pytree_node_class
    ... class Point:
    ...     def __init__(self, x, y):
    ...         self.x, self.y = x, y
    ...     def tree_flatten(self):
    ...         return (self.x, self.y), None
    ...     @classmethod
    ...     def tree_unflatten(cls, _aux, children):
    ...         return cls(*children)
    >>> ap.tree.leaves(Point(1, 2))
    [1, 2]
    """
    methods: Any = cls
    register_pytree_node(cls, operator.methodcaller("tree_flatten"), methods.tree_unflatten)
    return cls


def register_pytree_with_keys(
    nodetype: type,
    flatten_with_keys: FlattenWithKeys,
    unflatten_func: Unflatten,
    flatten_func: Flatten | None = None,
) -> None:
    """Register a class as `register_pytree_node` does, with keys for the paths to its children.

    `flatten_with_keys(x)` gives (key, child) pairs and the auxiliary data. Source:
    ``jax.tree_util.register_pytree_with_keys``.

    >>> import arrayport as ap
    >>> class Box:
    ...     def __init__(self, held):
    ...         self.held = held
    >>> ap.tree_util.register_pytree_with_keys(
    ...     Box,
    ...     lambda box: ([(ap.tree_util.GetAttrKey("held"), box.held)], None),
    ...     lambda _, children: Box(*children),
    ... )
    >>> ap.tree.leaves_with_path(Box(5))
    [((GetAttrKey(name='held'),), 5)]
    """

    def flatten(x: Any) -> tuple[list[Any], Any]:
        pairs, aux = flatten_with_keys(x)
        return [child for _, child in pairs], aux

    register_pytree_node(nodetype, flatten_func or flatten, unflatten_func, flatten_with_keys)


def register_pytree_with_keys_class(cls: type[T]) -> type[T]:
    """Register a class by ``tree_flatten_with_keys``, ``tree_unflatten``, maybe ``tree_flatten``.

    Source: ``jax.tree_util.register_pytree_with_keys_class``.

    >>> import arrayport as ap
    >>> @ap.tree_util.register_pytree_with_keys_class
    ... class Box:
    ...     def __init__(self, inside):
    ...         self.inside = inside
    ...     def tree_flatten_with_keys(self):
    ...         return [(ap.tree_util.GetAttrKey("inside"), self.inside)], None
    ...     @classmethod
    ...     def tree_unflatten(cls, _, children):
    ...         return cls(*children)
    >>> ap.tree.flatten_with_path(Box(3))[0]
    [((GetAttrKey(name='inside'),), 3)]
    """
    methods: Any = cls
    register_pytree_with_keys(
        cls,
        operator.methodcaller("tree_flatten_with_keys"),
        methods.tree_unflatten,
        operator.methodcaller("tree_flatten") if hasattr(cls, "tree_flatten") else None,
    )
    return cls


def register_static(cls: type[T]) -> type[T]:
    """Make objects of a class, which must be hashable, nodes without leaves.

    Source: ``jax.tree_util.register_static``.

    >>> import arrayport as ap
    >>> @ap.tree_util.register_static
    ... class Name(str):
    ...     pass
    >>> ap.tree.leaves([Name("a"), 1])
    [1]
    """
    _register(NodeType(cls, lambda x: ((), x), lambda aux, _children: aux))
    return cls


def static(**field: Any) -> Any:
    """Declare a dataclass field that `register_dataclass` takes as auxiliary data.

    The arguments are those of ``dataclasses.field``. Source: ``jax.tree.static``.

    >>> import arrayport as ap, dataclasses
    >>> @ap.tree_util.register_dataclass
    ... @dataclasses.dataclass
    ... class Layer:
    ...     weight: float
    ...     name: str = ap.tree.static(default="first")
    >>> ap.tree.leaves(Layer(0.5))
    [0.5]
    """
    metadata = {**field.pop("metadata", {}), "static": True}
    return dataclasses.field(metadata=metadata, **field)


def register_dataclass(
    nodetype: type[T],
    data_fields: Sequence[str] | None = None,
    meta_fields: Sequence[str] | None = None,
    drop_fields: Sequence[str] = (),
) -> type[T]:
    """Register a class whose `data_fields` are children and whose `meta_fields` are hashable.

    Objects are rebuilt by the class called with these fields as keywords. For a dataclass both
    lists may be left out: every field is data unless it is `static` or among `drop_fields`.
    Raises ValueError if the lists overlap or are not the fields of ``__init__``, TypeError if one
    of them is missing. Source: ``jax.tree_util.register_dataclass``.

    >>> import arrayport as ap
    >>> @ap.tree_util.register_dataclass
    ... @dataclasses.dataclass
    ... class Layer:
    ...     weight: float
    ...     name: str = ap.tree.static(default="dense")
    >>> ap.tree.map(lambda w: 2 * w, Layer(1.5))
    Layer(weight=3.0, name='dense')
    """
    cls: Any = nodetype
    fields = dataclasses.fields(cls) if dataclasses.is_dataclass(cls) else None
    if data_fields is None and meta_fields is None and fields is not None:
        kept = [f for f in fields if f.name not in drop_fields]
        meta = tuple(f.name for f in kept if f.metadata.get("static", False))
        data = tuple(f.name for f in kept if f.name not in meta)
    elif data_fields is None or meta_fields is None:
        raise TypeError(
            "register_dataclass needs both data_fields and meta_fields, or for a dataclass none: "
            f"got data_fields={data_fields!r}, meta_fields={meta_fields!r} for {cls!r}"
        )
    else:
        data, meta = tuple(data_fields), tuple(meta_fields)
    if both := {*data} & {*meta}:
        raise ValueError(f"fields {sorted(both)} are in data_fields and in meta_fields")
    if fields is not None:
        needed = {f.name for f in fields if f.init} - {*drop_fields}
        if missing := needed - {*data, *meta}:
            raise ValueError(
                f"fields {sorted(missing)} of {cls.__name__} are in none of data_fields, "
                "meta_fields and drop_fields"
            )
        if extra := {*data, *meta} - needed:
            raise ValueError(f"{sorted(extra)} are no fields of {cls.__name__}.__init__ to keep")

    def flatten(x: Any) -> tuple[list[Any], tuple[Any, ...]]:
        return [getattr(x, name) for name in data], tuple(getattr(x, name) for name in meta)

    def unflatten(aux: tuple[Any, ...], children: Sequence[Any]) -> Any:
        return cls(**dict(zip((*data, *meta), (*children, *aux), strict=True)))

    def keys(_aux: Any, _count: int) -> Iterator[KeyEntry]:
        return map(GetAttrKey, data)

    _register(NodeType(cls, flatten, unflatten, keys=keys))
    return nodetype
