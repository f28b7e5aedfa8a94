"""JAX's profiler: what ran when, as a trace that Perfetto and TensorBoard's profile page open."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from arrayport.control.memories import memory_report, pprof
from arrayport.core import backend as backends
from arrayport.core import profile
from arrayport.core.lazy import Lazy
from arrayport.core.names import absent
from arrayport.core.profile_files import chrome, xspace

__all__ = [
    "StepTraceAnnotation",
    "TraceAnnotation",
    "annotate_function",
    "device_memory_profile",
    "save_device_memory_profile",
    "start_trace",
    "stop_trace",
    "trace",
]

gzip, platform = Lazy("gzip"), Lazy("platform")
_begun: list[tuple[Path, bool]] = []  # the folder of the profile being taken, and an option of it


def start_trace(
    log_dir: os.PathLike[str] | str,
    create_perfetto_link: bool = False,
    create_perfetto_trace: bool = False,
    profiler_options: Any = None,
) -> None:
    """Begin to profile; `stop_trace` writes the trace below `log_dir`.

    Source: `jax.profiler.start_trace`.

    Own engines record operations, the kernels of compiled functions, tracing and compiling; JAX
    profiles itself, with these options, if it is loaded. Raises RuntimeError if a profile is being
    taken already.

    >>> import arrayport as ap, arrayport.numpy as anp, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder, ap.use_backend("numpy"):
    ...     ap.profiler.start_trace(folder)
    ...     total = anp.sum(anp.arange(3))
    ...     ap.profiler.stop_trace()
    ...     any(pathlib.Path(folder).rglob("*.trace.json.gz"))
    True
    """
    if _begun:
        raise RuntimeError("a profile is being taken already: stop_trace ends it")
    for native in _natives():
        native.start_trace(
            log_dir,
            create_perfetto_link=create_perfetto_link,
            create_perfetto_trace=create_perfetto_trace,
            **({} if profiler_options is None else {"profiler_options": profiler_options}),
        )
    _begun.append((Path(log_dir), create_perfetto_link or create_perfetto_trace))
    profile.record(profile.Recording())


def stop_trace() -> None:
    """End the profile and write it. Source: `jax.profiler.stop_trace`.

    Below `log_dir`, in `plugins/profile/` and a folder named by the time, `*.trace.json.gz` is the
    trace for Perfetto, `*.xplane.pb` for TensorBoard and XProf; `perfetto_trace.json.gz` is the
    first again, if it was asked for. Raises RuntimeError if no profile is being taken.
    """
    if not _begun:
        raise RuntimeError("no profile is being taken: start_trace begins one")
    folder, perfetto = _begun.pop()
    recording = profile.recording
    profile.record(None)
    natives = _natives()
    for native in natives:
        native.stop_trace()
    if recording is not None and (recording.spans or not natives):
        _write(recording, folder, beside=bool(natives), perfetto=perfetto)


@contextmanager
def trace(
    log_dir: os.PathLike[str] | str | None = None,
    create_perfetto_link: bool = False,
    create_perfetto_trace: bool = False,
    profiler_options: Any = None,
) -> Iterator[None]:
    """Profile a block; see `start_trace`. Source: `jax.profiler.trace`.

    Without `log_dir`, which is JAX's way to a profile in memory, raises TypeError.

    >>> import arrayport as ap, arrayport.numpy as anp, tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with ap.profiler.trace(folder):
    ...         _ = anp.sin(anp.ones(3))
    ...     any(pathlib.Path(folder).glob("plugins/profile/*/*.trace.json.gz"))
    True
    """
    if log_dir is None:
        raise TypeError("profiler.trace needs log_dir, the folder for what it writes")
    start_trace(log_dir, create_perfetto_link, create_perfetto_trace, profiler_options)
    try:
        yield
    finally:
        stop_trace()


def device_memory_profile(backend: str | None = None) -> bytes:
    """Give what is in memory as a profile that pprof reads (gzipped protocol buffer).

    Source: `jax.profiler.device_memory_profile`.

    Of JAX's arrays where JAX is the backend ("jax", or by default), else of those of the named
    platform or of all, with the lines that `tracking_memory` noted.

    >>> device_memory_profile("cpu")[:2] == bytes([0x1F, 0x8B])
    True
    """
    named = backend in backends.entry_points()
    own = backends.get(backend) if backend and named else backends.ambient()
    if own.native is not None:
        return own.native.device_memory_profile(None if named else backend)
    return pprof(memory_report(backend))


def save_device_memory_profile(filename: str, backend: str | None = None) -> None:
    """Write `device_memory_profile` to a file. Source: `jax.profiler.save_device_memory_profile`.

    `go tool pprof -web FILE` shows it.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_device_memory_profile(f"{folder}/held.prof", "cpu")
    ...     pathlib.Path(f"{folder}/held.prof").stat().st_size > 0
    True
    """
    Path(filename).write_bytes(device_memory_profile(backend))


def _natives() -> list[Any]:
    return [b.native for b in backends.loaded() if b.native is not None]


def _written(path: Path) -> float:
    return path.stat().st_mtime


def _write(recording: profile.Recording, folder: Path, *, beside: bool, perfetto: bool) -> None:
    """Write the formats of Perfetto and of XProf, TensorBoard's page.

    `beside` what JAX has just written: one profile is one run.
    """
    runs = folder / "plugins" / "profile"
    theirs = list(runs.glob("*")) if beside else []
    newest = max(theirs, key=_written, default=None)
    target = newest or runs / time.strftime("%Y_%m_%d_%H_%M_%S")
    target.mkdir(parents=True, exist_ok=True)
    host = f"{platform.node() or 'host'}{'.arrayport' if beside else ''}"
    (target / f"{host}.xplane.pb").write_bytes(xspace(recording, host))
    text = chrome(recording)
    files = [f"{host}.trace.json.gz"]
    files += ["perfetto_trace.json.gz"] if perfetto and not beside else []
    for name in files:
        with gzip.open(target / name, "wt", encoding="utf-8") as file:
            file.write(text)


class TraceAnnotation:
    """Shows a block in profiles, under a name and with details.

    Source: `jax.profiler.TraceAnnotation`.

    >>> with TraceAnnotation("load", file="a.npy"):
    ...     pass
    """

    kind = "annotation"

    def __init__(self, name: str, **kwargs: Any) -> None:
        self.name = name
        self.details = kwargs

    def __enter__(self) -> Self:
        self._within = ExitStack()
        self._within.enter_context(profile.span(self.name, self.kind, **self.details))
        for native in _natives():
            theirs = getattr(native, type(self).__name__, native.TraceAnnotation)
            self._within.enter_context(theirs(self.name, **self.details))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._within.__exit__(kind, error, traceback)


class StepTraceAnnotation(TraceAnnotation):
    """Shows a step of training in profiles, `step_num=` its number.

    Source: `jax.profiler.StepTraceAnnotation`.

    >>> with StepTraceAnnotation("train", step_num=3):
    ...     pass
    """

    kind = "step"


def annotate_function(
    func: Callable[..., Any], name: str | None = None, **decorator_kwargs: Any
) -> Callable[..., Any]:
    """Show each call of a function in profiles. Source: `jax.profiler.annotate_function`.

    >>> @annotate_function
    ... def double(x):
    ...     return 2 * x
    >>> double(3)
    6
    """
    title = name or str(getattr(func, "__qualname__", type(func).__name__))

    @wraps(func)
    def annotated(*args: Any, **kwargs: Any) -> Any:
        with TraceAnnotation(title, **decorator_kwargs):
            return func(*args, **kwargs)

    return annotated


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise absent("profiler", name)
