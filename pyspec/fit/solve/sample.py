"""Sampling the posterior with emcee, through lmfit: ``method="emcee"``."""

from __future__ import annotations

import io
from collections.abc import Mapping
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pyspec.errors import FitError
from pyspec.fit.findings.finding import Finding
from pyspec.fit.objective import Objective
from pyspec.fit.solve.methods import SAMPLER
from pyspec.fit.uncertainty.autocorrelation import autocorrelation_times, too_short

if TYPE_CHECKING:
    import lmfit
    from lmfit.minimizer import MinimizerResult

#: Walkers start this near to the start of the fit, in units of each parameter.
SPREAD = 1e-4

#: As of lmfit.
WALKERS = 100


def sample(
    minimizer: lmfit.Minimizer, objective: Objective, options: Mapping[str, Any]
) -> tuple[MinimizerResult, list[Finding]]:
    """What lmfit's emcee returns, with a message and the covariance of the chain, and what there is
    to be careful of.

    Raises :class:`FitError` where the noise of the data is not known: the posterior has no width
    then.
    """
    problem = objective.problem
    if not problem.is_weighted or options.get("is_weighted") is False:
        raise FitError(
            f"{problem.label}: emcee samples a probability, which needs the noise of the data; "
            "give it: file.set_noise('gaussian', sigma=...), or Measurement(weight=1 / sigma)"
        )
    settings = {"nwalkers": WALKERS, "seed": 0, "progress": False, **options}
    if settings.get("pos") is None:
        settings["pos"] = walkers(
            objective, minimizer.params, settings["nwalkers"], settings["seed"]
        )
    with redirect_stdout(io.StringIO()):  # lmfit prints what emcee says of a chain too short
        outcome = minimizer.minimize(method=SAMPLER, **settings)
    flat = np.asarray(outcome.chain).reshape(-1, len(outcome.var_names))
    outcome.covar = np.atleast_2d(np.cov(flat.T))
    share = float(np.mean(outcome.acceptance_fraction))
    outcome.message = (
        f"Sampled: {flat.shape[0]} points of {settings['nwalkers']} walkers, {share:.0%} of the "
        "steps taken; values are medians, errors those of the samples"
    )
    thin = int(settings.get("thin", 1))
    times = (thin * autocorrelation_times(np.asarray(outcome.chain))).tolist()
    named = dict(zip(outcome.var_names, times, strict=True))
    return outcome, [*too_short(outcome.chain, named, int(settings.get("burn", 0)), thin)]


def walkers(
    objective: Objective, params: lmfit.Parameters, n: int, seed: object
) -> npt.NDArray[np.float64]:
    """(n, n_free) places around the start, inside of the bounds. lmfit scales them by the values.
    It would therefore start all walkers of a parameter with the value 0 at the same place."""
    names = [name for name in params if params[name].vary]
    centre = np.array([params[name].value for name in names])
    sizes = dict(zip(objective.problem.names, objective.sizes, strict=True))
    size = np.array([sizes[name] for name in names])
    generator = np.random.default_rng(seed if isinstance(seed, (int, np.integer)) else 0)
    places = centre + SPREAD * size * generator.normal(size=(n, centre.size))
    low, high = np.array([(params[name].min, params[name].max) for name in names]).T
    # Mirrored at the bounds: a walker on or beyond one would never move.
    places = np.where(places <= low, 2.0 * low - places, places)
    places = np.where(places >= high, 2.0 * high - places, places)
    return np.asarray(places)
