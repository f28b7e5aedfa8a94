"""JAX's own devices, meshes, specs and shardings are taken where ours are."""

from __future__ import annotations

import numpy as np
import pytest

import arrayport as ap

jax = pytest.importorskip("jax", reason="they are JAX's")
A = np.arange(4, dtype=np.float32)


def test_they_are_adopted():
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:1]), ("x",))
    spec = jax.sharding.PartitionSpec("x")
    sharding = jax.sharding.NamedSharding(mesh, spec)
    x = ap.device_put(A, sharding)
    assert x.sharding == ap.NamedSharding(ap.sharding.Mesh(jax.devices()[:1], "x"), ap.P("x"))
    assert ap.device_put(A, jax.devices()[0]).device == ap.devices("jax")[0]
    double = ap.shard_map(lambda v: 2 * v, mesh=mesh, in_specs=spec, out_specs=spec)
    np.testing.assert_array_equal(np.asarray(double(x)), 2 * A)
    with ap.set_mesh(mesh):
        assert ap.device_put(A, spec).sharding == x.sharding
