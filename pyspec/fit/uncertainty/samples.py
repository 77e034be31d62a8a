"""Samples of a posterior, and the settings they are made by."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pyspec.calls import Named, is_whole, meant
from pyspec.calls.arguments import real_array
from pyspec.errors import CallError, FitError, shortened
from pyspec.fit.results.table import dataframe
from pyspec.fit.uncertainty.autocorrelation import autocorrelation_times, too_short
from pyspec.model.late_import import late_import

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

Array = npt.NDArray[np.float64]

#: The parameter that stands for the logarithm of the noise where this is not declared.
LNSIGMA = "__lnsigma"

#: Settings that are whole numbers, and the least of each.
_LEAST = {"steps": 1, "nwalkers": 1, "burn": 0, "thin": 1, "seed": 0}

#: Confidence levels of a table, in standard deviations of a Gaussian.
LEVELS = (1.0, 2.0, 3.0)


@dataclass(frozen=True, kw_only=True)
class SampleSettings:
    """Arguments of :meth:`pyspec.FitResult.sample`, and in ``samples.settings`` what they became
    for the fit."""

    steps: int
    burn: int
    thin: int
    nwalkers: int | None = None
    sigma_ini: float | None = None
    sigma_min: float | None = None
    sigma_max: float | None = None
    seed: int | None = None

    def __post_init__(self) -> None:
        for name, least in _LEAST.items():
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
        sigmas = [s for s in (self.sigma_min, self.sigma_ini, self.sigma_max) if s is not None]
        if any(not (math.isfinite(s) and s > 0) for s in sigmas) or sigmas != sorted(sigmas):
            raise FitError("sigma_min, sigma_ini and sigma_max are positive and in this order")


@dataclass(eq=False, repr=False)
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
    interrupted : True if Ctrl-C or SIGTERM came: the chain holds the steps until then
    acceptance_fraction : (n_walkers,) shares of accepted steps; 0.2 to 0.5 is healthy
    settings : what they were made by: steps, nwalkers, burn, thin, seed, and the noise that was
        sampled, sigma_ini, sigma_min, sigma_max
    """

    names: Sequence[str]
    chain: Array
    acceptance_fraction: Array
    settings: SampleSettings
    followers: Sequence[str] = ()
    derived: Array = field(default_factory=lambda: np.zeros((1, 1, 0)))
    interrupted: bool = field(default=False, kw_only=True)
    _notes: Sequence[str] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        self.names, self.followers = tuple(self.names), tuple(self.followers)
        if not self.followers:
            self.derived = np.zeros((*self.chain.shape[:2], 0))

    def renamed(self, names: Mapping[str, str]) -> MCMCResult:
        """The samples of some parameters alone, whose names here are the values of `names`, under
        other names, its keys; and of the noise."""
        here = {**names, LNSIGMA: LNSIGMA}
        kept, followers = (
            {name: own_names.index(full) for name, full in here.items() if full in own_names}
            for own_names in (self.names, self.followers)
        )
        return replace(
            self,
            names=[*kept],
            chain=self.chain[..., [*kept.values()]],
            followers=[*followers],
            derived=self.derived[..., [*followers.values()]],
        )

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
        return (*self.names, *self.followers)

    def _all(self) -> Array:
        """(n_samples, n) what was sampled, then followers."""
        both = np.concatenate([self.chain, self.derived], axis=2)
        return both.reshape(-1, both.shape[2])

    def _quantiles(self, *levels: float) -> Array:
        """(n_levels, n) of the same; NaN for a follower that has no value at some samples."""
        shares = [0.5 * (1.0 + math.erf(level / math.sqrt(2.0))) for level in levels]
        with np.errstate(invalid="ignore"):  # between two that are infinite
            values = np.quantile(self._all(), shares, axis=0)
        return np.asarray(values)

    def _named(self, values: Array) -> dict[str, float]:
        return Named(dict(zip(self._all_names, values.tolist(), strict=True)))

    @property
    def values(self) -> dict[str, float]:
        """Name → median."""
        return self._named(self._quantiles(0.0)[0])

    @property
    def stderr(self) -> dict[str, float]:
        """Name → half the distance between the quantiles at -1 and +1 standard deviations."""
        low, high = self._quantiles(-1.0, 1.0)
        return self._named(0.5 * (high - low))

    @property
    def lnsigma(self) -> float | None:
        """The median of the logarithm of the noise; None where it was declared."""
        return self.values[LNSIGMA] if LNSIGMA in self.names else None

    @property
    def flatchain(self) -> pandas.DataFrame:
        """The samples as a pandas DataFrame, one column a parameter."""
        return dataframe(self._all(), self._all_names)

    @property
    def table(self) -> pandas.DataFrame:
        """Medians ("best fit") and quantiles as a pandas DataFrame, one row a parameter."""
        return self.quantiles()

    def quantiles(self, levels: float | Sequence[float] = LEVELS) -> pandas.DataFrame:
        """Medians and quantiles as in `table`, at levels that you choose, in standard deviations.

        Raises :class:`CallError` for levels that are not positive.
        """
        sigmas = np.atleast_1d(real_array("levels", levels)).astype(np.float64)
        if sigmas.ndim != 1 or not sigmas.size or not (np.isfinite(sigmas) & (sigmas > 0)).all():
            raise CallError(
                f"levels is {shortened(levels)}; give standard deviations such as [1, 2, 3]"
            )
        rising = sorted(set(sigmas.tolist()))
        every = [*(-level for level in reversed(rising)), 0.0, *rising]
        columns: dict[str, object] = {"par[v]/sigma[>]": list(self._all_names)}
        for level, values in zip(every, self._quantiles(*every), strict=True):
            columns[f"{level:+g}" if level else "best fit"] = values
        return dataframe(columns)

    @cached_property
    def autocorr_time(self) -> dict[str, float]:
        """Name → the integrated autocorrelation time in steps: samples that far apart are nearly
        independent. A chain shorter than about 50 of these times underestimates it. NaN where no
        walker moved."""
        times = self.settings.thin * autocorrelation_times(self.chain)
        return Named(dict(zip(self.names, times.tolist(), strict=True)))

    @cached_property
    def cautions(self) -> tuple[str, ...]:
        """Warnings about these samples. The chain may have been interrupted, or be shorter than 50
        autocorrelation times. Walkers may not have moved. The fit may not have converged. The best
        values may lie outside of the middle 68 % of the samples, which then depend on the room
        within the bounds. Followers may not be finite at some samples."""
        short = too_short(self.chain, self.autocorr_time, self.settings.burn, self.settings.thin)
        bad = {name: int(np.sum(~np.isfinite(self.of(name)))) for name in self.followers}
        return (
            *self._notes,
            *map(str, short),
            *(
                f"{name} is not finite in {count} of {len(self.flat)} samples, so its quantiles "
                "may be nan; give bounds that keep its expression defined"
                for name, count in bad.items()
                if count
            ),
        )

    def plot(self, **options: object) -> Figure:
        """The distribution of every parameter and of every pair; returns the Figure. Options as of
        :func:`pyspec.plot.plot_chain`."""
        figure: Figure = late_import("pyspec.plot", "plot_chain")(self, **options)
        return figure

    def __repr__(self) -> str:
        share = float(np.mean(self.acceptance_fraction))
        notes = "".join(f". Caution: {text}" for text in self.cautions)
        return (
            f"<MCMCResult: {len(self.flat)} samples of {', '.join(self.names)}; {share:.0%} of the "
            f"steps accepted{notes}>"
        )
