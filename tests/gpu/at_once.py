"""A pytest plugin: Programs on CuPy are compiled to kernels at their first run."""

from __future__ import annotations

import os

import pytest
from arrayport_backends.cupy import compiler

from tests import cuda_host


def pytest_configure() -> None:
    """Wait for nothing; on simulated CuPy a compiler of this machine stands in for NVRTC."""
    if os.environ.get("ARRAYPORT_TEST_BACKENDS") == "cupy-sim":
        cuda_host.pytest_configure()
    pytest.MonkeyPatch().setattr(compiler, "COMPILING", 0)
