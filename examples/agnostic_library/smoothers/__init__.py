"""Smoothing of noisy series, for NumPy, CuPy and JAX arrays alike."""

from smoothers.averages import exponential
from smoothers.lines import line
from smoothers.medians import median

__all__ = ["exponential", "line", "median"]
