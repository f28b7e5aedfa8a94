"""The NumPy backend: the host, our own engine."""

from arrayport_backends.numpy.backend import backend

__all__ = ["backend"]
