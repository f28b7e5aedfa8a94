"""The native engine's transformations against JAX's own on plain JAX arrays, option by option."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from arrayport_backends.jax import backend

import arrayport as ap
import arrayport.numpy as anp

native = backend.native
X = np.array([0.3, -0.7, 1.1, 0.4], np.float32)
M = np.arange(12.0, dtype=np.float32).reshape(3, 4) / 10


def ours(x: Any) -> ap.Array:
    return ap.Array(jnp.array(x))


def same(found: Any, wanted: Any, rtol: float = 1e-5) -> None:
    found, wanted = (jax.tree.flatten(jax.tree.map(np.asarray, t)) for t in (found, wanted))
    for f, w in zip(found[0], wanted[0], strict=True):
        assert f.dtype == w.dtype
        np.testing.assert_allclose(f, w, rtol=rtol, atol=1e-6)


def f(m: Any, x: Any, y: Any) -> Any:
    """Compute something of two arrays by a module with NumPy's names."""
    return m.sin(x) * y + m.sum(x * y)


def pair(g: Any) -> tuple[Any, Any]:
    """Make the same function for arrayport and for JAX."""
    return (lambda *a: g(anp, *a)), (lambda *a: g(jnp, *a))


# ---- gradients and jacobians


@pytest.mark.parametrize("argnums", [0, -1, (1, 0), (1,)])
@pytest.mark.parametrize("has_aux", [False, True])
@pytest.mark.parametrize("name", ["grad", "value_and_grad", "jacfwd", "jacrev", "hessian"])
def test_derivatives(name: str, argnums: Any, has_aux: bool) -> None:
    def g(m: Any, x: Any, tree: Any) -> Any:
        out = f(m, x, tree["y"])
        out = m.sum(out) if "grad" in name else {"first": out[:2], "all": m.sum(out)}
        return (out, (x, tree)) if has_aux else out

    own, plain = pair(g)
    options = {"argnums": argnums, "has_aux": has_aux}
    found = getattr(native, name)(own, **options)(ours(X), {"y": ours(X + 1)})
    wanted = getattr(jax, name)(plain, **options)(X, {"y": X + 1})
    same(found, wanted)
    assert jax.tree.structure(found, is_leaf=lambda x: type(x) is ap.Array) == (
        jax.tree.structure(wanted)
    )


def test_complex_and_integer_derivatives() -> None:
    z = np.array([0.3 + 0.4j], np.complex64)
    own, plain = pair(lambda m, x: m.sum(m.sin(x) * x))
    same(native.grad(own, holomorphic=True)(ours(z)), jax.grad(plain, holomorphic=True)(z))
    found = native.grad(lambda x, n: (x * n).sum(), (0, 1), allow_int=True)(ours(X), np.arange(4))
    assert found[1].dtype == jax.dtypes.float0
    same(found[0], np.arange(4, dtype=np.float32))


def test_jacobians_nest() -> None:
    own, plain = pair(lambda m, x: m.sin(x) * x[0])
    for outer in ("jacfwd", "jacrev"):
        for inner in ("jacfwd", "jacrev"):
            found = getattr(native, outer)(getattr(native, inner)(own))(ours(X))
            assert type(found) is ap.Array
            same(found, getattr(jax, outer)(getattr(jax, inner)(plain))(X))


# ---- products with the jacobian


def test_jvp_vjp_and_linearize_with_auxiliary_values() -> None:
    own, plain = pair(lambda m, x, y: (f(m, x, y), {"x": x}))
    a, b, t = ours(X), ours(X * 2), ours(M[1])
    same(
        native.jvp(own, (a, b), (t, a), has_aux=True),
        jax.jvp(plain, (X, X * 2), (M[1], X), has_aux=True),
    )
    value, pull, aux = native.vjp(own, a, b, has_aux=True)
    wanted, plain_pull, plain_aux = jax.vjp(plain, X, X * 2, has_aux=True)
    same((value, pull(t), aux), (wanted, plain_pull(jnp.array(M[1])), plain_aux))
    value, push, aux = native.linearize(own, a, b, has_aux=True)
    same((value, push(t, a)), jax.jvp(lambda *v: plain(*v)[0], (X, X * 2), (M[1], X)))
    same(aux, plain_aux)


