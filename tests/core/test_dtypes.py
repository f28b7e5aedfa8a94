"""Tests of the data types: every promotion against JAX, limits and refusals against the facts."""

from __future__ import annotations

import contextlib
import enum
import itertools
from collections.abc import Iterator

import ml_dtypes
import numpy as np
import pytest

from arrayport.core import dtypes
from arrayport.core.config import config

NAMES = tuple(dtypes.SUPPORTED)
WIDE = {"int64": "int32", "uint64": "uint32", "float64": "float32", "complex128": "complex64"}


@pytest.fixture(params=[False, True], ids=["x32", "x64"])
def x64(request: pytest.FixtureRequest) -> Iterator[bool]:
    with config.override("enable_x64", request.param):
        yield request.param


@pytest.fixture
def jax_x64(x64: bool):
    jax = pytest.importorskip("jax", reason="the reference for promotion is JAX")
    with jax.enable_x64(x64):
        yield jax


def outcome(function, *args):
    """Return what a call gives, or that it refuses: both sides must agree on either."""
    with contextlib.suppress(ValueError):
        return function(*args)
    return "refused"


def jax_answers(jax, function, operands, count):
    """Return JAX's `function` of all `count`-tuples of operands (name, weak) while tracing."""
    found = {}

    def trace(*tracers):
        by_operand = dict(zip(operands, tracers, strict=True))
        for chosen in itertools.product(operands, repeat=count):
            found[chosen] = outcome(function, *(by_operand[operand] for operand in chosen))

    structs = [jax.ShapeDtypeStruct((), name, weak_type=weak) for name, weak in operands]
    jax.eval_shape(trace, *structs)
    return found


def test_every_pair_promotes_as_in_an_addition_of_jax(jax_x64):
    def add(x, y):
        total = jax_x64.numpy.add(x, y)
        return total.dtype, total.weak_type

    names = [n for n in NAMES if jax_x64.config.jax_enable_x64 or n not in WIDE]
    operands = list(itertools.product(names, (False, True)))
    expected = jax_answers(jax_x64, add, operands, 2)
    assert len(expected) == len(operands) ** 2
    for ((a, a_weak), (b, b_weak)), answer in expected.items():
        pairs = ((np.dtype(a), a_weak), (np.dtype(b), b_weak))
        assert outcome(dtypes.promote, *pairs[0], *pairs[1]) == answer, pairs
        assert outcome(dtypes.result_type, *pairs) == answer, pairs


def test_triples_promote_as_in_jax(jax_x64):
    def result_type(*xs):
        return jax_x64.dtypes.result_type(*xs, return_weak_type_flag=True)

    bits = 64 if jax_x64.config.jax_enable_x64 else 32
    strong = ("bool", "int8", "uint8", "int32", "uint32", "bfloat16", "float16", "float32")
    narrow = ("float8_e5m2", "float4_e2m1fn", "int4", "uint2")
    operands = [(name, False) for name in (*strong, "complex64", *narrow)]
    operands += [(f"int{bits}", True), (f"float{bits}", True), (f"complex{2 * bits}", True)]
    for chosen, answer in jax_answers(jax_x64, result_type, operands, 3).items():
        ours = outcome(dtypes.result_type, *((np.dtype(name), weak) for name, weak in chosen))
        assert ours == answer, chosen


@pytest.mark.filterwarnings("ignore:Explicitly requested dtype:UserWarning")
def test_explicit_64_bit_types_promote_as_in_jax(jax_x64):
    for a, b in itertools.product(NAMES, NAMES):
        theirs = outcome(jax_x64.numpy.result_type, np.dtype(a), np.dtype(b))
        ours = outcome(dtypes.result_type, (np.dtype(a), False), (np.dtype(b), False))
        assert (ours if ours == "refused" else ours[0]) == theirs, (a, b)


def test_promote_types_is_jax_s(jax_x64):
    specs = (*(np.dtype(name) for name in NAMES), int, float, complex)
    for a, b in itertools.product(specs, specs):
        theirs = outcome(jax_x64.numpy.promote_types, a, b)
        assert outcome(dtypes.promote_types, a, b) == theirs, (a, b)


def test_a_weak_result_of_strong_and_weak_operands():
    with config.override("enable_x64", True):
        assert dtypes.promote(dtypes.int8, False, dtypes.float32, True) == (dtypes.float64, True)
        assert dtypes.promote(dtypes.bool_, False, dtypes.int32, True) == (dtypes.int64, True)
    assert dtypes.promote(dtypes.int8, False, dtypes.float32, True) == (dtypes.float32, True)


def test_promotion_follows_the_switch_though_it_is_cached():
    pair = (dtypes.uint32, False, dtypes.int8, False)
    answers = []
    for wide in (False, True, False, True):
        with config.override("enable_x64", wide):
            answers.append(dtypes.promote(*pair)[0].name)
    assert answers == ["int32", "int64", "int32", "int64"]


