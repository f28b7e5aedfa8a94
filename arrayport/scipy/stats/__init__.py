"""JAX's scipy.stats: a module for each distribution, and statistics of samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arrayport.core.names import absent
from arrayport.scipy.stats import bernoulli as bernoulli
from arrayport.scipy.stats import beta as beta
from arrayport.scipy.stats import betabinom as betabinom
from arrayport.scipy.stats import binom as binom
from arrayport.scipy.stats import cauchy as cauchy
from arrayport.scipy.stats import chi2 as chi2
from arrayport.scipy.stats import dirichlet as dirichlet
from arrayport.scipy.stats import expon as expon
from arrayport.scipy.stats import gamma as gamma
from arrayport.scipy.stats import gennorm as gennorm
from arrayport.scipy.stats import geom as geom
from arrayport.scipy.stats import gumbel_l as gumbel_l
from arrayport.scipy.stats import gumbel_r as gumbel_r
from arrayport.scipy.stats import laplace as laplace
from arrayport.scipy.stats import logistic as logistic
from arrayport.scipy.stats import multinomial as multinomial
from arrayport.scipy.stats import multivariate_normal as multivariate_normal
from arrayport.scipy.stats import nbinom as nbinom
from arrayport.scipy.stats import norm as norm
from arrayport.scipy.stats import pareto as pareto
from arrayport.scipy.stats import poisson as poisson
from arrayport.scipy.stats import t as t
from arrayport.scipy.stats import truncnorm as truncnorm
from arrayport.scipy.stats import uniform as uniform
from arrayport.scipy.stats import vonmises as vonmises
from arrayport.scipy.stats import wrapcauchy as wrapcauchy
from arrayport.scipy.stats.densities import gaussian_kde as gaussian_kde
from arrayport.scipy.stats.samples import mode as mode
from arrayport.scipy.stats.samples import rankdata as rankdata
from arrayport.scipy.stats.samples import sem as sem

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise absent("scipy.stats", name)
