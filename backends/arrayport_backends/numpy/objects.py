"""Objects: machine code kept on disk, so that another process need not compile it again.

The directory is what ARRAYPORT_CACHE_DIR names; without it nothing is kept. Its files are trusted
as code, so it must belong to this user alone. A file is written aside and moved to its name, so
that processes may write at once; one that is not whole is compiled again.
"""

from __future__ import annotations

import contextlib
import logging
import marshal
import os
import stat
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from arrayport import control, core, ops, passes
from arrayport.core.program import Program, Var
from arrayport_backends import ndarray
from arrayport_backends.numpy import llvm
from arrayport_backends.numpy.signatures import signature

DIGEST = sha256().digest_size

log = logging.getLogger("arrayport.compile")
if "compile" in os.environ.get("ARRAYPORT_LOG", "").split(","):
    log.addHandler(logging.StreamHandler())
    log.setLevel(logging.INFO)


def kept(program: Program, owned: Sequence[Var], make: Callable[[], list[Any]]) -> list[Any]:
    """Give what a Program was compiled to, from disk if it is there; `make` compiles it."""
    start = time.perf_counter()
    file = place(program, owned)
    parts = read(file) if file else None
    known = parts is not None
    if parts is None:
        parts = make()
        if file:
            write(file, parts)
    if log.isEnabledFor(logging.INFO):
        seconds = time.perf_counter() - start
        how = "read from the cache" if known else "compiled"
        names = ", ".join(part[0] for part in parts if isinstance(part, tuple))
        log.info("%s %s (of %d equations) in %.1f ms", how, names, len(program.eqns), seconds * 1e3)
    return parts


def known(program: Program, owned: Sequence[Var]) -> bool:
    """Whether what a Program is compiled to is on disk."""
    file = place(program, owned)
    return file is not None and file.exists()


def place(program: Program, owned: Sequence[Var]) -> Path | None:
    """Where what a Program is compiled to is kept, if it is.

    It depends on the Program, on which inputs may be overwritten, on the compiler, and on the
    processor.
    """
    folder = directory(os.environ.get("ARRAYPORT_CACHE_DIR", ""))
    written = signature(program) if folder else None
    if folder is None or written is None:
        return None
    given = repr([program.ins.index(v) for v in owned if v in program.ins]).encode()
    return folder / f"{sha256(surroundings() + written + given).hexdigest()}.o"


@cache
def directory(name: str) -> Path | None:
    """Give the directory, made if need be; None, with a warning, if others could write to it."""
    if not name:
        return None
    folder = Path(name)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.stat()
    except OSError as e:
        warnings.warn(f"ARRAYPORT_CACHE_DIR={name} is not used: {e}", stacklevel=2)
        return None
    if not mine(found) or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        warnings.warn(
            f"ARRAYPORT_CACHE_DIR={name} is not used, since others can write to it: chmod 700 it",
            stacklevel=2,
        )
        return None
    return folder


@cache
def surroundings() -> bytes:
    """What else the code depends on: it names fields of Python's objects, too."""
    host = llvm.machine()
    ours = (control.__file__, core.__file__, ops.__file__, passes.__file__)
    rooms = [Path(file).parent for file in (ndarray.__file__, llvm.__file__, *ours)]
    sources = [file for room in rooms for file in sorted(room.rglob("*.py"))]
    parts = [sys.version, np.__version__, repr(llvm.binding.llvm_version_info), host.triple]
    parts += [llvm.binding.get_host_cpu_name(), llvm.binding.get_host_cpu_features().flatten()]
    return sha256("\n".join(parts).encode() + b"".join(p.read_bytes() for p in sources)).digest()


def mine(found: os.stat_result) -> bool:
    """Whether a file or directory is this user's."""
    return not hasattr(os, "getuid") or found.st_uid == os.getuid()


def read(file: Path) -> list[Any] | None:
    """Read what was kept; None if there is none, or not all of it, or it is another user's."""
    try:
        with file.open("rb") as stream:
            data = stream.read() if mine(os.fstat(stream.fileno())) else b""
    except OSError:
        return None
    parts = data[DIGEST:]
    if data[:DIGEST] != sha256(parts).digest():
        return None
    return marshal.loads(parts)  # type: ignore[no-any-return]  # noqa: S302 - it is trusted as code


def write(file: Path, parts: list[Any]) -> None:
    """Keep it; a disk that is full is no reason to fail."""
    data = marshal.dumps(parts)
    with contextlib.suppress(OSError):
        handle, aside = tempfile.mkstemp(dir=file.parent)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(sha256(data).digest() + data)
            Path(aside).replace(file)
        finally:
            Path(aside).unlink(missing_ok=True)
