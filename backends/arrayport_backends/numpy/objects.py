"""Objects: machine code kept, so that what was compiled before need not be compiled again.

What this process compiled last is at hand for Programs that are alike: a function that is traced
anew at each call, as a loop's body written inside of another function is, is compiled once. On
disk it is there for other processes, too.

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
from typing import Any, TypeVar

import numpy as np

from arrayport import control, core, ops, passes
from arrayport.core.program import Program, Var
from arrayport_backends import ndarray
from arrayport_backends.numpy import blas, llvm
from arrayport_backends.numpy.signatures import large, recent, signature

T = TypeVar("T")

DIGEST = sha256().digest_size
RECENT = 64  # Programs whose code is at hand
_recent: dict[bytes, tuple[int, Any]] = {}

log = logging.getLogger("arrayport.compile")
if "compile" in os.environ.get("ARRAYPORT_LOG", "").split(","):
    log.addHandler(logging.StreamHandler())
    log.setLevel(logging.INFO)


def again(program: Program, owned: Sequence[Var], make: Callable[[], T]) -> T:
    """Give what `make` gave for the last Program that is like this one, or gives."""
    written = identity(program, owned)
    if written is None:
        return make()
    name = sha256(written).digest()
    made: T = recent(_recent, name, lambda: (sketch(program), make()), RECENT)[1]
    return made


def sketch(program: Program) -> int:
    """What tells most Programs apart, quickly."""
    return hash((*[eqn.prim for eqn in program.eqns], *[v.shape for v in program.ins]))


def kept(program: Program, owned: Sequence[Var], make: Callable[[], list[Any]]) -> list[Any]:
    """Give what a Program was compiled to, from disk if it is there; `make` compiles it."""
    start = time.perf_counter()
    parts, known = found(place(program, owned), make)
    if log.isEnabledFor(logging.INFO):
        seconds = time.perf_counter() - start
        how = "read from the cache" if known else "compiled"
        names = ", ".join(part[0] for part in parts if isinstance(part, tuple))
        log.info("%s %s (of %d equations) in %.1f ms", how, names, len(program.eqns), seconds * 1e3)
    return parts


def translated(text: str) -> bytes:
    """Give a module's text, as it stands, as an object file's bytes, kept like a Program's."""
    folder = directory(os.environ.get("ARRAYPORT_CACHE_DIR", ""))
    file = named(folder, text.encode()) if folder else None
    (code,), _ = found(file, lambda: [llvm.translate(text)])
    return bytes(code)


def found(file: Path | None, make: Callable[[], list[Any]]) -> tuple[list[Any], bool]:
    """Give what a file keeps, and that it did; or what is made, which it keeps from then on."""
    parts = read(file) if file else None
    if parts is not None:
        return parts, True
    parts = make()
    if file:
        write(file, parts)
    return parts, False


def known(program: Program, owned: Sequence[Var]) -> bool:
    """Whether what a Program is compiled to is at hand, or on disk."""
    mine = sketch(program)
    if any(alike == mine for alike, _ in list(_recent.values())) and not large(program):
        written = identity(program, owned)
        if written is not None and sha256(written).digest() in _recent:
            return True
    file = place(program, owned)
    return file is not None and file.exists()


def place(program: Program, owned: Sequence[Var]) -> Path | None:
    """Where what a Program is compiled to is kept, if it is.

    That depends on the compiler and on the processor as well.
    """
    folder = directory(os.environ.get("ARRAYPORT_CACHE_DIR", ""))
    written = identity(program, owned) if folder else None
    if folder is None or written is None:
        return None
    return named(folder, written)


def named(folder: Path, written: bytes) -> Path:
    """Where in the directory what was written so is kept."""
    return folder / f"{sha256(surroundings() + written).hexdigest()}.o"


def identity(program: Program, owned: Sequence[Var]) -> bytes | None:
    """A Program, and which inputs it may overwrite, as bytes; None if they cannot be written."""
    written = signature(program)
    if written is None:
        return None
    return written + repr([program.ins.index(v) for v in owned if v in program.ins]).encode()


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
    parts += map(blas.symbol, blas.CALLED)
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
    return marshal.loads(parts)  # noqa: S302 - it is trusted as code


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
