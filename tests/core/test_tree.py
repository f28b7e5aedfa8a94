"""Tests of pytrees: against JAX wherever JAX gives an answer, against stated values elsewhere."""

from __future__ import annotations

import collections
import contextlib
import copy
import dataclasses
import functools
import operator
import pickle
import time
import types
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arrayport.core import nodes, tree
from arrayport.core.registry import default_registry

try:
    from jax import tree_util as jax_tree_util
except ImportError:
    jax_tree_util = None

Point = collections.namedtuple("Point", "x y")  # noqa: PYI024 - the class in question
DEEP = 200


class SubDict(dict):
    pass


class SubList(list):
    pass


class SubTuple(tuple):
    __slots__ = ()


class SubOrdered(collections.OrderedDict):
    pass


class Plain:
    """Registered without keys."""

    def __init__(self, a, b):
        self.a, self.b = a, b

    def __eq__(self, other):
        return type(other) is Plain and (self.a, self.b) == (other.a, other.b)

    __hash__ = None


class Keyed(Plain):
    """Registered with keys and auxiliary data."""

    def __eq__(self, other):
        return type(other) is Keyed and (self.a, self.b) == (other.a, other.b)

    __hash__ = None


@dataclasses.dataclass
class Layer:
    weight: Any
    bias: Any
    name: str = nodes.static(default="dense")


@dataclasses.dataclass(frozen=True)
class Setting:
    value: int


@dataclasses.dataclass
class Unregistered:
    x: int = 1


@pytest.fixture(scope="module")
def jtu():
    if jax_tree_util is None:
        pytest.skip("the reference for pytrees is JAX, which is not installed")
    return jax_tree_util


@pytest.fixture(scope="module", autouse=True)
def registered():
    """Register the classes above here and, unless the JAX backend has done so, in JAX."""
    libraries: tuple[Any, ...] = (nodes, jax_tree_util)
    for library in filter(None, libraries):
        plain = (Plain, lambda p: ((p.a, p.b), None), lambda _, ab: Plain(*ab))
        keyed = (
            Keyed,
            lambda k, lib=library: (
                ((lib.GetAttrKey("a"), k.a), (lib.DictKey("b"), k.b)),
                "aux",
            ),
            lambda _, ab: Keyed(*ab),
        )
        with contextlib.suppress(ValueError):
            library.register_pytree_node(*plain)
        with contextlib.suppress(ValueError):
            library.register_pytree_with_keys(*keyed)
        with contextlib.suppress(ValueError):
            library.register_dataclass(Layer)
        with contextlib.suppress(ValueError):
            library.register_static(Setting)


def examples():
    nested: Any = 7
    for _ in range(DEEP):
        nested = [nested]
    return [
        None, (), [], {}, 1, "text", (1,), [1, None], {"b": 1, "a": 2}, {2: 1, 1: {"k": (3,)}},
        {(1, "b"): 1, (1, "a"): 2}, {1.5: 1, 2: 3}, {None: 1}, {True: 1, 0: 2},
        collections.OrderedDict(b=1, a=(2, 3)), collections.defaultdict(int, {"b": 1, "a": 2}),
        collections.OrderedDict(), collections.defaultdict(None), Point(1, (2,)),
        [Point(None, {"q": Point(1, 2)})], collections.deque([1, 2]), (collections.deque([1], 3),),
        Unregistered(), SubDict(a=1), SubList([1]), SubTuple((1,)), SubOrdered(a=1),
        collections.Counter(a=1), collections.UserDict(a=1), types.MappingProxyType({"a": 1}),
        types.SimpleNamespace(a=1), time.gmtime(0), range(3), {1, 2}, frozenset([1]), b"ab",
        collections.ChainMap({"a": 1}), Plain(1, [2, 3]), Keyed({"k": 1}, None),
        {"p": Plain(Keyed(1, 2), (3,))}, Layer(1, [2], "conv"), [Layer(None, Plain(1, 2))],
        Setting(3), (Setting(1), 2), nested,
    ]  # fmt: skip


