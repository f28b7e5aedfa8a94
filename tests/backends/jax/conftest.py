"""Keeps these tests from being collected where jax is not installed."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("jax") else ["test_*.py"]
