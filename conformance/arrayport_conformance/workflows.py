"""ci: a workflow for a user's repository that runs its tests on each backend and Python."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from arrayport_conformance.doctor import ARRAY_LIBRARIES
from arrayport_conformance.verify import UsageError

PLACES = {
    "github": Path(".github/workflows/backends.yml"),
    "gitlab": Path(".gitlab-ci.yml"),
}
BACKENDS = ("numpy", "jax", "cupy-sim")
PYTHONS = ("3.11", "3.13")
EXTRAS = {"jax": "jax,testing", "cupy": "cupy,testing"}
TEMPLATES = Path(__file__).with_name("templates")


def workflow(provider: str, backends: Sequence[str], pythons: Sequence[str]) -> str:
    """Return the workflow's text. Raises UsageError for what no runner could be asked for."""
    if not backends or not pythons:
        raise UsageError("a workflow needs a backend and a Python: --backends numpy --pythons 3.13")
    for name in backends:
        if name not in ARRAY_LIBRARIES:
            known = ", ".join(ARRAY_LIBRARIES)
            raise UsageError(f"backend {name!r} is unknown; the known ones are {known}")
    for version in pythons:
        if not re.fullmatch(r"3\.\d+", version):
            raise UsageError(f"{version!r} is no version of Python: write 3.13")
    if provider == "gitlab":
        cells = "\n".join(
            f"      - BACKEND: {name}\n        EXTRAS: {_extras(name)}\n"
            f"        PYTHON: {_list(pythons)}"
            for name in backends
        )
    else:
        cells = "\n".join(f"          - {{backend: {n}, extras: {_extras(n)}}}" for n in backends)
    text = (TEMPLATES / f"{provider}.yml").read_text("utf-8")
    filled = {"backends": f"[{', '.join(backends)}]", "pythons": _list(pythons), "cells": cells}
    for key, value in filled.items():
        text = text.replace(f"<{key}>", value)
    return text


def _extras(backend: str) -> str:
    return f'"{EXTRAS.get(backend, "testing")}"'


def _list(versions: Sequence[str]) -> str:
    return "[" + ", ".join(f'"{version}"' for version in versions) + "]"


def write(
    provider: str,
    backends: Sequence[str],
    pythons: Sequence[str],
    out: Path | None = None,
    *,
    force: bool = False,
) -> Path:
    """Write the workflow and return where. Raises UsageError if a file is there already."""
    path = PLACES[provider] if out is None else out
    text = workflow(provider, backends, pythons)
    if path.exists() and not force:
        raise UsageError(f"{path} exists: --force overwrites it, --out FILE writes another")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error
    return path
