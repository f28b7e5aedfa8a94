"""Densities estimated from samples: a Gaussian kernel around each point."""

from __future__ import annotations

from math import log as ln
from math import pi
from typing import Any

from arrayport.core.array import Array
from arrayport.core.nodes import register_pytree_node_class
from arrayport.numpy.arguments import arrayed, shape_of
from arrayport.numpy.creation import full
from arrayport.numpy.linalg import diagonal, inv
from arrayport.numpy.searching import searchsorted
from arrayport.numpy.shapes import atleast_2d
from arrayport.numpy.statistics import cov as covariance_of
from arrayport.ops.elementwise import exp, log, minimum, sqrt, square
from arrayport.ops.linalg import cholesky, triangular_solve
from arrayport.ops.promotion import inexact, promote_inexact
from arrayport.ops.reductions import cumsum
from arrayport.ops.structure import reduce_sum, reshape
from arrayport.random import normal, split, uniform
from arrayport.scipy.exponentials import logsumexp
from arrayport.scipy.special.errors import ndtr

__all__ = ["gaussian_kde"]


@register_pytree_node_class
class gaussian_kde:  # noqa: N801 - SciPy's name
    """A density made of a Gaussian kernel around each point of a data set.

    dataset
        Of shape (d, n), or (n,) for one dimension: n > 1 points in d dimensions.
    bw_method
        The kernels' width in units of the data's spread: "scott" (the default), "silverman", a
        number, or a function of this object.
    weights
        Of shape (n,): of the points; all equal unless given.

    It is a pytree. Raises ValueError for other shapes and names. Source:
    ``jax.scipy.stats.gaussian_kde``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.scipy import stats
    >>> stats.gaussian_kde(anp.array([0.0, 2.0])).integrate_box_1d(-anp.inf, 1.0)
    Array(0.5, dtype=float32)
    """

    neff: Any
    dataset: Any
    weights: Any
    covariance: Any
    inv_cov: Any

    def __init__(self, dataset: Any, bw_method: Any = None, weights: Any = None) -> None:
        self.dataset = atleast_2d(inexact(arrayed(dataset, "dataset")))
        if self.dataset.size < 2:
            raise ValueError("dataset must have more than one element")
        if weights is None:
            self.weights = full((self.n,), 1 / self.n, self.dataset.dtype)
        else:
            self.dataset, given = promote_inexact((self.dataset, weights))
            if given.shape != (self.n,):
                raise ValueError(f"weights must have shape ({self.n},), not {given.shape}")
            self.weights = given / reduce_sum(given)
        self.neff = 1 / reduce_sum(square(self.weights))
        spread = atleast_2d(covariance_of(self.dataset, bias=False, aweights=self.weights))
        width = square(self._width(bw_method))
        self.covariance = spread * width
        self.inv_cov = inv(spread) / width

    def _width(self, method: Any) -> Any:
        if callable(method):
            return method(self)
        if method is None or isinstance(method, str):
            return self.neff ** (-1 / (self.d + 4)) * self._factor(method or "scott")
        return inexact(arrayed(method, "bw_method"))

    def _factor(self, name: str) -> float:
        factors = {"scott": 1.0, "silverman": ((self.d + 2) / 4) ** (-1 / (self.d + 4))}
        if name not in factors:
            raise ValueError(
                f"bw_method must be 'scott', 'silverman', a number or a function, not {name!r}"
            )
        return factors[name]

    @property
    def d(self) -> int:
        """The number of dimensions."""
        found: int = self.dataset.shape[0]
        return found

    @property
    def n(self) -> int:
        """The number of points."""
        found: int = self.dataset.shape[1]
        return found

    def evaluate(self, points: Any) -> Array:
        """Give the density at points of shape (d, m), or (m,) for one dimension: of shape (m,)."""
        return exp(self.logpdf(points))

    def __call__(self, points: Any) -> Array:
        """Give the density at points, as `evaluate` does."""
        return self.evaluate(points)

    def pdf(self, x: Any) -> Array:
        """Give the density at points, as `evaluate` does."""
        return self.evaluate(x)

    def logpdf(self, x: Any) -> Array:
        """Give the logarithm of the density at points."""
        logs = _logs(self.covariance, self.dataset, self._points(x))
        found: Array = logsumexp(logs, axis=0, b=reshape(self.weights, (self.n, 1)))
        return found

    def integrate_gaussian(self, mean: Any, cov: Any) -> Array:
        """Integrate the product with a Gaussian of that mean (d,) and covariance (d, d)."""
        mean = reshape(arrayed(mean, "mean"), (-1,))
        cov = atleast_2d(arrayed(cov, "cov"))
        if mean.shape != (self.d,) or cov.shape != (self.d, self.d):
            raise ValueError(
                f"mean and cov must have shapes ({self.d},) and ({self.d}, {self.d}), not "
                f"{mean.shape} and {cov.shape}"
            )
        logs = _logs(self.covariance + cov, self.dataset, reshape(mean, (self.d, 1)))
        return reduce_sum(exp(logs[:, 0]) * self.weights)

    def integrate_box_1d(self, low: Any, high: Any) -> Array:
        """Integrate a one-dimensional density between two bounds."""
        if self.d != 1:
            raise ValueError(f"integrate_box_1d needs one dimension, not {self.d}")
        if getattr(low, "shape", ()) or getattr(high, "shape", ()):
            raise ValueError("the bounds of integrate_box_1d must be scalars")
        width = sqrt(self.covariance[0, 0])
        inside = [ndtr((bound - self.dataset[0]) / width) for bound in (low, high)]
        return reduce_sum(self.weights * (inside[1] - inside[0]))

    def integrate_kde(self, other: gaussian_kde) -> Array:
        """Integrate the product with another density of as many dimensions."""
        if other.d != self.d:
            raise ValueError(f"the densities have {self.d} and {other.d} dimensions")
        logs = _logs(self.covariance + other.covariance, self.dataset, other.dataset)
        return reduce_sum(exp(logs) * reshape(self.weights, (self.n, 1)) * other.weights)

    def resample(self, key: Any, shape: Any = ()) -> Array:
        """Draw points from the density: of shape (d, *shape)."""
        size = shape_of(shape)
        first, second = split(key)
        dtype = self.dataset.dtype
        place = uniform(first, size, dtype)
        chosen = minimum(
            searchsorted(cumsum(self.weights), reshape(place, (-1,)), side="right"), self.n - 1
        )
        noise = normal(second, (self.d, chosen.size), dtype)
        points = self.dataset[:, chosen] + cholesky(self.covariance) @ noise
        return reshape(points, (self.d, *size))

    def integrate_box(self, low_bounds: Any, high_bounds: Any, maxpts: Any = None) -> Array:
        """Refuse: there is `integrate_box_1d`."""
        raise NotImplementedError("integrate_box has no more than one dimension: integrate_box_1d")

    def set_bandwidth(self, bw_method: Any = None) -> None:
        """Refuse: make another gaussian_kde."""
        raise NotImplementedError("a gaussian_kde does not change: make one with this bw_method")

    def _points(self, points: Any) -> Array:
        found = atleast_2d(inexact(arrayed(points, "points")))
        if found.shape == (1, self.d) and self.d > 1:
            return reshape(found, (self.d, 1))
        if len(found.shape) != 2 or found.shape[0] != self.d:
            raise ValueError(f"points must have shape ({self.d}, m), not {found.shape}")
        return found

    def tree_flatten(self) -> tuple[tuple[Any, ...], None]:
        """Give the arrays of which it is made."""
        return (self.neff, self.dataset, self.weights, self.covariance, self.inv_cov), None

    @classmethod
    def tree_unflatten(cls, _: None, children: Any) -> gaussian_kde:
        """Make it of its arrays again."""
        made = object.__new__(cls)
        made.neff, made.dataset, made.weights, made.covariance, made.inv_cov = children
        return made


def _logs(cov: Array, a: Array, b: Array) -> Array:
    """Give the logarithm of the normal density between each point of a and each of b."""
    factor = cholesky(cov)
    a, b = (triangular_solve(factor, v, left_side=True, lower=True) for v in (a, b))
    distance = reduce_sum(square(a[:, :, None] - b[:, None, :]), (0,))
    size = reduce_sum(log(diagonal(factor))) + len(a) * ln(2 * pi) / 2
    return distance / -2 - size
