"""Where else time zero and the width may lie beside a coherent artifact.

A pulse, its derivatives and the rise of the decays, each with a spectrum of its own, are nearly the
same functions of time after a shift by one or two widths, or in another width: chi² has several
optima there, some of them with a reduced chi² near 1 and with other decays and spectra. Starts on
several sides of one optimum find the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from pyspec.executor.amplitudes.design import Designer, Valued
from pyspec.model import Component

Array = npt.NDArray[np.float64]

#: How far from an optimum the next ones are looked for: time zero of all energies, and that of the
#: first and of the last in opposite directions, in widths of the artifact; and the width itself,
#: as a share of it.
SHIFT, TURN, WIDER = 1.5, 2.0, 0.4

#: Laws that take the shape of what is shifted: the derivatives of a pulse.
OF_ARTIFACT = ("gaussD1Fun", "gaussD2Fun")


def beside(
    designer: Designer, theta: Array, fixed: Mapping[str, float] | None, *, alone: bool = False
) -> list[Array]:
    """Of a model with derivatives of a pulse whose amplitudes are free, theta with all onsets
    earlier, and later; and, unless other files stay as they are while this one moves `alone`, with
    the onsets turned about their middle, both ways, and with a larger width of the artifact. Empty
    for other models; without what no parameter does.

    Where onsets are curves over the energy the parameters are those of least squares.
    """
    laws = [_arguments(one) for one in designer.model.components]
    artifact = next((own for name, own, is_free in laws if name in OF_ARTIFACT and is_free), None)
    if artifact is None:
        return []
    onsets = list(dict.fromkeys(own["t0"] for _, own, _ in laws if "t0" in own))
    at = designer.values_at(theta, fixed or {})
    width = np.ravel(at[artifact["SD"]][0])
    n = max(width.size, *(np.size(at[name][0]) for name in onsets))
    moved = _slopes(at, onsets, n, theta.size)
    shift = _step(moved, SHIFT * width)
    found = [theta - shift, theta + shift]
    if not alone:
        ends = np.linspace(-1.0, 1.0, n) if n > 1 else np.zeros(1)
        turn = _step(moved, TURN * width * ends)
        wider = _step(_slopes(at, [artifact["SD"]], n, theta.size), WIDER * width)
        found += [theta - turn, theta + turn, theta + wider]
    return [start for start in found if (start != theta).any()]


def _slopes(at: Mapping[str, Valued], names: Sequence[str], n_energy: int, n_theta: int) -> Array:
    """(n_names, n_energy, n_theta) those of parameters."""
    slopes = np.zeros((len(names), n_energy, n_theta))
    for k, name in enumerate(names):
        for place, slope in at[name][1].items():
            slopes[k, :, place] = np.ravel(slope)
    return slopes


def _step(slopes: Array, asked: Array) -> Array:
    """(n_theta,) the step that moves all parameters by what is `asked`, one number or (n_energy,);
    zeros where they do not follow it for half of the way."""
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
