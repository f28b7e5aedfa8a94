"""One functional array API, spelled as JAX spells it, on NumPy, CuPy and JAX."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arrayport import (
    custom_batching,
    custom_derivatives,
    debug,
    dlpack,
    dtypes,
    errors,
    flatten_util,
    image,
    lax,
    nn,
    numpy,
    ops,
    random,
    scipy,
    tree,
    tree_util,
    typing,
)
from arrayport.control.callbacks import effects_barrier, pure_callback
from arrayport.control.checkpoint import checkpoint
from arrayport.control.closures import closure_convert, custom_gradient, fwd_and_bwd
from arrayport.control.custom_jvp import custom_jvp
from arrayport.control.custom_vjp import custom_vjp
from arrayport.control.jit import jit
from arrayport.control.policies import checkpoint_policies
from arrayport.control.transposition import linear_transpose
from arrayport.core.array import Array
from arrayport.core.backend import Device, use_backend
from arrayport.core.config import config, disable_jit, enable_x64
from arrayport.core.contract import contract
from arrayport.core.dtypes import float0
from arrayport.core.explanations import explain
from arrayport.core.names import absent
from arrayport.core.tree import tree_map
from arrayport.ops.placement import (
    block_until_ready,
    default_backend,
    device_count,
    device_get,
    device_put,
    devices,
    local_devices,
)
from arrayport.transforms.agnostic import agnostic
from arrayport.transforms.batching import vmap
from arrayport.transforms.inspection import ShapeDtypeStruct, eval_shape, make_jaxpr
from arrayport.transforms.jacobians import hessian, jacfwd, jacrev
from arrayport.transforms.reverse import grad, jvp, linearize, value_and_grad, vjp

__all__ = [
    "Array",
    "Device",
    "ShapeDtypeStruct",
    "ad_checkpoint",
    "agnostic",
    "block_until_ready",
    "checkpoint",
    "checkpoint_policies",
    "closure_convert",
    "config",
    "contract",
    "custom_batching",
    "custom_derivatives",
    "custom_gradient",
    "custom_jvp",
    "custom_vjp",
    "debug",
    "default_backend",
    "device_count",
    "device_get",
    "device_put",
    "devices",
    "disable_jit",
    "dlpack",
    "dtypes",
    "effects_barrier",
    "enable_x64",
    "errors",
    "eval_shape",
    "explain",
    "flatten_util",
    "float0",
    "fwd_and_bwd",
    "grad",
    "hessian",
    "image",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jit",
    "jvp",
    "lax",
    "linear_transpose",
    "linearize",
    "local_devices",
    "make_jaxpr",
    "nn",
    "numpy",
    "ops",
    "pure_callback",
    "random",
    "remat",
    "scipy",
    "tree",
    "tree_map",
    "tree_util",
    "typing",
    "use_backend",
    "value_and_grad",
    "vjp",
    "vmap",
]

jacobian, remat = jacrev, checkpoint

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise absent("", name)
