"""The native engine: JAX's own transformations and control flow under JAX's names."""

from arrayport_backends.jax.control import (
    associative_scan,
    cond,
    fori_loop,
    map,
    scan,
    switch,
    while_loop,
)
from arrayport_backends.jax.transforms import (
    checkpoint,
    custom_jvp_call,
    custom_vjp_call,
    eval_shape,
    grad,
    hessian,
    jacfwd,
    jacrev,
    jit,
    jvp,
    linear_transpose,
    linearize,
    make_jaxpr,
    value_and_grad,
    vjp,
    vmap,
)

remat = checkpoint
jacobian = jacrev

__all__ = [
    "associative_scan",
    "checkpoint",
    "cond",
    "custom_jvp_call",
    "custom_vjp_call",
    "eval_shape",
    "fori_loop",
    "grad",
    "hessian",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jit",
    "jvp",
    "linear_transpose",
    "linearize",
    "make_jaxpr",
    "map",
    "remat",
    "scan",
    "switch",
    "value_and_grad",
    "vjp",
    "vmap",
    "while_loop",
]
