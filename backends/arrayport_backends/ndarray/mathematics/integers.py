"""Division, remainders, powers and shifts of integers without any fault; and of floats, exactly."""

from __future__ import annotations

from math import inf

from arrayport.core import dtypes
from arrayport_backends.ndarray.mathematics.formats import FORMATS
from arrayport_backends.ndarray.scalars import Builder, DType, Scalar, bits_of, unsigned

# ---- division


def _safe(b: Builder, x: Scalar, y: Scalar) -> Scalar:
    """Give y, but 1 where division by it would fault."""
    safe = b.select(y == 0, 1, y)
    if x.kind == "i":  # the least integer over -1 is itself, as it is over 1
        least = -(2 ** (8 * x.dtype.itemsize - 1))
        safe = b.select((y == -1) & (x == least), 1, safe)
    return safe


def _divided(b: Builder, x: Scalar, y: Scalar) -> Scalar:
    """The quotient of integers towards zero; short ones by way of floats, which vectorise."""
    if x.dtype.itemsize == 8:
        return b.operate("div", x.dtype, x, y)
    wide = dtypes.float64 if x.dtype.itemsize == 4 else dtypes.float32
    return b.convert(b.convert(x, wide) / b.convert(y, wide), x.dtype)


def _counted(b: Builder, *xs: Scalar) -> list[Scalar]:
    """Take booleans as integers."""
    return [b.convert(x, dtypes.default_int()) if x.kind == "b" else x for x in xs]


def quotient(b: Builder, x: Scalar, y: Scalar) -> Scalar:
    """Divide towards zero; by 0 all bits are set, as XLA has it."""
    return b.select(y == 0, ~x.like(0), _divided(b, x, _safe(b, x, y)))


def floor_divide(b: Builder, x: Scalar, y: Scalar) -> Scalar:
    """Divide and round down; integers by 0 give 0, floats with an infinity their quotient."""
    x, y = _counted(b, x, y)
    if x.kind == "f":
        return _floored(b, x, y)
    safe = _safe(b, x, y)
    q = _divided(b, x, safe)
    if x.kind == "i":
        left = x - q * safe
        q = b.select((left != 0) & ((left ^ safe) < 0), q - 1, q)
    return b.select(y == 0, 0, q)


def _floored(b: Builder, x: Scalar, y: Scalar) -> Scalar:
    whole = x / y
    left = _signed(b, _quick_fmod(b, x, y, whole), y)
    exact = (x - left) / y
    floor = b.floor(exact)
    floor = b.select(exact - floor > 0.5, floor + 1.0, floor)
    floor = b.select(exact == 0, b.copysign(exact.like(0), whole), floor)
    # What is as large as this has no fraction.
    usual = (b.abs(whole) < 2.0 ** FORMATS[x.dtype].mantissa) & (b.abs(y) < inf)
    return b.select(usual, floor, whole)


# ---- remainders


def rem(b: Builder, x: Scalar, y: Scalar) -> Scalar:
    """What division towards zero leaves, with the sign of x; integers by 0 give x."""
    if x.kind == "f":
        return _fmod(b, x, y)
    safe = _safe(b, x, y)
    return b.select(y == 0, x, x - _divided(b, x, safe) * safe)


def remainder(b: Builder, x: Scalar, y: Scalar) -> Scalar:
    """What `floor_divide` leaves, with the sign of y; integers by 0 give 0."""
    x, y = _counted(b, x, y)
    if x.kind == "f":
        return _signed(b, _fmod(b, x, y), y)
    safe = _safe(b, x, y)
    left = x - _divided(b, x, safe) * safe
    if x.kind == "i":
        left = b.select((left != 0) & ((left ^ safe) < 0), left + safe, left)
    return b.select(y == 0, 0, left)


def _signed(b: Builder, left: Scalar, y: Scalar) -> Scalar:
    """Move a remainder to the side of 0 where y is."""
    other = b.select((left < 0) == (y < 0), left, left + y)
    return b.select(left == 0, b.copysign(left, y), other)


def _quick_fmod(b: Builder, x: Scalar, y: Scalar, whole: Scalar) -> Scalar:
    """The exact remainder of floats, if their quotient `whole` is below 2**mantissa."""
    size = b.abs(y)
    left = b.fma(-b.trunc(b.abs(whole)), size, b.abs(x))
    left = b.select(left < 0, left + size, left)  # the quotient was rounded up
    return b.copysign(b.select(b.abs(x) < size, b.abs(x), left), x)


