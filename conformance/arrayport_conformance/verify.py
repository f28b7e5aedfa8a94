"""verify: one function of a user's file, run on every backend, eager and jitted, and compared."""

from __future__ import annotations

import math
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib import util
from inspect import isclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import arrayport as ap
from arrayport.core import backend as backends
from arrayport.core import dtypes
from arrayport.core.errors import ArrayportError, NotDifferentiableError
from arrayport.core.program import Program, inner_programs
from arrayport.testing.agreement import Tolerance, Ulps, compare

ULPS = 64  # of a program without a TOLERANCE of its own
KINDS = ("eager", "jit", "grad", "jit(grad)")


class UsageError(Exception):
    """The file, or how the command names it, cannot be verified; the message says what to write."""


@dataclass(frozen=True)
class Subject:
    """What a file offers: a function, arguments for it, and the tolerance it states."""

    file: Path
    name: str
    function: Callable[..., Any]
    inputs: tuple[Any, ...]
    tolerance: Tolerance | None


@dataclass(frozen=True)
class Run:
    """One run on one backend: how it ended, and how far it is from the reference."""

    backend: str
    kind: str
    verdict: str  # reference, agrees, disagrees, failed, skipped
    detail: str
    dtype: str = ""
    error: float | None = None
    unit: str = ""
    seconds: float | None = None
    first_seconds: float | None = None


@dataclass(frozen=True)
class Report:
    """All runs of one function."""

    file: str
    function: str
    tolerance: str
    runs: list[Run] = field(default_factory=list)

    @property
    def agrees(self) -> bool:
        """Whether every run that was not skipped gave what the reference gave."""
        return not any(run.verdict in {"disagrees", "failed"} for run in self.runs)

    def as_json(self) -> dict[str, Any]:
        """Return the report as what `json.dump` takes; an infinite error is the string "inf"."""
        runs = [asdict(run) for run in self.runs]
        for run in runs:
            if run["error"] is not None and not math.isfinite(run["error"]):
                run["error"] = "inf"
        return {**asdict(self), "runs": runs, "agrees": self.agrees}


# ---- the user's file


def load(target: str) -> Subject:
    """Import `FILE.py[:function]` and find what is to be run. Raises UsageError."""
    name, _, function = target.partition(".py:")
    file = Path(name + ".py" if function else target)
    if file.suffix != ".py" or not file.is_file():
        raise UsageError(
            f"{target!r} is no file of Python: write arrayport verify FILE.py[:function]"
        )
    module = _imported(file)
    chosen = _function(module, file, function)
    examples = getattr(module, "example_inputs", None)
    if not callable(examples):
        raise UsageError(
            f"{file} has no function example_inputs(): define one that returns the tuple of "
            f"arguments for {chosen.__name__}, as NumPy arrays"
        )
    try:
        inputs = examples()
    except Exception as e:
        raise UsageError(f"example_inputs() of {file} failed: {_told(e, file)}") from e
    if not isinstance(inputs, tuple):
        raise UsageError(
            f"example_inputs() of {file} returned {type(inputs).__name__}: return a tuple of "
            "arguments, (x,) if there is one"
        )
    return Subject(file, chosen.__name__, chosen, inputs, _tolerance(module, file))


def _imported(file: Path) -> ModuleType:
    """Import a file as Python runs a script: its own folder is where it finds its neighbours."""
    name = f"verified_{file.stem}"
    spec = util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, str(file.parent.resolve()))
    try:
        spec.loader.exec_module(module)
    except Exception as e:
        del sys.modules[name]
        raise UsageError(f"{file} cannot be imported: {_told(e, file)}") from e
    finally:
        sys.path.pop(0)
    return module


