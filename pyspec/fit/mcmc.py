"""Samples of the posterior around a finished fit: Markov chains of emcee."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pyspec.calls import Named, answered, is_whole, meant
from pyspec.calls.given import real_array
from pyspec.errors import CallError, FitError, TooLargeError, shortened
from pyspec.fit.autocorrelation import autocorrelation_times, too_short
from pyspec.fit.caution import warn
from pyspec.fit.progress import Steps
from pyspec.fit.table import need_pandas
from pyspec.model.handed import handed

Array = npt.NDArray[np.float64]

#: A bar, or a function (steps done, all).
Progress: TypeAlias = bool | Callable[[int, int], object] | None

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
        left = self.steps - self.burn
        if self.thin > left:
            raise FitError(
                f"thin={self.thin} leaves nothing of the {left} steps after burn; give at most that"
            )
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
    followers : the parameters with an expression that depend on these, such as an area; `values`,
        `stderr`, `table` and `flatchain` have them after those of `names`
    derived : (n_steps, n_walkers, n_followers) their values at each sample
    acceptance_fraction : (n_walkers,) shares of accepted steps; 0.2 to 0.5 is healthy
    settings : the :class:`MC` that ran
    """

    def __init__(
        self,
        names: Sequence[str],
        chain: Array,
        acceptance: Array,
        settings: MC,
        followers: Sequence[str] = (),
        derived: Array | None = None,
    ) -> None:
        self.names = tuple(names)
        self.chain = chain
        self.acceptance_fraction = acceptance
        self.settings = settings
        self.followers = tuple(followers)
        self.derived = np.zeros((*chain.shape[:2], 0)) if derived is None else derived

    @cached_property
    def flat(self) -> Array:
        """(n_samples, n_names) the samples of all walkers."""
        return self.chain.reshape(-1, len(self.names))

    def of(self, name: str) -> Array:
        """(n_samples,) the samples of one parameter or follower.

        Raises :class:`CallError` for a name that was not sampled.
        """
        for names, chain in ((self.names, self.chain), (self.followers, self.derived)):
            if name in names:
                return chain[..., names.index(name)].ravel()
        raise CallError(f"{name!r} was not sampled{meant(name, self._all_names)}")

    @property
    def _all_names(self) -> tuple[str, ...]:
        return self.names + self.followers

    def _all(self) -> Array:
        """(n_samples, n) what was sampled, then followers."""
        both = np.concatenate([self.chain, self.derived], axis=2)
        return both.reshape(-1, both.shape[2])

    def _quantiles(self, *levels: float) -> Array:
        """(n_levels, n) of the same."""
        found = np.quantile(self._all(), [_quantile(level) for level in levels], axis=0)
        return np.asarray(found)

    def _named(self, values: Array) -> dict[str, float]:
        return Named(dict(zip(self._all_names, values.tolist(), strict=True)))

    @property
    def values(self) -> dict[str, float]:
        """Name → median."""
        return self._named(self._quantiles(0.0)[0])

    @property
    def stderr(self) -> dict[str, float]:
        """Name → half the distance of the quantiles at -1 and +1 standard deviations."""
        low, high = self._quantiles(-1.0, 1.0)
        return self._named(0.5 * (high - low))

    @property
    def lnsigma(self) -> float | None:
        """The median of the logarithm of the noise; None where it was declared."""
        return self.values[LNSIGMA] if LNSIGMA in self.names else None

    @property
    def flatchain(self) -> Any:
        """The samples as a pandas DataFrame, one column a parameter."""
        return need_pandas().DataFrame(self._all(), columns=list(self._all_names))

    @property
    def table(self) -> Any:
        """Medians ("best fit") and quantiles as a pandas DataFrame, one row a parameter."""
        return self.quantiles()

    def quantiles(self, levels: float | Sequence[float] = LEVELS) -> Any:
        """The same for levels of one's own, in standard deviations.

        Raises :class:`CallError` for levels that are not positive.
        """
        given = np.atleast_1d(real_array("levels", levels)).astype(np.float64)
        if given.ndim != 1 or not given.size or not (np.isfinite(given) & (given > 0)).all():
            raise CallError(
                f"levels is {shortened(levels)}; give standard deviations such as [1, 2, 3]"
            )
        rising = sorted(set(given.tolist()))
        every = [*(-level for level in reversed(rising)), 0.0, *rising]
        columns: dict[str, Any] = {"par[v]/sigma[>]": list(self._all_names)}
        for level, values in zip(every, self._quantiles(*every), strict=True):
            columns[f"{level:+g}" if level else "best fit"] = values
        return need_pandas().DataFrame(columns)

    @cached_property
    def autocorr_time(self) -> dict[str, float]:
        """Name → the integrated autocorrelation time in steps: samples so far apart are nearly
        independent. It is too small where the chain is shorter than some 50 of it; NaN where no
        walker moved."""
        times = self.settings.thin * autocorrelation_times(self.chain)
        return Named(dict(zip(self.names, times.tolist(), strict=True)))

    @cached_property
    def cautions(self) -> tuple[str, ...]:
        """What to know before these samples are used: a chain shorter than 50 autocorrelation
        times, walkers that did not move."""
        return too_short(self.chain, self.autocorr_time, self.settings.burn, self.settings.thin)

    def plot(self, **options: Any) -> Any:
        """The distribution of every parameter and of every pair; returns the Figure. Options as of
        :func:`pyspec.plot.plot_chain`."""
        return handed("plot_chain", "pyspec.plot")(self, **options)

    def __repr__(self) -> str:
        share = float(np.mean(self.acceptance_fraction))
        notes = "".join(f". Caution: {text}" for text in self.cautions)
        return (
            f"<MCMCResult: {len(self.flat)} samples of {', '.join(self.names)}; {share:.0%} of the "
            f"steps accepted{notes}>"
        )


