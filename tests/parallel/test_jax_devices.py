"""JAX over eight devices, which only a process of its own has: the tests of these files, there."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = (
    "tests/parallel/test_pmap.py",
    "tests/parallel/test_shard_map.py",
    "tests/parallel/test_shardings.py",
    "tests/parallel/test_varying.py",
    "tests/programs/test_devices.py",
    "tests/transforms/test_compositions.py::test_over_devices",
)
ALONE = os.environ.get("ARRAYPORT_NUM_CPU_DEVICES") == "8"


@pytest.mark.skipif(find_spec("jax") is None, reason="JAX is not installed")
@pytest.mark.skipif(ALONE, reason="this is the process of its own")
def test_jax_over_eight_devices():
    command = [sys.executable, "-m", "pytest", "-qrs", "-n0", "-p", "no:cacheprovider", *FILES]
    own = {"ARRAYPORT_NUM_CPU_DEVICES": "8", "ARRAYPORT_TEST_BACKENDS": "jax"}
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | own, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:]
    assert "process of its own" not in done.stdout  # as the tests say that then do not run
