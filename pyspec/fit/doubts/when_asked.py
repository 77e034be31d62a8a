"""What is worked out when cautions are first asked for."""

from __future__ import annotations

from typing import Any

from pyspec.fit.doubts.bent import bent_followers
from pyspec.fit.doubts.faint import faint_lines
from pyspec.fit.doubts.narrow import narrow_instruments
from pyspec.fit.doubts.oscillations import faint_oscillations
from pyspec.fit.doubts.scatter import of_scatter
from pyspec.fit.doubts.skewed import skewed
from pyspec.fit.doubts.unseen import unseen_lines
from pyspec.fit.linear.exchanged import exchanged
from pyspec.fit.linear.signs import biased


def when_asked(result: Any) -> tuple[str, ...]:
    """Sentences about lines, onsets and rates of a fit, and what it leaves of the data."""
    lines = *faint_lines(result), *unseen_lines(result)
    laws = *faint_oscillations(result), *narrow_instruments(result), *exchanged(result)
    scatter = of_scatter(result)
    errors = *biased(result), *skewed(result, (*result._cautions, *lines, *laws))
    return (*lines, *laws, *scatter, *errors, *bent_followers(result))
