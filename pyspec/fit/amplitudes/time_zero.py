"""Where else time zero and the width may lie beside a coherent artifact.

A model may have a pulse, its derivatives and the rise of the decays, each with its own spectrum.
After a shift by one or two widths, or with another width, they span nearly the same functions of
time. So chi² has several optima. Some of them have a reduced chi² near 1 and different decays and
spectra. Starts on several sides of one optimum find the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from pyspec.executor.amplitudes.design import Designer, Valued
from pyspec.model import Component

Array = npt.NDArray[np.float64]

#: Distances from an optimum at which other optima are searched. SHIFT moves time zero of all
#: energies, in widths of the artifact. TURN moves time zero of the first and the last energy in
#: opposite directions, in the same unit. WIDER is a relative change of the width.
SHIFT, TURN, WIDER = 1.5, 2.0, 0.4

#: Laws that take the shape of what is shifted: the derivatives of a pulse.
OF_ARTIFACT = ("gaussD1Fun", "gaussD2Fun")


def beside(
    designer: Designer, theta: Array, fixed: Mapping[str, float] | None, *, alone: bool = False
) -> list[Array]:
    """Returns starts beside an optimum of a model with free derivatives of a pulse. In two of them
    all onsets are earlier, or later. In two more the onsets are turned about their middle, one way
    and the other. In another the artifact is wider. With `alone` only the first two are returned:
    this file moves, and the other files stay in place. Changes that no parameter can make are left
    out. The list is empty for other models.

    Where onsets are curves over the energy the parameters are those of least squares.
    """
    laws = [_arguments(component) for component in designer.model.components]
    artifact = next((own for name, own, is_free in laws if name in OF_ARTIFACT and is_free), None)
    if artifact is None:
        return []
    onsets = list(dict.fromkeys(own["t0"] for _, own, _ in laws if "t0" in own))
    at = designer.values_at(theta, fixed or {})
    width = np.ravel(at[artifact["SD"]][0])
    n = max(width.size, *(np.size(at[name][0]) for name in onsets))
    moved = _slopes(at, onsets, n, theta.size)
    shift = _step(moved, SHIFT * width)
    starts = [theta - shift, theta + shift]
    if not alone:
        ends = np.linspace(-1.0, 1.0, n) if n > 1 else np.zeros(1)
        turn = _step(moved, TURN * width * ends)
        wider = _step(_slopes(at, [artifact["SD"]], n, theta.size), WIDER * width)
        starts += [theta - turn, theta + turn, theta + wider]
    return [start for start in starts if (start != theta).any()]


def _slopes(at: Mapping[str, Valued], names: Sequence[str], n_energy: int, n_theta: int) -> Array:
    """(n_names, n_energy, n_theta) those of parameters."""
    slopes = np.zeros((len(names), n_energy, n_theta))
    for k, name in enumerate(names):
        for place, slope in at[name][1].items():
            slopes[k, :, place] = np.ravel(slope)
    return slopes


def _step(slopes: Array, asked: Array) -> Array:
    """(n_theta,) the step that moves the parameters of `slopes` by `asked`, one number or
    (n_energy,). It is zero if they cannot follow at least half of the way."""
    everywhere = np.broadcast_to(asked, slopes.shape[:2]).ravel()
    rows, nowhere = slopes.reshape(everywhere.size, -1), np.zeros(slopes.shape[2])
    if not (rows.any() and np.isfinite(rows).all() and np.isfinite(everywhere).all()):
        return nowhere
    step = np.linalg.lstsq(rows, everywhere, rcond=None)[0]
    follows = np.linalg.norm(rows @ step) > 0.5 * np.linalg.norm(everywhere)
    return np.asarray(step) if follows else nowhere


def _arguments(component: Component) -> tuple[str, dict[str, str], bool]:
    """The law of a component, its parameters by argument, and whether its amplitude is free."""
    own = {par.argument: par.name for par in component.parameters}
    return component.op.name, own, any(par.free is not None for par in component.parameters)
