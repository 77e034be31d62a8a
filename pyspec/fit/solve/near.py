"""How near the optimum a fit ended, and what that says of its success."""

from __future__ import annotations

import math

from pyspec.fit.solve.methods import NATIVE, SAMPLER
from pyspec.fit.solve.stages import Run

#: How near the optimum a success must be, in standard errors: for methods with exact derivatives,
#: and for the others.
NEAR, NEAR_WITHOUT_DERIVATIVES = 1e-3, 0.1
EXACT_DERIVATIVES = (NATIVE, "leastsq")


def needed(run: Run) -> float:
    """How near the optimum a success must be; a tolerance that was asked for may be wider."""
    if run.methods[-1] not in EXACT_DERIVATIVES:
        return NEAR_WITHOUT_DERIVATIVES
    return max(NEAR, run.tolerance)


def is_found(run: Run, distance: float) -> bool:
    """Whether a method of lmfit that ended in doubt, as those do whose differences lose their
    digits, is at the optimum: exact derivatives tell how far that is from where it ended."""
    outcome = run.outcome
    if run.solver is not None or run.stopped or run.methods[-1] == SAMPLER:
        return False
    in_doubt = not outcome.success and not getattr(outcome, "aborted", False)
    return in_doubt and math.isfinite(outcome.chisqr) and distance <= NEAR


def said_at(ended: str, distance: float, is_optimum: bool, *, believed: bool) -> list[str]:
    """What is said of a fit so many standard errors from the optimum whose method `ended` with
    words to the contrary; where it did not claim a success, they stand first."""
    if is_optimum:
        seems = f"The optimum is {distance:.1g} standard errors away"
    else:
        seems = f"This is no optimum: it seems {distance:.2g} standard errors away"
    if not believed:
        return [ended, seems]
    return [f"{seems}, where the method ended with '{ended.rstrip('.')}'"]
