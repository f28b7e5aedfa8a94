"""The backends that come with arrayport: NumPy, JAX, CuPy and simulated CuPy."""
