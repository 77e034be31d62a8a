"""What scripts of trspecfit ask of a File, or of a list of fits, about one of its fits."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from pyspec.calls import answered
from pyspec.errors import FitError
from pyspec.fit import MCMCResult, SliceResults
from pyspec.fit.results.table import CorrelationTable, ParameterTable, need_pandas
from pyspec.plot import plot_chain, plot_fit, plot_residuals
from pyspec.plot.config import PlotOptions
from pyspec.plot.figures.stack import plot_stack
from pyspec.plot.protocols import Fit
from pyspec.workflow import FitResults
from pyspec.workflow.results.export import COLUMNS, Folder, components_of, parameter_rows
from pyspec.workflow.results.identity import last_fit, matching, one_fit
from pyspec.workflow.results.results import Files, OneFile

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame
    from typing_extensions import Unpack


class AnswerNames:
    """Names that a File and a FitResults get. `model`, `fit_type`, `handle` and of several files
    `file` say which fit is meant, as of :meth:`pyspec.File.get_result`."""

    @answered
    def get_parameters(
        self,
        *,
        model: str | None = None,
        fit_type: str | None = None,
        handle: str | None = None,
        file: OneFile | None = None,
        table: bool = False,
    ) -> DataFrame | ParameterTable:
        """All parameters of the fit as a DataFrame with the columns name, value, stderr,
        init_value, min, max, vary, expr. Slices have one row a slice and one column a parameter.

        With ``table=True``, or without pandas, a :class:`pyspec.ParameterTable`. For slices the
        DataFrame of :meth:`pyspec.SliceResults.to_dataframe`, with standard errors and status.
        """
        fit = _fit_of(self, file, model, fit_type, handle)
        is_plain = table or not _has_pandas()
        if isinstance(fit, SliceResults):
            return fit.to_dataframe() if is_plain else need_pandas().DataFrame(dict(fit.values))
        if is_plain:
            return fit.table
        rows = parameter_rows(fit)
        frame = need_pandas().DataFrame(rows, columns=list(COLUMNS)).astype({"vary": bool})
        return frame.astype(dict.fromkeys(("value", "stderr", "init_value", "min", "max"), float))

    @answered
    def get_correlations(
        self,
        *,
        model: str | None = None,
        fit_type: str | None = None,
        handle: str | None = None,
        file: OneFile | None = None,
        table: bool = False,
    ) -> DataFrame | CorrelationTable:
        """Correlations of the free parameters as a DataFrame with their names on both sides; with
        ``table=True``, or without pandas, a table of its own: ``table["a", "b"]``."""
        fit = _fit_of(self, file, model, fit_type, handle)
        correlations = one_fit(fit, "correlations").correlations
        return correlations if table or not _has_pandas() else correlations.to_dataframe()

    @answered
    def get_confidence_intervals(
        self,
        *,
        model: str | None = None,
        fit_type: str | None = None,
        handle: str | None = None,
        file: OneFile | None = None,
        p_names: str | Sequence[str] | None = None,
        sigmas: npt.ArrayLike = (1, 2, 3),
        progress: bool | Callable[[int, int], object] | None = None,
    ) -> DataFrame:
        """Intervals by profile likelihood: a DataFrame with a row for each parameter and a column
        for each probability. `p_names`, `sigmas` and `progress` are those of
        :meth:`pyspec.FitResult.conf_interval`."""
        fit = one_fit(_fit_of(self, file, model, fit_type, handle), "intervals")
        found = fit.conf_interval(p_names=p_names, sigmas=sigmas, progress=progress)
        rows = {}
        for name, pairs in found.items():
            signs = [*"-" * (len(pairs) // 2), "", *"+" * (len(pairs) // 2)]
            rows[name] = {
                f"{sign}{_percent(level)}" if sign else "best": float(value)
                for sign, (level, value) in zip(signs, pairs, strict=True)
            }
        return need_pandas().DataFrame.from_dict(rows, orient="index")

    @answered
    def get_mcmc(
        self,
        *,
        model: str | None = None,
        fit_type: str | None = None,
        handle: str | None = None,
        file: OneFile | None = None,
    ) -> MCMCResult:
        """The samples of the fit, made by :meth:`pyspec.FitResult.sample`. Raises
        :class:`FitError` where there are none."""
        return _samples_of(_fit_of(self, file, model, fit_type, handle))

    @answered
    def plot_fit(
        self,
        /,
        *,
        model: str | None = None,
        fit_type: str | None = None,
        handle: str | None = None,
        file: OneFile | None = None,
        show_plot: bool = False,
        **options: Unpack[PlotOptions],
    ) -> Figure:
        """Data, fit and residual; options as of :func:`pyspec.plot.plot_fit`. Returns the Figure,
        as all pictures do; `show_plot` opens a window."""
        fit = _fit_of(self, file, model, fit_type, handle)
        return plot_fit(fit, **_options(self, options, show_plot))

    @answered
    def plot_param_evolution(
        self,
        /,
        *,
        model: str | None = None,
        fit_type: str = "sbs",
        handle: str | None = None,
        file: OneFile | None = None,
        params: Sequence[str] | None = None,
        show_plot: bool = False,
        **options: Unpack[PlotOptions],
    ) -> Figure:
        """Parameters of slices against time, the free ones without `params`; options as of
        :func:`pyspec.plot.plot_evolution`."""
        slices = _fit_of(self, file, model, fit_type, handle)
        if not isinstance(slices, SliceResults):
            raise FitError(
                f"the {slices.fit_type} fit of {slices.model_name} has one value for each "
                "parameter; values over time are those of slices, fit_type='sbs'"
            )
        return slices.plot(params, **_options(self, options, show_plot))

    @answered
    def plot_sbs_slices(
        self,
        /,
        *,
        model: str | None = None,
        fit_type: str = "sbs",
        handle: str | None = None,
        file: OneFile | None = None,
        slices: Sequence[int] | None = None,
        show_plot: bool = False,
        **options: Unpack[PlotOptions],
    ) -> Figure:
        """Spectra of slices with their fits above each other; `slices` are numbers in the fit
        window. Options as of :func:`pyspec.plot.plot_stack`."""
        fit = _fit_of(self, file, model, fit_type, handle)
        return plot_stack(fit, rows=slices, **_options(self, options, show_plot))

    @answered
    def plot_mcmc(
        self,
        /,
        *,
        model: str | None = None,
        fit_type: str | None = None,
        handle: str | None = None,
        file: OneFile | None = None,
        show_plot: bool = False,
        **options: Unpack[PlotOptions],
    ) -> Figure:
        """The samples of the fit, the distribution of each parameter and of each pair; options as
        of :func:`pyspec.plot.plot_chain`."""
        fit = _fit_of(self, file, model, fit_type, handle)
        return _plot_samples(fit, **_options(self, options, show_plot))


class FitResultsNames:
    """Names that FitResults alone gets."""

    def plot_residuals(
        self: Any,
        *,
        file: OneFile,
        models: Sequence[str] | None = None,
        fit_type: str | None = None,
        show_plot: bool = False,
        **options: Unpack[PlotOptions],
    ) -> Figure:
        """The residuals of several models beside each other, on one scale.

        Raises :class:`FitError` where the fits are of several types: name one by `fit_type`.
        """
        made = self.find(file=file, fit_type=fit_type)
        matches = matching(made, None, models)
        types = sorted({fit.fit_type for fit in matches})
        if len(types) != 1:
            raise FitError(f"choose one fit_type; such fits are of: {', '.join(types) or 'none'}")
        return plot_residuals(matches, **_options(self, options, show_plot))

    def plot_joint_mcmc(
        self: Any,
        *,
        model: str | None = None,
        files: Files = None,
        show_plot: bool = False,
        **options: Unpack[PlotOptions],
    ) -> Figure:
        """The samples of the joint fit of this model, as :meth:`AnswerNames.plot_mcmc`."""
        joint = self.get_joint(model=model, files=files)
        return _plot_samples(joint, **_options(self, options, show_plot))


def save_spectrum(file: Any, fit_type: str, save_path: str | Path) -> Path:
    """Writes ``fit_1d.csv`` of the last fit of a type into a folder: all energies, the model
    (`sum`) and each component. Returns its path."""
    fit = one_fit(file.get_result(fit_type=fit_type), "spectrum")
    folder = Folder(file.project.output(save_path, ""), file.project)
    energy = fit.model.energy
    assert energy is not None
    columns = {"energy": energy, "sum": fit.curve(whole=True), **components_of(fit, whole=True)}
    folder.columns("fit_1d.csv", columns)
    return folder.path / "fit_1d.csv"


def _fit_of(
    owner: Any, file: OneFile | None, model: str | None, fit_type: str | None, handle: str | None
) -> Fit:
    fits = owner if isinstance(owner, FitResults) else owner.results
    return last_fit(fits, file, model, fit_type, handle)


def _options(owner: Any, options: PlotOptions, show: bool) -> PlotOptions:
    """The options of a picture that are not None; it looks as the project says."""
    config = owner.config if isinstance(owner, FitResults) else owner.project.plot_config
    chosen: Any = {key: value for key, value in options.items() if value is not None}
    drawn: PlotOptions = chosen
    return {"config": config, **drawn, "show": show or drawn.get("show", False)}


def _plot_samples(fit: Fit, **options: Unpack[PlotOptions]) -> Figure:
    best = one_fit(fit, "samples").values
    return plot_chain(_samples_of(fit), best=best, source=fit, **options)


def _samples_of(fit: Fit) -> MCMCResult:
    samples: MCMCResult | None = getattr(fit, "mcmc", None)
    if samples is None and getattr(fit, "_is_joint_member", False):
        raise FitError(
            f"{fit.file_name} is one file of a joint fit of {fit.model_name}, which has no "
            "samples; call project.results.get_joint().sample()"
        )
    if samples is None:
        raise FitError(
            f"the {fit.fit_type} fit of {fit.model_name} has no samples; call result.sample()"
        )
    return samples


def _has_pandas() -> bool:
    return find_spec("pandas") is not None


def _percent(level: float) -> str:
    """A probability in percent, with two digits of what is left to 100, at least two decimals:
    five standard deviations are 99.999943%."""
    left = 100.0 * (1.0 - level)
    digits = max(2, 1 - math.floor(math.log10(left))) if left > 0.0 else 2
    return f"{100.0 * level:.{digits}f}%"
