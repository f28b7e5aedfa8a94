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
from arrayport_backends.jax.hints import (
    after_all,
    composite,
    create_token,
    dce_sink,
    optimization_barrier,
    platform_dependent,
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
    "after_all",
    "associative_scan",
    "checkpoint",
    "composite",
    "cond",
    "create_token",
    "custom_jvp_call",
    "custom_vjp_call",
    "dce_sink",
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
    "optimization_barrier",
    "platform_dependent",
    "remat",
    "scan",
    "switch",
    "value_and_grad",
    "vjp",
    "vmap",
    "while_loop",
]