def trees():
    """Random trees of all node types, with distinct leaves by construction of the test."""
    children = st.one_of(
        st.integers(),
        st.none(),
        st.text(max_size=2),
        st.just(()),
    )
    names = st.text("abc", min_size=1, max_size=2)

    def extend(inner):
        return st.one_of(
            st.lists(inner, max_size=3),
            st.lists(inner, max_size=3).map(tuple),
            st.dictionaries(names, inner, max_size=3),
            st.dictionaries(st.integers(0, 9), inner, max_size=3),
            st.dictionaries(names, inner, max_size=3).map(collections.OrderedDict),
            st.dictionaries(names, inner, max_size=3).map(
                lambda d: collections.defaultdict(list, d)
            ),
            st.builds(Point, inner, inner),
            st.builds(Plain, inner, inner),
            st.builds(Keyed, inner, inner),
            st.builds(Layer, inner, inner, names),
            st.builds(Setting, st.integers(0, 3)),
        )

    return st.recursive(children, extend, max_leaves=12)


def assert_same_as_jax(jtu, x):
    leaves, treedef = tree.tree_flatten(x)
    expected_leaves, expected = jtu.tree_flatten(x)
    assert leaves == expected_leaves
    assert repr(treedef) == repr(expected)
    assert (treedef.num_leaves, treedef.num_nodes) == (expected.num_leaves, expected.num_nodes)
    assert treedef.node_data() == expected.node_data()
    assert [*map(repr, treedef.children())] == [*map(repr, expected.children())]
    assert tree.treedef_is_leaf(treedef) == jtu.treedef_is_leaf(expected)
    assert tree.all_leaves([x]) == jtu.all_leaves([x])
    rebuilt = treedef.unflatten(leaves)
    assert rebuilt == expected.unflatten(expected_leaves)
    assert type(rebuilt) is type(x)
    pairs, again = tree.tree_flatten_with_path(x)
    assert again == treedef
    assert [leaf for _, leaf in pairs] == leaves
    for (path, _), (their_path, _) in zip(pairs, jtu.tree_leaves_with_path(x), strict=True):
        assert nodes.keystr(path) == jtu.keystr(their_path)
        simple = nodes.keystr(path, simple=True, separator="/")
        assert simple == jtu.keystr(their_path, simple=True, separator="/")
        assert [*map(repr, path)] == [*map(repr, their_path)]


@pytest.mark.parametrize(
    "x", [pytest.param(x, id=f"{i}-{type(x).__name__}") for i, x in enumerate(examples())]
)
def test_nodes_and_leaves_are_those_of_jax(jtu, x):
    assert_same_as_jax(jtu, x)


@given(x=trees())
def test_random_trees_are_taken_apart_as_in_jax(jtu, x):
    assert_same_as_jax(jtu, x)


@given(x=trees(), y=trees())
def test_equality_and_prefixes_are_those_of_jax(jtu, x, y):
    deeper = jtu.tree_map(lambda _: y, x)
    ours, theirs = tree.tree_structure(x), jtu.tree_structure(x)
    assert ours.flatten_up_to(deeper) == [y] * ours.num_leaves
    assert repr(ours.compose(tree.tree_structure(y))) == repr(theirs.compose(jtu.tree_structure(y)))
    for other in (x, y, deeper):
        ours_too = tree.tree_structure(other)
        assert (ours == ours_too) == (theirs == jtu.tree_structure(other))
        assert (tree.structure_difference(ours, ours_too) is None) == (ours == ours_too)
        try:
            expected = theirs.flatten_up_to(other)
        except (ValueError, TypeError):
            with pytest.raises(ValueError, match="does not start with this structure: at "):
                ours.flatten_up_to(other)
        else:
            assert ours.flatten_up_to(other) == expected


@given(x=trees(), y=trees())
def test_broadcasting_a_prefix_is_jax_s(jtu, x, y):
    for full in (y, jtu.tree_map(lambda _: y, x)):
        try:
            expected = jtu.tree_broadcast(x, full)
        except (ValueError, TypeError):
            with pytest.raises(ValueError, match="prefix_tree is not a prefix"):
                tree.tree_broadcast(x, full)
        else:
            assert tree.tree_broadcast(x, full) == expected


