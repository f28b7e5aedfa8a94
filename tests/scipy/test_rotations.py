"""Rotations and the way between them against SciPy's, on every backend."""

from __future__ import annotations

from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from scipy.spatial import transform as theirs

import arrayport as ap
import arrayport.numpy as anp
from arrayport.scipy.spatial.transform import Rotation, Slerp

RNG = np.random.default_rng(0)
QUATS = np.concatenate(
    [RNG.normal(size=(4, 4)), [[0, 0, 0, 1.0], [1e-5, 0, 0, -1.0], [0, 1.0, 0, 0]]]
)
pytestmark = pytest.mark.usefixtures("wide", "backend")

LETTERS = [*permutations("xyz"), *[(a, b, a) for a, b in product("xyz", "xyz") if a != b]]
SEQUENCES = ["".join(letters) for letters in LETTERS]


def close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-9, atol=1e-9)


def alike(found: Rotation, expected: Any) -> None:
    close(found.as_matrix(), expected.as_matrix())


def test_forms() -> None:
    own, known = Rotation.from_quat(anp.asarray(QUATS)), theirs.Rotation.from_quat(QUATS)
    close(own.as_matrix(), known.as_matrix())
    close(own.as_rotvec(degrees=True), known.as_rotvec(degrees=True))
    close(own.as_mrp(), known.as_mrp())
    close(own.magnitude(), known.magnitude())
    close(
        own.as_quat(canonical=True, scalar_first=True),
        np.roll(known.as_quat(canonical=True), 1, -1),
    )
    alike(Rotation.from_matrix(own.as_matrix()), known)
    alike(Rotation.from_rotvec(own.as_rotvec()), known)
    alike(Rotation.from_mrp(own.as_mrp()), known)
    alike(
        Rotation.from_rotvec(anp.asarray([0.0, 90.0, 0.0]), degrees=True),
        theirs.Rotation.from_euler("y", 90, degrees=True),
    )


@pytest.mark.parametrize("fixed", [True, False])
def test_euler_angles(fixed: bool, backend: str) -> None:
    angles = RNG.uniform(-1.5, 1.5, (5, 3))
    # JAX compiles them all anew: one of each kind.
    for seq in ("zyx", "xzx") if backend == "jax" else SEQUENCES:
        name = seq if fixed else seq.upper()
        known = theirs.Rotation.from_euler(name, angles)
        own = Rotation.from_euler(name, anp.asarray(angles))
        alike(own, known)
        close(own.as_euler(name), known.as_euler(name))
    alike(
        Rotation.from_euler("zx", anp.asarray([30.0, 20.0]), degrees=True),
        theirs.Rotation.from_euler("zx", [30, 20], degrees=True),
    )
    alike(Rotation.from_euler("z", 0.3), theirs.Rotation.from_euler("z", 0.3))
    locked = Rotation.from_euler("xyz", anp.asarray([0.4, np.pi / 2, 0.0]))
    assert float(locked.as_euler("xyz")[2]) == 0
    alike(
        Rotation.from_euler("xyz", locked.as_euler("xyz")),
        theirs.Rotation.from_euler("xyz", [0.4, np.pi / 2, 0]),
    )


def test_use() -> None:
    own, known = Rotation.from_quat(anp.asarray(QUATS)), theirs.Rotation.from_quat(QUATS)
    vectors = RNG.normal(size=(len(QUATS), 3))
    close(own.apply(anp.asarray(vectors)), known.apply(vectors))
    close(own[0].apply(anp.asarray(vectors), inverse=True), known[0].apply(vectors, inverse=True))
    alike(own * own[1].inv(), known * known[1].inv())
    alike(own[:4].mean(), known[:4].mean())
    alike(Rotation.concatenate([own[0], own[1:3]]), known[:3])
    assert Rotation.identity().single
    assert len(Rotation.identity(3)) == 3
    turned = ap.vmap(lambda r, v: r.apply(v))(own, anp.asarray(vectors))
    close(turned, known.apply(vectors))
    slope = ap.jacfwd(lambda x: Rotation.from_rotvec(x).as_matrix())(anp.zeros(3))
    np.testing.assert_allclose(np.asarray(slope)[:, :, 2], [[0, -1, 0], [1, 0, 0], [0, 0, 0]])


def test_the_way_between() -> None:
    times = np.array([0.0, 1.0, 3.0, 4.0])
    known = theirs.Slerp(times, theirs.Rotation.from_quat(QUATS[:4]))
    own = Slerp.init(anp.asarray(times), Rotation.from_quat(anp.asarray(QUATS[:4])))
    at = np.array([0.0, 0.3, 1.0, 2.9, 4.0])
    alike(own(anp.asarray(at)), known(at))
    alike(own(0.5), known(0.5))


def test_messages() -> None:
    for seq in ("xyw", "xYz", "xxz", ""):
        with pytest.raises(ValueError, match="seq"):
            Rotation.from_euler(seq, anp.zeros(3))
    with pytest.raises(ValueError, match="4 elements"):
        Rotation.from_quat(anp.ones(3))
    with pytest.raises(TypeError, match="no length"):
        len(Rotation.identity())
    with pytest.raises(ValueError, match="one for each"):
        Slerp.init(anp.zeros(2), Rotation.identity(3))
