"""Standing in for JAX: what is imported meanwhile finds arrayport under JAX's names."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from itertools import accumulate
from types import ModuleType

import arrayport
from arrayport.core.backend import default_backend
from arrayport.core.names import NAMES
from arrayport.port import internals


@contextmanager
def as_jax() -> Iterator[ModuleType]:
    """Let what is imported within find arrayport where it asks for `jax`; give that module.

    A library written for JAX then runs on every backend, and without JAX: on NumPy, CuPy, or JAX
    again. It keeps what it found after the context has ended, and `import jax` means JAX again.
    A library that was imported before keeps JAX. What is public is found under `jax._src` too, and
    of JAX's own modules what Flax's `linen`, Haiku, Chex and NumPyro take. ImportError tells of one
    that reaches further, NotImplementedError of one that makes what only JAX can. Not for several
    threads at once.

    >>> with as_jax() as jax:
    ...     import jax.numpy as jnp
    >>> jnp is arrayport.numpy, jax.grad is arrayport.grad, jax.__version__
    (True, True, '0.12.0')
    """
    default_backend()  # which may be JAX's, and shall find JAX
    theirs = _taken()
    ours = _modules()
    sys.modules.update(ours)
    try:
        yield ours["jax"]
    except ImportError as e:
        if (e.name or "").startswith("jax."):
            e.add_note(f"arrayport stands in for JAX here, and lacks that of {e.name}")
        raise
    finally:
        _taken()
        sys.modules.update(theirs)


def _taken() -> dict[str, ModuleType]:
    """Take JAX's modules, or those that stand in for them, from what is imported."""
    names = [name for name in sys.modules if name.partition(".")[0] == "jax"]
    return {name: sys.modules.pop(name) for name in names}


def _modules() -> dict[str, ModuleType]:
    """Arrayport's modules, by the names of the modules of JAX that they spell."""
    names = {path for name in NAMES for path in accumulate(name.split("."), "{}.{}".format) if path}
    public = {name: import_module(f"arrayport.{name}") for name in names}
    found = {f"jax{of}.{name}": m for of in ("", "._src") for name, m in public.items()}
    internals.add(found)
    jax = found["jax"]
    vars(jax).update({name: getattr(arrayport, name) for name in arrayport.__all__})
    vars(jax).update(__getattr__=arrayport.__getattr__)
    for name, module in found.items():
        package, _, last = name.rpartition(".")
        if package and found[package] not in public.values():
            vars(found[package]).update({last: module, "__path__": []})
    return found
