"""Programs that look at what they do: printing, callbacks, donation, errors, profiles."""

from __future__ import annotations

import gzip
import json
import re

import numpy as np
import pytest

import arrayport as jax
import arrayport.numpy as jnp
from arrayport import grad, jit, lax, profiler, vmap

pytestmark = pytest.mark.usefixtures("backend")

X = np.array([0.5, -1.0, 2.0], np.float32)


# ---- 11. looking on


def test_disable_jit_runs_line_by_line():
    seen = []

    def note(x):
        seen.append(float(lax.stop_gradient(x)))  # which raises where x has no value
        return x

    @jit
    def program(x):
        y = 2 * note(x[0]) * x
        total, parts = lax.scan(lambda c, a: (c + note(a), -a), 0.0, y, reverse=True)
        total = lax.cond(total > 0, note, lambda t: -t, total)
        total = lax.while_loop(lambda t: t < 4, lambda t: 2 * note(t), total)
        return lax.fori_loop(0, 2, lambda i, t: t + note(i), total), parts

    with jax.disable_jit():
        total, parts = program(jnp.array(X))
        slope = grad(lambda x: program(x)[0])(jnp.array(X))
    assert float(total) == 7.0
    assert parts.tolist() == [-0.5, 1.0, -2.0]
    assert seen[:8] == [0.5, 2.0, -1.0, 0.5, 1.5, 1.5, 3.0, 0.0]
    # 4 * 2 x0 (x0 + x1 + x2)
    assert slope.tolist() == [16.0, 4.0, 4.0]
    with pytest.raises(jax.errors.ConcretizationTypeError):
        program(jnp.array(X))


def test_debug_print(capsys):
    def program(x):
        y = jnp.sin(x)
        jax.debug.print("y shape: {y.shape} sum: {total:.3f}", y=y, total=y.sum())
        return y.sum()

    line = f"y shape: (3,) sum: {np.sin(X).sum():.3f}"
    for transformed in (program, jit(program), grad(program), jit(grad(program))):
        transformed(jnp.array(X))
        jax.effects_barrier()
        assert capsys.readouterr().out.splitlines() == [line]
    jit(vmap(lambda x: jax.debug.print("y: {y}", y=2 * x)))(jnp.array(X))
    jax.effects_barrier()
    assert sorted(capsys.readouterr().out.split()) == sorted(["y:"] * 3 + ["1.0", "-2.0", "4.0"])


def test_callbacks(run, close):
    seen = []

    def program(x):
        jax.debug.callback(lambda v: seen.append(("debug", v.tolist())), x[:1])
        shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
        y = jax.pure_callback(lambda v: np.cumsum(v).astype(v.dtype), shape, x)
        token = jax.experimental.io_callback(
            lambda v: seen.append(("io", v.tolist())) or np.float32(len(seen)),
            jax.ShapeDtypeStruct((), jnp.float32),
            y[-1],
            ordered=True,
        )
        return y, token >= 1

    y, counted = run(program)(jnp.array(X))
    jax.effects_barrier()
    close(y, np.cumsum(X))
    assert bool(counted)
    assert sorted(seen) == [("debug", [0.5]), ("io", 1.5)]


def test_device_put_and_blocking(backend, close):
    x = jax.device_put(X)
    assert (x.device.backend, x.devices()) == (backend, {x.device})
    again = jax.device_put({"x": x, "one": 1}, jax.devices()[0])
    close(again, {"x": X, "one": 1})
    y = jit(jnp.sin)(x).block_until_ready()
    close(jax.block_until_ready({"y": y}), {"y": np.sin(X)})
    host = jax.device_get({"y": y})
    assert type(host["y"]) is np.ndarray


# ---- 12. donation


