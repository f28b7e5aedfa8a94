"""shard_map: one program for every place of a mesh, each with its parts of the arguments."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from math import prod
from typing import Any

from arrayport.core import backend as backends
from arrayport.core.array import Array, Tracer, aval_of
from arrayport.core.contexts import within
from arrayport.core.errors import BackendMismatchError
from arrayport.core.likenesses import wraps
from arrayport.core.meshes import AbstractMesh, AxisType, Mesh, mesh_in_use, mesh_or_in_use
from arrayport.core.quiet import quiet
from arrayport.core.shardings import NamedSharding, PartitionSpec, check_spec
from arrayport.core.trace import backend_of, finish
from arrayport.core.tree import broadcast_prefix, is_none, tree_flatten, tree_map, tree_unflatten
from arrayport.ops.indexing import take
from arrayport.ops.placement import adopted, placed
from arrayport.ops.promotion import lift
from arrayport.ops.structure import reshape, transpose
from arrayport.transforms.batching import BatchTracer, Extent, NamedBatchTrace, argument
from arrayport.transforms.engines import by_engine
from arrayport.transforms.varying import TellingTrace


class _Infer:
    def __repr__(self) -> str:
        return "Infer"


Infer = _Infer()
Names = Sequence[Hashable]


def shard_map(
    f: Callable[..., Any] | None = None,
    /,
    *,
    out_specs: Any,
    in_specs: Any = Infer,
    mesh: Mesh | AbstractMesh | None = None,
    axis_names: Any = frozenset(),
    check_vma: bool = True,
) -> Any:
    """Run a function once for every place of a mesh, each on its parts of the arguments.

    `in_specs`, `out_specs`: pytree prefixes, of PartitionSpecs, of the positional arguments and of
    the results: a dimension is cut into parts along the axes that its entry names, and each place
    gets, or gives, its own. In `in_specs` None is `P()`; left out, they are those of the arguments'
    shardings. Within, the axes of the mesh are named for collectives (`lax.psum` …); `axis_names`
    limits that, and the cutting, to some. `mesh` left out is the one in use; within, that is the
    mesh without its devices, with the axes that are cut as Manual. `check_vma`: require
    that a result is equal along the axes that its spec does not name, as sums over them are;
    otherwise the first counts.

    Raises ValueError for specs that name unknown axes, are longer than a rank, or do not divide.
    Source: `jax.shard_map`.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> from arrayport import lax
    >>> mesh = ap.sharding.AbstractMesh((2,), ("x",))
    >>> f = lambda a: a / lax.psum(a.sum(), "x")
    >>> shard_map(f, mesh=mesh, in_specs=ap.P("x"), out_specs=ap.P("x"))(anp.arange(4.0))
    Array([0.        , 0.16666667, 0.33333334, 0.5       ], dtype=float32)
    """
    mesh = adopted(mesh)
    if in_specs is not Infer:
        in_specs = tree_map(_spec, in_specs, is_leaf=is_none)
    options = {
        "out_specs": tree_map(adopted, out_specs),
        "in_specs": in_specs,
        "axis_names": frozenset(axis_names),
        "check_vma": check_vma,
    }
    if f is None:
        return partial(shard_map, mesh=mesh, **options)
    made: dict[Any, Callable[..., Any]] = {}

    def mapped(*args: Any) -> Any:
        found = mesh_or_in_use(mesh, "shard_map")
        if found not in made:
            body = _within(found, options["axis_names"], f)
            plan = _Plan(body, found, **options)
            known = options | {"mesh": found, "in_specs": None if in_specs is Infer else in_specs}
            made[found] = by_engine(quiet(plan), "shard_map", body, **known)
        token = backends.enter(found_backend) if (found_backend := _home(found)) else None
        try:
            return made[found](*args)
        finally:
            backends.leave(token)

    mapped.__wrapped__ = f  # type: ignore[attr-defined]
    mapped.__name__ = str(getattr(f, "__name__", "shard_map"))
    mapped.__doc__ = getattr(f, "__doc__", None)
    return mapped


def _spec(given: Any) -> Any:
    return PartitionSpec() if given is None else adopted(given)


def _within(
    mesh: Mesh | AbstractMesh, axis_names: frozenset[Hashable], f: Callable[..., Any]
) -> Callable[..., Any]:
    """Call a function with the mesh in use that a place sees: no devices, its own axes Manual."""
    types = [
        AxisType.Manual if not axis_names or name in axis_names else kind
        for name, kind in zip(mesh.axis_names, mesh.axis_types, strict=True)
    ]
    seen = AbstractMesh(mesh.axis_sizes, mesh.axis_names, types)

    @wraps(f)
    def call(*args: Any) -> Any:
        with within(mesh_in_use, seen):
            return f(*args)

    return call


def _home(mesh: Mesh | AbstractMesh) -> backends.Backend | None:
    return backends.get(mesh.devices.flat[0].backend) if isinstance(mesh, Mesh) else None


class _Plan:
    """A function over a mesh, as it is called on our own engine."""

    def __init__(
        self,
        f: Callable[..., Any],
        mesh: Mesh | AbstractMesh,
        out_specs: Any,
        in_specs: Any,
        axis_names: frozenset[Hashable],
        check_vma: bool,
    ) -> None:
        self.__name__ = getattr(f, "__name__", "shard_map")
        self.f = f
        self.mesh = mesh
        self.sizes = mesh.shape
        self.out_specs = out_specs
        self.in_specs = in_specs
        self.check_vma = check_vma
        unknown = [name for name in axis_names if name not in mesh.axis_names]
        if unknown:
            raise ValueError(
                f"shard_map has axis_names={set(axis_names)}, but the mesh has the axes "
                f"{mesh.axis_names}"
            )
        # The axes along which the program is written, in the mesh's order.
        self.axes = [n for n in mesh.axis_names if not axis_names or n in axis_names]
        for argument_name, specs in (("in_specs", in_specs), ("out_specs", out_specs)):
            if specs is not Infer:
                tree_map(partial(self.check, argument_name), specs)

    def check(self, argument_name: str, spec: Any) -> None:
        """Raise unless a leaf of the specs is a spec of the axes here."""
        if not isinstance(spec, PartitionSpec):
            raise TypeError(
                f"shard_map needs {argument_name} to be a pytree of PartitionSpecs, not of "
                f"{type(spec).__name__}"
            )
        check_spec(spec, self.axes, argument_name, "the part of the mesh that shard_map works on")

    def __call__(self, *args: Any) -> Any:
        leaves, tree = tree_flatten(args)
        values = [lift(x, None, "an argument of shard_map") for x in leaves]
        home = _home(self.mesh)
        for x in values:
            own = backend_of(x)
            if home is not None and own is not None and own is not home:
                raise BackendMismatchError(
                    f"shard_map over a mesh of {home.name!r} devices was given an array of "
                    f"{own.name!r}: move it with arrayport.device_put, or make the mesh of its "
                    "devices"
                )
        if self.in_specs is Infer:
            specs = [self.inferred(x) for x in values]
        else:
            specs = broadcast_prefix(self.in_specs, args, "in_specs")
        parts = []
        for i, (x, spec) in enumerate(zip(values, specs, strict=True)):
            self.divisible(x.shape, spec, i, args)
            parts.append(self.divide(x, spec))
        out_tree: Any = None
        out_specs: list[PartitionSpec] = []

        def body(xs: Sequence[Array]) -> list[Array]:
            nonlocal out_tree
            out = self.f(*tree_unflatten(tree, xs))
            outs, out_tree = tree_flatten(out)
            out_specs.extend(broadcast_prefix(self.out_specs, out, "out_specs") if outs else [])
            return [lift(o, None, "an output of shard_map") for o in outs]

        used = [set(spec.all_axes()) for spec in specs]
        outs = self.run(body, self.axes, parts, used, out_specs)
        return tree_unflatten(
            out_tree, [self.combine(o, spec) for o, spec in zip(outs, out_specs, strict=True)]
        )

    def inferred(self, x: Array) -> PartitionSpec:
        """The spec of an array by its own sharding over this mesh."""
        sharding = None if isinstance(x, Tracer) else x.sharding
        if isinstance(sharding, NamedSharding) and sharding.mesh == self.mesh:
            return sharding.spec
        return PartitionSpec()

    def divisible(self, shape: Any, spec: PartitionSpec, i: int, args: Any) -> None:
        """Raise unless an argument can be cut as its spec says."""
        what = f"shard_map's {argument(args, {}, i)}"
        NamedSharding(self.mesh, spec).checked(shape, what)

    def run(
        self,
        body: Callable[[Sequence[Array]], list[Array]],
        axes: Sequence[Hashable],
        xs: Sequence[Array],
        used: Sequence[set[Hashable]],
        out_specs: list[PartitionSpec],
    ) -> list[Array]:
        """Map the body over the axes, the first outermost; results have theirs in front."""
        if not axes:
            return body(xs)
        name, *rest = axes
        kind = TellingTrace if self.check_vma else NamedBatchTrace
        trace = kind(Extent(self.sizes[name], name))
        own = [
            BatchTracer(trace, x, 0) if name in names else x
            for x, names in zip(xs, used, strict=True)
        ]
        with trace.named():
            outs = self.run(body, rest, own, used, out_specs)
        found = []
        for out, spec in zip(outs, out_specs, strict=True):
            value, dim = trace.pair(out)
            if name in spec.all_axes():
                value = trace.output(out, 0)
            elif dim is not None:
                if self.check_vma:
                    raise ValueError(
                        f"shard_map has an output of {aval_of(out)} with the spec {spec} in "
                        f"out_specs, but along the axis {name!r} it may differ: name the axis in "
                        "the spec, make the output equal (lax.psum, lax.pmean …), or pass "
                        "check_vma=False to have the first"
                    )
                value = take(value, lift(0), dim)
            found.append(value)
        finish(trace)
        return found

    def divide(self, x: Array, spec: PartitionSpec) -> Array:
        """Bring the axes that cut an array in front of its parts, in the mesh's order."""
        if not spec.all_axes():
            return x
        shape: list[int] = []
        places: dict[Hashable, int] = {}
        local = []
        for i, extent in enumerate(x.shape):
            for name in spec.axes(i):
                places[name] = len(shape)
                shape.append(self.sizes[name])
            local.append(len(shape))
            shape.append(extent // prod([self.sizes[name] for name in spec.axes(i)]))
        front = [places[name] for name in self.axes if name in places]
        return transpose(reshape(x, tuple(shape)), (*front, *local))

    def combine(self, x: Array, spec: PartitionSpec) -> Array:
        """Undo `divide`: what the axes in front were cut from."""
        names = [name for name in self.axes if name in spec.all_axes()]
        rank = len(x.shape) - len(names)
        if len(spec) > rank:
            raise ValueError(
                f"shard_map has the spec {spec} in out_specs for an output of {rank} dimensions, "
                "fewer than its entries: shorten it"
            )
        if names:
            order: list[int] = []
            shape = []
            for i in range(rank):
                order += [names.index(name) for name in spec.axes(i)] + [len(names) + i]
                parts = prod([self.sizes[name] for name in spec.axes(i)])
                shape.append(parts * x.shape[len(names) + i])
            x = reshape(transpose(x, tuple(order)), tuple(shape))
        whole = not isinstance(x, Tracer) and isinstance(self.mesh, Mesh)
        return placed(x, NamedSharding(self.mesh, spec)) if whole else x


def smap(
    f: Callable[..., Any] | None = None,
    /,
    *,
    in_axes: Any = Infer,
    out_axes: Any,
    axis_name: Hashable,
) -> Any:
    """Do as `shard_map` over one axis of the mesh in use, by numbers of axes as in `vmap`.

    Source: `jax.smap`.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> from arrayport import lax
    >>> f = smap(lambda a: a + lax.axis_index("x"), in_axes=0, out_axes=0, axis_name="x")
    >>> with ap.sharding.use_abstract_mesh(ap.sharding.AbstractMesh((2,), ("x",))):
    ...     f(anp.ones(2))
    Array([1., 2.], dtype=float32)
    """
    if f is None:
        return partial(smap, in_axes=in_axes, out_axes=out_axes, axis_name=axis_name)

    def spec(axis: int | None) -> PartitionSpec:
        return PartitionSpec() if axis is None else PartitionSpec(*[None] * axis, axis_name)

    def specs(axes: Any) -> Any:
        return axes if axes is Infer else tree_map(spec, axes, is_leaf=lambda x: x is None)

    return shard_map(f, in_specs=specs(in_axes), out_specs=specs(out_axes), axis_names={axis_name})