@given(x=trees())
def test_maps_are_jax_s(jtu, x):
    def pair(*leaves):
        return ("leaf", *leaves)

    for is_leaf in (None, lambda n: n is None or type(n) in {Point, dict}):
        assert tree.tree_map(pair, x, is_leaf=is_leaf) == jtu.tree_map(pair, x, is_leaf=is_leaf)
        assert tree.tree_map(pair, x, x, is_leaf=is_leaf) == jtu.tree_map(
            pair, x, x, is_leaf=is_leaf
        )
        ours = tree.tree_map_with_path(
            lambda path, *xs: (nodes.keystr(path), xs), x, x, is_leaf=is_leaf
        )
        theirs = jtu.tree_map_with_path(
            lambda path, *xs: (jtu.keystr(path), xs), x, x, is_leaf=is_leaf
        )
        assert ours == theirs
    with_path = {"is_leaf": lambda path, _x: len(path) == 2, "is_leaf_takes_path": True}
    ours = tree.tree_leaves_with_path(x, **with_path)
    theirs = jtu.tree_leaves_with_path(x, **with_path)
    assert [(nodes.keystr(p), leaf) for p, leaf in ours] == [
        (jtu.keystr(p), leaf) for p, leaf in theirs
    ]


@given(x=trees())
def test_structures_are_values(x):
    treedef, twin = tree.tree_structure(x), tree.tree_structure(copy.deepcopy(x))
    assert treedef == twin
    assert hash(treedef) == hash(twin)
    assert pickle.loads(pickle.dumps(treedef)) == treedef
    assert copy.deepcopy(treedef) == treedef
    assert treedef != repr(treedef)


def test_is_leaf_is_asked_about_every_node_and_leaf(jtu):
    for library in (tree, jtu):
        asked = []
        library.tree_leaves({"a": (1, None)}, is_leaf=asked.append)
        assert asked == [{"a": (1, None)}, (1, None), 1, None]


def test_none_is_an_empty_node_unless_is_leaf_says_otherwise():
    assert tree.tree_leaves([None, 1]) == [1]
    assert tree.tree_leaves([None, 1], is_leaf=lambda x: x is None) == [None, 1]
    assert tree.tree_map(lambda x: x + 1, None) is None


def test_a_dict_whose_keys_cannot_be_sorted_is_refused_with_the_cure(jtu):
    mixed = {"a": 1, 3: 2}
    with pytest.raises(ValueError):
        jtu.tree_leaves(mixed)
    for attempt in (tree.tree_leaves, tree.tree_leaves_with_path):
        with pytest.raises(ValueError, match=r"\['a', 3\] cannot: use keys of one type, or a coll"):
            attempt(mixed)
    assert tree.tree_leaves(collections.OrderedDict(mixed)) == [1, 2]


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ({"a": [1, 2]}, {"a": [1, 2, 3]}, "at ['a'], expected a list of 2, got a list of 3"),
        ({"a": [1, 2]}, {"a": (1, 2)}, "at ['a'], expected a list of 2, got a tuple of 2"),
        ({"a": 1}, {"b": 1}, "at the root, expected a dict with keys ['a'], got a dict with keys"),
        ([{"a": 1}], [3], "at [0], expected a dict with keys ['a'], got a leaf"),
        ({"a": None}, {"a": 1}, "at ['a'], expected None, got a leaf"),
        ((Point(1, 2),), ((1, 2),), "at [0], expected a Point of 2, got a tuple of 2"),
        (Point(0, (1,)), Point(0, ()), "at .y, expected a tuple of 1, got a tuple of 0"),
        (Layer(1, 2, "a"), Layer(1, 2, "b"), "a Layer of 2 with ('a',), got a Layer of 2 with"),
        (Layer((), 2), Layer([], 2), "at .weight, expected a tuple of 0"),
        (
            collections.OrderedDict(a=1, b=2),
            collections.OrderedDict(b=2, a=1),
            "expected a OrderedDict of 2 with ('a', 'b'), got a OrderedDict of 2 with ('b', 'a')",
        ),
    ],
)
def test_trees_of_another_structure_are_refused_with_the_path(jtu, first, second, message):
    with pytest.raises(ValueError, match="pytree structure error"):
        jtu.tree_map(operator.add, first, second)
    with pytest.raises(ValueError, match="tree_map: tree number 3 does not start with") as caught:
        tree.tree_map(lambda *xs: xs, first, first, second)
    assert message in str(caught.value)
    difference = tree.structure_difference(tree.tree_structure(first), tree.tree_structure(second))
    assert message in difference


