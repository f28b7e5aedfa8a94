"""Kernels of random bits on NumPy and CuPy: the rounds of threefry, in place, block by block."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, prod
from typing import Any

from arrayport.core import dtypes
from arrayport.ops.promotion import common_shape
from arrayport.ops.random import (
    fma_p,
    quick_erf_inv_p,
    random_unwrap_p,
    random_wrap_p,
    threefry2x32_p,
)
from arrayport_backends.ndarray.kernels import Kernel, Lib, Rows
from arrayport_backends.ndarray.mathematics import integers
from arrayport_backends.ndarray.mathematics.logarithms import log1p
from arrayport_backends.ndarray.scalars import Builder, Scalar

WORD = 2**32 - 1
FEW = 4
BLOCK = 1 << 15  # what stays in a core's cache
SPLITTER = float(2**27 + 1)  # parts a float64 into two halves of its digits


def threefry2x32(lib: Lib, *words: Any) -> list[Any]:
    """Hash two counter words under two key words; all broadcast."""
    xp = lib.xp
    shape = common_shape(*[w.shape for w in words])
    size = prod(shape)
    if size > FEW:
        return hashed(_blocks, lib, *words)
    each = [
        [w.item()] * size if w.size == 1 else xp.broadcast_to(w, shape).ravel().tolist()
        for w in words
    ]
    pairs = [_pair(*four) for four in zip(*each, strict=True)]
    return [xp.array([pair[i] for pair in pairs], xp.uint32).reshape(shape) for i in range(2)]


def hashed(mix: Callable[[Lib, Any, Any, Sequence[Any]], None], lib: Lib, *words: Any) -> list[Any]:
    """Hash arrays of words, which `mix` mixes in place."""
    xp = lib.xp
    first, second, high, low = words
    shape = common_shape(*[w.shape for w in words])
    third = first ^ second ^ integers.PARITY
    keys = [xp.broadcast_to(k, shape) if k.ndim else k for k in (first, second, third)]
    outs = xp.empty(shape, xp.uint32), xp.empty(shape, xp.uint32)
    for out, counter, key in zip(outs, (high, low), (first, second), strict=True):
        out[...] = counter
        xp.add(out, key, out=out)
    mix(lib, *outs, keys)
    return list(outs)


def _pair(first: int, second: int, x: int, y: int) -> tuple[int, int]:
    """Hash one pair of words by Python's integers, which is quicker than arrays of so few."""
    keys = (first, second, first ^ second ^ integers.PARITY)
    x, y = x + first, y + second & WORD
    for i in range(5):
        for r in integers.ROTATIONS[i % 2]:
            x = x + y & WORD
            y = (y << r & WORD | y >> 32 - r) ^ x
        x, y = x + keys[(i + 1) % 3], y + keys[(i + 2) % 3] + i + 1 & WORD
    return x & WORD, y


def _blocks(lib: Lib, x: Any, y: Any, keys: Sequence[Any]) -> None:
    """Run the rounds on pieces along the first axes that fit a block."""
    if x.size <= BLOCK:
        rounds(lib, x, y, keys)
        return
    row = x.size // len(x)
    if row > BLOCK:
        for i in range(len(x)):
            _blocks(lib, x[i], y[i], [k[i] if k.ndim else k for k in keys])
        return
    step = BLOCK // row
    for i in range(0, len(x), step):
        part = slice(i, i + step)
        rounds(lib, x[part], y[part], [k[part] if k.ndim else k for k in keys])


def rounds(lib: Lib, x: Any, y: Any, keys: Sequence[Any]) -> None:
    """Mix x and y in place; the first key words are added already."""
    xp = lib.xp
    spare = xp.empty_like(x)
    for i in range(5):
        for r in integers.ROTATIONS[i % 2]:
            xp.add(x, y, out=x)
            xp.left_shift(y, r, out=spare)
            xp.right_shift(y, 32 - r, out=y)
            xp.bitwise_or(y, spare, out=y)
            xp.bitwise_xor(y, x, out=y)
        xp.add(x, keys[(i + 1) % 3], out=x)
        xp.add(y, keys[(i + 2) % 3], out=y)
        xp.add(y, i + 1, out=y)


def fma(lib: Lib, x: Any, y: Any, z: Any) -> Any:
    """Multiply and add with one rounding."""
    xp = lib.xp
    if x.dtype != xp.float64:
        wide = [a.astype(xp.float64) for a in (x, y, z)]
        return (wide[0] * wide[1] + wide[2]).astype(x.dtype)
    product = x * y
    x_high, y_high = (a * SPLITTER - (a * SPLITTER - a) for a in (x, y))
    x_low, y_low = x - x_high, y - y_high
    lost = x_low * y_low - (product - x_high * y_high - x_low * y_high - x_high * y_low)
    total = product + z
    back = total - product
    rest = (product - (total - back)) + (z - back)
    exact = total + (rest + lost)
    return xp.where(xp.isfinite(exact), exact, total)


Part = tuple[float, float, Sequence[float]]

