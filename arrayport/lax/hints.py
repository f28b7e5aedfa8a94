"""What tells a compiler or a runtime something, and changes no value."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, NoReturn

from arrayport.core.array import Array
from arrayport.core.errors import UnsupportedOnBackendError
from arrayport.core.trace import route
from arrayport.core.tree import tree_leaves, tree_map
from arrayport.ops import elementwise
from arrayport.ops.promotion import lift
from arrayport.transforms.engines import run_on_engine

__all__ = [
    "after_all",
    "composite",
    "create_token",
    "dce_sink",
    "optimization_barrier",
    "platform_dependent",
    "stage",
    "stop_gradient",
]


def optimization_barrier(operand: Any, /) -> Any:
    """Keep a compiler from moving work across this point; gives the pytree as it is.

    NumPy and CuPy run operations in the order in which they are written: there it does nothing.
    Source: ``jax.lax.optimization_barrier``.

    >>> from arrayport import lax
    >>> lax.optimization_barrier((lax.iota("int32", 2), 1))[0]
    Array([0, 1], dtype=int32)
    """
    return run_on_engine("optimization_barrier", _lifted, operand, operand)


def _lifted(operand: Any) -> Any:
    return tree_map(lambda x: lift(x, None, "an operand of optimization_barrier"), operand)


def stop_gradient(x: Any) -> Any:
    """Make a pytree of arrays a constant to every derivative; gives it as it is.

    Source: ``jax.lax.stop_gradient``.

    >>> import arrayport as ap
    >>> ap.grad(lambda x: x * ap.lax.stop_gradient(x))(3.0)
    Array(3., dtype=float32, weak_type=True)
    """
    return tree_map(elementwise.stop_gradient, x)


def stage(x: Any, /) -> Array:
    """Give a number or a NumPy array as an Array, in a function that is traced a part of it.

    Source: ``jax.lax.stage``.

    >>> from arrayport import lax
    >>> lax.stage(3)
    Array(3, dtype=int32, weak_type=True)
    """
    return lift(x)


def dce_sink(val: Any, *, prevent_mlir_dce: bool = False) -> None:
    """Have XLA compute a value that nothing uses; elsewhere a value is computed when asked for.

    Source: ``jax.lax.dce_sink``.

    >>> from arrayport import lax
    >>> import arrayport.numpy as anp
    >>> lax.dce_sink(anp.ones(2))
    """
    options = {"prevent_mlir_dce": prevent_mlir_dce}
    run_on_engine("dce_sink", lambda _val, **_options: None, val, val, **options)


def platform_dependent(
    *args: Any, default: Callable[..., Any] | None = None, **per_platform: Callable[..., Any]
) -> Any:
    """Call the function of the platform that runs it: `cpu`, `cuda`, `rocm`, `tpu`, or `default`.

    On JAX the choice is made where a Program is compiled. Raises NotImplementedError for a platform
    without a function. Source: ``jax.lax.platform_dependent``.

    >>> from arrayport import lax
    >>> lax.platform_dependent(2.0, cpu=lambda x: x + 1, default=lambda x: x)
    Array(3., dtype=float32, weak_type=True)
    """
    backend, engine = route(tree_leaves(args))
    if engine is not None:
        return engine.platform_dependent(args, default, per_platform)
    platform = backend.devices()[0].platform
    name = "cuda" if platform == "gpu" else platform
    chosen = per_platform.get(name, default)
    if chosen is None:
        raise NotImplementedError(
            f"platform_dependent has no function for platform {name!r}: give one by that name, or "
            "default="
        )
    return chosen(*tree_map(lift, args))


def composite(decomposition: Callable[..., Any], name: str, version: int = 0) -> Callable[..., Any]:
    """Make a function that a compiler may replace by one of its own, known by name and version.

    Keyword arguments are its attributes. NumPy and CuPy run the decomposition, and can
    differentiate it, which JAX cannot. Source: ``jax.lax.composite``.

    >>> from arrayport import lax
    >>> lax.composite(lambda x: lax.sin(x) / lax.cos(x), "my.tangent")(0.0)
    Array(0., dtype=float32, weak_type=True)
    """

    @wraps(decomposition)
    def composed(*args: Any, **attributes: Any) -> Any:
        _, engine = route(tree_leaves(args))
        if engine is not None:
            return engine.composite(decomposition, name, version, args, attributes)
        return decomposition(*tree_map(lift, args), **attributes)

    return composed


# ---- tokens


def create_token(_: Any = None) -> Any:
    """Make a token of XLA's, which orders effects. Source: ``jax.lax.create_token``.

    Raises UnsupportedOnBackendError where JAX does not run the work.
    """
    return run_on_engine("create_token", _no_tokens, ())


def after_all(*operands: Any) -> Any:
    """Merge tokens of XLA's. Source: ``jax.lax.after_all``; see `create_token`."""
    return run_on_engine("after_all", _no_tokens, operands, *operands)


def _no_tokens(*_tokens: Any) -> NoReturn:
    raise UnsupportedOnBackendError(
        "tokens order the effects of an XLA program: NumPy and CuPy run operations in the order in "
        "which they are written, and need none"
    )