def test_further_trees_of_a_map_may_go_deeper_than_the_first():
    assert tree.tree_map(lambda x, y: (x, y), {"a": 1}, {"a": (1, 2)}) == {"a": (1, (1, 2))}
    assert tree.tree_map(lambda x, y: (x, y), {"a": 1}, {"a": None}) == {"a": (1, None)}
    unsortable = {"z": 1, 0: 2}
    assert tree.tree_map(lambda _, y: y, {"a": 1}, {"a": unsortable}) == {"a": unsortable}


def test_a_structure_takes_exactly_its_number_of_leaves():
    treedef = tree.tree_structure((1, {"a": 2}))
    assert treedef.unflatten(iter([5, 6])) == (5, {"a": 6})
    for leaves in ([1], [1, 2, 3]):
        with pytest.raises(ValueError, match=rf"\}}\)\) takes 2 leaves, got {len(leaves)}"):
            tree.tree_unflatten(treedef, leaves)
    with pytest.raises(TypeError, match="takes a PyTreeDef and then leaves, not list first"):
        tree.tree_unflatten([1, 2], treedef)


def test_unflattening_makes_new_containers_each_time():
    treedef = tree.tree_structure([1, {"a": 2}])
    first, second = treedef.unflatten([1, 2]), treedef.unflatten([1, 2])
    first.append(3)
    first[1]["b"] = 4
    assert second == [1, {"a": 2}]
    original = [1, 2]
    tree.tree_flatten(original)[0].append(3)
    assert original == [1, 2]


def test_reductions_are_jax_s(jtu):
    def bracket(a, b):
        return f"({a}{b})"

    x = {"a": ["1", "2"], "b": ("3", "4", {"c": "5"})}
    assert tree.tree_reduce(bracket, x) == jtu.tree_reduce(bracket, x) == "((((12)3)4)5)"
    assert tree.tree_reduce(bracket, x, "0") == jtu.tree_reduce(bracket, x, "0")
    assert tree.tree_reduce(bracket, [], None) is None
    assert tree.tree_reduce_associative(bracket, x) == jtu.tree_reduce_associative(bracket, x)
    assert tree.tree_reduce_associative(bracket, [], identity=3) == 3
    assert tree.tree_reduce_associative(bracket, ["1"], identity="0") == "1"
    for attempt in (tree.tree_reduce, tree.tree_reduce_associative):
        with pytest.raises(TypeError, match=r"empty iterable|without leaves needs identity="):
            attempt(bracket, [])
    for leaves in ([True, {"a": 0}], [1, (2,)], []):
        assert tree.tree_all(leaves) == jtu.tree_all(leaves)


def test_transposition_turns_trees_inside_out(jtu):
    outer, inner = {"a": 0, "b": 0}, [0, (0,)]
    x = {"a": [1, (2,)], "b": [3, (4,)]}
    expected = [{"a": 1, "b": 3}, ({"a": 2, "b": 4},)]
    for library in (tree, jtu):
        outer_def, inner_def = library.tree_structure(outer), library.tree_structure(inner)
        assert library.tree_transpose(outer_def, inner_def, x) == expected
        assert library.tree_transpose(outer_def, None, x) == expected
    outer_def, inner_def = tree.tree_structure(outer), tree.tree_structure(inner)
    with pytest.raises(TypeError, match=r"at \['b'\], expected a list of 2, got a list of 1"):
        tree.tree_transpose(outer_def, inner_def, {"a": [1, (2,)], "b": [3]})
    with pytest.raises(ValueError, match="structures that have leaves"):
        tree.tree_transpose(tree.tree_structure([]), inner_def, [])


def test_a_prefix_gives_its_leaves_to_all_below():
    x = {"a": (1, [2, 3]), "b": 4}
    assert tree.broadcast_prefix({"a": "p", "b": "q"}, x) == ["p", "p", "p", "q"]
    assert tree.broadcast_prefix({"a": (0, 1), "b": 2}, x) == [0, 1, 1, 2]
    assert tree.broadcast_prefix(7, x) == [7] * 4
    assert tree.broadcast_prefix({"a": 0, "b": None}, x, none_is_leaf=True) == [0, 0, 0, None]
    assert tree.broadcast_prefix(None, (1, 2), none_is_leaf=True) == [None, None]
    both = ([1, 2], None)
    lists = {"is_leaf": lambda v: isinstance(v, list), "none_is_leaf": True}
    assert tree.broadcast_prefix(both, (3, 4), **lists) == [*both]


