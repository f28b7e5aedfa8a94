"""Transformations of functions on the own engine, and the choice of engine."""
