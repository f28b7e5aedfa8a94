"""One functional array API, spelled as JAX spells it, on NumPy, CuPy and JAX."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from arrayport import dtypes, numpy, ops
from arrayport.control.callbacks import effects_barrier, pure_callback
from arrayport.control.checkpoint import checkpoint
from arrayport.control.closures import closure_convert, custom_gradient, fwd_and_bwd
from arrayport.control.custom_jvp import custom_jvp
from arrayport.control.custom_vjp import custom_vjp
from arrayport.control.jit import clear_caches, jit
from arrayport.control.key_reuse import debug_key_reuse
from arrayport.control.memories import memory_report
from arrayport.control.policies import checkpoint_policies
from arrayport.control.scopes import (
    default_device,
    ensure_compile_time_eval,
    live_arrays,
    named_call,
    named_scope,
    print_environment_info,
    process_count,
    process_index,
    process_indices,
    typeof,
)
from arrayport.control.transposition import linear_transpose
from arrayport.core.array import Array
from arrayport.core.backend import Device, use_backend
from arrayport.core.config import (
    check_tracer_leaks,
    checking_leaks,
    config,
    debug_infs,
    debug_nans,
    default_matmul_precision,
    default_prng_impl,
    disable_jit,
    enable_checks,
    enable_custom_prng,
    enable_x64,
    explain_cache_misses,
    legacy_prng_key,
    log_compiles,
    no_execution,
    no_tracing,
    numpy_dtype_promotion,
    numpy_rank_promotion,
    threefry_partitionable,
    transfer_guard,
    transfer_guard_device_to_device,
    transfer_guard_device_to_host,
    transfer_guard_host_to_device,
    virtual_devices,
)
from arrayport.core.dtypes import float0
from arrayport.core.explanations import contract, explain
from arrayport.core.memory import tracking_memory
from arrayport.core.names import absent
from arrayport.core.shardings import NamedSharding, Shard
from arrayport.core.shardings import PartitionSpec as P
from arrayport.core.tree import tree_map
from arrayport.ops.placement import (
    block_until_ready,
    copy_to_host_async,
    default_backend,
    device_count,
    device_get,
    device_put,
    devices,
    local_device_count,
    local_devices,
)
from arrayport.parallel.meshes import (
    get_abstract_mesh,
    get_mesh,
    make_mesh,
    set_mesh,
    use_abstract_mesh,
)
from arrayport.parallel.placement import (
    make_array_from_callback,
    make_array_from_process_local_data,
    make_array_from_single_device_arrays,
    reshard,
)
from arrayport.parallel.pmap import pmap
from arrayport.parallel.shard_map import shard_map, smap
from arrayport.transforms.agnostic import agnostic
from arrayport.transforms.batching import vmap
from arrayport.transforms.inspection import ShapeDtypeStruct, eval_shape, make_jaxpr
from arrayport.transforms.jacobians import hessian, jacfwd, jacrev
from arrayport.transforms.reverse import grad, jvp, linearize, value_and_grad, vjp

if TYPE_CHECKING:
    from arrayport import (
        ad_checkpoint,
        custom_batching,
        custom_derivatives,
        debug,
        dlpack,
        errors,
        experimental,
        flatten_util,
        image,
        lax,
        nn,
        profiler,
        random,
        scipy,
        sharding,
        stages,
        tree,
        tree_util,
        typing,
    )

__version__ = "0.1.0"

__all__ = [
    "Array",
    "Device",
    "NamedSharding",
    "P",
    "ShapeDtypeStruct",
    "Shard",
    "ad_checkpoint",
    "agnostic",
    "block_until_ready",
    "check_tracer_leaks",
    "checking_leaks",
    "checkpoint",
    "checkpoint_policies",
    "clear_caches",
    "closure_convert",
    "config",
    "contract",
    "copy_to_host_async",
    "custom_batching",
    "custom_derivatives",
    "custom_gradient",
    "custom_jvp",
    "custom_vjp",
    "debug",
    "debug_infs",
    "debug_key_reuse",
    "debug_nans",
    "default_backend",
    "default_device",
    "default_matmul_precision",
    "default_prng_impl",
    "device_count",
    "device_get",
    "device_put",
    "devices",
    "disable_jit",
    "dlpack",
    "dtypes",
    "effects_barrier",
    "enable_checks",
    "enable_custom_prng",
    "enable_x64",
    "ensure_compile_time_eval",
    "errors",
    "eval_shape",
    "experimental",
    "explain",
    "explain_cache_misses",
    "flatten_util",
    "float0",
    "fwd_and_bwd",
    "get_abstract_mesh",
    "get_mesh",
    "grad",
    "hessian",
    "host_count",
    "host_id",
    "host_ids",
    "image",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jit",
    "jvp",
    "lax",
    "legacy_prng_key",
    "linear_transpose",
    "linearize",
    "live_arrays",
    "local_device_count",
    "local_devices",
    "log_compiles",
    "make_array_from_callback",
    "make_array_from_process_local_data",
    "make_array_from_single_device_arrays",
    "make_jaxpr",
    "make_mesh",
    "memory_report",
    "named_call",
    "named_scope",
    "nn",
    "no_execution",
    "no_tracing",
    "numpy",
    "numpy_dtype_promotion",
    "numpy_rank_promotion",
    "ops",
    "pmap",
    "print_environment_info",
    "process_count",
    "process_index",
    "process_indices",
    "profiler",
    "pure_callback",
    "random",
    "remat",
    "reshard",
    "scipy",
    "set_mesh",
    "shard_map",
    "sharding",
    "smap",
    "stages",
    "threefry_partitionable",
    "tracking_memory",
    "transfer_guard",
    "transfer_guard_device_to_device",
    "transfer_guard_device_to_host",
    "transfer_guard_host_to_device",
    "tree",
    "tree_map",
    "tree_util",
    "typeof",
    "typing",
    "use_abstract_mesh",
    "use_backend",
    "value_and_grad",
    "virtual_devices",
    "vjp",
    "vmap",
]

jacobian, remat = jacrev, checkpoint
host_count, host_id, host_ids = process_count, process_index, process_indices

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name in __all__:  # a module that few programs need: it is loaded now
            return import_module(f"{__name__}.{name}")
        raise absent("", name)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
