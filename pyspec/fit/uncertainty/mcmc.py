"""Samples of the posterior around a finished fit: Markov chains of emcee."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from pyspec.errors import FitError, TooLargeError
from pyspec.fit.batch.points import SumsAt, sums_at_points
from pyspec.fit.findings.finding import warn
from pyspec.fit.interrupts import Hold
from pyspec.fit.progress import Steps
from pyspec.fit.results.ended import EndedFit, not_converged
from pyspec.fit.results.table import need
from pyspec.fit.solve.robust import refuse_robust
from pyspec.fit.uncertainty.samples import LNSIGMA, MCMCResult, SampleSettings

if TYPE_CHECKING:
    from pyspec.fit.problem import FitProblem

Array = npt.NDArray[np.float64]

#: A bar, or a function (steps done, all).
Progress: TypeAlias = bool | Callable[[int, int], object] | None

#: The bounds of an undeclared noise lie this factor below and above its start.
NOISE_RANGE = 100.0

#: Walkers start this many standard errors around the fit.
START = 0.5

#: The part of a normal distribution beyond one standard deviation, to one side.
OUTER = 0.1587


class Posterior:
    """The logarithm of the posterior, up to a constant: flat within the bounds, zero outside.

    With declared noise it is -χ²/2 (for counts half of the deviance). Without, the standard
    deviation σ of all points is unknown too, flat in ln σ: -χ²/(2σ²) - n ln σ. Amplitudes that are
    free along an axis are solved for at every step. Each of them reduces n by one point, which
    makes σ equal to that of the fit.
    """

    def __init__(
        self, problem: FitProblem, n_amplitudes: int, low: Array, high: Array, *, is_weighted: bool
    ) -> None:
        self.problem, self.n_amplitudes = problem, n_amplitudes
        self.low, self.high = low, high
        self.is_weighted = is_weighted
        #: What sums at several points at once, where that is done in C.
        self.sums: SumsAt | None = None

    def __call__(self, theta: Array) -> Array | float:
        """Of one point (n,), or of the walkers (n_walkers, n)."""
        points = np.atleast_2d(theta)
        log_posterior = np.full(len(points), -math.inf)
        inside = ((points >= self.low) & (points <= self.high)).all(axis=1)
        n = len(self.problem.names)
        if self.sums is not None:
            chisqr = self.sums(points[inside, :n], "value")[:, 0]
        else:
            chisqr = np.array([self.problem.chisqr_at(point) for point in points[inside, :n]])
        if self.is_weighted:
            own = -0.5 * chisqr
        else:
            lnsigma = points[inside, -1]
            n_left = float(self.problem.n_points - self.n_amplitudes)
            own = -0.5 * chisqr * np.exp(-2.0 * lnsigma) - n_left * lnsigma
        log_posterior[inside] = np.where(np.isfinite(chisqr), own, -math.inf)
        return log_posterior if np.ndim(theta) == 2 else float(log_posterior[0])


def sample(result: EndedFit, settings: SampleSettings, progress: Progress = None) -> MCMCResult:
    """Samples the posterior of a finished fit; see :meth:`pyspec.FitResult.sample`."""
    problem = result.problem
    refuse_robust(result, "samples of a posterior")
    if result._is_joint_member:
        raise FitError(
            f"{result.model_name}: this is one file of a joint fit, and its posterior that of all "
            "files; sample the joint result"
        )
    # If errors are scaled, weights are relative, and the size of the noise is sampled. For counts
    # this size is the scatter relative to the roots of the expected counts.
    weighted = bool(problem.is_weighted and not result._scale_covar)
    mc = resolved(settings, result, weighted)
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
    posterior = Posterior(problem, result.ending.n_amplitudes, low, high, is_weighted=weighted)
    try:
        with Hold() as hold:
            places = _places(result, mc, low, high)
            chain, acceptance, done = _run(posterior, places, mc, progress, hold)
            notes = _notes(result, done, mc.steps)
            notes += _away(result, chain[mc.burn :: mc.thin].reshape(-1, len(names)), low, high)
            samples = hold.mark(
                MCMCResult(names, chain, acceptance, mc, *_followers(result, chain), _notes=notes)
            )
    except MemoryError as error:
        size = 8 * mc.steps * mc.nwalkers * len(names) / 2**30
        raise TooLargeError(
            f"{result.model_name}: {mc.steps} steps of {mc.nwalkers} walkers would take "
            f"{size:.3g} GiB, more memory than there is; give fewer steps= or nwalkers="
        ) from error
    warn(result.model_name, samples.cautions)
    return samples


def _notes(result: EndedFit, done: int, steps: int) -> list[str]:
    """What the samples are to be taken with care for, beside the length of their chain."""
    notes = []
    if ended := not_converged(result):
        notes.append(
            f"the walkers began at a fit that did not converge ({ended}); fit again from its "
            "values and sample that, or give burn= so that their way to the optimum is left out"
        )
    if done < steps:
        notes.append(f"sampling was interrupted after {done} of {steps} steps")
    return notes


def _away(result: EndedFit, flat: Array, low: Array, high: Array) -> list[str]:
    """A sentence on parameters whose best value lies outside of the middle 68 % of the samples
    (n_samples, n), where no bound beside it is why."""
    sentences: dict[str, str] = {}
    for k, (name, best) in enumerate(zip(result.free_names, result.theta.tolist(), strict=True)):
        error, column = result.stderr[name], flat[:, k]
        if not error or not column.size:
            continue
        first, last = np.quantile(column, [OUTER, 1.0 - OUTER]).tolist()
        is_above = best < first and best - low[k] > error
        if is_above or (best > last and high[k] - best > error):
            sentences[name] = f"{name} = {best:.4g} outside of {first:.4g} to {last:.4g}"
    if not sentences:
        return []
    return [
        "the middle 68 % of the samples do not hold the best values, "
        f"{', '.join(sentences.values())}: the prior is flat within the bounds, and the room that "
        "they leave where χ² is higher counts more than χ²; give narrower bounds, and compare with "
        "conf_interval"
    ]


def _followers(result: EndedFit, chain: Array) -> tuple[list[str], Array]:
    """The followers that depend on what was sampled, and their values, (n_steps, n_walkers, n)."""
    problem, shape = result.problem, chain.shape[:2]
    sampled = dict(zip(problem.names, np.moveaxis(chain, 2, 0), strict=False))
    columns = problem.followers.columns({**result._values, **sampled})
    kept = {name: column for name, column in columns.items() if np.shape(column) == shape}
    return list(kept), np.stack([*kept.values()], axis=2) if kept else np.zeros((*shape, 0))


def resolved(settings: SampleSettings, result: EndedFit, weighted: bool) -> SampleSettings:
    """The settings with everything that follows from the fit. Raises :class:`FitError` for what
    contradicts it."""
    sigmas = ("sigma_ini", "sigma_min", "sigma_max")
    sigmas_set = [name for name in sigmas if getattr(settings, name) is not None]
    if weighted and sigmas_set:
        raise FitError(f"{sigmas_set[0]}: the noise of these data is declared and not sampled")
    n_names = len(result.problem.names) + (0 if weighted else 1)  # free spectra are solved for
    walkers = max(20, 2 * n_names) if settings.nwalkers is None else settings.nwalkers
    if walkers < 2 * n_names:
        raise FitError(
            f"nwalkers={walkers} is too few for {n_names} parameters; emcee needs {2 * n_names}"
        )
    if weighted:
        return replace(settings, nwalkers=walkers)
    rms = math.sqrt(result.chisqr / result.n_data)
    if settings.sigma_ini is None and not rms > 0:
        raise FitError("the fit leaves no residual to tell the noise from; give sigma_ini=")
    start = rms if settings.sigma_ini is None else settings.sigma_ini
    low = start / NOISE_RANGE if settings.sigma_min is None else settings.sigma_min
    high = start * NOISE_RANGE if settings.sigma_max is None else settings.sigma_max
    if not low < start < high:
        raise FitError(f"the noise starts at {start:g}, outside of sigma_min and sigma_max")
    return replace(settings, nwalkers=walkers, sigma_ini=start, sigma_min=low, sigma_max=high)


def _places(result: EndedFit, mc: SampleSettings, low: Array, high: Array) -> Array:
    """(n_walkers, n_names) where the walkers start: around the fit by its standard errors, within
    the bounds."""
    names = result.problem.names
    centre, width = [*result.theta], []
    for name, size in zip(names, result._start.units, strict=True):
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


def _run(
    posterior: Posterior, places: Array, mc: SampleSettings, progress: Progress, hold: Hold
) -> tuple[Array, Array, int]:
    """The chain, the share of steps that each walker took, and how many steps are done: fewer
    where a signal came. Raises KeyboardInterrupt where it came before the first step to be kept."""
    emcee = need("emcee", "samples need emcee: pip install 'pyspec-fit[mcmc]'")
    steps = Steps(progress, f"{posterior.problem.label}, samples", "steps")

    sampler = emcee.EnsembleSampler(*places.shape, posterior, vectorize=True)
    # The generator of emcee takes seeds below 2³² as they are.
    is_small = mc.seed is None or mc.seed < 2**32
    source = mc.seed if is_small else np.random.MT19937(np.random.SeedSequence(mc.seed))
    state = emcee.State(places, random_state=np.random.RandomState(source).get_state())
    problem = posterior.problem
    sums = sums_at_points(problem, lambda: None) if problem.in_memory else nullcontext()
    try:
        with sums as posterior.sums:
            for done, _ in enumerate(sampler.sample(state, iterations=mc.steps), 1):
                steps.update(done, mc.steps)
                if hold.arrived:
                    if done < mc.burn + mc.thin:
                        hold.check()
                    break
    finally:
        steps.close()
    chain = np.asarray(sampler.get_chain(discard=mc.burn, thin=mc.thin))
    return chain, np.asarray(sampler.acceptance_fraction), int(sampler.iteration)
