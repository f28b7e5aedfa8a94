"""Simulated CuPy: what it computes is NumPy's, and what CuPy refuses it refuses."""

import copy
import pickle

import ml_dtypes
import numpy as np
import pytest
from arrayport_backends.cupy import facts
from arrayport_backends.cupy.simulated_arrays import SimArray
from arrayport_backends.cupy.simulation import scipy_linalg, special, xp

HOST = np.arange(6.0).reshape(2, 3)


@pytest.fixture
def x():
    return xp.asarray(HOST)


def run(code, **names):
    return eval(code, {"np": np, "xp": xp, "HOST": HOST} | names)  # noqa: S307 - a test's own code


def equal(array, expected):
    assert type(array) is SimArray
    expected = np.asarray(expected)
    assert array.shape == expected.shape
    assert array.dtype == expected.dtype
    np.testing.assert_array_equal(array.get(), expected)


# -- to and from the host


def test_it_copies_in_and_out(x):
    host = HOST.copy()
    array = xp.asarray(host)
    host[0, 0] = 9
    equal(array, HOST)
    array.get()[0, 0] = 9
    equal(array, HOST)
    assert xp.asarray(array) is array
    assert type(xp.asnumpy(x)) is np.ndarray
    array.set(host)
    assert array[0, 0].item() == 9


@pytest.mark.parametrize("convert", ["np.asarray(x)", "np.array(x)", "np.array([x, x])"])
def test_no_implicit_conversion(x, convert):
    with pytest.raises(TypeError, match=r"Implicit conversion .* `.get\(\)`"):
        run(convert, x=x)


def test_scalars_synchronise(x):
    assert (float(x[0, 1]), int(x[1, 1]), bool(x[0, 0]), complex(x[0, 1])) == (1.0, 4, False, 1j**4)
    assert type(x[0, 1].item()) is float
    assert f"{x[0, 1]:.2f}" == "1.00"
    assert x.tolist() == HOST.tolist()
    with pytest.raises(ValueError, match="ambiguous"):
        bool(x)
    with pytest.raises(ValueError, match="size 1"):
        x.item()
    with pytest.raises(TypeError):
        range(xp.asarray(3))  # cupy.ndarray has no __index__


def test_dlpack_and_pointers(x):
    assert x.__dlpack_device__() == (2, 0)
    with pytest.raises(ValueError, match="PyCapsule"):
        np.from_dlpack(x)  # of CuPy's own NumPy refuses the device
    with pytest.raises(BufferError, match="exported"):
        x.__dlpack__(dl_device=(10, 0))
    np.testing.assert_array_equal(np.from_dlpack(x, device="cpu"), HOST)
    with pytest.raises(ValueError, match="without copy"):
        x.__dlpack__(dl_device=(1, 0), copy=False)
    with pytest.raises(TypeError, match="CPU arrays"):
        xp.from_dlpack(HOST)
    with pytest.raises(AttributeError, match="no device memory"):
        x.__cuda_array_interface__  # noqa: B018 - the look-up is the test


def test_pickle_and_copy(x):
    equal(pickle.loads(pickle.dumps(x)), HOST)
    for twin in (copy.copy(x), copy.deepcopy(x), x.copy()):
        twin[0, 0] = 9
    equal(x, HOST)


@pytest.mark.parametrize("dtype", [object, str, "M8[s]", np.longdouble, ml_dtypes.float8_e5m2])
def test_dtypes_that_cupy_lacks(x, dtype):
    with pytest.raises(ValueError, match="Unsupported dtype"):
        xp.zeros(2, dtype)
    with pytest.raises(ValueError, match="Unsupported dtype"):
        xp.asarray(np.zeros(2, dtype))
    if dtype is not str:
        with pytest.raises(ValueError, match="Unsupported dtype"):
            x.astype(dtype)


def test_attributes_are_cupys(x):
    has = set(facts.table()["ndarray"].split())
    extra = {n for n in dir(x) if not n.startswith("_")} - has
    assert extra == {"spaces"}  # how its methods find the functions
    dunders = {"__index__", "__contains__", "__array_namespace__", "__array_interface__"}
    assert not dunders & set(dir(x))
    with pytest.raises(AttributeError, match="no attribute 'resize'"):
        x.resize(3)


# -- operators


