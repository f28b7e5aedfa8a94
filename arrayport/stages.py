"""JAX's stages: what `jit(f).trace`, `.lower` and `.compile` give."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arrayport.control.jit import Jitted as Wrapped
from arrayport.control.stages import ArgInfo, Compiled, Lowered, Traced
from arrayport.core.names import absent

CompilerOptions = dict[str, str | bool]  # what JAX's compiler takes; own engines take none

__all__ = ["ArgInfo", "Compiled", "CompilerOptions", "Lowered", "Traced", "Wrapped"]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise absent("stages", name)
