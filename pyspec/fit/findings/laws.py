"""Time constants that the data do not show."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pyspec.fit.findings.file import FileEnd
from pyspec.fit.findings.finding import Finding
from pyspec.fit.findings.kinds import Kind
from pyspec.model.parts import groups_of_laws

#: A time constant below this part of the smallest step is none that the data show.
BELOW = 1e-3


def times_below_steps(file: FileEnd) -> Iterator[Finding]:
    """Free time constants far below the step of the times."""
    problem, times = file.problem, file.problem.axis("time")
    if times is None or times.size < 2:
        return
    groups = groups_of_laws(problem.model, problem.parameters)
    taus = [p for laws in groups for law in laws for p in law.parameters]
    ends = file.ends_of(p for p in taus if p.argument.startswith("tau"))
    step = float(np.abs(np.diff(times)).min())
    for name in sorted(ends & set(problem.names)):
        if 0.0 < file.values[name] < BELOW * step:
            numbers = {"value": file.values[name], "step": step}
            yield Finding(Kind.TIME_BELOW_STEP, (file.names[name],), numbers)
