"""Pictures of fits: of a file, or of any list of fits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyspec.plot import plot_chain, plot_evolution, plot_fit, plot_residuals
from pyspec.plot.config import PlotConfig, PlotOptions
from pyspec.plot.stack import plot_stack
from pyspec.workflow.answers import FileAnswers
from pyspec.workflow.samples import samples_of
from pyspec.workflow.workspace import Workspace

if TYPE_CHECKING:
    from typing_extensions import Unpack


def _given(options: Mapping[str, Any], config: PlotConfig | None) -> dict[str, Any]:
    """Options that are not None, with a look where they have none."""
    given = {key: value for key, value in options.items() if value is not None}
    return {"config": config, **given}


def draw_fit(fit: Any, config: PlotConfig | None, options: Mapping[str, Any], show: bool) -> Any:
    """Data, fit and residual. Options as of :func:`pyspec.plot.plot_fit`."""
    return plot_fit(fit, **{"show": show, **_given(options, config)})


def draw_evolution(
    slices: Any,
    config: PlotConfig | None,
    params: Sequence[str] | None,
    options: Mapping[str, Any],
    show: bool,
) -> Any:
    """Parameters of slices against time, the free ones without `params`. Options as of
    :func:`pyspec.plot.plot_evolution`."""
    chosen = list(params) if params is not None else list(slices.free_names)
    given = {"params": chosen, "source": slices, "show": show, **_given(options, config)}
    return plot_evolution(slices.time, slices.values, slices.stderr, **given)


def draw_slices(
    found: Any,
    config: PlotConfig | None,
    slices: Sequence[int] | None,
    options: Mapping[str, Any],
    show: bool,
) -> Any:
    """Spectra of slices with their fits, above each other. Options as of
    :func:`pyspec.plot.plot_waterfall`."""
    given = {"rows": slices, "show": show, **_given(options, config)}
    return plot_stack(found, **given)


def draw_residuals(
    fits: Sequence[Any],
    config: PlotConfig | None,
    options: Mapping[str, Any],
    show: bool,
    figsize: tuple[float, float] | None = None,
) -> Any:
    """Residuals of several models beside each other. Options as of
    :func:`pyspec.plot.plot_residuals`."""
    given = {"show": show, "figsize": figsize, **_given(options, config)}
    return plot_residuals(fits, **given)


def draw_samples(
    fit: Any, config: PlotConfig | None, options: Mapping[str, Any], show: bool
) -> Any:
    """Distributions of the samples of a fit, with its best values. Options as of
    :func:`pyspec.plot.plot_chain`."""
    given = {"best": fit.values, "source": fit, "show": show, **_given(options, config)}
    return plot_chain(samples_of(fit), **given)


class FilePictures:
    """The part of a File that draws its fits, with the look that the project's settings give."""

    def __init__(self, project: Workspace, answers: FileAnswers) -> None:
        self.project = project
        self.answers = answers

    def plot_fit(
        self,
        /,
        *,
        model: str | None = None,
        fit_type: str | None = None,
        handle: str | None = None,
        show_plot: bool = False,
        **options: Unpack[PlotOptions],
    ) -> Any:
        """Data, fit and residual of the last fit; returns the Figure.

        Parameters
        ----------
        model, fit_type, handle : which fit, as of :meth:`pyspec.File.get_result`
        show_plot : whether to open a window, as `show`
        options : as of :func:`pyspec.plot.plot_fit`: fields of :class:`pyspec.plot.PlotConfig` by
            name, such as `full_range` and `show_init`; `config` in place of the project's, `ax` or
            `fig`, `save_path`, `show`
        """
        result = self.answers.get_result(model=model, fit_type=fit_type, handle=handle)
        show = bool(options.get("show")) or show_plot
        return draw_fit(result, self.project.plot_config, {**options, "show": show}, show)

    def plot_param_evolution(
        self,
        /,
        *,
        model: str | None = None,
        handle: str | None = None,
        params: Sequence[str] | None = None,
        config: PlotConfig | None = None,
        show: bool = False,
        show_plot: bool = False,
        **options: Any,
    ) -> Any:
        """Parameters of the last slice-by-slice fit against time; returns the Figure. Options as
        of :func:`pyspec.plot.plot_evolution`."""
        slices = self.answers.get_result(model=model, fit_type="sbs", handle=handle)
        given = {"config": config, **options}
        return draw_evolution(slices, self.project.plot_config, params, given, show or show_plot)

    def plot_sbs_slices(
        self,
        /,
        *,
        model: str | None = None,
        handle: str | None = None,
        slices: Sequence[int] | None = None,
        config: PlotConfig | None = None,
        show: bool = False,
        show_plot: bool = False,
        **options: Any,
    ) -> Any:
        """Spectra of the last slice-by-slice fit (those numbers of its window, or some) with
        their fits, above each other; returns the Figure. `data_slice` cuts energies, and times
        where `slices` does not name them. Options as of :func:`pyspec.plot.plot_waterfall`."""
        found = self.answers.get_result(model=model, fit_type="sbs", handle=handle)
        given = {"config": config, **options}
        return draw_slices(found, self.project.plot_config, slices, given, show or show_plot)

    def plot_mcmc(
        self,
        /,
        *,
        model: str | None = None,
        fit_type: str | None = None,
        handle: str | None = None,
        show: bool = False,
        show_plot: bool = False,
        **options: Any,
    ) -> Any:
        """The samples of the last fit: the distribution of each parameter and of each pair;
        returns the Figure. Options as of :func:`pyspec.plot.plot_chain`."""
        result = self.answers.get_result(model=model, fit_type=fit_type, handle=handle)
        return draw_samples(result, self.project.plot_config, options, show or show_plot)
