"""The groups of rows, one a file: each has `rows()`, and `FIRST_CALLS` if these are shown."""
