"""What a fit of a File begins with, without its steps: for ``pyspec fit --check`` and the like."""

from __future__ import annotations

from pyspec.fit.problem import make_problem
from pyspec.fit.solve.stages import enough_points
from pyspec.model import Model
from pyspec.model.data.measurement import row_of
from pyspec.model.data.windows import spectrum_rows
from pyspec.plan import compile_model
from pyspec.workflow.project import File

#: One time, or the range of a mean; one of them, or none of a file with one spectrum.
When = tuple[float | None, tuple[float, float] | None]


def prepared_model(file: File, name: str) -> Model:
    """A copy of a loaded model as a fit of all of the file would begin with it."""
    return file._prepared(name, time=file.time is not None)


def rows_of_spectrum(file: File, when: When) -> tuple[int, int] | None:
    """The rows (begin, end) of one spectrum. Raises :class:`DataError` where there are none."""
    return spectrum_rows(file.time, *when, "abs")


def check_mean(file: File, rows: tuple[int, int]) -> None:
    """Raises :class:`DataError` where the noise of the mean of these rows is not known."""
    file._mean(rows)


def begun(file: File, name: str, kind: str, when: When, backend: str | None) -> Model:
    """All of a fit but its steps; of slices of the first one. Returns the model as it begins.

    `kind` is "2d", "baseline", "spectrum" (at `when`), "slices" or "trace". Raises what keeps the
    fit from being begun.
    """
    if kind == "2d":
        model, first, _ = file._prepared_2d(name, None)
    elif kind == "spectrum":
        model, first, *_ = file._prepared_spectrum(name, *when, "abs")
    elif kind == "trace":
        model, first = file.models[name], file._whole()
        model.set_axes(time=file.time)
    else:
        model = file._prepared(name, time=False)
        if kind == "slices":
            first = row_of(file._whole(), (file.rows or (0, 0))[0])
        else:
            first = file._mean(file._need_baseline())
    problem = make_problem(compile_model(model), first, backend or "compiled")
    problem.start()
    if kind != "slices":  # of which those with too few points fail, each by itself
        enough_points(problem)
    return model
