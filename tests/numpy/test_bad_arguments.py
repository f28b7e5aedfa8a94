"""Arguments of a wrong type or out of range raise our errors, which name the argument."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arrayport_conformance.catalogue import ROWS, Row
from arrayport_conformance.catalogue.rows import fill

import arrayport as ap
import arrayport.numpy as anp
from arrayport.core.tree import tree_map
from arrayport.scipy.signal import csd, welch

KEY = ap.random.PRNGKey(0)
AXES = ["0", 1.5, 99, (0, 99), object()]
ARRAYS = [None, "abc", object()]
INTEGERS = ["zz", (1.5,), object()]
COUNTS = {"num", "k", "N", "n", "offset", "decimals", "kth", "axis1", "axis2", "minlength", "m"} | {
    "shape",
    "source",
    "axes",
    "M",
    "deg",
}
# An optional array is one that may be None.
OPTIONAL = {"clip", "where", "einsum", "broadcast_arrays", "cov", "corrcoef"}
PACKAGE = Path(ap.__file__).parent


def spoiled(row: Row) -> Iterator[tuple[str, Any, dict[str, Any], inspect.Signature]]:
    """Give the arguments of the row's first call with one of them replaced by nonsense."""
    call = fill(row.cases[0], row.dtypes[0], 0)
    signature = inspect.signature(function(row))
    try:
        bound = signature.bind(*call.args, **call.kwargs)
    except TypeError:
        return
    kinds = {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}
    for name, parameter in signature.parameters.items():
        if parameter.kind in kinds:
            continue
        if name == "axis":
            bad: list[Any] = AXES
        elif isinstance(bound.arguments.get(name), np.ndarray):
            bad = ARRAYS
        elif name in COUNTS and row.function.count(".") == 1:
            bad = INTEGERS
        else:
            continue
        for value in bad:
            yield name, value, bound.arguments | {name: value}, signature


def function(row: Row) -> Any:
    found: Any = anp
    for part in row.function.split(".")[1:]:
        found = getattr(found, part)
    return found


