"""The JAX backend: primitives lowered to jax.lax, and JAX's own transformations as its engine."""

from __future__ import annotations

from typing import Any

import jax

from arrayport.core.backend import register
from arrayport.core.config import config
from arrayport_backends.jax import native, trees
from arrayport_backends.jax.execution import JaxBackend

backend = register(JaxBackend(native))
trees.link()

flags: Any = jax.config
config.follow(lambda: flags.jax_enable_x64, lambda on: flags.update("jax_enable_x64", on))
config.follow(
    lambda: flags.jax_disable_jit, lambda on: flags.update("jax_disable_jit", on), "disable_jit"
)
