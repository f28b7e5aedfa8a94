"""The flat convention: which leaves the user's function sees as Arrays, and which come back so."""

from __future__ import annotations

import gc
import weakref
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from arrayport_backends.jax import backend
from arrayport_backends.jax.leaves import is_array

import arrayport as ap
import arrayport.numpy as anp
from arrayport.sharding import SingleDeviceSharding

native = backend.native
HOST = np.array([0.5, -1.0, 2.0], np.float32)
RAW = jnp.array(HOST)


def ours(x: Any) -> ap.Array:
    return ap.Array(jnp.array(x), jnp.asarray(x).weak_type)


def kind(x: Any) -> str:
    return "ours" if type(x) is ap.Array else "raw" if isinstance(x, jax.Array) else "neutral"


GIVEN = [(ours(HOST), "ours"), (RAW, "raw"), (HOST, "ours"), (2.0, "ours")]


class Watched:
    """A function x -> 3 x that notes what it was called with."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def __call__(self, x: Any) -> Any:
        self.seen.append(kind(x))
        return x * 3.0

    def total(self, x: Any) -> Any:
        return self(x).sum()


def through(name: str, f: Watched, x: Any) -> Any:
    """Apply one of the engine's functions; give the result and, if linear, its factor of x."""
    match name:
        case "jit" | "checkpoint":
            return getattr(native, name)(f)(x), 3.0
        case "grad":
            return native.grad(f.total)(x), None
        case "value_and_grad":
            return native.value_and_grad(f.total)(x)[1], None
        case "jvp":
            return native.jvp(f, (x,), (x,))[1], 3.0
        case "vjp":
            return native.vjp(f, x)[1](native.jit(lambda a: a)(x))[0], 3.0
        case "linearize":
            return native.linearize(f, x)[1](x), 3.0
        case "linear_transpose":
            return native.linear_transpose(f, x)(x)[0], 3.0
        case "cond":
            return native.cond(True, f, f, x), 3.0
        case "switch":
            return native.switch(1, [f, f, f], x), 3.0
        case "while_loop":
            return native.while_loop(lambda c: (c < 10).all() & (c > -8).all(), f, x), None
        case "fori_loop":
            return native.fori_loop(0, 2, lambda _, c: f(c), x), 9.0
        case "scan":
            return native.scan(lambda c, _: (f(c), None), x, None, 2)[0], 9.0
        case "custom_jvp":
            return native.custom_jvp_call(f, None, (), False, (x,)), 3.0
    raise AssertionError(name)


@pytest.mark.parametrize(("given", "wanted"), GIVEN, ids=["ours", "raw", "numpy", "number"])
@pytest.mark.parametrize(
    "name",
    [
        *("jit", "checkpoint", "grad", "value_and_grad", "jvp", "vjp", "linearize"),
        *("linear_transpose", "cond", "switch", "while_loop", "fori_loop", "scan"),
    ],
)
def test_each_kind_of_leaf_keeps_its_kind(name: str, given: Any, wanted: str) -> None:
    f = Watched()
    out, factor = through(name, f, given)
    assert set(f.seen) == {wanted}
    assert kind(out) == wanted
    assert out.shape == np.shape(given)
    if factor:
        np.testing.assert_allclose(np.asarray(out), factor * np.asarray(given))


@pytest.mark.parametrize(("given", "wanted"), GIVEN[:3], ids=["ours", "raw", "numpy"])
@pytest.mark.parametrize("name", ["vmap", "map", "scan", "jacfwd", "jacrev"])
def test_each_kind_of_mapped_leaf_keeps_its_kind(name: str, given: Any, wanted: str) -> None:
    f = Watched()
    if name == "scan":
        out = native.scan(lambda c, x: (c, f(x)), 0, given)[1]
    elif name == "map":
        out = native.map(f, given)
    else:
        out = getattr(native, name)(f)(given)
    assert set(f.seen) == {wanted}
    assert kind(out) == wanted
    jacobian = name.startswith("jac")
    np.testing.assert_allclose(np.asarray(out), 3 * np.eye(3) if jacobian else 3 * HOST)


