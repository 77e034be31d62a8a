"""Backgrounds that run against the axis of energies: the data rise where they fall."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from pyspec.fit.findings.finding import Finding
from pyspec.fit.findings.kinds import Kind
from pyspec.fit.part import FitPart
from pyspec.fit.results.components import spectrum_components
from pyspec.model import Measurement
from pyspec.model.data.energy_scale import losses_last
from pyspec.model.data.source import source_of
from pyspec.model.data.windows import slice_of

#: END is the share of a spectrum that counts as its end. RISE is the smallest rise from end to end
#: that counts, as a share of the highest value.
END, RISE = 0.05, 0.02

#: SURE is the rise from end to end, in its standard errors, that always counts in one spectrum
#: beside its lines. FEWEST is the smallest number of points at an end to estimate these errors
#: from.
SURE, FEWEST = 5.0, 5


def backwards(
    problem: FitPart, values: Mapping[str, float], sides: Mapping[str, str]
) -> list[Finding]:
    """Findings on Shirley and Tougaard backgrounds that ended at 0 or below, or whose axis says
    of itself that it runs against the losses."""
    model, measurement, outline = problem.model, problem.measurement, problem.outline
    assert model.energy is not None
    against = losses_last(measurement.labels, model.energy)
    if against is not None:
        return [
            Finding(Kind.BACKWARD_AXIS, (name,), {"axis": against})
            for name in outline.losses
            if against
        ]
    names = [name for name in outline.losses if values[name] < 0.0 or sides.get(name) == "min"]
    if not names:
        return []
    means, is_alone = _means(measurement), model.time is None
    kept = ~np.isnan(means)
    spectrum, least = means[kept], RISE * float(np.ptp(means[kept]))
    if is_alone:  # the tail of a line near one end rises towards it, too
        peaks, _ = spectrum_components(model, dict(values), measurement)
        spectrum = spectrum - np.sum([*peaks.values(), np.zeros(means.size)], axis=0)[kept]
    n = max(1, int(END * spectrum.size))
    first, last = spectrum[:n], spectrum[-n:]
    rise = float(last.mean() - first.mean())
    if n >= FEWEST and is_alone:
        least = min(least, SURE * float(np.sqrt((first.var() + last.var()) / (n - 1))))
    if not rise > least:
        return []
    end = float(model.energy[slice_of(measurement.columns)][-1])
    return [
        Finding(Kind.BACKWARD_AXIS, (name,), {"value": values[name], "end": end}) for name in names
    ]


def _means(measurement: Measurement) -> npt.NDArray[np.float64]:
    """The mean of each column of the window, NaN where every point is masked."""
    if source_of(measurement.data) is not None:
        return measurement.survey.means
    assert measurement.data is not None
    data = np.asarray(measurement.window(measurement.data), dtype=np.float64)
    if measurement.keep is not None:
        data = np.where(measurement.window(measurement.keep), data, np.nan)
    data = data.reshape(-1, data.shape[-1])
    means = np.full(data.shape[-1], np.nan)
    seen = ~np.isnan(data).all(axis=0)
    means[seen] = np.nanmean(data[:, seen], axis=0)
    return means
