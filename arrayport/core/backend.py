"""Backends: what each must offer, the lazy registry that finds them, and which one work goes to."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar, Token
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from arrayport.core.contexts import within
from arrayport.core.errors import BackendNotFoundError, UnsupportedOnBackendError
from arrayport.core.lazy import Lazy

if TYPE_CHECKING:
    from arrayport.core.array import Array
    from arrayport.core.primitive import Primitive
    from arrayport.core.program import Program, Var

metadata = Lazy("importlib.metadata")

ENTRY_POINTS = "arrayport.backends"
NO_KERNEL = "it has no kernel here yet"  # what a table that says nothing is taken to say
ARRAY_PACKAGES = {"jaxlib": "jax"}  # whose array classes live in a package of another name
INSTALL = {
    "jax": 'pip install "arrayport[jax]"',
    "cupy": 'pip install "arrayport[cupy]"',
}


@dataclass(frozen=True)
class Device:
    """A place where arrays live: a backend, a platform ("cpu", "gpu", "tpu"), a number.

    Source: ``jax.Device``.

    >>> import arrayport as ap
    >>> str(ap.devices("cupy-sim")[0])
    'cupy-sim:gpu:0'
    """

    backend: str
    platform: str
    id: int = 0

    def __str__(self) -> str:
        return f"{self.backend}:{self.platform}:{self.id}"


@dataclass(frozen=True)
class Refusal:
    """Stands in a backend's table for a kernel it cannot have, and says why."""

    reason: str


class Backend:
    """One library that executes: its raw array type, its kernels, its devices.

    A subclass states `name` and `kernels` (primitive -> kernel on raw values, or a Refusal) and
    fills in the methods that raise here. `native` holds JAX-like transformations of the backend's
    own, else None.
    """

    name: str
    kernels: Mapping[Primitive, Callable[..., Any] | Refusal]
    native: Any = None
    overwrites: float = inf  # bytes from which it pays to write over an array that is given away

    def owns(self, cls: type) -> bool:
        """Whether raw values of this class are this backend's."""
        raise NotImplementedError

    def execute(self, prim: Primitive, args: Sequence[Array], params: dict[str, Any]) -> Any:
        """Run one primitive on concrete Arrays; gives an Array, or a list if it has many."""
        raise NotImplementedError

    def text(self, program: Program, dialect: str) -> str:
        """What a Program is compiled to; ValueError if this backend has no such text."""
        raise ValueError(f"backend {self.name!r} compiles nothing that reads as {dialect!r}")

    def compile(self, program: Program, owned: Sequence[Var] = ()) -> Callable[..., list[Any]]:
        """Make a function of raw values from a Program; `owned` inputs may be overwritten."""
        raise NotImplementedError

    def alone(self, _array: Array) -> bool:
        """Whether nobody but this Array sees its memory, which may then be overwritten."""
        return False

    def asarray(self, host: np.ndarray[Any, Any], device: Device | None = None) -> Any:
        """Copy a host array to a raw array of this backend."""
        raise NotImplementedError

    def to_numpy(self, raw: Any) -> np.ndarray[Any, Any]:
        """Give a raw array's values on the host; the caller must not write to the result."""
        raise NotImplementedError

    def devices(self) -> list[Device]:
        """List the devices present, the default first."""
        raise NotImplementedError

    def device_of(self, raw: Any) -> Device:
        """Say where a raw array lives."""
        return self.devices()[0]

    def sharding(self, raw: Any) -> Any:
        """The Sharding of a raw array that is over several devices; None if it is on one."""
        return None

    def shards(self, raw: Any) -> Any:
        """The Shards of such a raw array."""
        return None

    def wait(self, raw: Any) -> None:
        """Return when a raw array's value is there."""

    def weak(self, raw: Any) -> bool:
        """Whether a raw array itself says that its dtype is weak."""
        return False

    def concrete(self, raw: Any) -> Any:
        """Give a raw array itself, or what it holds if the library traces it: None if nothing."""
        return raw

    def kernel(self, prim: Primitive) -> Callable[..., Any]:
        """Look a kernel up; raise UnsupportedOnBackendError with the reason if there is none."""
        found = self.kernels.get(prim)
        if found is None or isinstance(found, Refusal):
            reason = found.reason if found else NO_KERNEL
            raise UnsupportedOnBackendError(
                f"{prim.name} is not supported on backend {self.name!r}: {reason}"
            )
        return found

    def __repr__(self) -> str:
        return f"<backend {self.name}>"