def test_a_tree_mixes_kinds_inside_and_out() -> None:
    seen: dict[str, str] = {}

    def f(tree: Any, *, scale: Any) -> Any:
        seen.update({k: kind(v) for k, v in tree.items()}, scale=kind(scale))
        return {"a": tree["a"] * scale, "b": (tree["b"], None, 7), "c": jnp.sin(tree["b"])}

    tree = {"a": ours(HOST), "b": RAW, "n": HOST, "one": 1.0}
    out = native.jit(f)(tree, scale=2)
    assert seen == {"a": "ours", "b": "raw", "n": "ours", "one": "ours", "scale": "ours"}
    assert kind(out["a"]) == "ours"
    assert kind(out["b"][0]) == "raw"
    assert out["b"][1] is None
    assert kind(out["b"][2]) == "ours"
    assert kind(out["c"]) == "raw"
    np.testing.assert_array_equal(out["a"], 2 * HOST)


def test_of_raw_values_alone_a_function_may_give_any_kind_of_leaf() -> None:
    def f(tree: Any) -> Any:
        x = tree["x"]
        return Pair(x + 1, (anp.negative(x), 7, {"n": HOST, "weak": anp.sin(0.0)}))

    for made in (native.jit(f), ap.jit(f)):
        for _ in range(2):
            out = made({"x": RAW})
            assert kind(out.left) == "raw"
            assert {kind(x) for x in jax.tree.leaves(out.right, is_leaf=is_array)} == {"ours"}
            assert out.right[1].weak
            assert not out.right[2]["n"].weak
            np.testing.assert_array_equal(out.right[0], -HOST)
        assert kind(made({"x": ours(HOST)}).left) == "ours"
        assert made._cache_size() == 2
    donated = jnp.array(HOST)
    kept = ap.jit(f, donate_argnums=0)({"x": donated}).left
    assert donated.is_deleted()
    np.testing.assert_array_equal(kept, HOST + 1)


def test_what_jax_leaves_alone_reaches_the_function_as_it_is() -> None:
    def f(x: Any, n: Any, label: Any, matrix: Any) -> Any:
        assert type(n) is int
        assert label == "text"
        assert type(matrix) is np.ndarray
        return (x * n).sum() * float(matrix[0])

    assert float(native.value_and_grad(f)(ours(HOST), 3, "text", HOST)[0]) == 1.5 * 3 * 0.5
    out = native.vmap(f, in_axes=(0, None, None, None))(ours(HOST), 3, "text", HOST)
    np.testing.assert_array_equal(out, HOST * 1.5)


def test_one_compiled_function_tells_kinds_apart() -> None:
    jitted = native.jit(lambda x: x)
    assert [kind(jitted(x)) for x in (RAW, ours(HOST), RAW, HOST)] == ["raw", "ours", "raw", "ours"]


def test_weak_types_pass_through() -> None:
    assert native.jit(lambda x: x * 2)(ours(2.0)).weak
    assert native.jit(lambda x: x * 2)(3.0).weak
    assert not native.jit(lambda x, y: x * y)(3.0, ours(HOST)).weak
    with ap.use_backend("jax"):
        weak = anp.multiply(2.0, 3.0)
        assert native.jit(lambda x: x)(weak).weak
        assert native.jit(lambda tree: tree)({"x": weak})["x"].weak


def test_functions_run_with_jax_as_the_ambient_backend() -> None:
    with ap.use_backend("numpy"):
        out = native.jit(lambda x: anp.ones(3) + x)(1.0)
        assert isinstance(out.native, jax.Array)
        assert isinstance(anp.ones(3).native, np.ndarray)


def test_arrays_of_numpy_are_refused_with_the_way_to_move_them() -> None:
    with ap.use_backend("numpy"):
        x = anp.ones(3)
    with pytest.raises(ap.errors.BackendMismatchError, match="device_put"):
        native.jit(lambda a, b: a + b)(ours(HOST), x)
    with pytest.raises(ap.errors.BackendMismatchError, match=r"test_leaves.py:\d+"):
        native.grad(lambda a: (a * x).sum())(ours(HOST))


