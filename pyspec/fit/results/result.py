"""What a fit returns."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from html import escape
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pyspec.calls import answered
from pyspec.errors import FitError
from pyspec.fit.amplitudes import Amplitudes
from pyspec.fit.amplitudes.amplitudes import amplitudes_of, open_fit
from pyspec.fit.amplitudes.predict import amplitude_components, predict_amplitudes
from pyspec.fit.findings.counted import Told
from pyspec.fit.findings.finding import Finding, ordered, plain
from pyspec.fit.findings.levels import of_end, of_refits, of_residual
from pyspec.fit.results.components import every_component, spectrum_components
from pyspec.fit.results.ended import need_fitted, state_of, title_of
from pyspec.fit.results.lmfit_view import LmfitNames
from pyspec.fit.results.moving import Moving, moving_parameters
from pyspec.fit.results.prediction import Prediction, predict
from pyspec.fit.results.same_data import need_same
from pyspec.fit.results.table import dataset, json_row, labelled
from pyspec.fit.uncertainty.mcmc import sample
from pyspec.fit.uncertainty.samples import MCMCResult, SampleSettings
from pyspec.model import Model
from pyspec.model.late_import import late_import
from pyspec.model.show import html_table

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure
    from typing_extensions import Self


Array = npt.NDArray[np.float64]

#: What is said of one file of a joint fit.
TOGETHER = (
    "fitted together with other files: standard errors, and parameters that the files share, are "
    "those of all"
)


class FitResult(LmfitNames, Told):
    """One finished (or stopped) fit: its numbers, and what is asked of it.

    Attributes
    ----------
    level : how far findings were looked for: 0 at the end of the fit, 1 in its residual, 2 by
        further fits
    diagnosed : evaluations and seconds that further fits took
    mcmc : the samples of :meth:`sample`; None before
    """

    level: int = 0
    diagnosed: tuple[int, float] = (0, 0.0)
    mcmc: MCMCResult | None = None
    _of_levels: tuple[Finding, ...] = ()
    #: Of one file of a joint fit: that, and the number of the file in it.
    _of: tuple[FitResult, int] | None = None

    def __getstate__(self) -> dict[str, object]:
        made = ("amplitudes", "model", "_fit")
        state = {name: value for name, value in self.__dict__.items() if name not in made}
        if self._of is not None:  # what is found about all files goes along, their data do not
            state |= {"_of_end": self._of_end, "_of": None}
        return state

    @property
    def joint(self) -> FitResult | None:
        """The joint fit that this file belongs to. None for a single fit, and for a file that was
        saved by itself."""
        return None if self._of is None else self._of[0]

    # findings

    @cached_property
    def _of_end(self) -> tuple[Finding, ...]:
        if self._of is None or not self._is_joint_member:  # one file says all of its own
            return of_end(self)
        joint, index = self._of
        return joint._of_file(joint._of_end, index)

    def _of_file(self, findings: Iterable[Finding], index: int) -> tuple[Finding, ...]:
        """The findings that are of one file, of which there is one here."""
        return tuple(findings)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What to know before these numbers are used, the most serious first: see
        :class:`pyspec.Finding`. :meth:`diagnose` looks for more."""
        return ordered(self._every_finding)

    @property
    def _every_finding(self) -> tuple[Finding, ...]:
        """The same as they came, those that others hide among them."""
        return (*self._findings, *self._of_end, *self._of_levels)

    def diagnose(self, deep: bool = False) -> Self:
        """A copy of the result with further findings from its residual: noise that differs,
        structure, outliers, dead points. It takes one pass over the residual. With `deep` it also
        runs further fits, for example to find errors that are too small. `diagnosed` has the
        evaluations and seconds of these fits.

        Raises :class:`FitError` for one file of a joint fit: diagnose the joint result. Raises
        :class:`DataError` for a fit that was saved without data."""
        if self._is_joint_member:
            raise FitError("this is one file of a joint fit; call diagnose() of the joint result")
        if any(file.measurement.data is None for file in self.problem.files):
            need_same(self.problem)  # which says how to give them
        result = copy.copy(self)
        result._fit, result.level = self._fit, 1
        result._of_levels = of_residual(result)
        if deep:
            begin = time.perf_counter()
            more, nfev = of_refits(result)
            result._of_levels, result.level = (*result._of_levels, *more), 2
            result.diagnosed = nfev, time.perf_counter() - begin
        return result

    def _tell(self, findings: Sequence[Finding]) -> None:
        """Takes these findings as all there are."""
        self._findings, self._of_end, self._of_levels = tuple(findings), (), ()

    # curves

    def components(self, *, whole: bool = False) -> tuple[dict[str, Array], dict[str, Array]]:
        """(peaks, backgrounds) of a 1D fit, name → (n_columns,); they add up to `fit`. `whole`
        takes all energies, (n_energy,)."""
        measurement = self.problem.measurement
        seen = measurement.without_data() if whole else measurement
        return spectrum_components(self.problem.model, self.values, seen)

    def eval_components(self) -> dict[str, Array]:
        """Every component on its own, name → an array of the shape of `fit`, in file order; they
        add up to `fit`, within rounding.

        Raises :class:`FitError` for a trace, because its kernels act on laws and add nothing
        themselves. It also raises it if a component reads the spectrum of lines with free
        amplitudes.
        """
        if self.is_trace:
            raise FitError(
                f"{self.model_name} is a trace: its kernels act on its laws, so these do not add "
                "up; see result.fit"
            )
        if self.problem.free is not None:
            need_same(self.problem)
            return amplitude_components(self.problem.free, self.theta)
        return every_component(self.model, self.values, self.measurement, self.backend)

    def moving(self) -> Moving | None:
        """The parameters that move in time over the fit window, with one standard error each;
        None for the fit of one spectrum. See :class:`pyspec.fit.results.moving.Moving`."""
        return moving_parameters(self.problem, self.ending)

    @answered
    def predict(
        self, energy: npt.ArrayLike | None = None, time: npt.ArrayLike | None = None
    ) -> Prediction:
        """The fitted model on other axes, with standard errors. Components that sum over the grid
        of the data (Shirley, gaussCONV) are interpolated between its points; outside of them they
        raise :class:`DataError`. A fit with free spectra can be predicted at other times only, one
        with free traces at other energies only."""
        if self.problem.free is not None:
            need_same(self.problem)
            return predict_amplitudes(self.problem.free, self.ending, energy, time)
        return predict(self.problem, self.ending, energy, time)

    @cached_property
    def amplitudes(self) -> Amplitudes | None:
        """The amplitudes that were free at each energy or each time, with standard errors; None
        where the model has none."""
        problem = self.problem
        if problem.free is None:
            return None
        need_same(problem)
        return amplitudes_of(problem.free, self.ending)

    # further fits

    def refit(
        self,
        data: npt.ArrayLike | None = None,
        *,
        start: str = "best",
        model: Model | None = None,
        **options: Any,
    ) -> FitResult:
        """Fits again, from the best values, or with ``start="initial"`` from the original start.
        The saved settings are used unless `options` (of :func:`fit_model`) override them. `data`
        replace the original data, which an archive may not hold; of a joint fit it is a list of the
        data of each file. A changed `model` replaces the model; noise and settings stay the same.
        For one file of a joint fit, a warning names the shared parameters: they are then fitted to
        this file alone."""
        refit = late_import("pyspec.fit.again", "refit")
        result: FitResult = refit(self, data, start, model, options)
        return result

    @answered
    def conf_interval(
        self,
        p_names: str | Sequence[str] | None = None,
        sigmas: npt.ArrayLike = (1, 2, 3),
        *,
        trace: bool = False,
        progress: bool | Callable[[int, int], object] | None = None,
    ) -> Any:
        """Intervals by profile likelihood. One parameter is moved away from its best value, and the
        others are fitted again at every step. An interval ends where chi² has risen by as much as
        the probability requires.

        If the noise is known (weights, counts), this rise is z² for z standard deviations.
        Otherwise it follows from Fisher's distribution and chi² / (n - k), as in lmfit.
        `scale_covar` decides which, as for standard errors.

        Parameters
        ----------
        p_names : a free parameter or several; all if None
        sigmas : standard deviations, or probabilities below 1
        trace : also return the points that were tried
        progress : True for a bar, or a function (parameters done, all)

        Returns
        -------
        a dict that prints as a table
            name → [(probability, value), ...], as of :func:`lmfit.conf_interval`. The list runs
            from the far lower end over (0.0, best value) to the far upper end. An end at a bound is
            the bound; it is infinite where chi² never rises so much. With `trace` also name →
            {parameter: values, "prob": probabilities}.

        If a better optimum is found on the way, intervals stay about the values of the fit. They
        include the other optimum if no sufficiently high chi² lies between the two. A
        :class:`ModelWarning` says where it is, and so do the ``findings`` of the dict.

        Raises :class:`FitError` for one file of a joint fit, and for a fit without success that is
        not at its best optimum. Raises :class:`CallError` for a name that is not free."""
        if self._is_joint_member:
            raise FitError("this is one file of a joint fit; ask the joint result for intervals")
        need_fitted(self)
        from pyspec.fit.uncertainty.profile import confidence_intervals  # SciPy takes long

        return confidence_intervals(self, p_names, sigmas, trace, progress)

    @answered
    def sample(
        self,
        *,
        steps: int = 5000,
        nwalkers: int | None = None,
        burn: int = 0,
        thin: int = 1,
        sigma_ini: float | None = None,
        sigma_min: float | None = None,
        sigma_max: float | None = None,
        seed: int | None = None,
        progress: bool | Callable[[int, int], object] | None = None,
    ) -> MCMCResult:
        """Samples the posterior around this fit by Markov chains (emcee), and keeps the samples
        in `mcmc`; the fit stays as it is.

        Parameters
        ----------
        steps, nwalkers : steps of each walker; number of walkers, by default twice the number of
            free parameters, at least 20
        burn, thin : steps left out at the beginning; every thin-th step is kept
        sigma_ini, sigma_min, sigma_max : the noise that is sampled where none was declared; by
            default the rms of the residual, and 1/100 to 100 times as much
        seed : of the random number generator; the same seed gives the same chain
        progress : True for a bar, or a function (steps done, all)

        The posterior is flat within the bounds. Noise that was declared is taken as it is; else
        it is sampled too. A chain shorter than 50 autocorrelation times gives a
        :class:`ModelWarning`, kept in ``samples.cautions``. A fit that did not converge gives one
        too, and so does Ctrl-C, which keeps the steps so far (``samples.interrupted``). Raises
        :class:`FitError` without emcee.
        """
        settings = SampleSettings(
            steps=steps,
            nwalkers=nwalkers,
            burn=burn,
            thin=thin,
            sigma_ini=sigma_ini,
            sigma_min=sigma_min,
            sigma_max=sigma_max,
            seed=seed,
        )
        need_fitted(self)
        self.mcmc = sample(self, settings, progress)
        return self.mcmc

    # for people and other programs

    def _facts(self) -> dict[str, object]:
        """What was fitted, and how."""
        return {
            "model": self.model_name,
            "fit_type": self.fit_type,
            "file": self.file_name,
            "method": self.method,
            "backend": self.backend,
        }

    def to_xarray(self) -> xarray.Dataset:
        """An ``xarray.Dataset``. It has data, fit and residual on the axes of the window, with
        labels and units if these are known. Value, stderr and init of the parameters lie along
        ``parameter``. Free spectra or traces lie along ``amplitude``. Facts of the fit and its
        findings are attributes. The fit is NaN where it is not known."""
        facts = self._facts() | {
            "success": int(self.success),
            "findings": "\n".join(map(str, self.findings)),
            "model_text": self.problem.model.text,
        }
        facts |= {name: getattr(self, name) for name in ("message", "nfev", "chisqr", "redchi")}
        energy = None if self.is_trace else self.energy
        axis_by_name = {"time": self.time, "energy": energy}
        axes = {name: axis for name, axis in axis_by_name.items() if axis is not None}
        coords = {**axes, "parameter": list(self.table.names)}
        fit = open_fit(self, np.array(self.fit))
        arrays = {"data": np.array(self.data), "fit": fit, "residual": self.residual}
        variables: dict[str, object] = {
            name: (tuple(axes), array) for name, array in arrays.items()
        }
        for name in ("value", "stderr", "init"):
            column = [np.nan if value is None else value for value in self.table[name]]
            variables[name] = (("parameter",), np.array(column, dtype=np.float64))
        if (free := self.amplitudes) is not None:
            coords["amplitude"] = list(free.names)
            for name, values in (("amplitudes", free.known), ("amplitudes_stderr", free.stderr)):
                variables[name] = (("amplitude", free.axis), np.array(list(values.values())))
        return labelled(dataset(variables, coords, **facts), self.labels, self.units)

    def to_dict(self) -> dict[str, object]:
        """Everything but the arrays, as plain Python values that JSON can hold."""
        return {
            **self._facts(),
            **{name: getattr(self, name) for name in ("success", "interrupted", "message", "nfev")},
            "seconds": plain(self.seconds),
            "statistics": json_row(self.statistics),
            **{name: getattr(self, name) for name in ("n_data", "n_free", "chisqr", "redchi")},
            "degenerate": bool(self.without_effect),
            "level": self.level,
            "findings": self._plain_findings(),
            "at_bound": dict(self.at_bound),
            "intervals": {name: list(ends) for name, ends in self.intervals.items()},
            "without_effect": list(self.without_effect),
            "parameters": [json_row(row) for row in self.table.to_dict()],
            "correlations": {name: json_row(row) for name, row in self.correl.items()},
        }

    def plot(self, **options: object) -> Figure:
        """Data, fit and residual; returns the Figure. Options as of
        :func:`pyspec.plot.plot_fit`."""
        figure: Figure = late_import("pyspec.plot", "plot_fit")(self, **options)
        return figure

    def _lines(self) -> list[str]:
        state = state_of(self.success, self.without_effect)
        origin = f", from {self.started_from}" if self.started_from else ""
        time = f" in {self.seconds:.3g} s" if isfinite(self.seconds) else ""  # a stored slice
        if self.starts:
            agree = sum(start.agrees for start in self.starts)
            origin += f"; {agree} of {len(self.starts)} starts agree"
        return [
            title_of(self.fit_type, self.model_name, self.file_name),
            f"{self.method} on {self.backend}: {state}. {self.message}",
            f"{self.nfev} evaluations{time}{origin}; {self.n_data} points, "
            f"{self.n_free} free parameters",
            f"χ² {self.chisqr:.8g}, reduced χ² {self.redchi:.8g}",
            *([TOGETHER] if self._is_joint_member else []),
            *([] if self.spent is None else [str(self.spent)]),
            *self.finding_lines(),
        ]

    def __str__(self) -> str:
        return "\n".join([*self._lines(), str(self.table)])

    def __repr__(self) -> str:
        state = state_of(self.success, self.without_effect).lower()
        return (
            f"<FitResult {self.model_name} {self.fit_type or self.method}: {state}, "
            f"redchi {self.redchi:.6g}, nfev {self.nfev}>"
        )

    def _repr_html_(self) -> str:
        title, *lines = (escape(line) for line in self._lines())
        return f"<b>{title}</b><br>{'<br>'.join(lines)}" + html_table(self.table._cells())