@pytest.mark.parametrize(
    "row", [r for r in ROWS if r.function.startswith("numpy.")], ids=lambda row: row.function
)
def test_errors_are_ours(row: Row) -> None:
    raw = []
    with ap.use_backend("numpy"):
        for name, value, arguments, signature in spoiled(row):
            call = signature.bind_partial()
            call.arguments = tree_map(
                lambda x: anp.asarray(x) if isinstance(x, np.ndarray) else x, arguments
            )
            try:
                function(row)(*call.args, **call.kwargs)
            except (TypeError, ValueError, NotImplementedError) as error:
                last = traceback.extract_tb(error.__traceback__)[-1]
                ours = PACKAGE in Path(last.filename).parents
                if not (ours and "raise " in (last.line or "")) and not isinstance(
                    error, np.exceptions.AxisError
                ):
                    raw.append((name, value, repr(error), f"{last.filename}:{last.lineno}"))
    assert raw == []


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda: anp.arange(0, 1, 0), ZeroDivisionError, "step of arange must not be 0"),
        (lambda: anp.tile(anp.ones(2), 2.0), TypeError, "reps must be an integer or a sequence"),
        (lambda: anp.linspace(0, 1, 3.5), TypeError, r"num must be an integer, not 3\.5"),
        (lambda: anp.sum(anp.ones(2), axis="0"), TypeError, "axis must be an integer or a tuple"),
        (lambda: anp.zeros(2.5), TypeError, "shape must be an integer or a sequence"),
        (lambda: anp.zeros((2, -1)), ValueError, "shape must not be negative"),
        (lambda: anp.array([[1], [1, 2]]), ValueError, "nested sequences differ in length"),
        (
            lambda: anp.concatenate([anp.ones((2, 2)), anp.ones((3, 3))]),
            TypeError,
            r"cannot concatenate shapes \(2, 2\), \(3, 3\) along axis 0",
        ),
        (lambda: anp.pad(anp.ones(2), 1.5), TypeError, "pad_width must be an integer, not 1.5"),
        (lambda: anp.eye(2.5), TypeError, "N must be an integer"),
        (lambda: anp.eye(2, k=1.5), TypeError, "k must be an integer"),
        (lambda: anp.tri(2, 1.5), TypeError, "M must be an integer"),
        (lambda: anp.arange("a"), TypeError, "start of arange must be a real number"),
        (lambda: anp.arange(0, 1j), TypeError, "stop of arange must be a real number"),
        (lambda: anp.var(anp.ones(2), ddof="a"), TypeError, "ddof must be"),
        (
            lambda: anp.bincount(anp.array([0]), length=-1),
            ValueError,
            "length must not be negative",
        ),
        (lambda: anp.convolve(anp.ones((2, 2)), anp.ones(2)), ValueError, "convolve takes vectors"),
        (lambda: anp.correlate(anp.ones(2), anp.ones(2), "x"), ValueError, "mode='x' of correlate"),
        (lambda: anp.round(anp.array([True])), TypeError, "round takes numbers, not bool"),
        (lambda: csd(anp.ones(8), anp.ones(8), nperseg=2.5), TypeError, "nperseg must be an integ"),
        (lambda: welch(anp.ones(8), window=3), ValueError, "window must be a name, or a vector"),
        (lambda: ap.random.choice(KEY, 2.5), TypeError, "population a must be an integer"),
        (lambda: ap.random.beta(KEY, 1.0, 1.0, method="x"), ValueError, "beta: method='x'"),
        (lambda: ap.random.permutation(KEY, 2.5), TypeError, "an array or an integer, not 2.5"),
        (
            lambda: ap.ops.segment_sum(anp.ones(2), anp.array([0, 1]), 2.5),
            TypeError,
            "num_segments must be an integer",
        ),
        (
            lambda: ap.jit(anp.sin, statik_argnums=0),
            TypeError,
            "takes no argument 'statik_argnums'",
        ),
        (lambda: anp.repeat(anp.ones(2), 1.5), TypeError, "repeats must be an integer or a vec"),
        (lambda: anp.transpose(anp.ones((2, 2)), (0, 0)), ValueError, r"axes=\(0, 0\) names an"),
        (lambda: anp.cov(anp.ones((2, 2, 2))), ValueError, r"as m and y, not shape \(2, 2, 2\)"),
        (lambda: anp.pad(anp.ones(2), 1, mode="x"), NotImplementedError, "use one of 'constant'"),
        (lambda: ap.nn.one_hot(anp.arange(2), -1), ValueError, "num_classes must not be negative"),
        (lambda: len(anp.array(1)), TypeError, "it has no axis"),
        (lambda: anp.bitwise_and(anp.ones(2), 1), TypeError, "and: this operation has no meaning"),
    ],
)
@pytest.mark.usefixtures("backend")
def test_messages_name_the_argument(call: Any, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        call()


def test_a_jitted_function_runs_where_it_was_to() -> None:
    with ap.use_backend("numpy"):
        assert ap.jit(anp.square, backend="cpu")(anp.array(3.0)) == 9
        with pytest.raises(ValueError, match="has backend='tpu', but its arrays are on numpy:cpu"):
            ap.jit(anp.square, backend="tpu")(anp.array(3.0))


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize(
    ("function", "size", "name"),
    [
        (lambda n: ap.ops.segment_sum(anp.ones(2), anp.array([0, 1]), n), 2, "num_segments"),
        (lambda ids: ap.ops.segment_sum(anp.ones(2), ids), np.array([0, 1]), "segment_ids"),
        (lambda n: welch(anp.ones(8), nperseg=n), 4, "nperseg"),
        (anp.eye, 3, "N"),
        (lambda n: anp.linspace(0, 1, n), 3, "num"),
    ],
)
def test_a_traced_size_is_named(function: Any, size: Any, name: str) -> None:
    with pytest.raises(ap.errors.ConcretizationTypeError, match=f"was used as {name}"):
        ap.jit(function)(size)


@pytest.mark.usefixtures("backend")
def test_a_traced_axis_is_named() -> None:
    with pytest.raises(ap.errors.ConcretizationTypeError, match="was used as axis at"):
        ap.jit(anp.sum)(anp.ones(2), 0)


# What users get wrong most often, and what they are told, on each backend, compiled or not.
MISTAKES = {
    "shapes": (lambda x: x + anp.ones(4), ValueError, "do not broadcast .* at test_bad_arg.*equal"),
    "maximum": (lambda x: anp.maximum(x, anp.ones(4)), ValueError, r"shapes \(3,\), \(4,\) do not"),
    "matmul": (
        lambda x: x @ anp.ones((4, 2)),
        TypeError,
        r"matmul: shapes \(3,\) and \(4, 2\) do.*last",
    ),
    "dot": (
        lambda x: anp.dot(x, anp.ones(4)),
        TypeError,
        "dot: shapes .* 4 of the second's only axis",
    ),
    "reshape": (lambda x: x.reshape(2, 2), TypeError, r"into \(2, 2\) at .* sizes differ, 3 and 4"),
    "rest": (lambda x: x.reshape(2, -1), TypeError, "one extent may be -1, .* divide the size, 3"),
    "joined": (lambda x: anp.vstack([x, x[:2]]), TypeError, "cannot concatenate .* must be equal"),
    "axis": (lambda x: x.sum(axis=1), np.exceptions.AxisError, "axis 1 is out of bounds .* 1"),
    "index": (lambda x: x[7], IndexError, "index 7 is out of range for axis 0 of size 3"),
    "indices": (lambda x: x[0, 0], IndexError, r"too many indices: the array of shape \(3,\)"),
    "place": (
        lambda x: x.at[7].set(1.0),
        IndexError,
        "index 7 is out of range for axis 0 of size 3",
    ),
    "part": (
        lambda x: x.at[:2].set(anp.ones(3)),
        ValueError,
        "the part to update, .*bad_arguments",
    ),
    "float": (lambda x: x[1.0], TypeError, "a key holds integers, slices, None, ... and arrays"),
    "dtype": (lambda x: x.astype("float33"), TypeError, "'float33' is not a supported dtype: use"),
    "assignment": (lambda x: x.__setitem__(slice(1, 2), 0), TypeError, r"write x = x\.at\[slice"),
    "keyword": (
        lambda x: anp.sum(x, axes=0),
        TypeError,
        "sum.. got an unexpected keyword.* 'axes'",
    ),
}


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("name", MISTAKES)
def test_common_mistakes_are_told_alike(name: str) -> None:
    function, error, message = MISTAKES[name]
    told = set()
    for call in (function, ap.jit(function)):
        with pytest.raises(error, match=message) as caught:
            call(anp.asarray(np.ones(3, np.float32)))
        told.add((caught.type, str(caught.value)))
    assert len(told) == 1


@pytest.mark.usefixtures("backend")
def test_changing_by_an_operator_makes_a_new_array() -> None:
    x = y = anp.asarray(np.ones(3, np.float32))
    y += 1
    assert (x[0], y[0]) == (1, 2)
    with pytest.raises(ap.errors.TracerBoolConversionError, match=r"use lax\.cond"):
        ap.jit(lambda v: 1 if v[0] > 0 else 2)(x)
