"""The free amplitudes of a finished fit with their standard errors.

Let A = [B, G] be the weighted derivatives of one group of data (an energy, or a time): B by its own
amplitudes, G by theta. Let C be the covariance of theta. Then the amplitudes c have the covariance

    cov(c) = s² (BᵀB)⁻¹ + Z C Zᵀ,   Z = (BᵀB)⁻¹ BᵀG,

the block of the inverse of the whole normal matrix (G. H. Golub and V. Pereyra, Inverse Problems
19, R1 (2003)). s² is the reduced chi² where errors are scaled by it, else 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pyspec.calls import Suggesting
from pyspec.errors import FitError, suggest
from pyspec.executor.amplitudes.projection import Solved
from pyspec.executor.protocol import Scalar
from pyspec.fit.amplitudes.part import FreePart
from pyspec.fit.amplitudes.species import Associated, Kinetics
from pyspec.fit.ending import Ending
from pyspec.fit.results.table import dataset
from pyspec.model.build.kinetics import scheme_name, schemes_in, state_name
from pyspec.model.data.windows import slice_of

if TYPE_CHECKING:
    import xarray

Array = npt.NDArray[np.float64]

#: Change along a lost direction, in standard errors at known theta, above which an amplitude is not
#: determined.
MOVED = 1e-3


@dataclass(frozen=True, eq=False)
class Amplitudes(Suggesting):
    """Spectra that were free at each energy, or traces that were free at each time.

    ``amplitudes["expFun_01_A"]`` is one of them, (n,).

    Attributes
    ----------
    axis : "energy" or "time"
    along : (n,) that axis within the window of the fit
    values : name → (n,); 0 where it is held at 0
    stderr : name → (n,) one standard error; NaN where the amplitude is held at 0 or is not
        determined. It is also NaN if the amplitude changes with parameters that the data do not
        determine
    covariance : (n, n_amplitudes, n_amplitudes) of the amplitudes at one energy, or time; NaN as in
        `stderr`
    determined : name → (n,) False where an amplitude is held at 0 or the data do not determine it
    unknown : name → (n,) True where there are no data, or they do not determine it: pictures,
        tables and Datasets have no value there
    basis : name → what each is multiplied with, (n_x,), or (n, n_x) where it differs along `axis`
    x : (n_x,) the other axis within the window
    kinetics : name → the kinetic schemes whose states have free spectra
    """

    axis: str
    along: Array
    values: Mapping[str, Array]
    stderr: Mapping[str, Array]
    covariance: Array
    determined: Mapping[str, npt.NDArray[np.bool_]]
    unknown: Mapping[str, npt.NDArray[np.bool_]]
    basis: Mapping[str, Array]
    x: Array
    kinetics: Mapping[str, Kinetics] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """The amplitudes, in the order of the model."""
        return tuple(self.values)

    @property
    def known(self) -> dict[str, Array]:
        """Name → (n,) the values, NaN where they are not known."""
        return {n: np.where(self.unknown[n], np.nan, values) for n, values in self.values.items()}

    def __getitem__(self, name: str) -> Array:
        if name not in self.values:
            raise FitError(
                f"no amplitude {name!r} is free{suggest(str(name), list(self.values))}; there are "
                f"{', '.join(self.values)}"
            )
        return self.values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.values)

    def __len__(self) -> int:
        return len(self.values)

    def __bool__(self) -> bool:
        return True

    def combined(self, weights: Mapping[str, float]) -> tuple[Array, Array]:
        """(value, standard error), (n,) each, of a weighted sum of amplitudes. The whole covariance
        is propagated. This turns species' spectra into decay spectra and back."""
        for name in weights:
            self[name]
        row = np.array([float(weights.get(name, 0.0)) for name in self.names])
        used = np.flatnonzero(row)
        value = np.array(list(self.values.values())).T @ row
        part = self.covariance[:, used[:, None], used]
        error = np.sqrt(np.einsum("i,gij,j->g", row[used], part, row[used]))
        return np.asarray(value), np.asarray(error)

    def sas(self, scheme: str = "") -> Associated:
        """The spectra of the states of a kinetic scheme, with errors. The name may be left out
        where there is one scheme. Raises :class:`FitError` without."""
        return self._scheme(scheme, "sas").sas()

    def das(self, scheme: str = "") -> Associated:
        """Decay-associated spectra of a kinetic scheme: of each exponential, the fastest first.
        Errors include those of the rates. Raises :class:`FitError` where two rates coincide."""
        return self._scheme(scheme, "das").das()

    def eas(self, scheme: str = "") -> Associated:
        """Evolution-associated spectra: of the states of a sequence with the same decays, the
        fastest first. As :meth:`das`."""
        return self._scheme(scheme, "eas").eas()

    def _scheme(self, name: str, asked: str) -> Kinetics:
        schemes = list(self.kinetics)
        if not schemes:
            decays = [free for free in self.names if free.startswith("expFun")]
            of_decays = (
                "of independent decays the free amplitudes are the decay-associated spectra, "
                f"result.amplitudes[{(decays or self.names)[0]!r}]; for states "
            )
            raise FitError(
                f"no kinetic scheme has free spectra, which {asked}() needs; "
                f"{of_decays if self.axis == 'energy' else ''}write one in the section kinetics"
            )
        if not name and len(schemes) > 1:
            raise FitError(
                f"there are the schemes {', '.join(schemes)}; say which: scheme={schemes[0]!r}"
            )
        if name and name not in schemes:
            raise FitError(
                f"no scheme {name!r}{suggest(name, schemes)}; there are {', '.join(schemes)}"
            )
        return self.kinetics[name or schemes[0]]

    def to_xarray(self) -> xarray.Dataset:
        """An ``xarray.Dataset``: value and stderr along (amplitude, energy or time). `basis` is
        what each amplitude is multiplied with, such as the populations of states convolved with the
        instrument response. Raises :class:`FitError` without xarray."""
        dims = ("amplitude", self.axis)
        other = "time" if self.axis == "energy" else "energy"
        coords = {"amplitude": list(self.names), self.axis: self.along, other: self.x}
        basis = np.array(list(self.basis.values()))
        variables = {
            "basis": (("amplitude", *([self.axis] if basis.ndim == 3 else []), other), basis),
            "value": (dims, np.array(list(self.known.values()))),
            "stderr": (dims, np.array(list(self.stderr.values()))),
        }
        return dataset(variables, coords)

    def __repr__(self) -> str:
        return (
            f"<Amplitudes {', '.join(self.names)}: free along {self.axis}, "
            f"{self.along.size} values each>"
        )


