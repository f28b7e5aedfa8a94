"""Work on several examples or devices at once, which talk over axes with names."""
