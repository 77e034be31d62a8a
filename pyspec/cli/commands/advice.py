"""Remarks below the numbers of a fit: what was unsure when its job began, and what to try next."""

from __future__ import annotations

import re

import numpy as np

from pyspec.cli.jobs.job import Job
from pyspec.fit.findings.verdict import missed
from pyspec.model.guess.humps import smoothed
from pyspec.model.guess.kinetic import MAX_DECAYS
from pyspec.model.guess.values import MAX_PEAKS
from pyspec.plot.protocols import Fit


def after_fit(job: Job, result: Fit) -> list[str]:
    """A line for all that was unsure, and one with a command where the residual has structure."""
    lines = []
    if job.unsure:
        words = "; ".join(f"{doubt} ({option})" for doubt, option in job.unsure.items())
        lines.append(f"Unsure from the start: {words}")
    off = missed(result)
    if off is None:
        return lines
    tried = _next_try(job, result)
    if tried is None or not job.command:
        lines.append(
            "The curve misses something, or the noise is no white one: look at the residual"
        )
    else:
        advice, command = tried
        lines.append(f"The curve may miss something; {advice}:\n\n  {command}\n")
    return lines


def _next_try(job: Job, result: Fit) -> tuple[str, str] | None:
    """What to try, and the command."""
    functions = [component.function for component in result.model.components]
    decays = functions.count("expFun")
    peaks = sum(component.op.kind == "PEAK" for component in result.model.components)
    if job.model == "decays":
        if decays >= MAX_DECAYS:
            return None
        return "try one more decay", _changed(job, decays=decays + 1)
    if job.model == "edge":
        kind = "step" if "FermiEdge" in functions else "lines"
        return "try another shape", _changed(job, kind=kind)
    if job.model != "peaks" or not peaks:
        return None
    if np.ndim(result.data) == 2 and not job.dynamics:
        if any(name.startswith("lines") for name in job.unsure):
            return "lines may move", _changed(job, kind="moving")
        return "spectra may decay", _changed(job, kind="decays")
    if peaks >= MAX_PEAKS:
        return None
    left = np.asarray(result.residual, np.float64)
    left = left if left.ndim == 1 else np.nanmean(left, axis=0)
    calm = smoothed(np.nan_to_num(left), max(1.0, left.size / 100))
    place = float(np.asarray(result.energy)[int(np.argmax(calm))])
    return f"try one more peak, near {place:.5g}", _changed(job, peaks=peaks + 1)


def _changed(job: Job, **options: int | str) -> str:
    """The command that began a job, with another option."""
    command = re.sub(r" --(kind|peaks|decays)[ =]\S+", "", job.command)
    words = [f"--{name} {value}" for name, value in options.items()]
    return " ".join([command, *words, "--force"])
