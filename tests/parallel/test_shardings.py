"""Meshes, specs and shardings, and arrays placed by them."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp
from arrayport import lax
from arrayport.sharding import (
    AbstractMesh,
    AxisType,
    Mesh,
    NamedSharding,
    PositionalSharding,
    SingleDeviceSharding,
)
from arrayport.sharding import PartitionSpec as P

A = np.arange(32, dtype=np.float32).reshape(8, 4)


@pytest.fixture
def mesh(eight):  # noqa: ARG001 - there must be as many
    return Mesh(np.array(ap.devices()).reshape(4, 2), ("x", "y"))


def test_specs():
    spec = P("x", None, ("y", "z"))
    assert repr(spec) == "P('x', None, ('y', 'z'))"
    assert list(spec) == ["x", None, ("y", "z")]
    assert P("x") + P("y") == P("x", "y") == pickle.loads(pickle.dumps(P("x", ["y"])))
    assert P("x") != P("x", None)
    assert P("x") != ("x",)
    assert hash(P("x")) == hash(P(("x",)))
    assert ap.tree.leaves({"a": P("x"), "b": (P(),)}) == [P("x"), P()]


def test_meshes(mesh):
    assert dict(mesh.shape) == {"x": 4, "y": 2}
    assert (mesh.size, mesh.axis_names, mesh.empty) == (8, ("x", "y"), False)
    np.testing.assert_array_equal(mesh.device_ids, np.arange(8).reshape(4, 2))
    assert mesh == ap.make_mesh((4, 2), ("x", "y")) == pickle.loads(pickle.dumps(mesh))
    assert mesh.abstract_mesh == AbstractMesh((4, 2), ("x", "y"))
    assert ap.make_mesh((2,), "x", (AxisType.Explicit,)).axis_types == (AxisType.Explicit,)
    with pytest.raises(AttributeError, match="cannot change"):
        mesh.axis_names = ("a", "b")
    with pytest.raises(ValueError, match="a name for each axis"):
        Mesh(mesh.devices, ("x",))
    with pytest.raises(ValueError, match="differ"):
        Mesh(mesh.devices, ("x", "x"))
    with pytest.raises(ValueError, match=r"needs 16 devices.*has 8"):
        ap.make_mesh((4, 4), ("x", "y"))
    with pytest.raises(TypeError, match="made of Devices"):
        Mesh([1, 2], ("x",))


def test_the_mesh_in_use(mesh):
    assert ap.get_mesh().empty
    with mesh:
        assert ap.get_mesh() is mesh
        assert ap.get_abstract_mesh() == mesh.abstract_mesh
        x = ap.device_put(anp.asarray(A), P("y"))
    assert x.sharding == NamedSharding(mesh, P("y"))
    setting = ap.set_mesh(mesh)
    assert ap.get_mesh() is mesh
    with setting, ap.sharding.use_abstract_mesh(AbstractMesh((2,), ("z",))):
        assert ap.get_abstract_mesh().axis_names == ("z",)
        assert ap.get_mesh().empty
    assert ap.get_abstract_mesh().empty
    with pytest.raises(ValueError, match=r"device_put with a PartitionSpec needs a mesh"):
        ap.device_put(x, P("x"))


def test_parts(mesh):
    x = ap.device_put(A, NamedSharding(mesh, P("y", "x")))
    assert x.sharding.shard_shape(x.shape) == (4, 1)
    assert not x.is_fully_replicated
    for shard in x.addressable_shards:
        row, column = divmod(shard.device.id, 2)
        assert shard.replica_id == 0
        np.testing.assert_array_equal(
            np.asarray(shard.data), A[4 * column : 4 * column + 4, row : row + 1]
        )
        np.testing.assert_array_equal(np.asarray(shard.data), A[shard.index])
        assert shard.data.devices() == {shard.device}
    copies = ap.device_put(A, NamedSharding(mesh, P("x")))
    assert [s.replica_id for s in copies.addressable_shards] == [0, 1] * 4
    assert copies.sharding.is_equivalent_to(NamedSharding(mesh, P("x", None)), 2)
    assert not copies.sharding.is_equivalent_to(NamedSharding(mesh, P("y", None)), 2)
    whole = ap.device_put(A, NamedSharding(mesh, P()))
    assert whole.is_fully_replicated
    np.testing.assert_array_equal(np.asarray(copies + whole), 2 * A)


def test_one_device(eight):
    first, *_, last = ap.devices()
    x = anp.asarray(A)
    assert x.sharding == SingleDeviceSharding(first)
    moved = ap.device_put(x, last)
    assert moved.device == last
    assert moved.devices() == {last}
    assert moved.sharding == SingleDeviceSharding(last)
    assert ap.device_put(moved, SingleDeviceSharding(first)).device == first
    assert ap.device_put({"a": x, "b": x}, {"a": last, "b": None})["a"].device == last
    assert first.backend == eight


def test_what_is_made_like_an_array_is_where_it_is(mesh):
    x = ap.device_put(A, NamedSharding(mesh, P("x")))
    last = ap.device_put(A, ap.devices()[-1])
    for like in (
        anp.zeros_like,
        lambda y: anp.ones_like(y, "int32"),
        lambda y: lax.full_like(y, 2),
    ):
        assert like(x).sharding == x.sharding
        assert like(last).device == ap.devices()[-1]
    assert anp.zeros_like(x, shape=(3,)).sharding == SingleDeviceSharding(ap.devices()[0])
    assert anp.zeros_like(x, device=ap.devices()[1]).device == ap.devices()[1]


@pytest.mark.usefixtures("eight")
def test_positional_shardings():
    devices = ap.devices()
    sharding = PositionalSharding(devices).reshape(4, 2)
    x = ap.device_put(A, sharding)
    assert [s.data.shape for s in x.addressable_shards] == [(2, 2)] * 8
    halves = ap.device_put(A, sharding.replicate(0))
    assert [s.data.shape for s in halves.addressable_shards] == [(8, 2)] * 8
    assert sharding.replicate().is_fully_replicated
    assert sharding.replicate(1, keepdims=False).shape == (4,)
    assert sharding.T.shape == (2, 4)
    assert sharding == PositionalSharding(np.array(devices).reshape(4, 2))
    with pytest.raises(ValueError, match="reshape the sharding"):
        ap.device_put(A, PositionalSharding(devices))


def test_constraints(mesh, eight):
    x = anp.asarray(A)
    sharding = NamedSharding(mesh, P("x"))
    assert lax.with_sharding_constraint(x, sharding).sharding.is_equivalent_to(sharding, 2)
    within = ap.jit(lambda v: lax.with_sharding_constraint(v * 2, sharding) + 1)(x)
    np.testing.assert_array_equal(np.asarray(within), A * 2 + 1)
    gradient = ap.grad(lambda v: (lax.with_sharding_constraint(v, sharding) ** 2).sum())(x)
    np.testing.assert_array_equal(np.asarray(gradient), 2 * A)
    with mesh:
        tree = ap.reshard({"a": x, "b": x}, {"a": P("x", "y"), "b": P()})
    assert tree["a"].addressable_shards[0].data.shape == (2, 2)
    assert tree["b"].is_fully_replicated
    for call in (
        lambda: lax.with_sharding_constraint(x[:6], sharding),
        lambda: ap.device_put(x[:6], sharding),
        lambda: ap.jit(lambda v: lax.with_sharding_constraint(v[:6], sharding))(x),
    ):
        with pytest.raises(ValueError, match=r"\(6, 4\).*dimension 0 has 6 elements.*4 parts"):
            call()
    with pytest.raises(ValueError, match="shorten the spec"):
        ap.device_put(anp.ones(8), NamedSharding(mesh, P("x", "y")))
    with pytest.raises(TypeError, match="to be Shardings"):
        lax.with_sharding_constraint(x, eight)
    for spec, what in ((P("q"), "lacks"), (P("x", "x"), "two dimensions")):
        with pytest.raises(ValueError, match=what):
            NamedSharding(mesh, spec)
    if eight != "numpy":
        other = anp.asarray(A, device="numpy")
        assert ap.device_put(other, sharding).device.backend == eight


def test_arrays_of_parts(mesh):
    sharding = NamedSharding(mesh, P("x", "y"))
    calls = []

    def part(index):
        calls.append(index)
        return A[index]

    made = ap.make_array_from_callback(A.shape, sharding, part)
    np.testing.assert_array_equal(np.asarray(made), A)
    assert len(calls) == 8
    assert made.sharding == sharding
    pieces = [shard.data for shard in made.addressable_shards]
    again = ap.make_array_from_single_device_arrays(A.shape, sharding, pieces)
    np.testing.assert_array_equal(np.asarray(again), A)
    local = ap.make_array_from_process_local_data(sharding, A)
    assert local.sharding == sharding
    with pytest.raises(ValueError, match="global_shape"):
        ap.make_array_from_process_local_data(sharding, A, (16, 4))
    with pytest.raises(ValueError, match=r".+"):
        ap.make_array_from_single_device_arrays(A.shape, sharding, pieces[:3])


def test_counts(eight):
    assert ap.device_count() == ap.local_device_count() == len(ap.devices()) == 8
    assert (ap.host_count(), ap.host_id(), ap.host_ids()) == (1, 0, [0])
    assert [d.id for d in ap.devices(eight)][:8] == list(range(8))


def test_too_late_for_jax():
    jax = pytest.importorskip("jax", reason="it is JAX's count")
    count = len(jax.devices("cpu")) + 1
    with ap.use_backend("jax"):
        with (
            pytest.raises(RuntimeError, match="ARRAYPORT_NUM_CPU_DEVICES"),
            ap.virtual_devices(count),
        ):
            pass
        with pytest.raises(ValueError, match="before the first use of JAX"):
            ap.make_mesh((count,), ("x",))
    with ap.use_backend("numpy"), ap.virtual_devices(count):
        assert ap.device_count() == count


def test_virtual_devices():
    with ap.use_backend("numpy"):
        before = ap.device_count()
        with ap.virtual_devices(3):
            assert [str(d) for d in ap.devices()] == [f"numpy:cpu:{i}" for i in range(3)]
            with pytest.raises(ValueError, match=r"num_cpu_devices.*number from 1"):
                ap.config.update("jax_num_cpu_devices", 0)
        assert ap.device_count() == before


def test_pictures(mesh, eight, capsys):
    kind = "GPU" if eight == "cupy-sim" else "CPU"
    x = ap.device_put(anp.zeros((8, 8)), NamedSharding(mesh, P("x", "y")))
    ap.debug.visualize_array_sharding(x)
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == f"│  {kind} 0  │  {kind} 1  │"
    assert lines[-2] == f"│  {kind} 6  │  {kind} 7  │"
    assert len(lines) == 9
    ap.debug.visualize_sharding((8,), NamedSharding(mesh, P("y")))
    assert f"│{kind} 0,2,4,6│{kind} 1,3,5,7│" in capsys.readouterr().out
    with pytest.raises(ValueError, match="one or two dimensions"):
        ap.debug.visualize_sharding((2, 2, 2), NamedSharding(mesh, P()))
    seen = []
    ap.debug.inspect_array_sharding(x, callback=seen.append)
    assert seen == [NamedSharding(mesh, P("x", "y"))]
    double = ap.jit(
        lambda v: (ap.debug.inspect_array_sharding(v * 2, callback=seen.append), v * 2)[1]
    )
    double(x)
    ap.effects_barrier()
    assert len(seen) == 2


def test_shardings_of_what_jit_gives(mesh):
    sharding = NamedSharding(mesh, P("x"))
    f = ap.jit(
        lambda v: {"twice": 2 * v, "sum": v.sum()},
        out_shardings={"twice": sharding, "sum": NamedSharding(mesh, P())},
    )
    for _ in range(2):
        found = f(anp.asarray(A))
        assert found["twice"].sharding.is_equivalent_to(sharding, 2)
        assert found["sum"].is_fully_replicated
        np.testing.assert_array_equal(np.asarray(found["twice"]), 2 * A)
    with mesh:
        g = ap.jit(lambda v: v + 1, in_shardings=P("y"), out_shardings=P("x", "y"))
        assert g(anp.asarray(A)).addressable_shards[0].data.shape == (2, 2)


def test_shardings_of_what_jit_takes(mesh, eight):
    x, rows = anp.asarray(A), NamedSharding(mesh, P("x"))
    double = ap.jit(lambda v, n: v * n, in_shardings=(rows,), static_argnums=1)
    np.testing.assert_array_equal(np.asarray(double(x, 2)), 2 * A)
    np.testing.assert_array_equal(np.asarray(double(ap.device_put(A, rows), 2)), 2 * A)
    for spec, arguments, what in (
        (rows, (x[:6],), "6"),
        (NamedSharding(mesh, P("x", "y")), (x[:, 0],), "rank|dimensions"),
        ((rows, rows), (x,), "in_shardings"),
        (({"b": rows},), ({"a": x},), "in_shardings"),
        (rows, (ap.device_put(A, NamedSharding(mesh, P("y"))),), "in_shardings|Sharding passed"),
    ):
        with pytest.raises(ValueError, match=what):
            ap.jit(lambda v: v, in_shardings=spec)(*arguments)
    with pytest.raises(ValueError, match="in_shardings"):
        ap.jit(lambda v: v, in_shardings=rows)(v=x)
    with pytest.raises(TypeError, match="in_shardings"):
        ap.jit(lambda v: v, in_shardings="x")(x)
    for specs in ((rows,), {"b": rows}):
        with pytest.raises(ValueError, match="out_shardings"):
            ap.jit(lambda v: {"a": v}, out_shardings=specs)(x)
    assert eight


# What a user sees of a matrix divided by P("x", "y"): JAX's own specs.
FOLLOWING = {
    "a number": (lambda v: v + 1, P("x", "y")),
    "an array on one device": (lambda v: v * anp.asarray(A), P("x", "y")),
    "a row": (lambda v: v + anp.arange(4.0), P("x", "y")),
    "a function": (anp.sin, P("x", "y")),
    "a comparison": (lambda v: v > 3, P("x", "y")),
    "a choice": (lambda v: anp.where(v > 0, v, 0.0), P("x", "y")),
    "a cast": (lambda v: v.astype("int32"), P("x", "y")),
    "a copy": (lambda v: v.copy(), P("x", "y")),
    "a sum": (lambda v: v.sum(), P()),
    "rows' sums": (lambda v: v.sum(1), P("x")),
    "columns' means": (lambda v: v.mean(0), P("y")),
    "softmax": (ap.nn.softmax, P("x", "y")),
    "transposing": (lambda v: v.T, P("y", "x")),
    "a product": (lambda v: v @ v.T, P("x")),
    "a new axis": (lambda v: v[:, None], P("x", None, "y")),
    "a row of it": (lambda v: v[0], P("y")),
    "an update": (lambda v: v.at[0].set(1.0), P("x", "y")),
    "a gradient": (ap.grad(lambda v: (v**2).sum()), P("x", "y")),
    "a map": (ap.vmap(lambda v: v * 2), P("x", "y")),
    "a compiled function": (ap.jit(lambda v: anp.sin(v) @ v.T), P("x")),
    "a compiled gradient": (ap.jit(ap.grad(lambda v: anp.sin(v).sum())), P("x", "y")),
}


@pytest.mark.parametrize("name", FOLLOWING)
def test_shardings_follow(name, mesh):
    f, spec = FOLLOWING[name]
    found = f(ap.device_put(anp.asarray(A), NamedSharding(mesh, P("x", "y"))))
    np.testing.assert_allclose(np.asarray(found), np.asarray(f(anp.asarray(A))), rtol=1e-6)
    assert found.devices() == set(ap.devices())
    assert found.sharding.is_equivalent_to(NamedSharding(mesh, spec), found.ndim)


def test_what_follows_less(mesh, eight):
    a = ap.device_put(A, NamedSharding(mesh, P("x", "y")))
    other = ap.device_put(A, NamedSharding(mesh, P("y", "x")))
    assert (a + other).is_fully_replicated
    last = ap.devices()[-1]
    moved = ap.device_put(anp.asarray(A), last)
    assert anp.sin(moved).device == ap.jit(lambda v: v + 1)(moved).device == last
    assert len(ap.jit(lambda _: anp.ones(3))(a).devices()) == 1  # for it needs no part of it
    given = a + 0
    ap.jit(lambda v: v + 1, donate_argnums=0)(given)
    assert given.is_deleted()
    assert eight


@pytest.mark.usefixtures("eight")
def test_the_one_part_of_a_number():
    (shard,) = anp.asarray(3.0).addressable_shards
    assert float(shard.data) == 3


def test_out_sharding_is_the_one_of_a_type_or_none(mesh):
    x = anp.asarray(A)
    along_nothing = ap.typeof(x).sharding
    assert along_nothing.mesh.empty
    for out_sharding in (None, along_nothing):
        assert float(anp.tensordot(x, x, 2, out_sharding=out_sharding)) == (A * A).sum()
        assert ap.random.normal(ap.random.PRNGKey(0), (2,), out_sharding=out_sharding).shape == (2,)
    with pytest.raises(NotImplementedError, match="zeros takes no out_sharding: leave it out"):
        anp.zeros(8, out_sharding=NamedSharding(mesh, P("x")))
