"""xarray around Arrays: what it does of arrays that are not NumPy's, against NumPy's."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
import xarray as xr

import arrayport as ap
import arrayport.numpy as anp

pytestmark = pytest.mark.usefixtures("backend", "wide")
RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(3, 4)), np.array([2.0, 1.0, 4.0, 3.0])
HOLED = np.where(X > 0.5, np.nan, X)


def table(values):
    return xr.DataArray(values, dims=("time", "place"), coords={"time": [10, 20, 30]})


class Tables(NamedTuple):
    """A table, a row to go with it, and a table with holes."""

    x: xr.DataArray
    y: xr.DataArray
    holed: xr.DataArray


GROUPS = xr.DataArray([0, 1, 0], dims="time").rename("g")
# What is done with tables.
DONE = {
    "arithmetic": lambda t: (t.x + t.y) * 2 - t.y / t.x,
    "comparison": lambda t: t.x > t.y,
    "ufunc": lambda t: np.exp(t.x) + np.maximum(t.x, t.y),
    "matrix product": lambda t: t.x @ t.y,
    "dot": lambda t: xr.dot(t.x, t.y, dim="place"),
    "sum": lambda t: t.x.sum("place"),
    "mean": lambda t: t.holed.mean(),
    "sum without holes": lambda t: t.holed.sum("time"),
    "std": lambda t: t.x.std("time"),
    "max": lambda t: t.holed.max("place"),
    "argmax": lambda t: t.x.argmax("place"),
    "count": lambda t: t.holed.count("time"),
    "cumsum": lambda t: t.x.cumsum("place"),
    "isel": lambda t: t.x.isel(time=0, place=slice(1, None)),
    "isel by list": lambda t: t.x.isel(place=[0, 2]),
    "sel": lambda t: t.x.sel(time=[30, 10]),
    "where": lambda t: t.x.where(t.x > 0, 9.0),
    "where by dropping": lambda t: t.x.where(t.x.time > 10, drop=True),
    "fillna": lambda t: t.holed.fillna(0.0),
    "isnull": lambda t: t.holed.isnull(),
    "clip": lambda t: t.x.clip(-0.5, 0.5),
    "concat": lambda t: xr.concat([t.x, 2 * t.x], dim="time"),
    "stack": lambda t: t.x.stack(both=("time", "place")),
    "transpose": lambda t: t.x.transpose("place", "time"),
    "expand_dims": lambda t: t.x.expand_dims("again"),
    "shift": lambda t: t.x.shift(place=1),
    "roll": lambda t: t.x.roll(place=1),
    "pad": lambda t: t.x.pad(place=(1, 2), constant_values=0.0),
    "diff": lambda t: t.x.diff("place"),
    "astype": lambda t: t.x.astype("float32"),
    "round": lambda t: t.x.round(1),
    "broadcast_like": lambda t: t.y.broadcast_like(t.x),
    "groupby": lambda t: t.x.groupby(xr.DataArray([0, 1, 0], dims="time").rename("g")).mean(),
    "coarsen": lambda t: t.x.coarsen(place=2).mean(),
    "apply_ufunc": lambda t: xr.apply_ufunc(anp.tanh, t.x),
    "dataset": lambda t: xr.Dataset({"x": t.x, "y": t.y}).mean("place")["x"],
}


def made(asarray):
    row = xr.DataArray(asarray(Y), dims=("place",))
    return Tables(table(asarray(X)), row, table(asarray(HOLED)))


@pytest.mark.parametrize("name", DONE)
def test_what_is_done(name, backend):
    expected, found = DONE[name](made(np.asarray)), DONE[name](made(anp.asarray))
    assert isinstance(found.data, ap.Array)
    assert found.data.device.backend == backend
    assert found.dims == expected.dims
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(np.asarray(found.data), expected.data, rtol=1e-12)


def test_windows_are_not_there():
    """Xarray looks for them below `lib`, which jax.numpy has no more than we."""
    with pytest.raises(AttributeError, match="lib"):
        made(anp.asarray).x.rolling(place=2).mean()


def test_assignment_is_refused():
    with pytest.raises(TypeError, match="an Array cannot change"):
        made(anp.asarray).x[0] = 1.0
