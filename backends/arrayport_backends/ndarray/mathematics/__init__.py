"""Functions in the scalar language: the code that every printer shares, a file a kin."""
