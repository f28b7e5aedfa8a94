"""The tools around programs: faults found, retraces explained, stages, scopes, questions."""

from __future__ import annotations

import logging
import operator
import pickle
import sys
from importlib.util import find_spec

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp
from arrayport import errors, lax
from arrayport.core.array import Aval
from arrayport.core.primitive import REGISTRY, Primitive

FILE = "test_tools.py"


@pytest.fixture
def x(backend):  # noqa: ARG001 - made on the backend
    return anp.array([1.0, -1.0, 4.0])


# ---- NaNs and infinities


@pytest.mark.parametrize(
    "wrap",
    [
        lambda f: f,
        ap.jit,
        lambda f: ap.grad(lambda v: f(v).sum()),
        lambda f: ap.grad(ap.jit(lambda v: f(v).sum())),
        ap.vmap,
        lambda f: lambda v: lax.scan(lambda c, a: (c, f(a)), 0.0, v),
    ],
    ids=["eager", "jit", "grad", "grad jit", "vmap", "scan"],
)
@pytest.mark.usefixtures("backend")
def test_debug_nans_names_the_operation(wrap, x, request):
    def f(v):
        return anp.sqrt(v) * 2.0

    with ap.debug_nans(True), pytest.raises(FloatingPointError) as caught:
        ap.block_until_ready(wrap(f)(x))
    message = str(caught.value)
    assert "nan" in message.lower()
    if "scan" not in request.node.name:
        assert "sqrt" in message
    assert message.count(FILE) == 1
    assert np.isnan(np.asarray(f(x))).any()  # and off again


@pytest.mark.usefixtures("backend")
def test_debug_nans_of_a_function_that_was_compiled_before(x):
    f = ap.jit(lambda v: anp.log(v) + 1.0)
    for _ in range(3):
        f(x)
    with ap.debug_nans(True), pytest.raises(FloatingPointError, match="log"):
        f(x)
    assert np.isfinite(np.asarray(f(x))[0])


@pytest.mark.usefixtures("backend")
def test_debug_infs(x):
    with ap.debug_infs(True):
        np.testing.assert_allclose(np.asarray(x + 1), [2, 0, 5])
        with pytest.raises(FloatingPointError, match=r"(?i)inf"):
            x / anp.zeros(3)
    assert np.isinf(np.asarray(x / anp.zeros(3))).all()


def test_debug_nans_by_the_configuration(x):
    ap.config.update("jax_debug_nans", True)
    try:
        with pytest.raises(FloatingPointError):
            anp.log(x)
    finally:
        ap.config.update("jax_debug_nans", False)
    anp.log(x)


# ---- promotion


def test_strict_dtypes(x):
    with ap.numpy_dtype_promotion("strict"):
        np.testing.assert_allclose(np.asarray(x * 2 + 1.5), [3.5, -0.5, 9.5])
        with pytest.raises(ValueError, match=r"int32.*strict|strict.*int32|promot"):
            x + anp.arange(3)
        with pytest.raises(errors.TypePromotionError):
            anp.arange(3) * 1.5
    assert (x + anp.arange(3)).dtype == "float32"
    with pytest.raises(ValueError, match="strict"):
        ap.config.update("numpy_dtype_promotion", "lax")


def test_rank_promotion(x):
    with ap.numpy_rank_promotion("raise"):
        np.testing.assert_allclose(np.asarray(x[None] + anp.ones((2, 1)) * 2.0)[1], [3, 1, 6])
        with pytest.raises(ValueError, match="rank"):
            x + anp.ones((2, 3))
    with ap.numpy_rank_promotion("warn"), pytest.warns(UserWarning, match="rank"):
        x + anp.ones((2, 3))
    assert (x + anp.ones((2, 3))).shape == (2, 3)


# ---- traced values that are left over

LEAKING = {
    "grad": ap.grad,
    "vmap": ap.vmap,
    "jit": ap.jit,
    "jacfwd": ap.jacfwd,
    "scan": lambda f: lambda v: lax.scan(lambda c, a: (c + f(a), None), 0.0, v),
}


@pytest.mark.parametrize("name", LEAKING)
def test_leaks_are_found_and_told(name, x, backend):
    if (backend, name) == ("jax", "grad") and sys.modules["jax"].__version_info__ < (0, 12):
        pytest.skip("JAX 0.10 does not look at what grad leaves over")
    kept = []

    def leaky(v):
        kept.append(v * 2.0)
        return v.sum()

    f = LEAKING[name](leaky)
    with ap.checking_leaks(), pytest.raises(Exception, match=r"(?i)leak|left") as caught:
        f(x)
    if backend != "jax":
        assert isinstance(caught.value, errors.UnexpectedTracerError)
        assert f"mul at {FILE}" in str(caught.value)
    kept.clear()
    with ap.checking_leaks():
        LEAKING[name](lambda v: (v * 2.0).sum())(x)


