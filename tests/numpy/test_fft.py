"""numpy.fft's functions: values against NumPy's on every backend, derivatives, messages."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp
from arrayport import lax
from tests.samples import random

F = anp.fft


COMPLEX, REAL = random(3, 4, 5, dtype="complex64"), random(3, 4, 5, dtype="float32")
NORMS = (None, "backward", "ortho", "forward")


def operand(name: str) -> Any:
    return REAL if name.startswith(("rfft", "ihfft")) else COMPLEX


def close(found: Any, expected: Any) -> None:
    assert found.shape == expected.shape
    assert (found.dtype.kind == "c") == np.iscomplexobj(expected)
    assert found.dtype.name in {"complex64", "float32"}
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
@pytest.mark.usefixtures("backend")
def test_one_axis(name: str, norm: str | None) -> None:
    x = operand(name)
    for n, axis in ((None, -1), (3, 0), (7, 1), (1, 2)):
        expected = getattr(np.fft, name)(x, n, axis, norm)
        close(getattr(F, name)(anp.asarray(x), n, axis=axis, norm=norm), expected)


@pytest.mark.parametrize("norm", ["ortho", "forward"])
@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "fft2", "ifft2", "rfft2"])
@pytest.mark.usefixtures("backend")
def test_several_axes(name: str, norm: str) -> None:
    x = operand(name)
    for s, axes in ((None, (2, 0)), ((2, 6), (0, 1)), ((4, 3), (-1, -2))):
        expected = getattr(np.fft, name)(x, s, axes, norm)
        close(getattr(F, name)(anp.asarray(x), s, axes, norm), expected)


@pytest.mark.usefixtures("backend")
def test_inverses_of_several_axes() -> None:
    x = REAL[0]
    close(F.irfftn(F.rfftn(anp.asarray(x)), x.shape), x)
    close(F.irfft2(F.rfft2(anp.asarray(REAL)), x.shape), REAL)
    five = random(2, 1, 2, 3, 2, dtype="float32")
    close(F.rfftn(anp.asarray(five)), np.fft.rfftn(five))
    close(F.irfftn(F.rfftn(anp.asarray(five)), five.shape), five)
    # Without axes the extents are those of the last ones.
    close(F.fftn(anp.asarray(REAL), s=(3, 2)), np.fft.fftn(REAL, s=(3, 2), axes=(1, 2)))


@pytest.mark.usefixtures("backend")
def test_nothing_to_transform() -> None:
    assert F.fft(anp.zeros((0, 4))).shape == (0, 4)
    with pytest.raises(ValueError, match=r"rfft: the last axis of shape \(2, 0\)"):
        F.rfft(anp.zeros((2, 0)))
    assert F.irfft(anp.zeros((2, 0))).shape == F.irfft(anp.zeros((2, 1))).shape == (2, 0)
    close(F.fftn(anp.asarray(COMPLEX), axes=()), COMPLEX)
    assert complex(F.fftn(anp.asarray(2.0))) == 2
    x = anp.asarray(COMPLEX)
    assert ap.grad(lambda x: abs(F.ifft(x, 1) ** 2).sum())(x).shape == x.shape


@pytest.mark.usefixtures("backend")
def test_shifts_and_frequencies() -> None:
    for axes in (None, 1, (0, -1)):
        for name in ("fftshift", "ifftshift"):
            expected = getattr(np.fft, name)(REAL, axes)
            np.testing.assert_array_equal(np.asarray(getattr(F, name)(REAL, axes)), expected)
    for n in (1, 4, 5):
        close(F.fftfreq(n, 0.5), np.fft.fftfreq(n, 0.5).astype("float32"))
        close(F.rfftfreq(n, d=anp.asarray(2.0)), np.fft.rfftfreq(n, 2.0).astype("float32"))
    assert F.fftfreq(4, dtype="float16").dtype == F.rfftfreq(4, dtype="float16").dtype == "float16"


@pytest.mark.parametrize("dtype", ["bool", "int8", "float16", "bfloat16", "float64"])
def test_dtypes(dtype: str) -> None:
    x = anp.asarray([1, 0, 1]).astype(dtype)
    assert F.fft(x).dtype == "complex64"
    with ap.config.override("enable_x64", True):
        wide = F.fft(anp.asarray(np.ones(3)))
        assert wide.dtype == "complex128"
        assert F.irfft(wide).dtype == "float64"
    if dtype in {"float16", "bfloat16"}:
        with pytest.raises(ValueError, match="float32 or float64"):
            F.rfft(x)


def test_derivatives_are_jaxs() -> None:
    jax = pytest.importorskip("jax", reason="JAX is the oracle")
    x = {"c": random(2, 3, 3, dtype="complex64"), "f": random(2, 3, 4, dtype="float32")}
    lengths = (3, 4)
    for kind, own in ((0, "c"), (1, "c"), (2, "f"), (3, "c")):
        size = lengths if kind > 1 else (3, 3)
        mine, its = lax.FftType(kind), jax.lax.FftType(kind)
        ours, pull = ap.vjp(partial(lax.fft, fft_type=mine, fft_lengths=size), anp.asarray(x[own]))
        theirs, push = jax.vjp(partial(jax.lax.fft, fft_type=its, fft_lengths=size), x[own])
        ct = random(*ours.shape, dtype=ours.dtype.name, seed=1)
        close(ours, np.asarray(theirs))
        close(pull(anp.asarray(ct))[0], np.asarray(push(jax.numpy.asarray(ct))[0]))
        along = ap.vmap(partial(lax.fft, fft_type=mine, fft_lengths=size[-1:]), 1, 1)
        expected = jax.lax.fft(x[own], its, size[-1:])
        close(along(anp.asarray(x[own])), np.asarray(expected))


MISTAKES: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "norm": (lambda: F.fft(anp.ones(3), norm="x"), ValueError, "'ortho'"),
    "n": (lambda: F.fft(anp.ones(3), 0), ValueError, "must be positive"),
    "axis": (lambda: F.fft(anp.ones(3), axis=(0,)), ValueError, "fftn"),
    "axes of two": (lambda: F.fft2(anp.ones((3, 3)), axes=(0,)), ValueError, "use fftn"),
    "twice": (lambda: F.fftn(anp.ones((3, 3)), axes=(0, -2)), ValueError, "twice"),
    "s": (lambda: F.fftn(anp.ones((3, 3)), (2,), (0, 1)), ValueError, "same number"),
    "long s": (lambda: F.fftn(anp.ones(3), (2, 2)), ValueError, "more axes"),
    "complex": (lambda: F.rfft(anp.ones(3) + 1j), ValueError, "real"),
    "list": (lambda: F.fft([1, 2]), TypeError, "asarray"),
    "samples": (lambda: F.fftfreq([3]), TypeError, "integer"),
    "kind": (lambda: lax.fft(anp.ones(3), "dct", (3,)), ValueError, "fft_type"),
    "no kind": (lambda: lax.fft(anp.ones(3), 0, (3,)), TypeError, "FftType"),
    "lengths": (lambda: lax.fft(anp.ones(3), "IRFFT", (6,)), ValueError, "extents"),
    "many": (lambda: lax.fft(anp.ones(3), "FFT", (3, 3)), ValueError, "extents"),
    "missing": (lambda: F.fftx, AttributeError, "no attribute"),
}


@pytest.mark.parametrize("name", ["fft", "ifft", "fft2"])
def test_real_numbers_are_not_made_complex_first(name: str) -> None:
    x = anp.asarray(np.arange(12, dtype=np.float32).reshape(3, 4))
    (eqn,) = ap.jit(getattr(anp.fft, name)).trace(x).program.eqns
    assert [a.dtype for a in (*eqn.ins, *eqn.outs)] == [np.float32, np.complex64]


@pytest.mark.parametrize("mistake", MISTAKES)
def test_messages(mistake: str) -> None:
    call, error, match = MISTAKES[mistake]
    with pytest.raises(error, match=match):
        call()
