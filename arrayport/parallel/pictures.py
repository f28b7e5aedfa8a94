"""Pictures of shardings, in text: which part of an array is on which device."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from arrayport.control.callbacks import debug_callback
from arrayport.core.array import Array, Tracer
from arrayport.core.shardings import Sharding, SingleDeviceSharding
from arrayport.core.trace import backend_of
from arrayport.ops.promotion import lift
from arrayport.transforms.engines import run_on_engine


def visualize_sharding(
    shape: Sequence[int],
    sharding: Sharding,
    *,
    use_color: bool = True,
    scale: float = 1.0,
    min_width: int = 9,
    max_width: int = 80,
    color_map: Any = None,
) -> None:
    """Print how an array of one or two dimensions is divided, as a table of devices.

    A part is at least `min_width` characters wide, the table at most `max_width` where the text
    leaves room; colours and `scale` change nothing. Raises ValueError for more dimensions.
    Source: `jax.debug.visualize_sharding`.

    >>> import arrayport as ap
    >>> with ap.virtual_devices(2), ap.use_backend("numpy"):
    ...     mesh = ap.make_mesh((2,), ("x",))
    ...     ap.debug.visualize_sharding((4, 4), ap.NamedSharding(mesh, ap.P(None, "x")))
    ┌─────────┬─────────┐
    │  CPU 0  │  CPU 1  │
    └─────────┴─────────┘
    """
    del use_color, scale, color_map
    if len(shape) not in (1, 2):
        raise ValueError(
            f"visualize_sharding shows arrays of one or two dimensions, not of shape {shape}"
        )
    cells: dict[Any, list[Any]] = {}
    for device, index in sharding.devices_indices_map(tuple(shape)).items():
        spans = [s.indices(n)[:2] for s, n in zip(index, shape, strict=True)]
        cells.setdefault(((0, 1), *spans)[-2:], []).append(device)
    rows, columns = (sorted({place[i] for place in cells}) for i in (0, 1))
    texts = {
        place: f"{found[0].platform.upper()} {','.join(str(d.id) for d in found)}"
        for place, found in cells.items()
    }
    longest = max(map(len, texts.values()))
    width = max(longest, min(min_width, max_width // len(columns) - 1))
    line = "─" * width
    table = []
    for row in rows:
        table.append("│" + "│".join(texts[row, c].center(width) for c in columns) + "│")
        table.append("├" + "┼".join([line] * len(columns)) + "┤")
    table[-1] = "└" + "┴".join([line] * len(columns)) + "┘"
    top = "┌" + "┬".join([line] * len(columns)) + "┐"
    sys.stdout.write("\n".join([top, *table]) + "\n")


def visualize_array_sharding(arr: Any, **kwargs: Any) -> None:
    """Print how an array is divided over devices: `visualize_sharding` of its own.

    In traced functions it prints when they run. Source: `jax.debug.visualize_array_sharding`.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> ap.debug.visualize_array_sharding(anp.ones(4, device="numpy"))
    ┌─────────┐
    │  CPU 0  │
    └─────────┘
    """
    x = lift(arr, None, "arr")
    inspect_array_sharding(x, callback=lambda s: visualize_sharding(x.shape, s, **kwargs))


def inspect_array_sharding(value: Any, *, callback: Callable[[Sharding], None]) -> None:
    """Call a function with an array's sharding; in traced functions, whenever they run.

    Source: `jax.debug.inspect_array_sharding`. What runs on NumPy and CuPy is on one device.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> inspect_array_sharding(anp.ones(2), callback=lambda s: print(len(s.device_set)))
    1
    """
    x = lift(value, None, "value")
    run_on_engine("inspect_array_sharding", _inspect, (x,), x, callback)


def _inspect(x: Array, callback: Callable[[Sharding], None]) -> None:
    if not isinstance(x, Tracer):
        callback(x.sharding)
        return
    own = backend_of(x)
    assert own is not None
    sharding = SingleDeviceSharding(own.devices()[0])
    debug_callback(lambda _x: callback(sharding), (x,), {}, ordered=False)
