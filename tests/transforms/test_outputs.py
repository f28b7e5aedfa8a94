"""What vmap gives of outputs that no axis is wanted of, and what else is JAX's alone."""

from __future__ import annotations

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp
from arrayport import lax

pytestmark = pytest.mark.usefixtures("own_backend")


def test_an_output_that_is_not_mapped_stays_as_it_is() -> None:
    mapped, number = ap.vmap(lambda x, y: (x + y, y * 2.0), (0, None), (0, None))(anp.ones(2), 4.0)
    assert mapped.tolist() == [5.0, 5.0]
    assert type(number) is float
    assert number == 8.0


@pytest.mark.parametrize(
    ("dtype", "summed"),
    [
        ("bool", "int32"),
        ("int8", "int32"),
        ("uint8", "uint32"),
        ("float16", "float16"),
        ("int32", "int32"),
    ],
)
def test_sum_match_sums_mapped_outputs(dtype: str, summed: str) -> None:
    with ap.config.override("enable_x64", False):
        x = anp.ones((2, 3), dtype)
        out = ap.vmap(lambda row: row, in_axes=1, out_axes=None, sum_match=True)(x)
        assert (out.tolist(), out.dtype) == ([3, 3], summed)
        kept = ap.vmap(lambda _: x, out_axes=None, sum_match=True)(x)
        assert kept.dtype == dtype


def test_sum_match_is_differentiable() -> None:
    def total(y):
        return ap.vmap(lambda x: x * y, out_axes=None, sum_match=True)(anp.arange(4.0))

    assert ap.grad(total)(2.0) == 6
    assert ap.jit(total)(2.0) == 12


def test_without_sum_match_a_mapped_output_is_refused() -> None:
    with pytest.raises(ValueError, match="out_axes=None"):
        ap.vmap(lambda x: x, out_axes=None)(anp.ones(2))


@pytest.mark.parametrize("dtype", ["int16", "uint32", "float32", "complex64", "bool", "int8"])
def test_byteswap(dtype: str) -> None:
    host = np.array([[1, 0], [3, 1]]).astype(dtype)
    found = anp.array(host).byteswap()
    assert np.asarray(found).tobytes() == host.byteswap().tobytes()
    assert (found.dtype, found.shape) == (dtype, (2, 2))


def test_negative_places_may_mean_what_they_say() -> None:
    x = anp.arange(4)
    dropped = x.at[-1].set(9, wrap_negative_indices=False, mode="drop")
    filled = x.at[-1].get(wrap_negative_indices=False, mode="fill", fill_value=7)
    assert (dropped.tolist(), filled.tolist()) == ([0, 1, 2, 3], 7)
    with pytest.raises(IndexError, match="out of range"):
        x.at[-1].set(9, wrap_negative_indices=False)


@pytest.mark.parametrize("kth", [0, 2, -1])
def test_parts_stand_as_in_jax(kth: int) -> None:
    host = np.array([[4, 1, 3, 1], [2, 9, 2, 0]])
    parts, order = anp.partition(anp.array(host), kth), anp.argpartition(anp.array(host), kth)
    first = kth % 4 + 1
    ascending = np.sort(host, axis=1)
    expected = np.concatenate([ascending[:, :first], ascending[:, first:][:, ::-1]], axis=1)
    np.testing.assert_array_equal(np.asarray(parts), expected)
    places = np.argsort(host, axis=1, kind="stable")
    expected = np.concatenate([places[:, :first], np.sort(places[:, first:])], axis=1)
    np.testing.assert_array_equal(np.asarray(order), expected)


def test_a_carry_that_takes_another_type_gives_way_no_longer() -> None:
    loops = [
        lax.while_loop(lambda c: c < 9, lambda c: c * 2.0, 3),
        lax.fori_loop(0, 2, lambda _i, c: c * 2.0, 3),
        lax.scan(lambda c, _: (c * 2.0, None), 3, length=2)[0],
    ]
    assert [(c.item(), c.dtype, c.weak_type) for c in loops] == [
        (12.0, anp.ones(()).dtype, False)
    ] * 3
    kept = lax.while_loop(lambda c: c < 9, lambda c: c * 2.0, 3.0)
    assert (kept.item(), kept.weak_type) == (12.0, True)


def test_a_gradient_given_away_is_no_other_value() -> None:
    """Deleted or donated, it takes neither the seed nor another gradient, nor the cotangent."""
    x = anp.ones(3, dtype="float32")
    for given in (anp.float32(2), 2.0):
        ap.grad(lambda v: v)(given).delete()
        assert float(ap.grad(lambda v: v * v)(given)) == 4
        assert float(ap.grad(lambda v: v)(given)) == 1
    first, second = ap.grad(lambda a, b: ((a + b) * 2).sum(), (0, 1))(x, x)
    first.delete()
    assert second.tolist() == [2, 2, 2]
    ct = anp.ones(3, dtype="float32") * 3
    _, pull = ap.vjp(lambda a, b: a + b, x, x)
    for found in pull(ct):
        ap.jit(lambda v: v + 1, donate_argnums=0)(found)
    assert ct.tolist() == [3, 3, 3]


def test_zeros_of_float0_leave_every_transformation() -> None:
    slopes = ap.grad(lambda x, i: x * i, argnums=(0, 1), allow_int=True)
    for run, shape in (
        (ap.jit(slopes), ()),
        (ap.vmap(slopes), (2,)),
        (ap.jit(ap.vmap(slopes)), (2,)),
    ):
        x = anp.full(shape, 2.0)
        for _ in range(2):
            of_x, of_i = run(x, anp.full(shape, 3))
            assert np.unique(of_x).tolist() == [3.0]
            assert (of_i.shape, of_i.dtype) == (shape, ap.float0)
    across = ap.vmap(lambda _x: np.zeros((3, 4), ap.float0), out_axes=-1)(anp.ones(2))
    assert (across.shape, across.dtype) == ((3, 4, 2), ap.float0)
    kept = ap.jit(lambda t: (t, 1.0))(across)[0]
    assert (kept.shape, kept.dtype) == (across.shape, ap.float0)


def test_zeros_that_nothing_arrived_at_are_as_weak_as_the_input() -> None:
    for run in (ap.grad, lambda f: ap.jit(ap.grad(f))):
        assert run(lambda _x: 2.0)(1.0).weak_type
        assert not run(lambda _x: 2.0)(anp.float32(1)).weak_type