def test_functions_are_traced_once_and_not_kept_alive() -> None:
    calls = []

    def body(c: Any, x: Any) -> Any:
        calls.append(1)
        return c * x, c

    for _ in range(3):
        native.scan(body, 1.0, ours(HOST))
    assert len(calls) == 1
    gone = weakref.ref(body)
    del body
    jax.clear_caches()
    gc.collect()
    assert gone() is None


def test_jax_takes_our_arrays_as_a_pytree_node() -> None:
    x = ours(HOST)
    assert type(jax.jit(lambda a: a * 2.0)(x)) is ap.Array
    structure = jax.tree.structure(x)
    for child in (object(), None, True, "s", jax.ShapeDtypeStruct((2,), np.float32), x, [1, 2]):
        rebuilt = structure.unflatten([child])
        assert rebuilt is child or rebuilt.raw is child
    assert jax.tree.structure(x) == jax.tree.structure(ours(1.0))
    np.testing.assert_allclose(jnp.sin(x), np.sin(HOST), rtol=1e-6)
    assert isinstance(RAW * x, jax.Array)


# ---- arguments of jitted functions, whole


class Pair(NamedTuple):
    left: Any
    right: Any


@jax.tree_util.register_pytree_node_class
class Node:
    def __init__(self, *parts: Any) -> None:
        self.parts = parts

    def tree_flatten(self) -> tuple[Any, None]:
        return self.parts, None

    @classmethod
    def tree_unflatten(cls, _aux: None, parts: Any) -> Node:
        return cls(*parts)


def test_jit_hands_over_trees_of_any_classes_with_the_kinds_of_their_leaves() -> None:
    given = {"p": Pair(ours(1.0), RAW), "n": Node(RAW, ours(HOST)), "l": [HOST, None, (RAW, 2.0)]}
    wanted = ["ours", "raw", "ours", "raw", "ours", "ours", "raw"]
    seen: list[list[str]] = []

    def f(tree: Any) -> Any:
        seen.append([kind(x) for x in jax.tree.leaves(tree, is_leaf=is_array)])
        assert type(tree["p"]) is Pair
        assert type(tree["n"]) is Node
        return tree

    jitted = native.jit(f)
    for _ in range(2):
        out = jitted(given)
        assert (type(out["p"]), type(out["n"]), type(out["l"][2])) == (Pair, Node, tuple)
        assert [kind(x) for x in jax.tree.leaves(out, is_leaf=is_array)] == wanted
        assert out["p"].left.weak
        np.testing.assert_array_equal(out["n"].parts[0], RAW)
    assert seen == [wanted]


def test_static_arguments_are_handed_over_as_they_are() -> None:
    static, seen = Node((1, 2)), []

    def f(x: Any, node: Any, *, named: Any) -> Any:
        seen.append(node is static and named is static)
        return x

    jitted = native.jit(f, static_argnums=1, static_argnames="named")
    np.testing.assert_array_equal(jitted(ours(HOST), static, named=static), HOST)
    np.testing.assert_array_equal(jitted(x=ours(HOST), node=static, named=static), HOST)
    assert seen == [True, True]


def test_shardings_are_told_by_the_structure_of_the_argument() -> None:
    one = SingleDeviceSharding(ap.devices("jax")[0])
    places = {"a": one, "b": (one, one)}
    jitted = ap.jit(lambda tree: tree, in_shardings=(places,), out_shardings=places)
    out = jitted({"a": ours(HOST), "b": (RAW, ours(HOST))})
    assert [kind(x) for x in (out["a"], *out["b"])] == ["ours", "raw", "ours"]


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [
        ((2.0, ours(HOST)), {}),
        ((HOST, Pair(3.0, [ours(HOST)])), {}),
        ((), {"a": Pair(1, HOST), "b": Node(RAW)}),
    ],
    ids=["number", "numpy", "names"],
)
def test_the_first_array_decides_wherever_it_is(args: Any, kwargs: Any) -> None:
    traced = []
    jitted = ap.jit(lambda a, b: (traced.append(a), a, b)[1:])
    for _ in range(3):
        with ap.use_backend("numpy"):
            out = jitted(*args, **kwargs)
        leaves = jax.tree.leaves(out, is_leaf=is_array)
        assert {type(anp.asarray(x).raw) for x in leaves} == {type(RAW)}
    assert len(traced) == jitted._cache_size() == 1
