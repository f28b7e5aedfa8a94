"""Objects: machine code kept on disk, so that another process need not compile it again.

The directory is what ARRAYPORT_CACHE_DIR names; without it nothing is kept. Its files are trusted
as code, so it must belong to this user alone. A file is written aside and moved to its name, so
that processes may write at once; one that is not whole is compiled again.
"""

from __future__ import annotations

import contextlib
import logging
import os
import stat
import tempfile
import time
import warnings
from functools import cache
from hashlib import sha256
from pathlib import Path

from arrayport_backends.ndarray import mathematics
from arrayport_backends.numpy import llvm

DIGEST = sha256().digest_size

log = logging.getLogger("arrayport.compile")
if "compile" in os.environ.get("ARRAYPORT_LOG", "").split(","):
    log.addHandler(logging.StreamHandler())
    log.setLevel(logging.INFO)


def assembled(text: str) -> bytes:
    """Give the machine code of a module's text, from disk if it is there."""
    start = time.perf_counter()
    folder = directory(os.environ.get("ARRAYPORT_CACHE_DIR", ""))
    file = folder / f"{key(text)}.o" if folder else None
    code = read(file) if file else None
    known = code is not None
    if code is None:
        code = llvm.assemble(text)
        if file:
            write(file, code)
    seconds = time.perf_counter() - start
    if log.isEnabledFor(logging.INFO):
        how = "read from the cache" if known else "compiled"
        log.info("%s %d bytes of code in %.1f ms", how, len(code), seconds * 1e3)
    return code


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
    mine = not hasattr(os, "getuid") or found.st_uid == os.getuid()
    if not mine or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        warnings.warn(
            f"ARRAYPORT_CACHE_DIR={name} is not used, since others can write to it: chmod 700 it",
            stacklevel=2,
        )
        return None
    return folder


def key(text: str) -> str:
    """Give a name for the code: it depends on the text, on the compiler, and on the processor."""
    return sha256(surroundings() + text.encode()).hexdigest()


@cache
def surroundings() -> bytes:
    """What else the code depends on."""
    host = llvm.machine()
    # A slow path is only named in the text that is the key: it comes from the scalar functions.
    sources = [Path(llvm.__file__), *sorted(Path(mathematics.__file__).parents[1].rglob("*.py"))]
    parts = [repr(llvm.binding.llvm_version_info), host.triple, llvm.binding.get_host_cpu_name()]
    parts.append(llvm.binding.get_host_cpu_features().flatten())
    return sha256("\n".join(parts).encode() + b"".join(p.read_bytes() for p in sources)).digest()


def read(file: Path) -> bytes | None:
    """Read code; None if there is none, or not all of it."""
    try:
        data = file.read_bytes()
    except OSError:
        return None
    code = data[DIGEST:]
    return code if data[:DIGEST] == sha256(code).digest() else None


def write(file: Path, code: bytes) -> None:
    """Keep code; a disk that is full is no reason to fail."""
    with contextlib.suppress(OSError):
        handle, aside = tempfile.mkstemp(dir=file.parent)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(sha256(code).digest() + code)
            Path(aside).replace(file)
        finally:
            Path(aside).unlink(missing_ok=True)