@pytest.mark.parametrize("name", LEAKING)
def test_a_leaked_value_cannot_be_used(name, x):
    kept = []
    LEAKING[name](lambda v: (kept.append(v * 2.0), v.sum())[1])(x)
    with pytest.raises(errors.UnexpectedTracerError, match="return"):
        kept[-1] + 1.0


# ---- why a function was traced again


def test_explain_says_what_differs(x):
    @ap.jit
    def f(v, scale=1.0, *, options=None):  # noqa: ARG001 - only its type matters
        return v * scale

    f(x)
    f(x)
    f(x[:2])
    f(anp.arange(3))
    f(x, 2)
    f(x, options={"a": x})
    text = f.explain()
    assert text.startswith("f was traced 5 times")
    assert "v has another shape: float32[2] now, float32[3] then" in text
    assert "v has another dtype: int32[3] now" in text
    assert "scale has another dtype: int32[]* now" in text or "scale was not there" in text
    assert "options['a'] was not there" in text
    assert FILE in text


def test_explain_static_arguments_and_weak_types(x):
    f = ap.jit(lambda v, n: v * n, static_argnums=1)
    f(x, 2)
    f(x, 3)
    assert "n has another static value: 3 now, 2 then" in f.explain()
    g = ap.jit(lambda v: v * 2)
    g(1.0)
    g(anp.float32(1.0))
    assert "v has another weak type" in g.explain()


def test_logs(x, caplog, backend):
    f = ap.jit(lambda v: v + 1)
    with caplog.at_level(logging.WARNING, "arrayport.jit"):
        with ap.log_compiles(True):
            for _ in range(30):
                f(x)
        with ap.explain_cache_misses(True):
            f(x[:2])
    ours = [r.getMessage() for r in caplog.records if r.name == "arrayport.jit"]
    assert sum("traced <lambda>" in m and "v: float32[3]" in m for m in ours) == 1
    if backend == "cupy-sim":  # NumPy's programs wait until machine code pays
        assert sum("compiled 1 equations in" in m for m in ours) == 1
    assert any("v has another shape" in m for m in ours)


def test_clear_caches(x):
    traced = []
    f = ap.jit(lambda v: traced.append(1) or v)
    f(x)
    f(x)
    ap.clear_caches()
    f(x)
    assert len(traced) == 2


# ---- stages


def test_stages(x, backend):
    f = ap.jit(lambda v, n, *, k: {"out": v @ v * n + k}, static_argnums=1)
    traced = f.trace(x, 3, k=1.0)
    lowered = traced.lower()
    compiled = lowered.compile()
    assert "mul" in lowered.as_text()
    assert traced.fun_name == "<lambda>"
    assert traced.out_info["out"].shape == ()
    assert lowered.args_info[0][0].shape == (3,)
    assert isinstance(compiled.as_text(), str)
    assert compiled.cost_analysis()["flops"] >= 6.0
    assert compiled.memory_analysis().argument_size_in_bytes == 16
    found = compiled(x, k=1.0)["out"]
    assert float(found) == pytest.approx(3 * 18.0 + 1)
    with pytest.raises(TypeError):
        compiled(x[:2], k=1.0)
    if backend != "jax":
        assert isinstance(traced, ap.stages.Traced)
        assert isinstance(compiled, ap.stages.Compiled)
        assert str(traced.jaxpr) == lowered.as_text()
    assert isinstance(f, ap.stages.Wrapped)


def test_costs_count_loops(backend):
    if backend == "jax":
        pytest.skip("XLA counts in its own way")

    def f(a):
        return lax.scan(lambda c, _: (c @ a, None), a, None, length=5)[0]

    cost = ap.jit(f).lower(ap.ShapeDtypeStruct((4, 4), "float32")).cost_analysis()
    assert cost["flops"] == 5 * 2 * 4**3


def test_donation_deletes(x):
    f = ap.jit(lambda a, b: a + b, donate_argnums=0)
    for _ in range(3):  # the later calls go a quicker way
        y = anp.ones(3)
        np.testing.assert_allclose(np.asarray(f(y, x)), [2, 0, 5])
        assert y.is_deleted()
        assert not x.is_deleted()
        with pytest.raises(RuntimeError, match="deleted"):
            y + 1
        with pytest.raises((RuntimeError, ValueError), match="deleted"):  # JAX 0.10's is this
            f(y, x)


@pytest.mark.parametrize("donated", [{"donate_argnums": -2}, {"donate_argnames": "a"}], ids=str)
def test_what_is_donated_may_be_named(donated):
    with ap.use_backend("numpy"):
        f, x = ap.jit(lambda a, b: a + b, **donated), anp.ones(3)
        for _ in range(3):
            y, z = anp.ones(3), anp.ones(3)
            assert f(y, x).tolist() == f(a=z, b=x).tolist() == [2, 2, 2]
            assert [a.is_deleted() for a in (y, z, x)] == [True, True, False]


