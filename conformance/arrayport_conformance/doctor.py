"""doctor: what is installed, which rules every primitive states, which of JAX's names exist."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from importlib import metadata
from importlib.util import find_spec
from typing import Any

from arrayport.core import backend as backends
from arrayport.core.backend import Backend, Refusal
from arrayport.core.config import config
from arrayport.core.errors import ArrayportError, BackendNotFoundError
from arrayport.core.primitive import REGISTRY, Holder, Primitive

ARRAY_LIBRARIES = {"numpy": "numpy", "jax": "jax", "cupy": "cupy", "cupy-sim": "numpy"}
CUPY_DISTRIBUTIONS = ("cupy-cuda13x", "cupy-cuda12x", "cupy")
OPTIONAL = {  # of each package the extra that brings it, if one does, and what it is for
    "llvmlite": ("", "machine code for Programs; without it they run by NumPy's own loops"),
    "scipy": ("", "linear algebra, fft, special functions; without it these raise ImportError"),
    "hypothesis": ("testing", "the laws of the catalogue"),
    "pytest": ("testing", "running tests"),
    "rich": ("cli", "coloured tables of this command"),
    "sklearn": ("examples", "the data of examples/digits.py"),
}


@dataclass(frozen=True)
class BackendState:
    """A backend: whether it runs here, where, and what to type if not."""

    name: str
    state: str  # present, missing, broken
    version: str
    devices: tuple[str, ...]
    advice: str


@dataclass(frozen=True)
class PackageState:
    """An optional package: its version, or what to type to have it."""

    name: str
    version: str
    used_for: str
    advice: str


@dataclass(frozen=True)
class RuleState:
    """Where a primitive's rules stand: each is stated, refused with a reason, or a gap."""

    primitive: str
    derivative: str
    refusals: dict[str, str]
    gaps: tuple[str, ...]


# ---- what is installed


def backend_states() -> list[BackendState]:
    """Try every backend that is registered."""
    return [_backend_state(name) for name in sorted(backends.entry_points(), key=_ours_first)]


def _ours_first(name: str) -> tuple[int, str]:
    known = list(ARRAY_LIBRARIES)
    return (known.index(name) if name in known else len(known)), name


def _backend_state(name: str) -> BackendState:
    version = _version(
        *(CUPY_DISTRIBUTIONS if name == "cupy" else (ARRAY_LIBRARIES.get(name, name),))
    )
    try:
        devices = tuple(map(str, backends.get(name).devices()))
    except (ArrayportError, ImportError) as e:
        return BackendState(name, "missing", version, (), backends.INSTALL.get(name, str(e)))
    except Exception as e:  # noqa: BLE001 - whatever a backend's package raises
        return BackendState(name, "broken", version, (), f"{type(e).__name__}: {e}")
    if not devices:
        return BackendState(name, "missing", version, (), "it is installed but finds no device")
    return BackendState(name, "present", version, devices, "")


def package_states() -> list[PackageState]:
    """Look up the packages that some part of arrayport can do without."""
    return [
        PackageState(
            name,
            _version("scikit-learn" if name == "sklearn" else name),
            used_for,
            "" if find_spec(name) else _install(name, extra),
        )
        for name, (extra, used_for) in OPTIONAL.items()
    ]


def _install(name: str, extra: str) -> str:
    return f'pip install "arrayport[{extra}]"' if extra else f"pip install {name}"


def _version(*distributions: str) -> str:
    for distribution in distributions:
        try:
            return metadata.version(distribution)
        except metadata.PackageNotFoundError:
            continue
    return ""


def _default() -> str:
    """Name the default backend, or say why there is none: a wrong ARRAYPORT_BACKEND."""
    try:
        return backends.ambient().name
    except BackendNotFoundError as e:
        return f"none, {e}"


def installation() -> dict[str, Any]:
    """Return all of it, as what `json.dump` takes."""
    return {
        "arrayport": _version("arrayport"),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "default backend": _default(),
        "enable_x64": config.enable_x64,
        "backends": [asdict(state) for state in backend_states()],
        "packages": [asdict(state) for state in package_states()],
    }


# ---- rules


def derivative_of(prim: Primitive) -> str:
    """Say how a primitive is differentiated; empty if it does not say."""
    if isinstance(prim, Holder):
        return "holder"
    if prim.not_differentiable:
        return "refused"
    kinds = {"partials": prim.partials, "transposes": prim.transposes, "jvp": prim.jvp}
    return " + ".join(kind for kind, rule in kinds.items() if rule)


def rule_state(prim: Primitive, present: Iterable[Backend]) -> RuleState:
    """Collect the refusals and gaps of one primitive."""
    derivative = derivative_of(prim)
    refusals = {"derivative": prim.not_differentiable} if prim.not_differentiable else {}
    stated = {"abstract": prim.abstract, "derivative": derivative, "batch": prim.batch}
    gaps = [rule for rule, found in stated.items() if not found]
    for backend in present:
        row = backend.kernels.get(prim)
        if row is None:
            gaps.append(f"kernel on {backend.name}")
        elif isinstance(row, Refusal):
            if row.reason:
                refusals[f"kernel on {backend.name}"] = row.reason
            else:
                gaps.append(f"reason on {backend.name}")
    return RuleState(prim.name, derivative, refusals, tuple(gaps))


def rule_states() -> tuple[list[RuleState], list[str]]:
    """Collect them for every primitive, on the backends that are present, which are named too."""
    present = [backends.get(s.name) for s in backend_states() if s.state == "present"]
    states = [rule_state(prim, present) for _, prim in sorted(REGISTRY.items())]
    return states, [backend.name for backend in present]


def rule_counts(states: list[RuleState], present: list[str]) -> list[tuple[str, int, int, int]]:
    """Count what is stated, refused and missing, a row a rule or backend."""
    counted = []
    for rule in ["abstract", "derivative", "batch", *[f"kernel on {name}" for name in present]]:
        refused = sum(rule in s.refusals for s in states)
        missing = sum(rule in s.gaps for s in states)
        counted.append((rule, len(states) - refused - missing, refused, missing))
    return counted


def derivative_counts(states: list[RuleState]) -> dict[str, int]:
    """Count the primitives of each way to differentiate."""
    return dict(sorted(Counter(s.derivative or "missing" for s in states).items()))
