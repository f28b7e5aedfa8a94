"""shard_map: what it gives, how it transforms, and what it refuses."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp
from arrayport import lax
from arrayport.sharding import AxisType, Mesh, NamedSharding
from arrayport.sharding import PartitionSpec as P

pytestmark = pytest.mark.usefixtures("eight")

A = np.arange(32, dtype=np.float32).reshape(8, 4) / 8 - 1


@pytest.fixture
def mesh(eight):  # noqa: ARG001 - there must be as many
    return Mesh(np.array(ap.devices()).reshape(4, 2), ("x", "y"))


def parts(a, rows, columns):
    """Cut a matrix into blocks, by NumPy."""
    return [np.split(r, columns, 1) for r in np.split(a, rows, 0)]


def test_each_place_has_its_part(mesh):
    f = partial(ap.shard_map, mesh=mesh)
    a = anp.asarray(A)
    own = f(lambda v: v - v.max(), in_specs=P("x", "y"), out_specs=P("x", "y"))(a)
    expected = np.block([[b - b.max() for b in row] for row in parts(A, 4, 2)])
    np.testing.assert_allclose(np.asarray(own), expected)
    assert own.sharding == NamedSharding(mesh, P("x", "y"))
    swapped = f(lambda v: v, in_specs=P(("x", "y")), out_specs=P(("y", "x")))(a)
    np.testing.assert_array_equal(np.asarray(swapped), A[[0, 2, 4, 6, 1, 3, 5, 7]])
    turned = f(lambda v: v.T, in_specs=P("x"), out_specs=P(None, "x"))(a)
    np.testing.assert_array_equal(np.asarray(turned), A.T)
    repeated = f(lambda v: v[:1], in_specs=P(), out_specs=P("y"))(a)
    np.testing.assert_array_equal(np.asarray(repeated), A[[0, 0]])
    tree = f(
        lambda v, w: {"sum": lax.psum(v["a"] * w, ("x", "y")), "w": w},
        in_specs=({"a": P("x", "y")}, P()),
        out_specs=P(),
    )({"a": a}, anp.asarray(2.0))
    np.testing.assert_allclose(
        np.asarray(tree["sum"]), 2 * sum(b for row in parts(A, 4, 2) for b in row)
    )


def test_the_mesh_in_use_and_specs_by_inference(mesh):
    x = anp.asarray(A)
    with ap.set_mesh(mesh):
        f = ap.shard_map(lambda v: v * lax.axis_index("y"), in_specs=P("y"), out_specs=P("y"))
        np.testing.assert_array_equal(np.asarray(f(x)), np.repeat([0, 1], 4)[:, None] * A)
        g = ap.smap(lambda v: v * lax.axis_index("y"), in_axes=1, out_axes=1, axis_name="y")
        np.testing.assert_array_equal(np.asarray(g(x)), np.repeat([0, 1], 2) * A)
    with pytest.raises(ValueError, match="needs a mesh"):
        f(x)


def test_specs_of_the_arguments_own(mesh, backend):
    if backend == "jax":
        pytest.skip("JAX infers them along axes of type Explicit only")
    x = ap.device_put(anp.asarray(A), NamedSharding(mesh, P(None, "y")))
    found = ap.shard_map(lambda v: v[:, :1], mesh=mesh, out_specs=P(None, "y"))(x)
    np.testing.assert_array_equal(np.asarray(found), A[:, [0, 2]])


def test_only_some_axes(mesh):
    f = ap.shard_map(
        lambda v: v / lax.psum(v, "x"),
        mesh=mesh,
        in_specs=P("x"),
        out_specs=P("x"),
        axis_names={"x"},
    )
    shifted = A + 2
    expected = shifted / np.tile(shifted.reshape(4, 2, 4).sum(0), (4, 1))
    np.testing.assert_allclose(np.asarray(f(anp.asarray(shifted))), expected, rtol=1e-6)


COLLECTIVES = {
    "psum": (lambda v: lax.psum(v, "x"), P(), lambda a: a.sum(0)),
    "pmean": (lambda v: lax.pmean(v, "x"), P(), lambda a: a.mean(0)),
    "pmax": (lambda v: lax.pmax(v, "x"), P(), lambda a: a.max(0)),
    "all_gather": (
        lambda v: lax.all_gather(v, "x", axis=0, tiled=True) * v,
        P("x"),
        lambda a: np.concatenate([a.reshape(8, 4) * np.repeat(b, 4, 0) for b in a[:, :1]]),
    ),
    "psum_scatter": (
        lambda v: lax.psum_scatter(v, "x", scatter_dimension=1, tiled=True),
        P("x"),
        lambda a: np.concatenate(np.split(a.sum(0), 4, 1)),
    ),
    "all_to_all": (
        lambda v: lax.all_to_all(v, "x", 1, 0, tiled=True),
        P(None, "x"),
        lambda a: a.reshape(8, 4),
    ),
    "ppermute": (
        lambda v: lax.ppermute(v, "x", [(0, 1), (1, 2), (2, 3), (3, 0)]),
        P("x"),
        lambda a: np.roll(a, 1, 0).reshape(8, 4),
    ),
}


@pytest.mark.parametrize("name", sorted(COLLECTIVES.keys() - {"all_gather"}))
def test_collectives(name, mesh):
    f, spec, expected = COLLECTIVES[name]
    mapped = ap.shard_map(f, mesh=mesh, in_specs=P("x"), out_specs=spec)
    blocks = A.reshape(4, 2, 4)
    np.testing.assert_allclose(np.asarray(mapped(anp.asarray(A))), expected(blocks), rtol=1e-6)
    jitted = ap.jit(mapped)(anp.asarray(A))
    np.testing.assert_allclose(np.asarray(jitted), expected(blocks), rtol=1e-6)


X = np.arange(64, dtype=np.float32).reshape(8, 8)
ALONG = ("x", "y")
SEVERAL = {
    "all_to_all": (lambda v: lax.all_to_all(v, ALONG, 0, 0), X.T),
    "psum_scatter": (lambda v: lax.psum_scatter(v, ALONG), X.sum(0)),
    "ppermute": (
        lambda v: lax.ppermute(v, ALONG, [(i, (i + 3) % 8) for i in range(8)]),
        np.roll(X, 3, 0),
    ),
    "all_gather": (lambda v: lax.all_gather(v, ALONG)[:, 0], np.stack([X[:, 0]] * 8)),
}


@pytest.mark.parametrize("name", SEVERAL)
def test_collectives_along_several_axes(name, mesh):
    f, expected = SEVERAL[name]
    whole = ap.shard_map(lambda v: f(v[0])[None], mesh=mesh, in_specs=P(ALONG), out_specs=P(ALONG))
    x = anp.asarray(X)
    np.testing.assert_allclose(np.asarray(whole(x)), expected)
    # They are linear, so the gradient of half the square is the transpose of what they gave.
    slope = ap.grad(lambda v: (whole(v) ** 2).sum() / 2)(x)
    direction = np.cos(X)
    _, tangent = ap.jvp(whole, (x,), (anp.asarray(direction),))
    np.testing.assert_allclose(
        (np.asarray(slope) * direction).sum(), (np.asarray(tangent) * expected).sum(), rtol=1e-4
    )


def test_all_gather(mesh):
    f = ap.shard_map(
        lambda v: lax.all_gather(v, "x", tiled=True)[None],
        mesh=mesh,
        in_specs=P("x"),
        out_specs=P("x"),
    )
    np.testing.assert_array_equal(np.asarray(f(anp.asarray(A))), np.stack([A] * 4))


def test_derivatives_around(mesh):
    def f(v):
        return lax.psum((v**2).sum(0), "x") * v.sum()

    mapped = ap.shard_map(f, mesh=mesh, in_specs=P("x", "y"), out_specs=P("y"), check_vma=False)
    whole = ap.shard_map(
        lambda v: lax.psum((v**3).sum(), ("x", "y")), mesh=mesh, in_specs=P("x", "y"), out_specs=P()
    )
    a = anp.asarray(A)
    np.testing.assert_allclose(np.asarray(ap.grad(whole)(a)), 3 * A**2, rtol=1e-6)
    np.testing.assert_allclose(np.asarray(ap.jit(ap.grad(whole))(a)), 3 * A**2, rtol=1e-6)
    batch = ap.vmap(ap.grad(whole))(anp.stack([a, 2 * a]))
    np.testing.assert_allclose(np.asarray(batch), [3 * A**2, 12 * A**2], rtol=1e-6)
    # Without the check the first place along x counts: its factor is the sum of its own part.
    expected = np.concatenate(
        [np.square(A[:, c]).sum(0) * A[:2, c].sum() for c in (slice(0, 2), slice(2, 4))]
    )
    np.testing.assert_allclose(np.asarray(mapped(a)), expected, rtol=1e-5)


def test_none_among_the_specs_is_whole(mesh):
    a, two = anp.asarray(A), anp.asarray(2.0)
    f = partial(ap.shard_map, mesh=mesh, out_specs=P("x"))
    for specs in ((P("x"), None), (P("x"), P())):
        np.testing.assert_array_equal(np.asarray(f(anp.multiply, in_specs=specs)(a, two)), 2 * A)
        np.testing.assert_array_equal(np.asarray(f(lambda v, _: v, in_specs=specs)(a, None)), A)
    tree = f(lambda d: d["v"] * d["w"], in_specs=({"v": P("x"), "w": None},))({"v": a, "w": two})
    np.testing.assert_array_equal(np.asarray(tree), 2 * A)
    whole = ap.shard_map(lambda v: (v, None), mesh=mesh, in_specs=None, out_specs=(P(), None))(a)
    np.testing.assert_array_equal(np.asarray(whole[0]), A)
    assert whole[1] is None


def test_the_mesh_in_use_within(mesh):
    seen = []

    def body(v):
        seen.append(ap.get_abstract_mesh())
        return lax.with_sharding_constraint(v, P("y"))

    ap.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"), axis_names={"x"})(
        anp.asarray(A)
    )
    assert seen[0].shape == mesh.shape
    assert seen[0].axis_types == (AxisType.Manual, AxisType.Auto)
    assert ap.get_abstract_mesh().empty


def test_what_it_refuses(mesh):
    f = partial(ap.shard_map, lambda v: v, mesh=mesh)
    a = anp.asarray(A)
    with pytest.raises(ValueError, match=r"P\('z',\).*'z'"):
        f(in_specs=P("z"), out_specs=P("x"))(a)
    with pytest.raises(ValueError, match=r"P\('y',\).*'y'"):
        f(in_specs=P("y"), out_specs=P("x"), axis_names={"x"})(a)
    with pytest.raises(ValueError, match=r"axis_names"):
        f(in_specs=P("x"), out_specs=P("x"), axis_names={"q"})(a)
    with pytest.raises(ValueError, match=r"(?s)(args\[0\].*3 entries|too long)"):
        f(in_specs=P("x", None, "y"), out_specs=P("x"))(a)
    with pytest.raises(ValueError, match=r"args\[0\].*6"):
        f(in_specs=P("x"), out_specs=P("x"))(a[:6])
    with pytest.raises(ValueError, match="out_specs"):
        f(in_specs=P("x"), out_specs=P())(a)
    with pytest.raises(ValueError, match="out_specs"):
        ap.shard_map(lambda v: v.sum(), mesh=mesh, in_specs=P("x"), out_specs=P("x"))(a)
    with pytest.raises(TypeError, match="PartitionSpec"):
        f(in_specs="x", out_specs=P("x"))(a)
    with pytest.raises(NameError, match="unbound axis name"):
        ap.shard_map(lambda v: lax.psum(v, "q"), mesh=mesh, in_specs=P(), out_specs=P())(a)


def test_axis_types_change_nothing_here(mesh, backend):
    if backend == "jax":
        pytest.skip("JAX tracks Explicit axes in the types of arrays")
    explicit = Mesh(mesh.devices, mesh.axis_names, (AxisType.Explicit,) * 2)
    f = ap.shard_map(lambda v: -v, mesh=explicit, in_specs=P("x"), out_specs=P("x"))
    np.testing.assert_array_equal(np.asarray(f(anp.asarray(A))), -A)