@pytest.mark.parametrize(
    "op",
    [
        "x + 1",
        "1 - x",
        "x * np.float32(2)",
        "np.float64(2) * x",
        "2 / (x + 1)",
        "(x + 1) // 2",
        "7 % (x + 1)",
        "x**2",
        "2**x",
        "-x",
        "abs(-x)",
        "x @ x.T",
        "x < 3",
        "3 >= x",
        "x == 3",
        "x != 3",
        "~(x > 2) & (x < 5) | (x == 4)",
        "x.astype(np.int32) << 2",
        "np.sin(x) + np.sum(x) + np.linalg.norm(x)",
        "np.add.reduce(x, axis=0)",
        "np.fft.fft(x)",
    ],
)
def test_operators_compute_as_numpy(x, op):
    equal(run(op, x=x), run(op, x=HOST))


@pytest.mark.parametrize(
    "op",
    [
        "x + HOST",
        "HOST + x",
        "x @ HOST.T",
        "x == HOST",
        "HOST < x",
        "np.add(x, HOST)",
        "np.add(HOST, HOST, out=x)",
        "np.concatenate([x, HOST])",
        "np.where(HOST > 1, x, x)",
        "xp.maximum(x, HOST)",
        "xp.dot(x, HOST.T)",
        "xp.sum(HOST)",
        "xp.linalg.inv(HOST)",
        "x + [1, 2, 3]",
        "x + 'a'",
        "xp.sum([1.0, 2.0])",
        "xp.dot(x, 2.0)",
        "xp.stack([x, 1.0])",
        "xp.where(True, x, x)",
    ],
)
def test_host_operands_are_refused(x, op):
    with pytest.raises(TypeError):
        run(op, x=x)


def test_unknown_operands_get_their_say(x):
    class Other:
        __array_ufunc__ = None

        def __radd__(self, _other):
            return "mine"

    assert x + Other() == "mine"
    equal(x == None, np.zeros((2, 3), bool))  # noqa: E711 - elementwise
    equal(x != object(), np.ones((2, 3), bool))


def test_results_stay_arrays(x):
    for result in (x.sum(), x[0, 1], x.max(), xp.linalg.norm(x), xp.dot(x[0], x[0]), x[0] @ x[0]):
        assert type(result) is SimArray
        assert result.shape == ()
    for result in (xp.allclose(x, x), xp.array_equal(x, x), xp.count_nonzero(x), xp.argmax(x)):
        assert type(result) is SimArray
    assert xp.shape(x) == (2, 3)
    assert xp.result_type(x, np.float32) == np.float64
    assert type(xp.linalg.svd(x)) is tuple


def test_dtypes_of_results(x):
    half = xp.ones(2, ml_dtypes.bfloat16)
    assert (half + 2).dtype == ml_dtypes.bfloat16
    assert (half + 2.0).dtype == np.float32
    assert xp.where(half > 0, half, half).dtype == np.float32  # where has no loop for it
    assert xp.clip(half, 0, 1).dtype == np.float32
    assert special.erf(x.astype(np.float16)).dtype == np.float64
    assert (xp.ones(2, np.uint8) + 1).dtype == np.uint8
    assert xp.clip(xp.arange(5, dtype=np.int8), None, 2).dtype == np.int8
    with pytest.raises(TypeError, match="Wrong type"):
        xp.logical_and(x.astype(np.complex64), x)
    with pytest.raises(TypeError, match="not supported"):
        xp.sort(half)


# -- writes


def test_writes(x):
    view = x[0]
    view += 1
    x[1] = xp.asarray([7.0, 8.0, 9.0])
    x[:, 2] = -1
    equal(x, [[1.0, 2, -1], [7, 8, -1]])
    with pytest.raises(ValueError, match="scalar or its own array"):
        x[0] = np.zeros(3)
    x[xp.asarray([0, 1])] = np.zeros(3)  # CuPy converts values where arrays index
    equal(x, np.zeros((2, 3)))
    with pytest.raises(TypeError, match="same_kind"):
        x.astype(np.int32).__iadd__(1.5)
    x.fill(3)
    equal(x, np.full((2, 3), 3.0))


def test_out(x):
    out = xp.zeros((2, 3))
    assert xp.add(x, 1, out=out) is out
    assert xp.multiply(out, 2, out) is out
    equal(out, (HOST + 1) * 2)
    equal(xp.sum(x, axis=0, out=xp.zeros(3)), HOST.sum(0))
    with pytest.raises(ValueError, match="shape"):
        xp.add(x, 1, out=xp.zeros(3))
    with pytest.raises(TypeError):
        xp.add(x, 1, out=np.zeros((2, 3)))


def test_repeated_indices_keep_the_first_write():
    x = xp.zeros(3)
    x[xp.asarray([1, 1, 2])] = xp.asarray([5.0, 6.0, 7.0])
    equal(x, [0.0, 5.0, 7.0])


