"""Timings of arrayport beside its peers: run `python -m benchmarks GROUP`."""
