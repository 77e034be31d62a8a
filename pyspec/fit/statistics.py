"""How good a fit is, and intervals by profile likelihood."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.calls import Named
from pyspec.errors import CallError, FitError, suggest
from pyspec.fit.interrupts import Hold

Array = npt.NDArray[np.float64]


class Statistics(Named[float]):
    """Numbers by name."""

    what = "statistic"


def goodness(
    n: int, raw: float, total: float, chisqr: float, redchi: float, n_free: int, *, weighted: bool
) -> dict[str, float]:
    """The numbers of :attr:`pyspec.fit.FitResult.statistics`.

    Parameters
    ----------
    n : points that count
    raw : sum of the squares of the residual, in the units of the data
    total : sum of the squares of the data minus their mean
    chisqr, redchi : of the (weighted) residual that was fitted
    weighted : whether the noise of the data is known

    Without known noise AIC is ``n ln(chi2_raw / n) + 2 k``, with it ``chi2 + 2 k``; BIC has
    ``k ln n`` in place of ``2 k``.
    """
    k = n_free
    minus_two_log = chisqr if weighted else n * float(np.log(max(raw, 1e-250 * n) / n))
    numbers = {
        "chi2_raw": raw,
        "chi2_red_raw": raw / max(n - k, 1),
        "chi2": chisqr if weighted else float("nan"),
        "chi2_red": redchi if weighted else float("nan"),
        "r2": 1.0 - raw / total if total > 0 else float("nan"),
        "aic": minus_two_log + 2.0 * k,
        "bic": minus_two_log + k * float(np.log(n)),
    }
    return Statistics(numbers)


def confidence_intervals(
    minimizer: Any, outcome: Any, names: Sequence[str], label: str, options: Mapping[str, Any]
) -> Any:
    """:func:`lmfit.conf_interval` of a fit with the free parameters `names`; `options` are those of
    lmfit, `p_names` may be one name.

    Raises :class:`FitError` for a fit without minimizer (one file of a joint fit), one with a
    single free parameter, and where lmfit finds no interval; :class:`CallError` for an option or a
    name that there is not.
    """
    import lmfit

    if minimizer is None:
        raise FitError("this is one file of a joint fit; ask the joint result for intervals")
    options = _checked(options, inspect.signature(lmfit.conf_interval), names)
    if len(names) < 2:
        raise FitError(
            "a profile likelihood needs two free parameters; with one, use its standard error"
        )
    account = minimizer.userfcn.evaluations
    try:
        with Hold() as hold, np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            account.limit(None, None, hold)  # Ctrl-C ends it between two evaluations
            return lmfit.conf_interval(minimizer, outcome, **options)
    except (lmfit.MinimizerException, ValueError, KeyError) as error:
        raise FitError(
            f"{label}: no confidence intervals: {error}; they need a converged fit "
            "whose free parameters all have standard errors"
        ) from error
    finally:
        account.limit(None, None)


def _checked(
    options: Mapping[str, Any], signature: inspect.Signature, names: Sequence[str]
) -> dict[str, Any]:
    """Options as lmfit takes them. Raises :class:`CallError`."""
    known = [name for name in signature.parameters if name not in ("minimizer", "result")]
    unknown = next((name for name in options if name not in known), None)
    if unknown is not None:
        raise CallError(
            f"conf_interval has no argument {unknown!r}{suggest(unknown, known)}; there are "
            f"{', '.join(known)}"
        )
    wanted = options.get("p_names")
    if wanted is None:
        return dict(options)
    wanted = [wanted] if isinstance(wanted, str) else list(wanted)
    lost = next((name for name in wanted if name not in names), None)
    if lost is not None:
        raise CallError(
            f"conf_interval: {lost!r} is no free parameter{suggest(str(lost), list(names))}; there "
            f"are {', '.join(names)}"
        )
    return {**options, "p_names": wanted}


def state_of(success: bool, lost: Sequence[str], message: str) -> str:
    """In two words whether a fit succeeded: it may end at an optimum, as its message says first,
    that leaves parameters `lost`, not determined by the data."""
    if success:
        return "converged"
    is_optimum = message.startswith(("Converged", "Fit succeeded"))
    return "NOT determined" if lost and is_optimum else "NOT converged"
