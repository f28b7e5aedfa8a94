"""The floor that all stands on: arrays, traces, primitives, Programs, backends, errors."""