# ---- contexts and questions


def test_types(x):
    assert str(ap.typeof(x)) == "float32[3]"
    seen = []
    ap.jit(lambda v: seen.append((ap.typeof(v).shape, ap.typeof(v).dtype)) or v)(x)
    assert seen == [((3,), np.dtype("float32"))]
    assert ap.typeof(3).weak_type


def test_computing_while_tracing(x):
    @ap.jit
    def f(v):
        with ap.ensure_compile_time_eval():
            n = int(anp.arange(4).sum())
        return v * n

    np.testing.assert_allclose(np.asarray(f(x)), [6, -6, 24])


def test_default_device(backend):
    device = ap.devices(backend)[0] if backend != "jax" else ap.devices("jax")[0]
    with ap.use_backend("numpy"), ap.default_device(device):
        assert anp.arange(3).device == device
        assert ap.jit(lambda: anp.ones(2))().device == device
    with ap.default_device(None):
        assert anp.arange(3).device.backend == backend


def test_live_arrays(x):
    big = anp.zeros(12_345) + x[0]
    assert any(a is big for a in ap.live_arrays())
    assert any(a is big for a in ap.live_arrays(big.device.platform))
    big.delete()
    assert not any(a is big for a in ap.live_arrays())
    leaked = []
    ap.jit(lambda v: leaked.append(v) or v)(x)  # one that stands for a traced value
    assert not any(a is leaked[0] for a in ap.live_arrays())


def test_scopes_change_nothing(x):
    @ap.named_call
    def twice(v):
        with ap.named_scope("inner"):
            return v * 2

    np.testing.assert_allclose(np.asarray(ap.jit(ap.grad(lambda v: twice(v).sum()))(x)), [2] * 3)


def test_one_process(capsys):
    assert (ap.process_count(), ap.process_index(), ap.process_indices()) == (1, 0, [0])
    ap.print_environment_info()
    printed = capsys.readouterr().out
    assert sys.version in printed
    for name in ("jax", "cupy", "scipy"):
        assert (f"{name}: " in printed) == (find_spec(name) is not None)


def test_options_refuse_what_they_are_not():
    with pytest.raises(ValueError, match="disallow"):
        ap.config.update("jax_transfer_guard_host_to_device", "never")
    with pytest.raises(TypeError, match="switch"):
        ap.config.update("debug_nans", 1)
    with ap.transfer_guard("log"), ap.default_matmul_precision("highest"):
        assert ap.config.transfer_guard_device_to_host == "log"
        assert ap.config.jax_default_matmul_precision == "highest"
    assert ap.config.default_matmul_precision is None


def test_transfer_guards(backend, caplog):
    if backend == "jax":
        pytest.skip("JAX guards its own transfers")
    host = np.ones(3, np.float32)
    x = anp.asarray(host)
    moves = backend != "numpy"  # where the host is the device nothing does

    def refused(call):
        if not moves:
            call()
            return
        with pytest.raises(RuntimeError, match=r"float32\[3\].*device_put"):
            call()

    with ap.transfer_guard("disallow"):
        refused(lambda: x + host)
        refused(lambda: np.asarray(x))
        np.testing.assert_array_equal(ap.device_get(x + 1), [2, 2, 2])
        assert ap.device_put(host).device == x.device
        assert ap.device_put(x, "numpy").device.backend == "numpy"
    with ap.transfer_guard_host_to_device("disallow_explicit"):
        refused(lambda: ap.device_put(host))
        np.asarray(x)
    with ap.transfer_guard("log"), caplog.at_level(logging.WARNING, "arrayport.transfers"):
        np.asarray(x + host)
    assert len(caplog.messages) == (2 if moves else 0)


WAYS = {
    "float": float,
    "int": int,
    "bool": bool,
    "complex": complex,
    "index": operator.index,
    "pickle": pickle.dumps,
    "asarray": np.asarray,
    "repr": repr,
    "item": lambda v: v.item(),
    "tolist": lambda v: v.tolist(),
}


@pytest.mark.parametrize("way", WAYS)
def test_no_way_leads_past_the_guard(way, backend):
    if backend == "jax":
        pytest.skip("JAX guards its own transfers")
    x, use = anp.array(1), WAYS[way]
    with ap.transfer_guard_device_to_host("disallow"):
        if backend == "numpy":
            use(x)
        else:
            with pytest.raises(RuntimeError, match=r"transfer_guard.*device to host"):
                use(x)
    use(x)


# ---- options


