"""The JAX backend: primitives lowered to jax.lax, and JAX's own transformations as its engine."""

from __future__ import annotations

import contextlib
from functools import partial
from pathlib import Path
from typing import Any

import jax
from jax.extend import source_info_util

from arrayport.core import config as options
from arrayport.core.backend import ambient, register
from arrayport.ops.placement import more_devices
from arrayport_backends.jax import native, trees
from arrayport_backends.jax.execution import JaxBackend

backend = register(JaxBackend(native))
trees.link()

flags: Any = jax.config
options.config.follow(lambda: flags.jax_enable_x64, lambda on: flags.update("jax_enable_x64", on))
options.config.follow(
    lambda: flags.jax_disable_jit, lambda on: flags.update("jax_disable_jit", on), "disable_jit"
)


def guard(flag: str) -> str:
    """Read one of JAX's transfer guards, which are unset at first."""
    return getattr(flags, flag) or "allow"


for option in (
    "debug_nans",
    "debug_infs",
    "log_compiles",
    "explain_cache_misses",
    "check_tracer_leaks",
    "numpy_dtype_promotion",
    "numpy_rank_promotion",
    "default_matmul_precision",
    "debug_key_reuse",
    "no_execution",
    "no_tracing",
    "enable_checks",
):
    options.config.follow(
        partial(getattr, flags, f"jax_{option}"), partial(flags.update, f"jax_{option}"), option
    )


def check_again() -> None:
    """Forget compiled functions, whose quickest calls would not be looked at."""
    if flags.jax_debug_nans or flags.jax_debug_infs:
        native.clear_caches()


for option in ("debug_nans", "debug_infs"):
    options.config.listen(option, check_again)


UNSET = -1  # as JAX has it


def count_devices() -> None:
    """Let JAX start with as many devices of the host as the option says."""
    asked = options.virtual_device_count()
    try:
        flags.update("jax_num_cpu_devices", asked if asked > 1 else UNSET)
    except RuntimeError as e:  # it has counted its devices already, once for all
        if asked > len(jax.devices("cpu")) and ambient() is backend:
            raise RuntimeError(
                f"num_cpu_devices={asked} comes too late for JAX, which has started with "
                f"{len(jax.devices('cpu'))}: {more_devices(backend)}"
            ) from e


with contextlib.suppress(RuntimeError):
    options.config.listen("num_cpu_devices", count_devices)
for way in ("host_to_device", "device_to_device", "device_to_host"):
    flag = f"jax_transfer_guard_{way}"
    options.config.follow(
        partial(guard, flag),
        partial(flags.update, flag),
        flag.removeprefix("jax_"),
    )

# JAX's messages, programs and profiles shall name the user's lines, as they skip JAX's own files.
for file in (options.__file__, __file__):
    source_info_util.register_exclusion(str(Path(file).parents[1]))
