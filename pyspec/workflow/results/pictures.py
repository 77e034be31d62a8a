"""Pictures of fits: of a file, or of any list of fits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyspec.errors import FitError
from pyspec.fit import SliceResults
from pyspec.plot import plot_chain, plot_evolution, plot_fit
from pyspec.plot.config import PlotConfig, PlotOptions
from pyspec.plot.figures.stack import plot_stack
from pyspec.plot.protocols import Fit
from pyspec.workflow.fitting.samples import samples_of
from pyspec.workflow.results.queries import FileAnswers
from pyspec.workflow.workspace import Workspace

if TYPE_CHECKING:
    from typing_extensions import Unpack


def given_look(
    options: Mapping[str, object], config: PlotConfig | None, show: bool
) -> dict[str, Any]:
    """The options of a picture that are not None, with the look `config` where they have none;
    `show` opens a window, as the option does."""
    given = {key: value for key, value in options.items() if value is not None}
    return {"config": config, **given, "show": show or bool(given.get("show"))}


def draw_evolution(
    slices: SliceResults, params: Sequence[str] | None, options: Mapping[str, Any]
) -> Any:
    """Parameters of slices against time, the free ones without `params`. Raises
    :class:`FitError` for any other fit."""
    if slices.fit_type != "sbs":
        raise FitError(
            f"the {slices.fit_type} fit of {slices.model_name} has one value for each parameter; "
            "values over time are those of slices, fit_type='sbs', of fit_slice_by_slice"
        )
    chosen = list(params) if params is not None else list(slices.free_names)
    given = {"params": chosen, "source": slices, **options}
    return plot_evolution(slices.time, slices.values, slices.stderr, **given)


def draw_samples(fit: Fit, options: Mapping[str, Any]) -> Any:
    """Distributions of the samples of a fit, with its best values."""
    given = {"best": fit.values, "source": fit, **options}
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
        return plot_fit(result, **given_look(options, self.project.plot_config, show_plot))

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
        look = {"config": config, **options}
        given = given_look(look, self.project.plot_config, show or show_plot)
        return draw_evolution(slices, params, given)

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
        look = {"config": config, "rows": slices, **options}
        return plot_stack(found, **given_look(look, self.project.plot_config, show or show_plot))

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
        given = given_look(options, self.project.plot_config, show or show_plot)
        return draw_samples(result, given)
