"""JAX's own checkify, its errors as arrayport's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from jax.experimental import checkify as theirs
from jax.tree_util import tree_map

from arrayport.control import checks as ours
from arrayport.core.nodes import register_pytree_node_class
from arrayport.core.primitive import Primitive
from arrayport.core.tree import tree_unflatten
from arrayport_backends.jax.faults import line_of
from arrayport_backends.jax.leaves import Seen, bare, is_array, unwrap, wrap

CATEGORIES = {
    "FailedCheckError": theirs.user_checks,
    "NaNError": theirs.nan_checks,
    "OOBError": theirs.index_checks,
    "DivisionByZeroError": theirs.div_checks,
}


@register_pytree_node_class
@dataclass(frozen=True)
class Error(ours.Error):
    """An error that JAX's checkify gave."""

    native: Any = None

    def tree_flatten(self) -> tuple[Any, Any]:
        return (self.native,), None

    @classmethod
    def tree_unflatten(cls, program: Any, children: Any) -> Error:
        del program
        return cls(native=children[0])

    def get_exception(self) -> Exception | None:
        error = tree_map(bare, self.native, is_leaf=is_array).get_exception()
        if error is None:
            return None
        return _translated(error, str(error))

    def throw(self) -> None:
        _thrown(theirs.check_error, tree_map(bare, self.native, is_leaf=is_array))


def _translated(error: Any, text: str) -> ours.CheckError:
    """Give arrayport's error for one of JAX's, with the user's line where JAX knows it."""
    text = text.strip().removesuffix(".")
    if type(error).__name__ != "BatchedError":
        where = line_of(error.with_traceback(error.traceback_info.as_python_traceback()), "")
        text = f"{text} at {where}" if where else text
    return getattr(ours, type(error).__name__)(text)


def checkify(
    fun: Callable[..., Any], kinds: Iterable[str], args: Any, kwargs: Any
) -> tuple[Error, Any]:
    """Call a function with its failed checks as a value, as JAX's checkify does."""
    seen = Seen(lambda: fun(*args, **kwargs), ())
    enabled = frozenset().union(*[CATEGORIES[kind] for kind in kinds])
    error, out = theirs.checkify(seen, errors=enabled)()
    return Error(native=error), seen.wrap(out)


def check(pred: Any, msg: str, args: Any, kwargs: Any, debug: bool) -> None:
    """Check as JAX does; what JAX throws at once becomes arrayport's."""
    (raw_args, raw_kwargs), _ = unwrap((args, kwargs))
    _thrown(theirs.check, bare(pred), msg, *raw_args, debug=debug, **raw_kwargs)


def _thrown(call: Callable[..., None], *args: Any, **kwargs: Any) -> None:
    try:
        call(*args, **kwargs)
    except ValueError as error:
        if not hasattr(ours, type(error.__cause__).__name__):
            raise
        raise _translated(error.__cause__, str(error)) from error


def check_made(*raws: Any, tree: Any, debug: bool) -> list[Any]:
    """Check an error that arrayport's own engine made."""
    error: ours.Error = tree_unflatten(tree, [wrap(x) for x in raws])
    for i, site in enumerate(error.sites):
        values = error.values[error.slots.index(site.slot)]
        args, kwargs = tree_unflatten(site.tree, values)
        check(error.code != i, site.text, args, kwargs, debug)
    return []


ROWS: Mapping[Primitive, Callable[..., Any]] = {ours.check_p: check_made}
