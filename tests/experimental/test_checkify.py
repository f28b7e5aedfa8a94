"""checkify: what is found, where, under which transformations, and what is said of it."""

from __future__ import annotations

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp
from arrayport import errors, lax
from arrayport.control.checkify import MOVES
from arrayport.core.primitive import REGISTRY
from arrayport.experimental import checkify

FILE = "test_checkify.py"
X = np.array([1.0, 0.0, -1.0], np.float32)


def positive(x):
    checkify.check(anp.all(x > 0), "{x} must be more than {}", anp.float32(0), x=x)
    return x * 2


def summed(f):
    return lambda x: anp.sum(f(x))


# name: function, argument, checks, what the message has to say
CASES = {
    "log": (anp.log, -1.0, "nan", "primitive: log"),
    "sin of infinity": (ap.jit(anp.sin), np.inf, "nan", "primitive: sin"),
    "a nan that comes in": (lambda x: x + 1, np.nan, "nan", "primitive: add"),
    "a nan that is moved": (lambda x: x[None].T, np.nan, "nan", None),
    "division": (lambda x: 1 / x, X, "div", "division by zero"),
    "gradient": (ap.grad(anp.sqrt), 0.0, "div", "division by zero"),
    "index": (lambda x: x[anp.array([0, 7])], X, "index", r"\(3,\).*index 7.*axis 0 with size 3"),
    "index beyond": (lambda x: x.at[anp.array(5)].add(1.0), X, "index", "index 5.*axis 0"),
    "slice": (lambda x: lax.dynamic_slice(x, (2,), (2,)), X, "index", "index 2.*axis 0"),
    "a histogram reads within": (lambda x: anp.histogram(x, 4)[0], X, "index", None),
    "a search reads within": (
        lambda x: anp.searchsorted(anp.sort(x), x, side="right"),
        X,
        "index",
        None,
    ),
    "a value that nobody uses": (lambda x: (anp.log(x), x)[1], -1.0, "nan", "primitive: log"),
    "a value that a gradient leaves behind": (ap.grad(anp.log), -1.0, "nan", "primitive: log"),
    "check": (positive, -1.0, "user", r"-1\.0 must be more than 0\.0 \(`check` failed\)"),
    "check that holds": (positive, 1.0, "user", None),
    "check under vmap": (ap.vmap(positive), X, "user", "-1.0 must be more"),
    "jit": (ap.jit(positive), -1.0, "user", "-1.0 must be more"),
    "gradient of a check": (ap.grad(positive), -1.0, "user", "-1.0 must be more"),
    "gradient of jit": (ap.grad(ap.jit(positive)), -1.0, "user", "-1.0 must be more"),
    "checkpoint": (ap.grad(ap.checkpoint(positive)), -1.0, "user", "-1.0 must be more"),
    "jvp": (lambda x: ap.jvp(positive, (x,), (x,)), -1.0, "user", "-1.0 must be more"),
    "scan": (
        lambda x: lax.scan(lambda c, a: (c + positive(a), a), x[0], x),
        X,
        "user",
        "0.0 must be more than 0.0",  # the first of two
    ),
    "gradient of scan": (
        ap.grad(lambda x: lax.scan(lambda c, a: (c + positive(a), a), x[0], x)[0]),
        X,
        "user",
        "0.0 must be more",
    ),
    "branch taken": (lambda x: lax.cond(x > 0, lambda v: v, positive, x), -1.0, "user", "-1.0"),
    "branch not taken": (lambda x: lax.cond(x < 0, lambda v: v, positive, x), -1.0, "user", None),
    "while body": (
        lambda x: lax.while_loop(lambda v: v < 10, lambda v: anp.log(v - 5), x),
        2.0,
        "nan",
        "primitive: log",
    ),
    "while condition": (
        lambda x: lax.while_loop(lambda v: 1 / (v - 3) < 0, lambda v: v + 1, x),
        1.0,
        "div",
        "division by zero",
    ),
    "while that is right": (
        lambda x: lax.while_loop(lambda v: v < 3, lambda v: positive(v) + 1, x),
        1.0,
        "user",
        None,
    ),
    "only what is asked for": (positive, -1.0, "nan", None),
    "all": (lambda x: positive(1 / x), 0.0, "all", "division by zero"),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("outer", [lambda f: f, ap.jit], ids=["eager", "jit"])
def test_what_is_found(name, outer, backend):
    if backend == "jax" and outer is not ap.jit:
        pytest.skip("JAX's own, which is compiled for each case: once is enough")
    if (backend, name) == ("jax", "gradient of scan"):
        pytest.skip("JAX loses the checks of a scan that it differentiates")
    f, x, kind, said = CASES[name]
    checked = outer(checkify.checkify(f, errors=getattr(checkify, f"{kind}_checks")))
    err, _ = checked(anp.asarray(x, "float32"))
    if said is None:
        assert err.get() is None
        err.throw()
    else:
        with pytest.raises(ValueError, match=said) as caught:
            err.throw()
        assert str(caught.value) == err.get()
        assert FILE in err.get() or backend == "jax"  # it does not always know


@pytest.mark.usefixtures("backend")
def test_the_line_is_the_operations_own():
    def f(x):
        y = x * 2
        return anp.log(y) + 1

    err, _ = checkify.checkify(ap.jit(f), errors=checkify.nan_checks)(anp.float32(-1))
    line = f.__code__.co_firstlineno + 2
    assert f"{FILE}:{line} (in f)" in err.get()


@pytest.mark.usefixtures("backend")
def test_results_are_as_without():
    def f(x):
        return {"a": anp.log(x), "b": (x > 0, None)}

    err, out = checkify.checkify(f, errors=checkify.all_checks)(anp.asarray(X))
    assert err.get() is not None
    assert set(out) == {"a", "b"}
    np.testing.assert_array_equal(np.asarray(out["b"][0]), X > 0)
    np.testing.assert_array_equal(np.asarray(out["a"]), np.array([0, -np.inf, np.nan], "f4"))


@pytest.mark.usefixtures("backend")
def test_an_error_an_example():
    err, out = ap.vmap(checkify.checkify(positive))(anp.asarray(X))
    first, second = err.get().splitlines()
    assert first.startswith("at mapped index 1: 0.0 must be more than 0.0")
    assert second.startswith("at mapped index 2: -1.0 must be more")
    np.testing.assert_array_equal(np.asarray(out), X * 2)
    with pytest.raises(ValueError, match=r"-1\.0 must be more"):
        err.throw()
    assert ap.vmap(checkify.checkify(positive))(anp.ones(3))[0].get() is None


@pytest.mark.usefixtures("backend")
def test_gradients_through_checkify():
    def loss(x):
        err, y = checkify.checkify(positive, errors=checkify.all_checks)(x)
        return y * x, err

    slope, err = ap.grad(loss, has_aux=True)(anp.float32(-3.0))
    assert float(slope) == -12.0
    assert "-3.0 must be more" in err.get()


@pytest.mark.usefixtures("backend")
def test_errors_are_pytrees_that_can_be_thrown_again():
    def inner(x):
        err, y = checkify.checkify(positive)(x)
        checkify.check_error(err)
        return y

    with pytest.raises(ValueError, match=r"-1\.0 must be more"):
        inner(anp.float32(-1))
    assert float(inner(anp.float32(1))) == 2.0
    err, _ = ap.jit(checkify.checkify(inner))(anp.float32(-1))
    assert "-1.0 must be more" in err.get()
    assert ap.jit(lambda e: e)(err).get() == err.get()
    assert checkify.init_error.get() is None
    checkify.check_error(checkify.init_error)


def test_custom_rules_stay_and_their_functions_are_looked_at(backend):
    @ap.custom_jvp
    def f(x):
        return anp.log(x)

    f.defjvp(lambda xs, ts: (f(*xs), ts[0] * 5.0))
    err, slope = checkify.checkify(ap.grad(f), errors=checkify.nan_checks)(anp.float32(2))
    assert (err.get(), float(slope)) == (None, 5.0)
    err, _ = checkify.checkify(f, errors=checkify.nan_checks)(anp.float32(-1))
    assert "log" in err.get()
    assert backend


@pytest.mark.usefixtures("backend")
def test_checks_outside_of_checkify():
    with pytest.raises(errors.JaxRuntimeError, match=r"-1\.0 must be more"):
        positive(anp.float32(-1))
    with pytest.raises(ValueError, match=r"-1\.0 must be more"):
        ap.grad(positive)(anp.float32(-1))
    with pytest.raises(ValueError, match=r"-1\.0 must be more"):
        ap.vmap(positive)(anp.asarray(X))
    for trace in (ap.jit, lambda f: lambda x: lax.scan(lambda c, _: (f(c), c), x, None, 2)):
        with pytest.raises(ValueError, match="checkify"):
            trace(positive)(anp.float32(1))

    def quiet(x):
        checkify.debug_check(x > 0, "{} is not positive", x)
        return x

    assert float(ap.jit(quiet)(anp.float32(-1))) == -1
    assert float(quiet(anp.float32(-1))) == -1
    err, _ = checkify.checkify(quiet)(anp.float32(-1))
    assert err.get().startswith("-1.0 is not positive (`check` failed)")


def doubled(x):
    positive(x)
    return x * 2


def counted(x):
    def below(n):
        checkify.check(n < 3, "{} is beyond", n)
        return n < 6

    return lax.while_loop(below, lambda n: n + 1, x)


by_jvp, by_vjp = ap.custom_jvp(doubled), ap.custom_vjp(doubled)
by_jvp.defjvp(lambda xs, ts: (xs[0] * 2, ts[0] * 2))
by_vjp.defvjp(lambda x: (x * 2, None), lambda _, g: (g * 2,))


@pytest.mark.parametrize(
    ("f", "x", "message", "out"),
    [
        (by_jvp, np.float32(-1), "-1.0 must be more", -2),
        (by_vjp, np.float32(-1), "-1.0 must be more", -2),
        (counted, np.int32(0), "3 is beyond", 6),
        (counted, np.int32(10), "10 is beyond", 10),
    ],
)
@pytest.mark.usefixtures("backend")
def test_checks_in_what_runs_twice_are_values(f, x, message, out):
    for g in (checkify.checkify(f), ap.jit(checkify.checkify(f))):
        err, found = g(anp.asarray(x))
        assert err.get().startswith(message)
        assert float(found) == out
    err, found = checkify.checkify(f, errors=checkify.nan_checks)(anp.asarray(x))
    assert (err.get(), float(found)) == (None, out)


def test_what_passes_nans_on_are_primitives():
    assert REGISTRY.keys() >= MOVES


@pytest.mark.usefixtures("backend")
def test_arguments_that_do_not_fit():
    with pytest.raises(TypeError, match="pred"):
        checkify.check(3, "a")
    with pytest.raises(TypeError, match="pred"):
        checkify.check(anp.ones(2) > 0, "a")
    with pytest.raises(TypeError, match="arrays"):
        checkify.check(anp.array(True), "a {}", 3)
    with pytest.raises(TypeError, match="Error"):
        checkify.check_error("a")
    checkify.check(True, "a")
    with pytest.raises(ValueError, match=r"^a "):
        checkify.check(False, "a")
    assert checkify.all_checks == checkify.automatic_checks | checkify.user_checks
    assert checkify.automatic_checks == checkify.float_checks | checkify.index_checks
    assert checkify.float_checks == checkify.nan_checks | checkify.div_checks


@pytest.mark.usefixtures("backend")
def test_a_python_index_raises_at_once():
    for f in (lambda x: x[7], lambda x: x.at[7].set(1.0)):
        with pytest.raises(IndexError, match="7"):
            checkify.checkify(f, errors=checkify.index_checks)(anp.asarray(X))


@pytest.mark.usefixtures("backend")
def test_nothing_to_look_at():
    err, out = checkify.checkify(lambda: 3, errors=checkify.all_checks)()
    assert (err.get(), int(out)) == (None, 3)
    x = anp.asarray(X)
    err, _ = checkify.checkify(lambda x: x[anp.zeros(0, "int32")], errors=checkify.all_checks)(x)
    assert err.get() is None
    err, _ = checkify.checkify(anp.sqrt, errors=checkify.all_checks)(anp.zeros((0, 3)))
    assert err.get() is None
