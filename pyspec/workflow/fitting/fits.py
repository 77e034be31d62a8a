"""The fits of a file: one spectrum, its baseline, every slice, all times, a trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspec.calls import answered, say
from pyspec.errors import DataError, FitError
from pyspec.fit import (
    FitResult,
    SliceResults,
    fit_model,
    fit_slices,
    fit_trace,
)
from pyspec.fit.interrupts import Hold, held
from pyspec.fit.options import FitOptions, SharedOptions
from pyspec.fit.single import time_model
from pyspec.model import Measurement, Model
from pyspec.model.build.inputs import own_inputs, refuse_misspelt
from pyspec.model.data.windows import slice_of, spectrum_rows
from pyspec.plot import plot_fit
from pyspec.plot.figure import as_remark
from pyspec.plot.protocols import Fit
from pyspec.workflow.fitting.seeds import (
    BASELINE,
    MODEL_VALUES,
    SOURCES,
    STILL_SOURCES,
    check_source,
    seed_from,
    slice_seeds,
)
from pyspec.workflow.models import FileModels
from pyspec.workflow.results.identity import stamp

if TYPE_CHECKING:
    from typing_extensions import Unpack


class FileFits(FileModels):
    """The part of a File that fits its models to its data, and keeps what came out."""

    def __init__(self, *arguments: Any, **options: object) -> None:
        super().__init__(*arguments, **options)
        #: The fits, in the order they were made.
        self.results: list[Fit] = []
        #: Half-open range of rows of the last spectrum that was fitted; None for 1D data.
        self._spectrum_rows: tuple[int, int] | None = None

    @answered
    @held
    def fit_baseline(
        self,
        /,
        model_name: str,
        *,
        seed_source: str | None = None,
        **options: Unpack[SharedOptions],
    ) -> FitResult:
        """Fits one model to the baseline spectrum. Parameters that move take part with their static
        values.

        `seed_source="model"` starts from the values of the model file (or set since by hand); by
        default a second fit starts from what the last one found. Options, such as `method`, as of
        :func:`pyspec.fit_model`.

        Raises :class:`DataError` before :meth:`define_baseline`, :class:`ModelError` for a model
        that is not loaded, :class:`FitError` as `fit_model` does.
        """
        measurement = self._mean(self._need_baseline())
        model, origin = self._still(model_name, seed_source)
        return self._fitted(model, measurement, "baseline", origin, options)

    def _still(self, model_name: str, seed_source: str | None) -> tuple[Model, str]:
        """A model of one spectrum with its start values, and where these come from."""
        check_source(seed_source, STILL_SOURCES)
        model = self._prepared(model_name, time=False)
        if seed_source == "model":
            self._forget_fits(model)
            return model, MODEL_VALUES
        return model, self._origin(model.name)

    @answered
    @held
    def fit_spectrum(
        self,
        /,
        model_name: str,
        *,
        time_point: float | None = None,
        time_range: tuple[float | None, float | None] | None = None,
        time_type: str = "abs",
        show_plot: bool = False,
        seed_source: str | None = None,
        **options: Unpack[SharedOptions],
    ) -> FitResult:
        """Fits one spectrum: the row nearest to `time_point`, the mean over `time_range`
        (start, stop), both included, or 1D data as they are. With `time_type` "ind" both are
        numbers of rows. `seed_source` and options as of :meth:`fit_baseline`.

        Raises :class:`DataError` for times that the data do not have, or none of a series."""
        when = time_point, time_range, time_type
        model, measurement, origin, rows = self._prepared_spectrum(model_name, *when, seed_source)
        result = self._fitted(model, measurement, "spectrum", origin, options)
        self._spectrum_rows = rows
        if show_plot:
            with as_remark("picture"):
                plot_fit(result, show=True)
        return result

    def _prepared_spectrum(
        self,
        model_name: str,
        time_point: float | None,
        time_range: object,
        time_type: str,
        seed_source: str | None = None,
    ) -> tuple[Model, Measurement, str, tuple[int, int] | None]:
        """The model with its start values, the spectrum, where the start values come from, and the
        rows of the spectrum; for :meth:`fit_spectrum`."""
        time = None if self._need_data().ndim == 1 else self._need_axis("time")
        rows = spectrum_rows(time, time_point, time_range, time_type)
        if rows is None:
            measurement = self._whole()
        elif time_point is not None:
            measurement = self._row(rows[0])
        else:
            measurement = self._mean(rows)
        model, origin = self._still(model_name, seed_source)
        return model, measurement, origin, rows

    @answered
    @held
    def fit_2d(
        self,
        /,
        model_name: str,
        *,
        seed_source: str | None = None,
        **options: Unpack[SharedOptions],
    ) -> FitResult:
        """Fits one model to all spectra of the window together; one without dynamics is the same
        at all times.

        `seed_source="baseline"` starts from the best values of the last baseline fit, matched by
        name. So does a parameter that the model file fixes, if it was free in the baseline. One
        that is fixed in both, or fixed by hand, keeps its value. "model" starts from the values of
        the model file, or those set since by hand. By default: the last baseline, if there is one,
        and for other parameters the values of the last fit. `result.started_from` says which it
        was. Options as of :func:`pyspec.fit_model`.
        """
        model, measurement, origin = self._prepared_2d(model_name, seed_source)
        return self._fitted(model, measurement, "2d", origin, options)

    def _prepared_2d(
        self, model_name: str, seed_source: str | None
    ) -> tuple[Model, Measurement, str]:
        """The model with its start values, the data, and where the start values come from; for
        :meth:`fit_2d` or a joint fit."""
        self._need_data(2)
        check_source(seed_source, SOURCES)
        model = self._prepared(model_name, time=True)
        measurement = self._whole()
        if seed_source == "model":
            self._forget_fits(model)
            return model, measurement, MODEL_VALUES
        baseline = self._last_baseline()
        if baseline is not None:
            seed_from(model, baseline, self._set_by_hand(model.name))
            return model, measurement, BASELINE
        if seed_source == "baseline":
            raise FitError(
                "seed_source='baseline', but no baseline was fitted yet; call fit_baseline"
            )
        return model, measurement, self._origin(model.name)

    def _last_baseline(self) -> FitResult | None:
        for result in reversed(self.results):
            if isinstance(result, FitResult) and result.fit_type == "baseline":
                return result
        return None

    @answered
    @held
    def fit_slice_by_slice(
        self,
        /,
        model_name: str,
        *,
        seed_source: str | None = None,
        seed_values: object = None,
        seed_adapt: str | None = "argmax_shift",
        **options: Unpack[FitOptions],
    ) -> SliceResults:
        """Fits one model to every spectrum of the window, each on its own.

        Parameters
        ----------
        seed_source : "baseline" (default if one was fitted), "model", or "explicit" with
            `seed_values`. These are name → number or (n_slices,), a DataFrame of such columns, a
            list of dicts, or fitted slices, whose values the free parameters take
        seed_adapt : "argmax_shift" shifts the start of every free ``x0`` with the maximum of the
            slice, or against it for lines that part. A shifted start is used only if it is nearer
            to the slice. None shifts nothing
        options : as of :func:`pyspec.fit.fit_slices`

        A slice that fails, or Ctrl-C, loses no other slice.
        """
        self._need_data(2)
        time = self._need_axis("time")
        model, series = self._prepared(model_name, time=False), self._whole()
        times = time[slice_of(series.rows)]
        baseline = self._last_baseline()
        origin = self._origin(model.name)
        if seed_source == "model":
            self._forget_fits(model)
            origin = MODEL_VALUES
        if seed_source is None:
            chosen = "baseline" if baseline is not None else "model"
            seed_source = "explicit" if seed_values is not None else chosen
        origin = {"explicit": "seed_values", "baseline": BASELINE}.get(seed_source, origin)
        hand = self._set_by_hand(model.name)
        seeds = slice_seeds(
            model, series, times, seed_source, seed_values, seed_adapt, baseline, hand
        )
        with Hold() as hold:
            slices = fit_slices(
                model,
                series,
                seeds=seeds,
                times=times,
                **self._options(options),
            ).diagnose()
            slices.file_name, slices.started_from = self.name, origin
            slices.folder = self.project.path
            self._add_result(slices)
            return hold.mark(slices)

    @answered
    @held
    def fit_trace(
        self,
        /,
        model_yaml: str | Path | Model,
        model: str | Sequence[str] | None = None,
        **options: Unpack[FitOptions],
    ) -> FitResult:
        """Fits time laws to a file of values against time: ``File(data=(n,), time=(n,))``.

        `model` names a model of time laws in the file `model_yaml`; or `model_yaml` is a Model.
        Options as of :func:`pyspec.fit.fit_trace`.
        """
        data = self._need_data(1)
        if self.energy is not None:
            raise DataError(
                f"file {self.name!r} holds a spectrum; a trace has a time axis and no energies"
            )
        source = model_yaml if isinstance(model_yaml, Model) else self.project.resolve(model_yaml)
        chosen = time_model(source, model)
        fit_options = {**self._options(options), "measurement": self._whole()}
        fit_options["inputs"] = own_inputs(chosen, self.inputs) or None
        refuse_misspelt(chosen, self.inputs)
        with Hold() as hold:
            result = fit_trace(
                chosen, None, self._need_axis("time"), data, **fit_options
            ).diagnose()
            result.file_name = self.name
            self._add_result(result)
            return hold.mark(result)

    def _options(self, options: Mapping[str, object]) -> dict[str, Any]:
        defaults = {"backend": self.project.backend, "progress": self.project.show_output}
        if self.noise.is_known:
            defaults["scale_covar"] = False
        return {**defaults, **options}

    def _fitted(
        self,
        model: Model,
        measurement: Measurement,
        fit_type: str,
        origin: str,
        options: Mapping[str, object],
    ) -> FitResult:
        """Fits, and keeps the result and its values; `origin` says where its start comes from."""
        with Hold() as hold:
            result = fit_model(model, measurement, **self._options(options)).diagnose()
            result.fit_type, result.file_name = fit_type, self.name
            result.started_from = origin
            self._store(result)
            self._add_result(result)
            return hold.mark(result)

    def _add_result(self, result: FitResult | SliceResults) -> None:
        stamp(result)
        self.results.append(result)
        if self.project.show_output:
            say(result)


def refuse_twins(names: Sequence[str]) -> None:
    """Raises :class:`FitError` for two files of one name, whose results none could tell apart."""
    for index, name in enumerate(names):
        if name in names[:index]:
            raise FitError(
                f"files {names.index(name)} and {index} of the project are both called {name!r}; "
                "give each its own name, File(project, name=...); a cell that was run twice makes "
                "its file twice: start with a new Project"
            )
