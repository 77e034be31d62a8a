"""fit_many: one model fitted many times; bootstrap: to data that might have been measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pyspec.calls import answered, one_of, whole
from pyspec.errors import CallError, FitError
from pyspec.executor import backend_name, make_executor
from pyspec.fit.batch.batch import Batch
from pyspec.fit.batch.cases import Cases, Listed
from pyspec.fit.batch.loop import fit_batch
from pyspec.fit.interrupts import Hold, held
from pyspec.fit.many.drawn import Drawn
from pyspec.fit.many.results import ManyFits, OneFit
from pyspec.fit.options import MethodOptions, need_pair
from pyspec.fit.results.ended import not_converged
from pyspec.fit.results.result import FitResult
from pyspec.fit.solve.methods import How, checked_how
from pyspec.fit.starts import listed_seeds
from pyspec.model import Measurement, Model
from pyspec.model.data.source import source_of
from pyspec.plan import compile_model

if TYPE_CHECKING:
    from typing_extensions import Unpack

Array = npt.NDArray[np.float64]

#: What :func:`bootstrap` may draw.
KINDS = ("noise", "residuals")


@answered
@held
def fit_many(
    model: Model,
    measurements: Measurement | Iterable[Measurement],
    seeds: Iterable[Mapping[str, float]] | None = None,
    backend: str | None = "compiled",
    method: str | Sequence[str] | None = None,
    progress: bool | Callable[[int, int], object] | None = None,
    max_nfev: int | None = None,
    *,
    scale_covar: bool | None = None,
    max_seconds: float | None = None,
    **options: Unpack[MethodOptions],
) -> ManyFits:
    """Fits one model many times: to many measurements on the same axes, from many start values, or
    with many values of fixed parameters.

    Parameters
    ----------
    model : with its axes set; it is lowered once
    measurements : one for each fit, or one for all; data in memory
    seeds : for each fit, values by name in place of those of the model, as a
        :class:`pyspec.ParameterSweep` has them: starts of free parameters, values of fixed ones;
        or None
    progress : True for a bar, or a function (fits done, all)
    max_nfev, max_seconds : limits of each fit
    others : as of :func:`pyspec.fit_model`

    Returns
    -------
    ManyFits
        in the order of the measurements. A fit that fails has the status "failed" and its message;
        Ctrl-C keeps the fits that are done, the others have the status "not run".
    """
    listed = [measurements] if isinstance(measurements, Measurement) else list(measurements)
    for measurement in listed:
        need_pair("fit_many", model, measurement)
    starts = [{}] if seeds is None else listed_seeds("fit_many", model, seeds)
    if not listed or not starts:
        raise CallError("fit_many: nothing to fit; give at least one Measurement, and one of seeds")
    if len(listed) > 1 and len(starts) > 1 and len(listed) != len(starts):
        raise CallError(
            f"fit_many: {len(listed)} measurements and {len(starts)} seeds; give as many of both, "
            "or one of either for all"
        )
    limits = max_nfev, max_seconds, scale_covar
    how = checked_how(model.name, method, options, *limits, listed)
    batch = Batch(
        cases=Cases(Listed(listed), starts),
        how=how,
        compiled=compile_model(model),
        like=listed[0],
        backend="compiled" if backend is None else backend_name(backend),
        kind=OneFit,
    )
    return _run(batch, progress)


@answered
@held
def bootstrap(
    result: FitResult,
    n: int = 200,
    *,
    kind: str = "noise",
    seed: int = 0,
    progress: bool | Callable[[int, int], object] | None = None,
) -> ManyFits:
    """Fits simulated repetitions of the measurement, to see how far the parameters scatter.

    Each fit begins at the best values of `result`, and has the same options.

    Parameters
    ----------
    result : of a fit of one file, with its data
    n : number of fits
    kind : "noise" adds noise to the model: with the declared sigma, of counts, or, without declared
        noise, with the scatter about the fit. "residuals" adds residuals of the fit, in units of
        sigma, drawn with replacement; it needs no normal distribution. Their mean is subtracted.
        They are multiplied by sqrt(n / (n - k)), because k free parameters made them smaller
    seed : of the random number generator; fit k has the same data wherever it runs
    progress : as of :func:`fit_many`

    Returns
    -------
    ManyFits
        ``fits.spread(name)`` is the standard deviation, ``fits.interval(name)`` the interval of
        68 %.

    Amplitudes that are free along an axis are solved for in each fit; the amplitudes of fit 3 are
    ``fits.result(3).amplitudes``. There may be another optimum beside a coherent artifact, nearly
    as good as `result`. Each fit then tries this optimum too, and keeps the better one.

    Raises :class:`FitError` for a fit that did not converge, a joint fit, data by reference,
    residuals of counts, or counts whose errors were scaled.

    Source: B. Efron & R. J. Tibshirani, An Introduction to the Bootstrap (1993).
    """
    if not isinstance(result, FitResult):
        raise CallError(
            "bootstrap: the first argument is a FitResult of one file, not "
            f"{type(result).__name__}; give what fit_model or load_fit returned, or "
            "slices[0].result"
        )
    problem, label = result.problem, result.model_name
    whole("n", n, 1, FitError)
    whole("seed", seed, 0, FitError)
    one_of("kind", kind, KINDS, FitError)
    if problem.shared is not None or result._is_joint_member:
        raise FitError(
            f"{label}: bootstrap takes the fit of one file alone, not a joint fit or its part of a "
            "file; conf_interval() of the joint result has intervals"
        )
    if ended := not_converged(result):
        raise FitError(
            f"{label}: bootstrap draws data around the optimum, and this fit did not converge "
            f"({ended}); fit again from its values first"
        )
    if problem.is_poisson and kind == "residuals":
        raise FitError(
            f"{label}: residuals of counts do not belong to other counts; leave kind= out"
        )
    if problem.is_poisson and result._scale_covar:
        raise FitError(
            f"{label}: the errors of these counts were scaled by their scatter, scale_covar=True, "
            "which counts that are drawn do not have; fit without it, or ask conf_interval()"
        )
    measurement = problem.measurement
    expected = np.ascontiguousarray(result.fit)
    sigma = measurement.sigma(expected)
    if sigma is None:
        sigma = np.full(expected.shape, np.sqrt(result.redchi))
    elif result._scale_covar and not problem.is_poisson:  # weights say how points compare
        sigma = sigma * np.sqrt(result.redchi)
    sigma = np.where(np.isfinite(sigma), sigma, 0.0)  # a weight of 0: any value is as good
    sigma = np.ascontiguousarray(sigma)
    residuals = None
    if kind == "residuals":
        # Parameters that were fitted have taken their share of the mean and the variance of the
        # noise: D. A. Freedman, Ann. Stat. 9, 1218 (1981).
        counts = result.keep & (sigma > 0)
        residuals = np.asarray(result.residual)[counts] / sigma[counts]
        share = residuals.size / max(residuals.size - result.n_free, 1)
        residuals = (residuals - residuals.mean()) * np.sqrt(share)
    noise = None if problem.is_poisson else sigma
    drawn = Drawn(measurement, expected, noise, residuals, int(seed), int(n))
    best = {**(problem.fixed or {}), **dict(zip(problem.names, result.theta.tolist(), strict=True))}
    alone = {"seed", "n_starts"}  # each fit starts once, from the best values
    settings = {key: value for key, value in result.settings.items() if key not in alone}
    methods, covar = tuple(settings.pop("methods")), settings.pop("scale_covar")
    how = How(methods, settings, scale_covar=covar)
    batch = Batch(
        cases=Cases(drawn, [best]),
        how=how,
        compiled=compile_model(problem.model),
        like=measurement,
        backend=problem.backend,
        kind=OneFit,
        rivals=result._rivals,
    )
    return _run(batch, progress)


def _run(batch: Batch[OneFit], progress: bool | Callable[[int, int], object] | None) -> ManyFits:
    """All fits, in their order."""
    if source_of(batch.like.data) is not None:
        raise FitError(
            f"{batch.label}: many fits need their data in memory, these are by reference; give "
            "np.asarray(data), or call fit_model for each"
        )
    make_executor(batch.compiled.model, None, batch.backend)  # what is wrong is so in each fit
    with Hold() as hold:
        fit_batch(batch, progress)
        return hold.mark(ManyFits(batch))
