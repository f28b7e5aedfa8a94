"""The machine that is measured: one pinned core, one thread a library, and what to call it."""

from __future__ import annotations

import os
import platform
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

QUIET = {
    **dict.fromkeys(
        ("MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"
    ),
    "ARRAYPORT_BACKEND": "numpy",
    "ARRAYPORT_ENABLE_X64": "1",
    "JAX_ENABLE_X64": "1",
    "JAX_PLATFORMS": "cpu",
}
# Set where a process must not use the processor's own kernels; a timing wants those.
UNSET = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
READY = "ARRAYPORT_BENCHMARKS_READY"


def settle() -> None:
    """Start this command again on one core with one thread a library, unless that is done.

    The libraries read the environment and the core's number when they load, so it cannot be later.
    """
    if os.environ.get(READY):
        return
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    kept = {name: value for name, value in os.environ.items() if name not in UNSET}
    env = {**kept, **QUIET, READY: "1"}
    os.execve(sys.executable, sys.orig_argv, env)  # noqa: S606 - this very command, again


def facts() -> dict[str, Any]:
    """Return what a result file says of the machine."""
    cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else ()
    return {
        "processor": _processor(),
        "system": platform.platform(),
        "cores": os.cpu_count(),
        "pinned": sorted(cores),
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
    }


def _processor() -> str:
    told = Path("/proc/cpuinfo")
    if told.exists():
        for line in told.read_text("utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def versions() -> dict[str, str]:
    """Return the versions of Python and of the libraries that are installed."""
    found = {"python": platform.python_version()}
    for name in ("arrayport", "numpy", "scipy", "jax", "jaxlib", "autograd"):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