def _quantile(level: float) -> float:
    return 0.5 * (1.0 + math.erf(level / math.sqrt(2.0)))


class Posterior:
    """The logarithm of the posterior, up to a constant: flat within the bounds, zero outside.

    With declared noise it is -χ²/2 (for counts half of the deviance). Without, the standard
    deviation σ of all points is unknown too, flat in ln σ: -χ²/(2σ²) - n ln σ. Amplitudes that are
    free along an axis are solved for at every step, and each takes one point off n, so that σ is
    that of the fit.
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
        n_left = float(problem.n_points - problem.n_linear)
        return -0.5 * chisqr * math.exp(-2.0 * lnsigma) - n_left * lnsigma


def sample(result: Any, settings: MC | None = None, progress: Progress = None) -> MCMCResult:
    """Samples the posterior of a finished fit; see :meth:`pyspec.FitResult.sample`."""
    problem = result.problem
    if result._of_many:
        raise FitError(
            f"{result.model_name}: this is one file of a joint fit, and its posterior that of all "
            "files; sample the joint result"
        )
    # Where errors are scaled, weights say how points compare, and the size of the noise is sampled;
    # of counts that of their scatter beside the roots of what is expected.
    weighted = bool(problem.is_weighted and not result._scale_covar)
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
    posterior = Posterior(problem, low, high, is_weighted=weighted)
    try:
        chain, acceptance = _run(posterior, _places(result, mc, low, high), mc, progress)
    except MemoryError as error:
        size = 8 * mc.steps * mc.nwalkers * len(names) / 2**30
        raise TooLargeError(
            f"{result.model_name}: {mc.steps} steps of {mc.nwalkers} walkers would take "
            f"{size:.3g} GiB, more memory than there is; give fewer steps= or nwalkers="
        ) from error
    found = MCMCResult(names, chain, acceptance, mc, *_followers(result, chain))
    warn(result.model_name, found.cautions)
    return found


def _followers(result: Any, chain: Array) -> tuple[list[str], Array]:
    """The followers that depend on what was sampled, and their values, (n_steps, n_walkers, n)."""
    problem, shape = result.problem, chain.shape[:2]
    sampled = dict(zip(problem.names, np.moveaxis(chain, 2, 0), strict=False))
    found = problem.followers.columns({**result._params.value, **sampled})
    kept = {name: column for name, column in found.items() if np.shape(column) == shape}
    return list(kept), np.stack([*kept.values()], axis=2) if kept else np.zeros((*shape, 0))


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


def _run(posterior: Posterior, places: Array, mc: MC, progress: Progress) -> tuple[Array, Array]:
    emcee = need_emcee()
    steps = Steps(progress, f"{posterior.problem.label}, samples", "steps")

    def run(pool: Any) -> Any:
        sampler = emcee.EnsembleSampler(*places.shape, posterior, pool=pool)
        state = emcee.State(places, random_state=_random(mc.seed).get_state())
        for done, _ in enumerate(sampler.sample(state, iterations=mc.steps), 1):
            steps.update(done, mc.steps)
        return sampler

    try:
        if mc.workers == 1:
            sampler = run(None)
        else:
            from multiprocessing import get_context

            with get_context("spawn").Pool(mc.workers) as pool:
                sampler = run(pool)
    finally:
        steps.close()
    chain = np.asarray(sampler.get_chain(discard=mc.burn, thin=mc.thin))
    return chain, np.asarray(sampler.acceptance_fraction)


def _random(seed: int | None) -> np.random.RandomState:
    """The random numbers of emcee. Their generator takes seeds below 2³² as they are."""
    if seed is None or seed < 2**32:
        return np.random.RandomState(seed)
    return np.random.RandomState(np.random.MT19937(np.random.SeedSequence(seed)))


def need_emcee() -> Any:
    """The module emcee. Raises :class:`FitError` without it."""
    try:
        return import_module("emcee")
    except ImportError:
        raise FitError("samples need emcee: pip install 'pyspec[mcmc]'") from None
