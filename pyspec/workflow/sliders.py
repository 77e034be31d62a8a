"""The sliders of a file: start values by hand, and fits from there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pyspec.errors import DataError
from pyspec.fit import FitResult
from pyspec.model import Measurement, Model
from pyspec.plot.config import Look
from pyspec.plot.sliders import Moved, Sliders, opened_sliders
from pyspec.workflow.fits import FileFits
from pyspec.workflow.workspace import Workspace

if TYPE_CHECKING:
    from typing_extensions import Unpack

#: What a fit says of its start values that was started beside sliders.
FROM_SLIDERS = "the sliders"


class FileSliders:
    """The part of a File whose models are moved by hand."""

    def __init__(self, project: Workspace, fits: FileFits) -> None:
        self.project = project
        self.fits = fits

    def plot_sliders(
        self,
        /,
        model_name: str,
        *,
        time_point: float | None = None,
        time_range: tuple[float | None, float | None] | None = None,
        time_type: str = "abs",
        names: Sequence[str] | None = None,
        seed_source: str | None = None,
        show: bool = True,
        **options: Unpack[Look],
    ) -> Sliders:
        """Opens a window, or in a notebook a box under the cell, with the data, a model and one
        slider for each of its free parameters; see :func:`pyspec.plot.plot_sliders`.

        The sliders begin at the start values of the next fit, and that fit starts from where they
        were left; after a baseline fit give ``fit_2d(..., seed_source="model")``, else the series
        starts from the baseline. Fits by the button are fits of this file.

        Parameters
        ----------
        time_point, time_range, time_type : one spectrum of a series, as of :meth:`fit_spectrum`;
            without, the series as :meth:`fit_2d` fits it
        names : the parameters that get sliders, fixed ones too; None: the free ones
        seed_source : where the sliders begin, as of :meth:`fit_2d`
        show, options : as of :func:`pyspec.plot.plot_sliders`
        """
        fits = self.fits
        self._refuse_trace(getattr(model_name, "name", model_name))
        if fits.data.need_data().ndim == 2 and time_point is None and time_range is None:
            kind, rows = "2d", None
            model, measurement, _ = fits.prepared_2d(model_name, seed_source)
        else:
            kind, when = "spectrum", (time_point, time_range, time_type)
            model, measurement, _, rows = fits.prepared_spectrum(model_name, *when, seed_source)

        def fit(model: Model, measurement: Measurement, **given: Any) -> FitResult:
            result = fits.fitted(model, measurement, kind, FROM_SLIDERS, 1, given)
            if kind == "spectrum":
                fits.spectrum_rows = rows
            return result

        moved = Moved(model, measurement, fits.models.taker(model_name), fit)
        given: Any = {"config": self.project.plot_config, **options}
        return opened_sliders(moved, names, show, given)

    def _refuse_trace(self, model_name: str) -> None:
        """A file keeps models of energies alone; one of a trace is named where it is fitted."""
        data = self.fits.data
        if data.need_data().ndim == 1 and data.energy is None:
            raise DataError(
                f"file {data.name!r} holds a trace, whose models are not kept in the file; write "
                f'model = load_time_model("models.yaml", {model_name!r}), '
                "model.set_axes(time=file.time) and pyspec.plot.plot_sliders(model, file.data), "
                "then file.fit_trace(model)"
            )
