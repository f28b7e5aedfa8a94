"""The passes that every Program goes through before it runs, in order."""

from __future__ import annotations

from arrayport.core.backend import Backend
from arrayport.core.program import Program
from arrayport.passes.fold import fold
from arrayport.passes.prune import prune
from arrayport.passes.share import share


def optimise(program: Program, backend: Backend) -> Program:
    """Compute constants, then each value once, then only what is needed."""
    return prune(share(fold(program, backend)))
