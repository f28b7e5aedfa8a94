"""Each kind of bad input gets an error that says what is wrong and what to write."""

from __future__ import annotations

import math

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp
from arrayport import errors

FILE = "test_messages.py"


@pytest.fixture
def x(backend):  # noqa: ARG001 - made on the backend
    return anp.array([1.0, 2.0, 3.0])


def test_mixing_backends_names_both_and_says_device_put(x, backend):
    other = "cupy-sim" if backend != "cupy-sim" else "numpy"
    with ap.use_backend(other):
        y = anp.array([1.0, 2.0, 3.0])
    with pytest.raises(errors.BackendMismatchError, match="device_put") as caught:
        x + y
    assert backend in str(caught.value)
    assert other in str(caught.value)


def test_shapes_that_do_not_broadcast(x):
    with pytest.raises(ValueError, match=r"\(3,\).*\(2,\)"):
        x + anp.ones(2)
    with pytest.raises((TypeError, ValueError), match=r"3.*2"):
        x @ anp.ones(2)
    with pytest.raises((TypeError, ValueError), match="reshape"):
        x.reshape(2)


def test_lax_does_not_promote(x):
    with pytest.raises(TypeError, match=r"float32.*int32"):
        ap.lax.add(x, anp.ones(3, int))


def test_dtypes_that_are_none(x):
    with pytest.raises(TypeError, match="object"):
        x.astype(object)
    with pytest.raises(TypeError, match="operand of sin must be an array or a number"):
        anp.sin("three")
    with pytest.raises(TypeError, match=r"list|asarray"):
        anp.sin([1.0, 2.0])


def test_a_value_to_differentiate_that_is_several(x):  # the second words are JAX's own
    with pytest.raises(TypeError, match=r"a tuple: .*has_aux=True|scalar-output"):
        ap.value_and_grad(lambda v: (v.sum(), v))(x)
    with pytest.raises(TypeError, match=r"a dict: .*has_aux=True|scalar-output"):
        ap.grad(lambda v: {"loss": v.sum()})(x)


def test_an_array_made_of_a_list():
    with pytest.raises(TypeError, match=r"list is no backend's array: .*arrayport\.numpy\.asarray"):
        repr(ap.Array([1.0]))


@pytest.mark.parametrize("traced", [False, True])
def test_a_python_index_out_of_range(x, traced):
    f = ap.jit(lambda v: v[3]) if traced else lambda v: v[3]
    with pytest.raises(IndexError, match=r"3.*size 3"):
        f(x)
    with pytest.raises(IndexError, match=r"-4.*size 3"):
        x.at[-4].set(0)


@pytest.mark.usefixtures("backend")
def test_a_literal_that_does_not_fit():
    small = anp.array([1, 2], "int8")
    with pytest.raises(OverflowError, match=r"300.*int8"):
        small + 300
    with pytest.raises(OverflowError, match=r"300.*int8"):
        small.at[0].set(300)
    with pytest.raises(OverflowError, match="int32"):
        anp.asarray(2**40)
    np.testing.assert_array_equal(np.asarray(small < 300), [True, True])


def test_python_if_on_a_traced_value(x):
    def f(v):
        return v if v.sum() > 0 else -v

    with pytest.raises(errors.TracerBoolConversionError, match=r"lax\.cond") as caught:
        ap.jit(f)(x)
    assert FILE in str(caught.value)


def test_a_traced_value_as_index_array_or_number(x):
    with pytest.raises(errors.TracerIntegerConversionError, match="static") as caught:
        ap.jit(lambda i: [1, 2, 3][i])(1)
    assert FILE in str(caught.value)
    with pytest.raises(errors.TracerArrayConversionError, match=r"arrayport\.numpy|pure_callback"):
        ap.jit(np.asarray)(x)
    out = np.zeros(3)
    with pytest.raises(errors.TracerArrayConversionError, match=r"out = out\.at\[i\]\.set"):
        ap.jit(lambda v: out.__setitem__(slice(2), v[:2]))(x)
    with pytest.raises(ValueError, match="sequence") as numpys:
        ap.jit(lambda v: out.__setitem__(0, v[0]))(x)
    assert "out = out.at[i].set(x)" in str(numpys.value.__cause__)
    with pytest.raises(errors.ConcretizationTypeError, match="static"):
        ap.jit(lambda v: float(v[0]))(x)
    with pytest.raises(errors.NonConcreteBooleanIndexError, match="where"):
        ap.jit(lambda v: v[v > 1.0])(x)


def test_an_escaped_tracer(x):
    kept = []
    ap.jit(lambda v: kept.append(v) or v)(x)
    with pytest.raises(errors.UnexpectedTracerError, match="return"):
        kept[0] + 1.0


def test_assignment_in_place(x):
    with pytest.raises(TypeError, match=r"\.at\[0\]\.set"):
        x[0] = 5.0
    with pytest.raises(TypeError, match="cannot change"):
        del x[0]
    before = x
    y = x
    y += 1.0
    np.testing.assert_array_equal(np.asarray(before), [1, 2, 3])
    np.testing.assert_array_equal(np.asarray(y), [2, 3, 4])
    with pytest.raises(ValueError, match="read-only"):
        np.asarray(x)[0] = 7.0