def _fmod(b: Builder, x: Scalar, y: Scalar) -> Scalar:
    """The exact remainder of floats, with the sign of x."""
    whole = x / y
    large = b.abs(whole) >= 2.0 ** FORMATS[x.dtype].mantissa
    return b.rare(large, distant_fmod, _quick_fmod(b, x, y, whole), x, y)


def distant_fmod(b: Builder, x: Scalar, y: Scalar) -> Scalar:
    """The remainder where the quotient has more digits than a float."""
    return b.remainder(x, y)


# ---- powers


def power(b: Builder, x: Scalar, y: Scalar) -> Scalar:
    """X to the power y modulo 2**bits; a negative y gives 0, or 1 and -1 for these two."""
    x, y = _counted(b, x, y)
    few = _raised(b, x, y, 6)
    if x.kind == "i":
        odd = (y & 1) != 0
        unit = b.select(x == 1, x, b.select(x == -1, b.select(odd, x, -x), 0))
        few = b.select(y < 0, unit, few)
    return b.rare(y >= 64, far_power, few, x, y)


def far_power(b: Builder, x: Scalar, y: Scalar) -> Scalar:
    """A power whose exponent is large."""
    return _raised(b, x, y, 8 * x.dtype.itemsize - (x.kind == "i"))


def _raised(b: Builder, x: Scalar, y: Scalar, bits: int) -> Scalar:
    """X to a power of at most `bits` bits, by repeated squaring."""
    out = x.like(1)
    for i in range(bits):
        out = b.select((y & (1 << i)) != 0, out * x, out)
        x = x * x
    return out


# ---- bits


def shift_left(b: Builder, x: Scalar, y: Scalar) -> Scalar:
    """Shift; past the width 0 is left."""
    width = 8 * x.dtype.itemsize
    inside = b.bitcast(y, unsigned(y.dtype)) < width
    return b.select(inside, x << b.select(inside, y, 0), 0)


def shift_right_arithmetic(b: Builder, x: Scalar, y: Scalar) -> Scalar:
    """Shift, filling in the highest bit; past the width 0 or -1 is left."""
    width = 8 * x.dtype.itemsize
    inside = b.bitcast(y, unsigned(y.dtype)) < width
    code, count = (b.bitcast(v, bits_of(v.dtype)) for v in (x, y))
    return b.bitcast(code >> b.select(inside, count, width - 1), x.dtype)


def shift_right_logical(b: Builder, x: Scalar, y: Scalar) -> Scalar:
    """Shift, filling in zeros."""
    width = 8 * x.dtype.itemsize
    code, count = (b.bitcast(v, unsigned(v.dtype)) for v in (x, y))
    inside = count < width
    return b.bitcast(b.select(inside, code >> b.select(inside, count, 0), 0), x.dtype)


def read_as(b: Builder, dtype: DType, x: Scalar, *more: Scalar) -> Scalar:
    """Read bits as another dtype: of one part of x, whose number follows, or of all parts given."""
    whole, new = unsigned(x.dtype), unsigned(dtype)
    code = b.bitcast(x, whole)
    if whole.itemsize > new.itemsize:
        (number,) = more
        code = code >> b.convert(number, whole) * (8 * new.itemsize)
    code = b.convert(code, new)
    if whole.itemsize < new.itemsize:
        for i, y in enumerate(more, 1):
            code = code | b.convert(b.bitcast(y, whole), new) << 8 * whole.itemsize * i
    return b.bitcast(code, dtype)


# ---- the hash of random numbers

ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
PARITY = 0x1BD11BDA


def threefry2x32(_b: Builder, first: Scalar, second: Scalar, x: Scalar, y: Scalar) -> list[Scalar]:
    """Hash two counter words under two key words, in 20 rounds."""
    keys = (first, second, first ^ second ^ PARITY)
    x, y = x + first, y + second
    for i in range(5):
        for r in ROTATIONS[i % 2]:
            x = x + y
            y = ((y << r) | (y >> (32 - r))) ^ x
        x, y = x + keys[(i + 1) % 3], y + keys[(i + 2) % 3] + (i + 1)
    return [x, y]
