"""JAX's own pmap and shard_map, for functions of arrayport's Arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax

from arrayport.core.backend import Device
from arrayport.core.likenesses import wraps
from arrayport.core.meshes import AbstractMesh, Mesh
from arrayport_backends.jax import shardings
from arrayport_backends.jax.compilation import Arguments, Jitted, coded
from arrayport_backends.jax.faults import translating
from arrayport_backends.jax.leaves import decode, encode

Function = Callable[..., Any]


def pmap(
    fun: Function,
    *,
    static_broadcasted_argnums: Sequence[int],
    devices: Sequence[Device] | None,
    backend: str | None,  # noqa: ARG001 - the devices' own
    **options: Any,
) -> Jitted:
    """Compile for several devices; the options are `jax.pmap`'s."""
    arguments = Arguments(fun, static_broadcasted_argnums)
    compiler = partial(
        jax.pmap,
        static_broadcasted_argnums=tuple(static_broadcasted_argnums),
        devices=None if devices is None else [shardings.place(d) for d in devices],
        **options,
    )
    return Jitted(compiler, fun, arguments)


def shard_map(
    fun: Function, *, mesh: Mesh | AbstractMesh, in_specs: Any, out_specs: Any, **options: Any
) -> Function:
    """Run on the parts of the arguments; the options are `jax.shard_map`'s."""
    known = {} if in_specs is None else {"in_specs": shardings.specs(in_specs)}
    theirs = jax.jit(  # else every call compiles each of its operations again
        jax.shard_map(
            coded(fun, Arguments(fun)),
            mesh=shardings.mesh(mesh),
            out_specs=shardings.specs(out_specs),
            **known,
            **options,
        )
    )

    @wraps(fun)
    @translating
    def mapped(*args: Any) -> Any:
        return decode(theirs(*[encode(a) for a in args]))

    return mapped
