"""Time constants that the data do not show."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pyspec.fit.findings.file import FileEnd
from pyspec.fit.findings.finding import Finding
from pyspec.fit.findings.kinds import Kind

#: A time constant below this part of the smallest step is none that the data show.
BELOW = 1e-3


def times_below_steps(file: FileEnd) -> Iterator[Finding]:
    """Free time constants far below the step of the times."""
    times = file.times
    if times.size < 2:
        return
    taus = [p for laws in file.laws for law in laws for p in law.parameters]
    ends = file.ends_of(p for p in taus if p.argument.startswith("tau"))
    mean = abs(float(times[-1] - times[0])) / (times.size - 1)  # the smallest is no larger
    for name in sorted(ends & set(file.problem.names)):
        if 0.0 < file.values[name] < BELOW * mean:
            step = float(np.abs(np.diff(times)).min())
            if file.values[name] < BELOW * step:
                numbers = {"value": file.values[name], "step": step}
                yield Finding(Kind.TIME_BELOW_STEP, (file.names[name],), numbers)
