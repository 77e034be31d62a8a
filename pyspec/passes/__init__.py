"""Passes: from the graph of a model to the graph that is scheduled, and what is known of it.

Every model that is lowered goes through :func:`run`. :func:`classify_columns`,
:func:`jump_parameters` and :func:`linear_parameters` describe the derivatives. They run when a fit
or a reader asks for them.
"""

from pyspec.passes.eliminate import Linear, linear_parameters
from pyspec.passes.facts import Facts, Pace, neutral
from pyspec.passes.forms import FORMS, MARKS
from pyspec.passes.jacobian import Column, Jumps, Kind, classify_columns, jump_parameters
from pyspec.passes.sequence import PASSES, Report, Step, after, run

__all__ = [
    "FORMS",
    "MARKS",
    "PASSES",
    "Column",
    "Facts",
    "Jumps",
    "Kind",
    "Linear",
    "Pace",
    "Report",
    "Step",
    "after",
    "classify_columns",
    "jump_parameters",
    "linear_parameters",
    "neutral",
    "run",
]
