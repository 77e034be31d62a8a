"""How precisely a measurement of so many counts can tell the parameters of a model.

What a measurement can reach, from its model. With Poisson statistics no unbiased estimate of a
parameter has a smaller standard deviation than the Cramér-Rao bound. That is the root of the
diagonal of the inverse of the Fisher information

    I_jk = sum over points of (1 / λ) (dλ/dθ_j) (dλ/dθ_k),

with λ the expected counts of each point. A fit with ``set_noise("poisson")`` reaches it.

`counts` are all expected counts on the axes of the model, background included; for a series, of all
spectra. λ is proportional to them, and the bounds to counts^-1/2. A
detector with an excess noise factor F sees as if it had counts / F.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pyspec.calls import answered, stack_outside
from pyspec.errors import DataError, ModelError, ModelWarning, suggest
from pyspec.executor import make_executor
from pyspec.fit.results.components import every_component
from pyspec.fit.results.prediction import model_slopes
from pyspec.fit.results.table import need_pandas
from pyspec.model import Measurement, Model
from pyspec.simulate.drawn import positive

if TYPE_CHECKING:
    from pandas import DataFrame

Array = npt.NDArray[np.float64]

#: Scaled eigenvalues of the information below this belong to combinations that no number of counts
#: determines; of a parameter with more than TOUCHED of such a combination nothing is known.
SINGULAR, TOUCHED = 1e-12, 1e-5

#: Points that expect less than this share of the largest carry no information.
EMPTY = 1e-14


@answered
def fisher_matrix(
    model: Model,
    counts: float,
    par_names: Sequence[str] | None = None,
    *,
    fixed: Sequence[str] = (),
) -> tuple[Array, list[str], dict[str, float]]:
    """The Fisher information of `counts` counts on the free parameters of a model.

    Parameters
    ----------
    model : with its axes; its values are where the information is taken
    counts : all expected counts, background included
    par_names : the parameters of the matrix, all free ones by default; those left out are taken to
        be known exactly
    fixed : free parameters that are taken to be known exactly

    Returns
    -------
    info : (n, n), in units of 1 over those of the parameters
    names : the parameters, in the order of the matrix
    meta : total_signal (the sum of the model), gain (units of the model for each count),
        counts_in_peaks, n_bins (points that expect counts), condition_number

    Raises
    ------
    DataError
        counts that are not positive, or a model that is negative somewhere
    ModelError
        parameters that are unknown, or not free
    """
    positive("counts", counts)
    names = _chosen(model, par_names, fixed)
    executor = make_executor(model)
    value = np.ravel(executor.run(model.theta()))
    if not np.isfinite(value).all():
        raise DataError("the model is not finite everywhere; change its values")
    lowest = float(value.min())
    if lowest < -1e-9 * float(np.abs(value).max()):
        raise DataError(
            f"the model falls to {lowest:g}, and counts cannot be negative; raise the background"
        )
    total = float(value.sum())
    if not total > 0:
        raise DataError(f"the model sums to {total:g}; counts need a positive signal")
    free = list(model.opt_param_names)
    wanted = [free.index(name) for name in names]
    slopes = model_slopes(model, executor, model.theta(), None, wanted)
    seen = value > EMPTY * value.max()
    part = slopes[:, seen]
    info = (counts / total) * (part / value[seen]) @ part.T
    curves = every_component(model, model.values, Measurement(), "compiled")
    peaks = [component.name for component in model.components if component.op.kind == "PEAK"]
    in_peaks = sum(float(np.abs(curves[name]).sum()) for name in peaks)
    meta = {
        "total_signal": total,
        "gain": total / counts,
        "counts_in_peaks": counts * in_peaks / total,
        "n_bins": float(np.count_nonzero(seen)),
        "condition_number": float(np.linalg.cond(info)),
    }
    return info, names, meta


@answered
def crb(
    model: Model,
    counts: float,
    par_names: Sequence[str] | None = None,
    *,
    fixed: Sequence[str] = (),
    marginal: bool = True,
) -> dict[str, float]:
    """Name → the smallest standard error that `counts` counts allow, in units of the parameter.

    Infinite, with a :class:`ModelWarning`, for a parameter that the measurement does not determine.
    `par_names` only chooses what is returned: all free parameters except those in `fixed` count as
    unknown. With ``marginal=False`` every other parameter is taken to be known. Other arguments and
    errors as of :func:`fisher_matrix`.
    """
    info, names, _ = fisher_matrix(model, counts, fixed=fixed)
    wanted = names if par_names is None else _chosen(model, par_names, fixed)
    bounds = _marginal(info, names) if marginal else _alone(info)
    by_name = dict(zip(names, bounds.tolist(), strict=True))
    return {name: by_name[name] for name in wanted}


@answered
def counts_required(
    model: Model,
    par_name: str,
    target_sigma: float,
    *,
    fixed: Sequence[str] = (),
    counts_ref: float = 1e4,
    marginal: bool = True,
) -> float:
    """The smallest number of counts that allows a standard error of `target_sigma`; infinite where
    no number does. `counts_ref` has no effect; other arguments as of :func:`crb`."""
    positive("target_sigma", target_sigma)
    bound = crb(model, counts_ref, [par_name], fixed=fixed, marginal=marginal)[par_name]
    return float(counts_ref * (bound / target_sigma) ** 2)


@answered
def sensitivity_report(
    model: Model,
    counts: float,
    par_names: Sequence[str] | None = None,
    *,
    fixed: Sequence[str] = (),
) -> DataFrame:
    """A pandas DataFrame with a row for each free parameter: name, value, sigma (the bound of
    :func:`crb`), sigma_uncorrelated (with all others known), correlation_penalty (their ratio; far
    above 1, more counts help little, and other axes more), rel_precision (sigma / abs(value)).

    ``frame.attrs`` has counts, counts_in_peaks, n_bins and condition_number. Arguments as of
    :func:`crb`; raises :class:`FitError` without pandas.
    """
    pandas = need_pandas()
    info, names, meta = fisher_matrix(model, counts, fixed=fixed)
    wanted = names if par_names is None else _chosen(model, par_names, fixed)
    values = np.array([model.parameters[name].value for name in names])
    sigma, alone = _marginal(info, names), _alone(info)
    with np.errstate(divide="ignore", invalid="ignore"):
        columns = {
            "name": names,
            "value": values,
            "sigma": sigma,
            "sigma_uncorrelated": alone,
            "correlation_penalty": np.where(np.isinf(sigma), np.inf, sigma / alone),
            "rel_precision": np.where(values == 0, np.nan, sigma / np.abs(values)),
        }
    frame = pandas.DataFrame(columns)
    frame = frame.set_index("name", drop=False).loc[wanted].reset_index(drop=True)
    kept = ("counts_in_peaks", "n_bins", "condition_number")
    frame.attrs.update({"counts": float(counts), **{key: meta[key] for key in kept}})
    return frame


def _chosen(model: Model, names: Sequence[str] | None, fixed: Sequence[str]) -> list[str]:
    """The free parameters that are meant. Raises :class:`ModelError`."""
    free = list(model.opt_param_names)
    for listed in (fixed, names or ()):
        if isinstance(listed, str):
            raise ModelError(f"give a list of parameters, [{listed!r}]")
        for name in listed:
            if name not in model.parameters:
                hint = suggest(name, list(model.parameters))
                raise ModelError(f"{model.name} has no parameter {name!r}{hint}")
            if name not in free:
                raise ModelError(
                    f"{name} is fixed or follows an expression: a measurement tells nothing of it; "
                    f"free are {', '.join(free)}"
                )
    left_out = set(fixed)
    chosen = [name for name in (free if names is None else names) if name not in left_out]
    if not chosen:
        raise ModelError(f"{model.name} has no free parameter that is not known already")
    return chosen


def _alone(info: Array) -> Array:
    with np.errstate(divide="ignore"):
        return 1.0 / np.sqrt(np.diag(info))


def _marginal(info: Array, names: Sequence[str]) -> Array:
    """(n,) roots of the diagonal of the inverse; infinite for what is not determined."""
    size = np.sqrt(np.diag(info))
    has_effect = size > 0
    bounds = np.full(len(size), np.inf)
    scaled = info[np.ix_(has_effect, has_effect)] / np.outer(size[has_effect], size[has_effect])
    values, vectors = np.linalg.eigh(scaled)
    lost = values < SINGULAR * max(float(values.max(initial=0.0)), 1.0)
    inverse = (vectors[:, ~lost] / values[~lost]) @ vectors[:, ~lost].T
    errors = np.sqrt(np.diag(inverse)) / size[has_effect]
    errors[np.abs(vectors[:, lost]).max(axis=1, initial=0.0) > TOUCHED] = np.inf
    bounds[has_effect] = errors
    unknown = [name for name, bound in zip(names, bounds, strict=True) if np.isinf(bound)]
    if unknown:
        warnings.warn(
            f"{', '.join(unknown)}: no number of counts on these axes determines them together; "
            "fix one of them, or change the axes",
            ModelWarning,
            stacklevel=stack_outside(),
        )
    return bounds
