"""The JAX backend: primitives lowered to jax.lax, and JAX's own transformations as its engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
from jax.extend import source_info_util

from arrayport.core import config as options
from arrayport.core.backend import register
from arrayport_backends.jax import native, trees
from arrayport_backends.jax.execution import JaxBackend

backend = register(JaxBackend(native))
trees.link()

flags: Any = jax.config
options.config.follow(lambda: flags.jax_enable_x64, lambda on: flags.update("jax_enable_x64", on))
options.config.follow(
    lambda: flags.jax_disable_jit, lambda on: flags.update("jax_disable_jit", on), "disable_jit"
)

# JAX's messages, programs and profiles shall name the user's lines, as they skip JAX's own files.
for file in (options.__file__, __file__):
    source_info_util.register_exclusion(str(Path(file).parents[1]))