def test_linear_maps_pass_through_compiled_functions() -> None:
    pull = native.jit(lambda x: native.vjp(lambda v: v * x, x)[1])(ours(X))
    same(pull(ours(M[0]))[0], M[0] * X)


def test_linear_transpose_of_a_type() -> None:
    spec = jax.ShapeDtypeStruct((4,), np.float32)
    transposed = native.linear_transpose(lambda x: x * 3.0, spec)
    same(transposed(ours(X))[0], 3 * X)


# ---- vmap


def test_axes_in_and_out() -> None:
    own, plain = pair(lambda m, tree, s: {"sum": m.sum(tree["a"]), "x": (tree["b"] * s, s)})
    axes = {"in_axes": ({"a": 0, "b": None}, None), "out_axes": {"sum": 0, "x": (None, None)}}
    tree = {"a": M, "b": X}
    given = {"a": ours(M), "b": X}
    same(native.vmap(own, **axes)(given, 2.0), jax.vmap(plain, **axes)(tree, 2.0))
    out = native.vmap(lambda a, k: anp.cumsum(a) * k, 1, 1)(ours(M), k=X)
    same(out, np.cumsum(M, axis=0) * X)


def test_named_axes_reach_jax() -> None:
    out = native.vmap(lambda x: x - jax.lax.pmean(x, "i"), axis_name="i")(jnp.array(X))
    same(out, X - X.mean())
    assert native.vmap(lambda: anp.ones(2), axis_size=3)().shape == (3, 2)


def test_vmap_of_derivatives() -> None:
    own, plain = pair(lambda m, x: m.sum(m.tanh(x) ** 2))
    found = native.jit(native.vmap(native.hessian(own)))(ours(M))
    same(found, jax.vmap(jax.hessian(plain))(M))


# ---- jit


def test_static_arguments_by_number_and_name() -> None:
    seen = []

    def scaled(x: Any, n: int, *, label: str = "") -> Any:
        seen.append((type(n), label))
        return x * n

    jitted = native.jit(scaled, static_argnums=1, static_argnames="label")
    same(jitted(ours(X), 3, label="a"), X * 3)
    same(jitted(ours(X), n=3, label="a"), X * 3)
    same(jitted(X, 3, label="a"), X * 3)
    assert seen == [(int, "a")] * 2  # n is a key by its place or by its name
    assert jitted._cache_size() >= 2
    jitted.clear_cache()
    assert jitted._cache_size() == 0


def test_a_static_function_and_a_negative_number() -> None:
    jitted = native.jit(lambda x, act: act(x), static_argnums=-1)
    same(jitted(ours(X), anp.sin), np.sin(X))


def test_donated_arrays_are_deleted() -> None:
    x = ours(X)
    native.jit(lambda a: a * 2.0, donate_argnums=0)(x)
    with pytest.raises(RuntimeError, match="deleted"):
        np.asarray(x)


def test_ahead_of_time() -> None:
    jitted = native.jit(lambda tree, y: {"z": tree["x"] * y})
    specs = {"x": jax.ShapeDtypeStruct((4,), np.float32)}, jax.ShapeDtypeStruct((), np.float32)
    for lowered in (
        jitted.lower(*specs),
        jitted.trace(*specs).lower(),
        jitted.lower({"x": X}, 2.0),
    ):
        assert "mul" in lowered.as_text()
        compiled = lowered.compile()
        out = compiled({"x": ours(X)}, np.float32(2))
        assert type(out["z"]) is ap.Array
        same(out["z"], 2 * X)
    assert jitted.eval_shape(*specs)["z"].shape == (4,)


def test_placement_reaches_jax() -> None:
    device = jax.devices()[0]
    sharding = jax.sharding.SingleDeviceSharding(device)
    jitted = native.jit(lambda x: {"y": x * 2}, in_shardings=sharding, out_shardings=sharding)
    same(jitted(ours(X))["y"], 2 * X)