def test_donation(close):
    @jax.jit
    def warm(x):
        return x + 1

    step = jit(lambda x, y: x * 2 + y, donate_argnums=(0,))
    x, y = warm(jnp.zeros((64, 1024))), jnp.ones((64, 1024))  # a buffer that only x holds
    for _ in range(3):
        old, x = x, step(x, y)
        assert old.is_deleted()
        with pytest.raises(RuntimeError, match="deleted"):
            old + 1
    assert not y.is_deleted()
    close(x, np.full((64, 1024), 15))  # 1, 3, 7, 15


def test_what_was_donated_is_used_again(backend):
    """However many references are kept, the steps of a loop take turns in few buffers."""
    step = jit(lambda x: x * 2 + 1, donate_argnums=0)
    x, kept, places = jit(lambda: jnp.zeros(200_000))(), [], set()
    for _ in range(40):
        kept.append(x)
        x = step(x)
        if backend == "numpy":
            places.add(x.native.ctypes.data)
        elif backend == "jax":
            places.add(x.native.unsafe_buffer_pointer())
    assert all(old.is_deleted() for old in kept)
    assert len(places) <= 3


# ---- 13. errors


LINE = r"test_working\.py:\d+"


@pytest.mark.parametrize("transform", [jit, grad], ids=["jit", "grad"])
def test_errors_name_the_line_and_what_to_write(transform):
    def branching(x):
        if jnp.sum(x) > 0:
            return x.sum()
        return -x.sum()

    def converting(x):
        return np.asarray(x).sum()

    def counting(x):
        return jnp.zeros(int(x.sum())).sum()

    def masking(x):
        return x[x > 0].sum()

    if transform is jit:
        with pytest.raises(jax.errors.TracerBoolConversionError, match=rf"{LINE}.*lax\.cond"):
            jit(branching)(jnp.array(X))
        with pytest.raises(jax.errors.NonConcreteBooleanIndexError, match=rf"{LINE}.*where"):
            jit(masking)(jnp.array(X))
    else:  # the values are there
        np.testing.assert_array_equal(np.asarray(grad(branching)(jnp.array(X))), [1, 1, 1])
        np.testing.assert_array_equal(np.asarray(grad(masking)(jnp.array(X))), [1, 0, 1])
    with pytest.raises(
        jax.errors.TracerArrayConversionError, match=rf"{LINE}.*(numpy|pure_callback)"
    ):
        transform(converting)(jnp.array(X))
    with pytest.raises(jax.errors.ConcretizationTypeError, match=rf"{LINE}.*static"):
        jit(counting)(jnp.array(X))
    with pytest.raises(jax.errors.ConcretizationTypeError, match=LINE):
        jit(jnp.arange)(3)
    with pytest.raises(jax.errors.ConcretizationTypeError, match=LINE):
        jit(jnp.unique)(jnp.array(X))


# ---- 14. profiles


def test_a_profile(tmp_path, backend):
    @profiler.annotate_function
    def outer(x):
        with profiler.TraceAnnotation("inner part"):
            return jnp.dot(x, x).block_until_ready()

    compiled = jit(lambda x: jnp.tanh(x) @ x)
    compiled(jnp.ones(8))
    with profiler.trace(str(tmp_path)):
        outer(jnp.ones(8))
        with profiler.StepTraceAnnotation("train", step_num=3):
            compiled(jnp.ones(8)).block_until_ready()
    files = list(tmp_path.glob("plugins/profile/*/*.trace.json.gz"))
    assert files
    names = set()
    for file in files:
        with gzip.open(file, "rt", encoding="utf-8") as text:
            events = json.load(text)["traceEvents"]
        names |= {e.get("name") for e in events if e.get("ph") == "X"}
        complete = [e for e in events if e.get("ph") == "X"]
        assert all({"ts", "dur", "pid"} <= e.keys() for e in complete)
    wanted = [r"outer", r"inner part", r"train"]
    wanted += [r"tanh", r"dot|matmul"] if backend != "jax" else [r"dot|tanh|jit|lambda"]
    for pattern in wanted:
        assert any(re.search(pattern, name or "") for name in names), (pattern, sorted(names))
