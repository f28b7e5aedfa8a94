"""JAX's ad_checkpoint: names and policies of what a checkpointed function keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arrayport.control.policies import checkpoint_name, checkpoint_policies
from arrayport.control.residuals import print_saved_residuals
from arrayport.core.names import absent

__all__ = ["checkpoint_name", "checkpoint_policies", "print_saved_residuals"]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise absent("ad_checkpoint", name)
