"""Functions of neural networks: activations, softmax and its kin, encodings, initializers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arrayport.core.names import absent
from arrayport.nn import initializers as initializers
from arrayport.nn.activations import *
from arrayport.nn.attention import *
from arrayport.nn.normalizations import *
from arrayport.nn.scaled_products import *

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise absent("nn", name)
