"""The JAX backend: devices, conversions, and single primitives run as compiled kernels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.random import key_data, wrap_key_data

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.core.backend import Backend, Device
from arrayport.core.guards import asked
from arrayport.core.primitive import ERRORS, Callback, Holder, Primitive, params_key
from arrayport.core.program import Program, Var, inner_programs
from arrayport_backends.jax import eager, shardings
from arrayport_backends.jax.faults import CAUGHT, not_numpy, translated
from arrayport_backends.jax.leaves import RAW, host, wrap
from arrayport_backends.jax.programs import run
from arrayport_backends.jax.table import TABLE

TERNARY = 3  # from so many operands on, lax wants elementwise ones in one shape


class JaxBackend(Backend):
    """JAX: primitives run one by one through `jax.jit`, transformations are JAX's own."""

    name = "jax"
    kernels = TABLE

    def __init__(self, native: Any) -> None:
        self.native = native
        self.compiled: dict[Any, Callable[..., Any]] = {}

    def owns(self, cls: type) -> bool:
        """Whether a class is JAX's array or one of its tracers."""
        return issubclass(cls, jax.Array | jax.core.Tracer)

    def execute(self, prim: Primitive, args: Sequence[Array], params: dict[str, Any]) -> Any:
        """Run one primitive: compiled once a signature, in a trace a part of it."""
        raws = [host(a) if type(a.raw) is np.ndarray else a.raw for a in args]
        row = eager.ROWS.get(prim)
        if row is not None and not (raws and isinstance(raws[0], jax.core.Tracer)):
            out = row(*raws, **params)
            if out is not NotImplemented:
                return wrap(out)
        kept = None if params else self.compiled.get(prim)
        try:
            out = (kept or self.kept(prim, params))(*raws)
        except CAUGHT as error:
            raise translated(error) from error
        except (*ERRORS, AttributeError):  # JAX's types of keys lack what those of numbers have
            prim.abstract(*args, **params)  # says what is wrong with the operands, if anything
            raise
        return [wrap(raw) for raw in out] if prim.many else wrap(out)

    def lowered(self, prim: Primitive) -> Callable[..., Any]:
        """Give the kernel of a primitive, for arrays and numbers; rank 0 meets any other rank."""
        row = self.kernel(prim)
        meet = jnp.broadcast_arrays if len(prim.partials) >= TERNARY else lambda *raws: raws

        def kernel(*raws: Any, **params: Any) -> Any:
            known = [raw if RAW[type(raw)] else jnp.asarray(raw) for raw in raws]
            return row(*meet(*known), **params)

        return kernel

    def kept(self, prim: Primitive, params: dict[str, Any]) -> Callable[..., Any]:
        """Give the compiled kernel of a primitive and parameters; Programs keep their own."""
        if isinstance(prim, Callback):  # whose function is another one each time
            return partial(self.kernel(prim), **params)
        key = (prim, params_key(params)) if params else prim
        if isinstance(prim, Holder):
            programs = inner_programs(params)
            if not programs:
                return partial(self.kernel(prim), **params)
            return programs[0].derive(key, lambda: jax.jit(partial(self.kernel(prim), **params)))
        found = self.compiled.get(key)
        if found is None:
            found = self.compiled[key] = eager.compiled(partial(self.lowered(prim), **params))
        return found

    def compile(self, program: Program, owned: Sequence[Var] = ()) -> Callable[..., list[Any]]:
        """Compile a Program by XLA; `owned` inputs are donated."""
        donated = tuple([i for i, v in enumerate(program.ins) if v in owned])
        return jax.jit(lambda *raws: run(program, raws), donate_argnums=donated)

    def asarray(self, host: np.ndarray[Any, Any], device: Device | None = None) -> Any:
        """Copy a host array: JAX would share its memory where it can."""
        words = dtypes.is_key(host.dtype)
        values = host["threefry2x32"] if words else host
        # JAX's guard of transfers asks by which function they were made.
        copied = jax.device_put(values.copy()) if asked() else jnp.array(values)
        copied = wrap_key_data(copied) if words else copied
        return copied if device is None else jax.device_put(copied, shardings.place(device))

    def to_numpy(self, raw: Any) -> np.ndarray[Any, Any]:
        """Give the values on the host, read-only; a tracer raises TracerArrayConversionError."""
        if isinstance(raw, jax.core.Tracer):
            raise not_numpy(raw)
        if RAW[type(raw)] and dtypes.is_key(raw.dtype):
            return np.array(key_data(raw)).view(dtypes.key)[..., 0]
        return np.asarray(raw)

    def concrete(self, raw: Any) -> Any:
        """Give an array itself, of a tracer the value that it stands for, else None."""
        traced = isinstance(raw, jax.core.Tracer)
        value = raw.to_concrete_value() if traced else raw
        return value if value is None or self.owns(type(value)) else jnp.asarray(value)

    def devices(self) -> list[Device]:
        """List JAX's devices, those of its default platform first, then the CPU."""
        found = list(dict.fromkeys([*jax.devices(), *jax.devices("cpu")]))
        return [shardings.device_of(d) for d in found]

    def device_of(self, raw: Any) -> Device:
        """Say where an array lives; of one spread over several devices, the first."""
        return shardings.device_of(min(raw.devices(), key=lambda d: d.id))

    def sharding(self, raw: Any) -> Any:
        """Give JAX's sharding as ours."""
        return shardings.own_sharding(raw.sharding)

    def shards(self, raw: Any) -> Any:
        """Give the parts, device by device."""
        return shardings.shards(raw)

    def wait(self, raw: Any) -> None:
        """Block until the value is computed."""
        raw.block_until_ready()

    def weak(self, raw: Any) -> bool:
        """Whether JAX says that the dtype is weak."""
        return getattr(raw, "weak_type", False)  # typed keys have none
