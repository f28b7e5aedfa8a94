"""What NumPy and CuPy share: kernels, the executor, the backend's form."""
