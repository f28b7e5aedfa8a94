"""scipy.signal's functions: values against SciPy's on every backend, derivatives, messages."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest
import scipy.signal as theirs

import arrayport as ap
import arrayport.numpy as anp
import arrayport.scipy.signal as ours
from tests import samples
from tests.samples import random

pytestmark = pytest.mark.usefixtures("wide")
close = partial(samples.same_type_and_close, narrow=1e-9, wide=1e-9)


SHAPES = [((6,), (3,)), ((3,), (6,)), ((4, 5), (2, 3)), ((4, 4), (4, 4)), ((3, 4, 2), (2, 2, 2))]


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.usefixtures("backend")
def test_convolutions(mode: str, dtype: str) -> None:
    for first, second in SHAPES:
        x, y = random(*first, dtype=dtype), random(*second, dtype=dtype, seed=1)
        a, b = anp.asarray(x), anp.asarray(y)
        for method in ("direct", "fft"):
            close(ours.convolve(a, b, mode, method), theirs.convolve(x, y, mode, method))
            close(ours.correlate(a, b, mode, method), theirs.correlate(x, y, mode, method))
        if len(first) == 2:
            close(ours.convolve2d(a, b, mode), theirs.convolve2d(x, y, mode))
            close(ours.correlate2d(a, b, mode), theirs.correlate2d(x, y, mode))
    x, y = random(3, 5, dtype=dtype), random(3, 2, dtype=dtype)
    found = ours.fftconvolve(anp.asarray(x), anp.asarray(y), mode, axes=1)
    close(found, theirs.fftconvolve(x, y, mode, axes=1))
    if mode != "valid":  # of which neither is the larger
        column, row = x[:, :1], y[:1]
        found = ours.fftconvolve(anp.asarray(column), anp.asarray(row), mode)
        close(found, theirs.fftconvolve(column, row, mode))


SIGNAL, OTHER = random(3, 40), random(3, 40, seed=1)
OPTIONS: dict[str, dict[str, Any]] = {
    "halves": {"nperseg": 16},
    "overlap": {"nperseg": 8, "noverlap": 2},
    "apart": {"nperseg": 8, "noverlap": 0, "window": "boxcar"},
    "longer": {"nperseg": 16, "nfft": 20},
    "odd": {"nperseg": 15, "window": "bartlett"},
    "tuple": {"nperseg": 16, "window": ("kaiser", 4.0)},
    "both sides": {"nperseg": 16, "return_onesided": False},
    "other axis": {"nperseg": 16, "axis": 0},
}


def all_close(found: Any, expected: Any) -> None:
    for a, b in zip(found, expected, strict=True):
        close(a, b)


@pytest.mark.parametrize("name", OPTIONS)
def test_spectra(name: str, backend: str) -> None:
    if backend == "jax" and name != "longer":
        pytest.skip("JAX compiles each operation for each length: one set of lengths is enough")
    options = OPTIONS[name]
    x, y = (s.T.copy() if options.get("axis") == 0 else s for s in (SIGNAL, OTHER))
    a, b = anp.asarray(x), anp.asarray(y)
    for edge in ("even", "odd", None) if name == "halves" else ("zeros",):
        all_close(ours.stft(a, boundary=edge, **options), theirs.stft(x, boundary=edge, **options))
    for average, scaling in product(("mean", "median"), ("density", "spectrum")):
        kind = {"fs": 2.0, "average": average, "scaling": scaling, **options}
        all_close(ours.welch(a, **kind), theirs.welch(x, **kind))
        all_close(ours.csd(a, b, **kind), theirs.csd(x, y, **kind))
    back = {k: v for k, v in options.items() if k in {"nperseg", "noverlap", "nfft", "window"}}
    if options.get("axis") == 0:
        back["freq_axis"] = 0
    spectra = theirs.stft(x, **options)[2]
    one = options.get("return_onesided", True)
    times, signal = ours.istft(anp.asarray(spectra), input_onesided=one, **back)
    close(signal, theirs.istft(spectra, input_onesided=one, **back)[1])
    assert times.shape == signal.shape[-1:]


@pytest.mark.usefixtures("backend")
def test_other_signals() -> None:
    x, z = anp.asarray(SIGNAL), SIGNAL + 1j * OTHER
    all_close(ours.welch(x, window=anp.ones(8)), theirs.welch(SIGNAL, window=np.ones(8)))
    with pytest.warns(UserWarning, match="complex"):
        found = ours.welch(anp.asarray(z), nperseg=8)
    all_close(found, theirs.welch(z, nperseg=8, return_onesided=False))
    with pytest.warns(UserWarning, match="nperseg=40"):
        assert ours.stft(x)[2].shape == (3, 21, 3)
    all_close(ours.csd(x, x[:, :30], nperseg=8), theirs.csd(SIGNAL, SIGNAL[:, :30], nperseg=8))
    assert [part.shape for part in ours.welch(anp.zeros((2, 0)))] == [(2, 0), (2, 0)]
    assert ours.welch(anp.arange(8), nperseg=4)[1].dtype == "float64"
    raw = ours.welch(x, nperseg=8, detrend=lambda part: part - part.mean(-1, keepdims=True))
    all_close(raw, ours.welch(x, nperseg=8))
    all_close(
        ours.welch(x, nperseg=8, detrend=False), theirs.welch(SIGNAL, nperseg=8, detrend=False)
    )


@pytest.mark.usefixtures("backend")
def test_trends() -> None:
    for breaks in (0, [10, 20], 5):
        close(ours.detrend(anp.asarray(SIGNAL), bp=breaks), theirs.detrend(SIGNAL, bp=breaks))
    turned = ours.detrend(anp.asarray(SIGNAL.T), axis=0, type="constant")
    close(turned, theirs.detrend(SIGNAL.T, axis=0, type="constant"))
    close(ours.detrend(anp.asarray(SIGNAL * 1j)), theirs.detrend(SIGNAL * 1j))
    close(ours.detrend(anp.ones(1)), np.zeros(1))


def test_derivatives() -> None:
    jax = pytest.importorskip("jax", reason="JAX is the oracle")
    x, y = SIGNAL[0, :12], OTHER[0, :5]
    with jax.enable_x64(True):
        for f in (
            lambda m, x, y: m.convolve(x, y, "same"),
            lambda m, x, y: m.fftconvolve(x, y),
            lambda m, x, y: m.csd(x, m.detrend(y), nperseg=4)[1].real,
        ):
            value, pull = jax.vjp(lambda x, y, f=f: f(jax.scipy.signal, x, y), x, y)
            ct = random(*value.shape, seed=3)
            mine = ap.vjp(lambda x, y, f=f: f(ours, x, y), anp.asarray(x), anp.asarray(y))
            close(mine[0], value)
            all_close(mine[1](anp.asarray(ct)), pull(jax.numpy.asarray(ct)))


ONE = anp.ones(4)
MISTAKES: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "mode": (lambda: ours.convolve(ONE, ONE, "x"), ValueError, "'same'"),
    "method": (lambda: ours.convolve(ONE, ONE, method="x"), ValueError, "'direct'"),
    "rank": (lambda: ours.convolve(ONE, ONE[None]), ValueError, "same number"),
    "two axes": (lambda: ours.convolve2d(ONE, ONE), ValueError, "2 axes"),
    "empty": (lambda: ours.convolve(ONE, ONE[:0]), ValueError, "needs elements"),
    "mixed": (
        lambda: ours.correlate(anp.ones((2, 3)), anp.ones((3, 2)), "valid"),
        ValueError,
        "as large",
    ),
    "boundary": (
        lambda: ours.correlate2d(ONE[None], ONE[None], boundary="wrap"),
        NotImplementedError,
        "numpy.pad",
    ),
    "axes": (
        lambda: ours.fftconvolve(anp.ones((2, 3)), anp.ones((3, 3)), axes=1),
        ValueError,
        "equal apart",
    ),
    "type": (lambda: ours.detrend(ONE, type="x"), ValueError, "'linear'"),
    "bp": (lambda: ours.detrend(ONE, bp=9), ValueError, "bp=9"),
    "window": (lambda: ours.welch(ONE, window=anp.ones(9)), ValueError, "window"),
    "overlap": (lambda: ours.welch(ONE, nperseg=2, noverlap=2), ValueError, "less than"),
    "nfft": (lambda: ours.welch(ONE, nperseg=4, nfft=2), ValueError, "nfft=2"),
    "nperseg": (lambda: ours.stft(ONE, nperseg=0), ValueError, "positive"),
    "scaling": (lambda: ours.csd(ONE, ONE, scaling="x"), ValueError, "'spectrum'"),
    "average": (lambda: ours.csd(ONE, ONE, average="x"), ValueError, "'median'"),
    "ends": (lambda: ours.stft(ONE, nperseg=2, boundary="x"), ValueError, "boundary"),
    "one axis": (lambda: ours.istft(ONE), ValueError, "two axes"),
    "same axis": (lambda: ours.istft(ONE[None], time_axis=0, freq_axis=0), ValueError, "differ"),
    "missing": (lambda: ours.lfilter, AttributeError, "no attribute"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_messages(mistake: str) -> None:
    call, error, match = MISTAKES[mistake]
    with pytest.raises(error, match=match):
        call()