@pytest.mark.parametrize(
    ("name", "expected"),
    [("add", [0.0, 11, 7]), ("maximum", [0.0, 6, 7]), ("minimum", [0.0, 0, 0])],
)
def test_scatter(name, expected):
    x = xp.zeros(3)
    getattr(xp, name).at(x, xp.asarray([1, 1, 5]), xp.asarray([5.0, 6.0, 7.0]))  # 5 wraps to 2
    equal(x, expected)


def test_scatter_has_few_ufuncs_and_dtypes(x):
    i = xp.asarray([0, 0])
    with pytest.raises(NotImplementedError, match=r"cupy_multiply\.at"):
        xp.multiply.at(x, i, 2.0)
    with pytest.raises(TypeError, match="only supports"):
        xp.add.at(xp.zeros(3, np.complex64), i, 1)
    with pytest.raises(TypeError, match="only supports"):
        xp.maximum.at(xp.zeros(3, np.float16), i, 1)
    xp.add.at(x, slice(0, 1), 1.0)
    xp.add.at(x, x > 4, 1.0)
    equal(x, [[1.0, 2, 3], [3, 4, 6]])


# -- indexing

KEYS = [
    0,
    -1,
    (1, 2),
    (slice(None), 1),
    (slice(None, None, -2), None),
    ...,
    None,
    np.array([1, 0]),
    (slice(None), np.array([[2, 0], [1, 1]])),
    (np.array([0, 1]), np.array([2, 0])),
    (np.array([0, 1]), slice(None), None),
    HOST > 2,
    (0, HOST[0] > 0),
    np.array(1),
    [1, 0, 1],
    (np.array([True, False]), np.array([0, 1])),
]


def on_device(key):
    if isinstance(key, tuple):
        return tuple(map(on_device, key))
    return xp.asarray(key) if isinstance(key, np.ndarray) else key


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_reads_and_writes_by_key(x, key):
    equal(x[on_device(key)], HOST[key])
    equal(x[key], HOST[key])  # CuPy takes NumPy arrays as indices
    host = HOST.copy()
    host[key] = -1
    x[on_device(key)] = -1
    equal(x, host)


def test_basic_keys_make_views_and_arrays_copies(x):
    x[0, 1].fill(9)
    assert x[0, 1].item() == 9
    x[xp.asarray(0), 1].fill(5)
    assert x[0, 1].item() == 9


def test_indices_out_of_range(x):
    equal(x[xp.asarray([2, -3])], HOST[[0, 1]])
    equal(xp.take(x, xp.asarray([3, -4]), axis=1), HOST[:, [0, 2]])
    with pytest.raises(IndexError):
        x[2]
    with pytest.raises(IndexError, match="too many indices"):
        x[xp.asarray([0]), 0, 0]
    with pytest.raises(IndexError, match="integer or boolean"):
        x[xp.asarray([0.0])]


# -- functions


@pytest.mark.parametrize(
    ("namespace", "name"),
    [(xp, "block"), (xp, "unstack"), (xp, "vecdot"), (xp.linalg, "svdvals"), (special, "spence")],
)
def test_missing_names(namespace, name):
    with pytest.raises(AttributeError, match=f"no attribute {name!r}: .* has it and CuPy lacks it"):
        getattr(namespace, name)
    with pytest.raises(AttributeError, match="unknown"):
        namespace.nothing  # noqa: B018 - the look-up is the test


def test_what_is_not_simulated_says_so():
    for name in ("random", "RawKernel", "fuse", "cuda"):
        with pytest.raises(AttributeError, match="CuPy has it, the simulation does not"):
            getattr(xp, name)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        ("xp.sum(x, where=x > 1)", TypeError),
        ("xp.sum(x, 0, None, None, False, 0)", TypeError),
        ("xp.add(x, x, where=x > 1)", TypeError),
        ("xp.zeros(3, device='cpu')", TypeError),
        ("xp.take(x, xp.asarray([0]), mode='clip')", TypeError),
        ("xp.sort(x, kind='quicksort')", ValueError),
        ("xp.sort(x[0, 0])", np.exceptions.AxisError),
        ("xp.lexsort([x[0], x[1]])", TypeError),
        ("xp.nonzero(x[0, 0])", ValueError),
        ("xp.maximum.reduce(x)", NotImplementedError),
        ("xp.maximum.accumulate(x)", NotImplementedError),
        ("xp.reshape(x, xp.asarray([3, 2]))", TypeError),
        ("xp.pad(x, 1, constant_values=x[0, 0])", TypeError),
        ("xp.linalg.cholesky(x @ x.T, upper=True)", TypeError),
        ("xp.linalg.inv(x)", np.linalg.LinAlgError),
        ("xp.linalg.inv(x.astype(np.float16)[:, :2])", TypeError),
        ("x.astype(np.int32, casting='safe')", TypeError),
        ("x.sum(initial=0)", TypeError),
    ],
)
def test_refused_calls(x, call, error):
    with pytest.raises(error):
        run(call, x=x)


