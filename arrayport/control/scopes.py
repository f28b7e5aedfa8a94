"""Small contexts and questions: names for profiles, computing while tracing, where to run."""

from __future__ import annotations

import functools
import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from importlib.util import find_spec
from typing import Any

import numpy as np

from arrayport.core import backend as backends
from arrayport.core import profile
from arrayport.core.array import Array, Aval, PlacedArray, aval_of
from arrayport.core.lazy import Lazy
from arrayport.core.trace import EVAL, stage_into
from arrayport.ops.placement import resolve
from arrayport.ops.promotion import lift

metadata, platform_of = Lazy("importlib.metadata"), Lazy("platform")


@contextmanager
def named_scope(name: str) -> Iterator[None]:
    """Name what a block does, for profiles and for JAX's compiled programs.

    Source: `jax.named_scope`.

    >>> with named_scope("layer"):
    ...     pass
    """
    if not isinstance(name, str):
        raise TypeError(f"named_scope needs a name, not {name!r}")
    with ExitStack() as stack:
        stack.enter_context(profile.span(name, "scope"))
        for backend in backends.loaded():
            if backend.native is not None:
                stack.enter_context(backend.native.named_scope(name))
        yield


def named_call(fun: Callable[..., Any], *, name: str | None = None) -> Callable[..., Any]:
    """Make a function whose calls are a `named_scope`, by its own name unless given.

    Source: `jax.named_call`.

    >>> named_call(lambda x: x + 1, name="count")(1)
    2
    """
    title = name or str(getattr(fun, "__name__", "function"))

    @functools.wraps(fun)
    def call(*args: Any, **kwargs: Any) -> Any:
        with named_scope(title):
            return fun(*args, **kwargs)

    return call


@contextmanager
def ensure_compile_time_eval() -> Iterator[None]:
    """Compute with concrete arrays at once, even while a function is being traced.

    Source: `jax.ensure_compile_time_eval`. What depends on traced values stays traced.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> @ap.jit
    ... def f(x):
    ...     with ap.ensure_compile_time_eval():
    ...         n = int(anp.arange(4).sum())
    ...     return x * n
    >>> f(2)
    Array(12, dtype=int32, weak_type=True)
    """
    with ExitStack() as stack:
        stack.enter_context(stage_into(EVAL))
        for backend in backends.loaded():
            if backend.native is not None:
                stack.enter_context(backend.native.ensure_compile_time_eval())
        yield


@contextmanager
def default_device(new_val: Any = None) -> Iterator[None]:
    """Send work that no operand decides to a device within a `with` block.

    Source: `jax.default_device`. `new_val` as for `device_put`; None changes nothing.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> with ap.default_device(ap.devices("numpy")[0]):
    ...     anp.arange(3).device.backend
    'numpy'
    """
    if new_val is None:
        yield
        return
    backend, device = resolve(new_val)
    inner: AbstractContextManager[Any] | None = None
    if backend.native is not None and device is not None:
        inner = backend.native.default_device(device)
    with ExitStack() as stack:
        stack.enter_context(backends.use_backend(backend))
        if inner is not None:
            stack.enter_context(inner)
        yield


def typeof(x: Any) -> Aval:
    """Give the type of an array or number, traced or not. Source: `jax.typeof`.

    >>> import arrayport.numpy as anp
    >>> print(typeof(anp.ones((2, 3))))
    float32[2,3]
    """
    return aval_of(lift(x, None, "x"))


def live_arrays(platform: str | None = None) -> list[Array]:
    """List the Arrays that are alive, of every backend or of a platform ("cpu", "gpu").

    Source: `jax.live_arrays`. Those that were deleted or that stand for traced values are left out.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> x = anp.ones(12345)
    >>> any(a is x for a in ap.live_arrays())
    True
    """
    found = []
    for x in gc.get_objects():
        if type(x) not in (Array, PlacedArray) or not hasattr(x, "raw"):
            continue
        own = backends.by_type(type(x.raw))
        # What is traced comes first: a tracer cannot say whether it is deleted.
        if own is None or own.concrete(x.raw) is not x.raw or x.is_deleted():
            continue
        if platform in (None, own.name, own.device_of(x.raw).platform):
            found.append(x)
    return found


# ---- the processes: there is one


def process_count(backend: str | None = None) -> int:
    """Count the processes that work together: one. Source: `jax.process_count`.

    >>> process_count()
    1
    """
    del backend
    return 1


def process_index(backend: str | None = None) -> int:
    """Say which of the processes this is. Source: `jax.process_index`.

    >>> process_index()
    0
    """
    del backend
    return 0


def process_indices(backend: str | None = None) -> list[int]:
    """List all processes. Source: `jax.process_indices`.

    >>> process_indices()
    [0]
    """
    del backend
    return [0]


def print_environment_info(return_string: bool = False) -> str | None:
    """Print, or give, what a report of a fault should say about versions and devices.

    Source: `jax.print_environment_info`.

    >>> "numpy" in print_environment_info(return_string=True)
    True
    """
    libraries = [name for name in ("jax", "jaxlib", "cupy", "scipy") if find_spec(name)]
    lines = [f"arrayport: {metadata.version('arrayport')}", f"numpy: {np.__version__}"]
    packages = metadata.packages_distributions()  # CuPy's are called after the CUDA they need
    lines += [f"{name}: {metadata.version(packages[name][0])}" for name in libraries]
    lines.append(f"python: {sys.version}")
    lines += [f"device: {d}" for b in backends.loaded() for d in b.devices()]
    lines += [f"process_count: {process_count()}", f"platform: {platform_of.uname()}"]
    text = "\n".join(lines)
    if return_string:
        return text
    sys.stdout.write(f"{text}\n")
    return None
