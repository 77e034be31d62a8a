"""Samples of the posterior around a finished fit: Markov chains of emcee."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.calls import answered, is_whole
from pyspec.errors import FitError, shortened
from pyspec.fit.table import need_pandas
from pyspec.model.handed import handed

Array = npt.NDArray[np.float64]

#: The parameter that stands for the logarithm of the noise where this is not declared.
LNSIGMA = "__lnsigma"

#: The bounds of an undeclared noise lie this factor below and above its start.
NOISE_RANGE = 100.0

#: Walkers start this many standard errors around the fit.
START = 0.5

#: Settings that are whole numbers, and the least of each.
_LEAST = {"steps": 1, "nwalkers": 1, "burn": 0, "thin": 1, "workers": 1}

#: Confidence levels of a table, in standard deviations of a Gaussian.
LEVELS = (1.0, 2.0, 3.0)


@answered
@dataclass(frozen=True, kw_only=True)
class MC:
    """Settings of :meth:`pyspec.FitResult.sample`, and ``mc_settings=`` of every fit of a File.

    Parameters
    ----------
    use_mc : 0 samples nothing, 1 samples after the fit, 2 only where
        ``result.conf_interval()`` finds no intervals
    steps, nwalkers : steps of each walker; walkers, by default twice the free parameters, at
        least 20
    burn, thin : steps left out at the beginning; every thin-th step is kept
    workers : processes that evaluate; a script then needs ``if __name__ == "__main__":``
    sigma_ini, sigma_min, sigma_max : the noise that is sampled where none was declared; by default
        the rms of the residual, and 1/100 to 100 times as much
    seed : of the random numbers; the same seed gives the same chain
    is_weighted : whether the noise is declared; for the sake of scripts, the fit knows it
    ntemps : 1; emcee has no temperatures any more
    """

    use_mc: int = 0
    steps: int = 5000
    nwalkers: int | None = None
    burn: int = 0
    thin: int = 1
    ntemps: int = 1
    workers: int = 1
    is_weighted: bool = False
    sigma_ini: float | None = None
    sigma_min: float | None = None
    sigma_max: float | None = None
    seed: int | None = None

    def __post_init__(self) -> None:
        if not (is_whole(self.use_mc, 0) and self.use_mc <= 2):
            raise FitError(f"use_mc is 0, 1 or 2, not {shortened(self.use_mc)}")
        for name, least in {**_LEAST, "seed": 0}.items():
            value = getattr(self, name)
            if name in ("nwalkers", "seed") and value is None:
                continue
            if not is_whole(value, least):
                raise FitError(f"{name} is a whole number from {least} on, not {shortened(value)}")
            object.__setattr__(self, name, int(value))  # 3 of 3.0
        if self.burn >= self.steps:
            raise FitError(f"burn={self.burn} leaves nothing of steps={self.steps}")
        if not is_whole(self.ntemps, 1) or self.ntemps != 1:
            raise FitError("ntemps is 1: emcee has no temperatures any more")
        given = [s for s in (self.sigma_min, self.sigma_ini, self.sigma_max) if s is not None]
        if any(not (math.isfinite(s) and s > 0) for s in given) or given != sorted(given):
            raise FitError("sigma_min, sigma_ini and sigma_max are positive and in this order")


class MCMCResult:
    """Samples of the posterior.

    Attributes
    ----------
    names : what was sampled: the free parameters, and ``__lnsigma``, the logarithm of the noise,
        where none was declared
    chain : (n_steps, n_walkers, n_names) after burn and thin
    acceptance_fraction : (n_walkers,) shares of accepted steps; 0.2 to 0.5 is healthy
    settings : the :class:`MC` that ran
    """

    def __init__(self, names: Sequence[str], chain: Array, acceptance: Array, settings: MC) -> None:
        self.names = tuple(names)
        self.chain = chain
        self.acceptance_fraction = acceptance
        self.settings = settings

    @cached_property
    def flat(self) -> Array:
        """(n_samples, n_names) the samples of all walkers."""
        return self.chain.reshape(-1, len(self.names))

    @property
    def values(self) -> dict[str, float]:
        """Name → median."""
        return dict(zip(self.names, np.median(self.flat, axis=0).tolist(), strict=True))

    @property
    def stderr(self) -> dict[str, float]:
        """Name → half the distance of the quantiles at -1 and +1 standard deviations."""
        low, high = np.quantile(self.flat, [_quantile(-1.0), _quantile(1.0)], axis=0)
        return dict(zip(self.names, (0.5 * (high - low)).tolist(), strict=True))

    @property
    def lnsigma(self) -> float | None:
        """The median of the logarithm of the noise; None where it was declared."""
        return self.values.get(LNSIGMA)

    @property
    def flatchain(self) -> Any:
        """The samples as a pandas DataFrame, one column a parameter."""
        return need_pandas().DataFrame(self.flat, columns=list(self.names))

    @property
    def table(self) -> Any:
        """Medians ("best fit") and quantiles as a pandas DataFrame, one row a parameter."""
        return self.quantiles()

    def quantiles(self, levels: Sequence[float] = LEVELS) -> Any:
        """The same for levels of one's own, in standard deviations."""
        columns: dict[str, Any] = {"par[v]/sigma[>]": list(self.names)}
        for level in sorted(levels, reverse=True):
            columns[f"-{level:g}"] = np.quantile(self.flat, _quantile(-level), axis=0)
        columns["best fit"] = np.median(self.flat, axis=0)
        for level in sorted(levels):
            columns[f"+{level:g}"] = np.quantile(self.flat, _quantile(level), axis=0)
        return need_pandas().DataFrame(columns)

    def plot(self, **options: Any) -> Any:
        """The distribution of every parameter and of every pair; returns the Figure. Options as of
        :func:`pyspec.plot.plot_chain`."""
        return handed("plot_chain", "pyspec.plot")(self, **options)

    def __repr__(self) -> str:
        share = float(np.mean(self.acceptance_fraction))
        return (
            f"<MCMCResult: {len(self.flat)} samples of {', '.join(self.names)}; {share:.0%} of the "
            "steps accepted>"
        )