@pytest.mark.parametrize(
    "call",
    [
        "xp.concatenate([x, x], axis=1)",
        "xp.stack((x, x))",
        "xp.pad(x, ((1, 0), (0, 2)), constant_values=7)",
        "xp.where(x > 2, x, 0.0)",
        "xp.clip(x, 1, 4)",
        "xp.sort(-x, axis=0)",
        "xp.argsort(-x)",
        "xp.lexsort(-x)",
        "xp.cumsum(x, axis=1)",
        "xp.take_along_axis(x, xp.argsort(-x, axis=1), axis=1)",
        "xp.searchsorted(x[0], x[1])",
        "xp.unique(x % 2)",
        "xp.einsum('ij,kj->ik', x, x)",
        "xp.tensordot(x, x, axes=((1,), (1,)))",
        "xp.broadcast_to(x[0], (4, 3))",
        "xp.roll(xp.moveaxis(x, 0, 1), 1, axis=0)",
        "xp.linalg.cholesky(x @ x.T + xp.eye(2))",
        "xp.linalg.solve(x @ x.T, x)",
        "xp.linalg.qr(x)[1]",
        "xp.linalg.eigh(x @ x.T)[0]",
        "xp.fft.rfft(x.astype(np.float32), axis=0)",
        "x.transpose(1, 0).reshape(-1).astype(np.int8)",
        "x.reshape((3, 2)).swapaxes(0, 1).ravel()",
        "x.mean(0) + x.std(axis=0) + x.prod(axis=0)",
        "xp.full((2, 2), 7, dtype=np.int16)",
        "xp.full_like(x, 3)",
        "xp.zeros_like(x, dtype=bool)",
        "xp.arange(2, 9, 3)",
        "xp.linspace(0, 1, 5)",
        "xp.divmod(x, 2)[0]",
        "xp.frexp(x)[1]",
        "xp.tril(x, 1)",
        "xp.repeat(x, 2, axis=0)",
        "xp.add.outer(x[0], x[1])",
        "xp.multiply.reduce(x + 1)",
    ],
)
def test_functions_compute_as_numpy(x, call):
    equal(run(call, x=x, xp=xp), run(call, x=HOST, xp=np))


def test_a_failed_factorisation_raises_nothing():
    good, bad = np.eye(2), np.array([[1.0, 2], [2, 1]])
    factor = xp.linalg.cholesky(xp.asarray(np.array([good, bad])))
    equal(factor, np.array([good, [[1, 0], [2, -3]]]))
    singular = xp.asarray(np.array([good, np.ones((2, 2))]))
    for result in (xp.linalg.inv(singular), xp.linalg.solve(singular, singular)):
        np.testing.assert_array_equal(result.get()[0], good)
        assert np.isnan(result.get()[1]).all()
    values, vectors = xp.linalg.eig(xp.asarray(good))
    assert values.dtype == vectors.dtype == np.complex128


def test_scipys_names(x):
    equal(special.erf(xp.zeros(2)), np.zeros(2))
    np.testing.assert_allclose(special.gammaln(x + 1)[1].get(), np.log([6.0, 24.0, 120.0]))
    np.testing.assert_allclose(special.logsumexp(x[0]).get(), np.log(np.exp([0.0, 1, 2]).sum()))
    lower = xp.asarray(np.array([[2.0, 0], [1, 4]]))
    solved = scipy_linalg.solve_triangular(lower, xp.asarray(np.array([2.0, 9])), lower=True)
    equal(solved, [1.0, 2.0])
    zero = xp.asarray(np.array([[0.0, 0], [1, 4]]))
    equal(scipy_linalg.solve_triangular(zero, xp.ones((2, 1)), lower=True), [[np.inf], [-np.inf]])
    with pytest.raises(ValueError, match="broadcast"):
        scipy_linalg.solve_triangular(lower[None], xp.ones((3, 2)), lower=True)


def test_no_floating_point_warnings(x):
    equal(
        xp.log(x) / x,
        np.divide(np.log(HOST.clip(1e-300)), HOST, where=HOST > 0, out=np.full_like(HOST, -np.inf)),
    )


def test_every_name_offered_is_cupys():
    for namespace in (xp, xp.linalg, xp.fft, special, scipy_linalg):
        table = facts.table()[namespace.__name__]
        offered = dir(namespace)
        assert set(offered) <= set(table)
        assert len(offered) > len(table) * 0.7
