"""Options of fits in trspecfit that pyspec has not: the stages of a fit, and samples or intervals
that follow it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from typing import TypeVar

from pyspec.calls import is_whole
from pyspec.errors import FitError, shortened
from pyspec.fit import FitResult, SampleSettings, SliceResults

Fitted = TypeVar("Fitted", bound=FitResult | SliceResults)

#: Arguments of intervals, which are found when they are asked for.
OF_INTERVALS = ("try_ci", "ci_sigmas", "jac_fun")


@dataclass(frozen=True, kw_only=True)
class MC(SampleSettings):
    """``mc_settings=`` of a fit.

    Parameters
    ----------
    use_mc : 0 samples nothing. 1 samples after the fit. 2 does so only if
        ``result.conf_interval()`` finds no intervals
    steps, nwalkers, burn, thin, sigma_ini, sigma_min, sigma_max, seed : as of
        :meth:`pyspec.FitResult.sample`
    is_weighted : True refuses data whose noise was not declared; the fit knows whether it was
    workers : has no effect, since C evaluates the walkers of a step together
    ntemps : must be 1, since emcee no longer samples at several temperatures
    """

    use_mc: int = 0
    steps: int = 5000
    burn: int = 0
    thin: int = 1
    ntemps: int = 1
    workers: int = 1
    is_weighted: bool = False

    def __post_init__(self) -> None:
        if not (is_whole(self.use_mc, 0) and self.use_mc <= 2):
            raise FitError(f"use_mc is 0, 1 or 2, not {shortened(self.use_mc)}")
        if not is_whole(self.ntemps, 1) or self.ntemps != 1:
            raise FitError(
                "ntemps must be 1: emcee no longer samples at several temperatures; leave it out"
            )
        super().__post_init__()


def fitted(
    fit: Callable[..., Fitted], name: str, options: Mapping[str, object], progress: bool
) -> Fitted:
    """A fit of the model of that name. Its options are those of pyspec, and these:

    stages : 1, or 2 for `fit_alg_1` followed by `fit_alg_2`
    fit_alg_1, fit_alg_2 : methods; by default "native", with two stages "nelder" and "native"
    mc_settings : an :class:`MC`, samples that follow the fit
    try_ci, ci_sigmas, jac_fun : have no effect

    Raises :class:`FitError` where they contradict one another.
    """
    own = {key: value for key, value in options.items() if key not in OF_INTERVALS}
    settings = own.pop("mc_settings", None)
    if settings is not None and not isinstance(settings, MC):
        raise FitError(f"mc_settings is {settings!r}; give MC(use_mc=1, steps=2000)")
    stages, first, second = (own.pop(key, None) for key in ("stages", "fit_alg_1", "fit_alg_2"))
    if stages not in (None, 1, 2):
        raise FitError(f"stages must be 1, or 2 for fit_alg_1 then fit_alg_2; not {stages!r}")
    if stages != 2 and second is not None:
        raise FitError(f"fit_alg_2={second!r} is the method of a second stage; give stages=2 too")
    method = (first or "nelder", second or "native") if stages == 2 else first
    if method is not None and own.setdefault("method", method) != method:
        raise FitError(
            f"method {own['method']!r} and the stages {method!r} contradict; give one of them"
        )
    result = fit(model_name=name, **own)
    if isinstance(result, FitResult) and settings is not None and not result.interrupted:
        _sample(result, settings, progress)
    return result


def _sample(result: FitResult, settings: MC, progress: bool) -> None:
    """Samples the posterior of a fit, which is kept by now: it is not lost, whatever happens."""
    if settings.use_mc == 0:
        return
    if settings.use_mc == 2:
        with suppress(FitError):
            result.conf_interval(progress=progress)
            return
    if settings.is_weighted and (not result.problem.is_weighted or result._scale_covar):
        raise FitError(
            "is_weighted=True needs the noise of the data: file.set_noise('gaussian', sigma=...)"
        )
    arguments = {one.name: getattr(settings, one.name) for one in fields(SampleSettings)}
    result.sample(**arguments, progress=progress)
