"""The fits of a file: one spectrum, its baseline, every slice, all times, a trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pyspec.errors import DataError, FitError
from pyspec.fit import FitResult, SliceResults, fit_model, fit_slices, fit_trace
from pyspec.model import Measurement, Model
from pyspec.workflow.modelled import Modelled
from pyspec.workflow.seeds import seed_from, slice_seeds
from pyspec.workflow.windows import nearest_row, row_range


class Fitted(Modelled):
    """The part of a File that fits, and keeps what came out."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.results: list[Any] = []

    def fit_baseline(self, model_name: str, stages: int = 1, **options: Any) -> FitResult:
        """Fits one model to the baseline spectrum. Options as of :func:`pyspec.fit_model`."""
        measurement = self._mean(self._need_baseline())
        model = self._prepared(model_name, time=False)
        return self._fit(model, measurement, "baseline", stages, options)

    def fit_spectrum(
        self,
        model_name: str,
        *,
        time_point: float | None = None,
        time_range: tuple[float, float] | None = None,
        time_type: str = "abs",
        stages: int = 1,
        show_plot: bool = False,
        **options: Any,
    ) -> FitResult:
        """Fits one spectrum: the row nearest to `time_point`, the mean over `time_range`
        (inclusive), or 1D data as they are."""
        data = self._need_data()
        if data.ndim == 1:
            if time_point is not None or time_range is not None:
                raise DataError("the data are one spectrum; leave time_point and time_range out")
            measurement = self._whole()
        elif (time_point is None) == (time_range is None):
            raise DataError("give either time_point or time_range=(start, stop)")
        elif time_point is not None:
            measurement = self._row(nearest_row(self._need_axis("time"), time_point, time_type))
        else:
            assert time_range is not None
            rows = row_range(self._need_axis("time"), *time_range, time_type)
            measurement = self._mean(rows)
        model = self._prepared(model_name, time=False)
        result = self._fit(model, measurement, "spectrum", stages, options)
        if show_plot:
            from pyspec.plot import plot_fit

            plot_fit(result, show=True)
        return result

    def fit_2d(
        self,
        model_name: str,
        stages: int = 1,
        *,
        seed_source: str | None = None,
        **options: Any,
    ) -> FitResult:
        """Fits one model to all spectra of the window together; one without dynamics is the same
        at all times.

        `seed_source="baseline"` starts from the best values of the last baseline fit, matched
        by name, fixed parameters included; "model" from the values in the model. By default:
        baseline where one was fitted. Options as of :func:`pyspec.fit_model`.
        """
        model, measurement = self._prepared_2d(model_name, seed_source)
        return self._fit(model, measurement, "2d", stages, options)

    def _prepared_2d(self, model_name: str, seed_source: str | None) -> tuple[Model, Measurement]:
        self._need_data(2)
        model = self._prepared(model_name, time=True)
        if seed_source not in (None, "baseline", "model"):
            raise FitError(f"seed_source must be 'baseline' or 'model', not {seed_source!r}")
        if seed_source != "model":
            baseline = self._last_baseline()
            if baseline is not None:
                seed_from(model, baseline)
            elif seed_source == "baseline":
                raise FitError(
                    "seed_source='baseline', but no baseline was fitted yet; call fit_baseline"
                )
        return model, self._whole()

    def _last_baseline(self) -> FitResult | None:
        found = [result for result in self.results if result.fit_type == "baseline"]
        return found[-1] if found else None

    def fit_slice_by_slice(
        self,
        model_name: str,
        stages: int = 1,
        n_workers: int | None = None,
        *,
        seed_source: str | None = None,
        seed_values: Any = None,
        seed_adapt: str | None = "argmax_shift",
        workers: str = "processes",
        **options: Any,
    ) -> SliceResults:
        """Fits one model to every spectrum of the window, each on its own.

        Parameters
        ----------
        n_workers : None runs one after the other, at 1 to 3 ms a slice; several workers pay from
            some thousands of slices on
        seed_source : "baseline" (default where one was fitted), "model", or "explicit" with
            `seed_values`: name → number or (n_slices,), a DataFrame of such columns, or a list of
            dicts
        seed_adapt : "argmax_shift" shifts the start of every free ``x0`` with the maximum of the
            slice; None does not
        workers : "processes" (a script then needs ``if __name__ == "__main__":``) or "threads"
        options : as of :func:`pyspec.fit.fit_slices`

        A slice that fails, or Ctrl-C, loses no other slice.
        """
        self._need_data(2)
        time = self._need_axis("time")
        model, series = self._prepared(model_name, time=False), self._whole()
        times = time[slice(*(series.rows or (None, None)))]
        baseline = self._last_baseline()
        if seed_source is None:
            chosen = "baseline" if baseline is not None else "model"
            seed_source = "explicit" if seed_values is not None else chosen
        seeds = slice_seeds(model, series, times, seed_source, seed_values, seed_adapt, baseline)
        slices = fit_slices(
            model,
            series,
            stages=stages,
            seeds=seeds,
            times=times,
            n_workers=n_workers,
            workers=workers,
            **self._options(options),
        )
        slices.file_name = self.name
        self._keep(slices)
        return slices

    def fit_trace(
        self,
        model_yaml: str | Path | Model,
        model: str | Sequence[str] | None = None,
        **options: Any,
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
        given = {**self._options(options), "measurement": self._whole()}
        result = fit_trace(source, model, self._need_axis("time"), data, **given)
        result.file_name = self.name
        self._keep(result)
        return result

    def _options(self, options: Mapping[str, Any]) -> dict[str, Any]:
        given = {"backend": self.project.backend, "progress": self.project.show_output}
        if self.noise.is_known:
            given["scale_covar"] = False
        return {**given, **options}

    def _fit(
        self,
        model: Model,
        measurement: Measurement,
        fit_type: str,
        stages: int,
        options: Mapping[str, Any],
    ) -> FitResult:
        result = fit_model(model, measurement, stages=stages, **self._options(options))
        result.fit_type, result.file_name = fit_type, self.name
        self._adopt(result)
        return result

    def _adopt(self, result: FitResult) -> None:
        """Keeps a result, and its values in the model it is of."""
        stored = self.models[result.model_name]
        stored.set_values({name: result.values[name] for name in result.free_names})
        self._keep(result)

    def _keep(self, result: FitResult | SliceResults) -> None:
        self.results.append(result)
        if self.project.show_output:
            print(result)