def _function(module: ModuleType, file: Path, wanted: str) -> Callable[..., Any]:
    public = {
        name: value
        for name, value in vars(module).items()
        if callable(value)
        and not isclass(value)
        and not name.startswith("_")
        and name not in {"example_inputs", "main"}
        and getattr(value, "__module__", None) == module.__name__
    }
    if wanted:
        found = public.get(wanted) or getattr(module, wanted, None)
        if not callable(found):
            raise UsageError(f"{file} has no function {wanted!r}; it has {_listed(public)}")
        return found
    if file.stem in public:
        return public[file.stem]
    if len(public) != 1:
        raise UsageError(
            f"which function of {file}? write {file}:NAME with one of {_listed(public)}, or name "
            f"one {file.stem}"
        )
    return next(iter(public.values()))


def _listed(functions: Mapping[str, Any]) -> str:
    return ", ".join(sorted(functions)) or "no public functions"


def _tolerance(module: ModuleType, file: Path) -> Tolerance | None:
    stated = getattr(module, "TOLERANCE", None)
    if stated is None:
        return None
    try:
        return Tolerance(**{name: float(value) for name, value in stated.items()})
    except (AttributeError, TypeError, ValueError) as e:
        raise UsageError(
            f'TOLERANCE of {file} is {stated!r}: write TOLERANCE = {{"rtol": 1e-5, "atol": 1e-6}}'
        ) from e


def _told(error: BaseException, file: Path) -> str:
    """Describe an error by its own words and the innermost line of the user's file."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if Path(f.filename).resolve() == file.resolve()]
    text = f"{type(error).__name__}: {str(error).strip() or 'no message'}"
    if isinstance(error, SyntaxError) or not own:
        return text
    frame = own[-1]
    return f"{text}\n    at {file}:{frame.lineno} in {frame.name}: {frame.line}"


# ---- the runs


def present_backends() -> list[str]:
    """List the backends that can run here; simulated CuPy stands in for a missing CuPy."""
    found = [name for name in ("numpy", "jax", "cupy") if problem_of(name) is None]
    return found if "cupy" in found else [*found, "cupy-sim"]


def problem_of(name: str) -> str | None:
    """Say why a backend cannot run here; None if it can."""
    try:
        devices = backends.get(name).devices()
    except (ImportError, ArrayportError) as e:
        return str(e)
    except Exception as e:  # noqa: BLE001 - whatever a backend's package raises
        return f"backend {name!r} cannot list its devices: {type(e).__name__}: {e}"
    return None if devices else f"backend {name!r} has no device here"


def checked(names: Sequence[str]) -> tuple[str, ...]:
    """Return backends that run here. Raises UsageError, in one line, for one that does not."""
    for name in names:
        problem = problem_of(name)
        if problem:
            raise UsageError(problem)
    return tuple(dict.fromkeys(names))


def verify(subject: Subject, names: Sequence[str] = ()) -> Report:
    """Run a subject on backends (all that are present, unless named) and compare the results.

    The first run that succeeds is the reference. Raises UsageError for a backend that cannot run.
    """
    wanted = checked(names) or present_backends()
    flat = _Flat(subject)
    limit: Tolerance | Ulps = subject.tolerance or Ulps(
        ULPS, of_largest=not flat.elementwise(), flush=True
    )
    report = Report(str(subject.file), subject.name, _written(limit))
    references: dict[bool, Any] = {}
    reason = ""
    for name in wanted:
        for kind in KINDS:
            why = (reason or flat.no_gradient(references)) if "grad" in kind else ""
            if why:
                report.runs.append(Run(name, kind, "skipped", why))
                continue
            run = _run(flat, name, kind, references, limit)
            if run.verdict == "skipped":
                reason = run.detail
            report.runs.append(run)
    return report


def _written(limit: Tolerance | Ulps) -> str:
    if isinstance(limit, Tolerance):
        return f"rtol {limit.rtol:g}, atol {limit.atol:g}"
    return f"{limit.limit:g} ulp" + (" of the largest element" if limit.of_largest else "")


class _Flat:
    """A subject as a function of its array arguments; numbers stay the Python values they are."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.leaves, self.tree = ap.tree.flatten(subject.inputs)
        arrays = [isinstance(x, np.ndarray | np.generic | ap.Array) for x in self.leaves]
        self.places = [i for i, is_array in enumerate(arrays) if is_array]
        self.hosts = [np.asarray(self.leaves[i]) for i in self.places]
        self.smooth = [i for i, x in enumerate(self.hosts) if dtypes.is_floating(x.dtype)]

    def value(self, xs: Sequence[Any]) -> Any:
        leaves = list(self.leaves)
        for place, x in zip(self.places, xs, strict=True):
            leaves[place] = x
        return self.subject.function(*ap.tree.unflatten(self.tree, leaves))

    def gradient(self, xs: Sequence[Any]) -> Any:
        def of_smooth(ys: Sequence[Any]) -> Any:
            full = list(xs)
            for i, y in zip(self.smooth, ys, strict=True):
                full[i] = y
            return self.value(full)

        return ap.grad(of_smooth)([xs[i] for i in self.smooth])

    def no_gradient(self, references: Mapping[bool, Any]) -> str:
        """Say why there is no gradient to compare; empty if there may be one."""
        if not self.smooth:
            return "no input is a floating-point array"
        if False not in references:
            return "the function itself fails"
        out = references[False]
        if not isinstance(out, np.ndarray):
            return f"the output is a tree of {len(ap.tree.leaves(out))} arrays, not a scalar"
        if out.shape or not dtypes.is_floating(out.dtype):
            return f"the output is {out.dtype}{list(out.shape)}, not a real scalar"
        return ""

    def elementwise(self) -> bool:
        """Whether every operation computes each element by itself, so that ulps are its own."""
        try:
            with ap.use_backend("numpy"):
                program = ap.make_jaxpr(self.value)(self.hosts)
        except Exception:  # noqa: BLE001 - the eager run reports it, with its line
            return False
        return isinstance(program, Program) and _elementwise(program)


