"""The JAX backend: devices, conversions, weak types, operands of rank 0, compiled kernels."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from arrayport_backends.jax import backend
from arrayport_backends.jax.elementwise import ROWS
from arrayport_backends.jax.programs import ROWS as HOLDERS

import arrayport as ap
import arrayport.numpy as anp
from arrayport.core.array import Array, Aval
from arrayport.core.primitive import REGISTRY, Primitive
from arrayport.core.program import Eqn, Literal, Program, Var
from arrayport.ops import elementwise

HOST = np.array([0.5, -1.0, 2.0], np.float32)


def test_every_primitive_has_a_row() -> None:
    assert [name for name, prim in REGISTRY.items() if prim not in backend.kernels] == []


def test_host_arrays_are_copied() -> None:
    host = np.zeros(1000, np.float32)
    raw = backend.asarray(host)
    host[:] = 5
    assert float(raw.sum()) == 0
    seen = backend.to_numpy(raw)
    assert not seen.flags.writeable
    on_cpu = backend.asarray(host, ap.Device("jax", "cpu", 0))
    host[:] = 7
    assert float(on_cpu[0]) == 5


def test_devices_are_those_of_jax() -> None:
    first = backend.devices()[0]
    assert (first.backend, first.platform, first.id) == ("jax", jax.devices()[0].platform, 0)
    assert backend.device_of(jnp.ones(2)) == first


BINARY = [p for p in ROWS if len(p.partials) in (2, 3)]


@pytest.mark.parametrize("prim", BINARY, ids=str)
@pytest.mark.parametrize("traced", [False, True], ids=["eager", "traced"])
def test_rank_0_operands_meet_arrays(prim: Primitive, traced: bool) -> None:
    dtypes = next(d for d in ("float32", "int32", "bool") if _takes(prim, d))
    first = bool if prim is elementwise.select_p else dtypes
    count = len(prim.partials)
    for place in range(count):
        args = [Array(jnp.array(3, first if i == 0 else dtypes)) for i in range(count)]
        args[place] = Array(jnp.array([1, 2, 0], first if place == 0 else dtypes))

        def run(*raws: Any) -> Any:
            return backend.execute(prim, [Array(r) for r in raws], {}).raw

        raws = [a.raw for a in args]
        out = (jax.jit(run) if traced else run)(*raws)
        whole = run(*jnp.broadcast_arrays(*raws))
        assert out.shape == (3,)
        np.testing.assert_array_equal(out, whole)


def _takes(prim: Primitive, dtype: str) -> bool:
    kinds = ["bool" if i == 0 and prim is elementwise.select_p else dtype for i in range(3)]
    try:
        prim.abstract(*[Aval((), np.dtype(k)) for k in kinds[: len(prim.partials)]])
        ROWS[prim](*[jnp.ones((), k) for k in kinds[: len(prim.partials)]])
    except TypeError:
        return False
    return True


@pytest.mark.parametrize("number", [2, 2.0, 2j])
def test_numbers_stay_weak(number: complex) -> None:
    with ap.use_backend("jax"):
        weak = anp.multiply(number, number)
        assert weak.weak
        assert weak.dtype == jnp.multiply(number, number).dtype
        for dtype in ("float16", "bfloat16", "float32"):
            x = anp.ones(3, dtype)
            want = jnp.ones(3, dtype) * number
            assert (x * number).dtype == want.dtype
            assert (x * number).weak == want.weak_type
            assert (x * weak).dtype == want.dtype


def test_results_say_whether_they_are_weak_as_jax_does() -> None:
    out = backend.execute(elementwise.mul_p, [Array(jnp.asarray(2.0), True)] * 2, {})
    assert out.weak
    assert out.raw.weak_type


def test_each_signature_is_compiled_once() -> None:
    x = Array(jnp.array(HOST))
    backend.compiled.clear()
    for _ in range(3):
        backend.execute(elementwise.integer_pow_p, [x], {"n": 3})
        backend.execute(elementwise.integer_pow_p, [x], {"n": 4})
    assert len(backend.compiled) == 2
    assert all(kernel._cache_size() == 1 for kernel in backend.compiled.values())


def two() -> Array:
    return Array(np.array(2.0, np.float32), weak=True)


def test_programs_compile_and_donate() -> None:
    a, b, c = (Var((3,), np.dtype("float32")) for _ in range(3))
    program = Program(
        [a],
        [
            Eqn(elementwise.mul_p, (a, Literal(two())), {}, (b,)),
            Eqn(elementwise.sin_p, (b,), {}, (c,)),
        ],
        [c, b],
    )
    raw = jnp.array(HOST)
    sine, double = backend.compile(program, [a])(raw)
    np.testing.assert_allclose(sine, np.sin(2 * HOST), rtol=1e-6)
    np.testing.assert_array_equal(double, 2 * HOST)
    assert raw.is_deleted()


def test_x64_and_disable_jit_are_flags_of_jax() -> None:
    with ap.config.override("enable_x64", True):
        assert jax.config.jax_enable_x64
        assert jnp.ones(1).dtype == np.float64
    with ap.config.override("enable_x64", False):
        assert not jax.config.jax_enable_x64
    with jax.disable_jit():
        assert ap.config.disable_jit
        seen = []
        backend.native.jit(lambda x: seen.append(float(x)) or x)(2.0)
        assert seen == [2.0]
        assert float(backend.execute(elementwise.add_p, [Array(jnp.ones(())), two()], {})) == 3


def test_holders_of_programs_have_rows() -> None:
    names = {prim.name for prim in HOLDERS}
    assert names >= {"jit", "cond", "scan", "while", "checkpoint", "custom_jvp", "custom_vjp"}


EAGER = {
    "x[i]": (lambda x, i: x[i], lambda x, i: x[i]),
    "x[-i]": (lambda x, i: x[-i], lambda x, i: x[-i]),
    "x[i:i+2]": (lambda x, i: x[i : i + 2], lambda x, i: x[i : i + 2]),
    "x[i, 1:]": (lambda x, i: x.reshape(5, 2)[i, 1:], lambda x, i: x.reshape(5, 2)[i, 1:]),
    "x.at[i].set": (lambda x, i: x.at[i].set(7), lambda x, i: np.where(np.arange(10) == i, 7, x)),
    "x.at[i].add": (lambda x, i: x.at[i].add(i), lambda x, i: x + i * (np.arange(10) == i)),
    "full": (lambda _, i: anp.full((2, 3), i), lambda _, i: np.full((2, 3), i)),
    "asarray": (lambda _, i: anp.asarray(i), lambda _, i: i),
    "x + i": (lambda x, i: x + i, lambda x, i: x + i),
}


@pytest.mark.parametrize("name", EAGER)
def test_another_index_or_value_needs_no_other_program(name: str) -> None:
    ours, expected = EAGER[name]
    x, compiled = np.arange(10.0), []
    jax.monitoring.register_event_duration_secs_listener(
        lambda event, _seconds, **_: compiled.append(event) if "backend_compile" in event else None
    )
    with ap.use_backend("jax"):
        placed = anp.asarray(x)
        np.testing.assert_array_equal(ours(placed, 1), expected(x, 1))
        before = len(compiled)
        for i in (2, 3, 4):
            np.testing.assert_array_equal(ours(placed, i), expected(x, i))
        assert len(compiled) == before
    jax.jit(lambda x: x + 1)(x)
    assert len(compiled) > before  # the listener listens


def test_eager_slices_and_fills_keep_dtypes_and_weakness() -> None:
    with ap.use_backend("jax"):
        weak = ap.lax.full((3,), 2.0)
        assert weak.weak_type
        assert weak[1].weak_type
        assert weak[1:].weak_type
        assert anp.full((2,), -1, "int16").tolist() == [-1, -1]
        assert anp.full((2,), 2.7, "int32").tolist() == [2, 2]
        assert anp.zeros(3, bool).at[1].add(True).at[1].add(True).tolist() == [False, True, False]
        assert anp.arange(6)[4:0:-2].tolist() == [4, 2]
        keys = ap.random.split(ap.random.key(0), 3)
        assert bool(keys.at[1].set(keys[2])[1] == keys[2])
