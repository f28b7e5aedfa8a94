"""Rotations in three dimensions, by unit quaternions, and the way between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import pi
from typing import TYPE_CHECKING, Any

from arrayport.core.array import Array
from arrayport.core.names import absent
from arrayport.core.nodes import register_dataclass
from arrayport.numpy import (
    abs,
    arctan2,
    argmax,
    asarray,
    atleast_1d,
    broadcast_to,
    concatenate,
    cos,
    cross,
    diff,
    eye,
    hypot,
    linalg,
    maximum,
    ones,
    roll,
    searchsorted,
    sin,
    sqrt,
    stack,
    take_along_axis,
    where,
)
from arrayport.ops.promotion import inexact, lift

__all__ = ["Rotation", "Slerp"]

DEGREES = 180 / pi
TINY = 1e-7  # of an angle between axes that fall together


def _square(x: Array) -> Array:
    return (x * x).sum(-1, keepdims=True)


def _unit(x: Array) -> Array:
    return x / sqrt(_square(x))


def _floats(x: Any, name: str, last: int) -> Array:
    made = inexact(lift(asarray(x), None, name))
    if made.shape[-1:] != (last,):
        raise ValueError(f"{name} must have {last} elements along its last axis, not {made.shape}")
    return made


def _sequence(seq: str, few: int) -> tuple[list[int], bool]:
    """Read the axes of Euler angles, and whether they stay fixed in space."""
    fixed = seq == seq.lower()
    letters = "xyz" if fixed else "XYZ"
    if not few <= len(seq) <= 3 or not set(seq) <= set(letters):
        raise ValueError(f"seq {seq!r} must be {few} to 3 of the axes xyz, or of XYZ")
    axes = [letters.index(c) for c in seq]
    if any(a == b for a, b in pairwise(axes)):
        raise ValueError(f"seq {seq!r} must not name an axis twice in a row")
    return axes, fixed


def _composed(p: Array, q: Array) -> Array:
    """Multiply quaternions: first q turns, then p."""
    u, v, a, b = p[..., :3], q[..., :3], p[..., 3:], q[..., 3:]
    vector = a * v + b * u + cross(u, v)
    return concatenate([vector, a * b - (u * v).sum(-1, keepdims=True)], axis=-1)


@dataclass(frozen=True)
class Rotation:
    """A rotation, or several: `quat` has shape (4,) or (n, 4), its scalar part last.

    Made by the functions `from_...`; `p * q` turns by q, then by p. It is a pytree. Source:
    ``jax.scipy.spatial.transform.Rotation``.

    >>> import arrayport.numpy as anp
    >>> quarter = Rotation.from_euler("z", 90, degrees=True)
    >>> quarter.apply(anp.array([1.0, 0.0, 0.0])).round(3)
    Array([0., 1., 0.], dtype=float32)
    """

    quat: Array

    # ---- made

    @classmethod
    def concatenate(cls, rotations: Sequence[Rotation]) -> Rotation:
        """Join several."""
        return cls(concatenate([r.quat.reshape(-1, 4) for r in rotations]))

    @classmethod
    def from_euler(cls, seq: str, angles: Any, degrees: bool = False) -> Rotation:
        """Turn about one to three axes in turn: fixed ones (xyz), or the body's own (XYZ).

        The last axis of `angles` has an angle for each of the axes; for one it may be left out.
        """
        axes, fixed = _sequence(seq, 1)
        turns = atleast_1d(inexact(lift(asarray(angles), None, "angles")))
        if len(axes) == 1 and (turns.shape[-1] != 1 or asarray(angles).ndim == 1 < turns.size):
            turns = turns[..., None]
        if turns.shape[-1] != len(axes):
            raise ValueError(f"angles of shape {turns.shape} must have {len(axes)} last elements")
        turns = turns / DEGREES if degrees else turns
        quat = None
        for place, axis in enumerate(axes):
            half = turns[..., place, None] / 2
            one = concatenate([sin(half) * eye(3, dtype=half.dtype)[axis], cos(half)], axis=-1)
            quat = one if quat is None else _composed(*((one, quat) if fixed else (quat, one)))
        assert quat is not None
        single = asarray(angles).ndim == 0 or (len(axes) > 1 and turns.ndim == 1)
        return cls(quat.reshape(4) if single else quat)

    @classmethod
    def from_matrix(cls, matrix: Any) -> Rotation:
        """Read rotation matrices, of shape (..., 3, 3)."""
        m = inexact(lift(asarray(matrix), None, "matrix"))
        if m.shape[-2:] != (3, 3):
            raise ValueError(f"matrix must have shape (..., 3, 3), not {m.shape}")
        entry = [[m[..., i, j] for j in range(3)] for i in range(3)]
        trace = entry[0][0] + entry[1][1] + entry[2][2]
        # Four times the quaternion's product with itself: its row of the largest square is exact.
        rows: list[list[Array]] = [[trace] * 4 for _ in range(4)]
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            rows[i][i] = 1 - trace + 2 * entry[i][i]
            rows[i][j] = rows[j][i] = entry[i][j] + entry[j][i]
            rows[i][3] = rows[3][i] = entry[k][j] - entry[j][k]
        rows[3][3] = 1 + trace
        table = stack([stack(row, axis=-1) for row in rows], axis=-2)
        squares = stack([rows[i][i] for i in range(4)], axis=-1)
        best = argmax(squares, axis=-1)[..., None, None]
        return cls(_unit(take_along_axis(table, best, axis=-2)[..., 0, :]))

    @classmethod
    def from_mrp(cls, mrp: Any) -> Rotation:
        """Read modified Rodrigues parameters: the axis times the tangent of a quarter angle."""
        x = _floats(mrp, "mrp", 3)
        size = _square(x)
        return cls(concatenate([2 * x, 1 - size], axis=-1) / (1 + size))

    @classmethod
    def from_quat(cls, quat: Any) -> Rotation:
        """Read quaternions, scalar last, of any length."""
        return cls(_unit(_floats(quat, "quat", 4)))

    @classmethod
    def from_rotvec(cls, rotvec: Any, degrees: bool = False) -> Rotation:
        """Read axes times angles."""
        x = _floats(rotvec, "rotvec", 3)
        x = x / DEGREES if degrees else x
        size = _square(x)
        small = size < 1e-6
        angle = sqrt(where(small, 1, size))
        scale = where(small, 0.5 - size / 48 + size * size / 3840, sin(angle / 2) / angle)
        last = where(small, 1 - size / 8 + size * size / 384, cos(angle / 2))
        return cls(concatenate([scale * x, last], axis=-1))

    @classmethod
    def identity(cls, num: int | None = None, dtype: Any = float) -> Rotation:
        """Turn nothing, `num` times."""
        quat = asarray([0.0, 0.0, 0.0, 1.0], dtype=dtype)
        return cls(quat if num is None else broadcast_to(quat, (num, 4)))

    # ---- read

    def as_euler(self, seq: str, degrees: bool = False) -> Array:
        """Give angles about three axes; where two fall together the third angle is 0.

        Source: Bernardes and Viollet, "Quaternion to Euler angles conversion" (2022).
        """
        axes, fixed = _sequence(seq, 3)
        i, j, k = axes if fixed else axes[::-1]
        symmetric = i == k
        k = 3 - i - j if symmetric else k
        sign = (i - j) * (j - k) * (k - i) // 2
        w, x, y, z = (self.quat[..., n] for n in (3, i, j, k))
        a, b, c, d = (
            (w, x, y, z * sign) if symmetric else (w - y, x + z * sign, y + w, z * sign - x)
        )
        middle = 2 * arctan2(hypot(c, d), hypot(a, b))
        total, gap = arctan2(b, a), arctan2(d, c)
        none, half = abs(middle) <= TINY, abs(middle - pi) <= TINY
        first, third = (total - gap, total + gap) if fixed else (total + gap, total - gap)
        alone = where(none, 2 * total, 2 * gap * (-1 if fixed else 1))
        first, third = where(none | half, alone, first), where(none | half, 0, third)
        if not symmetric:
            first, third = (first, third * sign) if fixed else (first * sign, third)
            middle = middle - pi / 2
        angles = stack([first, middle, third], axis=-1)
        angles = where(angles < -pi, angles + 2 * pi, where(angles > pi, angles - 2 * pi, angles))
        return angles * DEGREES if degrees else angles

    def as_matrix(self) -> Array:
        """Give rotation matrices, of shape (..., 3, 3)."""
        v, w = self.quat[..., :3], self.quat[..., 3:, None]
        x, y, z = (v[..., i] for i in range(3))
        nought = x * 0
        turn = stack([nought, -z, y, z, nought, -x, -y, x, nought], axis=-1)
        turn = turn.reshape(*v.shape, 3)
        straight = (w * w - _square(v)[..., None]) * eye(3, dtype=v.dtype)
        return straight + 2 * (v[..., :, None] * v[..., None, :] + w * turn)

    def as_mrp(self) -> Array:
        """Give modified Rodrigues parameters, of the shorter turn."""
        sign = where(self.quat[..., 3:] < 0, -1, 1)
        return sign * self.quat[..., :3] / (1 + sign * self.quat[..., 3:])

    def as_quat(self, canonical: bool = False, scalar_first: bool = False) -> Array:
        """Give the quaternions; canonical ones begin, with w, by a positive part."""
        quat = self.quat
        if canonical:
            x, y, z, w = (quat[..., i : i + 1] for i in range(4))
            lead = where(w != 0, w, where(x != 0, x, where(y != 0, y, z)))
            quat = where(lead < 0, -quat, quat)
        return roll(quat, 1, axis=-1) if scalar_first else quat

    def as_rotvec(self, degrees: bool = False) -> Array:
        """Give axes times angles of at most half a turn."""
        quat = where(self.quat[..., 3:] < 0, -self.quat, self.quat)
        v, w = quat[..., :3], quat[..., 3:]
        size = _square(v)
        small = size < 1e-7
        length = sqrt(where(small, 1, size))
        angle = 2 * arctan2(length, w)
        # 2 asin(s) / s for small s
        scale = where(small, 2 + size / 3 + 3 * size * size / 20, angle / length)
        return v * scale * (DEGREES if degrees else 1)

    def magnitude(self) -> Array:
        """Give the angles, of at most half a turn."""
        v = self.quat[..., :3]
        return 2 * arctan2(sqrt((v * v).sum(-1)), abs(self.quat[..., 3]))

    # ---- used

    def apply(self, vectors: Any, inverse: bool = False) -> Array:
        """Turn vectors, of shape (..., 3), which broadcast with the rotations."""
        v = _floats(vectors, "vectors", 3)
        matrix = self.as_matrix()
        matrix = matrix.mT if inverse else matrix
        return (matrix * v[..., None, :]).sum(-1)

    def inv(self) -> Rotation:
        """Turn back."""
        return Rotation(concatenate([-self.quat[..., :3], self.quat[..., 3:]], axis=-1))

    def mean(self, weights: Any = None) -> Rotation:
        """Give the rotation that is nearest to all, by the squares of chords."""
        count = len(self)
        w = ones(count, self.quat.dtype) if weights is None else asarray(weights, self.quat.dtype)
        if w.shape != (count,):
            raise ValueError(f"weights must have shape ({count},), not {w.shape}")
        return Rotation(linalg.eigh((w[:, None] * self.quat).T @ self.quat)[1][:, -1])

    @property
    def single(self) -> bool:
        """Whether it is one rotation, and not several."""
        return self.quat.ndim == 1

    def __mul__(self, other: Rotation) -> Rotation:
        return Rotation.from_quat(_composed(self.quat, other.quat))

    def __getitem__(self, key: Any) -> Rotation:
        if self.single:
            raise TypeError("a single rotation has no parts")
        return Rotation(self.quat[key])

    def __len__(self) -> int:
        if self.single:
            raise TypeError("a single rotation has no length")
        return self.quat.shape[0]


@dataclass(frozen=True)
class Slerp:
    """A function of time that turns evenly from one rotation to the next.

    Made by `Slerp.init(times, rotations)`. Source: ``jax.scipy.spatial.transform.Slerp``.

    >>> import arrayport.numpy as anp
    >>> ends = Rotation.from_euler("z", anp.array([0.0, 90.0]), degrees=True)
    >>> Slerp.init(anp.array([0.0, 1.0]), ends)(0.5).as_rotvec(degrees=True).round(2)
    Array([ 0.,  0., 45.], dtype=float32)
    """

    times: Array
    timedelta: Array
    rotations: Rotation
    rotvecs: Array

    @classmethod
    def init(cls, times: Any, rotations: Rotation) -> Slerp:
        """Make it of ascending times and as many rotations; ValueError for what does not fit."""
        if not isinstance(rotations, Rotation):
            raise TypeError(f"rotations must be a Rotation, not {type(rotations).__name__}")
        if rotations.single or len(rotations) < 2:
            raise ValueError("rotations must be 2 or more")
        at = asarray(times, rotations.quat.dtype)
        if at.shape != (len(rotations),):
            raise ValueError(f"times of shape {at.shape} must be one for each of {len(rotations)}")
        first, later = rotations[:-1], rotations[1:]
        return cls(at, diff(at), first, (first.inv() * later).as_rotvec())

    def __call__(self, times: Any) -> Rotation:
        """Give the rotations at a time, or at a vector of times."""
        at = asarray(times, self.times.dtype)
        if at.ndim > 1:
            raise ValueError(f"times must be a number or a vector, not of shape {at.shape}")
        many = atleast_1d(at)
        i = maximum(searchsorted(self.times, many) - 1, 0)
        part = (many - self.times[i]) / self.timedelta[i]
        found = self.rotations[i] * Rotation.from_rotvec(self.rotvecs[i] * part[:, None])
        return found if at.ndim else found[0]


register_dataclass(Rotation, ("quat",), ())
register_dataclass(Slerp, ("times", "timedelta", "rotations", "rotvecs"), ())

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise absent("scipy.spatial.transform", name)