def test_an_unhashable_static_argument(x):
    f = ap.jit(lambda v, options: v * len(options), static_argnums=(1,))
    with pytest.raises(ValueError, match=r"hash"):
        f(x, [1, 2])
    assert np.asarray(f(x, (1, 2)))[0] == 2.0


def test_a_backend_that_is_not_there():
    with pytest.raises(errors.BackendNotFoundError, match="numpy"), ap.use_backend("nunpy"):
        pass


def test_a_carry_that_changes(x):
    with pytest.raises(TypeError, match=r"(?s)carry.*"):
        ap.lax.scan(lambda c, a: ((c, c), a), 0.0, x)
    with pytest.raises(TypeError, match=r"(?s)carry.*"):
        ap.lax.scan(lambda c, a: (anp.stack([c, c]), a), x[0], x)
    with pytest.raises(TypeError):
        ap.lax.while_loop(lambda c: c.sum() < 3, lambda c: anp.concatenate([c, c]), x)
    with pytest.raises(TypeError, match="bool"):
        ap.lax.while_loop(lambda c: c, lambda c: c + 1.0, x)
    with pytest.raises((TypeError, ValueError), match=r"length|sizes"):
        ap.lax.scan(lambda c, a: (c, a), 0.0, (x, x[:2]))


def test_branches_that_differ(x):
    def f(v):
        return ap.lax.cond(v[0] > 0, lambda u: u, lambda u: (u, u), v)

    with pytest.raises(TypeError, match=r"(?s)true_fun.*"):
        ap.jit(f)(x)
    with pytest.raises(TypeError, match="scalar"):
        ap.lax.cond(x > 0, lambda u: u, lambda u: u, x)


def test_a_cotangent_that_does_not_match(x):
    _, pull = ap.vjp(lambda v: {"a": v * 2}, x)
    with pytest.raises((TypeError, ValueError), match=r"(?i)struct|tree"):
        pull([x])
    with pytest.raises((TypeError, ValueError), match="shape"):
        pull({"a": x[:2]})
    with pytest.raises((TypeError, ValueError), match=r"(?i)tangent"):
        ap.jvp(lambda v: v, (x,), (x[:2],))


def test_axes_that_do_not_fit(x):
    with pytest.raises(ValueError, match="in_axes"):
        ap.vmap(lambda v, u: v + u, in_axes=(0,))(x, x)
    with pytest.raises(ValueError, match=r"axis|axes"):
        ap.vmap(lambda v: v, in_axes=1)(x)
    with pytest.raises(ValueError, match=r"3.*2|2.*3"):
        ap.vmap(lambda v, u: v + u)(x, x[:2])
    with pytest.raises(ValueError, match=r"(?i)none|mapped"):
        ap.vmap(lambda v: v, in_axes=(None,))(x)


def test_gradients_of_what_has_none(x):
    with pytest.raises(TypeError, match=r"(?i)int32"):
        ap.grad(lambda n: n * 2.0)(3)
    with pytest.raises(TypeError, match=r"(?i)scalar"):
        ap.grad(lambda v: v * 2.0)(x)
    with pytest.raises(TypeError, match=r"(?i)float|real|int"):
        ap.grad(anp.argmax)(x)
    with pytest.raises((TypeError, ValueError), match=r"scan|[Ff]orward"):
        ap.grad(lambda v: ap.lax.while_loop(lambda c: c < 10, lambda c: c * 2, v))(1.0)


@pytest.mark.parametrize("use", [float, complex, math.sin])
def test_a_number_that_would_lose_its_derivative(use, x):
    def f(v):
        return abs(use(v[0])) * v[1]

    with pytest.raises(errors.ConcretizationTypeError, match=r"derivative|no value") as caught:
        ap.grad(f)(x)
    assert FILE in str(caught.value)
    with pytest.raises(errors.ConcretizationTypeError):
        ap.jvp(f, (x,), (x,))
    with pytest.raises(errors.ConcretizationTypeError):
        ap.grad(lambda v: v * use(v))(2.0)
    free = ap.grad(lambda v: abs(use(ap.lax.stop_gradient(v[0]))) * v[1])(x)
    np.testing.assert_allclose(np.asarray(free), [0, abs(use(1.0)), 0], rtol=1e-6)
    # Whole numbers carry no derivative, and JAX lets them through too.
    assert float(ap.grad(lambda v: int(v) * v)(2.5)) == 2.0


def test_comparison_with_what_is_no_array(x):
    assert (x == None) is False  # noqa: E711 - the comparison under test
    assert x != "a"
    assert "auto" not in ["b", x]


@pytest.mark.usefixtures("backend")
def test_sizes_that_differ_and_shapes_as_two_arguments():
    with pytest.raises(TypeError, match=r"cannot reshape.*\(6,\).*\(4, 2\)"):
        anp.arange(6).reshape(4, 2)
    with pytest.raises(TypeError, match=r"a shape is one argument, such as \(2, 3\)"):
        anp.zeros(2, 3)


def test_a_format_of_many_numbers(x):
    assert f"{x[1]:.2f}" == "2.00"
    with pytest.raises(TypeError, match="tolist"):
        f"{x:.2f}"


def test_a_jitted_argument_that_is_no_array(backend):
    if backend != "jax":  # JAX says it in its own words
        with pytest.raises(TypeError, match="static_argnums"):
            ap.jit(lambda s: s)("a")