_loaded: dict[str, Backend] = {}
_by_type: dict[type, Backend] = {}
_ambient: ContextVar[Backend | None] = ContextVar("ambient", default=None)


@cache
def entry_points() -> dict[str, Any]:
    """Backends that are installed as packages, by name; nothing is imported."""
    return {e.name: e for e in metadata.entry_points(group=ENTRY_POINTS)}


def get(name: str) -> Backend:
    """Load a backend by name. Raises BackendNotFoundError that says how to install it."""
    found = _loaded.get(name)
    if found is not None:
        return found
    entry = entry_points().get(name)
    if entry is None:
        raise BackendNotFoundError(
            f"backend {name!r} is unknown; the known ones are {', '.join(sorted(entry_points()))}"
        )
    try:
        backend = entry.load()
    except Exception as e:  # whatever a package raises while it is imported
        words = " ".join(str(e).split())
        told = words if isinstance(e, ImportError) else f"{type(e).__name__}: {words}"
        hint = INSTALL.get(name)
        raise BackendNotFoundError(
            f"backend {name!r} cannot be loaded: {told}"
            + (f"; install it with: {hint}" if hint else "")
        ) from e
    if not isinstance(backend, Backend):
        raise BackendNotFoundError(
            f"backend {name!r} cannot be loaded: {entry.value} is no arrayport.core.backend.Backend"
            f" but {type(backend).__name__}"
        )
    return register(backend)


def register(backend: Backend) -> Backend:
    """Make a loaded backend known under its name."""
    return _loaded.setdefault(backend.name, backend)


def loaded() -> list[Backend]:
    """Backends loaded so far."""
    return list(_loaded.values())


def by_type(cls: type) -> Backend | None:
    """The backend whose raw arrays are of this class, loaded if need be."""
    found = _by_type.get(cls)
    if found is None:
        found = _find(cls)
        if found is not None:
            _by_type[cls] = found
    return found


def _find(cls: type) -> Backend | None:
    if cls is np.ndarray:
        return get("numpy")
    for backend in loaded():
        if backend.owns(cls):
            return backend
    package = cls.__module__.partition(".")[0]
    name = ARRAY_PACKAGES.get(package, package)
    if name in _loaded or name not in entry_points():
        return None
    backend = get(name)
    return backend if backend.owns(cls) else None


@cache
def default_backend() -> Backend:
    """The backend that ARRAYPORT_BACKEND names (read once), else the best present."""
    wanted = os.environ.get("ARRAYPORT_BACKEND")
    try:
        return get(wanted or _best())
    except BackendNotFoundError as e:
        raise BackendNotFoundError(f"ARRAYPORT_BACKEND={wanted}: {e}") from e


def _best() -> str:
    """The best backend present, found without importing jax or cupy."""
    accelerator = any(Path("/dev").glob("nvidia[0-9]*"))
    if _installed("jax") and (
        _jax_asked() or (accelerator and _installed("jax_cuda12_plugin", "jax_cuda13_plugin"))
    ):
        return "jax"
    if accelerator and _installed("cupy"):
        return "cupy"
    return "numpy"


def _jax_asked() -> bool:
    platforms = os.environ.get("JAX_PLATFORMS", "")
    wanted = [p for p in platforms.split(",") if p and p != "cpu"]
    return (
        bool(wanted)
        or ("TPU_NAME" in os.environ)
        or (_installed("libtpu") and Path("/dev/accel0").exists())
    )


def _installed(*modules: str) -> bool:
    return any(_spec(m) for m in modules)


def _spec(module: str) -> bool:
    if module in sys.modules:
        return True
    return import_module("importlib.util").find_spec(module) is not None


def ambient() -> Backend:
    """Where work goes that no operand decides: `use_backend`'s, else the default."""
    return _ambient.get() or default_backend()


def enter(backend: Backend) -> Token[Backend | None] | None:
    """Make a backend the ambient one until `leave`; None if it is already."""
    return None if ambient() is backend else _ambient.set(backend)


def leave(token: Token[Backend | None] | None) -> None:
    """Undo `enter`."""
    if token is not None:
        _ambient.reset(token)


def use_backend(name: str | Backend) -> AbstractContextManager[Backend | None]:
    """Send work that no operand decides to a backend, in this thread, while the context lasts.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> with ap.use_backend("numpy"):
    ...     print(anp.arange(3).device)
    numpy:cpu:0
    """
    return within(_ambient, name if isinstance(name, Backend) else get(name))
