"""Says which device the checks run on; without one, says in one line what is missing."""

from __future__ import annotations

import sys

import numpy as np

import arrayport as ap
import arrayport.numpy as anp


def main(backend: str) -> int:
    """Add two numbers on the device."""
    try:
        with ap.use_backend(backend):
            x = anp.ones(3) + 1
    except ap.errors.BackendNotFoundError as error:
        print(f"no checks on {backend!r}: {error}", file=sys.stderr)
        return 1
    print(f"{backend} on {x.device}: Python {sys.version.split()[0]}, NumPy {np.__version__}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
