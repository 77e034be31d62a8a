"""Samples of a posterior that a fit asks for: ``mc_settings=MC(use_mc=1, ...)``."""

from __future__ import annotations

from collections.abc import Mapping

from pyspec.errors import FitError
from pyspec.fit import MC, FitResult, MCMCResult
from pyspec.plot.protocols import Fit


def sampled(result: FitResult, options: Mapping[str, object], progress: bool) -> FitResult:
    """A finished fit, with samples of its posterior where the options ask for them. The fit is
    kept before: whatever happens here, it is not lost."""
    settings = settings_of(options)
    if settings is None or settings.use_mc == 0 or result.interrupted:
        return result
    if settings.use_mc == 2 and _has_intervals(result, progress):
        return result
    result.sample(settings, progress=progress)
    return result


def settings_of(options: Mapping[str, object]) -> MC | None:
    """The `mc_settings` of a fit. Raises :class:`FitError` for what is none."""
    settings = options.get("mc_settings")
    if settings is not None and not isinstance(settings, MC):
        raise FitError(f"mc_settings is {settings!r}; give MC(use_mc=1, steps=2000)")
    return settings


def refuse_samples(options: Mapping[str, object]) -> None:
    """Raises :class:`FitError` where many fits at once ask for samples."""
    settings = settings_of(options)
    if settings is not None and settings.use_mc:
        raise FitError(
            "slices are not sampled all at once; sample one: slices[0].result.sample(steps=2000)"
        )


def _has_intervals(result: FitResult, progress: bool) -> bool:
    try:
        result.conf_interval(progress=progress)
    except FitError:
        return False
    return True


def samples_of(result: Fit) -> MCMCResult:
    """The samples of a fit. Raises :class:`FitError` where there are none."""
    samples: MCMCResult | None = getattr(result, "mcmc", None)
    if samples is None and getattr(result, "_is_joint_member", False):
        raise FitError(
            f"{result.file_name} is one file of a joint fit of {result.model_name}, which has no "
            "samples; fit with mc_settings=MC(use_mc=1), or call "
            "project.results.get_joint().sample()"
        )
    if samples is None:
        raise FitError(
            f"the {result.fit_type} fit of {result.model_name} has no samples; fit with "
            "mc_settings=MC(use_mc=1), or call result.sample()"
        )
    return samples
