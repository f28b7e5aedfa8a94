"""Why a jitted function was traced again: the signatures it was traced for, and how they differ."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from arrayport.core import profile
from arrayport.core.array import Array, aval_of
from arrayport.core.config import config, x64
from arrayport.core.errors import user_line
from arrayport.core.lazy import Lazy
from arrayport.core.likenesses import wraps
from arrayport.core.nodes import keystr
from arrayport.core.tree import tree_flatten_with_path

logs = Lazy("logging")
LOGGER = "arrayport.jit"


@dataclass(frozen=True)
class Signature:
    """The types of the arrays and the values of the rest for which a function was traced."""

    arguments: dict[str, str]
    x64: bool
    line: str

    def __str__(self) -> str:
        return ", ".join(f"{path}: {what}" for path, what in self.arguments.items()) or "nothing"

    def differences(self, other: Signature) -> list[str]:
        """What is not as in an earlier one."""
        mine, theirs = self.arguments, other.arguments
        found = [
            f"{path} has another {_difference(what, theirs[path])}: {what} now, {theirs[path]} then"
            for path, what in mine.items()
            if path in theirs and what != theirs[path]
        ]
        found += [f"{path} was not there" for path in mine if path not in theirs]
        found += [f"{path} was there" for path in theirs if path not in mine]
        if self.x64 is not other.x64:
            found.append(f"enable_x64 is {self.x64}")
        return found


def _difference(mine: str, theirs: str) -> str:
    if "[" not in mine or "[" not in theirs:
        return "static value"
    if mine.rstrip("*") == theirs.rstrip("*"):
        return "weak type"
    return "dtype" if mine.partition("[")[0] != theirs.partition("[")[0] else "shape"


def signature(fun: Callable[..., Any], args: Any, kwargs: Any) -> Signature:
    """What a function is being called with."""
    try:
        names = [
            p.name
            for p in inspect.signature(fun).parameters.values()
            if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ]
    except (TypeError, ValueError):
        names = []
    found = {}
    for path, leaf in tree_flatten_with_path((args, kwargs))[0]:
        keyword, key = path[0].idx == 1, path[1]
        place = key.key if keyword else key.idx
        name = place if keyword else names[place] if place < len(names) else f"args[{place}]"
        known = str(aval_of(leaf)) if isinstance(leaf, Array) else repr(leaf)
        found[f"{name}{keystr(path[2:])}"] = known
    return Signature(found, x64(), user_line())


def noting(fun: Callable[..., Any], signatures: list[Signature]) -> Callable[..., Any]:
    """The same function, which notes each signature that it is traced for, and logs if asked to."""

    @wraps(fun)
    def noted(*args: Any, **kwargs: Any) -> Any:
        if config.disable_jit:  # it is not being traced
            return fun(*args, **kwargs)
        mine = signature(fun, args, kwargs)
        name = getattr(fun, "__name__", "a function")
        if config.explain_cache_misses and signatures:
            logs.getLogger(LOGGER).warning("%s is traced again: %s", name, reason(mine, signatures))
        signatures.append(mine)
        start = time.perf_counter()
        with profile.span(f"trace {name}", "compiler"):
            out = fun(*args, **kwargs)
        if config.log_compiles:
            took = time.perf_counter() - start
            logs.getLogger(LOGGER).warning("traced %s in %.2g s for %s", name, took, mine)
        return out

    return noted


def reason(mine: Signature, earlier: list[Signature]) -> str:
    """How a signature differs from the nearest earlier one."""
    nearest = min(earlier, key=lambda s: len(mine.differences(s)))
    return "; ".join(mine.differences(nearest)) or (
        "nothing in its arguments differs: a cache was cleared, the backend or what it captured "
        "from an enclosing trace is another"
    )


def explain(name: str, signatures: list[Signature]) -> str:
    """Tell of each trace where it was made, for what, and why another one did not serve."""
    lines = [f"{name} was traced {len(signatures)} time{'' if len(signatures) == 1 else 's'}"]
    for i, mine in enumerate(signatures):
        lines.append(f"{i + 1}. at {mine.line} for {mine}")
        if i:
            lines.append(f"   because {reason(mine, signatures[:i])}")
    return "\n".join(lines)
