"""JAX's lax.linalg: decompositions and triangular equations."""

from arrayport.ops.linalg import cholesky, eigh, lu, qr, svd, triangular_solve

__all__ = ["cholesky", "eigh", "lu", "qr", "svd", "triangular_solve"]