def test_refused_promotion_names_the_types_and_the_cure():
    with pytest.raises(ValueError, match=r"float32, float8_e4m3fn do not .*x\.astype\('float32'\)"):
        dtypes.promote(dtypes.float8_e4m3fn, False, dtypes.float32, False)
    with pytest.raises(ValueError, match="Python float, int4"):
        dtypes.promote(dtypes.int4, False, dtypes.float32, True)
    with pytest.raises(ValueError, match="at least one"):
        dtypes.result_type()


@pytest.mark.parametrize("name", NAMES)
def test_canonicalize_halves_64_bit_types_unless_x64(name, x64):
    expected = np.dtype(name if x64 else WIDE.get(name, name))
    scalar_type = np.dtype(name).type
    for spec in (name, np.dtype(name), scalar_type, dtypes.SUPPORTED[name]):
        assert dtypes.canonicalize(spec) is expected
    assert dtypes.kind(name) == dtypes.kind(expected)


def test_python_types_mean_the_defaults(x64):
    bits = 64 if x64 else 32
    assert dtypes.canonicalize(bool) == np.bool_
    assert dtypes.canonicalize(int).name == dtypes.default_int().name == f"int{bits}"
    assert dtypes.canonicalize(float).name == dtypes.default_float().name == f"float{bits}"
    expected = f"complex{2 * bits}"
    assert dtypes.canonicalize(complex).name == dtypes.default_complex().name == expected


def test_canonicalize_reads_the_dtype_of_a_scalar_type_object():
    class float16_like:  # noqa: N801 - as the public scalar types are spelled
        dtype = np.dtype(np.float16)

    assert dtypes.canonicalize(float16_like) == np.float16


def test_canonicalize_drops_metadata():
    tagged = np.dtype(np.float32, metadata={"unit": "m"})
    assert dtypes.canonicalize(tagged).metadata is None


@pytest.mark.parametrize(
    "bad",
    [
        object, "O", str, "S3", "U", "M8[s]", "m8[s]", "V4", "longdouble", "clongdouble",
        [("a", "i4")], None, 3, 1.0, np.float32(1), np.floating, "no such", ["float32"], {"f": 1},
    ],
    ids=repr,
)  # fmt: skip
def test_unsupported_dtypes_are_refused_by_name(bad):
    if isinstance(bad, str) and np.dtype("longdouble") == np.float64 and "long" in bad:
        pytest.skip("this platform's longdouble is float64")
    dtypes.canonicalize(np.float32)
    with pytest.raises(TypeError, match="is not a supported dtype: use bool, int8") as caught:
        dtypes.canonicalize(bad)
    assert repr(bad) in str(caught.value)


def test_foreign_byte_order_is_refused_with_the_cure():
    with pytest.raises(TypeError, match=r"foreign byte order: use \.astype\('float32'\)"):
        dtypes.canonicalize(np.dtype("f4").newbyteorder())


def test_categories_are_jax_s():
    jax = pytest.importorskip("jax", reason="the reference for issubdtype is JAX")
    abstract = (
        np.generic, np.number, np.integer, np.signedinteger, np.unsignedinteger, np.inexact,
        np.floating, np.complexfloating, np.character, np.flexible,
    )  # fmt: skip
    concrete = (bool, int, float, complex, np.bool_, np.float32, np.int8, ml_dtypes.bfloat16)
    specs = (*NAMES, *(np.dtype(n) for n in NAMES), int, float, np.float16, ml_dtypes.int4)
    for spec, category in itertools.product((*specs, *abstract), (*abstract, *concrete)):
        theirs = jax.numpy.issubdtype(spec, category)
        assert dtypes.issubdtype(spec, category) == theirs, (spec, category)
    assert dtypes.issubdtype(dtypes.float32, dtypes.float32)
    assert not dtypes.issubdtype(dtypes.float64, dtypes.float32)


def test_predicates_agree_with_the_categories():
    for name in NAMES:
        dtype = np.dtype(name)
        assert dtypes.is_integer(dtype) == dtypes.issubdtype(dtype, np.integer)
        assert dtypes.is_floating(dtype) == dtypes.issubdtype(dtype, np.floating)
        assert dtypes.is_complex(dtype) == dtypes.issubdtype(dtype, np.complexfloating)
        assert dtypes.is_inexact(dtype) == dtypes.issubdtype(dtype, np.inexact)
    assert dtypes.is_floating(ml_dtypes.bfloat16)
    assert dtypes.is_floating("float8_e5m2")
    with pytest.raises(TypeError, match="not a supported dtype"):
        dtypes.is_inexact("O")


def test_narrow_floats_are_those_under_32_bits():
    expected = {n for n in NAMES if "float" in n and n not in ("float32", "float64")}
    assert {dtype.name for dtype in dtypes.NARROW} == expected


