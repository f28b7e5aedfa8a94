"""What NumPy and CuPy share: kernels written against an array namespace, the executor, the "
"backend's form."""
