"""Which of JAX's public names exist here, and which do not yet."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from arrayport.core.names import NAMES, REASONS, known


@dataclass(frozen=True)
class NameState:
    """JAX's names of one module: those that exist here, those that do not, and some reasons."""

    module: str
    present: tuple[str, ...]
    missing: tuple[str, ...]
    reasons: dict[str, str]


def name_states() -> list[NameState]:
    """Go through the modules whose names are listed."""
    return [_name_state(path) for path in NAMES]


def _name_state(path: str) -> NameState:
    module = f"arrayport.{path}".rstrip(".")
    own = _import(module)
    present = tuple(name for name in known(path) if _has(own, module, name))
    missing = tuple(n for n in known(path) if n not in present)
    stated = {n: REASONS.get(f"{path}.{n}".lstrip("."), "") for n in missing}
    return NameState(
        module, present, missing, {n: reason for n, reason in stated.items() if reason}
    )


def _import(name: str) -> Any:
    """Import a module; None if it, or the package that it would be in, does not exist."""
    try:
        return import_module(name) if find_spec(name) else None
    except ModuleNotFoundError:
        return None


def _has(module: Any, path: str, name: str) -> bool:
    """Tell whether a module has a name, be it a module that nobody has imported yet."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # deprecated names warn
        return module is not None and (
            hasattr(module, name) or _import(f"{path}.{name}") is not None
        )
