"""CuPy: the backend for CUDA without JAX, and the simulated CuPy that runs with no GPU."""
