"""Keeps doctest collection away from modules whose array library is not installed."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

ROOMS = Path(__file__).parent / "arrayport_backends"
CUPY = re.compile(r"^(import|from) cupy", re.MULTILINE)

collect_ignore: list[str] = []
if find_spec("jax") is None:
    collect_ignore.append(str(ROOMS / "jax"))
if find_spec("cupy") is None:
    # The simulation beside these modules runs without cupy.
    collect_ignore.extend(
        str(path) for path in (ROOMS / "cupy").rglob("*.py") if CUPY.search(path.read_text("utf-8"))
    )
