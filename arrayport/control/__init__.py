"""Primitives that hold Programs, one file a whole story."""