class Solution(NamedTuple):
    """The amplitudes at the end of a fit and what their errors follow from.

    Attributes
    ----------
    solved : the amplitudes
    determined : (n_groups, n_basis), which amplitudes the data determine
    inverse : (n_groups, n_basis, n_basis), their covariance at known theta, s² (BᵀB)⁻¹
    slopes : (n_groups, n_basis, n_theta), Z: by how much each falls as theta rises
    covariance : (n_theta, n_theta), with zeros for parameters that are taken to be known
    away : (n_theta, n_lost), the directions in which theta is not determined

    `inverse` and `slopes` are 0 for amplitudes that are not determined.
    """

    solved: Solved
    determined: npt.NDArray[np.bool_]
    inverse: Array
    slopes: Array
    covariance: Array
    away: Array


def solution_of(problem: FreePart, ending: Ending) -> Solution:
    """That of a fit of a `problem`."""
    point = ending.theta, problem.fixed
    determined, inverse, slopes = problem.executor.follow(*point)
    follow = determined, ending.variance * inverse, slopes
    return Solution(problem.executor.solve(*point), *follow, *ending.determined())


def amplitudes_of(problem: FreePart, ending: Ending) -> Amplitudes:
    """The amplitudes of a fit of a `problem`."""
    with problem.executor.lock:
        solution = solution_of(problem, ending)
        solved, designer = solution.solved, problem.executor.designer
        hidden, spread = _moved(solution), _covariances(solution)
        shown = np.where(hidden[:, None] | hidden, np.nan, spread)
        errors = np.sqrt(np.einsum("gkk->gk", shown))
        gaps = problem.unknown(solved.determined)

        def named(columns: npt.NDArray[Scalar]) -> dict[str, npt.NDArray[Scalar]]:
            return dict(zip(designer.free, columns.T, strict=True))

        return Amplitudes(
            designer.axis,
            designer.along,
            named(solved.amplitudes),
            named(errors),
            shown,
            named(solved.determined),
            named(gaps),
            {
                name: np.array(own[0] if len(own) == 1 else own)
                for name, own in zip(designer.free, solved.design.basis, strict=True)
            },
            designer.x,
            _kinetics(problem, solution, ending.theta, spread, hidden, gaps),
        )


