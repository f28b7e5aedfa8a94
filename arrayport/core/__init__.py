"""The floor that every other room stands on: arrays, traces, primitives, programs, backends, "
"errors."""
