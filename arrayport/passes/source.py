"""Python source of kernel calls in a straight line: nothing is paid for a call but its kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple


class Step(NamedTuple):
    """One kernel call: what it reads and makes, where it may write, what dies with it."""

    kernel: Callable[..., Any]
    params: dict[str, Any]
    ins: Sequence[int]
    outs: Sequence[int]
    dead: Sequence[int] = ()
    many: bool = False
    into: int | None = None


def straight(
    count: int,
    literals: Mapping[int, Any],
    steps: Sequence[Step],
    outs: Sequence[int],
    raw_type: type,
    array: Callable[[Any], Any],
) -> Callable[..., list[Any]]:
    """Make a function of `count` raw values, the first slots; `array` makes scalars raw arrays."""
    env: dict[str, Any] = {"array": array, "raw_type": raw_type}
    env.update({f"v{i}": raw for i, raw in literals.items()})
    lines = [f"def run({', '.join(f'v{i}' for i in range(count))}):"]
    for n, step in enumerate(steps):
        env[f"k{n}"] = step.kernel
        args = [f"v{i}" for i in step.ins]
        if step.into is not None:
            args.append(f"out=v{step.into}")
        if step.params:
            env[f"p{n}"] = step.params
            args.append(f"**p{n}")
        made = ", ".join(f"v{i}" for i in step.outs) + ("," if step.many and step.outs else "")
        lines.append(f" {made or '_'} = k{n}({', '.join(args)})")
        if step.dead:
            lines.append(f" del {', '.join(f'v{i}' for i in step.dead)}")
    results = [f"v{i} if type(v{i}) is raw_type else array(v{i})" for i in outs]
    lines.append(f" return [{', '.join(results)}]")
    exec(compile("\n".join(lines), "<program>", "exec"), env)  # noqa: S102 - source made from numbers only
    return env["run"]
