"""JAX's lax.linalg: decompositions, their pieces, and equations."""

from arrayport.numpy.polar import qdwh
from arrayport.ops.linalg import (
    cholesky,
    lu,
    lu_pivots_to_permutation,
    symmetric_product,
    triangular_solve,
)
from arrayport.ops.reflections import (
    cholesky_update,
    hessenberg,
    householder_product,
    ormqr,
    qr,
)
from arrayport.ops.spectra import (
    EighImplementation,
    EigImplementation,
    SvdAlgorithm,
    eig,
    eigh,
    schur,
    svd,
)
from arrayport.ops.tridiagonal import tridiagonal, tridiagonal_solve

__all__ = [
    "EigImplementation",
    "EighImplementation",
    "SvdAlgorithm",
    "cholesky",
    "cholesky_update",
    "eig",
    "eigh",
    "hessenberg",
    "householder_product",
    "lu",
    "lu_pivots_to_permutation",
    "ormqr",
    "qdwh",
    "qr",
    "schur",
    "svd",
    "symmetric_product",
    "triangular_solve",
    "tridiagonal",
    "tridiagonal_solve",
]