def test_functions_of_integers_compute_in_jax_s_float(jax_x64):
    jnp = jax_x64.numpy
    for name in ("bool", "int8", "uint8", "int16", "int32", "uint32", "float16", "bfloat16"):
        assert dtypes.to_inexact(np.dtype(name)) == jnp.sin(jnp.zeros((), name)).dtype
    wide = dtypes.float64 if jax_x64.config.jax_enable_x64 else dtypes.float32
    assert dtypes.to_inexact(dtypes.int64) == dtypes.to_inexact(dtypes.uint64) == wide
    assert dtypes.to_inexact(dtypes.complex64) == dtypes.complex64


def test_real_and_complex_partners(x64):
    assert dtypes.real_dtype(dtypes.complex64) == np.float32
    assert dtypes.real_dtype(dtypes.complex128) == np.float64
    assert dtypes.real_dtype(dtypes.bfloat16) == dtypes.bfloat16
    for name in ("float32", "bfloat16", "float16", "int8", "bool", "complex64"):
        assert dtypes.complex_dtype(np.dtype(name)) == np.complex64
    for name in ("float64", "int64", "complex128"):
        assert dtypes.complex_dtype(np.dtype(name)) == (np.complex128 if x64 else np.complex64)


def test_python_numbers_are_weak_bools_and_numpy_scalars_are_not(x64):
    class Level(enum.IntEnum):
        HIGH = 1

    integer = np.dtype(np.int64 if x64 else np.int32)
    floating = np.dtype(np.float64 if x64 else np.float32)
    assert dtypes.scalar_dtype(True) == (np.dtype(bool), False)
    assert dtypes.scalar_dtype(2**40) == dtypes.scalar_dtype(Level.HIGH) == (integer, True)
    assert dtypes.scalar_dtype(1.5) == (floating, True)
    assert dtypes.scalar_dtype(1j) == (np.dtype(np.complex128 if x64 else np.complex64), True)
    assert dtypes.scalar_dtype(np.float64(1)) == (floating, False)
    assert dtypes.scalar_dtype(np.int8(1)) == (np.dtype(np.int8), False)
    with pytest.raises(TypeError, match="str is not a Python number"):
        dtypes.scalar_dtype("1")


@pytest.mark.parametrize("name", [n for n in NAMES if "int" in n])
def test_an_integer_fits_exactly_within_its_limits(name):
    dtype = np.dtype(name)
    bits = int(name.split("int")[1])
    low, high = (0, 2**bits - 1) if name[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    dtypes.check_fits(low, dtype)
    dtypes.check_fits(high, dtype)
    for value in (low - 1, high + 1):
        with pytest.raises(OverflowError, match=rf"{value} does not fit {name}"):
            dtypes.check_fits(value, dtype)
    info = dtypes.iinfo(dtype)
    assert (info.bits, int(info.min), int(info.max), info.dtype) == (bits, low, high, dtype)


def test_the_error_of_a_big_integer_speaks_of_x64_only_where_that_helps():
    with pytest.raises(OverflowError, match=r"config\.update\('enable_x64', True\)"):
        dtypes.check_fits(2**31, dtypes.int32)
    with config.override("enable_x64", True), pytest.raises(OverflowError, match=r"wider dtype$"):
        dtypes.check_fits(2**31, dtypes.int32)
    dtypes.check_fits(2**100, dtypes.float32)


@pytest.mark.parametrize("name", [n for n in NAMES if "float" in n])
def test_float_limits_are_those_of_the_type_itself(name):
    info = dtypes.finfo(name)
    kind = np.dtype(name).type
    assert info.dtype == np.dtype(name)
    assert info.bits == int(name.split("float")[1].split("_")[0])
    assert float(kind(info.max)) == info.max
    assert float(kind(info.smallest_normal)) == info.smallest_normal == info.tiny
    one, above = kind(1), kind(1 + info.eps)
    assert float(above) - float(one) == info.eps
    assert all(type(getattr(info, n)) is float for n in ("eps", "max", "min", "smallest_normal"))


def test_float_limits_of_arrays_and_complex_types():
    assert dtypes.finfo(np.zeros(3, np.float32)) == dtypes.finfo("complex64")
    assert dtypes.finfo(np.complex128).eps == 2.0**-52
    assert dtypes.iinfo(np.int8(3)).max == 127
    with pytest.raises(ValueError, match="use iinfo"):
        dtypes.finfo(int)
    with pytest.raises(ValueError, match="use finfo"):
        dtypes.iinfo(np.float32)


def test_can_cast_is_numpy_s():
    for a, b, casting in itertools.product(NAMES, NAMES, ("safe", "same_kind", "unsafe")):
        expected = np.can_cast(np.dtype(a), np.dtype(b), casting)
        assert dtypes.can_cast(a, b, casting) == expected
    assert dtypes.can_cast(np.zeros(2, np.int8), "int16")
    with pytest.raises(TypeError, match="not the Python number 1"):
        dtypes.can_cast(1, "int8")
