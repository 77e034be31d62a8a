"""Where the positions of a model start in a spectrum whose maximum stands elsewhere."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pyspec.errors import PlanError
from pyspec.executor import make_executor
from pyspec.ir.build import build_graph
from pyspec.model import Model
from pyspec.passes import linear_parameters

Array = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

#: Of more positions than this all move together: each alone would be tried in vain for too long.
MOST_ALONE = 8

#: So many starts are kept at once: of maxima anywhere on a long axis there are thousands.
MOST_KNOWN = 512

#: Relative weight of a shape on the diagonal, so that lines at one place can be solved for.
ALIKE = 1e-9

#: A line elsewhere takes so many variances of the noise off by chance: three standard deviations.
CHANCE = 9.0


#: The model where a fit starts: its spectrum (n,), the shapes (n, n_linear) of its linear
#: parameters, and their solver; None without linear parameters.
_Start = tuple[Array, Array, Array | None]


class Shifts:
    """Starts of a model whose free positions are moved, each by a distance of its own.

    Starts are compared by the sum of squares after heights, offsets and other linear parameters are
    solved for, since the fit finds these from anywhere.
    """

    def __init__(self, model: Model, window: slice) -> None:
        self.model, self.window = model, window
        self._known: dict[tuple[float, ...], _Start] = {}
        self.pars = [
            par
            for par in self.model.parameters.values()
            if par.argument == "x0" and par.vary and par.formula is None
        ]
        names = self.model.opt_param_names
        self._executor = make_executor(self.model)
        self._theta = np.array(self.model.theta(), dtype=np.float64)
        self._places = [names.index(par.name) for par in self.pars]
        try:
            linear = linear_parameters(build_graph(self.model)).names
        except PlanError:
            linear = ()
        self._linear = [names.index(name) for name in linear]
        bounds = [self.model.parameters[name] for name in linear]
        self._low = np.array([par.min for par in bounds]) - self._theta[self._linear]
        self._high = np.array([par.max for par in bounds]) - self._theta[self._linear]

    def moved(self, distances: tuple[float, ...]) -> dict[str, float]:
        """The start of each position, so far from its own, within its bounds."""
        return {
            par.name: float(min(max(par.value + distance, par.min), par.max))
            for par, distance in zip(self.pars, distances, strict=True)
        }

    def best(
        self, spectrum: Array, kept: Flags, distance: float, highest: float
    ) -> dict[str, float]:
        """The starts that leave least of a spectrum, whose maximum at the energy `highest` is so
        far off.

        It compares several starts. First all positions rest. Then all move by the distance of the
        maximum. Then all move by the distance of any of them from the maximum, which may now belong
        to another line. Finally each position is changed alone: it rests, or it moves to either
        side, like lines that part.
        """
        n = len(self.pars)
        rest = (0.0,) * n
        if distance == 0.0 or not n:
            return self.moved(rest)
        best = rest, self._left(spectrum, kept, rest)
        own = [highest - par.value for par in self.pars] if 1 < n <= MOST_ALONE else []
        for step in dict.fromkeys([distance, *own]):
            best = self._better(spectrum, kept, (step,) * n, best)
        distance = best[0][0] or distance
        for k in range(n if 1 < n <= MOST_ALONE else 0):
            for step in (0.0, distance, -distance):
                if step == best[0][k]:
                    continue
                other = (*best[0][:k], step, *best[0][k + 1 :])
                best = self._better(spectrum, kept, other, best)
        return self.moved(best[0])

    def _better(
        self,
        spectrum: Array,
        kept: Flags,
        distances: tuple[float, ...],
        best: tuple[tuple[float, ...], float],
    ) -> tuple[tuple[float, ...], float]:
        """These distances and what they leave, where that is less than of the best so far by more
        than noise does."""
        chance = min(CHANCE / max(1, int(np.count_nonzero(kept))), 0.5)
        enough = (1.0 - chance) * best[1]
        left = self._left(spectrum, kept, distances, enough)
        return (distances, left) if left < enough else best

    def _left(
        self, spectrum: Array, kept: Flags, distances: tuple[float, ...], enough: float = np.inf
    ) -> float:
        """The sum of squares that this start leaves. A start that leaves more than `enough` even
        without bounds is not solved within bounds."""
        start, shapes, inverse = self._start(distances)
        rest = spectrum - start
        if not kept.all():
            rest, shapes = rest[kept], shapes[kept]
            inverse = _inverse(shapes)
        if inverse is None:
            return float(rest @ rest)
        solution = inverse @ rest
        left = rest - shapes @ solution
        least = float(left @ left)
        free = (solution >= self._low) & (solution <= self._high)
        if free.all() or least >= enough:
            return least
        values = np.clip(solution, self._low, self._high)
        rest = rest - shapes @ values
        if free.any():  # the others once more, beside those at a bound
            more = values[free] + np.linalg.lstsq(shapes[:, free], rest, rcond=None)[0]
            more = np.clip(more, self._low[free], self._high[free])
            rest = rest - shapes[:, free] @ (more - values[free])
        return float(rest @ rest)

    def home(self) -> float:
        """The energy of the maximum of the model where its fits start."""
        assert self.model.energy is not None
        spectrum, _, _ = self._start((0.0,) * len(self.pars))
        return float(self.model.energy[self.window][int(np.argmax(spectrum))])

    def _start(self, distances: tuple[float, ...]) -> _Start:
        if distances not in self._known:
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            theta = self._theta.copy()
            theta[self._places] = list(self.moved(distances).values())
            spectrum = self._run(theta)
            shapes = np.empty((spectrum.size, len(self._linear)))
            for column, place in enumerate(self._linear):
                step = max(1.0, abs(theta[place]))
                beside = theta.copy()
                beside[place] += step
                shapes[:, column] = (self._run(beside) - spectrum) / step
            self._known[distances] = spectrum, shapes, _inverse(shapes)
        return self._known[distances]

    def _run(self, theta: Array) -> Array:
        return np.array(self._executor.run(theta), dtype=np.float64)[self.window]


def _inverse(shapes: Array) -> Array | None:
    """What gives the parameters of least squares, None without any, or beyond numbers. By normal
    equations, at a part of what singular values take: a spectrum with gaps has its own."""
    square = shapes.T @ shapes
    if not square.size or not np.isfinite(square).all():
        return None
    sizes = square.diagonal()
    square[np.diag_indices_from(square)] = np.where(sizes > 0.0, sizes * (1.0 + ALIKE), 1.0)
    return np.asarray(np.linalg.inv(square) @ shapes.T, np.float64)
