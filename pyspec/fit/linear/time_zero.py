"""Where else time zero may lie beside a coherent artifact.

A pulse, its derivatives and the rise of the decays, each with a spectrum of its own, are nearly the
same functions of time after a shift by one or two widths: chi² has several optima there, some of
them with a reduced chi² near 1 and with other widths, decays and spectra. Starts on both sides of
one optimum find the others.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from pyspec.executor.linear.design import Designer
from pyspec.model import Component

Array = npt.NDArray[np.float64]

#: How far from an optimum the next ones are looked for, in widths of the artifact.
WIDTHS = 1.5

#: Laws that take the shape of what is shifted: the derivatives of a pulse.
OF_ARTIFACT = ("gaussD1Fun", "gaussD2Fun")


def beside(designer: Designer, theta: Array, fixed: Mapping[str, float] | None) -> list[Array]:
    """theta with all onsets earlier, and later, by :data:`WIDTHS` of the artifact, for a model with
    derivatives of a pulse whose amplitudes are free; empty for others, and where no onset moves.

    Where onsets are curves over the energy the parameters are those of least squares.
    """
    laws = [_arguments(one) for one in designer.model.components]
    artifact = next((own for name, own, is_free in laws if name in OF_ARTIFACT and is_free), None)
    onsets = list(dict.fromkeys(own["t0"] for _, own, _ in laws if "t0" in own))
    if artifact is None:
        return []
    at = designer.values_at(theta, fixed or {}, [*onsets, artifact["SD"]])
    width = WIDTHS * np.abs(np.ravel(at[artifact["SD"]][0]))
    n = max(width.size, *(np.size(at[name][0]) for name in onsets))
    slopes = np.zeros((len(onsets), n, theta.size))
    for k, name in enumerate(onsets):
        for place, slope in at[name][1].items():
            slopes[k, :, place] = np.ravel(slope)
    asked = np.broadcast_to(width, (len(onsets), n))
    if not (slopes.any() and np.isfinite(slopes).all() and np.isfinite(asked).all()):
        return []
    step = np.linalg.lstsq(slopes.reshape(-1, theta.size), asked.ravel(), rcond=None)[0]
    return [theta - step, theta + step]


def _arguments(component: Component) -> tuple[str, dict[str, str], bool]:
    """The law of a component, its parameters by argument, and whether its amplitude is free."""
    own = {par.argument: par.name for par in component.parameters}
    return component.op.name, own, any(par.free is not None for par in component.parameters)
