"""What fits answer, and how they are drawn: the calls that a File and a list of fits share."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

import numpy.typing as npt

from pyspec.calls import answered
from pyspec.errors import CallError, FitError, shortened, suggest
from pyspec.fit import FitResult, MCMCResult, SliceResults
from pyspec.fit.results.table import CorrelationTable, ParameterTable, need_pandas
from pyspec.plot import plot_chain, plot_evolution, plot_fit
from pyspec.plot.config import PlotConfig, PlotOptions
from pyspec.plot.figures.stack import plot_stack
from pyspec.plot.protocols import Fit
from pyspec.workflow.fitting.fits import FileFits
from pyspec.workflow.results.identity import (
    check_type,
    find_fit,
    kinds_of,
    matching,
    name_of_file,
    one_fit,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame
    from typing_extensions import Unpack

#: A file by its name, or given as the File.
OneFile: TypeAlias = FileFits | str

#: Columns of a table of parameters.
COLUMNS = ("name", "value", "stderr", "init_value", "min", "max", "vary", "expr")


class IntervalOptions(TypedDict, total=False):
    """What :meth:`pyspec.FitResult.conf_interval` takes."""

    p_names: str | Sequence[str] | None
    sigmas: npt.ArrayLike
    trace: bool
    progress: bool | Callable[[int, int], object] | None


class Answers:
    """Answers from fits, the last of which is meant unless `model`, `fit_type`, `file` or `handle`
    say otherwise. `handle` is a label, or the beginning of the handle of a fit."""

    def _all_fits(self) -> Sequence[Fit]:
        """The fits, in the order they were made."""
        raise NotImplementedError

    def _look(self) -> PlotConfig | None:
        """How pictures look whose options do not say it."""
        raise NotImplementedError

    @answered
    def get_result(
        self,
        *,
        model: str | None = None,
        fit_type: str | None = None,
        handle: str | None = None,
        file: OneFile | None = None,
    ) -> Fit:
        """The last fit, of that model and type if given: a FitResult, or SliceResults for "sbs".

        `fit_type` is "baseline", "spectrum", "2d", "trace" or "sbs" (slice by slice), as in all
        calls that ask for it; `handle` is a label, or the beginning of a fit's handle; `file` is
        for fits of several files. Raises :class:`FitError` where there is no such fit, or where
        several handles begin so.
        """
        made = self._all_fits()
        check_type(fit_type)
        if not isinstance(model, (str, type(None))):
            raise FitError(f"model is {shortened(model)}; give the name of one, or none for any")
        if not made:
            raise FitError("no fit yet; call fit_2d, fit_spectrum, fit_baseline or fit_trace first")
        names = (name_of_file(file), model, fit_type)
        matches = matching(made, *(None if name is None else [name] for name in names))
        if matches:
            return matches[-1] if handle is None else find_fit(matches, handle)
        hint = suggest(model, [fit.model_name for fit in made]) if model else ""
        if fit_type == "sbs" and not hint:
            hint = "; fit the slices first: file.fit_slice_by_slice('name')"
        wanted = " ".join(name for name in (fit_type, model) if name)
        where = "" if file is None else f" to {names[0]}"
        text = f"no fit {wanted} yet{where}{hint}; fits so far: {kinds_of(made)}"
        raise FitError(text.replace("  ", " "))

    # tables

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
        """All parameters of the last fit (of that model and type) as a DataFrame. Its columns are
        name, value, stderr, init_value, min, max, vary, expr. Slices have one row a slice and one
        column a parameter.

        With ``table=True``, or without pandas, a :class:`pyspec.ParameterTable`. For slices the
        DataFrame of :meth:`pyspec.SliceResults.to_dataframe`, with standard errors and status.
        """
        fit = self.get_result(model=model, fit_type=fit_type, handle=handle, file=file)
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
        """Correlations of the free parameters of the last fit (of that model and type). The result
        is a DataFrame with their names on both sides. With ``table=True``, or without pandas, it is
        a table of its own: ``table["a", "b"]``."""
        fit = self.get_result(model=model, fit_type=fit_type, handle=handle, file=file)
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
        **options: Unpack[IntervalOptions],
    ) -> DataFrame:
        """Computes intervals by profile likelihood for the last fit (of that model and type): a
        DataFrame with a row for each parameter and a column for each probability. `p_names`,
        `sigmas` and `progress` are those of :meth:`pyspec.FitResult.conf_interval`."""
        fit = self.get_result(model=model, fit_type=fit_type, handle=handle, file=file)
        if options.get("trace"):
            raise CallError(
                "get_confidence_intervals: the points that were tried do not go into its table; "
                "call result.conf_interval(trace=True), with the result of the fit"
            )
        rows = {}
        for name, pairs in one_fit(fit, "intervals").conf_interval(**options).items():
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
        """The samples of the last fit (of that model and type), made by
        :meth:`pyspec.FitResult.sample`. Raises :class:`FitError` where there are none."""
        return _samples_of(
            self.get_result(model=model, fit_type=fit_type, handle=handle, file=file)
        )

    # pictures

    def _plot_options(self, options: PlotOptions, show: bool) -> PlotOptions:
        """The options of a picture that are not None; `show` opens a window, as the option does."""
        chosen: Any = {key: value for key, value in options.items() if value is not None}
        drawn: PlotOptions = chosen
        return {"config": self._look(), **drawn, "show": show or drawn.get("show", False)}

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
        """Data, fit and residual of the last fit; returns the Figure.

        Parameters
        ----------
        model, fit_type, handle : which fit, as of :meth:`pyspec.File.get_result`; of fits of
            several files `file`, too
        show_plot : whether to open a window, as `show`
        options : as of :func:`pyspec.plot.plot_fit`: fields of :class:`pyspec.plot.PlotConfig` by
            name, such as `full_range` and `show_init`; `config` in place of the project's, `ax` or
            `fig`, `save_path`, `show`
        """
        fit = self.get_result(model=model, fit_type=fit_type, handle=handle, file=file)
        return plot_fit(fit, **self._plot_options(options, show_plot))

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
        """Parameters of the last slice-by-slice fit against time, the free ones without `params`;
        returns the Figure. Options as of :func:`pyspec.plot.plot_evolution`."""
        slices = self.get_result(model=model, fit_type=fit_type, handle=handle, file=file)
        if not isinstance(slices, SliceResults):
            raise FitError(
                f"the {slices.fit_type} fit of {slices.model_name} has one value for each "
                "parameter; values over time are those of slices, fit_type='sbs', of "
                "fit_slice_by_slice"
            )
        chosen = list(slices.free_names if params is None else params)
        return plot_evolution(
            slices.time, slices.values, slices.stderr, params=chosen, source=slices,
            **self._plot_options(options, show_plot),
        )  # fmt: skip

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
        """Spectra of the last slice-by-slice fit (those numbers of its window, or some) with
        their fits, above each other; returns the Figure. `data_slice` cuts energies, and times
        where `slices` does not name them. Options as of :func:`pyspec.plot.plot_waterfall`."""
        fit = self.get_result(model=model, fit_type=fit_type, handle=handle, file=file)
        return plot_stack(fit, rows=slices, **self._plot_options(options, show_plot))

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
        """The samples of the last fit: the distribution of each parameter and of each pair;
        returns the Figure. Options as of :func:`pyspec.plot.plot_chain`."""
        fit = self.get_result(model=model, fit_type=fit_type, handle=handle, file=file)
        return self._plot_samples(fit, options, show_plot)

    def _plot_samples(self, fit: Fit, options: PlotOptions, show: bool) -> Figure:
        samples, best = _samples_of(fit), one_fit(fit, "samples").values
        return plot_chain(samples, best=best, source=fit, **self._plot_options(options, show))


def parameter_rows(fit: FitResult) -> list[tuple[object, ...]]:
    """The parameters of a fit, a row of :data:`COLUMNS` each."""
    return [(r.name, r.value, r.stderr, r.init, r.min, r.max, r.vary, r.expr) for r in fit.table]


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
