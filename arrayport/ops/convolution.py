"""Convolution over any number of spatial axes, with strides, padding, dilation and groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import index
from typing import Any

import numpy as np

from arrayport.core.array import Array, Aval
from arrayport.core.primitive import Binary
from arrayport.ops.placement import no_sharding
from arrayport.ops.precisions import canonical_precision
from arrayport.ops.products import preferred_dtype
from arrayport.ops.promotion import promote_dtypes
from arrayport.ops.slices import reverse
from arrayport.ops.structure import convert, merged, move_axis, parted, reshape

DType = np.dtype[Any]
Shape = tuple[int, ...]
Pads = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class ConvDimensionNumbers:
    """Which axes are batch, feature and space: of lhs, of rhs (out, in, space), of the output.

    Source: ``jax.lax.ConvDimensionNumbers``.

    >>> from arrayport import lax
    >>> lax.conv_dimension_numbers((1, 5, 5, 3), (3, 3, 3, 8), ("NHWC", "HWIO", "NHWC"))
    ConvDimensionNumbers(lhs_spec=(0, 3, 1, 2), rhs_spec=(3, 2, 0, 1), out_spec=(0, 3, 1, 2))
    """

    lhs_spec: Shape
    rhs_spec: Shape
    out_spec: Shape


@dataclass(frozen=True)
class Convolution:
    """All parameters of the primitive."""

    window_strides: Shape
    padding: Pads
    lhs_dilation: Shape
    rhs_dilation: Shape
    dimension_numbers: ConvDimensionNumbers
    feature_group_count: int
    batch_group_count: int
    preferred_element_type: DType | None = None
    precision: Any = None

    @property
    def groups(self) -> int:
        """How many convolutions stand side by side; features and batch are never both grouped."""
        return max(self.feature_group_count, self.batch_group_count)

    def places(self, space: Sequence[int], window: Sequence[int]) -> Shape:
        """How many places the window has along each spatial axis."""
        return tuple(
            max((dilated(n, d) + lo + hi - dilated(k, r)) // s + 1, 0)
            for n, k, s, (lo, hi), d, r in zip(
                *(space, window, self.window_strides, self.padding),
                *(self.lhs_dilation, self.rhs_dilation),
                strict=True,
            )
        )

    def bind(self, lhs: Array, rhs: Array) -> Array:
        """Apply to arrays of one dtype."""
        return conv_general_dilated_p.bind(lhs, rhs, **vars(self))


def dilated(size: int, dilation: int) -> int:
    """The extent of an axis with `dilation - 1` zeros between its elements."""
    return (size - 1) * dilation + 1 if size else 0


def arranged(shape: Sequence[int], spec: Shape) -> Shape:
    """Undo `ordered`."""
    return tuple(shape[spec.index(i)] for i in range(len(shape)))


def ordered(shape: Sequence[int], spec: Shape) -> Shape:
    """Extents in the order of a specification."""
    return tuple(shape[i] for i in spec)


# ---- primitive


def _abstract(lhs: Any, rhs: Any, **params: Any) -> Aval:
    conv = Convolution(**params)
    numbers = conv.dimension_numbers
    batch, features, *space = ordered(lhs.shape, numbers.lhs_spec)
    outs, ins, *window = ordered(rhs.shape, numbers.rhs_spec)
    name = "feature_group_count" if conv.feature_group_count > 1 else "batch_group_count"
    if features != ins * conv.feature_group_count:
        raise ValueError(
            f"convolution: lhs of shape {lhs.shape} has {features} features, but rhs of shape "
            f"{rhs.shape} takes {ins} in each of feature_group_count={conv.feature_group_count}"
        )
    if outs % conv.groups or batch % conv.batch_group_count:
        raise ValueError(
            f"convolution: {name}={conv.groups} must divide rhs's {outs} output features, and "
            f"batch_group_count lhs's batch of {batch}"
        )
    made = (batch // conv.batch_group_count, outs, *conv.places(space, window))
    shape = arranged(made, numbers.out_spec)
    return Aval(shape, conv.preferred_element_type or lhs.dtype, lhs.weak and rhs.weak)


def _swapped(spec: Shape) -> Shape:
    return (spec[1], spec[0], *spec[2:])


def _extents(conv: Convolution, lhs: Any, rhs: Any, out: Any) -> list[Shape]:
    """Of each spatial axis the extents of lhs, window and output, and the padding before.

    They are those with zeros between elements: of the output's, as many as the strides leave out.
    """
    numbers = conv.dimension_numbers
    dilations = conv.lhs_dilation, conv.rhs_dilation, conv.window_strides
    specs = numbers.lhs_spec, numbers.rhs_spec, numbers.out_spec
    spaces = [
        map(dilated, ordered(x.shape, spec)[2:], by)
        for x, spec, by in zip((lhs, rhs, out), specs, dilations, strict=True)
    ]
    return list(zip(*spaces, [before for before, _ in conv.padding], strict=True))


def _pull_lhs(g: Array, lhs: Any, rhs: Array, **params: Any) -> Array:
    """Transpose with respect to lhs: strides become dilation, and the window is reversed."""
    conv = Convolution(**params)
    numbers = conv.dimension_numbers
    padding = [(k - 1 - before, n + before - p) for n, k, p, before in _extents(conv, lhs, rhs, g)]
    window = convert(reverse(rhs, numbers.rhs_spec[2:]), g.dtype, rhs.weak)
    ct = replace(
        conv,
        window_strides=conv.lhs_dilation,
        padding=tuple(padding),
        lhs_dilation=conv.window_strides,
        dimension_numbers=ConvDimensionNumbers(
            numbers.out_spec, _swapped(numbers.rhs_spec), numbers.lhs_spec
        ),
        feature_group_count=conv.groups,
        batch_group_count=1,
        preferred_element_type=None,
    ).bind(g, _regroup(window, numbers.rhs_spec[:2], conv.groups))
    ct = _regroup(ct, _swapped(numbers.lhs_spec[:2]), conv.batch_group_count)
    return convert(ct, lhs.dtype, ct.weak)


def _pull_rhs(g: Array, lhs: Array, rhs: Any, **params: Any) -> Array:
    """Transpose with respect to rhs: batch and features change places, and g is the window."""
    conv = Convolution(**params)
    numbers = conv.dimension_numbers
    padding = [(before, k - 1 + p - n - before) for n, k, p, before in _extents(conv, lhs, rhs, g)]
    ct = replace(
        conv,
        window_strides=conv.rhs_dilation,
        padding=tuple(padding),
        rhs_dilation=conv.window_strides,
        dimension_numbers=ConvDimensionNumbers(
            *(_swapped(s) for s in (numbers.lhs_spec, numbers.out_spec, numbers.rhs_spec))
        ),
        feature_group_count=conv.batch_group_count,
        batch_group_count=conv.feature_group_count,
        preferred_element_type=None,
    ).bind(convert(lhs, g.dtype, lhs.weak), g)
    return convert(ct, rhs.dtype, ct.weak)


def _regroup(x: Array, axes: Shape, groups: int) -> Array:
    """Move the groups from the front of the first of two axes to the front of the second."""
    if groups == 1:
        return x
    source, target = axes
    return merged(move_axis(parted(x, source, groups), source, target), target)


def _fold(x: Array, dim: int, axis: int, groups: int) -> Array:
    """Make the batch axis `dim` a part of another axis, within its groups."""
    x = move_axis(x, dim, axis)
    if groups == 1:
        return merged(x, axis)
    x = move_axis(parted(x, axis + 1, groups), axis, axis + 1)
    return merged(merged(x, axis), axis)


def _unfold(x: Array, size: int, axis: int, groups: int) -> tuple[Array, int]:
    """Undo `_fold`; also give the batch axis."""
    shape = list(x.shape)
    shape[axis : axis + 1] = [groups, size, shape[axis] // (groups * size) if size else 0]
    return merged(move_axis(reshape(x, shape), axis + 1, axis), axis + 1), axis


def _batch(
    size: int, xs: Sequence[Array], dims: Sequence[int | None], /, **params: Any
) -> tuple[Array, int]:
    """Batch lhs alone as more batch, rhs alone as more output features, both as more groups."""
    conv = Convolution(**params)
    numbers = conv.dimension_numbers
    (lhs, rhs), (lhs_dim, rhs_dim) = xs, dims
    batch, feature = numbers.lhs_spec[:2]
    if rhs_dim is None:
        assert lhs_dim is not None
        out = conv.bind(_fold(lhs, lhs_dim, batch, conv.batch_group_count), rhs)
        return _unfold(out, size, numbers.out_spec[0], 1)
    if lhs_dim is None:
        out = conv.bind(lhs, _fold(rhs, rhs_dim, numbers.rhs_spec[0], conv.groups))
        return _unfold(out, size, numbers.out_spec[1], conv.groups)
    if conv.batch_group_count > 1:
        conv, axis = replace(conv, batch_group_count=size * conv.batch_group_count), batch
    else:
        conv, axis = replace(conv, feature_group_count=size * conv.feature_group_count), feature
    out = conv.bind(_fold(lhs, lhs_dim, axis, 1), _fold(rhs, rhs_dim, numbers.rhs_spec[0], 1))
    return _unfold(out, size, numbers.out_spec[1], 1)


conv_general_dilated_p = Binary(
    "conv_general_dilated", _abstract, _batch, transposes=(_pull_lhs, _pull_rhs)
)

# ---- arguments


def conv_dimension_numbers(
    lhs_shape: Sequence[int], rhs_shape: Sequence[int], dimension_numbers: Any
) -> ConvDimensionNumbers:
    """Make dimension numbers of a triple of strings such as ("NHWC", "HWIO", "NHWC").

    None means batch, features, space for lhs and output, and output features, input features,
    space for rhs. Raises TypeError or ValueError for what does not fit the shapes. Source:
    ``jax.lax.conv_dimension_numbers``.

    >>> from arrayport import lax
    >>> lax.conv_dimension_numbers((1, 5, 5, 2), (3, 3, 2, 4), ("NHWC", "HWIO", "NHWC")).rhs_spec
    (3, 2, 0, 1)
    """
    rank = len(lhs_shape)
    if rank != len(rhs_shape) or rank < 2:
        raise TypeError(
            "convolution needs lhs and rhs of one rank, 2 or more, not of shapes "
            f"{tuple(lhs_shape)} and {tuple(rhs_shape)}"
        )
    if isinstance(dimension_numbers, ConvDimensionNumbers):
        return dimension_numbers
    if dimension_numbers is None:
        return ConvDimensionNumbers(*[tuple(range(rank))] * 3)
    if len(dimension_numbers) != 3:
        raise TypeError(f"dimension_numbers must be three strings, not {dimension_numbers!r}")
    lhs, rhs, out = dimension_numbers
    if not all(isinstance(s, str) for s in dimension_numbers):  # JAX's own named tuple
        return ConvDimensionNumbers(*(tuple(int(i) for i in s) for s in dimension_numbers))
    for spec, letters in ((lhs, "NC"), (rhs, "OI"), (out, "NC")):
        if len(spec) != rank or len(set(spec)) != rank or not set(letters) <= set(spec):
            raise ValueError(
                f"dimension_numbers: {spec!r} must have {rank} different letters, "
                f"{letters[0]} and {letters[1]} among them"
            )
    space = [c for c in rhs if c not in "OI"]
    if {*lhs} - {*"NC"} != {*space} or {*out} - {*"NC"} != {*space}:
        raise ValueError(
            f"dimension_numbers: {dimension_numbers} must name the same spatial axes three times"
        )
    specs = (("NC", lhs), ("OI", rhs), ("NC", out))
    return ConvDimensionNumbers(
        *(tuple(spec.index(c) for c in (*letters, *space)) for letters, spec in specs)
    )


def padtype_to_pads(
    in_shape: Sequence[int],
    window_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: Any,
) -> list[tuple[int, int]]:
    """Make pairs of padding of "SAME" (odd zeros behind), "SAME_LOWER" (in front) or "VALID".

    Raises ValueError for another name. Source: ``jax.lax.padtype_to_pads``.

    >>> from arrayport import lax
    >>> lax.padtype_to_pads((5, 6), (3, 2), (2, 2), "SAME")
    [(1, 1), (0, 0)]
    """
    name = str(getattr(padding, "name", padding)).upper()
    if name == "VALID":
        return [(0, 0)] * len(in_shape)
    if name not in {"SAME", "SAME_LOWER"}:
        raise ValueError(
            f"padding {padding!r} is unknown: use 'SAME', 'SAME_LOWER', 'VALID' or pairs"
        )
    pads = []
    for n, k, s in zip(in_shape, window_shape, window_strides, strict=True):
        needed = max((-(-n // s) - 1) * s + k - n, 0)
        less, more = needed // 2, needed - needed // 2
        pads.append((less, more) if name == "SAME" else (more, less))
    return pads


def _counts(name: str, values: Any, rank: int) -> Shape:
    found = (1,) * rank if values is None else tuple(index(v) for v in values)
    if len(found) != rank or any(v < 1 for v in found):
        raise ValueError(f"convolution: {name} must be {rank} positive integers, not {values!r}")
    return found


def _pairs(padding: Any, shape: Shape, space: Sequence[int]) -> Pads:
    """Check pairs of padding for an lhs of a shape, whose spread spatial extents are given."""
    pads = tuple((index(before), index(behind)) for before, behind in padding)
    if len(pads) != len(space):
        raise ValueError(f"convolution: padding must be {len(space)} pairs, not {len(pads)}")
    if any(n + min(p) < 0 or n + sum(p) < 0 for n, p in zip(space, pads, strict=True)):
        raise ValueError(f"convolution: padding {pads} takes away more than lhs {shape} has")
    return pads


# ---- functions


def conv_general_dilated(
    lhs: Any,
    rhs: Any,
    window_strides: Any,
    padding: Any,
    lhs_dilation: Any = None,
    rhs_dilation: Any = None,
    dimension_numbers: Any = None,
    feature_group_count: int = 1,
    batch_group_count: int = 1,
    precision: Any = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Array:
    """Convolve lhs with the windows rhs (without reversing them, as neural networks do).

    `padding` is "SAME", "SAME_LOWER", "VALID", or a pair for each spatial axis, which may be
    negative; `lhs_dilation` and `rhs_dilation` put zeros between elements; `dimension_numbers` are
    those of `conv_dimension_numbers`. Raises ValueError or TypeError that names the argument.
    Source: ``jax.lax.conv_general_dilated``.

    >>> import arrayport.numpy as anp
    >>> from arrayport import lax
    >>> x, w = anp.ones((2, 5, 5, 3)), anp.ones((3, 3, 3, 4))
    >>> layout = ("NHWC", "HWIO", "NHWC")
    >>> lax.conv_general_dilated(x, w, (2, 2), "SAME", dimension_numbers=layout).shape
    (2, 3, 3, 4)
    """
    no_sharding(out_sharding, "conv_general_dilated")
    x, y = promote_dtypes((lhs, rhs), "convolution")
    numbers = conv_dimension_numbers(x.shape, y.shape, dimension_numbers)
    space, window = ordered(x.shape, numbers.lhs_spec)[2:], ordered(y.shape, numbers.rhs_spec)[2:]
    rank = len(space)
    strides = _counts("window_strides", window_strides, rank)
    spread = _counts("lhs_dilation", lhs_dilation, rank)
    steps = _counts("rhs_dilation", rhs_dilation, rank)
    feature_groups, batch_groups = index(feature_group_count), index(batch_group_count)
    if min(feature_groups, batch_groups) != 1:
        raise ValueError(
            "convolution: feature_group_count and batch_group_count must be positive and one of "
            f"them 1, not {feature_groups} and {batch_groups}"
        )
    if isinstance(padding, str) or hasattr(padding, "name"):
        if any(d != 1 for d in spread):
            raise ValueError(
                f"convolution: padding {padding!r} means nothing with lhs_dilation: give pairs, or "
                "use conv_transpose"
            )
        padding = padtype_to_pads(space, list(map(dilated, window, steps)), strides, padding)
    return Convolution(
        window_strides=strides,
        padding=_pairs(padding, x.shape, list(map(dilated, space, spread))),
        lhs_dilation=spread,
        rhs_dilation=steps,
        dimension_numbers=numbers,
        feature_group_count=feature_groups,
        batch_group_count=batch_groups,
        preferred_element_type=preferred_dtype(x.dtype, preferred_element_type),
        precision=canonical_precision(precision),
    ).bind(x, y)


def conv(
    lhs: Any,
    rhs: Any,
    window_strides: Any,
    padding: Any,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Array:
    """Convolve without dilation, in the default layout. Source: ``jax.lax.conv``.

    >>> import arrayport.numpy as anp
    >>> from arrayport import lax
    >>> lax.conv(anp.ones((1, 3, 8, 8)), anp.ones((4, 3, 3, 3)), (1, 1), "SAME").shape
    (1, 4, 8, 8)
    """
    return conv_general_dilated(
        *(lhs, rhs, window_strides, padding),
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


def conv_with_general_padding(
    lhs: Any,
    rhs: Any,
    window_strides: Any,
    padding: Any,
    lhs_dilation: Any,
    rhs_dilation: Any,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Array:
    """Convolve in the default layout. Source: ``jax.lax.conv_with_general_padding``.

    >>> from arrayport import lax
    >>> import arrayport.numpy as anp
    >>> x, kernel = anp.ones((1, 1, 4)), anp.ones((1, 1, 3))
    >>> lax.conv_with_general_padding(x, kernel, (1,), [(1, 1)], None, None)
    Array([[[2., 3., 3., 2.]]], dtype=float32)
    """
    return conv_general_dilated(
        *(lhs, rhs, window_strides, padding, lhs_dilation, rhs_dilation),
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


def conv_transpose(
    lhs: Any,
    rhs: Any,
    strides: Any,
    padding: Any,
    rhs_dilation: Any = None,
    dimension_numbers: Any = None,
    transpose_kernel: bool = False,
    precision: Any = None,
    preferred_element_type: Any = None,
    use_consistent_padding: bool = False,
) -> Array:
    """Convolve with strides that spread lhs out, as the gradient of a convolution does.

    The layout has features last unless `dimension_numbers` tells another. "SAME" gives `strides`
    times the extents, "VALID" all places where the window meets lhs; pairs pad the spread lhs, or
    with `use_consistent_padding` are those of the convolution that is transposed.
    `transpose_kernel` reverses rhs and exchanges its features. Source: ``jax.lax.conv_transpose``.

    >>> import arrayport.numpy as anp
    >>> from arrayport import lax
    >>> lax.conv_transpose(anp.ones((1, 6, 6, 2)), anp.ones((3, 3, 2, 4)), (2, 2), "SAME").shape
    (1, 12, 12, 4)
    """
    x, y = promote_dtypes((lhs, rhs), "conv_transpose")
    rank = len(x.shape) - 2
    if dimension_numbers is None:
        letters = "DHW"[-rank:] if 0 < rank <= 3 else None
        if letters is None:
            raise ValueError(
                "conv_transpose needs dimension_numbers for other than 1 to 3 spatial axes"
            )
        dimension_numbers = (f"N{letters}C", f"{letters}IO", f"N{letters}C")
    numbers = conv_dimension_numbers(x.shape, y.shape, dimension_numbers)
    window = ordered(y.shape, numbers.rhs_spec)[2:]
    steps = _counts("rhs_dilation", rhs_dilation, rank)
    strides = _counts("strides", strides, rank)
    reach = list(map(dilated, window, steps))
    if isinstance(padding, str) or hasattr(padding, "name"):
        padding = [_transposed_pads(k, s, padding) for k, s in zip(reach, strides, strict=True)]
    elif use_consistent_padding:
        padding = [(k - 1 - lo, k - 1 - hi) for k, (lo, hi) in zip(reach, padding, strict=True)]
    if transpose_kernel:
        y = reverse(y, numbers.rhs_spec[2:])
        numbers = replace(numbers, rhs_spec=_swapped(numbers.rhs_spec))
    return conv_general_dilated(
        *(x, y, (1,) * rank, padding, strides, steps, numbers),
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


def _transposed_pads(reach: int, stride: int, padding: Any) -> tuple[int, int]:
    """Pad a spread axis so that its places number as "SAME" or "VALID" says."""
    name = str(getattr(padding, "name", padding)).upper()
    if name == "SAME":
        both = reach + stride - 2
        before = reach - 1 if stride > reach - 1 else -(-both // 2)
    elif name == "VALID":
        both = reach + stride - 2 + max(reach - stride, 0)
        before = reach - 1
    else:
        raise ValueError(
            f"conv_transpose: padding {padding!r} is unknown: use 'SAME', 'VALID' or pairs"
        )
    return before, both - before


# ---- shapes


def conv_general_permutations(dimension_numbers: Any) -> tuple[Shape, Shape, Shape]:
    """Give the permutations that bring lhs, rhs and output to the default layout.

    Source: ``jax.lax.conv_general_permutations``.

    >>> conv_general_permutations(("NHWC", "HWIO", "NHWC"))
    ((0, 3, 1, 2), (3, 2, 0, 1), (0, 3, 1, 2))
    """
    shape = (1,) * len(dimension_numbers[0])
    numbers = conv_dimension_numbers(shape, shape, dimension_numbers)
    return numbers.lhs_spec, numbers.rhs_spec, numbers.out_spec


def conv_shape_tuple(
    lhs_shape: Sequence[int],
    rhs_shape: Sequence[int],
    strides: Sequence[int],
    pads: Any,
    batch_group_count: int = 1,
) -> Shape:
    """Give the shape of a convolution in the default layout. Source: ``jax.lax.conv_shape_tuple``.

    >>> conv_shape_tuple((2, 3, 5, 6), (4, 3, 3, 3), (1, 2), "SAME")
    (2, 4, 5, 3)
    """
    space, window = lhs_shape[2:], rhs_shape[2:]
    if isinstance(pads, str):
        pads = padtype_to_pads(space, window, strides, pads)
    places = [
        max((n + lo + hi - k) // s + 1, 0)
        for n, k, s, (lo, hi) in zip(space, window, strides, pads, strict=True)
    ]
    return (lhs_shape[0] // batch_group_count, rhs_shape[0], *places)


def conv_general_shape_tuple(
    lhs_shape: Sequence[int],
    rhs_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: Any,
    dimension_numbers: Any,
) -> Shape:
    """Give the shape of a convolution in any layout.

    Source: ``jax.lax.conv_general_shape_tuple``.

    >>> layout = ("NHWC", "HWIO", "NHWC")
    >>> conv_general_shape_tuple((2, 5, 6, 3), (3, 3, 3, 4), (1, 2), "SAME", layout)
    (2, 5, 3, 4)
    """
    lhs, rhs, out = conv_general_permutations(dimension_numbers)
    made = conv_shape_tuple(
        ordered(lhs_shape, lhs), ordered(rhs_shape, rhs), window_strides, padding
    )
    return arranged(made, out)


def conv_transpose_shape_tuple(
    lhs_shape: Sequence[int],
    rhs_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: Any,
    dimension_numbers: Any,
) -> Shape:
    """Give the shape of a transposed convolution in any layout.

    Source: ``jax.lax.conv_transpose_shape_tuple``.

    >>> layout = ("NHWC", "HWIO", "NHWC")
    >>> conv_transpose_shape_tuple((2, 5, 6, 3), (3, 3, 3, 4), (1, 2), "SAME", layout)
    (2, 5, 12, 4)
    """
    lhs, rhs, out = conv_general_permutations(dimension_numbers)
    batch, _, *space = ordered(lhs_shape, lhs)
    features, _, *window = ordered(rhs_shape, rhs)
    if isinstance(padding, str):
        pairs = zip(window, window_strides, strict=True)
        padding = [_transposed_pads(k, s, padding) for k, s in pairs]
    places = [
        (n - 1) * s - k + 2 + lo + hi
        for n, k, s, (lo, hi) in zip(space, window, window_strides, padding, strict=True)
    ]
    return arranged((batch, features, *places), out)
