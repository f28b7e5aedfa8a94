"""Random bits on the device: a whole array at once, and words that become keys."""

from __future__ import annotations

from functools import partial
from typing import Any

from arrayport.ops.random import random_wrap_p, threefry2x32_p
from arrayport_backends.ndarray import random
from arrayport_backends.ndarray.kernels import Kernel, Lib, Rows


def random_wrap(lib: Lib, words: Any) -> Any:
    """See a copy of pairs of words as keys: they may start where a GPU reads no 64 bits at once."""
    return random.random_wrap(lib, lib.xp.array(words, order="C"))


ROWS: Rows = {
    threefry2x32_p: Kernel(partial(random.hashed, random.rounds)),
    random_wrap_p: Kernel(random_wrap),
}
