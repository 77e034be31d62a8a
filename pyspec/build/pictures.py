"""Small pictures of functions, to choose them by."""

from __future__ import annotations

import numpy as np

from pyspec.formula import rows
from pyspec.functions import reference

#: Points of a picture.
POINTS = 48

#: Where energies and times of a picture run; a line is in the middle, a law begins at zero.
_ENERGY, _TIME = np.linspace(0.0, 10.0, POINTS), np.linspace(-2.0, 8.0, POINTS)

#: Values by the name of a parameter, and by its unit.
_NAMED = {
    "x0": 5.0, "xStart": 0.0, "xStop": 10.0, "t0": 0.0, "shift": 0.0, "phi": 0.0, "y0": 0.0,
    "tau": 2.0, "f": 0.4, "a": 0.6, "alpha": 0.25, "beta": 1.0, "m": 0.3, "b": 0.3, "c": 0.1,
    "k": 0.3, "B": 8.0, "C": 4.0, "D": 2.0, "pShirley": 0.02, "left": 0.8, "right": 0.1,
}  # fmt: skip
_BY_UNIT = {"x": 1.4, "t": 1.0, "x^2": 4.0, "K": 4000.0, "1/x": 0.3, "y/x": 0.08}


def picture(name: str) -> tuple[float, ...] | None:
    """A function with usual values at `POINTS` places, between 0 and 1; None where it has no
    picture. A background that follows the spectrum is shown with the line that it follows."""
    op = rows()[name]
    axis = _TIME if op.domain == "TIME" else _ENERGY
    units = dict(zip(op.params, op.units, strict=False))
    values = []
    for parameter in op.params[: op.n_required]:
        value = _NAMED.get(parameter, _BY_UNIT.get(units.get(parameter, ""), 1.0))
        values.append(0.08 if parameter == "m" and units.get(parameter) != "1" else value)
    line = np.exp(-(((axis - 5.0) / 0.8) ** 2))
    is_fed = op.kind in ("SPECTRUM_FED", "ROW_FED")
    try:
        with np.errstate(all="ignore"):
            curve = reference(op)(axis, *values, *([line] if is_fed else []))
    except Exception:  # a function that a user has registered may raise whatever it likes
        return None
    curve = np.broadcast_to(np.asarray(curve, dtype=np.float64), axis.shape)
    curve = curve + line if is_fed else curve
    low, high = float(curve.min()), float(curve.max())
    if not np.isfinite([low, high]).all():
        return None
    if high <= low:
        return (0.5,) * POINTS
    return tuple(round(float(height), 3) for height in (curve - low) / (high - low))
