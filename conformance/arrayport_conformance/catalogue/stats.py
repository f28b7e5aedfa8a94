"""Rows of distributions and of statistics of samples; SciPy's are the reference."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from arrayport_conformance.catalogue.rows import (
    ABOVE_ONE,
    APART,
    DEFINITE,
    FRACTION,
    POSITIVE,
    I,
    Row,
    X,
    case,
    rows,
)

PLACES = "it gives places or counts of elements"


def of(names: str, *operands: Any, **about: Any) -> list[Row]:
    """State rows of distributions' functions: "norm.cdf norm.logpdf"."""
    found = rows(
        " ".join(f"scipy.stats.{name}" for name in names.split()),
        (case(*operands),),
        **{"ulps": 1024, "of_largest": True, **about},
    )
    return [replace(row, reference=row.function, heavy=True) for row in found]


x, plus, part, more = X(2, 3), X(2, 3, domain=POSITIVE), X(2, 3, domain=FRACTION), X(2, 3)
one, few = X(domain=POSITIVE), X(domain=ABOVE_ONE)
counts = I(2, 3, below=4)

ROWS = (
    # ---- over all numbers
    *of("norm.logpdf cauchy.logpdf laplace.logpdf logistic.logpdf", x, more, one),
    *of("gumbel_l.logpdf gumbel_r.logpdf", x, more, few),
    *of("norm.cdf laplace.cdf cauchy.cdf logistic.cdf gumbel_l.cdf gumbel_r.cdf", x, more, few),
    *of("t.logpdf", x, plus, more, one),
    *of("gennorm.logpdf", X(2, 3, domain=POSITIVE), one),
    *of("truncnorm.logpdf", part, -0.5, few),
    # ---- over some
    *of("expon.logpdf expon.logsf", plus, -0.5, few),
    *of("gamma.logpdf chi2.logpdf", plus, one),
    *of("gamma.cdf chi2.cdf", plus, one, order=1),
    *of("beta.logpdf", part, plus, one),
    *of("uniform.logpdf", part, 0.0, few),
    *of("pareto.logpdf", X(2, 3, domain=ABOVE_ONE), one),
    *of("vonmises.logpdf", x, one),
    *of("wrapcauchy.logpdf", plus, X(domain=FRACTION)),
    # ---- of quantiles
    *of("norm.ppf cauchy.ppf logistic.ppf gumbel_r.ppf expon.ppf", part, X(), one),
    # ---- over counts
    *of("bernoulli.logpmf", I(2, 3, below=2), part),
    *of("binom.logpmf nbinom.logpmf", counts, 8, part),
    *of("betabinom.logpmf", counts, 8, plus, one, dtypes=("float32",)),
    *of("geom.logpmf", counts, part, -1),
    *of("poisson.logpmf", counts, plus),
    *of("poisson.entropy", plus),
    # ---- of vectors
    *of("multivariate_normal.logpdf", X(3), X(3), X(3, 3, domain=DEFINITE)),
    # ---- of samples
    *of("mode rankdata", I(2, 3, below=4), dtypes=("float32",), not_differentiable=PLACES),
    *of("sem", X(2, 3, domain=APART)),
)