def _kinetics(
    problem: FreePart,
    solution: Solution,
    theta: Array,
    spread: Array,
    hidden: npt.NDArray[np.bool_],
    gaps: npt.NDArray[np.bool_],
) -> dict[str, Kinetics]:
    """The schemes whose states have free spectra, by the name of their first parameters."""
    designer, gather = problem.executor.designer, problem.executor.gather
    solved, covariance = solution.solved, solution.covariance
    names = list(designer.free)
    determined = solution.determined[:, :, np.newaxis]
    mixed = np.where(determined, -solution.slopes @ covariance, np.nan)
    kinetics: dict[str, Kinetics] = {}
    for scheme, states in schemes_in(designer.model.components):
        free = {state_name(c): c.parameters[0].name for c in states if c.parameters[0].free}
        pars = {par.argument: par.name for state in states for par in state.parameters[1:]}
        at = designer.values_at(theta, problem.fixed or {})
        place = [names.index(name) for name in free.values()]
        slopes = {parameter: np.zeros(solved.theta.size) for parameter in scheme.parameters}
        for parameter in scheme.parameters:
            for where, slope in at[pars[parameter]][1].items():
                slopes[parameter][gather[where]] = float(np.mean(slope))
        name = scheme_name(states[0])
        if name in kinetics:
            name = states[0].name
        kinetics[name] = Kinetics(
            scheme,
            free,
            {parameter: float(np.mean(at[pars[parameter]][0])) for parameter in scheme.parameters},
            slopes,
            designer.along,
            solved.amplitudes[:, place],
            spread[:, place][:, :, place],
            mixed[:, place],
            covariance,
            hidden[place],
            np.any(gaps[:, place], axis=1),
        )
    return kinetics


def _moved(solution: Solution) -> npt.NDArray[np.bool_]:
    """(n_basis,) whether an amplitude changes along a direction in which theta is not determined,
    at any energy or time: then it has no error."""
    error = np.sqrt(np.einsum("gkk->gk", solution.inverse))
    change = np.abs(solution.slopes @ solution.away).max(axis=2, initial=0.0)
    return np.asarray(np.any(solution.determined & (change > MOVED * error), axis=0))


def _covariances(solution: Solution) -> Array:
    """(n_groups, n_basis, n_basis), NaN for amplitudes that are held or not determined."""
    on, slopes = solution.determined, solution.slopes
    both = on[:, :, np.newaxis] & on[:, np.newaxis]
    spread = solution.inverse + slopes @ solution.covariance @ slopes.transpose(0, 2, 1)
    return np.where(both, spread, np.nan)


def open_fit(
    result: Any,
    fit: Array,
    rows: tuple[int, int] | None = None,
    columns: tuple[int, int] | None = None,
) -> Array:
    """A fit, NaN at energies, or times, where an amplitude has no data; `rows` and `columns` are
    the fit window within it."""
    problem = getattr(result, "problem", None)
    file = None if problem is None else problem.free
    if file is None or not np.any(empty := file.without_data):
        return fit
    linear = result.amplitudes
    gap = empty & np.any(list(linear.unknown.values()), axis=0)
    opened = np.array(fit)
    inside = opened[slice_of(rows), slice_of(columns)]
    inside[(slice(None), gap) if linear.axis == "energy" else gap] = np.nan
    return opened
