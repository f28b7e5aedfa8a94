"""JAX's experimental.shard_map: the older spelling of `shard_map`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from arrayport.core.meshes import AbstractMesh, Mesh
from arrayport.parallel import shard_map as newer


def shard_map(
    f: Callable[..., Any],
    mesh: Mesh | AbstractMesh,
    in_specs: Any,
    out_specs: Any,
    check_rep: bool = True,
    auto: frozenset[Any] = frozenset(),
) -> Callable[..., Any]:
    """Run a function once for every place of a mesh: see `arrayport.shard_map`.

    `check_rep` is its `check_vma`; `auto` are the axes along which the program is not written.
    Source: `jax.experimental.shard_map.shard_map`.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> mesh = ap.sharding.AbstractMesh((2,), ("x",))
    >>> shard_map(lambda a: a[::-1], mesh, ap.P("x"), ap.P("x"))(anp.arange(4))
    Array([1, 0, 3, 2], dtype=int32)
    """
    return newer.shard_map(
        f,
        mesh=mesh,
        in_specs=in_specs,
        out_specs=out_specs,
        axis_names=frozenset(mesh.axis_names) - auto if auto else frozenset(),
        check_vma=check_rep,
    )