def _elementwise(program: Program) -> bool:
    return all(
        all(map(_elementwise, inner_programs(eqn.params)))
        if eqn.prim.name == "jit"
        else bool(eqn.prim.partials)
        for eqn in program.eqns
    )


def _run(
    flat: _Flat, name: str, kind: str, references: dict[bool, Any], limit: Tolerance | Ulps
) -> Run:
    """Make one run; what no backend can differentiate is skipped, with the reason as detail."""
    of_gradient = "grad" in kind
    function = flat.gradient if of_gradient else flat.value
    try:
        with ap.use_backend(name):
            xs = [ap.numpy.asarray(x) for x in flat.hosts]
            runner = ap.jit(function) if "jit" in kind else function
            out, seconds = _timed(runner, xs)
            first = seconds
            if "jit" in kind:
                out, seconds = _timed(runner, xs)
            host = ap.tree.map(np.asarray, out)
    except NotDifferentiableError as e:
        return Run(name, kind, "failed" if of_gradient in references else "skipped", str(e))
    except Exception as e:  # noqa: BLE001 - a user's function may raise anything, and it is told
        return Run(name, kind, "failed", _told(e, flat.subject.file))
    found = dict.fromkeys(str(x.dtype) for x in ap.tree.leaves(host))
    run = Run(name, kind, "reference", "", ", ".join(found), None, "", seconds, first)
    if of_gradient not in references:
        references[of_gradient] = host
        return run
    difference = compare(host, references[of_gradient], limit)
    return replace(
        run,
        verdict="agrees" if difference.agrees else "disagrees",
        detail=str(difference),
        error=None if difference.problem else difference.error,
        unit=difference.unit,
    )


def _timed(runner: Callable[..., Any], xs: Sequence[Any]) -> tuple[Any, float]:
    started = time.perf_counter()
    out = ap.block_until_ready(runner(xs))
    return out, time.perf_counter() - started