def _quantile(level: float) -> float:
    return 0.5 * (1.0 + math.erf(level / math.sqrt(2.0)))


class Posterior:
    """The logarithm of the posterior, up to a constant: flat within the bounds, zero outside.

    With declared noise it is -χ²/2 (for counts half of the deviance). Without, the standard
    deviation σ of all points is unknown too, flat in ln σ: -χ²/(2σ²) - n ln σ.
    """

    def __init__(self, problem: Any, low: Array, high: Array, *, is_weighted: bool) -> None:
        self.problem = problem
        self.low, self.high = low, high
        self.is_weighted = is_weighted

    def __call__(self, theta: Array) -> float:
        if not ((theta >= self.low) & (theta <= self.high)).all():
            return -math.inf
        problem = self.problem
        free = theta if self.is_weighted else theta[:-1]
        with np.errstate(all="ignore"):
            residual = problem.executor.residual(free, problem.fixed)
            chisqr = float(np.einsum("i,i", residual, residual))
        if not math.isfinite(chisqr):
            return -math.inf
        if self.is_weighted:
            return -0.5 * chisqr
        lnsigma = float(theta[-1])
        return -0.5 * chisqr * math.exp(-2.0 * lnsigma) - float(problem.n_points) * lnsigma


def sample(result: Any, settings: MC | None = None, progress: bool = False) -> MCMCResult:
    """Samples the posterior of a finished fit; see :meth:`pyspec.FitResult.sample`."""
    problem = result.problem
    if result._of_many:
        raise FitError(
            f"{result.model_name}: this is one file of a joint fit, and its posterior that of all "
            "files; sample the joint result"
        )
    # Where errors are scaled, weights say how points compare, and the size of the noise is sampled.
    weighted = bool(problem.is_poisson or (problem.is_weighted and not result._scale_covar))
    mc = resolved(settings or MC(), result, weighted)
    names = [*problem.names, *([] if weighted else [LNSIGMA])]
    bounds = [
        (problem.parameters[name].min, problem.parameters[name].max) for name in problem.names
    ]
    if not weighted:
        assert mc.sigma_min is not None
        assert mc.sigma_max is not None
        bounds.append((math.log(mc.sigma_min), math.log(mc.sigma_max)))
    low, high = np.array(bounds, dtype=np.float64).T
    assert mc.nwalkers is not None
    places = _places(result, mc, low, high)
    posterior = Posterior(problem, low, high, is_weighted=weighted)
    chain, acceptance = _run(posterior, places, mc, progress)
    return MCMCResult(names, chain, acceptance, mc)


