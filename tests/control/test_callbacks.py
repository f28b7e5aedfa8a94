"""pure_callback and io_callback: results, effects, and what each transformation makes of them."""

from __future__ import annotations

import numpy as np
import pytest
from arrayport_backends.numpy import compiler

import arrayport as ap
import arrayport.numpy as anp
from arrayport import errors, lax
from arrayport.experimental import io_callback

X = np.array([0.5, -1.0, 2.0], np.float32)


def sine(x):
    return ap.pure_callback(np.sin, x, x, vmap_method="broadcast_all")


@pytest.mark.parametrize("wrap", [lambda f: f, ap.jit], ids=["eager", "jit"])
def test_a_result(wrap, backend):
    out = wrap(sine)(anp.asarray(X))
    np.testing.assert_allclose(np.asarray(out), np.sin(X), rtol=1e-6)
    assert out.dtype == "float32"
    assert out.device.backend == backend

    def both(x, n):
        return ap.pure_callback(
            lambda v, *, k: {"sum": np.sum(v) + k, "cast": np.arange(2)},
            {
                "sum": ap.ShapeDtypeStruct((), "float32"),
                "cast": ap.ShapeDtypeStruct((2,), "int8"),
            },
            x,
            k=n,
        )

    found = wrap(both)(anp.asarray(X), 2)
    assert float(found["sum"]) == pytest.approx(3.5)
    assert found["cast"].dtype == "int8"
    assert wrap(lambda: ap.pure_callback(lambda: None, None))() is None


@pytest.mark.parametrize(
    ("method", "shapes"),
    [
        ("sequential", [((), ())] * 3),
        ("expand_dims", [((3,), (1,))]),
        ("broadcast_all", [((3,), (3,))]),
        ("legacy_vectorized", [((3,), ())]),
    ],
)
@pytest.mark.usefixtures("backend")
def test_methods_of_vmap(method, shapes):
    seen = []

    def add(x, y):
        seen.append((x.shape, y.shape))
        return np.asarray(x) + np.asarray(y)

    def f(x, y):
        return ap.pure_callback(add, x, x, y, vmap_method=method)

    out = ap.vmap(f, in_axes=(0, None))(anp.asarray(X), anp.float32(1))
    np.testing.assert_allclose(np.asarray(out), X + 1)
    assert seen == shapes


@pytest.mark.usefixtures("backend")
def test_vmap_of_vmap():
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    for method in ("sequential", "expand_dims"):

        def f(a, b, method=method):
            return ap.pure_callback(
                lambda v, w: np.asarray(v) * 10 + np.asarray(w), a, a, b, vmap_method=method
            )

        out = ap.vmap(ap.vmap(f), in_axes=(1, 1), out_axes=1)(anp.asarray(x), anp.asarray(x))
        np.testing.assert_allclose(np.asarray(out), x * 11)


def test_a_derivative_by_custom_jvp(backend):
    @ap.custom_jvp
    def f(x):
        return sine(x)

    f.defjvp(lambda primals, tangents: (f(*primals), anp.cos(primals[0]) * tangents[0]))
    np.testing.assert_allclose(
        np.asarray(ap.vmap(ap.grad(f))(anp.asarray(X))), np.cos(X), rtol=1e-6
    )
    with pytest.raises((errors.NotDifferentiableError, ValueError), match="custom_jvp"):
        ap.grad(lambda x: sine(x).sum())(anp.asarray(X))
    del backend


@pytest.mark.parametrize("wrap", [lambda f: f, ap.jit], ids=["eager", "jit"])
@pytest.mark.usefixtures("backend")
def test_effects_happen_once_in_order(wrap):
    seen = []

    def note(name):
        return lambda v: seen.append((name, float(v)))

    @wrap
    def f(x):
        io_callback(note("a"), None, x, ordered=True)
        io_callback(note("a"), None, x, ordered=True)  # the same again is no repetition
        y = ap.jit(lambda x: (io_callback(note("inner"), None, x * 2, ordered=True), x)[1])(x)
        unused = io_callback(lambda v: (note("unused")(v), v)[1], y, y + 1, ordered=True)
        del unused
        io_callback(note("constant"), None, 7.0, ordered=True)
        return x

    expected = [("a", 1), ("a", 1), ("inner", 2), ("unused", 2), ("constant", 7)]
    for _ in range(2):
        f(anp.float32(1))
        ap.effects_barrier()
        assert seen == expected
        seen.clear()


@pytest.mark.usefixtures("backend")
def test_effects_in_loops():
    seen = []

    def count(x):
        def step(c, a):
            io_callback(lambda v: seen.append(int(v)), None, c, ordered=True)
            return c + a, None

        return lax.scan(step, 0, x)[0]

    assert int(ap.jit(count)(anp.arange(4))) == 6
    ap.effects_barrier()
    assert seen == [0, 0, 1, 3]

    seen.clear()
    kept = lax.scan(lambda c, a: (c, io_callback(lambda v: v * 2, a, a)), 0.0, anp.asarray(X))[1]
    np.testing.assert_allclose(np.asarray(kept), X * 2)


@pytest.mark.usefixtures("backend")
def test_io_under_vmap():
    seen = []

    def f(x):
        return io_callback(lambda v: (seen.append(float(v)), v)[1], x, x)

    np.testing.assert_array_equal(np.asarray(ap.vmap(f)(anp.asarray(X))), X)
    ap.effects_barrier()
    assert sorted(seen) == sorted(X)
    with pytest.raises(ValueError, match="vmap"):
        ap.vmap(lambda x: io_callback(lambda v: v, x, x, ordered=True))(anp.asarray(X))


def test_results_keep_what_a_callback_was_given(backend, monkeypatch):
    """A buffer that a callback has seen is not written into afterwards."""
    monkeypatch.setattr(compiler, "COMPILING", 0)  # machine code at once, where it is made
    kept = []

    @ap.jit
    def f(x):
        y = x * 2
        io_callback(kept.append, None, y)
        return y + 1

    x = anp.ones(10_000)
    for _ in range(25):  # past the runs after which a Program becomes source
        f(x)
    ap.effects_barrier()
    assert len(kept) == 25
    assert all(float(np.asarray(v).max()) == 2 for v in kept)
    del backend


def test_errors_say_what_does_not_fit(backend):
    x = anp.asarray(X)
    with pytest.raises(ValueError, match="vmap_method"):
        ap.pure_callback(np.sin, x, x, vmap_method="all")
    with pytest.raises((NotImplementedError, ValueError), match="vmap_method"):
        ap.vmap(lambda x: ap.pure_callback(np.sin, x, x))(x)
    with pytest.raises(TypeError, match="result_shape_dtypes"):
        ap.pure_callback(np.sin, 3, x)
    with pytest.raises(ValueError, match="64-bit"):
        ap.pure_callback(np.sin, np.zeros(3), x)
    with pytest.raises(TypeError, match="function"):
        ap.pure_callback(3, x, x)
    for callback in (lambda v: v[:2], lambda v: (v, v)):
        with pytest.raises(errors.JaxRuntimeError, match=r"shape|structure"):
            ap.pure_callback(callback, x, x).block_until_ready()
    if backend != "jax":  # which gives the text alone
        with pytest.raises(errors.JaxRuntimeError, match=r"test_callbacks.py:\d+") as caught:
            ap.jit(lambda v: io_callback(lambda _: 1 / 0, None, v))(x)
        assert type(caught.value.__cause__) is ZeroDivisionError