# ---- looked at


def test_types_of_results() -> None:
    found = native.eval_shape(lambda x, y: {"a": x @ y, "b": 2.0}, ours(M), {"y": X}["y"])
    assert {k: (v.shape, v.dtype) for k, v in found.items()} == {
        "a": ((3,), np.float32),
        "b": ((), np.float32),
    }


def test_programs_are_those_of_jax() -> None:
    text = str(native.make_jaxpr(lambda x: anp.sin(x) * 2.0)(ours(X)))
    assert text == str(jax.make_jaxpr(lambda x: jnp.sin(x) * 2.0)(X))
    _, shape = native.make_jaxpr(lambda x, n: {"y": x * n}, static_argnums=1, return_shape=True)(
        X, 3
    )
    assert shape["y"].shape == (4,)


def test_programs_name_the_lines_of_the_user() -> None:
    made = native.make_jaxpr(lambda x: anp.tanh(x).sum())(ours(X))
    shown = made.pretty_print(source_info=True)
    assert "test_transforms.py" in shown
    assert "arrayport/" not in shown


def test_checkpoint_recomputes() -> None:
    own, plain = pair(lambda m, x: m.sum(m.sin(m.sin(x))))
    for policy in (None, jax.checkpoint_policies.everything_saveable):
        saved = native.checkpoint(own, policy=policy)
        same(native.grad(saved)(ours(X)), jax.grad(plain)(X))
    counts = str(jax.make_jaxpr(jax.grad(lambda x: native.checkpoint(own)(ap.Array(x)).raw))(X))
    assert counts.count("sin") > str(jax.make_jaxpr(jax.grad(plain))(X)).count("sin")


# ---- rules of the user's


def test_a_forward_rule() -> None:
    def g(m: Any, x: Any, y: Any) -> Any:
        return m.sin(x) * y

    def call(x: Any, y: Any) -> Any:
        def rule(scale: Any, primals: Any, tangents: Any) -> Any:
            (x, y), (tx, ty) = primals, tangents
            return m_sin(x) * y, (tx * y + ty) * scale

        m_sin = anp.sin
        fun = lambda scale, x, y: g(anp, x, y)  # noqa: ARG005 - a rule's function
        return native.custom_jvp_call(fun, rule, (0,), False, (7.0, x, y))

    a, b = ours(X), ours(X + 1)
    same(call(a, b), np.sin(X) * (X + 1))
    for transform in (lambda h: h, native.jit):
        found = transform(native.grad(lambda x, y: call(x, y).sum(), (0, 1)))(a, b)
        same(found, (7 * (X + 1), 7 * np.ones_like(X)))
    same(native.vmap(native.grad(call, 1))(a, b), 7 * np.ones_like(X))


def test_a_reverse_rule() -> None:
    def fwd(x: Any, n: int, tree: Any) -> Any:
        return x * n * tree["y"], (x, jnp.asarray(3.0), n, None)

    def bwd(n: int, residuals: Any, ct: Any) -> Any:
        x, raw, number, nothing = residuals
        assert type(x) is type(ct) is ap.Array
        assert isinstance(raw, jax.Array)
        assert nothing is None
        assert number == n == 2
        return ct * raw, {"y": (ct * 5.0).raw}

    def call(x: Any, tree: Any) -> Any:
        fun = lambda x, n, tree: x * n * tree["y"]
        return native.custom_vjp_call(fun, fwd, bwd, (1,), (x, 2, tree))

    a, tree = ours(X), {"y": ours(X + 1)}
    same(call(a, tree), X * 2 * (X + 1))
    for transform in (lambda h: h, native.jit):
        found = transform(native.grad(lambda *v: call(*v).sum(), (0, 1)))(a, tree)
        assert type(found[1]["y"]) is ap.Array
        same(found, (3 * np.ones_like(X), {"y": 5 * np.ones_like(X)}))
    same(native.vmap(native.grad(call))(a, tree), 3 * np.ones_like(X))
