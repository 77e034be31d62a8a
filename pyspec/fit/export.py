"""What is computed from a result on demand: statistics, intervals, an xarray.Dataset."""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from pyspec.errors import FitError

if TYPE_CHECKING:
    from pyspec.fit.result import FitResult


def fit_statistics(result: FitResult) -> dict[str, float]:
    """See :attr:`FitResult.statistics`.

    Without known noise AIC is ``n ln(chi2_raw / n) + 2 k``, with it ``chi2 + 2 k``; BIC has
    ``k ln n`` for ``2 k``.
    """
    keep = result.keep
    data = np.asarray(result.data, dtype=np.float64)[keep]
    residual = result.residual[keep]
    raw = float(residual @ residual)
    n, k = result.n_data, result.n_free
    total = float(((data - data.mean()) ** 2).sum())
    weighted = result.problem.is_weighted
    minus_two_log = result.chisqr if weighted else n * float(np.log(max(raw, 1e-250 * n) / n))
    return {
        "chi2_raw": raw,
        "chi2_red_raw": raw / max(n - k, 1),
        "chi2": result.chisqr if weighted else float("nan"),
        "chi2_red": result.redchi if weighted else float("nan"),
        "r2": 1.0 - raw / total if total > 0 else float("nan"),
        "aic": minus_two_log + 2.0 * k,
        "bic": minus_two_log + k * float(np.log(n)),
    }


def confidence_intervals(result: FitResult, **options: Any) -> Any:
    """See :meth:`FitResult.conf_interval`."""
    import lmfit

    if result.minimizer is None:
        raise FitError("this is one file of a joint fit; ask the joint result for intervals")
    if result.n_free < 2:
        raise FitError(
            "a profile likelihood needs two free parameters; with one, use its standard error"
        )
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return lmfit.conf_interval(result.minimizer, result.lmfit, **options)
    except (lmfit.MinimizerException, ValueError, KeyError) as error:
        raise FitError(
            f"{result.model_name}: no confidence intervals: {error}; they need a converged fit "
            "whose free parameters all have standard errors"
        ) from error


def result_dataset(result: FitResult) -> Any:
    """See :meth:`FitResult.to_dataset`."""
    try:
        xarray = import_module("xarray")
    except ImportError:
        raise FitError("to_dataset() needs xarray: pip install xarray") from None
    time = result.time
    dims = ("time",) if result.is_trace else ("energy",) if time is None else ("time", "energy")
    coords: dict[str, Any] = {}
    if time is not None:
        coords["time"] = time
    if not result.is_trace:
        coords["energy"] = result.energy
    table = result.table
    coords["parameter"] = list(table.names)

    def column(name: str) -> Any:
        return np.array([np.nan if v is None else v for v in table[name]], dtype=np.float64)

    arrays = {
        "data": (dims, np.array(result.data)),
        "fit": (dims, np.array(result.fit)),
        "residual": (dims, result.residual),
        "value": (("parameter",), column("value")),
        "stderr": (("parameter",), column("stderr")),
        "init": (("parameter",), column("init")),
    }
    facts = {
        "model": result.model_name,
        "file": result.file_name,
        "fit_type": result.fit_type,
        "method": result.method,
        "backend": result.backend,
        "success": int(result.success),
        "message": result.message,
        "nfev": result.nfev,
        "chisqr": result.chisqr,
        "redchi": result.redchi,
        "model_text": result.problem.model.text,
    }
    return xarray.Dataset(arrays, coords=coords, attrs=facts)