def resolved(settings: MC, result: Any, weighted: bool) -> MC:
    """The settings with everything that follows from the fit. Raises :class:`FitError` for what
    contradicts it."""
    sigmas = ("sigma_ini", "sigma_min", "sigma_max")
    given = [name for name in sigmas if getattr(settings, name) is not None]
    if weighted and given:
        raise FitError(f"{given[0]}: the noise of these data is declared and not sampled")
    if settings.is_weighted and not weighted:
        raise FitError(
            "is_weighted=True needs the noise of the data: file.set_noise('gaussian', sigma=...)"
        )
    n_names = len(result.problem.names) + (0 if weighted else 1)  # free spectra are solved for
    walkers = max(20, 2 * n_names) if settings.nwalkers is None else settings.nwalkers
    if walkers < 2 * n_names:
        raise FitError(
            f"nwalkers={walkers} is too few for {n_names} parameters; emcee needs {2 * n_names}"
        )
    if weighted:
        return replace(settings, nwalkers=walkers, is_weighted=True)
    rms = math.sqrt(result.chisqr / result.n_data)
    if settings.sigma_ini is None and not rms > 0:
        raise FitError("the fit leaves no residual to tell the noise from; give sigma_ini=")
    start = rms if settings.sigma_ini is None else settings.sigma_ini
    low = start / NOISE_RANGE if settings.sigma_min is None else settings.sigma_min
    high = start * NOISE_RANGE if settings.sigma_max is None else settings.sigma_max
    if not low < start < high:
        raise FitError(f"the noise starts at {start:g}, outside of sigma_min and sigma_max")
    return replace(settings, nwalkers=walkers, sigma_ini=start, sigma_min=low, sigma_max=high)


def _places(result: Any, mc: MC, low: Array, high: Array) -> Array:
    """(n_walkers, n_names) where the walkers start: around the fit by its standard errors, within
    the bounds."""
    problem = result.problem
    centre, width = [*result.theta], []
    for name, size in zip(problem.names, problem.sizes, strict=True):
        error = result.stderr[name]
        width.append(1e-3 * size if error is None or not error > 0 else START * error)
    if mc.sigma_ini is not None:
        centre.append(math.log(mc.sigma_ini))
        width.append(START / math.sqrt(2.0 * result.n_data))
    generator = np.random.default_rng(mc.seed)
    assert mc.nwalkers is not None
    spread = generator.normal(size=(mc.nwalkers, len(centre))) * np.array(width)
    places = np.array(centre) + spread
    # Mirrored at the bounds, and no further than the other one.
    places = np.where(places < low, 2.0 * low - places, places)
    places = np.where(places > high, 2.0 * high - places, places)
    return np.asarray(np.clip(places, low, high))


def _run(posterior: Posterior, places: Array, mc: MC, progress: bool) -> tuple[Array, Array]:
    emcee = need_emcee()
    random = np.random.RandomState(mc.seed).get_state()

    def run(pool: Any) -> Any:
        sampler = emcee.EnsembleSampler(*places.shape, posterior, pool=pool)
        state = emcee.State(places, random_state=random)
        sampler.run_mcmc(state, mc.steps, progress=progress)
        return sampler

    if mc.workers == 1:
        sampler = run(None)
    else:
        from multiprocessing import get_context

        with get_context("spawn").Pool(mc.workers) as pool:
            sampler = run(pool)
    chain = np.asarray(sampler.get_chain(discard=mc.burn, thin=mc.thin))
    return chain, np.asarray(sampler.acceptance_fraction)


def need_emcee() -> Any:
    """The module emcee. Raises :class:`FitError` without it."""
    try:
        return import_module("emcee")
    except ImportError:
        raise FitError("samples need emcee: pip install 'pyspec[mcmc]'") from None
