"""fit_slices: the same model fitted to every spectrum of a series, compiled once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pyspec.calls import answered, real
from pyspec.errors import FitError
from pyspec.fit.batch.batch import Batch
from pyspec.fit.batch.cases import Cases, Rows
from pyspec.fit.batch.loop import fit_batch
from pyspec.fit.interrupts import Hold, held
from pyspec.fit.options import MethodOptions, need_pair
from pyspec.fit.problem import make_problem
from pyspec.fit.slices.results import SliceFit, SliceResults
from pyspec.fit.solve.methods import checked_how
from pyspec.fit.starts import listed_seeds
from pyspec.model import Measurement, Model
from pyspec.model.build.free import refuse_free
from pyspec.model.data.digest import checksum_of
from pyspec.model.data.measurement import row_of
from pyspec.plan import compile_model

if TYPE_CHECKING:
    from typing_extensions import Unpack

Array = npt.NDArray[np.float64]


@answered
@held
def fit_slices(
    model: Model,
    series: Measurement,
    backend: str | None = "compiled",
    method: str | Sequence[str] | None = None,
    progress: bool | Callable[[int, int], object] | None = None,
    max_nfev: int | None = None,
    *,
    scale_covar: bool | None = None,
    seeds: Sequence[Mapping[str, float]] | None = None,
    times: npt.ArrayLike | None = None,
    max_seconds: float | None = None,
    **options: Unpack[MethodOptions],
) -> SliceResults:
    """Fits a model of one spectrum to every spectrum of the window of a series.

    Parameters
    ----------
    model : with its energy axis alone; it is lowered once for all slices
    series : data (n_time, n_energy), window, weights, mask
    seeds : for each row of the window, values by name that replace those of the model: starts
        of free parameters, values of fixed ones
    times : (n_rows,) the times of the window, for the results
    max_nfev, max_seconds : limits of each slice
    others : as of :func:`pyspec.fit.fit_model`; `progress` may be a function (done, total)

    Threads of C share the slices, usually in less than 0.1 ms each. If C is not certain of a slice,
    this slice is fitted by :func:`pyspec.fit.fit_model`. An example is a combination of parameters
    that the data do not determine. A slice has the same bits in any order and on any number
    of threads. It ends at the optimum of fit_model but for the last digits. A slice that fails has
    the status "failed" and its message; Ctrl-C keeps the slices that are done, the others have the
    status "not run".
    """
    need_pair("fit_slices", model, series)
    limits = max_nfev, max_seconds, scale_covar
    how = checked_how(model.name, method, options, *limits, (series,))
    if series.data is None or series.data.ndim != 2:
        raise FitError(f"{model.name}: slices need data of shape (time, energy)")
    refuse_free(model.name, model.parameters, "slices need")
    if model.is_time_model or model.dimension != 1:
        raise FitError(f"{model.name}: a slice is one spectrum; give the model no time axis")
    rows = range(*(series.rows or (0, series.data.shape[0])))
    axis = real("times", np.arange(len(rows)) if times is None else times)
    if axis.shape != (len(rows),):
        raise FitError(
            f"times have shape {axis.shape}; give one for each of the {len(rows)} slices"
        )
    starts = [] if seeds is None else listed_seeds("fit_slices", model, seeds)
    if len(starts) not in (0, len(rows)):
        raise FitError(
            f"{model.name}: {len(starts)} sets of seed values for {len(rows)} slices; give one a "
            "slice"
        )
    compiled = compile_model(model)
    model = compiled.model
    first = make_problem(compiled, row_of(series, rows[0]), backend)
    first.start()  # what is wrong with the model is wrong in every slice
    batch = Batch(
        cases=Cases(Rows(series), [dict(start) for start in starts] or [{}]),
        how=how,
        compiled=compiled,
        like=first.measurement,
        backend=first.backend,
        kind=SliceFit,
        row=rows[0],
    )
    data_checksum = checksum_of(series)
    with Hold() as hold:
        fit_batch(batch, progress)
        return hold.mark(SliceResults(batch, series, axis, data_checksum))