# M. Giles, "Approximating the erfinv function" (2010): erf_inv(x) / x in w = -log(1 - x^2). Each
# part holds from its w on: the polynomial's variable is w, or its root, less a centre.
SINGLE = (
    (
        0.0,
        2.5,
        (
            2.81022636e-08,
            3.43273939e-07,
            -3.5233877e-06,
            -4.39150654e-06,
            0.00021858087,
            -0.00125372503,
            -0.00417768164,
            0.246640727,
            1.50140941,
        ),
    ),
    (
        5.0,
        3.0,
        (
            -0.000200214257,
            0.000100950558,
            0.00134934322,
            -0.00367342844,
            0.00573950773,
            -0.0076224613,
            0.00943887047,
            1.00167406,
            2.83297682,
        ),
    ),
)
DOUBLE = (
    (
        0.0,
        3.125,
        (
            -3.6444120640178196996e-21,
            -1.685059138182016589e-19,
            1.2858480715256400167e-18,
            1.115787767802518096e-17,
            -1.333171662854620906e-16,
            2.0972767875968561637e-17,
            6.6376381343583238325e-15,
            -4.0545662729752068639e-14,
            -8.1519341976054721522e-14,
            2.6335093153082322977e-12,
            -1.2975133253453532498e-11,
            -5.4154120542946279317e-11,
            1.051212273321532285e-09,
            -4.1126339803469836976e-09,
            -2.9070369957882005086e-08,
            4.2347877827932403518e-07,
            -1.3654692000834678645e-06,
            -1.3882523362786468719e-05,
            0.0001867342080340571352,
            -0.00074070253416626697512,
            -0.0060336708714301490533,
            0.24015818242558961693,
            1.6536545626831027356,
        ),
    ),
    (
        6.25,
        3.25,
        (
            2.2137376921775787049e-09,
            9.0756561938885390979e-08,
            -2.7517406297064545428e-07,
            1.8239629214389227755e-08,
            1.5027403968909827627e-06,
            -4.013867526981545969e-06,
            2.9234449089955446044e-06,
            1.2475304481671778723e-05,
            -4.7318229009055733981e-05,
            6.8284851459573175448e-05,
            2.4031110387097893999e-05,
            -0.0003550375203628474796,
            0.00095328937973738049703,
            -0.0016882755560235047313,
            0.0024914420961078508066,
            -0.0037512085075692412107,
            0.005370914553590063617,
            1.0052589676941592334,
            3.0838856104922207635,
        ),
    ),
    (
        16.0,
        5.0,
        (
            -2.7109920616438573243e-11,
            -2.5556418169965252055e-10,
            1.5076572693500548083e-09,
            -3.7894654401267369937e-09,
            7.6157012080783393804e-09,
            -1.4960026627149240478e-08,
            2.9147953450901080826e-08,
            -6.7711997758452339498e-08,
            2.2900482228026654717e-07,
            -9.9298272942317002539e-07,
            4.5260625972231537039e-06,
            -1.9681778105531670567e-05,
            7.5995277030017761139e-05,
            -0.00021503011930044477347,
            -0.00013871931833623122026,
            1.0103004648645343977,
            4.8499064014085844221,
        ),
    ),
)


def quick_erf_inv(lib: Lib, x: Any) -> Any:
    """Invert erf by polynomials; 1 and -1 give inf and -inf."""
    xp = lib.xp
    w = xp.asarray(-xp.log1p(-x * x))
    parts = SINGLE if x.dtype == xp.float32 else DOUBLE
    ratio = xp.asarray(_polynomial(w, *parts[0][1:]))
    for start, centre, coefficients in parts[1:]:
        tail = w >= start
        ratio[tail] = _polynomial(xp.sqrt(w[tail]), centre, coefficients)
    return xp.where(w == xp.inf, xp.inf, ratio) * x


def quick_erf_inv_of_one(b: Builder, x: Scalar) -> Scalar:
    """The same of one element, in the scalar language."""
    w = -log1p(b, -(x * x))
    (_, centre, coefficients), (start, _, _), *_ = _parts(x)
    return b.rare(w >= start, quick_erf_inv_tail, _polynomial(w, centre, coefficients) * x, x)


def quick_erf_inv_tail(b: Builder, x: Scalar) -> Scalar:
    """The same of one element near 1 or -1."""
    w = -log1p(b, -(x * x))
    root = b.sqrt(w)
    ratio = w.like(inf)
    for start, centre, coefficients in _parts(x)[1:]:
        tail = (w >= start) & (w < inf)
        ratio = b.select(tail, _polynomial(root, centre, coefficients), ratio)
    return ratio * x


def _parts(x: Scalar) -> Sequence[Part]:
    return SINGLE if x.dtype == dtypes.float32 else DOUBLE


def _polynomial(w: Any, centre: float, coefficients: Sequence[float]) -> Any:
    w = w - centre
    first, *rest = coefficients
    value = w * first
    for c in rest[:-1]:
        value = (value + c) * w
    return value + rest[-1]


def random_wrap(lib: Lib, words: Any) -> Any:
    """See pairs of words as keys."""
    whole = lib.xp.ascontiguousarray(words)
    return lib.keys(whole.view(dtypes.uint64).reshape(words.shape[:-1]))


def random_unwrap(lib: Lib, bits: Any, consumes: bool) -> Any:  # noqa: ARG001 - JAX reads it
    """See the bits of keys as pairs of words."""
    return lib.xp.ascontiguousarray(bits).view(dtypes.uint32).reshape((*bits.shape, 2))


ROWS: Rows = {
    threefry2x32_p: Kernel(threefry2x32, scalar=integers.threefry2x32, kinds="u", price=18.0),
    random_wrap_p: Kernel(
        random_wrap, view=True, scalar=lambda b, *words: integers.read_as(b, dtypes.key, *words)
    ),
    random_unwrap_p: Kernel(
        random_unwrap,
        view=True,
        scalar=lambda b, *part, consumes: integers.read_as(b, dtypes.uint32, *part),  # noqa: ARG005
    ),
    fma_p: Kernel(fma, scalar=Builder.fma, kinds="f", price=35),
    quick_erf_inv_p: Kernel(quick_erf_inv, scalar=quick_erf_inv_of_one, kinds="f", price=30),
}
