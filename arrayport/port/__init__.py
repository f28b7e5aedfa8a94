"""Porting programs: running what was written for JAX on arrayport."""

from __future__ import annotations

from arrayport.port.standing import as_jax

__all__ = ["as_jax"]
