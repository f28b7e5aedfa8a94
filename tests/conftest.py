"""The backends on which tests run, and how long Hypothesis looks.

Backends: those of ARRAYPORT_TEST_BACKENDS, else all that are present. Examples:
`--hypothesis-profile=deep` takes more, and of the laws other ones.
"""

from __future__ import annotations

import itertools
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

import arrayport as ap
from arrayport.core import backend as backends
from arrayport.core.primitive import REGISTRY, Slopes

# JAX compiles for every shape and dtype, which is most of its tests' time: without its expensive
# passes it takes a third less, and at this level it still rounds as it does for its users. Set
# before JAX is imported, and for the processes that tests start.
CHEAP = "--xla_backend_optimization_level=1 --xla_llvm_disable_expensive_passes=true"
if find_spec("jaxlib") and version("jaxlib").startswith("0.10."):
    # Its former emitters take a third less again; one result in thirty rounds its last bit apart.
    CHEAP += " --xla_cpu_use_fusion_emitters=false"
os.environ["XLA_FLAGS"] = f"{CHEAP} {os.environ.get('XLA_FLAGS', '')}".rstrip()

ASKED = os.environ.get("ARRAYPORT_TEST_BACKENDS", "")
PRESENT = ["numpy", "cupy-sim", *(["jax"] if find_spec("jax") else [])]
BACKENDS = [name.strip() for name in ASKED.split(",")] if ASKED else PRESENT

ALWAYS = {
    "deadline": None,
    "derandomize": True,
    "database": None,
    "suppress_health_check": [HealthCheck.too_slow],
}
settings.register_profile("short", max_examples=10, **ALWAYS)
settings.register_profile("deep", max_examples=100, **ALWAYS)


def pytest_configure(config: pytest.Config) -> None:
    """Take the short profile, unless the command line names one."""
    if not config.getoption("--hypothesis-profile"):
        settings.load_profile("short")


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> Iterator[str]:
    """Send the work of a test to one backend after the other."""
    with ap.use_backend(request.param):
        yield request.param


@pytest.fixture(params=[name for name in BACKENDS if name != "jax"])
def own_backend(request: pytest.FixtureRequest) -> Iterator[str]:
    """Send the work of a test to the backends of our own engine, one after the other."""
    with ap.use_backend(request.param):
        yield request.param


@pytest.fixture
def wide() -> Iterator[None]:
    """Turn 64-bit types on."""
    with ap.enable_x64():
        yield


@pytest.fixture
def eight(backend: str) -> Iterator[str]:
    """Give a backend eight devices; JAX has them where they were asked for before it counted."""
    if backend == "jax" and ap.device_count() < 8:
        pytest.skip("a process of its own gives JAX 8: tests/parallel/test_jax_devices.py")
    with ap.virtual_devices(8):
        yield backend


KEPT = 400  # tests after which JAX forgets what it compiled, which would fill the memory
_ran = 0


def pytest_runtest_teardown() -> None:
    """Let JAX forget its compiled programs from time to time."""
    global _ran  # noqa: PLW0603 - a count over the whole run
    _ran += 1
    if _ran % KEPT == 0 and "jax" in sys.modules:
        sys.modules["jax"].clear_caches()


@pytest.fixture
def replace_kernel(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Callable[..., Any]], None]:
    """Let another function be NumPy's kernel of a primitive, for those who have it at hand too."""

    def replace(name: str, kernel: Callable[..., Any]) -> None:
        primitive = REGISTRY[name]
        monkeypatch.setitem(backends.get("numpy").kernels, primitive, kernel)
        monkeypatch.setattr(primitive, "numpy_kernel", kernel)
        for dtype in primitive.quick:
            monkeypatch.setitem(primitive.quick, dtype, kernel)

    return replace


@pytest.fixture
def replace_partials(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let other functions be the partials of a primitive; what was made of its own is not used."""

    def replace(name: str, *partials: Callable[..., Any], needs: tuple[int, ...]) -> None:
        primitive = REGISTRY[name]
        monkeypatch.setattr(primitive, "partials", partials)
        monkeypatch.setattr(primitive, "needs", needs)
        monkeypatch.setattr(primitive, "slopes", Slopes(primitive))

    return replace


@pytest.fixture
def varints() -> Callable[[bytes], list[int]]:
    """Read the integers of a packed field of a protocol buffer."""

    def read(packed: bytes) -> list[int]:
        found, value, shift = [], 0, 0
        for byte in packed:
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                found.append(value)
                value = shift = 0
        return found

    return read


@pytest.fixture
def fields() -> Callable[[bytes], dict[int, list[Any]]]:
    """Read a protocol buffer: the values of its fields, ints and bytes, by number."""

    def read(data: bytes) -> dict[int, list[Any]]:
        found: dict[int, list[Any]] = defaultdict(list)
        rest = iter(data)

        def varint() -> int:
            value = shift = 0
            for byte in rest:
                value |= (byte & 127) << shift
                shift += 7
                if byte < 128:
                    break
            return value

        while tag := varint():
            if tag & 7 == 0:
                found[tag >> 3].append(varint())
            else:
                assert tag & 7 == 2
                found[tag >> 3].append(bytes(itertools.islice(rest, varint())))
        return found

    return read