def test_compiled_functions_follow_options(x, backend):
    f = ap.jit(lambda a, b: a + b)
    counts = anp.arange(3)
    for _ in range(3):
        f(x, counts)
    with ap.numpy_dtype_promotion("strict"), pytest.raises(Exception, match=r"(?i)promot"):
        f(x, counts)
    np.testing.assert_allclose(np.asarray(f(x, counts)), [1, 0, 6])
    with ap.numpy_rank_promotion("raise"), pytest.raises(ValueError, match="rank"):
        f(x, x[None])
    f(x, x[None])
    with ap.numpy_rank_promotion("raise"), pytest.raises(ValueError, match="rank"):
        f(x, x[None])
    assert backend


@pytest.mark.usefixtures("backend")
def test_no_tracing(x):
    f = ap.jit(lambda v: v * 2)
    f(x)
    with ap.no_tracing(True):
        np.testing.assert_allclose(np.asarray(f(x)), [2, -2, 8])
        with pytest.raises(RuntimeError, match="no_tracing"):
            f(x[:2])


def test_no_execution(x, backend):
    f = ap.jit(lambda v: v * 2)
    f(x)
    with ap.no_execution(True):
        assert ap.eval_shape(f, x).shape == (3,)
        for run in (lambda: f(x), lambda: x + x):
            with pytest.raises(RuntimeError, match="no_execution"):
                run()
    np.testing.assert_allclose(np.asarray(f(x)), [2, -2, 8])
    assert backend


def test_enable_checks(x, backend):
    with ap.enable_checks(True):
        np.testing.assert_allclose(np.asarray(ap.jit(lambda v: v * 2)(x)), [2, -2, 8])
    if backend == "jax":
        return
    lying = Primitive(
        "lying", lambda v: Aval(v.shape, v.dtype), lambda *_: None, not_differentiable="it lies"
    )
    counts = iter(range(9))
    lying.abstract = lambda v: Aval((next(counts),), v.dtype)
    try:
        ap.make_jaxpr(lying.bind)(x)
        with ap.enable_checks(True), pytest.raises(errors.JaxprTypeError, match="lying states"):
            ap.make_jaxpr(lying.bind)(x)
    finally:
        REGISTRY.pop("lying")


def test_random_options(backend):
    assert ap.config.jax_default_prng_impl == "threefry2x32"
    for name, value in (("default_prng_impl", "rbg"), ("threefry_partitionable", False)):
        with pytest.raises(ValueError, match=r"threefry2x32|True"):
            ap.config.update(name, value)
    raw = ap.random.PRNGKey(0)
    with ap.legacy_prng_key("error"), pytest.raises(ValueError, match=rf"{FILE}.*random\.key"):
        ap.random.normal(raw)
    with ap.legacy_prng_key("warn"), pytest.warns(UserWarning, match="raw key"):
        ap.random.normal(raw)
    if backend != "cupy-sim":  # which has no typed keys
        with ap.enable_custom_prng(True):
            assert ap.random.PRNGKey(0).dtype == ap.random.key(0).dtype
    assert ap.copy_to_host_async({"a": raw})["a"] is raw


@pytest.mark.parametrize(
    "loop",
    [
        lambda f: lambda v: lax.scan(lambda c, a: (c, f(a)), 0.0, v),
        lambda f: (
            lambda v: lax.while_loop(lambda c: c[0] < 1, lambda c: (c[0] + 1, f(c[1])), (0, v))
        ),
        lambda f: lambda v: lax.cond(v[0] > 0, f, lambda w: w, v),
        lambda f: ap.vmap(ap.jit(f)),
        ap.checkpoint,
        lambda f: ap.grad(lambda v: lax.scan(lambda c, a: (c + f(a), a), 0.0, v)[0]),
    ],
    ids=["scan", "while", "cond", "vmap", "checkpoint", "grad scan"],
)
def test_debug_nans_names_the_line_within_what_is_compiled(loop, x, backend):
    if backend == "jax":
        pytest.skip("JAX names no line")

    def f(v):
        w = v * 2
        return anp.sqrt(w)

    line = f.__code__.co_firstlineno + 2
    for compiled in (loop(f), ap.jit(loop(f))):
        with ap.debug_nans(True), pytest.raises(FloatingPointError) as caught:
            compiled(x)
        assert f"sqrt at {FILE}:{line} (in f)" in str(caught.value)


def test_debug_infs_names_the_line_whose_derivative_it_is(x, backend):
    if backend == "jax":
        pytest.skip("JAX names no line")

    def f(v):
        w = anp.sqrt(v)
        return w.sum()

    line = f.__code__.co_firstlineno + 1
    for slope in (ap.grad(f), ap.jit(ap.grad(f)), ap.grad(ap.jit(f))):
        with ap.debug_infs(True), pytest.raises(FloatingPointError) as caught:
            slope(x * 0)
        assert f"div at {FILE}:{line} (in f)" in str(caught.value)
