"""Standing in for JAX: what is imported meanwhile finds arrayport under JAX's names."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType

import arrayport
from arrayport.core.array import Aval, Tracer
from arrayport.core.backend import default_backend
from arrayport.core.names import NAMES, VERSION
from arrayport.testing.gradients import check_grads


@contextmanager
def as_jax() -> Iterator[ModuleType]:
    """Let what is imported within find arrayport where it asks for `jax`; give that module.

    A library written for JAX then runs on every backend, and without JAX: on NumPy, CuPy, or JAX
    again. It keeps what it found after the context has ended, and `import jax` means JAX again.
    A library that was imported before keeps JAX. What is public is found under `jax._src` too;
    ImportError tells of one that reaches further into JAX's own modules, such as `jax.extend`.
    Not for several threads at once.

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
    public = {name: import_module(f"arrayport.{name}") for name in NAMES if name}
    core = ModuleType("jax.core", "What is asked about values.")
    vars(core).update(Tracer=Tracer, ShapedArray=Aval)
    test_util = ModuleType("jax.test_util", "What tests ask about derivatives.")
    vars(test_util).update(check_grads=check_grads)
    jax = ModuleType("jax", "Arrayport, standing in for JAX.")
    vars(jax).update({name: getattr(arrayport, name) for name in arrayport.__all__})
    vars(jax).update(
        core=core,
        test_util=test_util,
        __path__=[],  # a package
        __version__=VERSION,
        __version_info__=tuple(map(int, VERSION.split("."))),
        __getattr__=arrayport.__getattr__,
    )
    own = ModuleType("jax._src", "Where libraries look for what is public, too.")
    vars(own).update(__path__=[])
    found = {"jax": jax, "jax.core": core, "jax.test_util": test_util, "jax._src": own}
    return found | {f"jax{of}.{name}": m for of in ("", "._src") for name, m in public.items()}
