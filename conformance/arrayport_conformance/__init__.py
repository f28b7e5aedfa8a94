"""Conformance and equivalence testing of array libraries: catalogue, laws, reports, commands."""
