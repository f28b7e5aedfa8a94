"""Vector quantization."""

from __future__ import annotations

from arrayport.scipy.cluster import vq as vq
