"""Libraries that are given Arrays, in a process of their own.

SciPy's and scikit-learn's support of any array API namespace is switched on by SCIPY_ARRAY_API,
which SciPy reads when it is imported.
"""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

HERE = Path(__file__).parent


# The files of cases, and the library that each needs.
CLIENTS = {
    "extra": "array_api_extra",
    "scipy": "scipy",
    "sklearn": "sklearn",
    "solver": "scipy",
    "xarray": "xarray",
}


@pytest.mark.parametrize("client", CLIENTS)
def test_client(client: str, backend: str) -> None:
    if not find_spec(CLIENTS[client]):
        pytest.skip(f"{CLIENTS[client]} is not installed")
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST")}
    environment |= {"ARRAYPORT_TEST_BACKENDS": backend}
    environment |= {"SCIPY_ARRAY_API": "1"} if client in {"scipy", "sklearn"} else {}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    file = HERE / f"{client}_cases.py"
    done = subprocess.run(
        [*command, str(file)], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout
