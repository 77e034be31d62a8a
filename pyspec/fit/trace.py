"""Values against time, without an energy axis: data of one channel, or a parameter's trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pyspec.calls import answered
from pyspec.errors import CallError, DataError, FitError
from pyspec.fit.interrupts import Hold, held
from pyspec.fit.options import StagedOptions
from pyspec.fit.result import FitResult
from pyspec.fit.single import fit_model
from pyspec.model import Measurement, Model, load_time_model
from pyspec.model.taken import check_sigma
from pyspec.model.windows import index_range

if TYPE_CHECKING:
    from typing_extensions import Unpack


@answered
@held
def fit_trace(
    model_yaml: str | Path | Model,
    model: str | Sequence[str] | None,
    time: npt.ArrayLike,
    values: npt.ArrayLike,
    sigma: npt.ArrayLike | None = None,
    *,
    target: str = "",
    inputs: Mapping[str, npt.ArrayLike] | None = None,
    time_limits: Sequence[float | None] | None = None,
    measurement: Measurement | None = None,
    **options: Unpack[StagedOptions],
) -> FitResult:
    """Fits a model of time laws to values against time.

    Parameters
    ----------
    model_yaml, model : a model file (or YAML text) and the name of a model of time laws in it;
        or a Model made of time laws, and None
    time : (n,), rising
    values : (n,)
    sigma : one standard error of the values, a number or (n,); the errors of the parameters are
        then not scaled by the reduced chi² (``scale_covar=True`` scales them)
    target : what the values are, for tables and pictures
    inputs : further arrays (n,) that laws by formula read, by name
    time_limits : (low, high), fit only these times, both ends included; None leaves a side open
    measurement : mask, window, and weights or counts in place of sigma; its data are `values`
    options : as of :func:`pyspec.fit.fit_model`

    Returns a :class:`FitResult` with `fit_type` "trace".
    """
    chosen = time_model(model_yaml, model).copy()
    if _rises(values) and not (_rises(time) or _rises(np.asarray(time)[::-1])):
        raise DataError(
            "the values rise all the way, as times do, and the times do not: exchange them, "
            "fit_trace(file, model, time, values)"
        )
    chosen.set_axes(time=time, inputs=inputs)
    if chosen.time is None:
        raise DataError("a trace needs its times; give time=, one value for each of `values`")
    data = np.asarray(values)
    if data.shape != chosen.time.shape:
        raise DataError(f"values have shape {data.shape}, the time axis {chosen.time.shape}")
    own = measurement or Measurement()
    if sigma is not None and (own.weight is not None or own.loss != "squares"):
        raise CallError(
            "fit_trace: sigma= and the measurement both say what the noise is; give one of them"
        )
    measurement = replace(own, data=data)
    if sigma is not None:
        noise = np.asarray(check_sigma(sigma, data.shape, own.keep))
        measurement = replace(measurement, weight=1.0 / noise)
    if time_limits is not None:
        window = index_range(chosen.time, time_limits, "time")
        measurement = replace(measurement, columns=window)
    given: StagedOptions = {"scale_covar": None if sigma is None else False, **options}
    with Hold() as hold:
        result = hold.mark(fit_model(chosen, measurement, **given))
        result.fit_type, result.target = "trace", target
        return result


def _rises(given: npt.ArrayLike) -> bool:
    """Whether this can be an axis of times."""
    array = np.asarray(given)
    if array.ndim != 1 or array.size < 2 or array.dtype.kind not in "fiu":
        return False
    return bool((np.diff(array) > 0).all())


def time_model(source: str | Path | Model, name: str | Sequence[str] | None) -> Model:
    """The model of time laws that a call names. Raises :class:`FitError` for another."""
    if isinstance(source, Model):
        if not source.is_time_model:
            raise FitError(f"{source.name} is a model of energies; a trace needs time laws alone")
        return source
    names = [name] if isinstance(name, str) or name is None else list(name)
    if len(names) != 1 or names[0] is None:
        raise FitError(f"name one model of time laws in the file, not {name!r}")
    return load_time_model(source, names[0])
