"""JAX's own profiler and contexts."""

from __future__ import annotations

from typing import Any

import jax
import jax.profiler

from arrayport.core.backend import Device

theirs: Any = jax
StepTraceAnnotation = theirs.profiler.StepTraceAnnotation
TraceAnnotation = theirs.profiler.TraceAnnotation
named_scope = theirs.named_scope
start_trace = theirs.profiler.start_trace
stop_trace = theirs.profiler.stop_trace
ensure_compile_time_eval = theirs.ensure_compile_time_eval
device_memory_profile = theirs.profiler.device_memory_profile


def default_device(device: Device) -> Any:
    """Give the context in which JAX puts new arrays on a device."""
    found = theirs.devices(device.platform)
    return theirs.default_device(next(d for d in found if d.id == device.id))