def test_what_is_no_prefix_is_refused_with_the_argument_and_the_path():
    with pytest.raises(ValueError, match=r"^in_axes is not a prefix of the tree that it describes:"
                       r" at \['a'\], expected a tuple of 3, got a tuple of 2$"):  # fmt: skip
        tree.broadcast_prefix({"a": (0, 1, 2)}, {"a": (1, 2)}, "in_axes")
    with pytest.raises(ValueError, match=r"axes .* at \[0\], expected None, got a leaf"):
        tree.broadcast_prefix((None, 1), (2, 3), "axes")


def test_structures_of_tuples_and_their_parts(jtu):
    parts = [1, {"a": (2, None)}]
    ours = tree.treedef_tuple([*map(tree.tree_structure, parts)])
    theirs = jtu.treedef_tuple([*map(jtu.tree_structure, parts)])
    assert repr(ours) == repr(theirs)
    assert ours == tree.tree_structure(tuple(parts))
    assert tree.treedef_children(ours) == [*map(tree.tree_structure, parts)]


def test_keys_are_values_with_jax_s_names(jtu):
    for name, value in (("DictKey", "a"), ("SequenceKey", 1), ("GetAttrKey", "x"),
                        ("FlattenedIndexKey", 2)):  # fmt: skip
        ours, theirs = getattr(nodes, name)(value), getattr(jtu, name)(value)
        assert (repr(ours), str(ours)) == (repr(theirs), str(theirs))
        assert ours == getattr(nodes, name)(value)
        assert nodes.keystr((theirs,), simple=True) == nodes.keystr((ours,), simple=True)
    assert nodes.SequenceKey(1) != nodes.FlattenedIndexKey(1)
    assert nodes.keystr(("a", 1), separator=".") == jtu.keystr(("a", 1), separator=".") == "a.1"


def test_a_class_can_register_itself_by_its_methods():
    @nodes.register_pytree_node_class
    class Pair(Plain):
        def tree_flatten(self):
            return iter((self.a, self.b)), "aux"

        @classmethod
        def tree_unflatten(cls, aux, children):
            assert aux == "aux"
            assert type(children) is tuple
            return cls(*children)

    @nodes.register_pytree_with_keys_class
    class KeyedPair(Pair):
        def tree_flatten_with_keys(self):
            return iter(((nodes.GetAttrKey("a"), self.a), (nodes.GetAttrKey("b"), self.b))), "aux"

    doubled = tree.tree_map(lambda x: 2 * x, [Pair(1, [2])])
    assert (type(doubled[0]), doubled[0].a, doubled[0].b) == (Pair, 2, [4])
    for x, paths in ((Pair(1, 2), "[<flat index 0>]"), (KeyedPair(1, 2), ".a")):
        path, leaf = tree.tree_leaves_with_path(x)[0]
        assert (nodes.keystr(path), leaf) == (paths, 1)
        assert tree.tree_map(max, x, x).b == 2


def test_a_class_is_registered_once():
    for cls in (Plain, dict, tuple, type(None), collections.OrderedDict):
        with pytest.raises(ValueError, match=f"{cls.__name__} is registered as a pytree node alre"):
            nodes.register_pytree_node(cls, lambda _: ((), None), lambda _, __: None)
    with pytest.raises(TypeError, match="a pytree node type is a class, not 3"):
        nodes.register_pytree_node(3, lambda _: ((), None), lambda _, __: None)


def test_a_class_that_was_a_leaf_becomes_a_node_by_registration():
    class Late:
        pass

    assert tree.tree_structure(Late()) == tree.tree_structure(1)
    nodes.register_pytree_node(Late, lambda _: ((1, 2), None), lambda _, __: Late())
    assert tree.tree_leaves([Late()]) == [1, 2]


