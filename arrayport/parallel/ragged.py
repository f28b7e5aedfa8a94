"""ragged_all_to_all: rows in slices of any size, sent between the examples along a mapped axis."""

from __future__ import annotations

from typing import Any

from arrayport.core.array import Array
from arrayport.core.dtypes import int32
from arrayport.ops.creation import iota
from arrayport.ops.elementwise import select
from arrayport.ops.indexing import take
from arrayport.ops.promotion import lift
from arrayport.ops.structure import broadcast_in_dim, reshape
from arrayport.parallel.collectives import all_gather, all_to_all, axis_size
from arrayport.transforms.engines import run_on_engine


def ragged_all_to_all(
    operand: Any,
    output: Any,
    input_offsets: Any,
    send_sizes: Any,
    output_offsets: Any,
    recv_sizes: Any,
    *,
    axis_name: Any,
    axis_index_groups: Any = None,
) -> Array:
    """Send slices of an operand's rows to other examples, which write them into their outputs.

    Slice i of each example is the `send_sizes[i]` rows from `input_offsets[i]` on; it goes to
    example `i // (len(send_sizes) / axis size)` and is written from row `output_offsets[i]` on.
    `recv_sizes` says the same of what arrives, and is not needed here. Rows of `output` where
    nothing is written stay. On JAX, XLA must have it for the device, which on CPUs it has not.
    Raises ValueError for offsets that do not divide evenly. Source: `jax.lax.ragged_all_to_all`.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> def swap(rows, starts, sizes, places):
    ...     empty = anp.zeros(3, rows.dtype)
    ...     return ragged_all_to_all(rows, empty, starts, sizes, places, sizes, axis_name="i")
    >>> rows, sizes = anp.array([[1, 2], [3, 4]]), anp.array([[0, 2], [1, 0]])
    >>> ap.vmap(swap, axis_name="i")(rows, 0 * sizes, sizes, 0 * sizes + 1)
    Array([[0, 3, 0],
           [0, 1, 2]], dtype=int32)
    """
    operands = (operand, output, input_offsets, send_sizes, output_offsets, recv_sizes)
    options = {"axis_name": axis_name, "axis_index_groups": axis_index_groups}
    return run_on_engine("ragged_all_to_all", _ragged, operands, *operands, **options)


def _ragged(
    operand: Any,
    output: Any,
    input_offsets: Any,
    send_sizes: Any,
    output_offsets: Any,
    recv_sizes: Any,  # noqa: ARG001 - the senders' sizes say it
    *,
    axis_name: Any,
    axis_index_groups: Any = None,
) -> Array:
    if axis_index_groups is not None:
        raise NotImplementedError("ragged_all_to_all within axis_index_groups is not defined here")
    rows, out = lift(operand, None, "operand"), lift(output, None, "output")
    size = axis_size(axis_name)
    marks = []
    for name, given in (
        ("input_offsets", input_offsets),
        ("send_sizes", send_sizes),
        ("output_offsets", output_offsets),
    ):
        mark = lift(given, None, name)
        if len(mark.shape) != 1 or mark.shape[0] % size:
            raise ValueError(
                f"ragged_all_to_all needs {name} to be of one dimension, a multiple of the "
                f"{size} examples along {axis_name!r}: it has shape {mark.shape}"
            )
        parts = reshape(mark, (size, mark.shape[0] // size))
        marks.append(all_to_all(parts, axis_name, 0, 0))
    starts, sizes, places = marks  # of what is sent to this example, by sender
    everyone = all_gather(rows, axis_name)
    at = iota(int32, out.shape[0])
    for sender in range(size):
        for i in range(starts.shape[1]):
            step = at - places[sender, i]
            arrives = (step >= 0) & (step < sizes[sender, i])
            found = take(everyone[sender], step + starts[sender, i], 0, mode="clip")
            out = select(broadcast_in_dim(arrives, out.shape, (0,)), found, out)
    return out
