"""How good a fit is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pyspec.calls import Named
from pyspec.executor import make_executor
from pyspec.fit.ending import information_criteria
from pyspec.model.data.source import source_of

if TYPE_CHECKING:
    from pyspec.fit.results.result import FitResult


class Statistics(Named[float]):
    """Numbers by name."""

    what = "statistic"


def squares_of(result: FitResult) -> tuple[float, float]:
    """The sums of the squares of data - model and of data - mean over the points
    that count, in the units of the data; of data by reference in one pass over them."""
    problem = result.problem
    if source_of(problem.measurement.data) is None:
        data = np.asarray(result.data, dtype=np.float64)[result.keep]
        residual = result.residual[result.keep]
        return float(residual @ residual), float(((data - data.mean()) ** 2).sum())
    if result._raw is None:  # a pass over the data
        plain = replace(problem.measurement, weight=None, loss="squares")
        plain.seen.update(problem.measurement.seen)
        executor = make_executor(problem.model, plain)
        result._raw = float(executor.normal(result.theta, problem.fixed, "value")[0])
    return result._raw, problem.measurement.survey.scatter


def statistics_of(result: FitResult) -> dict[str, float]:
    """The numbers of :attr:`pyspec.fit.FitResult.statistics`."""
    return goodness(result, *squares_of(result))


def goodness(result: FitResult, raw: float, total: float) -> dict[str, float]:
    """Statistics from sums of squares over the points that count, in the units of the data.

    `raw` is that of the residual, `total` that of the data minus their mean. AIC and BIC are those
    of :func:`pyspec.fit.ending.information_criteria`: of chi², or where the noise is not known of
    n ln(chi² / n).
    """
    weighted, n, k = result.problem.is_weighted, result.n_data, result.n_free
    aic, bic = criteria_of(result)
    numbers = {
        "chi2_raw": raw,
        "chi2_red_raw": raw / max(n - k, 1),
        "chi2": result.chisqr if weighted else float("nan"),
        "chi2_red": result.redchi if weighted else float("nan"),
        "r2": 1.0 - raw / total if total > 0 else float("nan"),
        "aic": aic,
        "bic": bic,
    }
    return Statistics(numbers)


def criteria_of(result: FitResult) -> tuple[float, float]:
    """AIC and BIC, which need no pass over the data."""
    is_known = result.problem.is_weighted and not result._scale_covar
    return information_criteria(result.chisqr, result.n_data, result.n_free, is_known)


#: What is said of one file of a joint fit.
TOGETHER = (
    "fitted together with other files: standard errors, and parameters that the files share, are "
    "those of all"
)


def not_converged(result: FitResult) -> str:
    """How a fit ended that did not converge, on one line; "" of one that did."""
    if state_of(result.success, result.without_effect) != "NOT converged":
        return ""
    return " ".join(str(result.message).split()).rstrip(".")


def state_of(success: bool, lost: Sequence[str]) -> str:
    """In two words whether a fit succeeded; where it did not, parameters `lost`, which the data do
    not determine, are the reason."""
    if success:
        return "converged"
    return "NOT determined" if lost else "NOT converged"


def title_of(fit_type: str, model_name: str, file_name: str) -> str:
    """What a fit is called."""
    to = f" to {file_name}" if file_name else ""
    return " ".join(part for part in (fit_type, "fit of", model_name) if part) + to
