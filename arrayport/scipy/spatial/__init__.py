"""Rotations."""

from __future__ import annotations

from arrayport.scipy.spatial import transform as transform
