"""The one way in which heavy modules are loaded late: a stand-in until first use.

(The package's own are no attributes until they are asked for; `arrayport` says how.)
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


class Lazy:
    """Stands for a module until an attribute of it is read.

    >>> Lazy("math").sqrt(4.0)
    2.0
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        if attribute == "__wrapped__":  # which tools ask of everything, and no module has
            raise AttributeError(attribute)
        module = import_module(self._name)
        self.__dict__.update(module.__dict__)
        return getattr(module, attribute)

    def __repr__(self) -> str:
        return f"<lazy {self._name}>"
