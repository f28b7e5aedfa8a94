"""Places: which elements keys, starts and arrays of indices mean, to read and to write."""

from __future__ import annotations

from collections.abc import Sequence

from arrayport.core.program import Atom
from arrayport.ops import indexing, slices
from arrayport.passes.indices import ZERO, Index, Indices, Loaded, Shape, of

Test = tuple[Index, int]  # an index that must be from 0 to below an end
ANY = 2**63 - 1  # a limit of no index, so that what a test says of one limits it further


def keyed(key: slices.Key, at: Indices) -> Indices:
    """The element that a static key means by one of its answer."""
    found, axes = [], iter(at)
    for k in key:
        if k is None:
            next(axes)
        else:
            found.append(next(axes) * k[2] + k[0] if isinstance(k, tuple) else Index(k))
    return tuple(found)


def firsts(starts: Sequence[Atom], shape: Shape, sizes: Shape) -> Indices:
    """Where a part of such sizes begins, starts being limited so that it is inside."""
    bounds = zip(starts, shape, sizes, strict=True)
    return tuple([of(Loaded(s, (), n - size)) for s, n, size in bounds])


def indexed(
    indices: Atom, numbers: Sequence[Shape], shape: Shape, sizes: Shape, at: Indices
) -> tuple[Indices, list[Test]]:
    """The element that an array of indices means, limited to be inside; when it was by itself."""
    window, _, mapped, batching, index_batching = numbers
    examples = tuple([i for d, i in enumerate(at) if d not in window])
    kept = indexing.windows(len(shape), numbers)
    inside = dict(zip(kept, [at[d] for d in window], strict=True))
    found, tests = [], []
    for d, n in enumerate(shape):
        index, high = inside.get(d, ZERO), n - sizes[d]
        if d in mapped:
            place = (*examples, Index(mapped.index(d)))
            index = index + of(Loaded(indices, place, high))
            tests.append((of(Loaded(indices, place, ANY, -ANY)), high + 1))
        elif d in batching:
            index = index + examples[index_batching[batching.index(d)]]
        found.append(index)
    return tuple(found), tests
