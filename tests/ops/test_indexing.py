"""Gathers, scatters, slices: values against their definition, derivatives against JAX's."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp
from arrayport.core.errors import NotDifferentiableError
from arrayport.core.sparse import Sparse
from arrayport.ops import indexing, slices, windows

SCATTERS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "scatter": (indexing.scatter_set, lambda _old, new: new),
    "scatter_add": (indexing.scatter_add, np.add),
    "scatter_mul": (indexing.scatter_mul, np.multiply),
    "scatter_min": (indexing.scatter_min, np.minimum),
    "scatter_max": (indexing.scatter_max, np.maximum),
}
Numbers = tuple[tuple[int, ...], ...]


def ordered(rng: np.random.Generator, among: Any, count: int) -> tuple[int, ...]:
    return tuple(sorted(int(d) for d in rng.permutation(among)[:count]))


def random_windows(
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray, Numbers, tuple[int, ...]]:
    """Make an operand, index vectors (some outside), dimension numbers and slice sizes."""
    rank = int(rng.integers(1, 5))
    shape = tuple(int(n) for n in rng.integers(1, 5, rank))
    axes = [int(d) for d in rng.permutation(rank)]
    count = int(rng.integers(0, min(rank, 2) + 1)) if rng.random() < 0.4 else 0
    batching, rest = sorted(axes[:count]), axes[count:]
    mapped = tuple(rest[: int(rng.integers(0, len(rest) + 1))])
    collapsed = ordered(rng, mapped, int(rng.integers(0, len(mapped) + 1)))
    sizes = tuple(
        1 if d in collapsed or d in batching else int(rng.integers(1, n + 1))
        for d, n in enumerate(shape)
    )
    batch: list[Any] = [int(n) for n in rng.integers(1, 4, int(rng.integers(0, 3)))]
    for d in batching:
        batch.insert(int(rng.integers(0, len(batch) + 1)), (d,))
    index_batching = tuple(batch.index((d,)) for d in batching)
    batch = [shape[b[0]] if isinstance(b, tuple) else b for b in batch]
    window_rank = rank - len(batching) - len(collapsed)
    offsets = ordered(rng, range(len(batch) + window_rank), window_rank)
    dtype = rng.choice(["int8", "uint8", "int32", "int64"])
    indices = rng.integers(-2, 5, (*batch, len(mapped))).astype(dtype)
    numbers = (offsets, collapsed, mapped, tuple(batching), index_batching)
    return rng.standard_normal(shape), indices, numbers, sizes


def places(
    shape: tuple[int, ...],
    indices: np.ndarray,
    numbers: Numbers,
    sizes: tuple[int, ...],
    clip: bool,
) -> Any:
    """Walk by definition: place in the output, place in the operand, is the window inside."""
    offsets, collapsed, mapped, batching, index_batching = numbers
    kept = [d for d in range(len(shape)) if d not in (*collapsed, *batching)]
    for example in np.ndindex(*indices.shape[:-1]):
        start = [0] * len(shape)
        for d, s in zip(mapped, indices[example], strict=True):
            start[d] = int(s)
        inside = all(0 <= s <= n - k for s, n, k in zip(start, shape, sizes, strict=True))
        if clip:
            start = [min(max(s, 0), n - k) for s, n, k in zip(start, shape, sizes, strict=True)]
        for d, i in zip(batching, index_batching, strict=True):
            start[d] = example[i]
        for inner in np.ndindex(*[sizes[d] for d in kept]):
            at = list(start)
            for d, i in zip(kept, inner, strict=True):
                at[d] += i
            examples, within = iter(example), iter(inner)
            rank = len(example) + len(inner)
            out = tuple(next(within) if d in offsets else next(examples) for d in range(rank))
            yield out, tuple(at), inside or clip


def output_shape(indices: np.ndarray, numbers: Numbers, sizes: tuple[int, ...]) -> tuple[int, ...]:
    offsets, collapsed, _, batching, _ = numbers
    inner = iter(n for d, n in enumerate(sizes) if d not in (*collapsed, *batching))
    batch = iter(indices.shape[:-1])
    rank = indices.ndim - 1 + len(offsets)
    return tuple(next(inner) if d in offsets else next(batch) for d in range(rank))


def defined_gather(
    x: np.ndarray, indices: np.ndarray, numbers: Numbers, sizes: tuple[int, ...], mode: str
) -> np.ndarray:
    out = np.full(output_shape(indices, numbers, sizes), 7.0)
    for place, at, inside in places(x.shape, indices, numbers, sizes, mode != "fill"):
        if inside:
            out[place] = x[at]
    return out


def defined_scatter(
    combine: Any, x: np.ndarray, indices: np.ndarray, updates: np.ndarray, case: Any, mode: str
) -> np.ndarray:
    out = x.copy()
    for place, at, inside in places(x.shape, indices, *case, mode == "clip"):
        if inside:
            out[at] = combine(out[at], updates[place])
    return out


@pytest.mark.parametrize("start", range(0, 200, 20))
def test_gather_is_what_its_definition_says(backend: str, start: int) -> None:
    for seed in range(start, start + (4 if backend == "jax" else 20)):
        rng = np.random.default_rng(seed)
        x, indices, numbers, sizes = random_windows(rng)
        for mode in ("clip", "fill", "promise_in_bounds"):
            got = indexing.gather(x, indices, numbers, sizes, mode=mode, fill_value=7.0)
            np.testing.assert_array_equal(got, defined_gather(x, indices, numbers, sizes, mode))


@pytest.mark.parametrize("name", SCATTERS)
@pytest.mark.parametrize("start", range(0, 120, 40))
def test_scatter_is_what_its_definition_says(backend: str, name: str, start: int) -> None:
    scatter, combine = SCATTERS[name]
    for seed in range(start, start + (3 if backend == "jax" else 40)):
        rng = np.random.default_rng(seed)
        x, indices, numbers, sizes = random_windows(rng)
        updates = rng.standard_normal(output_shape(indices, numbers, sizes))
        for mode in ("clip", "drop"):
            got = scatter(x, indices, updates, numbers, mode=mode)
            want = defined_scatter(combine, x, indices, updates, (numbers, sizes), mode)
            np.testing.assert_allclose(got, want, rtol=1e-13)


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint16", "float16", "bfloat16", "complex64", "float8_e5m2"]
)
def test_gather_and_set_move_any_dtype(backend: str, dtype: str) -> None:
    if dtype.startswith("float8") and backend == "cupy-sim":
        pytest.skip("CuPy has no 8-bit floats")
    x = anp.asarray(np.array([0, 1, 2, 3])).astype(dtype)
    numbers = ((), (0,), (0,))
    indices = np.array([[3], [1], [9]])
    got = indexing.gather(x, indices, numbers, (1,), mode="clip")
    assert got.dtype == x.dtype
    last = 1 if dtype == "bool" else 3
    assert [complex(v).real for v in np.asarray(got)] == [last, 1, last]
    put = indexing.scatter_set(x, indices, got[::-1], numbers)
    assert put.dtype == x.dtype
    assert np.asarray(put[1]) == np.asarray(x[1])


@pytest.mark.parametrize(
    ("dtype", "value"),
    [("float32", np.nan), ("int8", -128), ("uint8", 255), ("bool", True), ("complex64", np.nan)],
)
@pytest.mark.usefixtures("backend")
def test_fill_without_a_value(dtype: str, value: Any) -> None:
    for indices in ([[5]], [[5], [0]]):
        x = anp.zeros(3, dtype)
        got = indexing.gather(x, np.array(indices), ((), (0,), (0,)), (1,), mode="fill")
        np.testing.assert_array_equal(np.asarray(got)[0], np.array(value, dtype))


@pytest.mark.usefixtures("backend")
def test_scatter_add_in_half_precision_adds_each() -> None:
    x = anp.zeros(2, "bfloat16")
    got = indexing.scatter_add(
        x, np.array([[1], [1], [1]]), anp.ones(3, "bfloat16"), ((), (0,), (0,))
    )
    assert got.dtype == x.dtype
    np.testing.assert_array_equal(np.asarray(got, np.float32), [0, 3])


GATHERS = {
    "take": ((5, 3), [[4], [0], [4]], ((1,), (0,), (0,)), (1, 3)),
    "pairs": ((4, 3), [[[3, 0]], [[1, 2]], [[9, -1]]], ((), (0, 1), (0, 1)), (1, 1)),
    "windows": ((5, 4), [[1, 0], [4, 1]], ((0, 2), (), (0, 1)), (2, 3)),
    "along": ((3, 4), [[[2], [0]], [[1], [1]], [[3], [5]]], ((), (1,), (1,), (0,), (0,)), (1, 1)),
}


@pytest.mark.parametrize("name", GATHERS)
@pytest.mark.parametrize("mode", ["clip", "fill"])
def test_derivatives_of_gather_are_jax_s(same_as_jax: Any, name: str, mode: str) -> None:
    lax = pytest.importorskip("jax", reason="JAX is the oracle").lax
    shape, indices, numbers, sizes = GATHERS[name]
    theirs = lax.GatherDimensionNumbers(*numbers)
    options = {"mode": mode, "fill_value": 3.0}
    same_as_jax(
        lambda x, i: indexing.gather(x, i, numbers, sizes, **options),
        lambda x, i: lax.gather(x, i, theirs, sizes, **options),
        np.random.default_rng(0).standard_normal(shape),
        np.array(indices),
    )


UNIQUE = {
    "rows": ((5, 3), [[4], [0]], ((1,), (0,), (0,)), (1, 3)),
    "windows": ((5, 4), [[0, 0], [2, 1]], ((0, 2), (), (0, 1)), (2, 3)),
    "one": ((3, 4), [2, 1], ((), (0, 1), (0, 1)), (1, 1)),
    "outside": ((4,), [[3], [7], [0]], ((), (0,), (0,)), (1,)),
}


@pytest.mark.parametrize("scatter", SCATTERS)
@pytest.mark.parametrize("name", UNIQUE)
def test_derivatives_of_scatter_are_jax_s(same_as_jax: Any, scatter: str, name: str) -> None:
    lax = pytest.importorskip("jax", reason="JAX is the oracle").lax
    shape, indices, numbers, sizes = UNIQUE[name]
    index = np.array(indices)
    theirs = lax.ScatterDimensionNumbers(*numbers)
    rng = np.random.default_rng(1)
    same_as_jax(
        lambda x, i, u: SCATTERS[scatter][0](x, i, u, numbers, unique_indices=True),
        lambda x, i, u: getattr(lax, scatter)(x, i, u, theirs, unique_indices=True),
        rng.standard_normal(shape),
        index,
        rng.standard_normal(output_shape(index, (*numbers, (), ()), sizes)),
        batch=name == "windows",
    )


@pytest.mark.parametrize("scatter", ["scatter", "scatter_add", "scatter_min", "scatter_max"])
def test_derivatives_of_scatter_to_repeated_indices(same_as_jax: Any, scatter: str) -> None:
    lax = pytest.importorskip("jax", reason="JAX is the oracle").lax
    numbers = ((1,), (0,), (0,))
    theirs = lax.ScatterDimensionNumbers(*numbers)
    rng = np.random.default_rng(2)
    x, updates = rng.integers(0, 3, (3, 2)) + 0.0, rng.integers(0, 3, (5, 2)) + 0.0
    index = np.array([[1], [2], [1], [1], [2]])
    same_as_jax(
        lambda x, u: SCATTERS[scatter][0](x, index, u, numbers),
        lambda x, u: getattr(lax, scatter)(x, index, u, theirs),
        x,
        updates,
        batch=scatter != "scatter_min",
    )


def test_repeated_factors_have_no_derivative() -> None:
    def product_of(u: Any) -> Any:
        return indexing.scatter_mul(anp.ones(2), np.array([[0], [0]]), u, ((), (0,), (0,))).sum()

    with pytest.raises(NotDifferentiableError, match="unique_indices=True"):
        ap.grad(product_of)(anp.ones(2))


# ---------------------------------------------------------------------------------------- slices

KEYS: list[slices.Key] = [
    ((0, 4, 1), (0, 3, 1)),
    ((3, None, -1), 1),
    (None, (1, 4, 2), (0, 0, 1)),
    (2, (2, 0, -1), None),
    (1, 0),
]


@pytest.mark.parametrize("key", KEYS)
def test_slices(same_as_jax: Any, key: slices.Key) -> None:
    python = slices.basic(key)
    x, y = np.arange(12.0).reshape(4, 3), np.cos(np.arange(12.0)).reshape(4, 3)[python]
    same_as_jax(lambda x: slices.static_slice(x, key), lambda x: x[python], x)
    for prim, name in ((slices.slice_add_p, "add"), (slices.slice_set_p, "set")):
        same_as_jax(
            lambda x, y, prim=prim: prim.bind(x, y, key=key),
            lambda x, y, name=name: getattr(x.at[python], name)(y),
            x,
            y,
        )


@pytest.mark.parametrize("seed", range(20))
def test_equal_slices_have_one_triple(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size = int(rng.integers(0, 6))
    seen: dict[tuple[int, ...], slices.Triple] = {}
    bounds = (None, -7, -2, -1, 0, 1, 3, 9)
    for start, stop, step in product(bounds, bounds, (None, -3, -1, 2, 4)):
        part = slice(start, stop, step)
        chosen = tuple(range(size)[part])
        made = slices.triple(part, size)
        assert tuple(range(size)[slice(*made)]) == chosen
        assert seen.setdefault(chosen, made) == made


@pytest.mark.usefixtures("backend")
def test_lax_slices() -> None:
    x = np.arange(24).reshape(4, 6)
    np.testing.assert_array_equal(slices.slice(x, (1, 0), (4, 5), (2, 3)), x[1:4:2, 0:5:3])
    np.testing.assert_array_equal(slices.slice_in_dim(x, 1, -1, 2, axis=1), x[:, 1:-1:2])
    np.testing.assert_array_equal(slices.index_in_dim(x, -1, 1), x[:, -1:])
    np.testing.assert_array_equal(slices.index_in_dim(x, 2, keepdims=False), x[2])
    with pytest.raises(IndexError, match="out of range for axis 1 of size 6"):
        slices.index_in_dim(x, 6, 1)
    with pytest.raises(TypeError, match="start <= limit"):
        slices.slice(x, (2, 0), (1, 5))


# ---------------------------------------------------------------------------------------- windows


@pytest.mark.parametrize("starts", [(1, 2), (-1, 9), (-6, 0), (3, -2)])
def test_dynamic_slices(same_as_jax: Any, starts: tuple[int, int]) -> None:
    lax = pytest.importorskip("jax", reason="JAX is the oracle").lax
    x, u = np.sin(np.arange(20.0)).reshape(4, 5), np.arange(6.0).reshape(2, 3)
    i, j = (np.array(s) for s in starts)
    same_as_jax(
        lambda x, i, j: windows.dynamic_slice(x, (i, j), (2, 3)),
        lambda x, i, j: lax.dynamic_slice(x, (i, j), (2, 3)),
        x,
        i,
        j,
    )
    same_as_jax(
        lambda x, u, i: windows.dynamic_update_slice(x, u, (i, starts[1])),
        lambda x, u, i: lax.dynamic_update_slice(x, u, (i, starts[1])),
        x,
        u,
        i,
    )


@pytest.mark.usefixtures("backend")
def test_dynamic_slices_from_the_front() -> None:
    x, back = anp.arange(5), anp.asarray(-2)
    for start in (-2, back):
        found = windows.dynamic_slice(x, (start,), (2,), allow_negative_indices=False)
        assert found.tolist() == [0, 1]
    rows = windows.dynamic_slice(
        anp.reshape(anp.arange(6), (2, 3)), (-1, back), (1, 1), allow_negative_indices=[True, False]
    )
    assert rows.tolist() == [[3]]
    put = windows.dynamic_update_index_in_dim(x, 9, back, 0, allow_negative_indices=False)
    assert put.tolist() == [9, 1, 2, 3, 4]
    with pytest.raises(TypeError, match="allow_negative_indices must be a bool"):
        windows.dynamic_slice(x, (back,), (2,), allow_negative_indices=[True, False])


@pytest.mark.usefixtures("backend")
def test_dynamic_slices_along_one_axis() -> None:
    x = np.arange(12).reshape(3, 4)
    two = anp.asarray(2)
    np.testing.assert_array_equal(windows.dynamic_slice_in_dim(x, two, 2, 1), x[:, 2:4])
    np.testing.assert_array_equal(windows.dynamic_index_in_dim(x, two, 1), x[:, 2:3])
    np.testing.assert_array_equal(windows.dynamic_index_in_dim(x, two, -1, keepdims=False), x[:, 2])
    want = x.copy()
    want[:, 2] = 7
    filled = anp.full((3,), 7)
    np.testing.assert_array_equal(windows.dynamic_update_index_in_dim(x, filled, two, 1), want)
    want[:, 1:3] = 5
    wide = anp.full((3, 2), 5)
    put = windows.dynamic_update_slice_in_dim(want, wide, 1, 1)
    np.testing.assert_array_equal(put, want)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: windows.dynamic_slice(x, (0,), (5,)), "does not fit"),
        (lambda x: windows.dynamic_slice(x, (0, 0), (2,)), "1 starts"),
        (lambda x: windows.dynamic_slice(x, (anp.asarray(0.0),), (2,)), "starts must be integers"),
        (lambda x: windows.dynamic_update_slice(x, anp.ones(2, "int32"), (0,)), "operand of float"),
        (lambda x: indexing.gather(x, np.zeros((2, 2), int), ((), (0,), (0,)), (1,)), "map 1"),
        (
            lambda x: indexing.gather(x, np.zeros((2, 1), int), ((), (0,), (0,)), (5,)),
            "slice_sizes",
        ),
        (lambda x: indexing.gather(x, np.zeros((2, 1)), ((), (0,), (0,)), (1,)), "integer indices"),
        (
            lambda x: indexing.scatter_add(x, np.zeros((2, 1), int), anp.ones(3), ((), (0,), (0,))),
            "do not fit",
        ),
    ],
)
def test_what_does_not_fit_says_so(call: Callable[..., Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        call(anp.ones(3))


# ----------------------------------------------------------------------------------- sums of parts


def many_reads(x: Any) -> Any:
    """Read in every way: statically, by an array, in a window at a traced place."""
    total = x[0] * x[1:3].sum()
    for i in range(3):
        total = total + x[i] ** 2 * x[-1 - i] + x[anp.asarray([i, 0, i])].prod()
    return total + windows.dynamic_slice(x, (anp.asarray(2),), (2,)).prod() * x[4]


def read_by_jax(x: Any) -> Any:
    jax = pytest.importorskip("jax", reason="JAX is the oracle")
    total = x[0] * x[1:3].sum()
    for i in range(3):
        total = total + x[i] ** 2 * x[-1 - i] + x[jax.numpy.asarray([i, 0, i])].prod()
    return total + jax.lax.dynamic_slice(x, (2,), (2,)).prod() * x[4]


def test_sum_of_parts_has_jax_s_derivatives(same_as_jax: Any) -> None:
    same_as_jax(many_reads, read_by_jax, np.linspace(0.5, 2.0, 5))


def test_batched_gradient_of_reads_is_jax_s() -> None:
    jax = pytest.importorskip("jax", reason="JAX is the oracle")
    xs = np.linspace(0.5, 2.0, 15).reshape(3, 5)
    want = np.stack([jax.grad(read_by_jax)(x) for x in xs])
    for f in (ap.vmap(ap.grad(many_reads)), ap.jit(ap.vmap(ap.jit(ap.grad(many_reads))))):
        np.testing.assert_allclose(f(xs), want, rtol=1e-6)
    outer = ap.grad(lambda xs: ap.vmap(many_reads)(xs).sum())
    np.testing.assert_allclose(outer(anp.asarray(xs)), want, rtol=1e-6)


def test_third_derivative_of_reads() -> None:
    def cubes(x: Any) -> Any:
        return sum(x[i] ** 3 * (i + 1) for i in range(3))

    first = ap.grad(cubes)
    second = ap.grad(lambda x: first(x).sum())
    third = ap.grad(lambda x: second(x).sum())
    np.testing.assert_allclose(third(anp.asarray([1.0, 2.0, 3.0])), [6, 12, 18])
    np.testing.assert_allclose(ap.jit(third)(anp.asarray([1.0, 2.0, 3.0])), [6, 12, 18])


def test_parts_meet_in_one_pass() -> None:
    """However many parts are read, one `scatter_all` adds them; no dense array is made for each."""

    def reads(x: Any) -> Any:
        return sum(x[i] * x[anp.asarray(i)] for i in range(20))

    program = str(ap.make_jaxpr(ap.grad(reads))(anp.ones(50)))
    assert program.count("scatter_all") == 1
    assert program.count("slice_add[") == 0


@pytest.mark.usefixtures("backend")
def test_scatter_all_writes_each_part() -> None:
    x = anp.arange(6.0)
    like = x.aval if hasattr(x, "aval") else x
    parts = [
        Sparse(slices.slice_add_p, like, (anp.ones(2),), {"key": ((1, 5, 3),)}),
        Sparse(windows.dynamic_slice_add_p, like, (anp.asarray(9), anp.ones(2)), {}),
    ]
    np.testing.assert_array_equal(windows.scatter_all(x, parts), [0, 2, 2, 3, 6, 6])
    np.testing.assert_array_equal(windows.scatter_all(None, parts), [0, 1, 0, 0, 2, 1])


def test_operands_are_never_written_to() -> None:
    x = anp.arange(4.0)
    before = np.array(x)
    slices.slice_add_p.bind(x, anp.ones(4), key=((0, 4, 1),))
    indexing.scatter_add(x, np.array([[0], [0]]), anp.ones(2), ((), (0,), (0,)))
    windows.dynamic_update_slice(x, anp.ones(2), (1,))
    row = indexing.gather(x, np.array([0]), ((0,), (), (0,)), (4,))
    indexing.scatter_set(row, np.array([1]), anp.asarray(9.0), ((), (0,), (0,)))
    np.testing.assert_array_equal(x, before)