def test_dataclasses_are_rebuilt_with_their_static_fields():
    x = [Layer(1, {"b": 2}, "conv")]
    assert tree.tree_map(lambda v: -v, x) == [Layer(-1, {"b": -2}, "conv")]
    assert [nodes.keystr(p) for p, _ in tree.tree_leaves_with_path(x)] == [
        "[0].weight",
        "[0].bias['b']",
    ]
    assert tree.tree_structure(Layer(1, 2, "a")) != tree.tree_structure(Layer(1, 2, "b"))
    assert dataclasses.fields(Layer)[2].metadata["static"] is True


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((["x"], ["y"]), ValueError, r"fields \['s'\] of Fields are in none of"),
        ((["x", "y"], ["y", "s"]), ValueError, r"fields \['y'\] are in data_fields and in meta"),
        ((["x", "y", "zz"], ["s"]), ValueError, r"\['zz'\] are no fields of Fields"),
        ((["x", "y"],), TypeError, "needs both data_fields and meta_fields"),
    ],
)
def test_bad_fields_are_refused_as_in_jax(jtu, arguments, error, message):
    @dataclasses.dataclass
    class Fields:
        x: int
        y: int = 2
        s: str = dataclasses.field(default="s", metadata={"static": True})

    with pytest.raises(error):
        jtu.register_dataclass(Fields, *arguments)
    with pytest.raises(error, match=message):
        nodes.register_dataclass(Fields, *arguments)
    assert tree.all_leaves([Fields(1)])


def test_fields_can_be_dropped_and_plain_classes_named():
    @functools.partial(nodes.register_dataclass, drop_fields=["cache"])
    @dataclasses.dataclass
    class Cached:
        x: int
        cache: str = "empty"

    assert tree.tree_map(lambda x: x + 1, Cached(1, "full")) == Cached(2, "empty")

    class Bare:
        def __init__(self, *, value, unit):
            self.value, self.unit = value, unit

    with pytest.raises(TypeError, match="needs both"):
        nodes.register_dataclass(Bare)
    nodes.register_dataclass(Bare, ["value"], ["unit"])
    doubled = tree.tree_map(lambda v: 2 * v, Bare(value=2, unit="m"))
    assert (doubled.value, doubled.unit) == (4, "m")


def test_static_objects_have_no_leaves_and_compare_by_value():
    assert tree.tree_leaves((Setting(1), 2)) == [2]
    assert tree.tree_structure(Setting(1)) == tree.tree_structure(Setting(1))
    assert tree.tree_structure(Setting(1)) != tree.tree_structure(Setting(2))
    assert tree.tree_map(lambda x: x, Setting(1)) == Setting(1)


def test_the_registry_answers_as_its_functions_and_knows_leaves(jtu):
    ours, theirs = default_registry, jtu.default_registry
    names = ["['a']", "['b']"], ["[0]", "[1]"], [".x", ".y"], [], None, None
    nodes = {"b": 1, "a": (2,)}, [3, None], Point(1, 2), (), 5, "leaf"
    for x, expected in zip(nodes, names, strict=True):
        found, known = ours.flatten_one_level(x), theirs.flatten_one_level(x)
        assert (found and found[0]) == (known and tuple(known[0]))
        found = ours.flatten_one_level_with_keys(x)
        assert (found and [str(k) for k, _ in found[0]]) == expected
        assert ours.flatten(x)[0] == theirs.flatten(x)[0]
    assert ours.is_node(list)
    assert not ours.is_node(int)

    class Box:
        def __init__(self, inside):
            self.inside = inside

    ours.register_node(Box, lambda box: ((box.inside,), None), lambda _, inside: Box(*inside))
    assert tree.tree_map(lambda x: x + 1, Box(1)).inside == 2


def test_partial_functions_are_trees_of_their_arguments(jtu):
    for library in (tree, jtu):
        bound = library.Partial(pow, 2, mod=5)
        assert bound(4) == 1
        assert library.tree_leaves(bound) == [2, 5]
        tripled = library.tree_map(lambda x: 3 * x, library.Partial(max, 1))
        assert tripled(2) == 3
        assert isinstance(tripled, library.Partial)
        for inner in (library.Partial(max, 1), functools.partial(max, 1)):
            outer = library.Partial(inner, 2)
            assert outer(0) == 2
            assert library.tree_leaves(outer) == [2]
    same = tree.tree_structure(tree.Partial(pow, 1)), tree.tree_structure(tree.Partial(pow, 7))
    assert same[0] == same[1] != tree.tree_structure(tree.Partial(max, 1))
    restored = pickle.loads(pickle.dumps(tree.Partial(tree.Partial(pow, 2), 3)))
    assert (restored(), type(restored)) == (8, tree.Partial)
