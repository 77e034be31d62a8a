"""The kinds of findings: how serious each is, at which level it is looked for, what hides it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum, IntEnum
from typing import Any

#: What was measured, by name: numbers, texts, and tuples of them.
Numbers = Mapping[str, Any]


class Severity(IntEnum):
    """How serious a finding is; the most serious ones are shown first."""

    FAILED = 0  # there is no answer
    WRONG = 1  # values may be wrong
    ERRORS = 2  # values stand, standard errors do not
    NOTE = 3  # shown on request


class Kind(Enum):
    """What a fit may find out about itself: its severity and its level.

    Level 0 is looked at in every fit. Level 1 takes one pass over the residual, level 2 further
    fits: :meth:`pyspec.FitResult.diagnose`.
    """

    severity: Severity
    level: int

    def __new__(cls, severity: Severity, level: int) -> Kind:
        made = object.__new__(cls)
        made._value_ = len(cls.__members__)
        made.severity, made.level = severity, level
        return made

    NOT_CONVERGED = Severity.FAILED, 0
    UNDETERMINED = Severity.FAILED, 0
    DATA_CHANGED = Severity.FAILED, 1
    MISFIT = Severity.ERRORS, 0
    OUTSIDE_AXIS = Severity.WRONG, 0
    WRONG_UNIT = Severity.WRONG, 0
    MIXING_NOT_A_SHARE = Severity.WRONG, 0
    BACKWARD_AXIS = Severity.WRONG, 0
    NO_CONSTANT = Severity.WRONG, 0
    LINE_BESIDE_PEAK = Severity.WRONG, 1
    LINES_MERGED = Severity.WRONG, 0
    TIME_BELOW_STEP = Severity.WRONG, 0
    BETTER_OPTIMUM = Severity.WRONG, 0
    SEARCH_CUT_SHORT = Severity.WRONG, 0
    STARTS_DISAGREE = Severity.WRONG, 0
    KERNEL_UNDERSAMPLED = Severity.WRONG, 0
    DEAD_POINTS = Severity.WRONG, 1
    OUTLIERS = Severity.WRONG, 1
    NEGATIVE_COUNTS = Severity.WRONG, 0
    AT_BOUND = Severity.ERRORS, 0
    NOISE_OVERSTATED = Severity.ERRORS, 0
    NO_SCATTER = Severity.ERRORS, 0
    ERROR_BEYOND_BOUNDS = Severity.ERRORS, 0
    AMPLITUDES_UNDETERMINED = Severity.ERRORS, 0
    INTERVAL_ONLY = Severity.ERRORS, 0
    FAINT_LINE = Severity.ERRORS, 0
    WEAK_LINE = Severity.ERRORS, 0
    COUNTS_UNDECLARED = Severity.ERRORS, 0
    SIGMA_FROM_DATA = Severity.ERRORS, 0
    ERRORS_FOLLOW_VALUES = Severity.ERRORS, 0
    EQUIVALENT_OPTIMA = Severity.ERRORS, 0
    RESIDUAL_STRUCTURED = Severity.ERRORS, 1
    NOISE_VARIES = Severity.ERRORS, 1
    ERRORS_ASYMMETRIC = Severity.ERRORS, 2
    SHORT_CHAIN = Severity.ERRORS, 0
    STUCK_WALKERS = Severity.ERRORS, 0
    PARTS_EXCHANGED = Severity.NOTE, 0
    SHARED_AND_OWN = Severity.NOTE, 0
    SAME_TWICE = Severity.NOTE, 0
    SPANS_NOWHERE = Severity.NOTE, 0
    REFITTED_ALONE = Severity.NOTE, 0
    NOTHING_LINEAR = Severity.NOTE, 0


#: The probability that a fit of good data with a right model has a finding, of kinds that test a
#: scatter.
CHANCE = {Kind.NOISE_VARIES: 1e-4, Kind.RESIDUAL_STRUCTURED: 5e-4}


#: A reduced χ² of so many times the expected one hides what follows from it.
LARGE = 3.0


def _of_bound(n: Numbers) -> Severity:
    if n["gain"] < n["variance"]:
        return Severity.NOTE
    return Severity.WRONG if n["gain"] > 9.0 * n["variance"] else Severity.ERRORS


#: Kinds that are more or less serious by their numbers.
GRADES: dict[Kind, Callable[[Numbers], Severity]] = {
    Kind.MISFIT: lambda n: (
        Severity.WRONG if n["redchi"] >= LARGE * n["expected"] else Severity.ERRORS
    ),
    Kind.AT_BOUND: _of_bound,
    Kind.NOISE_VARIES: lambda n: (
        Severity.ERRORS if n["most"] >= 2.0 * n["least"] else Severity.NOTE
    ),
}

_OF_SHAPE = (Kind.ERRORS_ASYMMETRIC, Kind.FAINT_LINE, Kind.WEAK_LINE)

#: Kind → the kinds that it hides, in the same file.
HIDES: dict[Kind, tuple[Kind, ...]] = {
    Kind.MISFIT: (
        Kind.NOISE_VARIES,
        Kind.RESIDUAL_STRUCTURED,
        Kind.COUNTS_UNDECLARED,
        Kind.ERRORS_ASYMMETRIC,
    ),
    Kind.WRONG_UNIT: (Kind.NOT_CONVERGED, Kind.UNDETERMINED),
    Kind.OUTSIDE_AXIS: (Kind.NOT_CONVERGED, Kind.UNDETERMINED),
    Kind.DEAD_POINTS: (Kind.OUTLIERS,),
    Kind.COUNTS_UNDECLARED: (Kind.NOISE_VARIES, Kind.RESIDUAL_STRUCTURED),
}

#: Kind → the kinds that it hides of the parameter that both are about.
HIDES_SAME: dict[Kind, tuple[Kind, ...]] = {
    Kind.BACKWARD_AXIS: (Kind.AT_BOUND,),
    Kind.UNDETERMINED: _OF_SHAPE,
    Kind.AT_BOUND: _OF_SHAPE,
    Kind.ERROR_BEYOND_BOUNDS: _OF_SHAPE,
}
