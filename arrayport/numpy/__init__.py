"""NumPy's functions as JAX spells them, on every backend; also the array API's namespace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arrayport.core import hooks
from arrayport.core.names import absent
from arrayport.numpy import fft as fft
from arrayport.numpy import linalg as linalg
from arrayport.numpy import operators
from arrayport.numpy.bits import *
from arrayport.numpy.creation import *
from arrayport.numpy.cumulations import *
from arrayport.numpy.divisors import *
from arrayport.numpy.elementwise import *
from arrayport.numpy.files import *
from arrayport.numpy.grids import *
from arrayport.numpy.histograms import *
from arrayport.numpy.indexing import put as put
from arrayport.numpy.indexing import put_along_axis as put_along_axis
from arrayport.numpy.indexing import take as take
from arrayport.numpy.indexing import take_along_axis as take_along_axis
from arrayport.numpy.inspection import *
from arrayport.numpy.interchange import *
from arrayport.numpy.joins import *
from arrayport.numpy.mappings import *
from arrayport.numpy.matrices import *
from arrayport.numpy.nan_reductions import *
from arrayport.numpy.padding import *
from arrayport.numpy.polynomials import *
from arrayport.numpy.printing import *
from arrayport.numpy.products import *
from arrayport.numpy.questions import *
from arrayport.numpy.ranges import *
from arrayport.numpy.reductions import *
from arrayport.numpy.scalars import *
from arrayport.numpy.searching import *
from arrayport.numpy.selecting import *
from arrayport.numpy.sets import *
from arrayport.numpy.shapes import *
from arrayport.numpy.statistics import *
from arrayport.numpy.ufuncs import *

hooks.install(operators)

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise absent("numpy", name)
