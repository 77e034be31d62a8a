"""How good a fit is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyspec.calls import Named
from pyspec.fit.solve.outcome import information_criteria

if TYPE_CHECKING:
    from pyspec.fit.result import FitResult


class Statistics(Named[float]):
    """Numbers by name."""

    what = "statistic"


def goodness(result: FitResult, raw: float, total: float) -> dict[str, float]:
    """The numbers of :attr:`pyspec.fit.FitResult.statistics`.

    `raw` is the sum of the squares of the residual, in the units of the data, `total` that of the
    data minus their mean. AIC and BIC are those of
    :func:`pyspec.fit.solve.outcome.information_criteria`: of chi², or where the noise is not known
    of n ln(chi² / n).
    """
    weighted, n, k = result.problem.is_weighted, result.n_data, result.n_free
    is_known = weighted and not result._scale_covar
    aic, bic = information_criteria(result.chisqr, n, k, is_known)
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


#: What is said of one file of a joint fit.
TOGETHER = (
    "fitted together with other files: standard errors, and parameters that the files share, are "
    "those of all"
)


def not_converged(result: FitResult) -> str:
    """How a fit ended that did not converge, on one line; "" of one that did."""
    if state_of(result.success, result.without_effect, result.message) != "NOT converged":
        return ""
    return " ".join(str(result.message).split()).rstrip(".")


def state_of(success: bool, lost: Sequence[str], message: str) -> str:
    """In two words whether a fit succeeded: it may end at an optimum, as its message says first,
    that leaves parameters `lost`, not determined by the data."""
    if success:
        return "converged"
    is_optimum = message.startswith(("Converged", "Fit succeeded"))
    return "NOT determined" if lost and is_optimum else "NOT converged"


def title_of(fit_type: str, model_name: str, file_name: str) -> str:
    """What a fit is called."""
    to = f" to {file_name}" if file_name else ""
    return " ".join(part for part in (fit_type, "fit of", model_name) if part) + to
