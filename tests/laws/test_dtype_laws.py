"""Eager, traced and JAX's calls take the same dtypes, elementwise function by function."""

from __future__ import annotations

from importlib import metadata
from importlib.util import find_spec

import pytest
from arrayport_conformance import dtype_laws
from arrayport_conformance.catalogue import NEWER, Row, bits, elementwise, special

import arrayport as ap

ROWS = [
    row
    for family in (elementwise, special, bits)
    for row in family.ROWS
    if dtype_laws.stated(row) is not None
]
JAX = metadata.version("jax") if find_spec("jax") else ""
NEW = bool(JAX) and tuple(map(int, JAX.split(".")[:2])) >= (0, 12)

COUNTED = "booleans and integers are numbers, where JAX refuses them"
HALF = "half precision computes through float32, where JAX refuses it"
REAL = "complex numbers have no meaning here yet"
TRUTH = "of booleans JAX makes integers or floats that give way"
WEAK = "of two operands JAX lets one's weakness decide"
NARROW = ("float16", "bfloat16")
WHOLE = ("bool", "int8", "uint8")

# Where the types differ from JAX's: for which dtypes, and why.
DEPARTURES: dict[str, tuple[tuple[str, ...], str]] = {
    **dict.fromkeys(["numpy.power", "numpy.pow", "numpy.gcd", "numpy.lcm"], (("bool",), WEAK)),
    **dict.fromkeys(["nn.log1mexp", "scipy.special.softmax"], (("bool",), COUNTED)),
    "scipy.special.log_softmax": (("bool",), COUNTED),
    **dict.fromkeys(["nn.sigmoid", "nn.silu", "nn.swish"], ((*WHOLE, "2"), COUNTED)),
    **dict.fromkeys(
        ["nn.relu", "nn.softplus", "nn.soft_sign", "nn.hard_tanh", "nn.mish"], (("bool",), TRUTH)
    ),
    "nn.sparse_sigmoid": (("complex64",), "complex numbers have an order here, as in numpy.max"),
    **dict.fromkeys(
        [f"scipy.special.{name}" for name in ("ndtr", "ndtri", "log_ndtr", "spence")],
        ((*WHOLE, *NARROW, "2"), f"{COUNTED}; {HALF}"),
    ),
    **dict.fromkeys(
        [f"scipy.special.{n}" for n in ("erfcx", "loggamma", "gamma", "boxcox", "boxcox1p")],
        (("complex64",), REAL),
    ),
    "scipy.special.owens_t": (
        dtype_laws.DTYPES,
        f"JAX computes it in the default float; {REAL}",
    ),
    "scipy.special.multigammaln": (("bool",), "booleans are float32, as in lgamma"),
    "lax.polygamma": (
        (*NARROW, "float32"),
        "a Python number takes the other operand's dtype, as in lax.add",
    ),
    "scipy.special.sph_harm_y": (
        (*WHOLE, *NARROW, "float32", "2", "2.5"),
        "JAX computes it only where n is known",
    ),
}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_eager_and_traced_calls_take_the_same_dtypes(row: Row) -> None:
    with ap.use_backend("numpy"):
        dtype_laws.traced(row)


@pytest.mark.skipif(not NEW, reason="the dtypes are those that JAX 0.12 takes")
@pytest.mark.filterwarnings("ignore:.*encountered in cast:RuntimeWarning")
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_jax_takes_the_same_dtypes(row: Row) -> None:
    with ap.use_backend("numpy"):
        found = dict(dtype_laws.departures(row))
    stated, reason = DEPARTURES.get(row.name, ((), ""))
    assert set(found) == set(stated), f"{reason}\n" + "\n".join(found.values())


def test_departures_are_of_rows() -> None:
    assert set(DEPARTURES) <= {row.name for row in ROWS} | NEWER
